# SPDX-License-Identifier: GPL-3.0-or-later
"""Docstrings are plain text: units in brackets are no links, and <name> is no HTML."""
import re

import griffe

CODE = re.compile(r"(^(?: {4}.*\n?)+|``.*?``|`.*?`)", re.M)


def as_markdown(text):
    """The text with what Markdown would take for links and HTML escaped, but for code; a list gets
    the empty line before it that Markdown wants."""
    text = re.sub(r"^((?!- |\s).+\n)(?=- )", r"\1\n", text, flags=re.M)
    parts = CODE.split(text)
    return "".join(part if i % 2 else re.sub(r"([\[\]<*])", r"\\\1", part)
                   for i, part in enumerate(parts))


class PlainText(griffe.Extension):
    """Called by mkdocstrings (mkdocs.yml)."""

    def on_object(self, *, obj, **_):
        """Escape the docstring of an object."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
