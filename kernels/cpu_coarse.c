/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices on coarser grids: every coarsening doubles the spacings. What varies slowly over the new
 * cells is kept, moments and all; what varies from cell to cell is left out, where a circle gathers
 * so many cells that it sums to nothing. */
#include <math.h>
#include <string.h>

#include "kernels/cpu_unit.h"
#include "src/base/memory.h"

/* Coefficients of quadratic B-splines at the new spacing that have the old ones' spectrum: with w
 * the phase from one old node to the next, the ratio of the two splines' spectra is 1/cos^3(w/2),
 * and the filters follow it to the order w^6 and vanish at w = pi. New nodes lie half way between
 * two old ones where their number is even, and on old ones where it is odd, so that the middle
 * stays the middle. Half of each, from the inside; the odd one's first is its middle. */
#define AW_TAPS 5
static const double even[AW_TAPS] = {105.0 / 128, -17.0 / 64, -9.0 / 64, 27.0 / 256, -5.0 / 256};
static const double odd[AW_TAPS + 1] = {3881.0 / 4096,  2265.0 / 8192, -579.0 / 2048,
                                        -203.0 / 16384, 483.0 / 8192,  -231.0 / 16384};
/* New nodes beyond either end: the filters reach five old ones. */
enum { AW_REACH = 3 };

int aw_cpu_coarse_nodes(int n, int coarse)
{
    for (int i = 0; i < coarse; ++i) n = (n + 1) / 2 + 2 * AW_REACH;
    return n;
}

/* One line of n numbers, `step` apart, into the coarser line. */
static void coarsen(const double *in, int n, ptrdiff_t step, double *out, ptrdiff_t out_step)
{
    const int n_out = aw_cpu_coarse_nodes(n, 1), is_odd = n % 2;
    for (int j = 0; j < n_out; ++j) {
        const int at = 2 * (j - AW_REACH); /* old node at, or just below, the new one */
        double sum = is_odd && at >= 0 && at < n ? odd[0] * in[at * step] : 0.0;
        for (int k = 0; k < AW_TAPS; ++k) {
            const int below = is_odd ? at - k - 1 : at - k, above = at + k + 1;
            const double w = is_odd ? odd[k + 1] : even[k];
            if (below >= 0 && below < n) sum += w * in[below * step];
            if (above >= 0 && above < n) sum += w * in[above * step];
        }
        out[j * out_step] = sum;
    }
}

aw_status aw_cpu_coarse_cells(const aw_history_view *h, const aw_slice *slice, int coarse,
                              double **cells)
{
    const ptrdiff_t row = h->ns + 2 * AW_PAD;
    int ns = h->ns, nx = h->nx;
    double *now = aw_alloc((size_t)3 * (size_t)ns * (size_t)nx, sizeof *now);
    *cells = NULL;
    for (int k = 0; now && k < 3; ++k)
        for (ptrdiff_t j = 0; j < nx; ++j)
            for (ptrdiff_t i = 0; i < ns; ++i)
                now[(k * nx + j) * ns + i] = aw_cell_get(
                    slice->cells, h->single, ((j + AW_PAD) * row + i + AW_PAD) * AW_COMPONENTS + k);
    for (int level = 0; now && level < coarse; ++level) {
        const int ms = aw_cpu_coarse_nodes(ns, 1), mx = aw_cpu_coarse_nodes(nx, 1);
        double *along = aw_alloc((size_t)3 * (size_t)ms * (size_t)nx, sizeof *along);
        double *both = aw_alloc((size_t)3 * (size_t)ms * (size_t)mx, sizeof *both);
        for (ptrdiff_t j = 0; along && j < 3 * nx; ++j)
            coarsen(&now[j * ns], ns, 1, &along[j * ms], 1);
        for (ptrdiff_t k = 0; along && both && k < 3; ++k)
            for (ptrdiff_t i = 0; i < ms; ++i)
                coarsen(&along[k * nx * ms + i], nx, ms, &both[k * mx * ms + i], ms);
        aw_free(now);
        aw_free(along);
        if (!along) {
            aw_free(both);
            both = NULL;
        }
        now = both;
        ns = ms;
        nx = mx;
    }
    *cells = now;
    return now ? AW_OK : AW_ERR_NOMEM;
}
