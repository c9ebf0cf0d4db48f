/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/spectrum/panel.h"

#include <math.h>

/* int x^j exp(i p x) dx over -1 .. 1 for j = 0, 1, 2; the second without its factor i. */
static void moments(double p, double m[3])
{
    const double p2 = p * p;
    if (fabs(p) < 0.2) { /* next terms: 1e-12 */
        m[0] = 2.0 * (1.0 - p2 / 6.0 * (1.0 - p2 / 20.0 * (1.0 - p2 / 42.0)));
        m[1] = 2.0 * p * (1.0 / 3.0 - p2 * (1.0 / 30.0 - p2 * (1.0 / 840.0 - p2 / 45360.0)));
        m[2] = 2.0 * (1.0 / 3.0 - p2 * (1.0 / 10.0 - p2 * (1.0 / 168.0 - p2 / 6480.0)));
        return;
    }
    const double s = sin(p), c = cos(p);
    m[0] = 2.0 * s / p;
    m[1] = 2.0 * (s - p * c) / p2;
    m[2] = 2.0 * ((p2 - 2.0) * s + 2.0 * p * c) / (p2 * p);
}

/* A complex number times exp(i phase), added to a pair of sums. */
static void add_turned(double re, double im, double c, double s, double *sum, size_t n)
{
    sum[0] += re * c - im * s;
    sum[n] += re * s + im * c;
}

/* The three weights of a panel at one wave number, and its phase. */
typedef struct weights {
    double re[3], im[3], c, s;
} weights;

/* Parabolas in the length, with what is left of the phase in the middle. */
static void weigh_length(const aw_panel *p, double k, const double m[3], weights *w)
{
    const double bow = k * (p->q[1] - 0.5 * (p->q[0] + p->q[2])), h = p->half;
    w->re[0] = w->re[2] = 0.5 * h * m[2];
    w->im[2] = 0.5 * h * m[1];
    w->im[0] = -w->im[2];
    w->re[1] = h * (m[0] - m[2]) * cos(bow);
    w->im[1] = h * (m[0] - m[2]) * sin(bow);
}

/* Parabolas in the phase, from -1 to 1, where the middle node is at u. */
static void weigh_phase(const aw_panel *p, const double m[3], weights *w)
{
    const double half = 0.5 * (p->q[2] - p->q[0]);
    const double u = (p->q[1] - 0.5 * (p->q[0] + p->q[2])) / half;
    const double a = half / (2.0 * (1.0 + u) * p->slope[0]);
    const double b = half / (2.0 * (1.0 - u) * p->slope[2]);
    w->re[0] = a * (m[2] + u * m[0]);
    w->im[0] = -a * (1.0 + u) * m[1];
    w->re[1] = half * (m[0] - m[2]) / ((1.0 - u * u) * p->slope[1]);
    w->im[1] = 0.0;
    w->re[2] = b * (m[2] - u * m[0]);
    w->im[2] = b * (1.0 - u) * m[1];
}

static weights weights_of(const aw_panel *p, double k)
{
    const double mean = 0.5 * k * (p->q[2] + p->q[0]);
    weights w = {.c = cos(mean), .s = sin(mean)};
    double m[3];
    moments(0.5 * k * (p->q[2] - p->q[0]), m);
    if (p->by_phase)
        weigh_phase(p, m, &w);
    else
        weigh_length(p, k, m, &w);
    return w;
}

static void add_one(const aw_panel *p, const weights *w, double *sum, size_t n)
{
    double h[2] = {0.0, 0.0}, v[2] = {0.0, 0.0};
    for (int j = 0; j < 3; ++j) {
        h[0] += w->re[j] * p->across[j];
        h[1] += w->im[j] * p->across[j];
        v[0] += w->re[j];
        v[1] += w->im[j];
    }
    add_turned(h[0], h[1], w->c, w->s, sum + AW_SUM_ONE_H * n, n);
    add_turned(v[0], v[1], w->c, w->s, sum + AW_SUM_ONE_V * n, n);
}

static void add_bunch(const aw_panel *p, const weights *w, const double *const wave[3], double *sum,
                      size_t n)
{
    double h[2] = {0.0, 0.0}, v[2] = {0.0, 0.0};
    for (int j = 0; j < 3; ++j) {
        const double *f = wave[j];
        const double rho[2] = {f[AW_WAVE_CHARGE * n], f[(AW_WAVE_CHARGE + 1) * n]};
        const double current[2] = {p->across[j] * rho[0] + f[AW_WAVE_CURRENT * n],
                                   p->across[j] * rho[1] + f[(AW_WAVE_CURRENT + 1) * n]};
        h[0] += w->re[j] * current[0] - w->im[j] * current[1];
        h[1] += w->re[j] * current[1] + w->im[j] * current[0];
        v[0] += w->re[j] * rho[0] - w->im[j] * rho[1];
        v[1] += w->re[j] * rho[1] + w->im[j] * rho[0];
    }
    add_turned(h[0], h[1], w->c, w->s, sum + AW_SUM_H * n, n);
    add_turned(v[0], v[1], w->c, w->s, sum + AW_SUM_V * n, n);
}

void aw_panel_add(const aw_panel *panel, const double *k, size_t n, const double *const wave[3],
                  double *sum)
{
    for (size_t i = 0; i < n; ++i) {
        const weights w = weights_of(panel, k[i]);
        add_one(panel, &w, sum + i, n);
        if (!wave) continue;
        const double *const at[3] = {wave[0] + i, wave[1] + i, wave[2] + i};
        add_bunch(panel, &w, at, sum + i, n);
    }
}

void aw_tail_add(const aw_panel *end, double sign, const double *k, size_t n, const double *wave,
                 double *sum)
{
    const aw_panel here = {.across = {end->across[0], 0.0, 0.0}};
    for (size_t i = 0; i < n; ++i) {
        const double phase = k[i] * end->q[0];
        const weights w = {
            .im = {sign / (k[i] * end->slope[0]), 0.0, 0.0}, .c = cos(phase), .s = sin(phase)};
        add_one(&here, &w, sum + i, n);
        if (!wave) continue;
        const double *const at[3] = {wave + i, wave + i, wave + i};
        add_bunch(&here, &w, at, sum + i, n);
    }
}
