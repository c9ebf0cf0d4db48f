# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of the program, from a run file or a dict."""
import os
import re
import tempfile
import warnings
from contextlib import ExitStack
from pathlib import Path

from . import _document
from ._program import STOPPED, execute, output_of
from ._progress import Progress
from .errors import ArcwakeError, ArcwakeWarning, Interrupted
from .report import plain_yaml
from .result import Result

INPUT = "input.yaml"  # what the program's messages call a dict


def _words(settings):
    """Options --set of the program."""
    return [f"--set={key}={_document.scalar(value)}" for key, value in settings.items()]


def _directory(source, settings):
    """Where the run writes, as its input says."""
    if "output.directory" in settings:
        return Path(settings["output.directory"])
    try:
        document = source if isinstance(source, dict) else _document.read(source)
        return Path((document.get("output") or {}).get("directory") or "out")
    except (ArcwakeError, AttributeError, TypeError):
        if isinstance(source, dict):
            return Path("out")  # the program says what is wrong
        # the program reads more YAML than we do, and says better what is wrong
    shown = re.search(r"^  directory: (.+)$", output_of(["inspect", source, *_words(settings)]),
                      re.MULTILINE)
    return Path(plain_yaml.parse(f"directory: {shown.group(1)}")["directory"])


def prepare(source, settings, stack):
    """(path of the run file, settings, output directory); a dict is written to a temporary file,
    which the ExitStack removes."""
    source, settings = _document.changed(source, settings)
    directory = _directory(source, settings)
    if isinstance(source, dict):
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="arcwake-"))
        path = Path(folder) / INPUT
        path.write_text(_document.text(source), encoding="utf-8")
        source = path
    return source, settings, directory


def _options(**given):
    return [f"--{name.replace('_', '-')}={value}" for name, value in given.items()
            if value is not None]


def named(ended, path):
    """What the program said, with a dict's temporary file called INPUT."""
    if path.name == INPUT:
        ended.errors = [line.replace(str(path), INPUT) for line in ended.errors]
        ended.warnings = [line.replace(str(path), INPUT) for line in ended.warnings]
    return ended


def run(source, *, set=None, directory=None, force=False, restart=False, threads=None,
        steps=None, stop_after=None, max_time=None, progress=None, report=False):
    """Run a case to its end and return its Result.

    source: path of a run file, or a dict with its keys, which may hold the lattice itself under
    `lattice` and whose relative paths begin at the working directory.
    set: keys with dots and their values, {"beam.charge_C": 2e-9}, over those of the file; elements
    of the lattice, too: {"lattice.b1.BendP.g_ref": 0.1}.
    directory: of the output; None: output.directory of the input. force: replace an earlier run in
    it. restart: go on from its newest checkpoint (True), or from that file.
    threads, steps, stop_after, max_time: as --threads .. of the program; times in seconds or as
    texts, "2h". A run that they stop has a checkpoint, and `stopped` in its Result.
    progress: None: a bar in a terminal or a notebook; True, False; or a function of the part done
    (0 to 1, None: not known) and the last row of monitor.csv, a dict. If it raises, the run is
    stopped with a checkpoint and the exception passes on. report: make report.html, too.

    ^C stops the run between two steps, with a checkpoint, and raises Interrupted, a
    KeyboardInterrupt that knows the directory; a second ^C ends it at once. Errors are
    ArcwakeError, warnings of the program are ArcwakeWarning. Runs may be made in several threads.
    """
    if directory is not None and not os.fspath(directory):
        raise ValueError("directory: is empty (expected a path, '.' for the working directory, or "
                         "None for output.directory of the input)")
    with ExitStack() as stack:
        path, settings, asked = prepare(source, set, stack)
        path, place = Path(path), Path(asked if directory is None else directory)
        options = _options(output=place, threads=threads, steps=steps, stop_after=stop_after,
                           max_time=max_time)
        options += ["--force"] if force else []
        if restart:
            options += ["--restart"] if restart is True else [f"--restart={restart}"]
        watch = Progress(place, progress, steps)
        ended = named(execute(["run", path, "--quiet", *options, *_words(settings)], watch=watch),
                      path)
    for line in ended.warnings:
        warnings.warn(line, ArcwakeWarning, stacklevel=2)
    if ended.cause:
        watch.close("interrupted")
        _raise_cause(ended, place)
    stopped = (stop_after is not None or max_time is not None) and _checkpointed(ended)
    if ended.status != 0 and not stopped:
        watch.close("failed")
        raise ended.error(place)
    watch.close("stopped" if stopped else "done")
    if report:
        output_of(["report", place])
    return Result(place, warnings=ended.warnings,
                  stopped=ended.errors[0] if stopped else None)


def _checkpointed(ended):
    """Was the run stopped behind a step? Before the first one there is no checkpoint."""
    return ended.status == STOPPED and any("after step" in line for line in ended.errors)


def _raise_cause(ended, place):
    if not isinstance(ended.cause, KeyboardInterrupt):
        raise ended.cause
    text = ended.errors[0] if ended.status == STOPPED and ended.errors else \
        "the run was complete" if ended.status == 0 else "the run was ended at once"
    raise Interrupted(f"{text} ({place})", place, _checkpointed(ended)) from ended.cause
