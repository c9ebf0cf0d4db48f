/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Self-forces of a bunch whose density at every retarded time follows from its density at the
 * start, by exact paths of electrons.
 *
 * Electrons of a chirped Gaussian beam move without self-force. Those with equal x' - slope x (a
 * *fan* of the divergence) and no energy spread but the chirp fill the plane once: the electron
 * that is at a given place at a given time is found by Newton's method on the map (s, x at
 * ct = 0) -> (z, x at ct), and the charge density there is the initial one over the map's Jacobian.
 * Nothing is expanded in the size of the bunch. Potentials are integrals of that density and its
 * velocity over the past light cone about the field point, in polar coordinates, and forces are
 * differences of these potentials. There is no grid of charge, no history of slices, no spline and
 * no noise: nothing is shared with the program but the model.
 *
 * The map must not fold: true before full compression of a bunch that is tilted in a bend.
 * Coordinates, signs and units are those of validation/referee.h. */
#ifndef AW_VALIDATION_RIDGE_H
#define AW_VALIDATION_RIDGE_H
#include "validation/referee.h"

AW_BEGIN_DECLS

/** The bunch, and the rules of the integrals. Of `beam`, spread, cutoff, height and electrons are
 *  not used: Gaussians are followed to 6 sigma. */
typedef struct aw_ridge {
    aw_referee_beam beam;
    double cut;    /* sources are followed back to this distance from the field point [m] */
    double growth; /* of the panels of the radius, from one to the next */
    int radii;     /* Gauss nodes of each panel */
    double arc;    /* distance of the nodes on a circle, in the least rms of the bunch along it */
    int fans;      /* Gauss-Hermite nodes of the divergence */
    double along;  /* c times the steps in time of the differences at a fixed place [m], */
    double path;   /* and along the path of the field point [m] */
} aw_ridge;

/** The rules that suffice for forces to 1e-4 of their largest value. */
aw_ridge aw_ridge_default(const aw_referee_beam *beam, double cut);

/** phi and psi [V], and the longitudinal forces F_s and F_s_eff of docs/theory.md [eV/m]. */
typedef struct aw_ridge_force {
    double phi, psi, s, s_eff;
} aw_ridge_force;

/** Place of the electron that was at (s, x) [m] at ct = 0, at the time ct [m], its divergence and
 *  energy being those of the middle of the beam there: lab coordinates. NaN: it misses a magnet */
void aw_ridge_electron(const aw_referee_beam *beam, double ct, const double initial[2], double *z,
                       double *x);

/** phi and psi [V] at an event:
 *  (phi, psi) = (1/4 pi eps0) int_0^cut dR int dangle rho (1, 1 - v.v'/c^2) (R, angle; ct - R).
 *  NaN: an electron misses a magnet, no electron is found at a place, or no memory. */
aw_referee_potential aw_ridge_potential(const aw_ridge *ridge, const aw_referee_event *event);

/** Potentials and forces at n places, in parallel: F_s_eff = (1/v) d psi/dt at a fixed place,
 *  F_s = F_s_eff - (1/v) d phi/dt along the path of the place, both by differences of fourth order.
 *  aw_referee_place.along is not used.
 *  @param[in] place  [n]
 *  @param[out] out   [n]; NaN as in aw_ridge_potential */
void aw_ridge_forces(const aw_ridge *ridge, const aw_referee_place *place, size_t n,
                     aw_ridge_force *out);

AW_END_DECLS
#endif
