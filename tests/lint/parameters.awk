# SPDX-License-Identifier: GPL-3.0-or-later
# Name the functions of a C file that have more than six parameters.
#
#   awk -v file=NAME -f parameters.awk FILE
#
# A definition begins in the first column and its body with a { of its own in the first column, as
# clang-format puts it. Templates, whose names are made by macros (AW_...), do not count: their
# parameters are what an inlined loop keeps in registers.

/^\/\*/, /\*\// { next }

/^[A-Za-z_].*\(/ && !/;[ ]*$/ && !/^(typedef|struct|enum|union|extern|return)/ {
    head = $0
    gsub(/__attribute__\(\([a-z_]*\)\) ?/, "", head)
    line = FNR
    next
}

/^\{/ && head != "" {
    name = head
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    if (name !~ /^AW_/ && parameters(head) > 6) {
        printf "%s:%d: %s has %d parameters (at most 6: make a struct)\n", file, line, name,
               parameters(head)
        bad = 1
    }
    head = ""
    next
}

/^[ ]/ && head != "" { head = head " " $0; next }
{ head = "" }
END { exit bad }

# Commas of the outermost parentheses, and one.
function parameters(text,    i, c, depth, n)
{
    n = 1
    for (i = 1; i <= length(text); ++i) {
        c = substr(text, i, 1)
        if (c == "(" || c == "[") ++depth
        else if (c == ")" || c == "]") --depth
        else if (c == "," && depth == 1) ++n
    }
    return n
}
