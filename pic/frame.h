/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The moving, tilted grid that encloses the bunch: its position, spacings and orientation. */
#ifndef AW_PIC_FRAME_H
#define AW_PIC_FRAME_H
#include "kernels/math/view.h"
#include "pic/particles.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** State of the grid from step to step. */
typedef struct aw_frame {
    aw_grid_view grid;     /* of the current step */
    double theta_design;   /* design tangent at the centre [rad] */
    double base_s, base_x; /* spacings of rung 0 of the ladder [m] */
    int rung_s, rung_x;    /* spacing = base * 2^(rung/4) */
    int placed;            /* 0 before the first step */
} aw_frame;

/** A frame of ns x nx nodes that has no place yet. */
void aw_frame_init(aw_frame *frame, int ns, int nx);

/** Place the grid for rigid motion: centre on the design orbit at S, no tilt, and so large that the
 *  shapes of all particles within +-half_s, +-half_x [m] of the centre lie on it. */
void aw_frame_rigid(aw_frame *frame, const aw_orbit_view *orbit, double S, double half_s,
                    double half_x);

/** Fit the grid to the particles (dissertation eqs. 10 and 11, with the tilt against the design
 *  tangent). The centre is their mean. The tilt is along the principal axes, on the branch nearest
 *  to the last step's; it turns by at most 0.05 rad per step, and stays if the rms axes differ by
 *  less than 20 %. The spacings are on a ladder of ratio 2^(1/4), with hysteresis, so that they are
 *  the same for many slices in succession.
 *  @param[in] S_guess  arc length near the centre [m]
 *  @return AW_OK, AW_ERR_NONFINITE (message); of offloaded particles also AW_ERR_NOMEM and
 *  AW_ERR_BACKEND. */
aw_status aw_frame_fit(aw_frame *frame, const aw_orbit_view *orbit, const aw_particles *particles,
                       double S_guess);

/** Point of a grid at i spacings along s and j along x from node (0, 0), as a field point that
 *  moves with the design velocity of energy gamma there. */
aw_field_point aw_frame_point(const aw_grid_view *grid, const aw_orbit_view *orbit, double gamma,
                              double i, double j);

/** aw_frame_point of all nodes. @param[out] point  [nx][ns] */
void aw_frame_points(const aw_grid_view *grid, const aw_orbit_view *orbit, double gamma,
                     aw_field_point *point);

AW_END_DECLS
#endif
