/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "validation/plates.h"

#include <gsl/gsl_integration.h>
#include <gsl/gsl_sf_airy.h>
#include <math.h>

#include "src/base/units.h"
#include "validation/integral.h"

#define REACH 9.0 /* of the Gaussians, in sigma */
#define ERROR 1e-8

/* ----------------------------------------------------------------------------------- impedance */

#define TAIL 100.0 /* the u from which terms are asymptotic, within 1e-5 */
enum { WAVES = 300 };

/* The term of one mode, without its factor. The scaled functions keep their products finite; the
 * two parts of the imaginary one cancel to u^(-3). */
static aw_impedance mode(double u)
{
    const gsl_mode_t exact = GSL_PREC_DOUBLE;
    const double a = gsl_sf_airy_Ai_scaled(u, exact), b = gsl_sf_airy_Bi_scaled(u, exact);
    const double a1 = gsl_sf_airy_Ai_deriv_scaled(u, exact);
    const double b1 = gsl_sf_airy_Bi_deriv_scaled(u, exact);
    const double decay = exp(-4.0 / 3.0 * u * sqrt(u));
    return (aw_impedance){decay * (a1 * a1 + u * a * a), a1 * b1 + u * a * b};
}

aw_impedance aw_plates_impedance(double R, double h, double k)
{
    if (!(h < INFINITY)) return aw_free_impedance(R, k);
    const double step = 2.0 * AW_PI / h * cbrt(R / (2.0 * k * k)), Z0 = 1.0 / (AW_EPS0 * AW_C);
    const double front = 2.0 * AW_PI * Z0 / h * cbrt(2.0 / (R * k));
    aw_impedance sum = {0.0, 0.0};
    double x = 0.5 * step;
    for (; x * x < TAIL; x += step) {
        const aw_impedance term = mode(x * x);
        sum.re += term.re;
        sum.im += term.im;
    }
    /* Midpoints x, x + step, ..: the integral of x^(-5) from x - step/2 with its first correction,
     * unless the first term is itself far out. */
    const double from = x - 0.5 * step;
    double tail = 0.0;
    if (from > 2.0 * step)
        tail = 0.25 * pow(from, -4.0) / step - 5.0 / 24.0 * step * pow(from, -6.0);
    else
        for (int p = 0; p < 100; ++p) tail += pow(x + p * step, -5.0);
    sum.im += 3.0 / (16.0 * AW_PI) * tail;
    return (aw_impedance){front * sum.re, front * sum.im};
}

aw_impedance aw_free_impedance(double R, double k)
{
    const double Z0 = 1.0 / (AW_EPS0 * AW_C);
    const double size = Z0 / (2.0 * AW_PI) * tgamma(2.0 / 3.0) * cbrt(k / (3.0 * R * R));
    return (aw_impedance){size * cos(AW_PI / 6.0), -size * sin(AW_PI / 6.0)};
}

/* Waves and weights of the integral over k, with k = t^3 where Z ~ k^(1/3) = t. */
typedef struct wave {
    double k;
    aw_impedance Z; /* times the weight and the bunch's spectrum */
} wave;

/* @param spectrum  -ln of the bunch's factor, over (k sigma)^2
 * @return 0: no memory */
static int waves_of(const aw_line_bunch *bunch, const double Rh[2], double spectrum,
                    wave out[WAVES])
{
    const double top = cbrt(REACH / bunch->sigma);
    gsl_integration_glfixed_table *rule = gsl_integration_glfixed_table_alloc(WAVES);
    for (size_t i = 0; rule && i < WAVES; ++i) {
        double t, weight;
        gsl_integration_glfixed_point(0.0, top, i, &t, &weight, rule);
        const double k = t * t * t, ks = k * bunch->sigma;
        const aw_impedance Z = aw_plates_impedance(Rh[0], Rh[1], k);
        const double part = 3.0 * t * t * weight * exp(-spectrum * ks * ks);
        out[i] = (wave){k, {part * Z.re, part * Z.im}};
    }
    if (rule) gsl_integration_glfixed_table_free(rule);
    return rule != NULL;
}

void aw_plates_forces(const aw_line_bunch *bunch, double R, double h, const double *s, size_t n,
                      double *F)
{
    wave w[WAVES];
    const int ok = waves_of(bunch, (double[]){R, h}, 0.5, w);
    for (size_t i = 0; i < n; ++i) {
        F[i] = ok ? 0.0 : NAN;
        for (int j = 0; ok && j < WAVES; ++j)
            F[i] -= w[j].Z.re * cos(w[j].k * s[i]) + w[j].Z.im * sin(w[j].k * s[i]);
        F[i] *= bunch->charge * AW_C / AW_PI;
    }
}

double aw_plates_mean(const aw_line_bunch *bunch, double R, double h)
{
    wave w[WAVES];
    double sum = 0.0;
    if (!waves_of(bunch, (double[]){R, h}, 1.0, w)) return NAN;
    for (int j = 0; j < WAVES; ++j) sum -= w[j].Z.re;
    return sum * bunch->charge * AW_C / AW_PI;
}

/* -------------------------------------------------------------------------------------- images */

enum { PLAIN = 8, AVERAGED = 24, LINES = 8 };

/* Factor of the image n (of both sides) in a sum of n <= plain + AVERAGED, in place of 2 (-1)^n.
 * The partial sums from `plain` on are averaged in pairs, AVERAGED times, so that terms which
 * change slowly cancel to 2^-AVERAGED and less; a term then keeps the chance that of AVERAGED coins
 * at least n - plain show heads. */
static double image_factor(int n, int plain)
{
    double heads = ldexp(1.0, -AVERAGED), chance = 0.0;
    for (int coins = AVERAGED; coins >= n - plain && coins >= 0; --coins) {
        chance += heads;
        heads *= (double)coins / (AVERAGED - coins + 1);
    }
    return n % 2 ? -2.0 * chance : 2.0 * chance;
}

double aw_images_force(const aw_line_bunch *bunch, double R, double h, double s)
{
    const aw_solid line = {.charge = bunch->charge, .gamma = INFINITY, .sigma_s = bunch->sigma};
    const aw_circle_place place = {R, s, 0.0};
    double sum = aw_steady_force(bunch, R, s);
    for (int n = 1; n <= PLAIN + AVERAGED && h < INFINITY; ++n)
        sum += image_factor(n, PLAIN) * aw_circle_line(&line, &place, 0.0, n * h).F_s;
    return sum;
}

double aw_images_mean(const aw_line_bunch *bunch, double R, double h)
{
    /* As in aw_entrance_mean: that of the wider bunch at s = 0. */
    const aw_line_bunch wide = {.charge = bunch->charge, .sigma = sqrt(2.0) * bunch->sigma};
    return aw_images_force(&wide, R, h, 0.0);
}

static void add_force(aw_circle_force *to, double factor, aw_circle_force f)
{
    to->phi += factor * f.phi;
    to->psi += factor * f.psi;
    to->F_s += factor * f.F_s;
    to->F_s_eff += factor * f.F_s_eff;
    to->F_x_eff += factor * f.F_x_eff;
}

aw_circle_force aw_images_solid(const aw_solid *bunch, const aw_circle_place *place, double h)
{
    const double height = hypot(bunch->sigma_y, bunch->observers_y);
    aw_circle_force sum = aw_circle_forces(bunch, place);
    gsl_integration_fixed_workspace *rule =
        gsl_integration_fixed_alloc(gsl_integration_fixed_hermite, LINES, 0.0, 0.5, 0.0, 0.0);
    if (!rule) sum.psi = sum.F_s = sum.F_x_eff = NAN;
    for (int n = 1; n <= PLAIN + AVERAGED && h < INFINITY && rule; ++n)
        for (int i = 0; i < LINES; ++i)
            for (int j = 0; j < LINES; ++j) {
                const double *node = gsl_integration_fixed_nodes(rule);
                const double *weight = gsl_integration_fixed_weights(rule);
                const double x1 = bunch->sigma_x * node[i], Y = n * h + height * node[j];
                add_force(&sum, image_factor(n, PLAIN) * weight[i] * weight[j] / (2.0 * AW_PI),
                          aw_circle_line(bunch, place, x1, Y));
            }
    if (rule) gsl_integration_fixed_free(rule);
    return sum;
}

/* ------------------------------------------------------------------------------------ entrance */

typedef struct transient {
    const aw_line_bunch *bunch;
    double R, d, s, Y, slow, beta; /* slow = 1 - beta */
    double unit;                   /* of y = unit sinh(v) */
} transient;

/* The source y behind: less = y - rho, and the cosines rho^.t and t'.t. */
typedef struct emission {
    double rho, less, along, turn;
} emission;

static emission emission_of(const transient *p, double y)
{
    const double arc = fmin(y, p->d), line = y - arc, angle = arc / p->R;
    const double half = 2.0 * p->R * sin(0.5 * angle), side = p->R * sin(angle);
    const double rho = sqrt(half * half + line * (line + 2.0 * side) + p->Y * p->Y);
    const double along = (side + line * cos(angle)) / rho;
    return (emission){rho, y - rho, along, cos(angle)};
}

/* The integrand of E_s in v. */
static double retarded(double v, void *params)
{
    const transient *p = params;
    const double y = p->unit * sinh(v);
    const emission e = emission_of(p, y);
    const double u = p->s - e.less - p->slow * e.rho;
    const double push = aw_line_density(p->bunch, u) * e.along / (e.rho * e.rho);
    const double rate = p->beta * p->beta * e.turn - p->beta * e.along;
    return p->unit * cosh(v) * (push + aw_line_slope(p->bunch, u) * rate / e.rho);
}

/* The same, less that of a straight line, of the bunch's own field; y = exp(v). */
static double own_part(double v, void *params)
{
    const transient *p = params;
    const double y = exp(v), u = p->s - p->slow * y, along = aw_line_density(p->bunch, u) / y;
    const emission e = emission_of(p, y);
    const double w = p->s - e.less - p->slow * e.rho;
    const double rate = p->beta * p->beta * e.turn - p->beta * e.along;
    return aw_line_density(p->bunch, w) * e.along * y / (e.rho * e.rho) +
           aw_line_slope(p->bunch, w) * rate * y / e.rho - along +
           aw_line_slope(p->bunch, u) * p->beta * p->slow;
}

/* How far behind a source is seen where it is now at s = `want`. */
static double emitted_at(const transient *p, double want)
{
    const double far = 4.0 * (fabs(p->s) + fabs(want) + p->Y) / p->slow;
    double low = -(fabs(p->s) + fabs(want) + p->Y), high = far;
    for (int i = 0; i < 100; ++i) {
        const double y = fabs(low) + p->Y < 1e-2 * high ? 0.1 * high : 0.5 * (low + high);
        const emission e = emission_of(p, y);
        if (p->s - e.less - p->slow * e.rho > want)
            low = y;
        else
            high = y;
    }
    return 0.5 * (low + high);
}

/* E_s over Q/(4 pi eps0), by the image at the height p.Y, or the bunch's own field (0). */
static double image_field(transient p)
{
    const double scale = ERROR * pow(p.bunch->sigma, -4.0 / 3.0) * pow(p.R, -2.0 / 3.0);
    const double reach = REACH * p.bunch->sigma;
    if (p.Y == 0.0) {
        /* The straight line's own reach; below a sigma nothing differs from it. */
        const double near = log(p.bunch->sigma), far = log(2.0 * reach / p.slow);
        const double edge = fmin(fmax(log(p.d), near), far);
        return aw_integral(own_part, &p, near, edge, scale) +
               aw_integral(own_part, &p, edge, far, scale);
    }
    p.unit = p.Y;
    const double from = asinh(emitted_at(&p, reach) / p.unit);
    const double until = asinh(emitted_at(&p, -reach) / p.unit);
    const double edge = fmin(fmax(asinh(p.d / p.unit), from), until);
    return aw_integral(retarded, &p, from, edge, scale) +
           aw_integral(retarded, &p, edge, until, scale);
}

double aw_images_entrance(const aw_line_bunch *bunch, const aw_entrance *bend, double d, double s)
{
    const double rest = 1.0 / (bend->gamma * bend->gamma), beta = sqrt(1.0 - rest);
    transient p = {
        .bunch = bunch, .R = bend->R, .d = d, .s = s, .slow = rest / (1.0 + beta), .beta = beta};
    /* Up to the height d^2/(12^(1/2) R) images are seen at a slippage of zero from inside the bend;
     * there they change within an image, as a bunch far in the bend is a transient for them. */
    const double edge = 2.0 * d * d / (sqrt(12.0) * bend->R * bend->h);
    const int plain = PLAIN + (int)fmin(edge, 1000.0);
    double sum = image_field(p);
    for (int n = 1; n <= plain + AVERAGED && bend->h < INFINITY; ++n) {
        p.Y = n * bend->h;
        sum += image_factor(n, plain) * image_field(p);
    }
    return AW_K_COULOMB * bunch->charge * sum;
}
