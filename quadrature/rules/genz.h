/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integrands that are built into the devices: Genz's six families on the unit cube. */
#ifndef AW_QUADRATURE_RULES_GENZ_H
#define AW_QUADRATURE_RULES_GENZ_H
#include <math.h>

#include "src/base/port.h"
#include "src/base/units.h"

enum { AW_GENZ_DIMENSIONS = 8 };

/** The families, in Genz's order, for x in [0, 1]^n:
 *  oscillatory    cos(2 pi u_1 + a.x)
 *  product peak   prod 1/(a_i^-2 + (x_i - u_i)^2)
 *  corner peak    (1 + a.x)^-(n+1)
 *  Gaussian       exp(-sum a_i^2 (x_i - u_i)^2)
 *  C0             exp(-sum a_i |x_i - u_i|)
 *  discontinuous  exp(a.x) where x_1 <= u_1 and x_2 <= u_2, 0 elsewhere
 *  Source: A. Genz, A Package for Testing Multiple Integration Subroutines, in Numerical
 *  Integration (P. Keast, G. Fairweather, eds.), Reidel 1987, p. 337. */
typedef enum aw_genz_family {
    AW_GENZ_OSCILLATORY,
    AW_GENZ_PRODUCT,
    AW_GENZ_CORNER,
    AW_GENZ_GAUSSIAN,
    AW_GENZ_C0,
    AW_GENZ_DISCONTINUOUS,
    AW_GENZ_FAMILIES
} aw_genz_family;

/** One integrand of n = 2 .. AW_GENZ_DIMENSIONS dimensions. */
typedef struct aw_genz {
    aw_genz_family family;
    int n;
    double a[AW_GENZ_DIMENSIONS], u[AW_GENZ_DIMENSIONS];
} aw_genz;

/** Its value at x[n]. */
AW_FN double aw_genz_at(const aw_genz *g, const double *x)
{
    const int n = g->n;
    double s = 0.0;
    switch (g->family) {
    case AW_GENZ_OSCILLATORY:
        for (int i = 0; i < n; ++i) s += g->a[i] * x[i];
        return cos(2.0 * AW_PI * g->u[0] + s);
    case AW_GENZ_PRODUCT:
        s = 1.0;
        for (int i = 0; i < n; ++i) {
            const double d = x[i] - g->u[i];
            s *= 1.0 / (g->a[i] * g->a[i]) + d * d;
        }
        return 1.0 / s;
    case AW_GENZ_CORNER:
        s = 1.0;
        for (int i = 0; i < n; ++i) s += g->a[i] * x[i];
        {
            double power = s;
            for (int i = 0; i < n; ++i) power *= s;
            return 1.0 / power;
        }
    case AW_GENZ_GAUSSIAN:
        for (int i = 0; i < n; ++i) {
            const double d = g->a[i] * (x[i] - g->u[i]);
            s += d * d;
        }
        return exp(-s);
    case AW_GENZ_C0:
        for (int i = 0; i < n; ++i) s += g->a[i] * fabs(x[i] - g->u[i]);
        return exp(-s);
    default:
        if (x[0] > g->u[0] || x[1] > g->u[1]) return 0.0;
        for (int i = 0; i < n; ++i) s += g->a[i] * x[i];
        return exp(s);
    }
}

#endif
