# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m arcwake.convert`, and the script that `arcwake convert` runs.

Run as a script it loads the package by its path, under another name: neither libarcwake nor an
installed `arcwake` is needed, and no module of this folder can hide one of another project.
"""
import sys


def load():
    """The package, by its path."""
    import importlib.util
    from pathlib import Path
    folder = Path(__file__).resolve().parent
    sys.path = [place for place in sys.path if not place or Path(place).resolve() != folder]
    sys.dont_write_bytecode = True  # an installation may belong to somebody else
    name = "arcwake_convert"
    spec = importlib.util.spec_from_file_location(name, folder / "__init__.py",
                                                  submodule_search_locations=[str(folder)])
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)
    return package


def _main():
    if __package__:
        from .command import main
        return main()
    return load().main()


if __name__ == "__main__":
    sys.exit(_main())
