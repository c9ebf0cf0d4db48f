/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "validation/integral.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <math.h>

#define RELATIVE 1e-11
enum { INTERVALS = 400 };

double aw_integral(double (*f)(double, void *), void *params, double a, double b, double absolute)
{
    double value = NAN, error = 0.0;
    if (!(b > a)) return 0.0;
    gsl_integration_workspace *work = gsl_integration_workspace_alloc(INTERVALS);
    if (!work) return NAN;
    gsl_function function = {.function = f, .params = params};
    int code = gsl_integration_qag(&function, a, b, absolute, RELATIVE, INTERVALS,
                                   GSL_INTEG_GAUSS31, work, &value, &error);
    gsl_integration_workspace_free(work);
    return code == GSL_SUCCESS ? value : NAN;
}
