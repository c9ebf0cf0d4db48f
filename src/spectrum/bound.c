/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/spectrum/bound.h"

#include <gsl/gsl_sf_erf.h>
#include <gsl/gsl_sf_expint.h>
#include <math.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/spectrum/transform.h"

/* Nodes of the integral over k_s, or over k_x of particles at one place; from k = 0 on in one panel
 * per factor e; and of the difference of two heights. Twice as many change the energies by less
 * than 1e-4. */
enum { ALONG = 600, HEIGHTS = 12 };
/* Of the integral over the arc of the last bend, and over the distance behind it. */
enum { ARC = 32, BEHIND = 60 };
/* Panels of four nodes: so long that the transform of a slice turns by up to PHASE on them. */
#define PHASE 2.0

typedef struct bunch {
    const aw_bound_params *p;
    aw_transform *transform;
    double c, s;             /* of the tilt */
    double most_u, most_w;   /* waves that the grid holds along and across its long axis [1/m] */
    double panel_s, panel_x; /* lengths of panels along and across the motion [1/m] */
    double height;           /* rms [m] */
} bunch;

/* |rho|^2 of the slice at a wave vector along and across the design tangent [C^2]. */
static double square_at(const bunch *b, double ks, double kx)
{
    double m[AW_TRANSFORMED][2];
    aw_transform_at(b->transform, ks * b->c + kx * b->s, kx * b->c - ks * b->s, m);
    return m[0][0] * m[0][0] + m[0][1] * m[0][1];
}

typedef struct range {
    double from, to;
} range;

/* Where |a + b k| <= most, within another range. */
static range narrow(range r, double a, double b, double most)
{
    if (fabs(b) * fmax(fabs(r.from), fabs(r.to)) < 1e-12 * most)
        return fabs(a) <= most ? r : (range){0.0, 0.0};
    const double one = (-most - a) / b, other = (most - a) / b;
    return (range){fmax(r.from, fmin(one, other)), fmin(r.to, fmax(one, other))};
}

/* Values of k_x that the grid holds with a k_s, and of k_s with a k_x. */
static range across(const bunch *b, double ks)
{
    const double most = b->most_u + b->most_w;
    return narrow(narrow((range){-most, most}, ks * b->c, b->s, b->most_u), -ks * b->s, b->c,
                  b->most_w);
}

static range along(const bunch *b, double kx)
{
    const double most = b->most_u + b->most_w;
    return narrow(narrow((range){-most, most}, kx * b->s, b->c, b->most_u), kx * b->c, -b->s,
                  b->most_w);
}

/* int f(k) dk over a range in equal panels, by Gauss and Legendre's rule with four nodes. */
static double over_range(range r, double panel, double (*f)(void *, double), void *context)
{
    static const double node[2] = {0.33998104358485626, 0.86113631159405258};
    static const double weight[2] = {0.65214515486254614, 0.34785484513745386};
    const double length = r.to - r.from;
    double sum = 0.0;
    if (!(length > 0.0)) return 0.0;
    const long panels = (long)ceil(length / panel);
    const double half = 0.5 * length / (double)panels;
    for (long i = 0; i < panels; ++i) {
        const double middle = r.from + (2.0 * (double)i + 1.0) * half;
        for (int j = 0; j < 2; ++j)
            sum += weight[j] *
                   (f(context, middle - node[j] * half) + f(context, middle + node[j] * half));
    }
    return half * sum;
}

/* int dk_y f exp(-(k_y h)^2) over both signs, for f = k_y^2/(k_y^2 + B^2)^2 and
 * f = 1/(k_y^2 + B^2)^2: pi/(2 B) and pi/(2 B^3) without a height; with q = h B and
 * E = exp(q^2) erfc(q), pi/(2 B) [E (1 + 2 q^2) - 2 q/sqrt(pi)] and
 * pi/(2 B^3) [E (1 - 2 q^2) + 2 q/sqrt(pi)]. */
static void over_height(double B, double height, double out[2])
{
    const double q = height * B, E = exp(q * q + gsl_sf_log_erfc(q)), r = 2.0 * q / sqrt(AW_PI);
    /* beyond q = 20 the bracket of the first cancels to 1/(q^3 sqrt(pi)), and nothing is left */
    out[0] = q < 20.0 ? 0.5 * AW_PI / B * (E * (1.0 + 2.0 * q * q) - r) : 0.0;
    out[1] = q < 20.0 ? 0.5 * AW_PI / (B * B * B) * (E * (1.0 - 2.0 * q * q) + r) : 0.0;
}

typedef struct wave {
    const bunch *b;
    double ks, kx, q; /* q = k_s/gamma */
} wave;

static double energy_at(void *context, double kx)
{
    const wave *w = context;
    const double gamma = w->b->p->gamma, beta2 = 1.0 - 1.0 / (gamma * gamma);
    double y[2];
    over_height(hypot(w->q, kx), w->b->height, y);
    return square_at(w->b, w->ks, kx) *
           ((1.0 + beta2) * (y[0] + kx * kx * y[1]) + w->q * w->q / (gamma * gamma) * y[1]);
}

/* The same over t of k_x = q sinh t. */
static double energy_near(void *context, double t)
{
    const wave *w = context;
    return w->q * cosh(t) * energy_at(context, w->q * sinh(t));
}

/* Over k_x: near 0 as 1/sqrt(k_x^2 + q^2), from two panels on in equal ones. */
static double over_width(const bunch *b, double ks)
{
    wave w = {.b = b, .ks = ks, .q = ks / b->p->gamma};
    const range all = across(b, ks);
    const double near = 2.0 * b->panel_x;
    const range inner = {fmax(all.from, -near), fmin(all.to, near)};
    double sum = over_range((range){all.from, fmin(all.to, -near)}, b->panel_x, energy_at, &w) +
                 over_range((range){fmax(all.from, near), all.to}, b->panel_x, energy_at, &w);
    if (inner.to > inner.from)
        sum += over_range((range){asinh(inner.from / w.q), asinh(inner.to / w.q)}, 1.0, energy_near,
                          &w);
    return sum;
}

/* Node and weight of int_0^most f(k) dk with k = most t^2, which takes a logarithm at 0. */
static double graded(double most, int i, double *weight)
{
    const double t = (i + 0.5) / ALONG;
    *weight = most * 2.0 * t / ALONG;
    return most * t * t;
}

static double whole(const bunch *b)
{
    const double most = b->most_u * fabs(b->c) + b->most_w * fabs(b->s);
    double part[ALONG], sum = 0.0;
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < ALONG; ++i) {
        double weight;
        const double ks = graded(most, i, &weight);
        part[i] = 2.0 * weight * over_width(b, ks); /* both signs of k_s */
    }
    for (int i = 0; i < ALONG; ++i) sum += part[i]; /* the same bits for any number of threads */
    return sum / (2.0 * AW_EPS0 * pow(2.0 * AW_PI, 3));
}

/* int_u^inf L(z) (2/z - 2 u/z^2) dz for the distances z along the motion alone [C^2/m]: of a wave
 * cos(k z) it is -2 Ci(k u) - 2 cos(k u) + 2 k u (pi/2 - Si(k u)). */
static double missing_along(const bunch *b)
{
    const double gamma = b->p->gamma, u = b->p->distance / (2.0 * gamma * gamma);
    const double most = along(b, 0.0).to;
    double sum = 0.0;
    for (int i = 0; i < ALONG; ++i) {
        double weight;
        const double ks = graded(most, i, &weight), a = ks * u;
        const double one = 2.0 * (-gsl_sf_Ci(a) - cos(a) + a * (0.5 * AW_PI - gsl_sf_Si(a)));
        sum += weight / AW_PI * square_at(b, ks, 0.0) * one;
    }
    return sum;
}

static double square_along(void *context, double ks)
{
    const wave *w = context;
    return square_at(w->b, ks, w->kx);
}

/* Waves of L(0, x): int dk_s/(2 pi) |rho(k_s, k_x)|^2 [C^2/m]. */
static double same_place(const bunch *b, double kx)
{
    wave w = {.b = b, .kx = kx};
    return over_range(along(b, kx), b->panel_s, square_along, &w) / (2.0 * AW_PI);
}

/* int L(0, r) ln(1 + (r/a)^2) dr, a = d/gamma, r^2 = x^2 + y^2 [C^2/m]: over x by
 * ln(1 + (x/a)^2) = int_0^inf (2/k) (1 - cos(k x)) exp(-a k) dk; over y, whose rms is sqrt(2)
 * heights, by the trapezoidal rule to five of them, of
 * ln(1 + (r/a)^2) = ln(1 + (y/a)^2) + ln(1 + (x/a')^2), a'^2 = a^2 + y^2. */
static double missing_across(const bunch *b)
{
    double lacking[ALONG], k[ALONG], weight[ALONG], sum = 0.0, all = 0.0;
    const double a = b->p->distance / b->p->gamma, zero = same_place(b, 0.0);
    const double most = b->most_u * fabs(b->s) + b->most_w * fabs(b->c);
    const int heights = b->height > 0.0 ? HEIGHTS : 0;
#pragma omp parallel for schedule(dynamic)
    for (int j = 0; j < ALONG; ++j) {
        k[j] = graded(most, j, &weight[j]);
        lacking[j] = 2.0 / k[j] * (zero - same_place(b, k[j]));
    }
    for (int i = -heights; i <= heights; ++i) {
        const double unit = heights ? 5.0 * i / HEIGHTS : 0.0; /* in rms differences */
        const double y = sqrt(2.0) * b->height * unit, far = hypot(a, y);
        double one = zero * log1p(y * y / (a * a));
        for (int j = 0; j < ALONG; ++j) one += weight[j] * lacking[j] * exp(-far * k[j]);
        /* beyond the waves of the grid the slice has none */
        one += 2.0 * zero * gsl_sf_expint_E1(fmin(far * most, 500.0));
        sum += exp(-0.5 * unit * unit) * one;
        all += exp(-0.5 * unit * unit);
    }
    return sum / all;
}

/* L(z) of the distances along the motion alone [C^2/m]. */
typedef struct profile {
    double k[ALONG], wave[ALONG];
} profile;

static double profile_at(const profile *p, double z)
{
    double sum = 0.0;
    for (int i = 0; i < ALONG; ++i) sum += p->wave[i] * cos(p->k[i] * z);
    return sum;
}

/* int_d^inf 4 R int L(z) dpsi/(R psi + 2 d)^2 dd [C^2/m], by the middle of steps in psi, and in
 * 1/d, whose double is the least that R psi + 2 d can be. */
static double weaker_in_arc(const bunch *b)
{
    const double R = b->p->radius, angle = b->p->angle, most = along(b, 0.0).to;
    const double u = 0.5 / (b->p->gamma * b->p->gamma); /* per distance */
    profile p;
    double sum = 0.0;
    if (!(R > 0.0 && angle > 0.0)) return 0.0;
    for (int i = 0; i < ALONG; ++i) {
        double weight;
        p.k[i] = graded(most, i, &weight);
        p.wave[i] = weight / AW_PI * square_at(b, p.k[i], 0.0);
    }
    for (int i = 0; i < BEHIND; ++i) {
        const double d = b->p->distance * BEHIND / (i + 0.5);
        for (int j = 0; j < ARC; ++j) {
            const double arc = R * angle * (j + 0.5) / ARC, from = arc + 2.0 * d;
            const double z = u * d + arc * arc * arc / (24.0 * R * R) * (arc + 4.0 * d) / (arc + d);
            /* 4 d(arc) dd/(arc + 2 d)^2, dd = d^2 d(1/d) */
            sum += profile_at(&p, z) * 4.0 * (R * angle / ARC) * d * d /
                   (from * from * b->p->distance * BEHIND);
        }
    }
    return sum;
}

aw_status aw_bound_of(const aw_bound_params *params, aw_bound *out)
{
    const aw_slice *slice = params->slice;
    const double c = cos(slice->tilt), s = sin(slice->tilt);
    const double length = params->ns * slice->hs, width = params->nx * slice->hx;
    bunch b = {.p = params,
               .c = c,
               .s = s,
               .most_u = AW_TRANSFORM_PHASE / slice->hs,
               .most_w = AW_TRANSFORM_PHASE / slice->hx,
               .panel_s = 2.0 * PHASE / (length * fabs(c) + width * fabs(s)),
               .panel_x = 2.0 * PHASE / (length * fabs(s) + width * fabs(c)),
               .height = sqrt(slice->height2)};
    const aw_status status = aw_transform_new(params->ns, params->nx, &b.transform);
    if (status != AW_OK) return status;
    aw_transform_load(b.transform, slice, params->single);
    *out = (aw_bound){.whole = whole(&b)};
    if (params->distance > 0.0)
        out->missing = AW_K_COULOMB * (missing_along(&b) - missing_across(&b) - weaker_in_arc(&b));
    aw_transform_free(b.transform);
    return AW_OK;
}
