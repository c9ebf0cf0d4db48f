/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The moving, tilted grid that encloses the bunch: where it is, how large, how it is turned. */
#ifndef AW_PIC_FRAME_H
#define AW_PIC_FRAME_H
#include "kernels/math/view.h"
#include "pic/particles.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** State of the grid from step to step. */
typedef struct aw_frame {
    aw_grid_view grid;     /* as it stands */
    double theta_design;   /* design tangent at the centre [rad] */
    double base_s, base_x; /* spacings of rung 0 of the ladder [m] */
    int rung_s, rung_x;    /* spacing = base * 2^(rung/4) */
    int begun;             /* 0 before the first step */
} aw_frame;

/** A frame for ns x nx nodes; nothing is placed yet. */
void aw_frame_init(aw_frame *frame, int ns, int nx);

/** Place the grid for rigid motion: centre on the design orbit at S, no tilt, extents that hold
 *  +-half_s, +-half_x [m] with every particle's deposit inside. */
void aw_frame_rigid(aw_frame *frame, const aw_orbit_view *orbit, double S, double half_s,
                    double half_x);

/** Place the grid about the particles: centre at their mean, tilt along the principal axes (the
 *  branch nearest the last step's; kept where the rms axes differ by less than 20 %; turning by at
 *  most 0.05 rad a step), spacings on a ladder of ratio 2^(1/4) with hysteresis, so that
 *  neighbouring slices share them (dissertation eqs. 10 and 11, with the tilt against the design
 *  tangent).
 *  @param[in] S_guess  arc length near the centre [m]
 *  @return AW_OK, AW_ERR_NONFINITE (message); of lent particles also AW_ERR_NOMEM and
 *  AW_ERR_BACKEND. */
aw_status aw_frame_fit(aw_frame *frame, const aw_orbit_view *orbit, const aw_particles *particles,
                       double S_guess);

/** Node (i along s, j along x) of a grid as a field point moving with the design velocity there. */
aw_field_point aw_frame_point(const aw_grid_view *grid, const aw_orbit_view *orbit, double gamma,
                              double i, double j);

/** All nodes, point[j * ns + i]. */
void aw_frame_points(const aw_grid_view *grid, const aw_orbit_view *orbit, double gamma,
                     aw_field_point *point);

AW_END_DECLS
#endif
