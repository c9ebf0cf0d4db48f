/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Directions of observation, as a product of horizontal and vertical angles with the weights of a
 * quadrature over them. */
#ifndef AW_SPECTRUM_DIRECTIONS_H
#define AW_SPECTRUM_DIRECTIONS_H
#include <stddef.h>

#include "kernels/math/orbit.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Angles along one axis, rising, and their weights: sum w f = int f [rad]. */
typedef struct aw_angles {
    size_t n;
    double *at, *weight; /* [n] each, owned */
} aw_angles;

/** The direction (cos psi cos theta, cos psi sin theta, sin psi) in (z, x, y). The radiation is the
 *  same above and below the plane: psi >= 0, and its weights are those of both halves, with the
 *  cos psi of the solid angle. */
typedef struct aw_directions {
    aw_angles theta, psi;
    double centre, radius; /* of a round aperture about (centre, 0), which alone counts in sums over
                            * directions [rad]; radius 0: all of them count */
} aw_directions;

/** Weight of direction (i, j) in sums over the solid angle [sr]. */
double aw_directions_weight(const aw_directions *directions, size_t i, size_t j);

/** n equal parts from a to b, each with its middle: n theta from a to b, n psi from 0 to b.
 *  @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_directions_even(const double theta[2], size_t n_theta, double psi_max, size_t n_psi,
                             aw_directions *out);

/** How directions for all the radiation are graded. */
typedef struct aw_grading {
    double finest;  /* first panel next to a straight and to the plane [rad]; panels double */
    double margin;  /* how far beyond the orbit's directions, and from the plane [rad] */
    double widest;  /* panel [rad] */
    double between; /* widest panel between the directions of two straights [rad]; 0: as anywhere.
                     * What two bends radiate into the same direction interferes */
    int nodes;      /* of Gauss and Legendre per panel, 1 .. 16 */
} aw_grading;

/** All directions into which a bunch on an orbit radiates: finer and finer towards those of its
 *  straights, where edges radiate into a cone of 1/gamma.
 *  @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_directions_graded(const aw_orbit_view *orbit, const aw_grading *grading,
                               aw_directions *out);

void aw_directions_free(aw_directions *directions);

AW_END_DECLS
#endif
