/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Self-forces as a sum of Lienard-Wiechert potentials of single electrons.
 *
 * The electrons of a chirped Gaussian beam move through drifts and bends without self-force: each
 * has straight lines and exact circular arcs of its own energy. Its retarded time for a field point
 * is found on that path by itself, and the potentials of all electrons are added up. There is no
 * grid, no history of slices and no integral over the light cone: nothing is shared with the
 * program but the model (a sheet of charge in a plane, which came rigidly along a straight line
 * before ct = 0). Forces are differences of the potentials of the same electrons.
 *
 * Signs and coordinates are those of src/base/units.h; SI units, potentials in V, forces on one
 * electron in eV/m, the beam's charge positive. */
#ifndef AW_VALIDATION_REFEREE_H
#define AW_VALIDATION_REFEREE_H
#include <stddef.h>
#include <stdint.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

enum { AW_REFEREE_ELEMENTS = 16 };

/** A drift (angle 0), or a bend with hard edges; e1 and e2 turn its faces, as in MAD. */
typedef struct aw_referee_element {
    double length, angle, e1, e2;
} aw_referee_element;

/** The beam at ct = 0, its mean at the start of the lattice, and the lattice. */
typedef struct aw_referee_beam {
    aw_referee_element element[AW_REFEREE_ELEMENTS]; /* the last is followed by a drift */
    int elements;
    double charge, gamma;     /* of the bunch [C]; of its mean, and of the lattice */
    double sigma_s, sigma_x;  /* rms [m] */
    double slope, divergence; /* x' = slope x + divergence g [1/m], [rad] */
    double chirp, spread;     /* delta = chirp s + spread g [1/m], [1] */
    double cutoff;            /* of the Gaussians, in rms */
    double height;            /* of the field points above the plane [m] */
    size_t electrons;
} aw_referee_beam;

/** Where potentials are wanted: a place, a time, and the direction of the velocity v in psi, whose
 *  magnitude is that of the mean energy. */
typedef struct aw_referee_event {
    double ct, z, x, theta;
} aw_referee_event;

/** [V] */
typedef struct aw_referee_potential {
    double phi, cAz, cAx, psi; /* psi = phi - v.A */
} aw_referee_potential;

/** Potentials of one bunch: four-dimensional Sobol points, shifted modulo 1 by the seed.
 *  Sum over electrons of (q/4 pi eps0) (1, beta, 1 - beta_v.beta)/(r (1 - n.beta)) at the retarded
 *  times. Source: J. D. Jackson, Classical Electrodynamics, 3rd ed. (1999), eq. 14.8.
 *  The same bits for any number of threads.
 *  @param[in] event  [n]
 *  @param[out] out   [n]
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_ARG: an electron misses a magnet (messages) */
aw_status aw_referee_potentials(const aw_referee_beam *beam, uint64_t seed,
                                const aw_referee_event *event, size_t n, aw_referee_potential *out);

/** A field point on the design orbit, and the step of the differences there [m]. */
typedef struct aw_referee_place {
    double ct, S, x; /* arc length and offset */
    double along;    /* c times the step in time: a fraction of what psi varies over */
} aw_referee_place;

/** phi and psi [V], and the effective longitudinal force F_s_eff of docs/theory.md [eV/m]. */
typedef struct aw_referee_force {
    double phi, psi, s_eff;
} aw_referee_force;

enum { AW_REFEREE_NUMBERS = sizeof(aw_referee_force) / sizeof(double) };

/** Potentials and force of one bunch at n places: F_s_eff = (1/v) d psi/dt at a fixed place with a
 *  constant v, by differences of fourth order.
 *  @param[out] out  [n]
 *  @return as aw_referee_potentials */
aw_status aw_referee_forces(const aw_referee_beam *beam, uint64_t seed,
                            const aw_referee_place *place, size_t n, aw_referee_force *out);

/** Means over `bunches` seeds 1, 2, .. and the standard errors of these means.
 *  @param bunches  >= 2
 *  @param[out] mean, error  [n + 1]; the last is of the mean over the n places
 *  @return as aw_referee_potentials */
aw_status aw_referee_mean(const aw_referee_beam *beam, int bunches, const aw_referee_place *place,
                          size_t n, aw_referee_force *mean, aw_referee_force *error);

AW_END_DECLS
#endif
