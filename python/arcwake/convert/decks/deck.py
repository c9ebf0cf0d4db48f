# SPDX-License-Identifier: GPL-3.0-or-later
"""A deck: definitions of elements, lines and parameters, and the expansion of a line."""
import fnmatch
import re
from dataclasses import dataclass, field

from ..problems import ConvertError
from .expression import BadExpression
from .source import Place, split_outside, unquote

MAX_ELEMENTS = 100000  # as many as a line of arcwake may have
ITEM = re.compile(r"\s*(?:(?P<count>[+-]?\d+)\s*\*)?\s*(?P<sign>-*)\s*"
                  r"(?:(?P<count2>\d+)\s*\*)?\s*(?P<rest>.+?)\s*$", re.S)


@dataclass
class Definition:
    """An element, or a class of elements, as the deck has it.

    keyword: kind or other definition, upper case; attributes: name, upper case, to text or number
    """
    name: str
    keyword: str
    attributes: dict
    place: Place


@dataclass
class Line:
    name: str
    body: str
    place: Place
    arguments: bool = False


@dataclass
class Element:
    """One element of the expanded line; reversed: it stood in a reflected line."""
    name: str
    definition: Definition
    reversed: bool = False


@dataclass
class Deck:
    """What has been read. value(text, place): the value of an attribute's text or number."""
    definitions: dict = field(default_factory=dict)
    lines: dict = field(default_factory=dict)
    used: str = None
    used_at: Place = None
    energy: float = None  # reference total energy [eV]
    problems: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    def chain(self, definition):
        """The definition, that from which it takes over, and so on. Raises ConvertError."""
        out, seen = [definition], {definition.name}
        # an element may have the name of its kind: MARK: MARK
        while out[-1].keyword in self.definitions and out[-1].keyword != out[-1].name:
            parent = self.definitions[out[-1].keyword]
            if parent.name in seen:
                raise ConvertError(f"{definition.place}: {definition.name}: takes over from itself "
                                   f"({' -> '.join(d.name for d in [*out, parent])})")
            seen.add(parent.name)
            out.append(parent)
        return out

    def keyword(self, definition):
        """The kind of element at the end of the chain."""
        return self.chain(definition)[-1].keyword

    def attribute(self, definition, names, known=()):
        """(text or number, place) of the first of some attributes that is given, else None.

        known: the attributes of its kind; a deck may cut their names to four letters and more
        """
        for one in self.chain(definition):
            for name in names:
                if name in one.attributes:
                    return one.attributes[name], one.place
                for given, value in one.attributes.items():
                    if len(given) >= 4 and name.startswith(given) and given not in known:
                        return value, one.place
        return None

    def choose_line(self, wanted):
        """Name of the line to convert. Raises ConvertError."""
        if not self.lines:
            raise ConvertError("the deck defines no line")
        if wanted:
            if wanted.upper() not in self.lines:
                raise ConvertError(f"--line: {wanted} is not a line of the deck (expected one of: "
                                   f"{some(self.lines)})")
            return wanted.upper()
        if self.used:
            if self.used not in self.lines:
                raise ConvertError(f"{self.used_at}: {self.used}: no line of this name is defined")
            return self.used
        named = {match.upper() for line in self.lines.values()
                 for match in re.findall(r"[A-Za-z_][\w.$]*", line.body)}
        roots = [name for name in self.lines if name not in named]
        if len(roots) == 1:
            return roots[0]
        raise ConvertError(f"the deck uses no line (expected --line, one of: "
                           f"{some(roots or self.lines)})")

    def expand(self, name):
        """The elements of a line, in order. Raises ConvertError."""
        out = []
        self._expand(self.lines[name], False, out, [])
        return out

    def _expand(self, line, backwards, out, above):
        if line.name in above:
            raise ConvertError(f"{line.place}: {line.name}: the line contains itself "
                               f"({' -> '.join([*above, line.name])})")
        if line.arguments:
            raise ConvertError(f"{line.place}: {line.name}: lines with arguments are not supported")
        self._items(line, line.body, backwards, out, [*above, line.name])

    def _items(self, line, body, backwards, out, above):
        items = split_outside(body, ",")
        for item in reversed(items) if backwards else items:
            match = ITEM.match(item)
            if not match or len(match.group("sign")) > 1:
                what = "expected a name" if not match else "elements turned round by -- are not " \
                    "supported"
                raise ConvertError(f"{line.place}: {line.name}: '{item.strip()}': {what}")
            count = int(match.group("count") or 1) * int(match.group("count2") or 1)
            turned = backwards ^ (match.group("sign") == "-") ^ (count < 0)
            for _ in range(abs(count)):
                self._item(line, match.group("rest"), turned, out, above)

    def _item(self, line, text, backwards, out, above):
        if len(out) >= MAX_ELEMENTS:
            raise ConvertError(f"{line.place}: {line.name}: more than {MAX_ELEMENTS} elements")
        if text.startswith("("):
            self._items(line, text[1:-1], backwards, out, above)
            return
        name = unquote(text).upper()
        if name in self.lines:
            self._expand(self.lines[name], backwards, out, above)
        elif name in self.definitions:
            out.append(Element(name, self.definitions[name], backwards))
        else:
            raise ConvertError(f"{line.place}: {line.name}: {unquote(text)} is not defined")

    def matching(self, pattern):
        """Definitions whose name matches a pattern, perhaps KIND::pattern (Bmad)."""
        kind, _, name = pattern.upper().rpartition("::")
        return [one for one in self.definitions.values()
                if fnmatch.fnmatchcase(one.name, name.replace("%", "?"))
                and (kind in ("", "*") or self.keyword(one).startswith(kind)
                     or len(self.keyword(one)) >= 4 and kind.startswith(self.keyword(one)))]

    def try_value(self, evaluate, text, place):
        """evaluate(), with the place before what is wrong. Raises ConvertError."""
        try:
            return evaluate(text)
        except BadExpression as problem:
            raise ConvertError(f"{place}: {problem}") from None


def some(names, most=12):
    """The first names of a list, for messages."""
    names = list(names)
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")
