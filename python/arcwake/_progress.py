# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a run is, as its monitor.csv says, and the bar that shows it."""
import os
import sys
import time

from .report import lattice, plain_yaml

BAR = 20
LARGEST_INPUT = 1 << 20  # [bytes] a longer resolved.yaml is not read while the run lasts


def in_notebook():
    """Is this a notebook's kernel?"""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython and hasattr(ipython, "get_ipython") else None
    return getattr(shell, "kernel", None) is not None


def _clock(seconds):
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class Progress:
    """Watches the directory of a run.

    show: True, False or None (a bar where there is a terminal or a notebook), or a function that
    is called with the part done, 0 to 1 or None, and the last row of monitor.csv as a dict.
    steps: number of steps after which the run is to stop, or None.
    """

    def __init__(self, directory, show=None, steps=None):
        self.path = directory / "monitor.csv"
        self.input = directory / "resolved.yaml"
        self.steps, self.call = steps, show if callable(show) else None
        self.stream = None
        if not self.call and show is not False:
            if in_notebook():
                self.stream = sys.stdout  # what is on stderr is shown as an error there
            elif show or (sys.stderr and sys.stderr.isatty()):
                self.stream = sys.stderr
        self.begin, self.first, self.length, self.names = time.monotonic(), None, None, None
        self.seen, self.drawn = self._stamp(), False  # an earlier run's table is not ours

    def _stamp(self):
        try:
            state = os.stat(self.path)
            return state.st_ino, state.st_size
        except OSError:
            return None

    def _row(self):
        """The last complete row, or None."""
        try:
            with open(self.path, "rb") as file:
                if self.names is None:
                    self.names = file.readline().decode().rstrip("\n").split(",")
                end = file.seek(0, os.SEEK_END)
                file.seek(max(0, end - 8192))
                *rows, _ = file.read().decode().split("\n")
            cells = rows[-1].split(",") if rows else []
            row = {name: float(cell) for name, cell in zip(self.names, cells) if cell}
            return row if "step" in row and "s_ref_m" in row else None
        except (OSError, ValueError):  # being replaced; or the header is the only line
            self.names = None
            return None

    def _end(self):
        """Arc length at the end of the lattice, or 0: not known."""
        if self.length is None:
            self.length = 0.0
            try:
                if os.path.getsize(self.input) <= LARGEST_INPUT:
                    given = plain_yaml.parse(self.input.read_text(encoding="utf-8"))
                    last = lattice.elements(given["lattice"])[-1]
                    self.length = last.begin + last.length
            except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
                pass
        return self.length

    def fraction(self, row):
        """The part that is done, or None."""
        if self.first is None:
            self.first = (row["step"], row["s_ref_m"])
        parts = []
        if self.steps:
            parts.append((row["step"] + 1.0) / self.steps)
        if self._end() > self.first[1]:
            parts.append((row["s_ref_m"] - self.first[1]) / (self._end() - self.first[1]))
        return min(1.0, max(parts)) if parts else None

    def __call__(self):
        if not (self.call or self.stream):
            return
        stamp = self._stamp()
        if stamp is None or stamp == self.seen:
            return
        self.seen = stamp
        row = self._row()
        if row is None:
            return
        fraction = self.fraction(row)
        if self.call:
            self.call(fraction, row)
        else:
            self._draw(fraction, row)

    def _draw(self, fraction, row):
        text = f"step {row['step']:.0f}, S = {row['s_ref_m']:.4g} m"
        if fraction is not None:
            full = int(fraction * BAR)
            bar = ("=" * full + ">" + " " * BAR)[:BAR]
            spent = time.monotonic() - self.begin
            left = _clock(spent * (1.0 / fraction - 1.0)) if fraction > 0.0 else "-"
            text = f"[{bar}] {100.0 * fraction:3.0f} %  {text}, {left} left"
        self.stream.write("\r" + text.ljust(72))
        self.stream.flush()
        self.drawn = True

    def close(self, text):
        """Replace the bar, if there is one, by a last line."""
        if self.stream and self.drawn:
            self.stream.write("\r" + f"{text}, {_clock(time.monotonic() - self.begin)}".ljust(72)
                              + "\n")
            self.stream.flush()
