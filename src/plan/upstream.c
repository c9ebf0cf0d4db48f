/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/upstream.h"

#include <math.h>

#include "src/base/units.h"

/* Steps of the integral over ln r', and places along the bunch. The estimate then agrees with a
 * ten times finer one to 1 %. */
#define STEPS 200
#define PLACES 40

/* Slope of a Gaussian line density at s in units of sigma, times sigma^2. */
static double slope(double s) { return -s * exp(-0.5 * s * s) / sqrt(2.0 * AW_PI); }

/* Distance from which a source at the tail of the bunch is seen at its head, on a straight line. */
static double farthest(const aw_upstream_case *c)
{
    return 4.0 * c->gamma * c->gamma * c->cutoff * c->sigma_s;
}

/* d(psi)/ds of a line bunch from sources at distances r' from `from`: the integral over r' of
 * (space_charge / gamma^2 + r'^2 / 2 R^2) / r' times the slope of the line density at the slippage
 * r'/2 gamma^2 + r'^3/24 R^2 behind s. In units of Q/(4 pi eps0 sigma_s^2). */
static double force(const aw_upstream_case *c, double from, double s, double space_charge)
{
    const double bend = c->radius > 0.0 ? 1.0 / (c->radius * c->radius) : 0.0;
    const double straight = 1.0 / (c->gamma * c->gamma);
    const double step = log(farthest(c) / from) / STEPS;
    /* Space charge is felt from where the width of the bunch is seen at an angle below 1/gamma. */
    const double near = fmin(c->gamma * c->sigma_x, c->gamma * c->gamma * c->sigma_s);
    double sum = 0.0;
    for (int i = 0; i <= STEPS && step > 0.0; ++i) {
        const double r = from * exp(i * step);
        const double slippage = 0.5 * r * straight + r * r * r * bend / 24.0;
        const double end = i == 0 || i == STEPS ? 0.5 : 1.0;
        sum += end * ((r > near ? space_charge * straight : 0.0) + 0.5 * r * r * bend) *
               slope(s - slippage / c->sigma_s);
    }
    return sum * step;
}

/* Largest |force| along the bunch. */
static double largest(const aw_upstream_case *c, double from, double space_charge)
{
    double most = 0.0;
    for (int i = 0; i <= PLACES; ++i) {
        const double s = c->cutoff * (2.0 * i / PLACES - 1.0);
        most = fmax(most, fabs(force(c, from, s, space_charge)));
    }
    return most;
}

double aw_upstream_error(const aw_upstream_case *c, double cut)
{
    /* Space charge acts from behind and, with the same strength, from ahead. */
    const double scale = largest(c, 1e-3 * fmin(c->sigma_s, c->sigma_x), 2.0);
    double lost = cut < farthest(c) ? largest(c, cut, 1.0) : 0.0;
    if (c->radius > 0.0 && c->transients && cut < farthest(c))
        lost += 3.0 * (c->cutoff + 1.0) * fabs(slope(1.0)) * c->sigma_s / cut;
    return lost < scale ? lost / scale : lost > 0.0 ? 1.0 : 0.0;
}

double aw_upstream_needed(const aw_upstream_case *c, double error)
{
    double low = aw_upstream_least(c), high = fmax(farthest(c), low);
    if (aw_upstream_error(c, low) <= error) return low;
    for (int i = 0; i < 30 && high > 1.01 * low; ++i) {
        const double middle = sqrt(low * high);
        if (aw_upstream_error(c, middle) <= error)
            high = middle;
        else
            low = middle;
    }
    const double digit = pow(10.0, floor(log10(high)) - 1.0);
    return ceil(high / digit) * digit;
}

double aw_upstream_least(const aw_upstream_case *c)
{
    const double size = 2.0 * c->cutoff * hypot(c->sigma_s, c->sigma_x);
    const double overtaking = cbrt(24.0 * c->sigma_s * c->radius * c->radius);
    return fmin(fmax(size, overtaking), farthest(c));
}
