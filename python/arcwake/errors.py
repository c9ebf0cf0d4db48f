# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong, as exceptions, each with one line for the user."""


class ArcwakeError(RuntimeError):
    """What went wrong, in one line; all problems of an input in `problems`, a list of lines.

    status: of the library's function, as in arcwake.h; None: not from the library.
    exit_status: of the program (`arcwake help run`); None: it was not run, or was ended by us.
    directory: where the run wrote, a Path, if there was a run.
    """

    def __init__(self, problems, status=None, exit_status=None, directory=None):
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        self.status, self.exit_status, self.directory = status, exit_status, directory
        super().__init__("\n".join(self.problems))

    def __reduce__(self):  # so that it passes from the processes of a pool
        return type(self), (self.problems, self.status, self.exit_status, self.directory)


class Interrupted(KeyboardInterrupt):
    """^C during a run, which has ended between two steps.

    directory: where the run wrote, a Path; with `resumable`, `run(..., restart=True)` goes on from
    its checkpoint.
    """

    def __init__(self, text, directory=None, resumable=False):
        super().__init__(text)
        self.directory, self.resumable = directory, resumable

    def __reduce__(self):
        return type(self), (self.args[0], self.directory, self.resumable)


class ArcwakeWarning(UserWarning):
    """A warning of the program."""
