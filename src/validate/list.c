/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of the validation cases. */
#include "src/validate/cases.h"

/* The cases in the order of `arcwake validate --list`. CASE(name) stands for aw_case_name, which
 * one of the files cases_*.c defines. */
#define CASES(CASE)         \
    CASE(lcls_bend)         \
    CASE(lcls_entrance)     \
    CASE(lcls_exit)         \
    CASE(lcls_energy)       \
    CASE(straight_sheet)    \
    CASE(height)            \
    CASE(height_bend)       \
    CASE(height_lw3d)       \
    CASE(height_modulated)  \
    CASE(plates)            \
    CASE(plates_entrance)   \
    CASE(grid_order)        \
    CASE(lone_particle)     \
    CASE(mse)               \
    CASE(split_bend)        \
    CASE(step)              \
    CASE(solvers)           \
    CASE(strategies)        \
    CASE(threads)           \
    CASE(charge)            \
    CASE(chicane_optics)    \
    CASE(isr)               \
    CASE(wakes)             \
    CASE(certificates)      \
    CASE(zeuthen)           \
    CASE(line)              \
    CASE(line_zeuthen)      \
    CASE(referee)           \
    CASE(referee_zeuthen)   \
    CASE(ridge)             \
    CASE(spectrum_electron) \
    CASE(spectrum_gaussian) \
    CASE(spectrum_edge)     \
    CASE(balance_rigid)     \
    CASE(balance_zeuthen)

#define DECLARE(name) extern const aw_case aw_case_##name;
CASES(DECLARE)

#define ADDRESS(name) &aw_case_##name,
static const aw_case *const cases[] = {CASES(ADDRESS) NULL};

const aw_case *aw_case_list(int i)
{
    return i < (int)(sizeof cases / sizeof cases[0]) ? cases[i] : NULL;
}
