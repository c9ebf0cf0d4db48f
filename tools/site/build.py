#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the documentation site: BUILD/site/html.

usage: build.py SOURCES BUILD

Pages are copied with their folders, those of the command line, the header and the Python package
are generated, and MkDocs makes HTML of them; a link without a target is an error. Needs the
packages of tools/requirements-docs.txt, and no network.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path


import header

COPIED = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "COPYING.exception",
          "CITATION.cff", "docs", "validation")
SUFFIXES = {".md", ".png", ".svg", ""}


def copy(sources, pages):
    """The documents and their pictures, in the folders that they have."""
    shutil.rmtree(pages, ignore_errors=True)
    for name in COPIED:
        place = sources / name
        for file in [place] if place.is_file() else sorted(place.rglob("*")):
            if file.is_file() and (file.suffix in SUFFIXES or file == place):
                target = pages / file.relative_to(sources)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)


def manual(sources):
    """The manual page as the pager shows it."""
    man = shutil.which("man")
    if not man:
        return "# arcwake(1)\n\nThe program `man` was not there when this site was built.\n"
    shown = subprocess.run([man, "-E", "UTF-8", "-l", str(sources / "docs/arcwake.1")], check=True,
                           capture_output=True, text=True,
                           env={**os.environ, "MANWIDTH": "88", "MANPAGER": "cat",
                                "MAN_KEEP_FORMATTING": "", "GROFF_NO_SGR": "1"}).stdout
    plain = re.sub(r".\x08", "", shown).strip()  # without overstriking
    return f"# arcwake(1)\n\n```text\n{plain}\n```\n"


def python_classes(sources):
    """A page that names each public module; mkdocstrings reads their docstrings."""
    package = sources / "python/arcwake"
    modules = ["arcwake"] + sorted(f"arcwake.{file.stem}" for file in package.glob("*.py")
                                   if not file.stem.startswith("_"))
    return "# The Python package\n\n" + "\n".join(
        f"::: {module}\n    options:\n      show_submodules: false\n" for module in modules)


def configuration(sources, site):
    """mkdocs.yml beside the pages, with the paths of this checkout."""
    text = (sources / "tools/site/mkdocs.yml").read_text()
    text = text.replace("paths: [python]", f"paths: ['{sources / 'python'}']")
    text = text.replace("[docstrings.py]", f"['{sources / 'tools/site/docstrings.py'}']")
    (site / "mkdocs.yml").write_text(text)
    shutil.copyfile(sources / "tools/site/hooks.py", site / "hooks.py")


def main(sources, build):
    site = build / "site"
    pages = site / "pages"
    copy(sources, pages)
    (pages / "reference").mkdir()
    (pages / "reference/c.md").write_text(header.page((sources / "src/api/arcwake.h").read_text()))
    (pages / "reference/python.md").write_text(python_classes(sources))
    (pages / "reference/arcwake.1.md").write_text(manual(sources))
    configuration(sources, site)
    return subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict",
                           "--config-file", str(site / "mkdocs.yml")],
                          env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
