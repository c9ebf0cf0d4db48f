# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML as run files and lattices use it, so that the report needs no YAML package.

Block and flow mappings and lists, quoted and plain scalars, comments. Scalars stay texts (null is
None). Anchors, tags, block scalars and plain scalars over several lines are refused.
"""
import re

_OPEN, _CLOSE = "[{", "]}"


def _scan(text):
    """Yield (index, character, depth) of what is outside quotes; depth counts open brackets."""
    quote, depth, i = "", 0, 0
    while i < len(text):
        c = text[i]
        if quote:
            if c == "\\" and quote == '"':
                i += 1
            elif c == quote:
                quote = ""
        elif c in "'\"" and (i == 0 or text[i - 1] in " [{,:-"):
            quote = c
        else:
            depth += (c in _OPEN) - (c in _CLOSE)
            yield i, c, depth
        i += 1


def _without_comment(line):
    for i, c, _ in _scan(line):
        if c == "#" and (i == 0 or line[i - 1] in " \t"):
            return line[:i].rstrip()
    return line.rstrip()


def _depth(text):
    depth = 0
    for _, _, depth in _scan(text):
        pass
    return depth


def _lines(text):
    """[indent, text] of the lines that say something, flow collections joined to one line."""
    out = []
    for line in text.splitlines():
        line = _without_comment(line)
        if not line.strip() or line.strip() == "---":
            continue
        if out and _depth(out[-1][1]) > 0:
            out[-1][1] += " " + line.strip()
        else:
            out.append([len(line) - len(line.lstrip()), line.strip()])
    return out


def _colon(text):
    """Index of the colon between a key and its value, or -1."""
    for i, c, depth in _scan(text):
        if c == ":" and depth == 0 and (i + 1 == len(text) or text[i + 1] == " "):
            return i
    return -1


def _scalar(text):
    text = text.strip()
    if text[:1] and text[0] in "&*!|>%@`":
        raise ValueError(f"'{text[:30]}' is not supported")
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text[1:-1])
    return None if text in ("", "~", "null") else text


def _flow(text):
    """Value of a flow collection or a scalar."""
    text = text.strip()
    if text[:1] not in ("[", "{"):
        return _scalar(text)
    if text[-1] != ("]" if text[0] == "[" else "}"):
        raise ValueError(f"'{text[:30]}' has no end")
    inner, cuts = text[1:-1], [-1]
    cuts += [i for i, c, depth in _scan(inner) if c == "," and depth == 0]
    cuts.append(len(inner))
    parts = [inner[a + 1:b].strip() for a, b in zip(cuts, cuts[1:])]
    parts = [part for part in parts if part]
    if text[0] == "[":
        return [_flow(part) for part in parts]
    return dict(_pair(part) for part in parts)


def _pair(text):
    at = _colon(text)
    if at < 0:
        raise ValueError(f"'{text[:30]}' has no colon")
    return _scalar(text[:at]), _flow(text[at + 1:])


def _node(lines, i):
    """Value of the block that begins at line i, and the number of the line behind it."""
    indent, text = lines[i]
    if text == "-" or text.startswith("- "):
        return _sequence(lines, i, indent)
    if text[0] not in _OPEN and _colon(text) >= 0:
        return _mapping(lines, i, indent)
    return _flow(text), i + 1


def _sequence(lines, i, indent):
    items = []
    while i < len(lines) and lines[i][0] == indent and re.match(r"-( |$)", lines[i][1]):
        rest = lines[i][1][1:]
        if rest:  # what stands behind the dash is a block of its own
            lines[i] = [indent + 1 + len(rest) - len(rest.lstrip()), rest.strip()]
            value, i = _node(lines, i)
        elif i + 1 < len(lines) and lines[i + 1][0] > indent:
            value, i = _node(lines, i + 1)
        else:
            value, i = None, i + 1
        items.append(value)
    return items, i


def _mapping(lines, i, indent):
    values = {}
    while i < len(lines) and lines[i][0] == indent and _colon(lines[i][1]) >= 0:
        text = lines[i][1]
        at = _colon(text)
        key, rest = _scalar(text[:at]), text[at + 1:].strip()
        i += 1
        if rest:
            values[key] = _flow(rest)
        elif i < len(lines) and (lines[i][0] > indent or
                                 lines[i][0] == indent and re.match(r"-( |$)", lines[i][1])):
            values[key], i = _node(lines, i)
        else:
            values[key] = None
    return values, i


def parse(text):
    """The document as dicts, lists, texts and None. ValueError: not understood."""
    lines = _lines(text)
    if not lines:
        return {}
    value, end = _node(lines, 0)
    if end < len(lines):
        raise ValueError(f"'{lines[end][1][:40]}' is not understood")
    return value


def flatten(value, above=""):
    """Keys joined by dots, with values as texts: {"a": {"b": ["1", "2"]}} is {"a.b": "1, 2"}."""
    if isinstance(value, dict):
        out = {}
        for key, inner in value.items():
            out.update(flatten(inner, f"{above}.{key}" if above else str(key)))
        return out
    if isinstance(value, list):
        return {above: ", ".join("" if one is None else str(one) for one in value)}
    return {above: "" if value is None else str(value)}
