/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs tests/api/test_python.py in a scratch directory. */
#include "tests/output/scratch.h"
#include "tests/python_fixture.h"

int main(void)
{
    char directory[SCRATCH_PATH];
    scratch_make(directory);
    int code = python_run("tests/api/test_python.py", directory);
    scratch_remove(directory);
    return code;
}
