/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/certify/estimate.h"

#include <math.h>

#define ORDER_LEAST 0.5 /* orders that are credible: from here to the formal one and a half more */
#define ORDER_MORE 0.5
#define ORDER_LARGEST 12.0
/* The order that is trusted where none is observed, at most: a sixth order shows only with cells
 * that are small enough, and noise has none (`arcwake validate certificates`: docs/certify.md). */
#define ORDER_UNSEEN 2.5

/* (h3^p - h2^p)/(h2^p - h1^p), which grows with p. */
static double ratio_of(double p, const double h[AW_LEVELS])
{
    const double r21 = log(h[1] / h[0]), r32 = log(h[2] / h[1]);
    return exp(p * r21) * expm1(p * r32) / expm1(p * r21);
}

double aw_observed_order(double ratio, const double h[AW_LEVELS])
{
    double low = 1e-6, high = ORDER_LARGEST;
    if (!(ratio >= ratio_of(low, h) && ratio <= ratio_of(high, h))) return NAN;
    for (int i = 0; i < 60; ++i) {
        const double p = 0.5 * (low + high);
        if (ratio_of(p, h) < ratio)
            low = p;
        else
            high = p;
    }
    return 0.5 * (low + high);
}

static double largest_difference(const double *a, const double *b, size_t rows)
{
    double largest = 0.0;
    for (size_t i = 0; i < rows; ++i) largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

/* Whether there is such a run, at all rows. */
static int is_known(const double *f, size_t rows)
{
    for (size_t i = 0; i < rows && f; ++i)
        if (!isfinite(f[i])) return 0;
    return f != NULL;
}

static int count_levels(const aw_levels *l, int level[AW_LEVELS])
{
    int n = 0;
    for (int k = 0; k < AW_LEVELS; ++k)
        if (is_known(l->f[k], l->rows)) level[n++] = k;
    return n > 0 && level[0] == 0 ? n : 0;
}

/* Two differences as one ratio: the least-squares slope of the coarse one over the fine one. */
static double slope(const double *f1, const double *f2, const double *f3, size_t rows)
{
    double cross = 0.0, square = 0.0;
    for (size_t i = 0; i < rows; ++i) {
        const double fine = f2[i] - f1[i];
        cross += fine * (f3[i] - f2[i]);
        square += fine * fine;
    }
    return square > 0.0 ? cross / square : NAN;
}

/* Error of the finest level, if the difference of two levels a < b falls with h^p. */
static double error_of(double difference, double p, const double h[AW_LEVELS], int a, int b)
{
    return difference / (pow(h[b] / h[0], p) - pow(h[a] / h[0], p));
}

/* The factor for an observed order: 1.25 down to half an order below the formal one, and from there
 * linearly to 3 at the least that is credible: sequences of such orders are mixtures, and with 1.25
 * fewer than 95 of 100 are covered (tests/certify/test_estimate.c). */
static double factor_of(double p, double formal)
{
    const double trusted = formal - ORDER_MORE;
    if (p >= trusted) return AW_FACTOR_OBSERVED;
    return AW_FACTOR_OBSERVED +
           (AW_FACTOR_ASSUMED - AW_FACTOR_OBSERVED) * (trusted - p) / (trusted - ORDER_LEAST);
}

static aw_estimate three_levels(const aw_levels *l, const double d[AW_LEVELS])
{
    const double r = slope(l->f[0], l->f[1], l->f[2], l->rows);
    const double unseen = fmin(l->order, ORDER_UNSEEN);
    aw_estimate e = {.order = aw_observed_order(r, l->h)};
    if (e.order >= ORDER_LEAST && e.order <= l->order + ORDER_MORE) {
        e.asymptotic = 1;
        e.U = factor_of(e.order, l->order) * error_of(d[0], fmin(e.order, l->order), l->h, 0, 1);
    } else if (e.order > l->order)
        e.U = fmax(AW_FACTOR_ASSUMED * error_of(d[0], unseen, l->h, 0, 1),
                   AW_FACTOR_OBSERVED * error_of(d[1], unseen, l->h, 1, 2));
    else
        e.U = AW_FACTOR_ASSUMED * error_of(fmax(fmax(d[0], d[1]), d[2]), unseen, l->h, 0, 1);
    return e;
}

/* The error of the first level that there is, from it and coarser ones. */
static aw_estimate from_coarser(const aw_levels *l)
{
    int level[AW_LEVELS];
    const int n = count_levels(l, level);
    aw_estimate e = {.U = NAN, .order = NAN};
    if (n < 2) return e;
    const double h[AW_LEVELS] = {l->h[level[0]], l->h[level[1]], n > 2 ? l->h[level[2]] : 0.0};
    const double *const *f = l->f;
    const double d[AW_LEVELS] = {
        largest_difference(f[level[0]], f[level[1]], l->rows),
        n > 2 ? largest_difference(f[level[1]], f[level[2]], l->rows) : 0.0,
        n > 2 ? largest_difference(f[level[0]], f[level[2]], l->rows) : 0.0};
    const double rounding = AW_ROUNDING * l->scale;
    if (d[0] <= rounding && d[1] <= rounding)
        return (aw_estimate){.U = rounding, .order = NAN, .asymptotic = 1, .rounding = 1};
    if (n > 2)
        e = three_levels(l, d);
    else
        e.U = AW_FACTOR_ASSUMED * error_of(d[0], fmin(l->order, ORDER_UNSEEN), h, 0, 1);
    e.U = fmax(e.U, rounding);
    return e;
}

/* The error of the first level: its difference from a finer one, and the error of that, with no
 * smaller a factor than the coarser levels have. */
static aw_estimate from_finer(const aw_levels *l, double least)
{
    const aw_levels from = {.f = {l->finer, l->f[0], l->f[1]},
                            .h = {l->h_finer, l->h[0], l->h[1]},
                            .rows = l->rows,
                            .at = l->at,
                            .order = l->order,
                            .scale = l->scale};
    aw_estimate e = from_coarser(&from);
    if (e.asymptotic && !e.rounding) e.U *= fmax(least / factor_of(e.order, l->order), 1.0);
    e.U += least * largest_difference(l->finer, l->f[0], l->rows);
    return e;
}

aw_estimate aw_estimate_levels(const aw_levels *l)
{
    const aw_estimate coarser = from_coarser(l);
    if (!is_known(l->finer, l->rows) || !is_known(l->f[0], l->rows)) return coarser;
    const int has_order = coarser.asymptotic && !coarser.rounding;
    const double factor = has_order ? factor_of(coarser.order, l->order) : AW_FACTOR_OBSERVED;
    const aw_estimate finer = from_finer(l, factor);
    if (!(largest_difference(l->finer, l->f[0], l->rows) <= coarser.U)) return finer;
    if (!has_order && finer.asymptotic) return finer;
    if (has_order && (!finer.asymptotic || factor <= AW_FACTOR_OBSERVED)) return coarser;
    return finer.U <= coarser.U ? finer : coarser;
}

/* Student's factor for two-sided 95 % and n samples. */
static double student(int n)
{
    static const double factor[] = {12.706, 4.303, 3.182, 2.776, 2.571};
    return factor[n - 2 < 4 ? n - 2 : 4];
}

/* Sum of the squared deviations at a row, of the seeds and of the main run with its weight. */
static double squares(const aw_samples *s, int n, size_t row)
{
    const double weight = 1.0 / (s->shrink * s->shrink);
    double mean = weight * s->main[row] / (n + weight), sum = 0.0;
    for (int k = 0; k < AW_SEEDS; ++k)
        if (s->f[k]) mean += s->f[k][row] / (n + weight);
    for (int k = 0; k < AW_SEEDS; ++k)
        if (s->f[k]) sum += (s->f[k][row] - mean) * (s->f[k][row] - mean);
    return sum + weight * (s->main[row] - mean) * (s->main[row] - mean);
}

aw_estimate aw_estimate_noise(const aw_samples *s)
{
    const double rounding = AW_ROUNDING * s->scale;
    aw_estimate e = {.U = NAN, .order = NAN};
    double sum = 0.0;
    int n = 0;
    for (int k = 0; k < AW_SEEDS; ++k) n += s->f[k] != NULL;
    for (size_t i = 0; i < s->rows && n > 0; ++i) sum += squares(s, n, i) / n;
    if (n == 0 || !isfinite(sum)) return e;
    e.U = student(n + 1) * sqrt(sum / (double)s->rows) * s->shrink;
    e.rounding = e.U <= rounding;
    e.asymptotic = 1;
    e.U = fmax(e.U, rounding);
    return e;
}

aw_estimate aw_estimate_tolerance(const double *main, const double *coarse, size_t rows,
                                  double scale)
{
    const double rounding = AW_ROUNDING * scale;
    aw_estimate e = {.U = 0.0, .order = NAN, .asymptotic = 1};
    for (size_t i = 0; i < rows; ++i) {
        const double d = fabs(main[i] - coarse[i]);
        if (!(d <= e.U)) e.U = d; /* a NaN stays */
        if (isnan(e.U)) return e;
    }
    e.rounding = e.U <= rounding;
    e.U = fmax(e.U, rounding);
    return e;
}

double aw_estimate_sum(const double *U, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) sum += U[i] * U[i];
    return sqrt(sum);
}
