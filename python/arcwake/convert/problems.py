# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong, in one line each; and packages that are imported when they are needed."""
import contextlib
import importlib
import os
import sys
import tempfile

INPUT, IO = 2, 4  # exit statuses, as those of the program


class ConvertError(Exception):
    """Something that cannot be converted.

    problems: list of str, one line each (`file:line: problem (expected ...)`)
    status: exit status, 2 for input and usage, 4 for files and packages
    """

    def __init__(self, problems, status=INPUT):
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        self.status = status
        super().__init__("\n".join(self.problems))


def need(module, package, purpose):
    """Import a package that not everybody has. Raises ConvertError, naming it for pip."""
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        missing = getattr(problem, "name", None) or module
        which = "" if missing.split(".")[0] == module.split(".")[0] else f" (no module {missing})"
        raise ConvertError(f"{purpose} needs the Python package {package}{which}: "
                           f"pip install {package}", IO) from None


def one_line(problem):
    """The first line of an exception's message, for messages of other packages."""
    lines = str(problem).strip().splitlines()
    return lines[0].strip() if lines else type(problem).__name__


@contextlib.contextmanager
def silence():
    """What libraries print meanwhile, on stdout and stderr, also in C, goes to a file instead.

    Yields a function that gives the text so far.
    """
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        sys.stderr.flush()
        kept = [os.dup(1), os.dup(2)]

        def text():
            file.seek(0)
            return file.read().decode("utf-8", "replace")

        try:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            yield text
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, own in zip((1, 2), kept):
                os.dup2(own, number)
                os.close(own)
