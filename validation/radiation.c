/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "validation/radiation.h"

#include <gsl/gsl_sf_expint.h>
#include <gsl/gsl_sf_synchrotron.h>
#include <math.h>

#include "src/base/units.h"
#include "validation/integral.h"

static double square(double x) { return x * x; }

double aw_schwinger(double gamma, double R, double k)
{
    gsl_sf_result f;
    if (gsl_sf_synchrotron_1_e(k * R / (1.5 * pow(gamma, 3)), &f) != 0) return (double)NAN;
    return AW_K_COULOMB * sqrt(3.0) * gamma / (2.0 * AW_PI * AW_C) * f.val;
}

double aw_coherent_power(double charge, double R, double sigma)
{
    const double factor = pow(3.0, 1.0 / 6.0) * square(tgamma(2.0 / 3.0)) / (2.0 * AW_PI);
    return factor * AW_C * AW_K_COULOMB * square(charge) /
           (pow(R, 2.0 / 3.0) * pow(sigma, 4.0 / 3.0));
}

double aw_two_kicks(double gamma, double length, double k, double a)
{
    const double beta = sqrt(1.0 - 1.0 / square(gamma));
    /* 1 - beta cos a without cancellation */
    const double slope = 1.0 / (square(gamma) * (1.0 + beta)) + 2.0 * beta * square(sin(0.5 * a));
    const double A = beta * sin(a) / slope, wave = 2.0 * sin(0.5 * k * length * slope / beta);
    return AW_K_COULOMB / (4.0 * AW_PI * AW_PI * AW_C) * square(A * wave);
}

/* -------------------------------------------------------------------------- bound energy */

typedef struct sheet {
    double gamma, s, x; /* rms sizes [m] */
    double ks;          /* of the inner integral [1/m] */
} sheet;

static double over_x(double kx, void *context)
{
    const sheet *b = context;
    const double beta2 = 1.0 - 1.0 / square(b->gamma), q2 = square(b->ks / b->gamma);
    const double B = sqrt(square(kx) + q2);
    /* int dk_y of k_y^2/(k_y^2 + B^2)^2 is pi/(2 B), of 1/(k_y^2 + B^2)^2 pi/(2 B^3) */
    const double rest = square(kx) * (1.0 + beta2) + q2 / square(b->gamma);
    return exp(-square(kx * b->x)) * 0.5 * AW_PI / B * (1.0 + beta2 + rest / square(B));
}

static double over_s(double ks, void *context)
{
    sheet *b = context;
    b->ks = ks;
    /* the peak at k_x = 0 is as wide as k_s/gamma: by octaves from there to the bunch's width */
    const double end = 7.0 / b->x;
    double sum = 0.0, from = 0.0;
    for (double to = fmin(ks / b->gamma, end); from < end; to = fmin(8.0 * to, end)) {
        sum += aw_integral(over_x, b, from, to, 1e-12 * AW_PI);
        from = to;
    }
    return 2.0 * exp(-square(ks * b->s)) * sum;
}

double aw_bound_energy(double charge, double gamma, double sigma_s, double sigma_x)
{
    sheet b = {.gamma = gamma, .s = sigma_s, .x = sigma_x};
    /* the logarithm at k_s = 0 is integrable; below 1e-6/sigma_s there is 1e-5 of it */
    const double integral = 2.0 * aw_integral(over_s, &b, 1e-6 / sigma_s, 7.0 / sigma_s, 1e-9);
    return square(charge) / (2.0 * AW_EPS0) * integral / pow(2.0 * AW_PI, 3);
}

double aw_bound_rest(double charge, double gamma, double sigma_s, double d)
{
    const double x = d / (4.0 * square(gamma) * sigma_s);
    const double factor = AW_K_COULOMB * square(charge) / (sqrt(AW_PI) * sigma_s);
    return factor *
           (0.5 * gsl_sf_expint_E1(square(x)) - exp(-square(x)) + sqrt(AW_PI) * x * erfc(x));
}
