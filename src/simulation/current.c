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

/* Largest of the bins, by the parabola through it and its neighbours; width in bins. */
static aw_current_top top_of(const double *bin, size_t n)
{
    size_t k = 1;
    for (size_t i = 1; i + 1 < n; ++i)
        if (bin[i] > bin[k]) k = i;
    const double slope = 0.5 * (bin[k + 1] - bin[k - 1]);
    const double bend = bin[k + 1] - 2.0 * bin[k] + bin[k - 1];
    aw_current_top top = {.peak = bin[k], .width = NAN};
    if (!(bend < 0.0)) return top;
    if (fabs(slope) <= -bend) top.peak -= 0.5 * slope * slope / bend;
    top.width = sqrt(-top.peak / bend);
    return top;
}

/* Add a variance to what the bins hold [bins^2]. */
static void widen(double *bin, size_t n, double variance)
{
    double last = bin[0];
    for (size_t k = 1; k + 1 < n; ++k) {
        const double here = bin[k];
        bin[k] += 0.5 * variance * ((last - here) + (bin[k + 1] - here));
        last = here;
    }
}

aw_current_top aw_current_peak(const aw_history_view *view, const aw_grid_view *grid,
                               const aw_field_point *point, double *bin)
{
    const size_t n = aw_current_bins(grid->ns, grid->nx), ns = (size_t)grid->ns;
    const double along = grid->hs * cos(grid->tilt), across = grid->hx * sin(grid->tilt);
    const double width = fmax(fabs(along), fabs(across));
    /* of the spline of a node, projected on the orbit, and of what the sharing puts in its place */
    const double spline = 0.25 * (along * along + across * across) / (width * width);
    double shared = 0.0, sum = 0.0;
    const double middle = point[(size_t)(grid->nx / 2) * ns + ns / 2].S;
    memset(bin, 0, n * sizeof *bin);
    for (int j = 0; j < grid->nx; ++j)
        for (int i = 0; i < grid->ns; ++i) {
            const double charge = density(view, i, j);
            if (charge == 0.0) continue;
            const double s = (point[(size_t)j * ns + (size_t)i].S - middle) / width;
            const double at = s + 0.5 * (double)n;
            if (!(at >= 1.0 && at < (double)n - 2.0)) return (aw_current_top){NAN, NAN};
            const size_t k = (size_t)at;
            const double above = at - (double)k, below = 1.0 - above;
            bin[k] += charge * below;
            bin[k + 1] += charge * above;
            shared += charge * above * below;
            sum += charge;
        }
    if (sum > 0.0) widen(bin, n, spline - shared / sum);
    aw_current_top top = top_of(bin, n);
    top.peak *= grid->hs * grid->hx / width * point[0].beta * AW_C;
    top.width *= width;
    return top;
}

/* Mean of a field over the spline of a node, but for nodes off the grid, where no charge is, and
 * those that are not felt. @return 0: there are no others */
static int over_spline(const aw_history_view *view, const unsigned char *felt, const double *field,
                       int i, int j, double *mean)
{
    static const double weight[3] = {0.125, 0.75, 0.125}; /* its values at nodes */
    double sum = 0.0, all = 0.0;
    for (int q = j > 0 ? -1 : 0; q <= 1 && j + q < view->nx; ++q)
        for (int p = i > 0 ? -1 : 0; p <= 1 && i + p < view->ns; ++p) {
            const size_t at = (size_t)(j + q) * (size_t)view->ns + (size_t)(i + p);
            if (felt && !felt[at]) continue;
            const double w = weight[q + 1] * weight[p + 1];
            sum += w * field[at];
            all += w;
        }
    *mean = sum / all;
    return all > 0.0;
}

double aw_charge_mean(const aw_history_view *view, const unsigned char *felt, const double *field)
{
    double sum = 0.0, charge = 0.0;
    for (int j = 0; j < view->nx; ++j)
        for (int i = 0; i < view->ns; ++i) {
            const double here = density(view, i, j);
            if (here == 0.0) continue;
            double mean;
            if (!over_spline(view, felt, field, i, j, &mean)) continue;
            charge += here;
            sum += here * mean;
        }
    return charge > 0.0 ? sum / charge : NAN;
}
