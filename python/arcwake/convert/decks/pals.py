# SPDX-License-Identifier: GPL-3.0-or-later
"""The lattice as text: PALS in YAML, in the form that pals_schema reads, too."""
import re

# Words that YAML 1.1 or 1.2 takes for something else, which a name must not look like.
SPECIAL = {"y", "n", "yes", "no", "true", "false", "on", "off", "null", "nan", "inf"}


def number(value):
    """A number with a point, and a sign in its exponent, that reads back to the same bits."""
    text = repr(float(value))
    mantissa, sign, exponent = text.partition("e")
    if not sign:
        return text
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e" \
           f"{exponent if exponent[0] in '+-' else '+' + exponent}"


def key(name):
    """A name as a key, in quotes where it needs them."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", name) and name.lower() not in SPECIAL:
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def value(item):
    return item if isinstance(item, str) else number(item)


def element(optic):
    """The parameters of an element as a mapping in a line."""
    parts = [f"kind: {optic.kind}"]
    if optic.kind != "Marker":
        parts.append(f"length: {number(optic.length)}")
    for group, content in optic.groups.items():
        inside = ", ".join(f"{name}: {value(item)}" for name, item in content.items())
        parts.append(f"{group}: {{{inside}}}")
    return "{" + ", ".join(parts) + "}"


def unique(name, taken):
    """A name that is not taken yet."""
    count, out = 1, name
    while out in taken:
        count += 1
        out = f"{name}_{count}"
    return out


def document(name, optics, energy, comments):
    """The whole file.

    name: of the line; energy: reference total energy [eV]; comments: lines for its head
    An element that comes again with the same parameters is named again, as PALS allows; one with
    other parameters gets a name of its own.
    """
    lines = [f"# {comment}" for comment in comments]
    line_name = unique(name, {"machine", "start"})
    lines += ["PALS:", "  version: null", "  facility:", f"    - {key(line_name)}:",
              "        kind: BeamLine", "        line:",
              "          - start:", "              kind: BeginningEle",
              "              ReferenceP: {species_ref: electron, location: UPSTREAM_END, "
              f"E_tot_ref: {number(energy)}}}"]
    taken, made = {"start", "machine", line_name}, {}
    for optic in optics:
        text = element(optic)
        if (optic.name, text) in made:
            lines.append(f"          - {key(made[optic.name, text])}")
            continue
        made[optic.name, text] = own = unique(optic.name, taken)
        taken.add(own)
        lines.append(f"          - {key(own)}: {text}")
    lines += [f"    - machine: {{kind: Lattice, branches: [{key(line_name)}]}}",
              "    - use: machine"]
    return "\n".join(lines) + "\n"
