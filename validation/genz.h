/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Genz's six families of integrands on the unit cube, with their integrals. */
#ifndef AW_VALIDATION_GENZ_H
#define AW_VALIDATION_GENZ_H
#include <stdint.h>

#include "quadrature/rules/genz.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Name of a family; static storage. */
const char *aw_genz_name(aw_genz_family family);

/** Draw parameters: a_i and u_i uniform in (0, 1), then a scaled so that sum a_i = h n^-e with
 *  (h, e) = (110, 1.5), (600, 2), (600, 2), (100, 1), (150, 2), (100, 2) in the order of the
 *  families, the difficulties of Genz's test program.
 *  @param[in,out] random  state of splitmix64, owned by the caller
 *  Source: A. Genz, A Package for Testing Multiple Integration Subroutines, in Numerical
 *  Integration (P. Keast, G. Fairweather, eds.), Reidel 1987, p. 337. */
aw_genz aw_genz_draw(aw_genz_family family, int n, uint64_t *random);

/** The integrand at x[n]; `context` is an aw_genz. */
double aw_genz_value(void *context, int n, const double *x);

/** The integral over [0, 1]^n, with a relative error of about 1e-14 (oscillatory family: relative
 *  to the amplitude). All are products of one-dimensional integrals but the corner peak: there the
 *  usual sum of 2^n terms of either sign cancels (to 1e-10 at these difficulties), so that the sum
 *  is taken under the integral sign, where nothing cancels:
 *  sum over v of (-1)^|v|/(1 + v.a) = int_0^inf e^-s prod(1 - e^(-a_i s)) ds. */
double aw_genz_integral(const aw_genz *genz);

AW_END_DECLS
#endif
