# SPDX-License-Identifier: GPL-3.0-or-later
"""arcwake: what coherent synchrotron radiation does to an electron bunch, in two dimensions.

    import arcwake
    r = arcwake.run("zeuthen_chicane.yaml", set={"beam.charge_C": 2e-9})
    r.summary, r.monitor["emittance_x_m"], r.mesh(S=7.3)["F"]["z"], r.beam.to_beamphysics()
    r.plot()

    field = arcwake.Field([(0.2, 0.0), (5.0, 1 / 25.13)])      # lengths [m], curvatures [1/m]
    for each step of a tracking code:
        field.observe(t, s, x, ps, px, charge)
        Fs, Fx = field.force(s, x)                             # eV/m on one electron

    sim = arcwake.Simulation("zeuthen_chicane.yaml")           # a run, step by step
    while not sim.last:
        sim.step()

Runs are made by the program, forces by the library libarcwake (arcwake.h). docs/python.md and
docs/library.md have shapes, units and examples.
"""
import importlib

# Names and their modules, loaded when they are used: the libraries are needed by those alone that
# call them, HDF5 by those that read files.
_PLACES = {
    "ArcwakeError": "errors", "ArcwakeWarning": "errors", "Interrupted": "errors",
    "Field": "field", "Grid": "field", "PlaneKicks": "planes",
    "at_one_time": "one_time", "at_one_place": "one_time",
    "run": "_run", "evaluate": "_evaluate", "find_program": "_program",
    "spectrum": "_spectrum", "Spectrum": "_spectrum",
    "form_factor": "_form_factor", "FormFactor": "_form_factor",
    "Result": "result", "Particles": "particles", "Mesh": "mesh",
    "Simulation": "simulation", "Beam": "simulation", "Force": "simulation",
}
__all__ = [*_PLACES]


def __getattr__(name):
    if name == "__version__":
        return importlib.import_module("._library", __name__).version()
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module("." + _PLACES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *_PLACES, "__version__"])
