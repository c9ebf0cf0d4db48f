/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "validation/height.h"

#include <gsl/gsl_sf_bessel.h>
#include <math.h>

#include "src/base/units.h"
#include "validation/integral.h"

#define ERROR 1e-11 /* of the largest of a field */

/* ------------------------------------------------------------------------------ straight motion */

enum { PHI = -1, ALONG_X, ALONG_Y, ALONG_S, AXES };

/* Place and sizes in the rest frame; what is wanted: phi, or minus its slope along an axis. */
typedef struct rest {
    double at[AXES], size[AXES];
    int wanted;
} rest;

/* The integrand in ln q. */
static double part(double log_q, void *params)
{
    const rest *p = params;
    const double q = exp(log_q);
    double exponent = 0.0, product = 1.0, factor = q;
    for (int i = 0; i < AXES; ++i) {
        const double w = 1.0 + 2.0 * q * q * p->size[i] * p->size[i];
        exponent += q * q * p->at[i] * p->at[i] / w;
        product *= w;
        if (i == p->wanted) factor *= 2.0 * q * q * p->at[i] / w;
    }
    return factor * exp(-exponent) / sqrt(product);
}

/* Beyond these limits the integrand falls as q at small q and at least as 1/q at large q. */
static double rest_integral(rest p, int wanted)
{
    double large = 0.0, small = INFINITY;
    for (int i = 0; i < AXES; ++i) {
        large = fmax(large, p.size[i]);
        if (p.size[i] > 0.0) small = fmin(small, p.size[i]);
    }
    p.wanted = wanted;
    const double scale = wanted == PHI ? 1.0 / large : 1.0 / (large * small);
    return aw_integral(part, &p, log(1e-13 / large), log(1e13 / small), ERROR * scale);
}

aw_solid_field aw_solid_straight(const aw_solid *b, double x, double y, double s)
{
    const double g = b->gamma, front = 2.0 * AW_K_COULOMB * b->charge * g / sqrt(AW_PI);
    const rest p = {.at = {x, y, g * s},
                    .size = {b->sigma_x, hypot(b->sigma_y, b->observers_y), g * b->sigma_s}};
    const double phi = front * rest_integral(p, PHI), force = front / (g * g);
    return (aw_solid_field){.phi = phi,
                            .psi = phi / (g * g),
                            .F_s = force * g * rest_integral(p, ALONG_S),
                            .F_x = force * rest_integral(p, ALONG_X),
                            .F_y = force * rest_integral(p, ALONG_Y)};
}

/* ---------------------------------------------------------------------------------- modulation */

typedef struct across {
    double x, y, k2; /* half the variances [m^2]; (k/gamma)^2 [1/m^2] */
} across;

/* The integrand in ln t. */
static double modulated_part(double log_t, void *params)
{
    const across *p = params;
    const double t = exp(log_t);
    return t * exp(-t * p->k2) / sqrt((t + p->x) * (t + p->y));
}

double aw_modulated_field(const aw_modulated *b)
{
    const double k = 2.0 * AW_PI / b->wavelength, g2 = b->gamma * b->gamma;
    across p = {0.5 * (b->sigma_x * b->sigma_x + b->observers_x * b->observers_x),
                0.5 * (b->sigma_y * b->sigma_y + b->observers_y * b->observers_y), k * k / g2};
    /* Below, the integrand falls as t, or as its root if a size is zero; above, as exp(-40). */
    const double small = fmin(fmax(p.x, p.y), 1.0 / p.k2);
    const double phi = aw_integral(modulated_part, &p, log(1e-24 * small), log(40.0 / p.k2), 0.0);
    return AW_K_COULOMB * b->depth * b->line * k / g2 * phi;
}

double aw_modulated_round(const aw_modulated *b)
{
    const double k = 2.0 * AW_PI / b->wavelength, r = 0.8735 * (b->sigma_x + b->sigma_y);
    const double q = k * r / b->gamma, Z0 = 1.0 / (AW_EPS0 * AW_C);
    const double shape = 1.0 - 2.0 * gsl_sf_bessel_I1_scaled(q) * gsl_sf_bessel_K1_scaled(q);
    return b->depth * b->line * AW_C * Z0 / (AW_PI * k * r * r) * shape;
}
