/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "validation/analytic.h"

#include <math.h>

#include "src/base/units.h"
#include "validation/integral.h"

/* A Gaussian is cut off at this many sigma, where it is exp(-72) = 5e-32 of its peak. */
#define REACH 12.0

/* `scale` is a typical size of the integral, to which the error is relative where the integral
 * itself is smaller: integrals of lambda' pass through zero. */
static double integrate(double (*f)(double, void *), void *params, double a, double b, double scale)
{
    return aw_integral(f, params, a, b, 1e-11 * scale);
}

static double coulomb(const aw_line_bunch *bunch) { return AW_K_COULOMB * bunch->charge; }

double aw_line_density(const aw_line_bunch *bunch, double s)
{
    double t = s / bunch->sigma;
    return exp(-0.5 * t * t) / (sqrt(2.0 * AW_PI) * bunch->sigma);
}

double aw_line_slope(const aw_line_bunch *bunch, double s)
{
    return -s / (bunch->sigma * bunch->sigma) * aw_line_density(bunch, s);
}

double aw_line_unit(const aw_line_bunch *bunch, double R)
{
    return coulomb(bunch) / (pow(R, 2.0 / 3.0) * pow(bunch->sigma, 4.0 / 3.0));
}

double aw_line_overtaking(const aw_line_bunch *bunch, double R)
{
    return cbrt(24.0 * bunch->sigma * R * R);
}

/* ------------------------------------------------------------------- steady state and entrance */

typedef struct at {
    const aw_line_bunch *bunch;
    double R, d, s, mean, phi_m;
} at;

/* u^(-1/3) lambda'(s-u) du with u = w^3, which is smooth. */
static double behind(double w, void *params)
{
    const at *p = params;
    return 3.0 * w * aw_line_slope(p->bunch, p->s - w * w * w);
}

/* int_0^length du u^(-1/3) lambda'(s-u), over the part where the Gaussian is not cut off. */
static double behind_integral(const aw_line_bunch *bunch, double s, double length)
{
    at p = {.bunch = bunch, .s = s};
    double sigma = bunch->sigma, from = fmax(s - REACH * sigma, 0.0);
    double to = fmin(s + REACH * sigma, length);
    return integrate(behind, &p, cbrt(from), cbrt(to), pow(sigma, -4.0 / 3.0));
}

double aw_steady_force(const aw_line_bunch *bunch, double R, double s)
{
    return -coulomb(bunch) * 2.0 / cbrt(3.0 * R * R) * behind_integral(bunch, s, INFINITY);
}

double aw_steady_transverse(const aw_line_bunch *bunch, double kappa, double s)
{
    return -coulomb(bunch) * 2.0 * aw_line_density(bunch, s) * kappa;
}

double aw_steady_mean(const aw_line_bunch *bunch, double R)
{
    double g = tgamma(2.0 / 3.0);
    return -pow(3.0, 1.0 / 6.0) * g * g / (2.0 * AW_PI) * aw_line_unit(bunch, R);
}

static double spread(double s, void *params)
{
    const at *p = params;
    double f = aw_steady_force(p->bunch, p->R, s) - p->mean;
    return f * f * aw_line_density(p->bunch, s);
}

double aw_steady_rms(const aw_line_bunch *bunch, double R)
{
    at p = {.bunch = bunch, .R = R, .mean = aw_steady_mean(bunch, R)};
    double reach = REACH * bunch->sigma, unit = aw_line_unit(bunch, R);
    return sqrt(integrate(spread, &p, -reach, reach, unit * unit));
}

double aw_entrance_force(const aw_line_bunch *bunch, double R, double d, double s)
{
    double slip = d * d * d / (24.0 * R * R);
    if (!(slip > 0.0)) return d == 0.0 ? 0.0 : NAN;
    double edge = aw_line_density(bunch, s - slip) - aw_line_density(bunch, s - 4.0 * slip);
    double arc = behind_integral(bunch, s, slip);
    return -coulomb(bunch) * 2.0 / cbrt(3.0 * R * R) * (arc + edge / cbrt(slip));
}

double aw_entrance_mean(const aw_line_bunch *bunch, double R, double d)
{
    /* The average of lambda(s-u) over the bunch is a Gaussian in u with sqrt(2) sigma, and that of
     * lambda'(s-u) is minus its derivative: the mean force is that of the wider bunch at s = 0. */
    aw_line_bunch wide = {.charge = bunch->charge, .sigma = sqrt(2.0) * bunch->sigma};
    return aw_entrance_force(&wide, R, d, 0.0);
}

static double mean_at(double d, void *params)
{
    const at *p = params;
    return aw_entrance_mean(p->bunch, p->R, d);
}

double aw_entrance_energy(const aw_line_bunch *bunch, double R, double d)
{
    at p = {.bunch = bunch, .R = R};
    double near = fmin(d, 3.0 * aw_line_overtaking(bunch, R)), unit = aw_line_unit(bunch, R);
    return integrate(mean_at, &p, 0.0, near, unit * d) + integrate(mean_at, &p, near, d, unit * d);
}

/* -------------------------------------------------------------------------------------- exit */

static double slippage(double R, double x, double psi)
{
    if (psi == 0.0) return 0.0;
    return R / 24.0 * psi * psi * psi * (psi + 4.0 * x) / (psi + x);
}

/* lambda'(s-D) dD/dpsi / (psi + 2x). */
static double exit_part(double psi, void *params)
{
    const at *p = params;
    double x = p->d / p->R, q = psi + x;
    if (psi == 0.0) return 0.0;
    double rate =
        p->R / 24.0 * psi * psi * ((4.0 * psi + 12.0 * x) / q - psi * (psi + 4.0 * x) / (q * q));
    return aw_line_slope(p->bunch, p->s - slippage(p->R, x, psi)) * rate / (psi + 2.0 * x);
}

/* The psi in [0, top] at which the slippage, which grows with psi, reaches D; top if it does
 * not. */
static double angle_of_slippage(double R, double x, double D, double top)
{
    double low = 0.0, high = top;
    if (!(D > 0.0)) return 0.0;
    if (slippage(R, x, top) <= D) return top;
    for (int i = 0; i < 60; ++i) {
        double middle = 0.5 * (low + high);
        if (slippage(R, x, middle) < D)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

double aw_exit_force(const aw_line_bunch *bunch, double R, double phi_m, double d, double s)
{
    at p = {.bunch = bunch, .R = R, .d = d, .s = s};
    double x = d / R, reach = REACH * bunch->sigma;
    double D_max = slippage(R, x, phi_m), D_C = R / 6.0 * phi_m * phi_m * (phi_m + 3.0 * x);
    double from = angle_of_slippage(R, x, s - reach, phi_m);
    double to = angle_of_slippage(R, x, s + reach, phi_m);
    double scale = aw_line_unit(bunch, R) * R / (4.0 * coulomb(bunch));
    double arc = integrate(exit_part, &p, from, to, scale);
    double edge = aw_line_density(bunch, s - D_max) - aw_line_density(bunch, s - D_C);
    return -4.0 * coulomb(bunch) / R * (edge / (phi_m + 2.0 * x) + arc);
}

/* ------------------------------------------------------------------------------------- sheet */

typedef struct sheet_point {
    double sigma_s, sigma_x, s, x; /* s and sigma_s in the rest frame */
} sheet_point;

/* The integrand in ln q. */
static double sheet_part(double log_q, void *params)
{
    const sheet_point *p = params;
    double q = exp(log_q), qx = q * p->x, qs = q * p->s;
    double wx = 1.0 + 2.0 * q * q * p->sigma_x * p->sigma_x;
    double ws = 1.0 + 2.0 * q * q * p->sigma_s * p->sigma_s;
    return q * exp(-qx * qx / wx - qs * qs / ws) / sqrt(wx * ws);
}

double aw_sheet_phi(const aw_sheet *sheet, double x, double s)
{
    sheet_point p = {sheet->gamma * sheet->sigma_s, sheet->sigma_x, sheet->gamma * s, x};
    double large = fmax(p.sigma_s, p.sigma_x), small = fmin(p.sigma_s, p.sigma_x);
    /* Outside these limits the integrand falls as q and as 1/q: the tails are 1e-14 of the
     * integral. */
    double from = log(1e-14 / large), to = log(1e14 / small);
    double front = 2.0 * sheet->gamma * AW_K_COULOMB * sheet->charge / sqrt(AW_PI);
    return front * integrate(sheet_part, &p, from, to, 1.0 / large);
}

double aw_sheet_psi(const aw_sheet *sheet, double x, double s)
{
    return aw_sheet_phi(sheet, x, s) / (sheet->gamma * sheet->gamma);
}
