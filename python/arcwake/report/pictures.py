# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of the report."""
import math

import numpy as np
from matplotlib import colors, patches
from matplotlib import pyplot as plt

from . import beam, lattice, read

# From the palette of Okabe and Ito, which is distinguishable with any colour vision.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#707070"
STYLE = {
    "figure.dpi": 100, "savefig.dpi": 160, "svg.fonttype": "path", "svg.hashsalt": "arcwake",
    "font.size": 10, "axes.titlesize": 10.5, "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.8,
    "axes.grid": True, "grid.color": "#e6e6e6", "grid.linewidth": 0.7, "axes.axisbelow": True,
    "legend.frameon": False, "legend.fontsize": 9, "lines.linewidth": 1.6,
    "lines.solid_joinstyle": "round", "figure.constrained_layout.use": True,
}
HEAD = "head to the right"
WIDE = 4.0  # half the width of a window around the bunch, in rms sizes
LOG_ABOVE = 30.0  # ratio of largest to smallest above which an axis is logarithmic


# ----------------------------------------------------------------------------------------- numbers


def prefix(largest, unit):
    """Factor and unit with an SI prefix for numbers up to `largest`: 5e-5, "m" -> 1e6, "µm"."""
    if not unit or not math.isfinite(largest) or largest == 0.0:
        return 1.0, unit
    power = 3 * math.floor(math.log10(abs(largest)) / 3.0 + 1e-9)
    power = max(-18, min(12, power))
    names = {-18: "a", -15: "f", -12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M",
             9: "G", 12: "T"}
    return 10.0**-power, names[power] + unit


def largest_of(*arrays):
    """Largest finite magnitude; 0 if there is none."""
    numbers = np.abs(np.concatenate([np.ravel(a) for a in arrays]))
    numbers = numbers[np.isfinite(numbers)]
    return float(numbers.max()) if numbers.size else 0.0


def changes(values, scale=0.0):
    """Do the values change by more than rounding, and by more than 1e-12 of `scale`?"""
    known = values[np.isfinite(values)]
    if known.size == 0:
        return False
    return bool(np.ptp(known) > max(1e-9 * np.abs(known).max(), 1e-12 * scale))


def place(s_ref):
    return f"$S$ = {s_ref:.3f} m"


# ------------------------------------------------------------------------------------------ forces


def steady_reference(meshes):
    """The mesh for which the steady state is drawn: the last one within a bend, or None."""
    bent = [mesh for mesh in meshes if mesh.frame.kappa != 0.0]
    return bent[-1] if bent else None


def scale_of_s(meshes):
    """(scale of each mesh [m], label): rms lengths where they differ by more than a half."""
    lengths = [mesh.moments()[2] for mesh in meshes]
    if max(lengths) > 1.5 * min(lengths):
        return lengths, f"$s/\\sigma_s$ ({HEAD})"
    factor, unit = prefix(WIDE * max(lengths), "m")
    return [1.0 / factor] * len(meshes), f"$s$ [{unit}] ({HEAD})"


def draw_line_curves(axis, meshes, line_meshes, curves):
    """F_s of the line model, dashed, at those of the places where it is known.

    `curves` has the places s, their scale, the colour and the factor of each mesh's own curve.
    """
    label = "line model, the same place"
    for mesh, (s, scale, colour, factor) in zip(meshes, curves):
        near = [one for one in line_meshes
                if abs(one.frame.s_ref - mesh.frame.s_ref) < 1e-3]
        if near:
            axis.plot(s / scale, near[0].along(near[0].force_z, s) * factor, color=colour,
                      linestyle=(0, (5, 2)), linewidth=1.3, label=label)
            label = None


def draw_forces(meshes, line_meshes=()):
    """F_s and F_x_eff on the bunch's own axis, at several places along the machine.

    The line model has no F_x_eff; `line_meshes` are those of such a run, to be drawn as well.
    """
    flat = any(mesh.force_x_eff is None for mesh in meshes)
    figure, axes = plt.subplots(1, 1 if flat else 2, figsize=(6.4 if flat else 10.4, 4.8),
                                squeeze=False)
    axes = axes[0]
    colours = plt.get_cmap("viridis")(np.linspace(0.88, 0.0, len(meshes)))
    scales, label = scale_of_s(meshes)
    moments = [mesh.moments() for mesh in meshes]
    reference = steady_reference(meshes)
    steady = (None, None)
    if reference:
        steady_s, charge = reference.line_charge()
        steady = beam.steady_forces(steady_s, charge, reference.frame.kappa)
    panels = (("force_z", "Longitudinal force on the bunch's axis", "$F_s$"),
              ("force_x_eff", "Effective transverse force on the bunch's axis",
               "$F_x^{\\mathrm{eff}}$"))[:len(axes)]
    places = [m[0] + WIDE * m[2] * np.linspace(-1.0, 1.0, 401) for m in moments]
    for axis, (name, title, symbol), known in zip(axes, panels, steady):
        curves = [mesh.along(getattr(mesh, name), s) for mesh, s in zip(meshes, places)]
        factor, unit = prefix(largest_of(*curves), "eV/m")
        for mesh, s, scale, moment, curve, colour in zip(meshes, places, scales, moments, curves,
                                                         colours):
            size, length_unit = prefix(moment[2], "m")
            axis.plot(s / scale, curve * factor, color=colour,
                      label=f"{place(mesh.frame.s_ref)}, "
                            f"$\\sigma_s$ = {moment[2] * size:.3g} {length_unit}")
        if name == "force_z":
            draw_line_curves(axis, meshes, line_meshes,
                             list(zip(places, scales, colours, [factor] * len(meshes))))
        low, high = places[-1][[0, -1]] / scales[-1]
        if known is not None:
            scale = scales[meshes.index(reference)]
            axis.plot(steady_s / scale, known * factor, color="black", linewidth=1.1,
                      linestyle=(0, (5, 3)),
                      label=f"1D steady state, {place(reference.frame.s_ref)}")
        axis.axhline(0.0, color="#808080", linewidth=0.8, zorder=1)
        axis.set(title=title, xlabel=label, ylabel=f"{symbol} [{unit}]", xlim=(low, high))
        draw_profile(axis, meshes[-1], scales[-1])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center",
                  ncols=2 if flat else 3)
    return figure


def draw_profile(axis, mesh, scale):
    """Shade the line charge of the bunch at the bottom, not to scale."""
    s, charge = mesh.line_charge()
    shade = axis.twinx()
    shade.fill_between(s / scale, charge / charge.max(), color="#9a9a9a", alpha=0.25,
                       linewidth=0.0)
    shade.set(ylim=(0.0, 4.0), yticks=[])
    shade.grid(False)
    shade.spines["right"].set_visible(False)
    axis.set_zorder(shade.get_zorder() + 1)
    axis.patch.set_visible(False)


def strongest(meshes):
    """The meshes that are mapped: the one of the largest force in the bunch, and the last one."""
    force = [math.sqrt((mesh.rho * mesh.force_z**2).sum() / mesh.rho.sum()) for mesh in meshes]
    return sorted({int(np.argmax(force)), len(meshes) - 1})


def draw_maps(meshes):
    """Charge density and the two forces in the coordinates of the design orbit."""
    columns = 2 if any(mesh.force_x_eff is None for mesh in meshes) else 3
    figure, axes = plt.subplots(len(meshes), columns, figsize=(10.4, 3.4 * len(meshes)),
                                squeeze=False)
    for row, mesh in zip(axes, meshes):
        draw_map_row(figure, row, mesh)
    return figure


def draw_map_row(figure, row, mesh):
    """One place: maps around the bunch, as many as there are axes, with lines of equal density."""
    mean_s, mean_x, sigma_s, sigma_x, _ = mesh.moments()
    low_s, high_s = mean_s - WIDE * sigma_s, mean_s + WIDE * sigma_s
    low_x, high_x = mean_x - WIDE * sigma_x, mean_x + WIDE * sigma_x
    inside = ((mesh.node_s >= low_s) & (mesh.node_s <= high_s)
              & (mesh.node_x >= low_x) & (mesh.node_x <= high_x))
    s_factor, s_unit = prefix(WIDE * sigma_s, "m")
    x_factor, x_unit = prefix(WIDE * sigma_x, "m")
    s, x = mesh.node_s * s_factor, mesh.node_x * x_factor
    panels = ((mesh.rho, "Charge density $|\\rho|$", "C/m$^2$", "cividis"),
              (mesh.force_z, "Force $F_s$", "eV/m", "RdBu_r"),
              (mesh.force_x_eff, "Force $F_x^{\\mathrm{eff}}$", "eV/m", "RdBu_r"))
    for axis, (field, title, unit, colours) in zip(row, panels):
        top = largest_of(field[inside])
        factor, unit = prefix(top, unit)
        signed = colours != "cividis"
        image = axis.pcolormesh(s, x, field * factor, shading="gouraud", cmap=colours,
                                vmin=-top * factor if signed else 0.0,
                                vmax=(top or 1.0) * factor, rasterized=True)
        axis.contour(s, x, mesh.rho / mesh.rho.max(), linewidths=0.8,
                     levels=[math.exp(-2.0), math.exp(-0.5)],  # a Gaussian's 2 and 1 sigma
                     colors="#404040" if signed else "#ffffff")
        axis.grid(False)
        axis.set(title=f"{title} [{unit}]", xlabel=f"$s$ [{s_unit}] ({HEAD})",
                 xlim=(low_s * s_factor, high_s * s_factor),
                 ylim=(low_x * x_factor, high_x * x_factor))
        figure.colorbar(image, ax=axis, pad=0.02, fraction=0.06)
    row[0].set_ylabel(f"{place(mesh.frame.s_ref)}\n$x$ [{x_unit}]")


# --------------------------------------------------------------------------------------- particles


def window(bunch, values, least=0.0):
    """All particles, but not beyond 4.5 rms; room at the sides, `least` on both at least."""
    middle, rms = bunch.mean(values), bunch.rms(values)
    low, high = max(values.min(), middle - 4.5 * rms), min(values.max(), middle + 4.5 * rms)
    room = max(0.06 * (high - low), least, 1e-12)
    return low - room, high + room


def draw_phase_space(bunches):
    """Current, longitudinal phase space and top view of the bunch at each place."""
    figure, axes = plt.subplots(3, len(bunches), figsize=(10.4, 8.2), squeeze=False,
                                height_ratios=(0.75, 1, 1), sharex="col")
    colours = plt.get_cmap("viridis").with_extremes(under="white")
    for column, bunch in zip(axes.T, bunches):
        s_window = window(bunch, bunch.s)
        s_factor, s_unit = prefix(max(map(abs, s_window)), "m")
        s, amperes = beam.current(bunch)
        factor, unit = prefix(amperes.max(), "A")
        column[0].fill_between(s * s_factor, amperes * factor, step="mid", color=BLUE, alpha=0.3,
                               linewidth=0.0)
        column[0].step(s * s_factor, amperes * factor, where="mid", color=BLUE, linewidth=1.2)
        column[0].set(title=f"{place(bunch.s_ref)}\n$I$ [{unit}], peak "
                            f"{amperes.max() * factor:.3g}", ylim=(0.0, None))
        percent = 100.0 * bunch.delta
        d_factor, d_unit = (1.0, "%") if bunch.rms(percent) > 0.03 else (10.0, "10$^{-3}$")
        x_factor, x_unit = prefix(max(map(abs, window(bunch, bunch.x))), "m")
        draw_density(column[1], bunch, (bunch.s, bunch.delta), (s_factor, 100.0 * d_factor),
                     colours)
        draw_density(column[2], bunch, (bunch.s, bunch.x), (s_factor, x_factor), colours)
        column[1].set_title(f"$\\delta$ [{d_unit}]")
        column[2].set_title(f"$x$ [{x_unit}]")
        column[2].set(xlabel=f"$s$ [{s_unit}]\n({HEAD})",
                      xlim=tuple(edge * s_factor for edge in s_window))
    return figure


def draw_density(axis, bunch, values, factors, colours):
    """Density of the particles over two coordinates; white where there are none."""
    bins = int(np.clip(math.sqrt(len(bunch.s)) / 1.5, 50, 240))
    # an energy deviation below 1e-6 is rounding, or no matter
    ranges = [window(bunch, one, 1e-6 if one is bunch.delta else 0.0) for one in values]
    density, first, second = np.histogram2d(*values, bins=bins, range=ranges,
                                            weights=bunch.charge)
    peak = density.max() or 1.0
    axis.pcolormesh(first * factors[0], second * factors[1], np.sqrt(density.T / peak),
                    cmap=colours, vmin=1e-9, vmax=1.0, rasterized=True)
    axis.grid(False)


def draw_slices(bunches):
    """Slice parameters of the first and the last bunch."""
    figure, axes = plt.subplots(2, 2, figsize=(10.4, 5.6), sharex=True)
    found = [(bunch, beam.slices(bunch)) for bunch in bunches]
    last = found[-1][0]
    same = max(b.core() for b in bunches) < 1.5 * min(b.core() for b in bunches)
    unit_s, unit = prefix(3.0 * last.core(), "m")
    scales = [1.0 / unit_s if same else bunch.rms(bunch.s) for bunch in bunches]
    panels = (("current", "A", "Current"), ("emittance", "m rad", "Slice emittance, normalised"),
              ("spread", "eV", "Slice energy spread, rms"),
              ("delta", "", "Mean energy deviation $\\delta$ of the slice"))
    colours = (GREY, BLUE)[-len(found):]
    for axis, (name, measure, title) in zip(axes.flat, panels):
        factor, measure = prefix(largest_of(*(getattr(cut, name) for _, cut in found)), measure)
        if name == "delta":
            factor, measure = 100.0, "%"
        for (bunch, cut), scale, colour in zip(found, scales, colours):
            axis.plot((cut.s - (0.0 if same else bunch.mean(bunch.s))) / scale,
                      getattr(cut, name) * factor, color=colour, label=place(bunch.s_ref))
        axis.set(title=title, ylabel=f"[{measure}]")
        if name != "delta":
            axis.set_ylim(0.0, None)
        axis.ticklabel_format(useOffset=False)
    if len(found) > 1:
        axes[0, 0].legend(loc="best")
    for axis in axes[-1]:
        axis.set_xlabel(f"$s$ [{unit}] ({HEAD})" if same else
                        f"$(s-\\langle s\\rangle)/\\sigma_s$ ({HEAD})")
    return figure


# --------------------------------------------------------------------------------------- along S


def draw_lattice(axis, elements):
    """The elements as blocks on a line: bends up (towards -x) or down, quadrupoles thin."""
    axis.axhline(0.0, color="#404040", linewidth=0.8)
    for one in elements:
        if one.kind in lattice.BENDS and one.curvature:
            height, colour = math.copysign(0.6, one.curvature), "#E69F00"
        elif one.kind == "Quadrupole":
            height, colour = math.copysign(1.0, one.strength), GREEN
        else:
            continue
        axis.bar(one.begin, height, one.length, align="edge", color=colour, linewidth=0.4,
                 edgecolor="#404040")
    axis.set(ylim=(-1.1, 1.1))
    axis.axis("off")


def shade_bends(axis, elements):
    for one in elements:
        if one.kind in lattice.BENDS and one.curvature:
            axis.axvspan(one.begin, one.begin + one.length, color="#E69F00", alpha=0.14,
                         linewidth=0.0, zorder=0)


def panels_of(run):
    """(curves, unit, title, kind) of the panels that show more than rounding."""
    monitor, rigid = run.monitor, run.motion == "rigid"
    energy = run.gamma * beam.REST_EV if run.gamma > 1.0 else 1e9
    out = []

    def band(column, factor=1.0):
        """The error bar of a column, or NaN."""
        return run.bands.get(column, np.full(len(monitor["s_ref_m"]), np.nan)) * factor

    def add(columns, unit, title, kind="", scale=0.0):
        shown = [curve for curve in columns if changes(curve[1], scale)]
        if shown:
            out.append((shown, unit, title, kind))

    if not rigid:
        add([("", monitor["sigma_s_m"], band("sigma_s_m"))], "m", "Bunch length $\\sigma_s$",
            "size")
        add([("", monitor["sigma_x_m"], band("sigma_x_m"))], "m", "Bunch width $\\sigma_x$", "size")
        plain, free = monitor["emittance_x_m"], monitor["emittance_x_dispersion_free_m"]
        word, factor = "Geometric", 1.0
        if run.gamma > 1.0:
            plain, free = beam.normalised(monitor, run.gamma)
            word, factor = "Normalised", math.sqrt(run.gamma**2 - 1.0)
        # below a divergence of 1e-9/gamma it is rounding
        size = 1e3 * float(np.nanmax(monitor["sigma_x_m"])) / (1.0 if run.gamma > 1.0 else 1e4)
        add([("", plain, band("emittance_x_m", factor))], "m rad", f"{word} emittance", "size",
            size)
        add([("", free, band("emittance_x_dispersion_free_m", factor))], "m rad",
            f"{word} emittance, dispersion taken out", "growth", size)
    if not rigid and run.motion != "external":
        add([("mean", monitor["energy_change_mean_eV"], band("energy_change_mean_eV")),
             ("rms about the mean", monitor["energy_change_rms_eV"],
              band("energy_change_rms_eV"))],
            "eV", "Energy change since the start", scale=energy)
    for letter, word in (("s", "Longitudinal"), ("x", "Transverse")):
        mean, peak = (f"F_{letter}_{kind}_eV_per_m" for kind in ("mean", "peak"))
        add([("mean", monitor[mean], band(mean)),
             ("largest, with its sign", monitor[peak], band(peak))], "eV/m",
            f"{word} force on the particles")
    return out


def draw_evolution(run, line=None):
    """Draw the bunch along the machine, under the lattice; None if nothing changes.

    `line` is the run of the line model, drawn dashed.
    """
    panels = panels_of(run)
    others = {title: {label: values for label, values, _ in shown}
              for shown, _, title, _ in panels_of(line)} if line else {}
    if not panels:
        return None
    rows = -(-len(panels) // 2)
    columns = min(2, len(panels))
    strip = 1 if run.elements else 0
    figure, axes = plt.subplots(rows + strip, columns, sharex=True, squeeze=False,
                                figsize=(10.4, 2.6 * rows + 0.4 * strip),
                                height_ratios=[0.16] * strip + [1.0] * rows)
    s = run.monitor["s_ref_m"]
    for axis in axes[0] if strip else ():
        draw_lattice(axis, run.elements)
    flat = list(axes[strip:].flat)
    for axis, panel in zip(flat, panels):
        draw_panel(axis, s, panel, (line.monitor["s_ref_m"], others.get(panel[2], {}))
                   if line else None)
        shade_bends(axis, run.elements)
        axis.set_xlim(s.min(), s.max() if s.max() > s.min() else s.min() + 1.0)
    for axis in flat[len(panels):]:
        axis.axis("off")
    for axis in flat[max(0, len(panels) - columns):len(panels)]:
        axis.set_xlabel("$S$ of the reference particle [m]")
        axis.tick_params(labelbottom=True)
    return figure


def draw_panel(axis, s, panel, line=None):
    """One panel: its curves against S, and dashed those of the line model, (S, {label: values})."""
    curves, unit, title, kind = panel
    factor, unit = prefix(largest_of(*(curve[1] for curve in curves)), unit)
    for (label, values, band), colour, dashes in zip(curves, (BLUE, ORANGE),
                                                     ("-", "-" if line else (0, (5, 2)))):
        other = line[1].get(label) if line else None
        if other is not None:
            there = np.isfinite(other)
            axis.plot(line[0][there], other[there] * factor, color=colour, linewidth=1.2,
                      linestyle=(0, (5, 2)), label=f"{label}, line model" if label
                      else "line model")
        known = np.isfinite(values)
        barred = known & np.isfinite(band)
        # no line through places between which nothing was computed
        sparse = known.sum() < 0.5 * len(s)
        axis.plot(s[known], values[known] * factor, color=colour, label=label,
                  linestyle="" if sparse else dashes, marker="o" if sparse else None,
                  markersize=4, clip_on=not sparse)
        if barred.any() and not sparse:
            axis.fill_between(s[barred], (values - band)[barred] * factor,
                              (values + band)[barred] * factor, color=colour, alpha=0.25,
                              linewidth=0.0)
        elif barred.any():
            axis.errorbar(s[barred], values[barred] * factor, band[barred] * factor,
                          color=colour, linestyle="", linewidth=1.0, capsize=2.0)
    if len(curves) > 1 or (line and line[1]):
        axis.legend(loc="best")
    axis.set(title=title, ylabel=f"[{unit}]")
    known = np.concatenate([curve[1][np.isfinite(curve[1])] for curve in curves])
    if kind and known.min() > 0.0 and known.max() > LOG_ABOVE * known.min():
        axis.set_yscale("log")
    else:
        axis.ticklabel_format(useOffset=False)
        if kind and known.max() > 2.0 * known.min():
            axis.set_ylim(0.0, None)
    start = curves[0][1][np.isfinite(curves[0][1])][0]
    if kind == "growth" and start > 0.0:
        ratio = axis.secondary_yaxis("right", functions=(lambda y: y / (start * factor),
                                                         lambda y: y * start * factor))
        ratio.set_ylabel("over its start")


def draw_budget(parts):
    """Draw the parts of the change of the mean energy, in a colour for each kind."""
    colours = {"": BLUE, "part": "#99c7e0", "difference": "#8fd0b8", "sum": GREY}
    figure, axis = plt.subplots(figsize=(7.2, 0.9 + 0.36 * len(parts)))
    factor, unit = prefix(largest_of([part.change for part in parts]), "eV")
    rows = np.arange(len(parts))[::-1]
    change = np.array([part.change for part in parts]) * factor
    bars = axis.barh(rows, change, height=0.65, color=[colours[part.kind] for part in parts])
    axis.bar_label(bars, labels=[f"{value:.3g}" for value in change], padding=4)
    barred = np.isfinite([part.bar for part in parts])
    axis.errorbar(change[barred], rows[barred],
                  xerr=[part.bar * factor for part in parts if math.isfinite(part.bar)],
                  linestyle="", color="#404040", linewidth=1.0, capsize=2.5)
    axis.axvline(0.0, color="#404040", linewidth=0.8)
    axis.set_yticks(rows, [part.name for part in parts])
    axis.set(xlabel=f"change of the mean energy since the start [{unit}]")
    axis.margins(x=0.14)
    axis.grid(axis="y", visible=False)
    return figure


# --------------------------------------------------------------------------------------- radiation


def draw_spectrum(found):
    """Energy per angular frequency against frequency; the band, and what is not resolved."""
    table = found.table
    frequency, coherent = 1e-12 * table["frequency_Hz"], table["coherent_J_s"]
    figure, axis = plt.subplots(figsize=(7.2, 4.6))
    marker = {"marker": "o", "markersize": 4} if len(frequency) == 1 else {}
    curves = [(table["noise_J_s"], "noise of the macro-particles", GREY, 0.9, "-"),
              (table["incoherent_J_s"], "incoherent", ORANGE, 1.4, "-"),
              (coherent, "coherent, below the noise", BLUE, 1.0, (0, (4, 2))),
              (np.where(found.clear, coherent, np.nan), "coherent", BLUE, 1.8, "-")]
    if (found.clear == found.held).all():
        del curves[2]
    for values, label, colour, width, dashes in curves[::-1]:
        axis.plot(frequency, np.where(values > 0.0, values, np.nan), color=colour, label=label,
                  linewidth=width, linestyle=dashes, **marker)
    low, high, top = frequency[0], frequency[-1], largest_of(*(curve[0] for curve in curves))
    limit = 1e-12 * found.number("frequency_resolved_Hz")
    if limit < high:
        axis.axvspan(max(limit, low), high, facecolor="#f0f0f0", edgecolor="#c8c8c8", hatch="//",
                     linewidth=0.0, zorder=0, label="not resolved by the grid")
    if found.has_band:
        factor, unit = prefix(found.number("band_energy_J"), "J")
        energy = found.number("band_energy_J") * factor
        axis.axvspan(1e-12 * found.number("band_from_Hz"), 1e-12 * found.number("band_to_Hz"),
                     color=GREEN, alpha=0.18, linewidth=0.0, zorder=0,
                     label=f"band: {energy:.4g} {unit}" if math.isfinite(energy) else
                     "band: energy not known")
    axis.set(xscale="log", yscale="log", xlabel="frequency [THz]", ylabel="$dW/d\\omega$ [J s]")
    if high > low:
        axis.set_xlim(low, high)
    if top > 0.0:  # what has fallen to rounding does not set the scale
        axis.set_ylim(max(axis.get_ylim()[0], 1e-18 * top), None)
    # in um; the axis asks for values at 0 as well
    wave = axis.secondary_xaxis("top", functions=2 * (
        lambda x: 1e-6 * lattice.LIGHT / np.maximum(x, 1e-300),))
    wave.set_xlabel("wavelength [µm]")
    for ruled in (axis, wave):
        ruled.xaxis.set_major_formatter(lambda value, place: f"{value:g}")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def draw_directions(found):
    """Coherent energy per solid angle, as a map or a line; None: there is nothing to draw."""
    seen = found.directions
    shown = seen.energy[seen.energy > 0.0] if seen else np.zeros(0)
    if shown.size == 0 or seen.energy.size == 1:
        return None
    theta, psi = 1e3 * seen.theta, 1e3 * seen.psi
    factor, unit = prefix(shown.max(), "J/sr")
    words = ("$\\theta$ in the plane [mrad]", "$\\psi$ to the plane [mrad]")
    if 1 in seen.energy.shape:
        figure, axis = plt.subplots(figsize=(7.2, 3.6))
        along = len(psi) == 1
        axis.plot(theta if along else psi, seen.energy.ravel() * factor, color=BLUE)
        axis.set(xlabel=words[0 if along else 1], ylabel=f"$dW/d\\Omega$ [{unit}]")
        if shown.max() > LOG_ABOVE * shown.min():
            axis.set_yscale("log")
        return figure
    shape = np.ptp(psi) / np.ptp(theta)
    figure, axis = plt.subplots(figsize=(7.2, float(np.clip(0.9 + 5.4 * shape, 2.4, 5.0))))
    # single directions at either end do not set the colours
    low, high = np.percentile(shown, (1.0, 99.9))
    low, high = max(low, 1e-6 * high), max(high, 1.1 * low)
    image = axis.pcolormesh(theta, psi, np.fmax(seen.energy, 0.5 * low) * factor,
                            norm=colors.LogNorm(low * factor, high * factor), cmap="cividis",
                            shading="gouraud", rasterized=True)
    if 0.2 < shape < 1.0:
        axis.set_aspect("equal")
    radius = 1e3 * found.number("aperture_rad")
    if math.isfinite(radius):
        axis.add_patch(patches.Circle((0.5 * (theta[0] + theta[-1]), 0.0), radius, fill=False,
                                      color="white", linestyle=(0, (4, 2)), linewidth=1.2))
    axis.grid(False)
    axis.set(xlabel=words[0], ylabel=words[1], xlim=theta[[0, -1]], ylim=psi[[0, -1]])
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}.get(
        (shown.min() < low, shown.max() > high), "neither")
    figure.colorbar(image, ax=axis, pad=0.02, fraction=0.06, extend=extend,
                    label=f"$dW/d\\Omega$ [{unit}]")
    return figure


# ------------------------------------------------------------------------------------- computation


def draw_time(monitor):
    """Draw the wall-clock time of each part of a step, summed over the steps."""
    seconds = {part: float(np.nansum(monitor[f"seconds_{part}"])) for part in read.PARTS}
    total = sum(seconds.values())
    order = sorted(seconds, key=seconds.get)
    figure, axis = plt.subplots(figsize=(7.2, 2.5))
    bars = axis.barh(order, [seconds[part] for part in order], color=BLUE, height=0.65)
    share = [100.0 * seconds[part] / total if total > 0.0 else 0.0 for part in order]
    axis.bar_label(bars, labels=[f"{value:.1f} %" for value in share], padding=4)
    axis.set(xlabel="wall-clock time, all steps [s]")
    axis.margins(x=0.12)
    axis.grid(axis="y", visible=False)
    return figure
