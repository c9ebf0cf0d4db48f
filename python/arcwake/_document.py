# SPDX-License-Identifier: GPL-3.0-or-later
"""Run files: dicts written as YAML, keys set, elements of the lattice changed."""
import json
import os
import re
from pathlib import Path

from .errors import ArcwakeError
from .report import plain_yaml

PATHS = (("lattice",), ("beam", "file"), ("beam", "profile"))  # keys whose text is a path
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def scalar(value):
    """A value as YAML in one line: numbers, texts, None, lists and dicts, NumPy's too."""
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        value = value.tolist()
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(str(key))}: {scalar(one)}"
                               for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(scalar, value)) + "]"
    raise ArcwakeError(f"a {type(value).__name__} cannot be written as YAML (expected numbers, "
                       "texts, None, lists and dicts)")


def text(value, indent=0):
    """A dict as YAML, a key in a line, so that the program's messages name a line."""
    space = "  " * indent
    lines = []
    for key, one in value.items():
        if isinstance(one, dict) and one:
            lines.append(f"{space}{scalar(str(key))}:\n" + text(one, indent + 1))
        elif isinstance(one, (list, tuple)) and any(isinstance(item, dict) for item in one):
            items = "".join(f"{space}  - {scalar(item)}\n" for item in one)
            lines.append(f"{space}{scalar(str(key))}:\n" + items)
        else:
            lines.append(f"{space}{scalar(str(key))}: {scalar(one)}\n")
    return "".join(lines)


def _numbers(value):
    """Texts that are numbers as numbers: plain_yaml leaves all scalars texts."""
    if isinstance(value, dict):
        return {key: _numbers(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_numbers(one) for one in value]
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value) if re.search(r"[.eE]", value) else int(value)
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def read(path):
    """A YAML file as dicts and lists. ArcwakeError: it cannot be read or is not understood."""
    try:
        return _numbers(plain_yaml.parse(Path(path).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, ValueError, AttributeError, IndexError) as problem:
        raise ArcwakeError(f"{path}: cannot be read: {problem}") from problem


def located(document, folder):
    """A copy of a document whose relative paths, which begin at `folder`, are absolute."""
    out = {key: dict(one) if isinstance(one, dict) else one for key, one in document.items()}
    for *above, key in PATHS:
        group = out.get(above[0]) if above else out
        if isinstance(group, dict) and isinstance(group.get(key), (str, os.PathLike)):
            group[key] = os.path.abspath(os.path.join(folder, group[key]))
    return _with_wakes(out, folder)


def _with_wakes(document, folder):
    """The document, the paths of the tables in its list `wakes` absolute."""
    def located_item(item):
        if not isinstance(item, dict) or not isinstance(item.get("file"), (str, os.PathLike)):
            return item
        return {**item, "file": os.path.abspath(os.path.join(folder, item["file"]))}

    if isinstance(document.get("wakes"), (list, tuple)):
        document["wakes"] = [located_item(item) for item in document["wakes"]]
    return document


def _entries(value):
    """All elements by name, in `facility` and in lines: pairs (name, dict)."""
    if isinstance(value, dict):
        for name, one in value.items():
            if isinstance(one, dict):
                yield name, one
            yield from _entries(one)
    elif isinstance(value, list):
        for one in value:
            yield from _entries(one)


def _change(facility, path, value):
    """Set NAME.PARAMETER or NAME.GROUP.PARAMETER of an element."""
    name, *keys = path.split(".")
    found = [body for other, body in _entries(facility) if other == name and
             ("kind" in body or "inherit" in body)]
    if len(found) != 1 or not keys:
        raise ArcwakeError(f"lattice.{path}: {len(found)} elements are called '{name}' (expected "
                           "one; the key is lattice.ELEMENT.GROUP.PARAMETER)")
    group = found[0]
    for key in keys[:-1]:
        group = group.setdefault(key, {})
        if not isinstance(group, dict):
            raise ArcwakeError(f"lattice.{path}: '{key}' is no group of parameters")
    group[keys[-1]] = value


def changed(source, settings):
    """A run file (path or dict) and `settings`, ready to be run: (source, settings).

    Settings `lattice.ELEMENT.GROUP.PARAMETER` are made in the lattice, which needs a dict with the
    lattice in it; the others are left to the program. A dict gets absolute paths, those of a dict
    that is given begin at the working directory.
    """
    settings = dict(settings or {})
    elements = {key: settings.pop(key) for key in list(settings) if key.startswith("lattice.")}
    if isinstance(source, dict):
        folder = os.getcwd()
        source = located(source, folder)
    elif elements:
        folder = os.path.dirname(os.path.abspath(source))
        source = located(read(source), folder)
    else:
        return source, settings
    for key in map(".".join, PATHS):  # the program reads the dict in another folder
        if isinstance(settings.get(key), (str, os.PathLike)):
            settings[key] = os.path.abspath(os.path.join(folder, settings[key]))
    settings = _with_wakes(settings, folder)
    if elements:
        lattice = settings.pop("lattice", source.get("lattice"))
        lattice = read(lattice) if isinstance(lattice, str) else json.loads(scalar(lattice))
        facility = (lattice or {}).get("PALS", lattice) or {}
        for key, value in elements.items():
            _change(facility.get("facility"), key[len("lattice."):], value)
        source["lattice"] = lattice
    return source, settings
