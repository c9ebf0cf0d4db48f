# SPDX-License-Identifier: GPL-3.0-or-later
"""arcwake: what coherent synchrotron radiation does to an electron bunch, in two dimensions.

    import arcwake
    field = arcwake.Field([(0.2, 0.0), (5.0, 1 / 25.13)])      # lengths [m], curvatures [1/m]
    for each step of a tracking code:
        field.observe(t, s, x, ps, px, charge)
        Fs, Fx = field.force(s, x)                             # eV/m on one electron

    sim = arcwake.Simulation("zeuthen_chicane.yaml")           # a run, step by step
    while not sim.last:
        sim.step()

The libraries do the work; this package hands over NumPy arrays. docs/library.md has the details.
"""
import importlib

# Names and their modules, loaded when they are used: the libraries are needed by those alone that
# call them.
_PLACES = {
    "ArcwakeError": "errors", "ArcwakeWarning": "errors",
    "Field": "field", "Grid": "field",
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
