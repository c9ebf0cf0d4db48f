/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adaptive quadrature of a function of one variable (GSL's QAG), for the closed forms here. */
#ifndef AW_VALIDATION_INTEGRAL_H
#define AW_VALIDATION_INTEGRAL_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Integral of f over [a, b], 0 where b <= a; NaN if the quadrature fails, which no check lets
 *  pass. Call gsl_set_error_handler_off() first, or GSL aborts when it fails.
 *  @param absolute  the error allowed, in units of the integral, where 1e-11 of the integral is
 *                   less */
double aw_integral(double (*f)(double, void *), void *params, double a, double b, double absolute);

AW_END_DECLS
#endif
