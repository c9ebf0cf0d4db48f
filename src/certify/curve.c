/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/certify/curve.h"

#include <gsl/gsl_interp.h>
#include <math.h>

#include "src/base/log.h"
#include "src/base/memory.h"

aw_status aw_curve_of(const aw_series *s, const char *name, aw_curve *out)
{
    const int at = aw_series_column(s, "s_ref_m"), column = aw_series_column(s, name);
    *out =
        (aw_curve){.S = aw_alloc(s->rows, sizeof(double)), .f = aw_alloc(s->rows, sizeof(double))};
    if (!out->S || !out->f) {
        aw_curve_free(out);
        return aw_error(AW_ERR_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < s->rows && at >= 0 && column >= 0; ++i) {
        const double *row = s->value + i * s->columns;
        if (!isfinite(row[column]) || !isfinite(row[at])) continue;
        out->S[out->n] = row[at];
        out->f[out->n++] = row[column];
    }
    return AW_OK;
}

void aw_curve_free(aw_curve *c)
{
    aw_free(c->S);
    aw_free(c->f);
    *c = (aw_curve){0};
}

double aw_curve_at(const aw_curve *c, double S)
{
    if (c->n == 0) return NAN;
    const double span = c->S[c->n - 1] - c->S[0], rounding = 1e-9 * (span > 0.0 ? span : 1.0);
    if (!(S >= c->S[0] - rounding && S <= c->S[c->n - 1] + rounding)) return NAN;
    const size_t i = gsl_interp_bsearch(c->S, S, 0, c->n), first = i > 0 ? i - 1 : 0;
    const size_t end = first + 4 < c->n ? first + 4 : c->n, begin = end > 4 ? end - 4 : 0;
    double sum = 0.0;
    for (size_t j = begin; j < end; ++j) {
        double weight = 1.0;
        if (fabs(c->S[j] - S) <= rounding) return c->f[j];
        for (size_t k = begin; k < end; ++k)
            if (k != j) weight *= (S - c->S[k]) / (c->S[j] - c->S[k]);
        sum += weight * c->f[j];
    }
    return sum;
}

double aw_curve_peak(const aw_curve *c, double *S)
{
    size_t i = 0;
    *S = NAN;
    if (c->n == 0) return NAN;
    for (size_t k = 1; k < c->n; ++k)
        if (fabs(c->f[k]) > fabs(c->f[i])) i = k;
    *S = c->S[i];
    if (i == 0 || i + 1 == c->n) return c->f[i];
    /* Newton's form of the parabola about the largest point */
    const double a = c->S[i - 1] - c->S[i], b = c->S[i + 1] - c->S[i];
    const double fa = (c->f[i - 1] - c->f[i]) / a, fb = (c->f[i + 1] - c->f[i]) / b;
    const double second = (fb - fa) / (b - a), first = fa - second * a;
    const double at = -first / (2.0 * second);
    /* neighbours of the other sign, or far away, are no part of this extremum */
    if (!(at > 0.5 * a && at < 0.5 * b) || c->f[i - 1] * c->f[i + 1] < 0.0) return c->f[i];
    *S += at;
    return c->f[i] + 0.5 * first * at;
}
