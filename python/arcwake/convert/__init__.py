# SPDX-License-Identifier: GPL-3.0-or-later
"""arcwake.convert: beams and decks of other programs, as arcwake reads them.

    arcwake convert IN OUT            or    python -m arcwake.convert IN OUT

A file of particles becomes openPMD with the BeamPhysics extension (for beam.file), a deck becomes
a lattice in PALS. docs/convert.md has formats, options and packages, each of which is imported
when it is needed.
"""
from .command import convert, main
from .problems import ConvertError

__all__ = ["ConvertError", "convert", "main"]
