# SPDX-License-Identifier: GPL-3.0-or-later
"""A page in Markdown from a C header: each comment with the declaration below it."""
import re

BLOCK = re.compile(r"(?:/\*(?P<doc>\*?)(?P<comment>.*?)\*/\s*\n)?"
                   r"(?P<code>(?:typedef|enum|struct|AW_API)\b.*?;"
                   r"(?=\n\n|\n#|\nAW_API|\n/\*))", re.S)
NAME = re.compile(r"\b(aw_\w+)\(|}\s*(aw_\w+);|typedef struct \w+ (aw_\w+);")


def prose(comment):
    """The text of a comment as Markdown: paragraphs, the parameters as a list."""
    lines = [re.sub(r"^\s*\*?\s*", "", line).rstrip() for line in comment.strip().splitlines()]
    text = "\n".join(lines)
    text = re.sub(r"((?:\[\w+\])+)(?!:)", r"`\1`", text)  # shapes, not links
    text = re.sub(r"^ *@param`?(\[\w+(?:,\w+)*\])?`? +((?:\w+, )*\w+) +", r"\n- **\2** \1: ", text,
                  flags=re.M)
    text = re.sub(r"^ *@return +", r"\n**Returns** ", text, flags=re.M)
    text = re.sub(r"(?<!\n)\n- ", "\n\n- ", text, count=1)  # a list begins a paragraph
    return re.sub(r"\b(AW_[A-Z_]+|aw_\w+)\b(?!\()", r"`\1`", text)


def declarations(text):
    """(name, declaration, comment) of each declaration of a header."""
    for found in BLOCK.finditer(text):
        code = found["code"].replace("AW_API ", "")
        names = [name for match in NAME.finditer(code) for name in match.groups() if name]
        yield (names[-1] if code.startswith("typedef") else names[0]) if names else "Status", \
            code, found["comment"] if found["doc"] else ""


def page(text):
    """The page of the header `text`."""
    first = re.search(r"SPDX[^\n]*\n/\*(.*?)\*/", text, re.S)[1]
    example = re.search(r"\n \*\n((?: \*     .*\n| \*\n)+)", first)
    parts = ["# The C functions", "*Made from `src/api/arcwake.h`.*"]
    if example:
        code = re.sub(r"^ \* {0,5}", "", example[1], flags=re.M)
        before, after = first[:example.start()], first[example.end():]
        parts += [prose(before), f"```c\n{code.strip()}\n```", prose(after)]
    else:
        parts.append(prose(first))
    for name, code, comment in declarations(text):
        parts += [f"## {name}", f"```c\n{code}\n```"]
        if comment:
            parts.append(prose(comment))
    return "\n\n".join(parts) + "\n"
