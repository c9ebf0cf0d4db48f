/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A script of the tests, run by a Python that has the packages of tools/requirements-test.txt. */
#ifndef AW_TESTS_PYTHON_FIXTURE_H
#define AW_TESTS_PYTHON_FIXTURE_H

/** Exit status of `python SCRIPT DIRECTORY`, SCRIPT being a path from the root of the repository.
 *  Where there is no Python: 77, a visible skip, with the reason on stdout. */
int python_run(const char *script, const char *directory);

#endif
