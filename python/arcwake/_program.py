# SPDX-License-Identifier: GPL-3.0-or-later
"""The program `arcwake`: where it is, how it is run and stopped, and what it says."""
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .errors import ArcwakeError

STOPPED = 75  # exit status: stopped between two steps, with a checkpoint
POLL_SECONDS = 0.1
ERROR, WARNING = "arcwake: error: ", "arcwake: warning: "


def _is_program(path):
    """May this file be the program? The command of the package is a script, which calls us."""
    try:
        with open(path, "rb") as file:
            return os.access(path, os.X_OK) and file.read(2) != b"#!"
    except OSError:
        return False


def find_program():
    """Path of the program: as ARCWAKE_PROGRAM says, in the package, in a build of the sources, in
    the PATH. ArcwakeError: nowhere, or ARCWAKE_PROGRAM names none."""
    told = os.environ.get("ARCWAKE_PROGRAM")
    if told:
        if not os.access(told, os.X_OK) or os.path.isdir(told):
            raise ArcwakeError(f"ARCWAKE_PROGRAM: {told}: is no program (expected the path of the "
                               "program arcwake)")
        return Path(told).absolute()
    here = Path(__file__).resolve()
    places = [here.parent / "bin" / "arcwake", here.parents[2] / "build" / "arcwake"]
    places += [Path(folder) / "arcwake" for folder in os.get_exec_path()]
    for place in places:
        if _is_program(place):
            return place
    raise ArcwakeError("the program arcwake is not found (expected in ARCWAKE_PROGRAM, in the "
                       "package, in build/ of the sources, or in the PATH)")


@functools.lru_cache(maxsize=None)
def _leash():
    """Words before the program that end it if this process is killed, where the system has them."""
    setpriv = shutil.which("setpriv")  # of util-linux
    words = [setpriv, "--pdeathsig", "TERM"]
    if setpriv and subprocess.run([*words, "true"], stdin=subprocess.DEVNULL, check=False,
                                  capture_output=True).returncode == 0:
        return tuple(words)
    return ()


def environment(**more):
    """Variables for the program: its Python is this one; `more` where they are not set."""
    variables = dict(os.environ)
    if sys.executable:
        variables.setdefault("AW_PYTHON", sys.executable)
    for name, value in more.items():
        variables.setdefault(name, value)
    return variables


@dataclass
class Ended:
    """How the program ended.

    status: exit status; negative: the signal that ended it. errors, warnings: its lines.
    cause: the exception because of which we ended it, or None.
    """
    status: int
    errors: list
    warnings: list
    cause: BaseException = None

    def error(self, directory=None):
        """The exception for this end."""
        if self.status < 0:
            return ArcwakeError(f"the program was ended by {signal.Signals(-self.status).name}"
                                + (" (out of memory?)" if self.status == -signal.SIGKILL else ""),
                                directory=directory)
        return ArcwakeError(self.errors or [f"the program ended with status {self.status}"],
                            exit_status=self.status, directory=directory)

    def raise_if_failed(self, directory=None):
        """Raise the cause of its end, or its errors if it has failed."""
        if self.cause:
            raise self.cause
        if self.status != 0:
            raise self.error(directory)


class TimedOut(Exception):
    """The time limit of `execute` is over."""


def _wait(process, watch, timeout):
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        if end is not None and time.monotonic() > end:
            raise TimedOut
        try:
            process.wait(POLL_SECONDS)
            return
        except subprocess.TimeoutExpired:
            pass
        if watch:
            watch()


def _kill(process, alone):
    """End the process, which is not waited for yet, at once; with its own ones, if `alone`."""
    if alone:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _stop(process, patient):
    """Let the process end, after its step if `patient`; a second ^C ends it at once."""
    if process.poll() is not None:
        return
    if not patient:
        _kill(process, alone=True)
        return
    try:
        process.send_signal(signal.SIGINT)
        process.wait()
    finally:
        if process.poll() is None:
            _kill(process, alone=False)


def _sorted(text):
    """Errors and warnings among lines of the program; of other lines errors, if there are none."""
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line[len(ERROR):] for line in lines if line.startswith(ERROR)]
    warnings = [line[len(WARNING):] for line in lines if line.startswith(WARNING)]
    return errors or [line for line in lines if not line.startswith("arcwake: ")], warnings


def execute(arguments, *, watch=None, timeout=None, patient=True, variables=None):
    """Run the program with these arguments to its end.

    watch: is called about ten times a second. If it raises, at ^C, or after `timeout` seconds the
    program is stopped: between two steps, with a checkpoint, if `patient`; else it is killed, with
    the processes that it has made.
    Its messages go to a file and not through a pipe, so that nobody waits for a reader.
    Returns an Ended, whose `cause` is the exception, TimedOut among them.
    """
    command = [*_leash(), str(find_program()), *map(str, arguments)]
    cause = None
    with tempfile.TemporaryFile() as messages:
        # With `patient` in our process group: what ends that of a notebook's kernel ends it, too.
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=messages, env=variables or environment(),
                                   start_new_session=not patient)
        try:
            _wait(process, watch, timeout)
        except BaseException as problem:  # pylint: disable=broad-except  (handed on)
            cause = problem
            try:
                _stop(process, patient)
            except KeyboardInterrupt as second:
                cause = second
        messages.seek(0)
        errors, warnings = _sorted(messages.read().decode(errors="replace"))
    return Ended(process.returncode, errors, warnings, cause)


def output_of(arguments):
    """What the program prints on stdout. ArcwakeError: it refuses."""
    done = subprocess.run([str(find_program()), *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False, env=environment())
    errors, warnings = _sorted(done.stderr.decode(errors="replace"))
    if done.returncode:
        raise Ended(done.returncode, errors, warnings).error()
    return done.stdout.decode(errors="replace")


def main():
    """The command `arcwake` of the package: the program, with this Python for its reports."""
    try:
        program = str(find_program())
        os.execve(program, [program, *sys.argv[1:]], environment())
    except (ArcwakeError, OSError) as problem:
        print(f"arcwake: error: {problem}", file=sys.stderr)
        return 4
