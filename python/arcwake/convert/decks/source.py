# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of decks: files that call others, comments, and statements with their places."""
import re
from dataclasses import dataclass
from pathlib import Path

from ..problems import ConvertError

MAX_BYTES = 64 << 20  # a deck is text; the largest public ones have a few MB


@dataclass(frozen=True)
class Place:
    """File and line, as messages name them."""
    file: str
    line: int

    def __str__(self):
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Statement:
    text: str
    place: Place


@dataclass(frozen=True)
class Dialect:
    """How a language writes statements.

    separator: statements in a line may be separated by ;
    hungry: a line that ends in one of these goes on in the next, as if it ended in &
    percent: lines beginning with % are statements of their own (elegant)
    block: COMMENT ... ENDCOMMENT is left out (XSIF, MAD8)
    """
    separator: bool
    hungry: str = ""
    percent: bool = False
    block: bool = False


def read_lines(path, called_from=None):
    """Lines of a text file. Raises ConvertError, with the place that called it."""
    where = f"{called_from}: " if called_from else ""
    try:
        if Path(path).stat().st_size > MAX_BYTES:
            raise ConvertError(f"{where}{path}: is larger than 64 MiB, which no deck is")
        data = Path(path).read_bytes()
    except OSError as problem:
        raise ConvertError(f"{where}{path}: {problem.strerror}") from None
    if b"\0" in data:
        raise ConvertError(f"{where}{path}: is not text")
    return data.decode("utf-8", errors="replace").splitlines()


def code(line):
    """A line without its comment, which begins with ! outside quotes; and an open quote."""
    quote = ""
    for i, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "!":
            return line[:i], ""
    return line, quote


def split_outside(text, separator):
    """Split at a letter that is neither in quotes nor in brackets."""
    parts, start, depth, quote = [], 0, 0, ""
    for i, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == separator and depth <= 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def statements(path, dialect, called_from=None):
    """The statements of one file, in order, as a list."""
    name, out, held, begin, hidden = str(path), [], "", 0, 0
    for number, line in enumerate(read_lines(path, called_from), 1):
        text, quote = code(line)
        text = text.rstrip()
        word = text.strip().upper()
        if dialect.block and not held and word in ("COMMENT", "ENDCOMMENT"):
            hidden = number if word == "COMMENT" else 0
            continue
        if hidden or (not text.strip() and not held):
            continue
        if dialect.percent and not held and text.lstrip().startswith("%"):
            out.append(Statement(text.strip(), Place(name, number)))
            continue
        if quote and not text.endswith("&"):
            raise ConvertError(f"{name}:{number}: a text in quotes has no end")
        begin = begin if held else number
        more = text.endswith("&")
        held += text[:-1] if more else text + " "
        if more or (dialect.hungry and held.rstrip()[-1:] in dialect.hungry):
            continue
        _end(out, held, Place(name, begin), dialect)
        held = ""
    if hidden:
        raise ConvertError(f"{name}:{hidden}: COMMENT without ENDCOMMENT")
    if held.strip():
        raise ConvertError(f"{name}:{begin}: the statement goes on behind the end of the file")
    return out


def _end(out, text, place, dialect):
    for part in split_outside(text, ";") if dialect.separator else [text]:
        if part.count("(") != part.count(")"):
            raise ConvertError(f"{place}: brackets do not match: '{part.strip()[:60]}'")
        if part.strip():
            out.append(Statement(part.strip(), place))


def unquote(text):
    """A text without blanks and quotes around it."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


DEFINITION = re.compile(r"""\s*(?P<name>"[^"]+"|'[^']+'|[A-Za-z_*%][\w.$#+/\\*%-]*)\s*
                            (?P<arguments>\([^)]*\))?\s*:(?!=)\s*(?P<rest>.*)$""", re.X | re.S)
ASSIGNMENT = re.compile(r"""\s*(?:REAL\s+|CONST\s+)*(?P<name>[A-Za-z_][\w.$:*%#-]*?)\s*
                            (?:\[\s*(?P<attribute>\w+)\s*\])?\s*:?=\s*(?P<value>.*)$""",
                        re.X | re.S | re.I)


class Included:
    """The chain of files that call one another, so that none calls itself."""

    def __init__(self):
        self.open = []

    def enter(self, path, place):
        """Begin a file. Raises ConvertError if it is being read already."""
        real = Path(path).resolve()
        if real in self.open:
            raise ConvertError(f"{place}: {path}: calls itself")
        self.open.append(real)

    def leave(self):
        self.open.pop()
