/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/simulation/current.h"

#include <math.h>
#include <string.h>

#include "kernels/math/spline.h"
#include "src/base/units.h"

enum { SPARE = 16 }; /* bins for nodes that the curvature of the orbit moves */

size_t aw_current_bins(int ns, int nx) { return (size_t)ns + (size_t)nx + SPARE; }

/* Charge density of a node [C/m^2]. */
static double density(const aw_history_view *view, int i, int j)
{
    const size_t row = (size_t)view->ns + 2 * (size_t)AW_PAD;
    const size_t at = ((size_t)(j + AW_PAD) * row + (size_t)(i + AW_PAD)) * AW_COMPONENTS;
    return view->single ? (double)((const float *)view->slice[0].cells)[at]
                        : ((const double *)view->slice[0].cells)[at];
}

/* Largest of the bins, by the parabola through it and its neighbours. */
static double top_of(const double *bin, size_t n)
{
    size_t k = 1;
    for (size_t i = 1; i + 1 < n; ++i)
        if (bin[i] > bin[k]) k = i;
    const double slope = 0.5 * (bin[k + 1] - bin[k - 1]);
    const double bend = bin[k + 1] - 2.0 * bin[k] + bin[k - 1];
    return bend < 0.0 && fabs(slope) <= -bend ? bin[k] - 0.5 * slope * slope / bend : bin[k];
}

double aw_current_peak(const aw_history_view *view, const aw_grid_view *grid,
                       const aw_field_point *point, double *bin)
{
    const size_t n = aw_current_bins(grid->ns, grid->nx), ns = (size_t)grid->ns;
    const double width = fmax(grid->hs * fabs(cos(grid->tilt)), grid->hx * fabs(sin(grid->tilt)));
    const double middle = point[(size_t)(grid->nx / 2) * ns + ns / 2].S;
    memset(bin, 0, n * sizeof *bin);
    for (int j = 0; j < grid->nx; ++j)
        for (int i = 0; i < grid->ns; ++i) {
            const double charge = density(view, i, j);
            if (charge == 0.0) continue;
            const double s = (point[(size_t)j * ns + (size_t)i].S - middle) / width;
            const double at = s + 0.5 * (double)n;
            if (!(at >= 1.0 && at < (double)n - 2.0)) return NAN;
            const size_t k = (size_t)at;
            bin[k] += charge * ((double)(k + 1) - at);
            bin[k + 1] += charge * (at - (double)k);
        }
    return top_of(bin, n) * grid->hs * grid->hx / width * point[0].beta * AW_C;
}

double aw_charge_mean(const aw_history_view *view, const double *field)
{
    double sum = 0.0, charge = 0.0;
    for (int j = 0; j < view->nx; ++j)
        for (int i = 0; i < view->ns; ++i) {
            const double here = density(view, i, j);
            charge += here;
            sum += here * field[(size_t)j * (size_t)view->ns + (size_t)i];
        }
    return charge > 0.0 ? sum / charge : NAN;
}
