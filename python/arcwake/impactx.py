# SPDX-License-Identifier: GPL-3.0-or-later
"""ImpactX with arcwake's self-field.

    from arcwake.impactx import attach, kick_model
    attach(sim)                          # all particles, in every element: two dimensions
    sim.csr_kick_model = kick_model()    # or: in bends only, from the line density that ImpactX has

Call attach before sim.track_particles(), with the lattice set; the lengths of the steps are those
of the slices. A run has one of the two; with attach keep sim.csr and sim.space_charge off.
"""
import numpy as np

from .field import ArcwakeError, Field
from .planes import CHARGE, LIGHT, PlaneKicks

STRAIGHT = ("Drift", "ChrDrift", "ExactDrift", "Quad", "ChrQuad", "ExactQuad", "QuadEdge",
            "SoftQuadrupole", "ConstF", "Sol", "SoftSolenoid", "Buncher", "ShortRF", "RFCavity",
            "ChrAcc", "ChrPlasmaLens", "TaperedPL", "Kicker", "Multipole", "ExactMultipole",
            "NonlinearLens", "Aperture", "PolygonAperture", "BeamMonitor", "Marker", "Empty")
BENDS = ("Sbend", "CFbend", "ExactSbend", "ExactCFbend")
COLUMNS = ("position_t", "position_x", "momentum_t", "momentum_x", "momentum_y")
SAME_PLACE = 1e-9  # [m]


def _refuse(place, element, problem):
    name = getattr(element, "name", None) or "unnamed"
    return ValueError(f"lattice element {place} ({name}): {type(element).__name__}: {problem}")


def _curvature(place, element, ref):
    rotation = getattr(element, "rotation", 0.0) or 0.0
    if rotation % 180:
        raise _refuse(place, element, f"rotation {rotation:g} bends out of the plane (expected 0 "
                                      "or 180 degrees)")
    sign = -1.0 if rotation % 360 else 1.0
    if getattr(element, "B", 0.0):
        raise _refuse(place, element, "B [T] is not supported (expected ds and phi alone)")
    if type(element).__name__ == "ExactCFbend":
        if getattr(element, "unit", 0) or not len(element.k_normal):
            raise _refuse(place, element, "expected a dipole coefficient in k_normal, in 1/m "
                                          "(unit 0)")
        return sign * element.k_normal[0]
    radius = element.rc(ref) if callable(element.rc) else element.rc
    if not radius:
        raise _refuse(place, element, "rc is 0 (expected the radius)")
    return sign / radius


def _is_entry(edge):
    """Is a DipEdge surely none behind a bend? The linear map does not depend on its location, which
    is "entry" where nothing is said."""
    return getattr(edge, "model", "linear") != "linear" and edge.location == "entry"


def orbit_of(lattice, ref):
    """Design orbit of a lattice of ImpactX for its reference particle, sections as of Field.

    The first DipEdge right behind a bend is its exit, others are the entrance of the next bend.
    """
    sections, entrance, bend = [], 0.0, None  # bend: the one whose exit is here, without a DipEdge
    for place, element in enumerate(lattice):
        kind, length = type(element).__name__, getattr(element, "ds", 0.0)
        if kind == "DipEdge":
            if bend and not _is_entry(element):
                bend[3] = element.psi
                bend = None
            else:
                entrance = element.psi
        elif kind in BENDS:
            bend = [length, _curvature(place, element, ref), entrance, 0.0]
            sections.append(bend)
            entrance = 0.0
        elif kind not in STRAIGHT:
            raise _refuse(place, element, "its design orbit is not known (expected one of "
                                          f"{', '.join(STRAIGHT + BENDS)}, DipEdge)")
        elif length > 0:
            sections.append([length, 0.0, 0.0, 0.0])
            bend = None
    return [tuple(section) for section in sections]


class _Attached:
    """The hooks' state: the field, and how far the reference particle has come."""

    def __init__(self, sim, options):
        self.orbit = orbit_of(sim.lattice, sim.beam.ref)
        self.kicks = PlaneKicks(self.orbit, **options)
        self.begin = None   # s of the reference particle at the first slice [m]
        self.last = None    # s of the last observation

    def before_slice(self, sim):
        element = sim.tracking_element
        ds = getattr(element, "ds", 0.0)
        if ds > 0:
            self.show(sim, ds / element.nslice)

    def after_element(self, sim):
        if self.begin is None:
            return
        if self.kicks.steps.end - (sim.beam.ref.s - self.begin) < SAME_PLACE:
            self.show(sim, 0.0)

    def show(self, sim, ahead):
        """Kick the beam where it is, with a slice of length `ahead` to come."""
        ref = sim.beam.ref
        if self.begin is None:
            self.begin, self.time = ref.s, ref.t / LIGHT
        s = ref.s - self.begin
        if self.last is not None and s - self.last < SAME_PLACE:
            return
        if s > self.kicks.steps.end + SAME_PLACE:
            raise ValueError(f"the reference particle is at s = {s:g} m, behind the end of the "
                             f"lattice at {self.kicks.steps.end:g} m (expected one period)")
        beam = _Beam(sim.beam)
        p0 = ref.beta_gamma
        t, x, pt, px, py = (beam.column(name) for name in COLUMNS)
        across = (px * p0)**2 + (py * p0)**2
        ps = np.sqrt((ref.gamma - pt * p0)**2 - 1 - across)
        (t, x, ps, px), _ = self.kicks.kick(s, ref.t / LIGHT - self.time, p0,
                                            (t, x, ps, px * p0), beam.charge(), ahead)
        gamma = np.sqrt(1 + ps**2 + px**2 + (py * p0)**2)
        for name, values in zip(COLUMNS, (t, x, (ref.gamma - gamma) / p0, px / p0)):
            beam.write(name, values)
        self.last = s


class _Beam:
    """Particles of all tiles of this process as one array a column, in the order of their ids."""

    def __init__(self, container):
        from impactx import ImpactXParIter
        self.tiles = [tile.soa().to_xp() for level in range(container.finest_level + 1)
                      for tile in ImpactXParIter(container, level=level)]
        if not self.tiles:
            raise ValueError("this process has no particles (expected one process with all)")
        ids = [np.asarray(tile.idcpu) for tile in self.tiles]
        self.order = np.argsort(np.concatenate(ids))
        self.ends = np.cumsum([len(one) for one in ids])[:-1]

    def column(self, name):
        return np.concatenate([_host(tile.real[name]) for tile in self.tiles])[self.order]

    def charge(self):
        """Of each particle [C]: an electron's times how many it stands for."""
        name = "weighting" if "weighting" in self.tiles[0].real else "w"
        return CHARGE * self.column(name)

    def write(self, name, values):
        there = np.empty_like(values)
        there[self.order] = values
        for tile, part in zip(self.tiles, np.split(there, self.ends)):
            array = tile.real[name]
            array[:] = part if isinstance(array, np.ndarray) else type(array)(part)


def _host(array):
    """A NumPy array of a tile's column, also of one on a GPU."""
    return array.get() if hasattr(array, "get") else np.asarray(array)


def _chain(sim, where, function):
    """Hook a function behind one that is there."""
    try:
        before = sim.hook[where]
    except (KeyError, IndexError):
        before = None

    def both(sim):
        if before is not None:
            before(sim)
        function(sim)
    sim.hook[where] = both


def attach(sim, **options):
    """Kick all particles of an ImpactX simulation by their own field, before each slice.

    options: of arcwake.PlaneKicks and Field (grid, tolerance, device, ...). For one process, one
    period, electrons, and a horizontal orbit. Returns the arcwake.PlaneKicks, with its log.
    Raises ValueError, with the element, where the design orbit is not known.
    """
    state = _Attached(sim, options)
    _chain(sim, "before_slice", state.before_slice)
    _chain(sim, "after_element", state.after_element)
    return state.kicks


def kick_model(*, width=None, steady=False, upstream_m=1e4, **options):
    """A model for sim.csr_kick_model: two-dimensional forces for the line density of ImpactX.

    ImpactX shows it charge and mean x of each bin, in bends alone; the bunch across is a Gaussian
    of the rms `width` [m] about that mean (None: as wide as long), so a tilted bunch is tilted
    here. Each bend begins anew, with the bunch on a straight line ahead of it or, if steady, on its
    circle for ever; what earlier magnets have made is not known. attach has all that. The forces
    are those of the middle of the slice. options: of arcwake.Field.

    The model returns {"pt", "px"}, forces of each bin in newton, and raises ValueError for a
    profile without charge.
    """
    state = _Model(width, steady, {**options, "upstream_m": upstream_m})
    return state.forces


class _Model:
    """The field of the bend in which ImpactX is."""

    def __init__(self, width, steady, options):
        self.width, self.steady, self.options = width, steady, options
        self.field, self.key, self.s = None, None, 0.0

    def _field(self, context, s):
        """That of this bend, a new one at its beginning."""
        key = (context.element_name, context.signed_rc, context.ds)
        if self.field is None or key != self.key or s <= self.s:
            orbit = [(context.ds, 1 / context.signed_rc)]
            self.field = Field(orbit, steady=self.steady, step_m=context.slice_ds, **self.options)
            self.key = key
        self.s = s
        return self.field

    def forces(self, profile, context):
        n = profile.num_bins
        charge, mean = (np.asarray(a.to_numpy(copy=True) if hasattr(a, "to_numpy") else a)
                        for a in (profile.charge, profile.mean_x))
        bins = profile.bin_min + profile.bin_size * (np.arange(n) + 0.5)
        charge, mean = charge[:n], mean[:n]
        if not charge.sum() > 0:
            raise ValueError(f"the profile in {context.element_name!r} has no charge")
        t, x, weight = _particles(bins, charge, mean, self.width)
        p0, s = context.ref.beta_gamma, context.s + 0.5 * context.slice_ds
        beta = p0 / np.sqrt(1 + p0**2)
        field = self._field(context, s)
        places = s - beta * t
        field.observe(s / (beta * LIGHT), places, x, np.full_like(x, p0), np.zeros_like(x),
                      weight * profile.bin_size)
        Fs, Fx = field.force(s - beta * bins, mean, outside="nan")
        full = charge > 0
        if np.isnan(Fs[full]).any():
            raise ArcwakeError("a bin with charge lies outside of the grid", 6)
        return {"pt": CHARGE * np.where(full, Fs, 0.0), "px": CHARGE * np.where(full, Fx, 0.0)}


def _particles(bins, charge, mean, width):
    """Particles of a piecewise linear line density, Gaussian across: t, x, weight [C/m].

    Four in a bin, 41 across at a fifth of the width: the grid's splines leave nothing of either.
    """
    size = bins[1] - bins[0]
    t = (bins[:, None] + size * (np.arange(4) - 1.5) / 4).ravel()
    density = np.interp(t, bins, charge) / 4
    centre = np.interp(t, bins, mean)
    rms = np.sqrt(np.average((bins - np.average(bins, weights=charge))**2, weights=charge))
    across = np.linspace(-4, 4, 41)
    share = np.exp(-0.5 * across**2)
    share /= share.sum()
    x = centre[:, None] + (rms if width is None else width) * across
    weight = density[:, None] * share
    keep = np.broadcast_to(density[:, None] > 0, x.shape)
    return np.broadcast_to(t[:, None], x.shape)[keep], x[keep], weight[keep]
