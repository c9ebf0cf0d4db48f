/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "validation/circle.h"

#include <gsl/gsl_integration.h>
#include <math.h>

#include "src/base/units.h"

#define REACH 9.0 /* of the Gaussians, in sigma: 3e-18 of the peak */
#define STEP 0.05 /* of the trapezoidal rule along the orbit, in asinh(y/b) */
enum { FEWEST = 150, RADII = 32, ANGLES = 48 }; /* FEWEST: nodes along the orbit */

/* An observer and sources at one transverse place. */
typedef struct filament {
    double R, s, x, sigma;      /* [m] */
    double beta, rest;          /* rest = 1 - beta^2 */
    double across, x1, Y, b, w; /* x - x1; distance b = hypot(x - x1, Y); weight */
} filament;

static filament filament_of(const aw_solid *bunch, const aw_circle_place *p)
{
    const double rest = 1.0 / (bunch->gamma * bunch->gamma);
    return (filament){.R = p->R,
                      .s = p->s,
                      .x = p->x,
                      .sigma = bunch->sigma_s,
                      .beta = sqrt(1.0 - rest),
                      .rest = rest};
}

static void set_source(filament *f, double across, double Y, double weight)
{
    f->across = across;
    f->x1 = f->x - across;
    f->Y = Y;
    f->b = hypot(across, Y);
    f->w = weight;
}

/* Integrals over the emission, with lambda in units of 1/m: of lambda and lambda' times the
 * factors of phi, psi and A_n, and the slope of psi along x. */
typedef struct sums {
    double phi, psi, phi_s, psi_s, psi_x, normal_s;
} sums;

/* Where a source seen from y behind is now. */
static double place_now(const filament *f, double y, double *D)
{
    const double half = sin(0.5 * y / f->R);
    *D = sqrt(f->b * f->b + 4.0 * (f->R + f->x) * (f->R + f->x1) * half * half);
    return f->s - y + f->beta * *D;
}

/* asinh(y/b) where the place now is `want`, which falls with y. */
static double reach_of(const filament *f, double want)
{
    double low = -asinh((fabs(f->s) + fabs(want) + f->b) / f->b), high = asinh(3.0 * f->R / f->b);
    for (int i = 0; i < 40; ++i) {
        double D;
        const double middle = 0.5 * (low + high);
        if (place_now(f, f->b * sinh(middle), &D) > want)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

static void add_emission(const filament *f, double y, double weight, sums *to)
{
    double D;
    const double u = place_now(f, y, &D) / f->sigma, half = sin(0.5 * y / f->R);
    const double lambda = exp(-0.5 * u * u) / (sqrt(2.0 * AW_PI) * f->sigma);
    const double slope = -u / f->sigma * lambda;
    const double slow = f->rest + 2.0 * f->beta * f->beta * half * half;
    const double D_x = (f->across + 2.0 * (f->R + f->x1) * half * half) / D;
    const double w = weight / D;
    to->phi += w * lambda;
    to->psi += w * slow * lambda;
    to->phi_s += w * slope;
    to->psi_s += w * slow * slope;
    to->psi_x += w * slow * D_x * (f->beta * slope - lambda / D);
    to->normal_s += w * f->beta * sin(y / f->R) * slope;
}

/* With y = b sinh(v) the peak at y = 0 is smooth, and at both ends the Gaussian has vanished: the
 * trapezoidal rule converges faster than any power of the step. */
static void add_filament(const filament *f, sums *to)
{
    const double from = reach_of(f, REACH * f->sigma), until = reach_of(f, -REACH * f->sigma);
    const int n = FEWEST + (int)((until - from) / STEP);
    const double step = (until - from) / n;
    for (int i = 0; i <= n; ++i) {
        const double v = from + i * step;
        add_emission(f, f->b * sinh(v), f->w * step * f->b * cosh(v), to);
    }
}

static aw_circle_force force_of(const aw_solid *bunch, const filament *f, const sums *a)
{
    const double k = AW_K_COULOMB * bunch->charge, behind = f->x / (f->R + f->x);
    return (aw_circle_force){.phi = k * a->phi,
                             .psi = k * a->psi,
                             .F_s = k * (behind * a->phi_s - a->psi_s),
                             .F_s_eff = -k * a->psi_s,
                             .F_x_eff = k * (f->beta * behind * a->normal_s - a->psi_x)};
}

aw_circle_force aw_circle_line(const aw_solid *bunch, const aw_circle_place *place, double x1,
                               double Y)
{
    filament f = filament_of(bunch, place);
    sums a = {0};
    set_source(&f, place->x - x1, Y, 1.0);
    add_filament(&f, &a);
    return force_of(bunch, &f, &a);
}

static double normal(double x, double sigma)
{
    return exp(-0.5 * x * x / (sigma * sigma)) / (sqrt(2.0 * AW_PI) * sigma);
}

/* Transverse sizes: of the sources along x, and of the differences of heights. */
typedef struct across {
    double x, y;
} across;

/* The sources at the radius r in units of the sizes, all around the observer. Forces across grow as
 * 1/r there, and cancel between opposite places. */
static void add_ring(filament *f, const across *size, double r, double weight, sums *to)
{
    const double step = AW_PI / ANGLES; /* Y and -Y are alike */
    for (int i = 0; i < ANGLES; ++i) {
        const double angle = (i + 0.5) * step;
        const double x = r * size->x * cos(angle), Y = r * size->y * sin(angle);
        const double density = normal(f->x - x, size->x) * normal(Y, size->y);
        set_source(f, x, Y, 2.0 * step * r * size->x * size->y * weight * density);
        add_filament(f, to);
    }
}

/* The sources at both sides at the distance r, of a bunch with one transverse size. */
static void add_pair(filament *f, const across *size, double r, double weight, sums *to)
{
    for (int side = -1; side <= 1; side += 2) {
        const double x = size->x > 0.0 ? side * r * size->x : f->x;
        const double Y = size->x > 0.0 ? 0.0 : side * r * size->y;
        const double density =
            size->x > 0.0 ? normal(f->x - x, size->x) * size->x : normal(Y, size->y) * size->y;
        set_source(f, x, Y, weight * density);
        add_filament(f, to);
    }
}

aw_circle_force aw_circle_forces(const aw_solid *bunch, const aw_circle_place *place)
{
    const across size = {bunch->sigma_x, hypot(bunch->sigma_y, bunch->observers_y)};
    const int plane = size.x > 0.0 && size.y > 0.0;
    filament f = filament_of(bunch, place);
    sums a = {0};
    if (!plane && !(size.x > 0.0 || size.y > 0.0)) a.phi = a.psi = a.psi_s = a.psi_x = NAN;
    gsl_integration_glfixed_table *rule = gsl_integration_glfixed_table_alloc(RADII);
    if (!rule) a.phi = a.psi = a.psi_s = a.psi_x = NAN;
    const double off = size.x > 0.0 ? fabs(place->x) / size.x : 0.0, top = REACH + off;
    for (size_t i = 0; rule && i < RADII; ++i) {
        /* r = t^2: what is left of the logarithm at r = 0 is smooth enough */
        double t, w;
        gsl_integration_glfixed_point(0.0, sqrt(top), i, &t, &w, rule);
        if (plane)
            add_ring(&f, &size, t * t, 2.0 * t * w, &a);
        else if (!isnan(a.psi))
            add_pair(&f, &size, t * t, 2.0 * t * w, &a);
    }
    if (rule) gsl_integration_glfixed_table_free(rule);
    return force_of(bunch, &f, &a);
}
