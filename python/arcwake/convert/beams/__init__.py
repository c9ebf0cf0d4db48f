# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles of other programs as openPMD with the BeamPhysics extension, which beam.file reads."""
from dataclasses import dataclass
from pathlib import Path

from ..problems import ConvertError, need, one_line
from . import astra, elegant, genesis, gpt, impact, ocelot, openpmd


@dataclass(frozen=True)
class Format:
    """recognise(path, head): whether a file is one; read(path, scaled): a beam.Beam.

    scaled: the charge comes from --charge, so that the file may have none
    """
    name: str
    title: str
    recognise: object
    read: object


# The first that recognises a file reads it.
FORMATS = (
    Format("elegant-beam", "particles of elegant", elegant.recognise, elegant.read),
    Format("gpt", "particles of GPT", gpt.recognise, gpt.read),
    Format("ocelot", "particles of Ocelot", ocelot.recognise, ocelot.read),
    Format("openpmd", "particles in openPMD", openpmd.recognise, openpmd.read),
    Format("genesis4", "particles of Genesis 4", genesis.recognise, genesis.read),
    Format("astra", "particles of ASTRA", astra.recognise, astra.read),
    Format("impact-t", "particles of IMPACT-T", impact.recognise, impact.read),
)


def guess(source, head):
    """The format of a file, by its first bytes; None: none of these."""
    return next((row for row in FORMATS if row.recognise(Path(source), head)), None)


def read(row, source, charge=None):
    """Read a file. Returns (write(path), notes). Raises ConvertError.

    charge: total charge [C], to which those of the particles are scaled
    """
    need("numpy", "numpy", "converting particles")
    need("h5py", "h5py", "writing openPMD")
    if charge is not None and not 0.0 < abs(charge) < float("inf"):
        raise ConvertError(f"--charge: {charge:g} (expected a charge in C)")
    try:
        beam = row.read(Path(source), charge is not None)
    except ConvertError:
        raise
    except MemoryError:
        raise ConvertError(f"{source}: the particles do not fit into memory") from None
    except Exception as problem:  # of a format's own reader, for a file that is not of its format
        raise ConvertError(f"{source}: cannot be read as {row.title}: "
                           f"{type(problem).__name__}: {one_line(problem)}") from None
    beam.check(source)
    if charge is not None:
        beam.scale(abs(charge))
    return (lambda path: openpmd.write(path, beam), [beam.summary(), *beam.notes])
