/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "validation/genz.h"

#include <math.h>

#include "src/base/units.h"

static const struct {
    const char *name;
    double h, e; /* sum a_i = h n^-e */
} families[AW_GENZ_FAMILIES] = {{"oscillatory", 110.0, 1.5}, {"product-peak", 600.0, 2.0},
                                {"corner-peak", 600.0, 2.0}, {"gaussian", 100.0, 1.0},
                                {"c0", 150.0, 2.0},          {"discontinuous", 100.0, 2.0}};

const char *aw_genz_name(aw_genz_family family) { return families[family].name; }

/* splitmix64 (S. Vigna, public domain): uniform in (0, 1), neither end. */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ((double)(z >> 12) + 0.5) * 0x1p-52;
}

aw_genz aw_genz_draw(aw_genz_family family, int n, uint64_t *random)
{
    aw_genz g = {.family = family, .n = n};
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        g.a[i] = uniform(random);
        g.u[i] = uniform(random);
        sum += g.a[i];
    }
    for (int i = 0; i < n; ++i) g.a[i] *= families[family].h * pow(n, -families[family].e) / sum;
    return g;
}

double aw_genz_value(void *context, int n, const double *x)
{
    (void)n;
    return aw_genz_at(context, x);
}

/* (1/n!) int_0^inf e^-s prod (1 - e^(-a_i s))/a_i ds by the trapezoidal rule in y = ln s: the
 * integrand is analytic for |Im y| < pi/2 and falls on both sides, so the rule converges as
 * exp(-pi^2/step), 1e-28 here; at both ends the integrand is below 1e-20 of the integral. */
static double corner_peak(const aw_genz *g)
{
    const double step = 0.15;
    double sum = 0.0, factorial = 1.0;
    for (int i = 2; i <= g->n; ++i) factorial *= i;
    for (int k = -200; k <= 40; ++k) {
        double s = exp(step * k), f = s * exp(-s);
        for (int i = 0; i < g->n; ++i) f *= -expm1(-g->a[i] * s) / g->a[i];
        sum += f;
    }
    return step * sum / factorial;
}

/* The factor of axis i, in the families that are products. */
static double factor(const aw_genz *g, int i)
{
    double a = g->a[i], u = g->u[i], end = i < 2 ? u : 1.0;
    switch (g->family) {
    case AW_GENZ_OSCILLATORY: return sin(0.5 * a) / (0.5 * a);
    case AW_GENZ_PRODUCT: return a * (atan(a * (1.0 - u)) + atan(a * u));
    case AW_GENZ_GAUSSIAN: return 0.5 * sqrt(AW_PI) / a * (erf(a * (1.0 - u)) + erf(a * u));
    case AW_GENZ_C0: return -(expm1(-a * u) + expm1(-a * (1.0 - u))) / a;
    default: return expm1(a * end) / a;
    }
}

double aw_genz_integral(const aw_genz *g)
{
    double value = 1.0;
    if (g->family == AW_GENZ_CORNER) return corner_peak(g);
    for (int i = 0; i < g->n; ++i) value *= factor(g, i);
    if (g->family == AW_GENZ_OSCILLATORY) {
        double phase = 2.0 * AW_PI * g->u[0];
        for (int i = 0; i < g->n; ++i) phase += 0.5 * g->a[i];
        value *= cos(phase);
    }
    return value;
}
