/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over the charge of the deposited bunch: its peak current, means of fields. */
#ifndef AW_SIMULATION_CURRENT_H
#define AW_SIMULATION_CURRENT_H
#include <stddef.h>

#include "kernels/math/view.h"

AW_BEGIN_DECLS

/** Bins that aw_current_peak needs for a grid of ns x nx nodes. */
size_t aw_current_bins(int ns, int nx);

/** Largest current of a slice: the charge of its nodes over the arc length, in bins of the larger
 *  of the projections of both spacings on the orbit, shared linearly by the two nearest bins; from
 *  the parabola through the largest bin and its neighbours. Bins lie on the nodes of a grid without
 *  tilt, where nothing is smoothed beyond the deposit: the error falls with the square of the
 *  spacing (the peak of a Gaussian is low by spacing^2/(8 sigma^2)).
 *  @param[in] view   its newest slice is the one
 *  @param[in] grid   of that slice
 *  @param[in] point  [nx][ns]: the nodes (aw_frame_points)
 *  @param[out] bin   [aw_current_bins]: workspace
 *  @return beta c times the line charge density [A]; NaN if a node's place is not finite */
double aw_current_peak(const aw_history_view *view, const aw_grid_view *grid,
                       const aw_field_point *point, double *bin);

/** Mean of a field over the charge of the newest slice: the sum of density times field over the
 *  sum of the density, in a fixed order. The density is the compensated one (docs/theory.md,
 *  "Moments"), so that nothing is smoothed.
 *  @param[in] field  [nx][ns], at its nodes
 *  @return in units of the field; NaN without charge */
double aw_charge_mean(const aw_history_view *view, const double *field);

AW_END_DECLS
#endif
