# SPDX-License-Identifier: GPL-3.0-or-later
"""What MkDocs does besides: the navigation's cases of validation, and formulas as MathML."""
import html
import re
from pathlib import Path

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.S)


def expanded(entries, pages):
    """The navigation with the folder validation/ replaced by its pages, as README.md lists them."""
    result = []
    for entry in entries:
        (title, target), = entry.items()
        if isinstance(target, list):
            result.append({title: expanded(target, pages)})
        elif target == "validation/":
            first = pages / target / "README.md"
            cases = re.findall(r"\]\(([a-z0-9-]+/README\.md)\)", first.read_text())
            result.append({title: [{"Overview": "validation/README.md"}] + [
                {Path(case).parent.name: f"validation/{case}"} for case in dict.fromkeys(cases)]})
        else:
            result.append(entry)
    return result


def on_config(config):
    """Complete the navigation."""
    config.nav = expanded(config.nav, Path(config.docs_dir))
    return config


def on_page_content(text, **_):
    """Formulas, which arithmatex has marked, as MathML."""
    def as_mathml(found):
        display = "block" if found[2] == "[" else "inline"
        return convert(html.unescape(found[3]), display=display)
    return FORMULA.sub(as_mathml, text)
