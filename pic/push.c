/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transport through the regions of the lattice, kicks, and rigid motion. */
#include "pic/push.h"

#include <math.h>
#include <stdint.h>

#include "pic/pieces.h"
#include "src/base/log.h"
#include "src/base/units.h"

/* Largest betatron phase of one substep in a quadrupole [rad]. */
#define AW_PHASE 0.02

/* A particle in flight: place, direction, |p|. Paths are measured in metres, not seconds, since
 * external magnetic fields keep the speed. */
typedef struct aw_flight {
    double z, x, uz, ux, p;
} aw_flight;

typedef enum aw_trouble { FINE = 0, TURNED, NONFINITE } aw_trouble;

/* First particle of each kind of trouble; SIZE_MAX where there is none. */
typedef struct aw_casualty {
    size_t turned, nonfinite;
} aw_casualty;

static double ahead(const aw_region_field *r, double z, double x)
{
    return (z - r->exit_z) * r->exit_nz + (x - r->exit_x) * r->exit_nx;
}

static void fly(aw_flight *f, double path)
{
    f->z += path * f->uz;
    f->x += path * f->ux;
}

/* sin(a); a step's turn is mostly so small that the series is exact (next term a^7/5040) and
 * several times faster than the library. */
static double sine(double a)
{
    double square = a * a;
    if (square > 2.5e-5) return sin(a);
    return a - a * square * (1.0 / 6.0 - square / 120.0);
}

/* Turn the direction by -angle (towards -x). */
static void turn(aw_flight *f, double angle)
{
    double half = sine(0.5 * angle), c = 1.0 - 2.0 * half * half, s = sine(angle);
    double uz = f->uz * c + f->ux * s;
    f->ux = f->ux * c - f->uz * s;
    f->uz = uz;
}

/* Along a circle of signed curvature k: half the turn, the chord, the other half. */
static void arc(aw_flight *f, double k, double path)
{
    double half = 0.5 * k * path;
    turn(f, half);
    fly(f, k == 0.0 ? path : 2.0 * sine(half) / k);
    turn(f, half);
}

/* Path to the exit plane, INFINITY where the motion never meets it. `gap` > 0 is the distance to
 * the plane, k the curvature of the particle's circle. On the circle, with psi the turn,
 *   gap = (a sin psi + b (1 - cos psi))/k,  a = u.n, b = the component turning into n,
 * a quadratic in t = tan(psi/2); its root of the smaller modulus is the first crossing ahead. In
 * this form nothing cancels, and k -> 0 gives gap/a. */
static double path_to_plane(const aw_region_field *r, const aw_flight *f, double k, double gap)
{
    double a = f->uz * r->exit_nz + f->ux * r->exit_nx;
    double b = f->ux * r->exit_nz - f->uz * r->exit_nx;
    double discriminant = a * a + k * gap * (2.0 * b - k * gap);
    if (!(a > AW_GRAZING) || !(discriminant >= 0.0)) return INFINITY;
    if (k == 0.0) return gap / a;
    return 2.0 * atan(k * gap / (a + sqrt(discriminant))) / k;
}

/* Quadrupole: position-extended Forest-Ruth-like step of a path h (see push.h). `g` is p_ref k1/p,
 * the curvature per metre of offset. */
static void quadrupole_step(const aw_region_field *r, aw_flight *f, double g, double h)
{
    const double xi = 0.1786178958448091, lambda = -0.2123418310626054, chi = -0.06626458266981849;
    const double drift[5] = {xi, chi, 1.0 - 2.0 * (chi + xi), chi, xi};
    const double kick[4] = {0.5 * (1.0 - 2.0 * lambda), lambda, lambda, 0.5 * (1.0 - 2.0 * lambda)};
    for (int i = 0; i < 4; ++i) {
        double offset;
        fly(f, drift[i] * h);
        offset = (f->x - r->axis_x) * r->ct - (f->z - r->axis_z) * r->st;
        turn(f, g * offset * kick[i] * h);
    }
    fly(f, drift[4] * h);
}

/* Shorten the substep h, which oversteps the exit plane, until it ends on it. The end depends
 * smoothly on h with slope u.n, so Newton steps from `f` converge in two or three. */
static double substep_to_plane(const aw_region_field *r, const aw_flight *f, double g, double h)
{
    double path = h;
    for (int i = 0; i < 8; ++i) {
        aw_flight end = *f;
        double gap, slope;
        quadrupole_step(r, &end, g, path);
        gap = -ahead(r, end.z, end.x);
        slope = end.uz * r->exit_nz + end.ux * r->exit_nx;
        path += gap / slope;
        if (fabs(gap) < 1e-16) break;
    }
    return fmin(fmax(path, 0.0), h);
}

/* Move through a quadrupole for at most `path`; *crossed: the exit plane was met.
 * @return path not used */
static double through_quadrupole(const aw_region_field *r, double p_ref, aw_flight *f, double path,
                                 int *crossed)
{
    double g = r->k1 * p_ref / f->p, longest = AW_PHASE / sqrt(fabs(g));
    *crossed = 0;
    while (path > 0.0) {
        double h = fmin(path, longest);
        aw_flight end = *f;
        quadrupole_step(r, &end, g, h);
        if (!(end.uz * r->ct + end.ux * r->st > AW_GRAZING)) return path; /* turned: see fly_on */
        if (ahead(r, end.z, end.x) >= 0.0) {
            h = substep_to_plane(r, f, g, h);
            quadrupole_step(r, f, g, h);
            *crossed = 1;
            return path - h;
        }
        *f = end;
        path -= h;
    }
    return 0.0;
}

/* Carry one particle along `path`, from region to region. */
static aw_trouble fly_on(const aw_lattice *lat, aw_flight *f, int32_t *element, double path)
{
    while (path > 0.0) {
        const aw_region_field *r = &lat->region[*element];
        int last = *element + 1 >= lat->regions, crossed = 0;
        double gap = -ahead(r, f->z, f->x);
        if (last && !(f->uz * r->ct + f->ux * r->st > AW_GRAZING)) return TURNED;
        if (!last && gap <= 0.0) { /* on the plane, or placed beyond it */
            ++*element;
            continue;
        }
        if (r->kind == AW_QUADRUPOLE) {
            path = through_quadrupole(r, lat->p_ref, f, path, &crossed);
            if (path > 0.0 && !crossed) return TURNED;
        } else {
            double k = r->kappa * lat->p_ref / f->p;
            double reach = last ? path : path_to_plane(r, f, k, gap), here = fmin(reach, path);
            if (!(reach < INFINITY)) return TURNED;
            if (r->kind == AW_BEND)
                arc(f, k, here);
            else
                fly(f, here);
            crossed = here < path || reach == path;
            path -= here;
        }
        if (crossed && !last) ++*element;
    }
    return FINE;
}

static int finite4(const aw_particles *p, size_t i)
{
    return isfinite(p->z[i]) && isfinite(p->x[i]) && isfinite(p->pz[i]) && isfinite(p->px[i]);
}

static aw_flight take_off(const aw_particles *p, size_t i)
{
    double momentum = sqrt(p->pz[i] * p->pz[i] + p->px[i] * p->px[i]);
    return (aw_flight){p->z[i], p->x[i], p->pz[i] / momentum, p->px[i] / momentum, momentum};
}

/* Write a flight back. A straight flight leaves the momentum's bits alone, for the same rounding
 * at each of many steps would add up; after a turn the direction's length is set to 1 again. */
static void land(const aw_flight *f, aw_particles *p, size_t i)
{
    double momentum = f->p * (1.5 - 0.5 * (f->uz * f->uz + f->ux * f->ux));
    p->z[i] = f->z;
    p->x[i] = f->x;
    if (f->uz == p->pz[i] / f->p && f->ux == p->px[i] / f->p) return;
    p->pz[i] = momentum * f->uz;
    p->px[i] = momentum * f->ux;
}

static aw_trouble transport_one(const aw_lattice *lat, aw_particles *p, size_t i, double cdt)
{
    aw_flight f = take_off(p, i);
    aw_trouble trouble;
    if (!finite4(p, i)) return NONFINITE;
    if (!(f.p > 0.0)) return TURNED;
    trouble = fly_on(lat, &f, &p->element[i], cdt * f.p / sqrt(1.0 + f.p * f.p));
    land(&f, p, i);
    return trouble == FINE && !finite4(p, i) ? NONFINITE : trouble;
}

static aw_status casualty_report(const aw_lattice *lat, const aw_particles *p, aw_casualty lost,
                                 const char *what)
{
    size_t i = lost.nonfinite != SIZE_MAX ? lost.nonfinite : lost.turned;
    const aw_region_field *r;
    if (i == SIZE_MAX) return AW_OK;
    if (lost.nonfinite != SIZE_MAX)
        return aw_error(AW_ERR_NONFINITE,
                        "%s: particle %zu at z = %g m, x = %g m has gamma beta = "
                        "(%g, %g): not finite (a force was not, or the step is far too long)",
                        what, p->first + i, p->z[i], p->x[i], p->pz[i], p->px[i]);
    r = &lat->region[p->element[i]];
    return aw_error(AW_ERR_RANGE,
                    "%s: particle %zu at z = %g m, x = %g m with gamma beta = (%g, %g) "
                    "stopped or turned back between S = %g m and %g m, and cannot reach the end",
                    what, p->first + i, p->z[i], p->x[i], p->pz[i], p->px[i], r->S,
                    r->S + r->length);
}

/* Whether the block lies in one region, and one of those that blocks know. */
static int common_region(const aw_lattice *lat, const int32_t *element, size_t n,
                         aw_lanes_region *out)
{
    const aw_region_field *r = &lat->region[element[0]];
    int32_t others = 0;
#pragma omp simd reduction(| : others)
    for (size_t l = 0; l < n; ++l) others |= element[l] ^ element[0];
    *out = (aw_lanes_region){.field = r,
                             .bend = r->kind == AW_BEND ? r->kappa * lat->p_ref : 0.0,
                             .last = element[0] + 1 >= lat->regions};
    return others == 0 && (r->kind == AW_DRIFT || (r->kind == AW_BEND && !out->last));
}

/* Particles that stay in the region go all together, the others one by one. */
static void transport_block(const aw_lanes *lanes, const aw_lattice *lat, aw_particles *p, size_t i,
                            size_t n, double cdt, aw_casualty *lost)
{
    aw_lanes_region region;
    uint64_t left = ~(uint64_t)0 >> (64 - n);
    if (common_region(lat, p->element + i, n, &region)) left = lanes->fly(p, i, n, &region, cdt);
    for (size_t l = i; left; ++l, left >>= 1) {
        if (!(left & 1)) continue;
        const aw_trouble trouble = transport_one(lat, p, l, cdt);
        if (trouble == TURNED && l < lost->turned) lost->turned = l;
        if (trouble == NONFINITE && l < lost->nonfinite) lost->nonfinite = l;
    }
}

aw_status aw_push_kick_transport(const aw_lattice *lattice, aw_particles *p, const double *Fz,
                                 const double *Fx, double kick, double cdt)
{
    const aw_lanes *lanes = aw_lanes_find(NULL);
    const double factor = aw_push_kick_factor(kick);
    size_t turned = SIZE_MAX, nonfinite = SIZE_MAX, kicked = SIZE_MAX;
    if (!(cdt >= 0.0) || !isfinite(cdt))
        return aw_error(AW_ERR_ARG, "transport: c dt = %g m (expected >= 0)", cdt);
#pragma omp parallel for schedule(static) reduction(min : turned, nonfinite, kicked)
    for (int k = 0; k < AW_PIECES; ++k) {
        const size_t end = aw_piece_begin(p->n, AW_PIECES, k + 1);
        aw_casualty lost = {SIZE_MAX, SIZE_MAX};
        for (size_t i = aw_piece_begin(p->n, AW_PIECES, k); i < end; i += AW_BLOCK) {
            const size_t n = aw_block_size(i, end);
            if (factor != 0.0 && lanes->kick(p, i, n, factor, Fz + i, Fx + i)) {
                const size_t first = aw_push_first_lost(p, i, n);
                if (first < kicked) kicked = first;
                break; /* the message is to say where the particle met the force */
            }
            transport_block(lanes, lattice, p, i, n, cdt, &lost);
        }
        if (lost.turned < turned) turned = lost.turned;
        if (lost.nonfinite < nonfinite) nonfinite = lost.nonfinite;
    }
    if (kicked != SIZE_MAX) return aw_push_kick_lost(p, kicked, Fz, Fx);
    return casualty_report(lattice, p, (aw_casualty){turned, nonfinite}, "transport");
}

aw_status aw_push_transport(const aw_lattice *lattice, aw_particles *particles, double cdt)
{
    return aw_push_kick_transport(lattice, particles, NULL, NULL, 0.0, cdt);
}

/* First region whose exit plane the point has not passed. */
static int32_t region_of(const aw_lattice *lat, double z, double x)
{
    int32_t r = 0;
    while (r + 1 < lat->regions && ahead(&lat->region[r], z, x) >= 0.0) ++r;
    return r;
}

aw_status aw_push_locate(const aw_lattice *lattice, aw_particles *particles)
{
    aw_casualty lost = {SIZE_MAX, SIZE_MAX};
    size_t nonfinite = SIZE_MAX;
#pragma omp parallel for schedule(static) reduction(min : nonfinite)
    for (size_t i = 0; i < particles->n; ++i) {
        if (!finite4(particles, i) && i < nonfinite) nonfinite = i;
        particles->element[i] = region_of(lattice, particles->z[i], particles->x[i]);
    }
    lost.nonfinite = nonfinite;
    return casualty_report(lattice, particles, lost, "locate");
}

/* Back along the straight line to the first edge, then forward by the same path. */
static aw_trouble place_after_drift(const aw_lattice *lat, aw_particles *p, size_t i)
{
    const aw_region_field *r = &lat->region[0];
    aw_flight f = take_off(p, i);
    double beyond, cosine;
    aw_trouble trouble;
    p->element[i] = 0;
    if (!finite4(p, i)) return NONFINITE;
    if (!(f.p > 0.0)) return TURNED;
    beyond = ahead(r, f.z, f.x);
    if (lat->regions == 1 || beyond < 0.0) return FINE;
    cosine = f.uz * r->exit_nz + f.ux * r->exit_nx;
    if (!(cosine > AW_GRAZING)) return TURNED;
    fly(&f, -beyond / cosine);
    p->element[i] = 1;
    trouble = fly_on(lat, &f, &p->element[i], beyond / cosine);
    land(&f, p, i);
    return trouble;
}

static aw_trouble place_about_orbit(const aw_lattice *lat, aw_particles *p, size_t i)
{
    aw_orbit_point at = aw_orbit_at(&lat->orbit, p->z[i]);
    double x = p->x[i], pz = p->pz[i], px = p->px[i];
    p->z[i] = at.z - x * at.st;
    p->x[i] = at.x + x * at.ct;
    p->pz[i] = pz * at.ct - px * at.st;
    p->px[i] = pz * at.st + px * at.ct;
    p->element[i] = 0;
    if (!finite4(p, i)) return NONFINITE;
    p->element[i] = region_of(lat, p->z[i], p->x[i]);
    return FINE;
}

aw_status aw_push_place(const aw_lattice *lattice, aw_particles *particles)
{
    size_t turned = SIZE_MAX, nonfinite = SIZE_MAX;
    int steady = lattice->region[0].kind == AW_BEND;
    aw_casualty lost;
#pragma omp parallel for schedule(static) reduction(min : turned, nonfinite)
    for (size_t i = 0; i < particles->n; ++i) {
        aw_trouble trouble = steady ? place_about_orbit(lattice, particles, i)
                                    : place_after_drift(lattice, particles, i);
        if (trouble == TURNED && i < turned) turned = i;
        if (trouble == NONFINITE && i < nonfinite) nonfinite = i;
    }
    lost.turned = turned;
    lost.nonfinite = nonfinite;
    return casualty_report(lattice, particles, lost, "place");
}

double aw_push_kick_factor(double cdt) { return cdt / AW_ME_EV; }

size_t aw_push_first_lost(const aw_particles *particles, size_t i, size_t n)
{
    for (size_t l = i; l < i + n; ++l)
        if (!finite4(particles, l)) return l;
    return i;
}

aw_status aw_push_kick_lost(const aw_particles *p, size_t lost, const double *Fz, const double *Fx)
{
    return aw_error(AW_ERR_NONFINITE,
                    "kick: particle %zu at z = %g m, x = %g m met a force of "
                    "(%g, %g) eV/m: not finite",
                    p->first + lost, p->z[lost], p->x[lost], Fz[lost], Fx[lost]);
}

aw_status aw_push_kick(aw_particles *p, const double *Fz, const double *Fx, double cdt)
{
    const aw_lanes *lanes = aw_lanes_find(NULL);
    const double factor = aw_push_kick_factor(cdt);
    size_t bad = SIZE_MAX;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int k = 0; k < AW_PIECES; ++k) {
        const size_t end = aw_piece_begin(p->n, AW_PIECES, k + 1);
        for (size_t i = aw_piece_begin(p->n, AW_PIECES, k); i < end; i += AW_BLOCK) {
            const size_t n = aw_block_size(i, end);
            if (!lanes->kick(p, i, n, factor, Fz + i, Fx + i)) continue;
            const size_t first = aw_push_first_lost(p, i, n);
            if (first < bad) bad = first;
        }
    }
    return bad == SIZE_MAX ? AW_OK : aw_push_kick_lost(p, bad, Fz, Fx);
}

static int32_t region_at(const aw_lattice *lat, double S)
{
    int32_t r = 0; /* by arc length: in a ring the planes alone are ambiguous */
    while (r + 1 < lat->regions && S >= lat->region[r + 1].S) ++r;
    return r;
}

/* The reference, and how far region and piece of the orbit are the same. */
static aw_lanes_reference rigid_reference(const aw_lattice *lat, double S)
{
    const int32_t r = region_at(lat, S);
    aw_lanes_reference ref = aw_lanes_reference_at(&lat->orbit, S);
    if (r > 0) ref.behind = fmax(ref.behind, lat->region[r].S - S);
    if (r + 1 < lat->regions) ref.ahead = fmin(ref.ahead, lat->region[r + 1].S - S);
    return ref;
}

static void rigid_one(const aw_lattice *lat, aw_particles *p, size_t i, double S_ref,
                      double momentum)
{
    const aw_orbit_point at = aw_orbit_at(&lat->orbit, S_ref + p->s0[i]);
    p->z[i] = at.z - p->x0[i] * at.st;
    p->x[i] = at.x + p->x0[i] * at.ct;
    p->pz[i] = momentum * at.ct;
    p->px[i] = momentum * at.st;
    p->element[i] = region_at(lat, at.S);
}

aw_status aw_push_rigid(const aw_lattice *lattice, aw_particles *p, double gamma, double S_ref)
{
    const aw_lanes *lanes = aw_lanes_find(NULL);
    const double momentum = sqrt((gamma - 1.0) * (gamma + 1.0));
    aw_casualty lost = {SIZE_MAX, SIZE_MAX};
    size_t nonfinite = SIZE_MAX;
    if (!(gamma > 1.0) || !isfinite(gamma))
        return aw_error(AW_ERR_ARG, "rigid motion: gamma = %g (expected > 1)", gamma);
    const aw_lanes_reference ref = rigid_reference(lattice, S_ref);
    const int32_t region = region_at(lattice, S_ref);
#pragma omp parallel for schedule(static) reduction(min : nonfinite)
    for (int k = 0; k < AW_PIECES; ++k) {
        const size_t end = aw_piece_begin(p->n, AW_PIECES, k + 1);
        for (size_t i = aw_piece_begin(p->n, AW_PIECES, k); i < end; i += AW_BLOCK) {
            const size_t n = aw_block_size(i, end);
            if (isfinite(S_ref) && !lanes->rigid(p, i, n, &ref, momentum)) {
                for (size_t l = i; l < i + n; ++l) p->element[l] = region;
                continue;
            }
            for (size_t l = i; l < i + n; ++l) {
                rigid_one(lattice, p, l, S_ref, momentum);
                if (!finite4(p, l) && l < nonfinite) nonfinite = l;
            }
        }
    }
    lost.nonfinite = nonfinite;
    return casualty_report(lattice, p, lost, "rigid motion");
}
