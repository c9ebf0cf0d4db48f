/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/spectrum/transform.h"

#include <fftw3.h>
#include <math.h>

#include "kernels/math/integrand.h"
#include "src/base/memory.h"
#include "src/base/units.h"

/* Nodes of the kernel along an axis, and its exponent per node, for a grid twice as fine. */
enum { KERNEL = 8 };
#define KERNEL_EXPONENT (2.30 * KERNEL)

/* One axis: n nodes, m of the FFT, and what each node is divided by. */
typedef struct axis {
    int n, m;
    double *weight; /* [n] */
} axis;

struct aw_transform {
    axis s, x;
    double hs, hx;                      /* of the slice [m] */
    fftw_complex *wave[AW_TRANSFORMED]; /* [x.m][s.m] each */
    fftw_plan forward;
};

/* The kernel at y half widths, |y| <= 1. */
static double kernel(double y) { return exp(KERNEL_EXPONENT * (sqrt(1.0 - y * y) - 1.0)); }

/* The wave e^(-i j x) is the sum over the m waves of the FFT times the kernel, divided by the
 * kernel's own transform at j: here with the midpoint rule, exact to rounding since the kernel ends
 * as smoothly as its exponent is large. */
static double kernel_transform(double j, int m)
{
    enum { POINTS = 400 };
    const double half = KERNEL * AW_PI / m;
    double sum = 0.0;
    for (int i = 0; i < POINTS; ++i) {
        const double y = (i + 0.5) / POINTS;
        sum += kernel(y) * cos(j * half * y);
    }
    return sum * (double)KERNEL / POINTS; /* (m / 2 pi) 2 half / POINTS */
}

static aw_status axis_new(int n, axis *out)
{
    out->n = n;
    out->m = 2 * n > 2 * KERNEL ? 2 * n : 2 * KERNEL;
    out->weight = aw_alloc((size_t)n, sizeof *out->weight);
    if (!out->weight) return AW_ERR_NOMEM;
    const int middle = n / 2; /* where the FFT has its origin */
    for (int i = 0; i < n; ++i) out->weight[i] = 1.0 / kernel_transform(i - middle, out->m);
    return AW_OK;
}

aw_status aw_transform_new(int ns, int nx, aw_transform **out)
{
    aw_transform *t = aw_alloc(1, sizeof *t);
    *out = NULL;
    if (!t) return AW_ERR_NOMEM;
    int complete = axis_new(ns, &t->s) == AW_OK && axis_new(nx, &t->x) == AW_OK;
    const size_t waves = (size_t)t->s.m * (size_t)t->x.m;
    for (int i = 0; complete && i < AW_TRANSFORMED; ++i)
        complete = (t->wave[i] = fftw_alloc_complex(waves)) != NULL;
    if (complete)
        t->forward =
            fftw_plan_dft_2d(t->x.m, t->s.m, t->wave[0], t->wave[0], FFTW_FORWARD, FFTW_ESTIMATE);
    if (!t->forward) {
        aw_transform_free(t);
        return AW_ERR_NOMEM;
    }
    *out = t;
    return AW_OK;
}

void aw_transform_free(aw_transform *t)
{
    if (!t) return;
    if (t->forward) fftw_destroy_plan(t->forward);
    for (int i = 0; i < AW_TRANSFORMED; ++i) fftw_free(t->wave[i]);
    aw_free(t->s.weight);
    aw_free(t->x.weight);
    aw_free(t);
}

/* Node i of an axis stands at i - n/2 of the FFT, modulo m. */
static int place(const axis *a, int i) { return (i - a->n / 2 + a->m) % a->m; }

void aw_transform_load(aw_transform *t, const aw_slice *slice, int single)
{
    const size_t waves = (size_t)t->s.m * (size_t)t->x.m;
    const ptrdiff_t row = t->s.n + 2 * AW_PAD;
    t->hs = slice->hs;
    t->hx = slice->hx;
    for (int c = 0; c < AW_TRANSFORMED; ++c) {
        fftw_complex *wave = t->wave[c];
        for (size_t i = 0; i < waves; ++i) wave[i][0] = wave[i][1] = 0.0;
        for (int j = 0; j < t->x.n; ++j)
            for (int i = 0; i < t->s.n; ++i) {
                const ptrdiff_t cell = ((j + AW_PAD) * row + i + AW_PAD) * AW_COMPONENTS + c;
                wave[(ptrdiff_t)place(&t->x, j) * t->s.m + place(&t->s, i)][0] =
                    aw_cell_get(slice->cells, single, cell) * t->s.weight[i] * t->x.weight[j];
            }
        fftw_execute_dft(t->forward, wave, wave);
    }
}

/* Nodes of the FFT about a phase per cell, and the kernel there. @return the first, in [0, m) */
static int kernel_nodes(const axis *a, double phase, double weight[KERNEL])
{
    const double at = phase * a->m / (2.0 * AW_PI);
    const double first = ceil(at - 0.5 * KERNEL);
    for (int i = 0; i < KERNEL; ++i) {
        const double y = (at - (first + i)) / (0.5 * KERNEL);
        weight[i] = fabs(y) < 1.0 ? kernel(y) : 0.0;
    }
    return ((int)first % a->m + a->m) % a->m;
}

/* From the centre of n nodes, (n - 1)/2, to the node at the origin of the FFT [cells]. */
static double from_centre(int n)
{
    const int middle = n / 2;
    return middle - 0.5 * (n - 1);
}

void aw_transform_at(const aw_transform *t, double k_u, double k_w, double out[AW_TRANSFORMED][2])
{
    const double ps = k_u * t->hs, px = k_w * t->hx;
    double ws[KERNEL], wx[KERNEL];
    for (int c = 0; c < AW_TRANSFORMED; ++c) out[c][0] = out[c][1] = 0.0;
    if (!(fabs(ps) <= AW_TRANSFORM_PHASE && fabs(px) <= AW_TRANSFORM_PHASE)) return;
    const int s = kernel_nodes(&t->s, ps, ws), x = kernel_nodes(&t->x, px, wx);
    for (int j = 0; j < KERNEL; ++j) {
        const ptrdiff_t row = (ptrdiff_t)((x + j) % t->x.m) * t->s.m;
        for (int i = 0; i < KERNEL; ++i) {
            const ptrdiff_t node = row + (s + i) % t->s.m;
            const double w = wx[j] * ws[i];
            for (int c = 0; c < AW_TRANSFORMED; ++c) {
                out[c][0] += w * t->wave[c][node][0];
                out[c][1] += w * t->wave[c][node][1];
            }
        }
    }
    const double shift = ps * from_centre(t->s.n) + px * from_centre(t->x.n);
    const double scale = t->hs * t->hx / (aw_spline_deposited(ps) * aw_spline_deposited(px));
    const double re = scale * cos(shift), im = -scale * sin(shift);
    for (int c = 0; c < AW_TRANSFORMED; ++c) {
        const double a = out[c][0], b = out[c][1];
        out[c][0] = a * re - b * im;
        out[c][1] = a * im + b * re;
    }
}
