# SPDX-License-Identifier: GPL-3.0-or-later
"""openPMD with the BeamPhysics extension: written by h5py, read by openPMD-beamphysics."""
from ..problems import ConvertError, need, one_line
from .beam import C, E, Beam

EV_C = E / C  # unit of momentum: kg m/s in an eV/c

# name: (unitSI, powers of m, kg, s, A)
RECORDS = {"position": (1.0, (1, 0, 0, 0)), "momentum": (EV_C, (1, 1, -1, 0)),
           "time": (1.0, (0, 0, 1, 0)), "weight": (1.0, (0, 0, 1, 1)),
           "particleStatus": (1.0, (0, 0, 0, 0)), "id": (1.0, (0, 0, 0, 0))}


def recognise(path, head):
    if not head.startswith(b"\x89HDF\r\n\x1a\n"):
        return False
    h5py = need("h5py", "h5py", "reading HDF5")
    try:
        with h5py.File(path) as file:
            return "openPMD" in file.attrs
    except OSError as problem:
        raise ConvertError(f"{path}: {one_line(problem)}") from None


def read(path, scaled):
    particles = need("beamphysics", "openpmd-beamphysics", "reading openPMD")
    try:
        group = particles.ParticleGroup(str(path))
    except (AssertionError, NotImplementedError, KeyError) as problem:
        raise ConvertError(f"{path}: openPMD-beamphysics: {type(problem).__name__}: "
                           f"{one_line(problem)}") from None
    if group.species != "electron":
        raise ConvertError(f"{path}: the particles are {group.species}s (expected electron)")
    return Beam(group.x, group.y, group.z, group.px, group.py, group.pz, group.t, group.weight,
                status=group.status, id=group.id if "id" in group._data else None)


def _put(group, name, value, n, record, np):
    """A component: a data set, or constant where it is one number."""
    unit, powers = RECORDS[record]
    if np.ndim(value):
        kind = {"id": "u8", "particleStatus": "i4"}.get(record, "f8")
        one = group.create_dataset(name, data=np.ascontiguousarray(value, dtype=kind))
    else:
        one = group.create_group(name)
        one.attrs["value"] = float(value)
        one.attrs["shape"] = np.array([n], dtype="u8")
    one.attrs["unitSI"] = unit
    one.attrs["unitDimension"] = np.array([*powers, 0, 0, 0], dtype="f8")
    one.attrs["timeOffset"] = 0.0


def write(path, beam):
    """Write a beam.Beam. The charges are those of the particles, to the last bit."""
    import h5py
    import numpy as np
    n, total = len(beam.x), beam.total()
    with h5py.File(path, "w") as file:
        file.attrs.update({"openPMD": np.bytes_("2.0.0"), "basePath": np.bytes_("/data/%T/"),
                           "openPMDextension": np.bytes_("BeamPhysics;SpeciesType"),
                           "particlesPath": np.bytes_("particles/"),
                           "software": np.bytes_("arcwake convert")})
        species = file.create_group("data/0/particles/electron")
        species.attrs.update({"speciesType": np.bytes_("electron"), "numParticles": np.uint64(n),
                              "totalCharge": total, "chargeLive": total, "chargeUnitSI": 1.0})
        for record, axes in (("position", "xyz"), ("momentum", "xyz")):
            group = species.create_group(record)
            for axis in axes:
                name = axis if record == "position" else "p" + axis
                _put(group, axis, getattr(beam, name), n, record, np)
        _put(species, "time", beam.t, n, "time", np)
        _put(species, "weight", beam.charge, n, "weight", np)
        if beam.status is not None:
            _put(species, "particleStatus", beam.status, n, "particleStatus", np)
        if beam.id is not None:
            _put(species, "id", beam.id, n, "id", np)
