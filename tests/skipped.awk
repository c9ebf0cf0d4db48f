# SPDX-License-Identifier: GPL-3.0-or-later
# Say which tests were skipped and why.
#
#   awk -f tests/skipped.awk CTEST_OUTPUT LastTest.log
#
# The reason is the last line of the test's own output that says "skip", or else its last line.
# Single skips inside a program whose other tests ran (cmocka's skip()) are listed too.

function trim(text)
{
    gsub(/^[ \t]+|[ \t\r]+$/, "", text)
    return text
}

# First file: ctest's list of the tests that did not run.
FNR == NR {
    if ($0 ~ /^[ \t]*[0-9]+ - .* \((Skipped|Not Run|Disabled)\)/) {
        name = $0
        sub(/^[ \t]*[0-9]+ - /, "", name)
        sub(/ \((Skipped|Not Run|Disabled)\).*/, "", name)
        order[++count] = name
    }
    next
}

/^[0-9]+\/[0-9]+ Testing: / {
    test = $0
    sub(/^[0-9]+\/[0-9]+ Testing: /, "", test)
    inside = 0
}
/^Output:$/ { inside = 1; next }
/^<end of output>$/ { inside = 0 }
inside && /^\[ *SKIPPED *\] / && !/test\(s\)/ {
    line = $0
    sub(/^\[ *SKIPPED *\] /, "", line)
    if (!((test, line) in seen)) {
        seen[test, line] = 1
        part[++parts] = test ": " trim(line)
        part_of[parts] = test
    }
}
inside && trim($0) != "" && $0 !~ /^-+$/ {
    last[test] = trim($0)
    if (tolower($0) ~ /skip/ && $0 !~ /^\[ *[A-Z]+ *\]/) reason[test] = trim($0)
}

END {
    for (i = 1; i <= count; ++i) {
        name = order[i]
        whole[name] = 1
        why = name in reason ? reason[name] : name in last ? last[name] : "no reason given"
        lines = lines "  " name ": " why "\n"
    }
    for (i = 1; i <= parts; ++i)
        if (!(part_of[i] in whole)) lines = lines "  " part[i] " (one test of several)\n"
    if (lines == "") print "\nSkipped: none"
    else printf "\nSkipped, and why:\n%s", lines
    print ""
}
