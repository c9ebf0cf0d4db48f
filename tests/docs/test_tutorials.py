# SPDX-License-Identifier: GPL-3.0-or-later
"""Executes the blocks of a tutorial in a scratch directory, and compares what they print.

usage: test_tutorials.py PAGE ARCWAKE SOURCES
Blocks with a title are files; `sh` is executed; `python` without a title, too. The lines of a block
titled "printed" are in the output of the last command, numbers within TOLERANCE. Exit status 77: a
Python package that the page imports is not there.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.M | re.S)
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")
# The test asks for less, so that it takes less time, and compares with what it asked for.
# The run of the line model makes no report: there are three of the other one.
CHEAPER = {"accuracy: 0.03": "accuracy: 0.1\nnumerics: {tolerance: 0.1, grid: [16, 16]}",
           "mc2 = 50000,": "mc2 = 10000,", "forces=line -o": "forces=line --quiet -o"}
TOLERANCE = 0.1


def same(want, got):
    """Do two lines have the same words, and numbers within the tolerance?"""
    if NUMBER.sub("#", want) != NUMBER.sub("#", got):
        return False
    return all(abs(float(a) - float(b)) <= TOLERANCE * abs(float(a))
               for a, b in zip(NUMBER.findall(want), NUMBER.findall(got)))


def missing(blocks, python):
    """The first package that the page's Python imports and that is not there, or None."""
    names = re.findall(r"^(?:import|from) ([\w.]+)", "\n".join(
        text for kind, _, text in blocks if kind == "python"), re.M)
    own = {Path(title).stem for _, title, _ in blocks if title.endswith(".py")}
    for name in dict.fromkeys(names):
        if name in own:
            continue
        tried = subprocess.run([python, "-c", f"import {name}"], capture_output=True, text=True)
        if tried.returncode:
            return f"{name}: {tried.stderr.strip().splitlines()[-1]}"
    return None


def check_printed(text, printed, page):
    """Number of lines of a block that are not in the output."""
    shown = [" ".join(line.split()) for line in printed.splitlines()]
    bad = 0
    for line in text.strip().splitlines():
        want = " ".join(line.split())
        if not any(same(want, " ".join(got.split()[:len(want.split())])) for got in shown):
            print(f"{page}: not printed: {want}\nbut:\n{printed[-3000:]}")
            bad += 1
    return bad


def main(page, arcwake, sources):
    python = sys.executable
    blocks = BLOCK.findall(page.read_text())
    if not any(kind == "sh" or kind == "python" for kind, _, _ in blocks):
        print(f"{page}: nothing to execute")
        return 1
    os.environ["PYTHONPATH"] = str(sources / "python")
    os.environ["PATH"] = f"{arcwake.parent}:{Path(python).parent}:{os.environ['PATH']}"
    os.environ["AW_PYTHON"] = python
    lacks = missing(blocks, python)
    if lacks:
        print(f"skipped: {lacks}")
        return 77
    bad, printed = 0, ""
    with tempfile.TemporaryDirectory() as place:
        for kind, title, text in blocks:
            if title == "printed":
                bad += check_printed(text, printed, page.name)
                continue
            for long, short in CHEAPER.items():
                text = text.replace(long, short)
            if title:
                (Path(place) / title).write_text(text)
                continue
            if kind not in ("sh", "python"):
                continue
            command = ["sh", "-e", "-c", text] if kind == "sh" else [python, "-c", text]
            done = subprocess.run(command, cwd=place, capture_output=True, text=True)
            printed = done.stdout + done.stderr
            if done.returncode:
                print(f"{page.name}: exit status {done.returncode} of\n{text}\n{printed[-3000:]}")
                return 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()))
