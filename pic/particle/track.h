/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Elements, their field regions, and the tracking of one particle through them, exactly. */
#ifndef AW_PIC_PARTICLE_TRACK_H
#define AW_PIC_PARTICLE_TRACK_H
#include <math.h>
#include <stdint.h>

#include "src/base/port.h"

/* A particle whose direction makes a smaller cosine with the normal counts as turned back. */
#define AW_GRAZING 1e-9

/* Largest betatron phase of one substep in a multipole [rad], and the offset at which its
 * gradient is taken for that, at least [m]: a generous beam, so that most particles have the same
 * substeps. */
#define AW_PHASE 0.02
#define AW_PHASE_OFFSET 0.01

/* A particle that needs shorter substeps than this [m] counts as turned back: it is far outside. */
#define AW_SUBSTEP_LEAST 1e-6

/* Components of a magnetic field: dipole, quadrupole, ... to the highest order of PALS, 21. */
enum { AW_ORDERS = 22 };

/* Highest order of a component in a bend: some more are needed to write it as a power series. */
enum { AW_BEND_ORDER = 9 };

typedef enum aw_element_kind {
    AW_DRIFT,
    AW_BEND,
    AW_QUADRUPOLE,
    AW_SEXTUPOLE,
    AW_OCTUPOLE,
    AW_MULTIPOLE,
    AW_CAVITY,
    AW_MARKER
} aw_element_kind;

/** What the components of a bend describe along the design orbit (PALS, multipole_geometry): its
 *  field above the orbit, or beside it. In straight elements these are the same. */
typedef enum aw_multipole_geometry {
    AW_VERTICALLY_PURE,  /* B_x + i B_y of component n is that of a straight magnet where x = 0 */
    AW_HORIZONTALLY_PURE /* component n is strength x^n/n! where y = 0 */
} aw_multipole_geometry;

/** Field of a cavity: a particle that is late by t gains e V cos(2 pi (f t + phase)). */
typedef struct aw_rf {
    double voltage;   /* V [V]; 0: none */
    double frequency; /* f [Hz] */
    double phase;     /* of the reference [rad/2pi]; 0: it gains the most */
} aw_rf;

/** One element as a lattice file gives it. */
typedef struct aw_element {
    aw_element_kind kind;
    char name[64];
    double length; /* arc length [m]; 0 for a marker */
    double angle;  /* of a bend [rad], > 0 towards -x; curvature = angle/length */
    double e1, e2; /* edge angles of a bend [rad], MAD sign (angle/2 each: a rectangular magnet) */
    /* Kn = (q/p) d^n B_y/dx^n [1/m^(n+1)], times the length for elements without length; order 0 is
     * not that of a bend, whose angle has it. Kn1 > 0 focuses in x, Kn0 > 0 deflects to -x. */
    double strength[AW_ORDERS];
    aw_multipole_geometry geometry; /* of a bend's strengths */
    aw_rf rf;                       /* of a cavity: a kick at its centre */
} aw_element;

/** What acts on a particle in a field region. */
typedef enum aw_region_kind {
    AW_REGION_DRIFT,
    AW_REGION_DIPOLE,    /* uniform: a circle */
    AW_REGION_MULTIPOLE, /* of an offset from the design orbit, which may be a circle */
    AW_REGION_KICK,      /* a multipole without length */
    AW_REGION_RF         /* a cavity without length */
} aw_region_kind;

/** Field region between two planes in the lab. A particle leaves through the exit plane, which is
 *  where (z - exit_z) exit_nz + (x - exit_x) exit_nx = 0 (normal points onward). */
typedef struct aw_field_region {
    aw_region_kind kind;
    int order;                     /* of the polynomial in x */
    double S, length;              /* of the design orbit in it [m] */
    double kappa;                  /* of the design orbit; p_ref kappa is the dipole field */
    double axis_z, axis_x, ct, st; /* a point of the design orbit and its direction there */
    double exit_z, exit_x, exit_nz, exit_nx;
    /* Coefficients of x^n, x the offset from the design orbit, in the field over p_ref without
     * that of kappa; of a kick: in that times the length. */
    double strength[AW_ORDERS];
    /* Of a cavity: V over the rest energy, 2 pi f/c [1/m], 2 pi phase, and c times the time at
     * which the reference passes, from the start of the run [m]. */
    double gain, wave, phase, passed;
} aw_field_region;

/** Borrowed view of a lattice's field regions, in the order in which the beam crosses them. */
typedef struct aw_fields_view {
    const aw_field_region *region;
    int n;
    double p_ref; /* gamma beta of the reference particle */
    double until; /* c times the time at which the tracking ends, which cavities need [m] */
} aw_fields_view;

/** One particle: lab position [m], momentum gamma beta, and the region that it is in. */
typedef struct aw_particle {
    double z, x, pz, px;
    int32_t element;
    double gained; /* from cavities and, negative, by incoherent radiation while it is tracked
                    * [rest energies] */
} aw_particle;

/** Result of tracking a particle. */
typedef enum aw_track_status {
    AW_TRACK_OK = 0,
    AW_TRACK_TURNED,
    AW_TRACK_NONFINITE
} aw_track_status;

/* State of a particle while it is tracked: position, direction, |p|, energy gained. Paths are
 * measured in metres, not seconds, since external magnetic fields keep the speed. */
typedef struct aw_track {
    double z, x, uz, ux, p, gained;
    int bends;           /* 1: sum up how its path bends: */
    double square, cube; /* integrals of 1/R^2 [1/m] and 1/|R|^3 [1/m^2] along it */
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

/* A piece of the path of curvature k. */
AW_FN void aw_track_bend(aw_track *f, double k, double path)
{
    f->square += k * k * path;
    f->cube += fabs(k) * k * k * path;
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

/* Offset from the design orbit of a region, along its normal [m]. From a circle about (0, -1/kappa)
 * a point at (a, b) is off by (hypot(kappa a, 1 + kappa b) - 1)/kappa; here nothing cancels. */
AW_FN double aw_track_offset(const aw_field_region *r, const aw_track *f)
{
    const double dz = f->z - r->axis_z, dx = f->x - r->axis_x;
    const double a = dz * r->ct + dx * r->st, b = dx * r->ct - dz * r->st;
    const double ka = r->kappa * a, kb = r->kappa * b;
    if (r->kappa == 0.0) return b;
    return (ka * a + kb * b + 2.0 * b) / (1.0 + sqrt(ka * ka + (1.0 + kb) * (1.0 + kb)));
}

/* The field of the multipole over p_ref at an offset: [1/m], of a kick a number. */
AW_FN double aw_track_strength(const aw_field_region *r, double offset)
{
    double sum = r->strength[r->order];
    for (int n = r->order; n-- > 0;) sum = sum * offset + r->strength[n];
    return sum;
}

/* Square of the phase per length that a substep resolves [1/m^2], for the reference momentum. */
AW_FN double aw_track_focusing(const aw_field_region *r, double offset)
{
    const double reach = fmax(fabs(offset), AW_PHASE_OFFSET);
    const double dipole = fabs(r->kappa) + fabs(r->strength[0]);
    double sum = 0.0;
    for (int n = r->order; n > 0; --n) sum = sum * reach + n * fabs(r->strength[n]);
    return sum + dipole * dipole;
}

/* Multipole: position-extended Forest-Ruth-like step of a path h (I. P. Omelyan, I. M. Mryglod,
 * R. Folk, Comput. Phys. Commun. 146 (2002) 188). In place of their drift there is the motion in
 * the dipole field of the design orbit, a line or a circle; the rest of the field turns the
 * momentum at a fixed place. `scale` is p_ref/p. The turns are also a rule of fourth order for what
 * depends on the curvature. */
AW_FN void aw_track_multipole_step(const aw_field_region *r, aw_track *f, double scale, double h)
{
    const double xi = 0.1786178958448091, lambda = -0.2123418310626054, chi = -0.06626458266981849;
    const double move[5] = {xi, chi, 1.0 - 2.0 * (chi + xi), chi, xi};
    const double kick[4] = {0.5 * (1.0 - 2.0 * lambda), lambda, lambda, 0.5 * (1.0 - 2.0 * lambda)};
    const double k = r->kappa * scale;
    for (int i = 0; i < 5; ++i) {
        if (k == 0.0)
            aw_track_straight(f, move[i] * h);
        else
            aw_track_arc(f, k, move[i] * h);
        if (i == 4) break;
        const double turn = scale * aw_track_strength(r, aw_track_offset(r, f));
        if (f->bends) aw_track_bend(f, k + turn, kick[i] * h);
        aw_track_turn(f, turn * kick[i] * h);
    }
}

/* Path from `f` to the exit plane [m] in one step near `path`. The end depends smoothly on the path
 * with slope u.n, so Newton steps converge in two or three. */
AW_FN double aw_track_landing(const aw_field_region *r, const aw_track *f, double scale,
                              double path)
{
    for (int i = 0; i < 8; ++i) {
        aw_track end = *f;
        double gap, slope;
        aw_track_multipole_step(r, &end, scale, path);
        gap = -aw_track_beyond(r, end.z, end.x);
        slope = end.uz * r->exit_nz + end.ux * r->exit_nx;
        path += gap / slope;
        if (fabs(gap) < 1e-16) break;
    }
    return path;
}

/* Move through a multipole for at most `path`; *crossed: the exit plane was met.
 * @return path not used */
AW_FN double aw_track_multipole(const aw_field_region *r, double p_ref, aw_track *f, double path,
                                int *crossed)
{
    const double scale = p_ref / f->p;
    *crossed = 0;
    while (path > 0.0) {
        const double focusing = scale * aw_track_focusing(r, aw_track_offset(r, f));
        const double longest = AW_PHASE / sqrt(focusing);
        double h = fmin(path, longest);
        aw_track end = *f;
        if (!(longest > AW_SUBSTEP_LEAST)) return path; /* turned: see below */
        aw_track_multipole_step(r, &end, scale, h);
        if (!(end.uz * r->ct + end.ux * r->st > AW_GRAZING)) return path;
        if (aw_track_beyond(r, end.z, end.x) >= 0.0) {
            h = fmin(fmax(aw_track_landing(r, f, scale, h), 0.0), h);
            aw_track_multipole_step(r, f, scale, h);
            *crossed = 1;
            return path - h;
        }
        *f = end;
        path -= h;
    }
    return 0.0;
}

/* A multipole without length: the momentum across the design orbit changes where the particle's
 * straight line meets the plane perpendicular to that orbit, and |p| does not. Next to a slanted
 * edge that plane is a little way off; the particle then stays where it is, on its new line.
 * @return 0: it moves backwards, or is turned back */
AW_FN int aw_track_kick(const aw_field_region *r, double p_ref, aw_track *f)
{
    const double cosine = f->uz * r->ct + f->ux * r->st;
    const double along = (f->z - r->axis_z) * r->ct + (f->x - r->axis_x) * r->st;
    double across, onward;
    if (!(cosine > AW_GRAZING)) return 0;
    aw_track_straight(f, -along / cosine);
    across = f->ux * r->ct - f->uz * r->st;
    across -= p_ref / f->p * aw_track_strength(r, aw_track_offset(r, f));
    onward = sqrt((1.0 - across) * (1.0 + across));
    if (!(onward > AW_GRAZING)) return 0;
    f->uz = onward * r->ct - across * r->st;
    f->ux = onward * r->st + across * r->ct;
    aw_track_straight(f, along / cosine);
    return 1;
}

/** A cavity without length: the momentum along the design orbit changes so that the energy does by
 *  what the cavity gives a particle that is `late` [m], and the momentum across does not.
 *  @return 0: it moves backwards, or is stopped */
AW_FN int aw_track_cavity(const aw_field_region *r, double late, aw_track *f)
{
    const double across = f->p * (f->ux * r->ct - f->uz * r->st);
    const double along = f->p * (f->uz * r->ct + f->ux * r->st);
    const double gain = r->gain * cos(r->wave * late + r->phase);
    const double gamma = sqrt(1.0 + f->p * f->p);
    /* more by (gamma + gain)^2 - gamma^2 */
    const double square = along * along + gain * (2.0 * gamma + gain);
    if (!(along > AW_GRAZING * f->p) || !(gamma + gain > 0.0)) return 0;
    if (!(square > AW_GRAZING * f->p * f->p)) return 0;
    const double onward = sqrt(square);
    f->p = sqrt(square + across * across);
    f->gained += gain;
    f->uz = (onward * r->ct - across * r->st) / f->p;
    f->ux = (onward * r->st + across * r->ct) / f->p;
    return 1;
}

/* The same where the particle's straight line meets the plane perpendicular to the orbit. The path
 * until the end of the tracking becomes that of the new speed. @return 0: as above */
AW_FN int aw_track_through_cavity(const aw_field_region *r, double until, aw_track *f, double *path)
{
    const double cosine = f->uz * r->ct + f->ux * r->st;
    const double along = (f->z - r->axis_z) * r->ct + (f->x - r->axis_x) * r->st;
    if (!(cosine > AW_GRAZING)) return 0;
    /* c times the time that is left behind the plane */
    const double left = (*path + along / cosine) * (sqrt(1.0 + f->p * f->p) / f->p);
    aw_track_straight(f, -along / cosine);
    if (!aw_track_cavity(r, until - left - r->passed, f)) return 0;
    const double onward = f->uz * r->ct + f->ux * r->st;
    aw_track_straight(f, along / onward);
    *path = left * (f->p / sqrt(1.0 + f->p * f->p)) - along / onward;
    return 1;
}

/** Track one particle along `path` [m], from region to region; behind a cavity the path is that of
 *  its new speed in the same time. */
AW_FN aw_track_status aw_track_along(const aw_fields_view *fields, aw_track *f, int32_t *element,
                                     double path)
{
    while (path > 0.0) {
        const aw_field_region *r = &fields->region[*element];
        int last = *element + 1 >= fields->n, crossed = 0;
        double gap = -aw_track_beyond(r, f->z, f->x);
        if (last && !(f->uz * r->ct + f->ux * r->st > AW_GRAZING)) return AW_TRACK_TURNED;
        if (r->kind == AW_REGION_KICK) {
            if (!aw_track_kick(r, fields->p_ref, f)) return AW_TRACK_TURNED;
            ++*element;
            continue;
        }
        if (r->kind == AW_REGION_RF) {
            if (!aw_track_through_cavity(r, fields->until, f, &path)) return AW_TRACK_TURNED;
            ++*element;
            continue;
        }
        if (!last && gap <= 0.0) { /* on the plane, or placed beyond it */
            ++*element;
            continue;
        }
        if (r->kind == AW_REGION_MULTIPOLE) {
            path = aw_track_multipole(r, fields->p_ref, f, path, &crossed);
            if (path > 0.0 && !crossed) return AW_TRACK_TURNED;
        } else {
            double k = r->kappa * fields->p_ref / f->p;
            double reach = last ? path : aw_track_to_plane(r, f, k, gap);
            double here = fmin(reach, path);
            if (!(reach < INFINITY)) return AW_TRACK_TURNED;
            if (f->bends) aw_track_bend(f, k, here);
            if (r->kind == AW_REGION_DIPOLE)
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
    const aw_track f = {b->z, b->x, b->pz / momentum, b->px / momentum, momentum, 0.0, 0, 0.0, 0.0};
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
    b->gained += f->gained;
    if (f->uz == b->pz / f->p && f->ux == b->px / f->p) return;
    b->pz = momentum * f->uz;
    b->px = momentum * f->ux;
}

/* Track for a time, up to fields->until; cdt is c times that time [m]. */
AW_FN aw_track_status aw_track_for(const aw_fields_view *fields, aw_track *f, int32_t *element,
                                   double cdt)
{
    return aw_track_along(fields, f, element, cdt * f->p / sqrt(1.0 + f->p * f->p));
}

/** Track a particle for a time, up to fields->until; cdt is c times that time [m]. */
AW_FN aw_track_status aw_particle_track(const aw_fields_view *fields, aw_particle *b, double cdt)
{
    aw_track f = aw_track_begin(b);
    if (!aw_particle_finite(b)) return AW_TRACK_NONFINITE;
    if (!(f.p > 0.0)) return AW_TRACK_TURNED;
    const aw_track_status trouble = aw_track_for(fields, &f, &b->element, cdt);
    aw_track_end(&f, b);
    return trouble == AW_TRACK_OK && !aw_particle_finite(b) ? AW_TRACK_NONFINITE : trouble;
}

#endif
