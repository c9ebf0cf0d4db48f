/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Echoes between plates: what the bunch radiated at an edge of a magnet upstream reaches it once
 * more in each image, where the way to the image is as long as the bunch's own. Steps have to
 * resolve them. */
#ifndef AW_PLAN_ECHOES_H
#define AW_PLAN_ECHOES_H
#include "kernels/math/orbit.h"
#include "src/plan/optics.h"

/** A bunch on the design orbit. */
typedef struct aw_bunch_place {
    double S;            /* [m] */
    aw_optics_axes axes; /* against the tangent there */
} aw_bunch_place;

/** The rms length over which an edge passes in an image, if one does between two places.
 *
 *  From S the edge is seen in an image at the height Y = (D^2 - d^2)^(1/2), with D the path and d
 *  the distance between them: the way by the image is then as long as the bunch's own. Where Y is
 *  n g, within two rms of the bunches' lengths along the line of sight in Y^2/2D, the n-th image of
 *  the edge passes, over that rms over d(Y^2)/dS/2D (docs/theory.md, "Plates").
 *  @param[in] gap   g between the plates [m], > 0
 *  @param[in] edge  the bunch when it was there
 *  @param[in] here  the bunch at two places, edge->S <= here[0].S < here[1].S
 *  @return [m]; 0: no image of the edge passes */
double aw_echo_length(const aw_orbit_view *orbit, double gap, const aw_bunch_place *edge,
                      const aw_bunch_place here[2]);

#endif
