/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs tests/session/test_simulation.py in a scratch directory. */
#include "tests/output/scratch.h"
#include "tests/python_fixture.h"

int main(void)
{
    char directory[SCRATCH_PATH];
    scratch_make(directory);
    int code = python_run("tests/session/test_simulation.py", directory);
    scratch_remove(directory);
    return code;
}
