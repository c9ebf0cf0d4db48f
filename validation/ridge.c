/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Potentials as integrals of an exactly mapped density over the past light cone. */
#include "validation/ridge.h"

#include <gsl/gsl_integration.h>
#include <math.h>

#include "src/base/units.h"
#include "validation/track.h"

#define REACH 6.0      /* of the Gaussians, in sigma */
#define MARGIN 1.0     /* what second order may displace at that reach, in sigma */
#define STEP 1e-4      /* of the differences in the map's tangent, in sigma */
#define CLOSE 1e-5     /* last correction of an initial place, in sigma; the error is its square */
#define CORRECTIONS 30 /* at most; three or four are usual */
#define FEWEST 16      /* nodes of a circle: one much smaller than the bunch sees a gradient */

/* ------------------------------------------------------------------------- the map of electrons */

/* Electrons of one fan at one time. Initial places u are in sigma_s and sigma_x; places in the lab
 * are relative to that of u = 0. */
typedef struct fan {
    const aw_referee_beam *b;
    double ct, slope;        /* retarded time; x' = slope where x = 0 */
    double z, x;             /* of u = 0 */
    double map[4], inv[4];   /* tangent of the map at u = 0, [m per sigma], and its inverse */
    double widest, thinnest; /* rms of the bunch */
} fan;

/* Of one electron: place, direction, v/c and 1 - v/c. */
typedef struct spot {
    double z, x, theta, beta, slow;
} spot;

static aw_electron electron_of(const aw_referee_beam *b, double slope, const double u[2])
{
    const double s = b->sigma_s * u[0], x = b->sigma_x * u[1];
    return (aw_electron){s, x, b->slope * x + slope, b->chirp * s};
}

/* Upstream all move at the mean velocity; their current is that of their own energies, as in the
 * first slice of a run. */
static spot spot_of(const fan *f, const double u[2])
{
    const aw_electron e = electron_of(f->b, f->slope, u);
    aw_track path;
    if (f->ct <= 0.0) {
        aw_piece mean, own;
        aw_piece_speed(&mean, f->b->gamma);
        aw_piece_speed(&own, f->b->gamma * (1.0 + e.delta));
        return (spot){e.s + mean.beta * f->ct, e.x, 0.0, own.beta, own.slow};
    }
    if (!aw_track_trace(f->b, &e, &path)) return (spot){NAN, NAN, NAN, NAN, NAN};
    const aw_arc at = aw_track_at(&path, f->ct);
    return (spot){at.z, at.x, at.theta, path.piece[1].beta, path.piece[1].slow};
}

/* The tangent of the map at u, by differences; `at` is the place of u. */
static void tangent(const fan *f, const double u[2], const spot *at, double map[4])
{
    const spot ds = spot_of(f, (double[]){u[0] + STEP, u[1]});
    const spot dx = spot_of(f, (double[]){u[0], u[1] + STEP});
    map[0] = (ds.z - at->z) / STEP;
    map[1] = (dx.z - at->z) / STEP;
    map[2] = (ds.x - at->x) / STEP;
    map[3] = (dx.x - at->x) / STEP;
}

static double determinant(const double m[4]) { return m[0] * m[3] - m[1] * m[2]; }

static void invert(const double m[4], double inv[4])
{
    const double d = determinant(m);
    inv[0] = m[3] / d;
    inv[1] = -m[1] / d;
    inv[2] = -m[2] / d;
    inv[3] = m[0] / d;
}

static void begin(fan *f, double ct)
{
    static const double middle[2] = {0.0, 0.0};
    f->ct = ct;
    const spot at = spot_of(f, middle);
    f->z = at.z;
    f->x = at.x;
    tangent(f, middle, &at, f->map);
    invert(f->map, f->inv);
    const double *m = f->map;
    const double square = m[0] * m[0] + m[1] * m[1] + m[2] * m[2] + m[3] * m[3];
    const double area = fabs(determinant(m));
    const double sum = sqrt(square + 2.0 * area), apart = sqrt(fmax(square - 2.0 * area, 0.0));
    f->widest = 0.5 * (sum + apart);
    f->thinnest = area / f->widest;
}

/* Charge per area at one place, in units of the bunch's [1/m^2], and its velocity. */
typedef struct density {
    double value;
    spot at;
} density;

/* By Newton's method with the tangent of the place before; u, inv: guesses, and then the result. */
static density density_at(const fan *f, double z, double x, double u[2], double inv[4])
{
    spot at = spot_of(f, u);
    double step = INFINITY, map[4];
    for (int i = 0; step > CLOSE && i < CORRECTIONS; ++i) {
        const double dz = z - (at.z - f->z), dx = x - (at.x - f->x);
        const double ds = inv[0] * dz + inv[1] * dx, dw = inv[2] * dz + inv[3] * dx;
        u[0] += ds;
        u[1] += dw;
        step = hypot(ds, dw);
        at = spot_of(f, u);
    }
    tangent(f, u, &at, map);
    invert(map, inv);
    if (!(step <= CLOSE)) return (density){NAN, at};
    const double gauss = exp(-0.5 * (u[0] * u[0] + u[1] * u[1])) / (2.0 * AW_PI);
    return (density){gauss / fabs(determinant(map)), at};
}

/* ----------------------------------------------------------------------------------- one circle */

/* A circle about the field point, as seen from the middle of a fan: `near` is the distance of its
 * nearest point along the line of sight, whose direction is (c, s). */
typedef struct circle {
    double R, near, c, s;
    double half; /* the arc that may meet the bunch, about the line of sight: +-half [rad] */
} circle;

static circle circle_of(const fan *f, const aw_referee_event *e, double R)
{
    const double dz = f->z - e->z, dx = f->x - e->x, D = hypot(dz, dx);
    const double size = (REACH + MARGIN) * f->widest;
    circle o = {.R = R, .near = R - D, .c = D > 0.0 ? dz / D : 1.0, .s = D > 0.0 ? dx / D : 0.0};
    const double square = (size - o.near) * (size + o.near);
    if (square <= 0.0)
        o.half = 0.0;
    else if (square >= 4.0 * R * D)
        o.half = AW_PI;
    else
        o.half = 2.0 * asin(sqrt(square / (4.0 * R * D)));
    return o;
}

/* The point at an angle from the line of sight, from the middle of the bunch. */
static void circle_point(const circle *o, double angle, double *z, double *x)
{
    const double half = sin(0.5 * angle);
    const double sight = o->near - 2.0 * o->R * half * half, side = o->R * sin(angle);
    *z = o->c * sight - o->s * side;
    *x = o->s * sight + o->c * side;
}

/* How many sigma a circle crosses per radian, at most. */
static double crossing(const fan *f, const circle *o)
{
    double most = 0.0;
    if (o->half > 0.3) return o->R / f->thinnest;
    for (int i = -2; i <= 2; ++i) {
        const double angle = 0.5 * i * o->half, c = cos(angle), s = sin(angle);
        const double z = -o->c * s - o->s * c, x = -o->s * s + o->c * c;
        most = fmax(most, hypot(f->inv[0] * z + f->inv[1] * x, f->inv[2] * z + f->inv[3] * x));
    }
    return o->R * most;
}

/* Add the integral over the angle, by the midpoint rule: at the ends of an arc the density has
 * vanished, or the circle closes. */
static void add_circle(const aw_ridge *r, const fan *f, const aw_referee_event *e,
                       const double node[2], aw_referee_potential *sum)
{
    const circle o = circle_of(f, e, node[0]);
    if (isnan(o.near)) sum->phi = NAN;
    if (!(o.half > 0.0)) return;
    const int n = FEWEST + (int)(2.0 * o.half * crossing(f, &o) / r->arc);
    const double reach = REACH + MARGIN, step = 2.0 * o.half / n;
    double u[2] = {0.0, 0.0}, inv[4], z, x;
    int found = 0;
    for (int i = 0; i < 4; ++i) inv[i] = f->inv[i];
    for (int i = 0; i < n; ++i) {
        circle_point(&o, (i + 0.5) * step - o.half, &z, &x);
        const double a = f->inv[0] * z + f->inv[1] * x, b = f->inv[2] * z + f->inv[3] * x;
        if (a * a + b * b > reach * reach) continue;
        if (!found) {
            u[0] = a;
            u[1] = b;
        }
        const density d = density_at(f, z, x, u, inv);
        const double charge = node[1] * step * d.value;
        found = 1;
        sum->phi += charge;
        sum->psi +=
            charge * aw_track_slowness(&r->beam, e->theta, d.at.beta, d.at.slow, d.at.theta);
    }
}

/* ------------------------------------------------------------------------------- the light cone */

enum { BREAKS = AW_REFEREE_ELEMENTS + 2, MOST = 32 };

/* Distances at which the past of the bunch is not smooth: its middle is at an edge, or at ct = 0.
 * @return their number; ascending, the last is the cut */
static int breaks_of(const aw_ridge *r, double ct, double at[BREAKS])
{
    double S = 0.0;
    int n = 0;
    aw_piece v;
    aw_piece_speed(&v, r->beam.gamma);
    for (int k = 0; k < r->beam.elements; ++k) S += r->beam.element[k].length;
    for (int k = r->beam.elements - 1; k >= -1; --k) {
        const double R = ct - S / v.beta;
        if (R > 0.0 && R < r->cut) at[n++] = R;
        if (k >= 0) S -= r->beam.element[k].length;
    }
    at[n++] = r->cut;
    return n;
}

/* Nodes and weights: in radius on [-1, 1]; in x' - slope x [rad], of its normal distribution. */
typedef struct rules {
    double radius[MOST], share[MOST], fan[MOST], part[MOST];
} rules;

/* @return 0: no memory, or too many nodes */
static int rules_of(const aw_ridge *r, rules *out)
{
    if (r->radii > MOST || r->fans > MOST) return 0;
    gsl_integration_fixed_workspace *gauss = gsl_integration_fixed_alloc(
        gsl_integration_fixed_legendre, (size_t)r->radii, -1.0, 1.0, 0.0, 0.0);
    gsl_integration_fixed_workspace *hermite = gsl_integration_fixed_alloc(
        gsl_integration_fixed_hermite, (size_t)r->fans, 0.0, 0.5, 0.0, 0.0);
    const int ok = gauss && hermite;
    for (int i = 0; ok && i < r->radii; ++i) {
        out->radius[i] = gsl_integration_fixed_nodes(gauss)[i];
        out->share[i] = gsl_integration_fixed_weights(gauss)[i];
    }
    for (int i = 0; ok && i < r->fans; ++i) {
        out->fan[i] = r->beam.divergence * gsl_integration_fixed_nodes(hermite)[i];
        out->part[i] = gsl_integration_fixed_weights(hermite)[i] / sqrt(2.0 * AW_PI);
    }
    if (hermite) gsl_integration_fixed_free(hermite);
    if (gauss) gsl_integration_fixed_free(gauss);
    return ok;
}

/* A panel of radii, over all fans. */
static void add_panel(const aw_ridge *r, const rules *rule, const aw_referee_event *e,
                      const double ends[2], aw_referee_potential *sum)
{
    const double middle = 0.5 * (ends[0] + ends[1]), half = 0.5 * (ends[1] - ends[0]);
    for (int i = 0; i < r->radii; ++i) {
        const double R = middle + half * rule->radius[i];
        for (int k = 0; k < r->fans; ++k) {
            const double node[2] = {R, half * rule->share[i] * rule->part[k]};
            fan f = {.b = &r->beam, .slope = rule->fan[k]};
            begin(&f, e->ct - R);
            add_circle(r, &f, e, node, sum);
        }
    }
}

aw_referee_potential aw_ridge_potential(const aw_ridge *r, const aw_referee_event *e)
{
    const double unit = AW_K_COULOMB * r->beam.charge;
    aw_referee_potential sum = {0.0, 0.0, 0.0, 0.0};
    double at[BREAKS], ends[2] = {0.0, 0.0};
    rules rule;
    if (!rules_of(r, &rule)) return (aw_referee_potential){NAN, NAN, NAN, NAN};
    fan now = {.b = &r->beam};
    begin(&now, e->ct);
    const int n = breaks_of(r, e->ct, at);
    double length = 0.5 * now.thinnest / r->growth;
    for (int k = 0; k < n;) {
        length *= r->growth;
        ends[0] = ends[1];
        ends[1] = fmin(ends[0] + length, at[k]);
        add_panel(r, &rule, e, ends, &sum);
        if (ends[1] == at[k]) { /* slippage grows fast where the past enters a bend */
            length = fmin(length, 0.1 * at[k]);
            ++k;
        }
    }
    return (aw_referee_potential){unit * sum.phi, 0.0, 0.0, unit * sum.psi};
}

/* --------------------------------------------------------------------------------------- forces */

/* Fourth-order difference of values at -2, -1, 1 and 2 steps. */
static double slope_of(const double f[4], double step)
{
    return (8.0 * (f[2] - f[1]) - (f[3] - f[0])) / (12.0 * step);
}

static aw_ridge_force force_at(const aw_ridge *r, const aw_referee_place *p)
{
    static const double offset[4] = {-2.0, -1.0, 1.0, 2.0};
    const aw_arc orbit = aw_track_orbit(&r->beam, p->S);
    const double c = cos(orbit.theta), s = sin(orbit.theta);
    /* The path of the field point, whose velocity is that along the design orbit. */
    const aw_arc own = {orbit.z - p->x * s, orbit.x + p->x * c, orbit.theta,
                        orbit.kappa / (1.0 + orbit.kappa * p->x)};
    double psi[4], phi[4];
    aw_piece v;
    aw_piece_speed(&v, r->beam.gamma);
    const aw_referee_event here = {p->ct, own.z, own.x, own.theta};
    const aw_referee_potential now = aw_ridge_potential(r, &here);
    for (int i = 0; i < 4; ++i) {
        const double later = offset[i] * r->along, on = offset[i] * r->path;
        const aw_arc then = aw_arc_after(&own, v.beta * on);
        const aw_referee_event fixed = {p->ct + later, own.z, own.x, own.theta};
        const aw_referee_event moved = {p->ct + on, then.z, then.x, then.theta};
        psi[i] = aw_ridge_potential(r, &fixed).psi;
        phi[i] = aw_ridge_potential(r, &moved).phi;
    }
    const double effective = slope_of(psi, r->along) / v.beta;
    return (aw_ridge_force){now.phi, now.psi, effective - slope_of(phi, r->path) / v.beta,
                            effective};
}

void aw_ridge_forces(const aw_ridge *r, const aw_referee_place *place, size_t n,
                     aw_ridge_force *out)
{
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < n; ++i) out[i] = force_at(r, &place[i]);
}

aw_ridge aw_ridge_default(const aw_referee_beam *beam, double cut)
{
    return (aw_ridge){.beam = *beam,
                      .cut = cut,
                      .growth = 2.0,
                      .radii = 10,
                      .arc = 1.1,
                      .fans = beam->divergence > 0.0 ? 2 : 1,
                      .along = 2e-6,
                      .path = 1e-3};
}

void aw_ridge_electron(const aw_referee_beam *b, double ct, const double initial[2], double *z,
                       double *x)
{
    const fan f = {.b = b, .ct = ct};
    const spot at = spot_of(&f, (double[]){initial[0] / b->sigma_s, initial[1] / b->sigma_x});
    *z = at.z;
    *x = at.x;
}
