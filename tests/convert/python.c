/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs tests/convert/test_<word>.py in a scratch directory. */
#include <stdio.h>

#include "tests/output/scratch.h"
#include "tests/python_fixture.h"

int main(int argc, char **argv)
{
    char directory[SCRATCH_PATH], script[256];
    if (argc != 2) return 2;
    snprintf(script, sizeof script, "tests/convert/test_%s.py", argv[1]);
    scratch_make(directory);
    int code = python_run(script, directory);
    scratch_remove(directory);
    return code;
}
