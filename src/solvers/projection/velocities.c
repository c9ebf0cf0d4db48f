/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/projection/velocities.h"

#include <string.h>

#include "kernels/math/slope.h"

void aw_convert_velocities(const aw_problem *problem, double (*I)[AW_RESULTS],
                           double (*old)[AW_RESULTS])
{
    const aw_field_point *p = problem->point, *centre = &problem->centre;
    const size_t columns = problem->columns, rows = problem->points / columns;
    const size_t last = columns * (rows - 1);
    const ptrdiff_t row = (ptrdiff_t)(AW_RESULTS * columns);
    /* Spacings of the grid along its rows (a) and columns (b) [m]. */
    const double na = (double)(columns - 1), nb = (double)(rows - 1);
    const double az = (p[columns - 1].z - p[0].z) / na, ax = (p[columns - 1].x - p[0].x) / na;
    const double bz = (p[last].z - p[0].z) / nb, bx = (p[last].x - p[0].x) / nb;
    const double det = az * bx - ax * bz;
    /* With v = v0 + dv, psi is smaller by dv.A, and the rates are larger by dv.grad. */
    memcpy(old, I, problem->points * sizeof *I);
    for (size_t j = 0; j < rows; ++j)
        for (size_t i = 0; i < columns; ++i) {
            const size_t at = j * columns + i;
            const double dz = p[at].beta * p[at].ct - centre->beta * centre->ct;
            const double dx = p[at].beta * p[at].st - centre->beta * centre->st;
            const double da = (dz * bx - dx * bz) / det, db = (az * dx - ax * dz) / det;
            I[at][AW_PSI] -= dz * old[at][AW_AZ] + dx * old[at][AW_AX];
            for (unsigned k = 0; k < 3; ++k)
                I[at][AW_DPHI + k] +=
                    da * aw_slope_at(&old[at][k], AW_RESULTS, (int)i, (int)columns) +
                    db * aw_slope_at(&old[at][k], row, (int)j, (int)rows);
        }
}
