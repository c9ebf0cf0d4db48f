# SPDX-License-Identifier: GPL-3.0-or-later
"""The command: which format a file has, options, and what is printed."""
import argparse
import os
import sys
import tempfile
from pathlib import Path

from . import beams, decks
from .problems import IO, ConvertError, one_line

# What each kind of file takes; others are refused, so that no option is without effect.
BEAM_OPTIONS = ("charge",)
DECK_OPTIONS = ("line", "first", "last", "energy", "plane", "rbend", "as_drift")
FLAGS = {"first": "--from", "last": "--to", "as_drift": "--as-drift"}


def find_format(source, name=None):
    """The row of beams.FORMATS or decks.FORMATS of a file, by its name, content or `name`."""
    known = {row.name: row for row in (*beams.FORMATS, *decks.FORMATS)}
    if name is not None:
        if name not in known:
            raise ConvertError(f"--format: {name} is not known (expected one of: "
                               f"{', '.join(known)})")
        return known[name]
    try:
        with open(source, "rb") as file:
            head = file.read(4096)
    except OSError as problem:
        raise ConvertError(f"{source}: {problem.strerror}") from None
    found = decks.guess(source) or beams.guess(source, head)
    if found is None:
        raise ConvertError(f"{source}: neither the name nor the content shows a format "
                           f"(expected --format, one of: {', '.join(known)})")
    return found


def convert(source, target, format=None, force=False, **options):
    """Convert a file.

    source, target: paths; format: a name, where source does not show it; force: write over target
    options: charge [C] for particles; line, first, last, energy [eV], plane, rbend
    and as_drift for decks (docs/convert.md)
    Returns a list of notes: what was done, and what of the source has no part in the result.
    Raises ConvertError; target is then as it was.
    """
    source, target = Path(source), Path(target)
    row = find_format(source, format)
    allowed = BEAM_OPTIONS if row in beams.FORMATS else DECK_OPTIONS
    given = {key: value for key, value in options.items() if value not in (None, [])}
    wrong = [FLAGS.get(key, f"--{key}") for key in given if key not in allowed]
    if wrong:
        raise ConvertError(f"{', '.join(wrong)}: has no meaning for {row.title}")
    if target.exists() and not force:
        raise ConvertError(f"{target}: exists (--force writes over it)", IO)
    write, notes = (beams if row in beams.FORMATS else decks).read(row, source, **given)
    _replace(target, write)
    return notes


def _replace(target, write):
    """Write a file as a whole or not at all."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        os.close(handle)
    except OSError as problem:
        raise ConvertError(f"{target}: {problem.strerror}", IO) from None
    try:
        write(Path(name))
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    except OSError as problem:
        raise ConvertError(f"{target}: {problem.strerror or problem}", IO) from None
    finally:
        if os.path.exists(name):
            os.unlink(name)


def _parser():
    parser = argparse.ArgumentParser(
        prog="arcwake convert", allow_abbrev=False,
        description="Beams and decks of other programs, as arcwake reads them (docs/convert.md).")
    add = parser.add_argument
    add("source", metavar="IN")
    add("target", metavar="OUT")
    add("--format", metavar="NAME", help="format of IN, where it does not show it")
    add("--force", action="store_true", help="write over OUT")
    beam = parser.add_argument_group("particles").add_argument
    beam("--charge", metavar="C", type=float, help="total charge [C]")
    deck = parser.add_argument_group("decks").add_argument
    deck("--line", metavar="NAME", help="beam line or sequence")
    deck("--from", dest="first", metavar="NAME", help="first element; NAME[2]: the second one")
    deck("--to", dest="last", metavar="NAME", help="last element")
    deck("--energy", metavar="EV", type=float, help="reference total energy [eV]")
    deck("--plane", choices=("x", "y"), help="plane of the bends")
    deck("--rbend", choices=("arc", "chord"), help="what L of an RBEND of MAD8 is")
    deck("--as-drift", metavar="NAME", action="append", default=[],
         help="take this element as a drift; NAME may have * and ?")
    return parser


def main(arguments=None):
    """Run the command. Returns the exit status; problems go to stderr, a line each."""
    options = vars(_parser().parse_args(arguments))
    source, target = options.pop("source"), options.pop("target")
    try:
        notes = convert(source, target, **options)
    except ConvertError as problem:
        for line in problem.problems:
            print(f"arcwake: error: {line}", file=sys.stderr)
        return problem.status
    except Exception as problem:  # a mistake of ours, or of a package; one line all the same
        print(f"arcwake: error: {source}: cannot be converted: {type(problem).__name__}: "
              f"{one_line(problem)}", file=sys.stderr)
        return IO
    for line in notes:
        print(f"arcwake: {line}")
    print(f"arcwake: {target}")
    return 0
