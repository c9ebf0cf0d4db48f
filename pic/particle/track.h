/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Elements, their field regions, and the tracking of one particle through them, exactly. */
#ifndef AW_PIC_PARTICLE_TRACK_H
#define AW_PIC_PARTICLE_TRACK_H
#include <math.h>
#include <stdint.h>

#include "src/base/port.h"

/* A particle whose direction makes a smaller cosine with the normal counts as turned back. */
#define AW_GRAZING 1e-9

/* Largest betatron phase of one substep in a quadrupole [rad]. */
#define AW_PHASE 0.02

typedef enum aw_element_kind { AW_DRIFT, AW_BEND, AW_QUADRUPOLE, AW_MARKER } aw_element_kind;

/** One element as a lattice file gives it. */
typedef struct aw_element {
    aw_element_kind kind;
    char name[64];
    double length; /* arc length [m]; 0 for a marker */
    double angle;  /* of a bend [rad], > 0 towards -x; curvature = angle/length */
    double e1, e2; /* edge angles of a bend [rad], MAD sign (angle/2 each: a rectangular magnet) */
    double k1;     /* of a quadrupole [1/m^2], > 0 focuses in x */
} aw_element;

/** Field region between two planes in the lab. A particle leaves through the exit plane, which is
 *  where (z - exit_z) exit_nz + (x - exit_x) exit_nx = 0 (normal points onward). */
typedef struct aw_field_region {
    aw_element_kind kind;          /* AW_DRIFT, AW_BEND or AW_QUADRUPOLE */
    double S, length;              /* of the design orbit in it [m] */
    double kappa;                  /* bend: p_ref kappa is the field */
    double k1;                     /* quadrupole */
    double axis_z, axis_x, ct, st; /* quadrupole: a point of its axis and its direction */
    double exit_z, exit_x, exit_nz, exit_nx;
} aw_field_region;

/** Borrowed view of a lattice's field regions, in the order in which the beam crosses them. */
typedef struct aw_fields_view {
    const aw_field_region *region;
    int n;
    double p_ref; /* gamma beta of the reference particle */
} aw_fields_view;

/** One particle: lab position [m], momentum gamma beta, and the region that it is in. */
typedef struct aw_particle {
    double z, x, pz, px;
    int32_t element;
} aw_particle;

/** Result of tracking a particle. */
typedef enum aw_track_status {
    AW_TRACK_OK = 0,
    AW_TRACK_TURNED,
    AW_TRACK_NONFINITE
} aw_track_status;

/* State of a particle while it is tracked: position, direction, |p|. Paths are measured in metres,
 * not seconds, since external magnetic fields keep the speed. */
typedef struct aw_track {
    double z, x, uz, ux, p;
} aw_track;

/** How far a point is beyond the exit plane of a region [m]. */
AW_FN double aw_track_beyond(const aw_field_region *r, double z, double x)
{
    return (z - r->exit_z) * r->exit_nz + (x - r->exit_x) * r->exit_nx;
}

AW_FN void aw_track_straight(aw_track *f, double path)
{
    f->z += path * f->uz;
    f->x += path * f->ux;
}

/* sin(a); a step's turn is mostly so small that the series is exact (next term a^7/5040) and
 * several times faster than the library. */
AW_FN double aw_track_sine(double a)
{
    double square = a * a;
    if (square > 2.5e-5) return sin(a);
    return a - a * square * (1.0 / 6.0 - square / 120.0);
}

/* Turn the direction by -angle (towards -x). */
AW_FN void aw_track_turn(aw_track *f, double angle)
{
    double half = aw_track_sine(0.5 * angle), c = 1.0 - 2.0 * half * half, s = aw_track_sine(angle);
    double uz = f->uz * c + f->ux * s;
    f->ux = f->ux * c - f->uz * s;
    f->uz = uz;
}

/* Along a circle of signed curvature k: half the turn, the chord, the other half. */
AW_FN void aw_track_arc(aw_track *f, double k, double path)
{
    double half = 0.5 * k * path;
    aw_track_turn(f, half);
    aw_track_straight(f, k == 0.0 ? path : 2.0 * aw_track_sine(half) / k);
    aw_track_turn(f, half);
}

/* Path to the exit plane, INFINITY where the motion never meets it. `gap` > 0 is the distance to
 * the plane, k the curvature of the particle's circle. On the circle, with psi the turn,
 *   gap = (a sin psi + b (1 - cos psi))/k,  a = u.n, b = the component turning into n,
 * a quadratic in t = tan(psi/2); its root of the smaller modulus is the first crossing ahead. In
 * this form nothing cancels, and k -> 0 gives gap/a. */
AW_FN double aw_track_to_plane(const aw_field_region *r, const aw_track *f, double k, double gap)
{
    double a = f->uz * r->exit_nz + f->ux * r->exit_nx;
    double b = f->ux * r->exit_nz - f->uz * r->exit_nx;
    double discriminant = a * a + k * gap * (2.0 * b - k * gap);
    if (!(a > AW_GRAZING) || !(discriminant >= 0.0)) return INFINITY;
    if (k == 0.0) return gap / a;
    return 2.0 * atan(k * gap / (a + sqrt(discriminant))) / k;
}

/* Quadrupole: position-extended Forest-Ruth-like step of a path h (I. P. Omelyan, I. M. Mryglod,
 * R. Folk, Comput. Phys. Commun. 146 (2002) 188, with a rotation for the kick). `g` is p_ref k1/p,
 * the curvature per metre of offset. */
AW_FN void aw_track_quadrupole_step(const aw_field_region *r, aw_track *f, double g, double h)
{
    const double xi = 0.1786178958448091, lambda = -0.2123418310626054, chi = -0.06626458266981849;
    const double drift[5] = {xi, chi, 1.0 - 2.0 * (chi + xi), chi, xi};
    const double kick[4] = {0.5 * (1.0 - 2.0 * lambda), lambda, lambda, 0.5 * (1.0 - 2.0 * lambda)};
    for (int i = 0; i < 4; ++i) {
        double offset;
        aw_track_straight(f, drift[i] * h);
        offset = (f->x - r->axis_x) * r->ct - (f->z - r->axis_z) * r->st;
        aw_track_turn(f, g * offset * kick[i] * h);
    }
    aw_track_straight(f, drift[4] * h);
}

/* Shorten the substep h, which oversteps the exit plane, until it ends on it. The end depends
 * smoothly on h with slope u.n, so Newton steps from `f` converge in two or three. */
AW_FN double aw_track_substep(const aw_field_region *r, const aw_track *f, double g, double h)
{
    double path = h;
    for (int i = 0; i < 8; ++i) {
        aw_track end = *f;
        double gap, slope;
        aw_track_quadrupole_step(r, &end, g, path);
        gap = -aw_track_beyond(r, end.z, end.x);
        slope = end.uz * r->exit_nz + end.ux * r->exit_nx;
        path += gap / slope;
        if (fabs(gap) < 1e-16) break;
    }
    return fmin(fmax(path, 0.0), h);
}

/* Move through a quadrupole for at most `path`; *crossed: the exit plane was met.
 * @return path not used */
AW_FN double aw_track_quadrupole(const aw_field_region *r, double p_ref, aw_track *f, double path,
                                 int *crossed)
{
    double g = r->k1 * p_ref / f->p, longest = AW_PHASE / sqrt(fabs(g));
    *crossed = 0;
    while (path > 0.0) {
        double h = fmin(path, longest);
        aw_track end = *f;
        aw_track_quadrupole_step(r, &end, g, h);
        if (!(end.uz * r->ct + end.ux * r->st > AW_GRAZING)) return path; /* turned: see below */
        if (aw_track_beyond(r, end.z, end.x) >= 0.0) {
            h = aw_track_substep(r, f, g, h);
            aw_track_quadrupole_step(r, f, g, h);
            *crossed = 1;
            return path - h;
        }
        *f = end;
        path -= h;
    }
    return 0.0;
}

/** Track one particle along `path` [m], from region to region. */
AW_FN aw_track_status aw_track_along(const aw_fields_view *fields, aw_track *f, int32_t *element,
                                     double path)
{
    while (path > 0.0) {
        const aw_field_region *r = &fields->region[*element];
        int last = *element + 1 >= fields->n, crossed = 0;
        double gap = -aw_track_beyond(r, f->z, f->x);
        if (last && !(f->uz * r->ct + f->ux * r->st > AW_GRAZING)) return AW_TRACK_TURNED;
        if (!last && gap <= 0.0) { /* on the plane, or placed beyond it */
            ++*element;
            continue;
        }
        if (r->kind == AW_QUADRUPOLE) {
            path = aw_track_quadrupole(r, fields->p_ref, f, path, &crossed);
            if (path > 0.0 && !crossed) return AW_TRACK_TURNED;
        } else {
            double k = r->kappa * fields->p_ref / f->p;
            double reach = last ? path : aw_track_to_plane(r, f, k, gap);
            double here = fmin(reach, path);
            if (!(reach < INFINITY)) return AW_TRACK_TURNED;
            if (r->kind == AW_BEND)
                aw_track_arc(f, k, here);
            else
                aw_track_straight(f, here);
            crossed = here < path || reach == path;
            path -= here;
        }
        if (crossed && !last) ++*element;
    }
    return AW_TRACK_OK;
}

/** Whether place and momentum are finite. */
AW_FN int aw_particle_finite(const aw_particle *b)
{
    return isfinite(b->z) && isfinite(b->x) && isfinite(b->pz) && isfinite(b->px);
}

AW_FN aw_track aw_track_begin(const aw_particle *b)
{
    const double momentum = sqrt(b->pz * b->pz + b->px * b->px);
    const aw_track f = {b->z, b->x, b->pz / momentum, b->px / momentum, momentum};
    return f;
}

/* Write the tracked state back. A straight path leaves the momentum's bits alone, for the same
 * rounding at each of many steps would add up; after a turn the direction's length is set to 1
 * again. */
AW_FN void aw_track_end(const aw_track *f, aw_particle *b)
{
    const double momentum = f->p * (1.5 - 0.5 * (f->uz * f->uz + f->ux * f->ux));
    b->z = f->z;
    b->x = f->x;
    if (f->uz == b->pz / f->p && f->ux == b->px / f->p) return;
    b->pz = momentum * f->uz;
    b->px = momentum * f->ux;
}

/** Track a particle for a time; cdt is c times that time [m]. */
AW_FN aw_track_status aw_particle_track(const aw_fields_view *fields, aw_particle *b, double cdt)
{
    aw_track f = aw_track_begin(b);
    if (!aw_particle_finite(b)) return AW_TRACK_NONFINITE;
    if (!(f.p > 0.0)) return AW_TRACK_TURNED;
    const aw_track_status trouble =
        aw_track_along(fields, &f, &b->element, cdt * f.p / sqrt(1.0 + f.p * f.p));
    aw_track_end(&f, b);
    return trouble == AW_TRACK_OK && !aw_particle_finite(b) ? AW_TRACK_NONFINITE : trouble;
}

#endif
