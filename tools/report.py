#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make DIR/report.html, a self-contained page with tables and pictures of a run, and forces.png.

usage: report.py DIR [--line LINE] [--sheet SHEET] [--free FREE]
(output directories of `arcwake run`)

With --line the run in LINE, of the same case with `forces: line`, is drawn dashed beside it. SHEET
and FREE are runs of the same case without height and without plates: the energy budget shows what
these changed.

Reads DIR/monitor.csv, DIR/resolved.yaml, DIR/diag/arcwake_*.h5, DIR/certificate.* and
DIR/spectrum.*; each may be missing, but not all of monitor, meshes and spectrum. Exit status 0:
made; 4: the directory, a file in it or a Python package is missing or broken (one line on stderr).
"""
import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # nothing beside the program's own files
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
try:
    from arcwake.report import Problem, page
except ImportError as problem:
    print(f"{problem}; python3 -m pip install -r tools/requirements.txt", file=sys.stderr)
    sys.exit(4)


def main(arguments):
    parser = argparse.ArgumentParser(description="Make DIR/report.html from a run's output.")
    parser.add_argument("directory", metavar="DIR", type=Path, help="output directory of a run")
    parser.add_argument("--line", metavar="LINE", type=Path,
                        help="output directory of a run with forces: line")
    parser.add_argument("--sheet", metavar="SHEET", type=Path,
                        help="output directory of the same run of a bunch without height")
    parser.add_argument("--free", metavar="FREE", type=Path,
                        help="output directory of the same run without plates")
    given = parser.parse_args(arguments)
    try:
        page.write(given.directory, given.line, given.sheet, given.free)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
