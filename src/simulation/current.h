/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over the charge of the deposited bunch: its peak current, means of fields. */
#ifndef AW_SIMULATION_CURRENT_H
#define AW_SIMULATION_CURRENT_H
#include <stddef.h>

#include "kernels/math/view.h"

AW_BEGIN_DECLS

/** Bins that aw_current_peak needs for a grid of ns x nx nodes. */
size_t aw_current_bins(int ns, int nx);

/** The peak of a current. */
typedef struct aw_current_top {
    double peak;  /* beta c times the line charge density [A] */
    double width; /* rms of the Gaussian that is as curved at its top [m]; NaN: it has no top */
} aw_current_top;

/** Largest current of a slice: the charge of its nodes over the arc length, in bins of the larger
 *  of the projections of both spacings on the orbit, shared linearly by the two nearest bins; from
 *  the parabola through the largest bin and its neighbours. The moments are coefficients of splines
 *  (docs/theory.md, "Moments"): bins get the variance that the projected splines have and the
 *  sharing has not, so that the error falls with the fourth power of the spacing.
 *  @param[in] view   its newest slice is the one
 *  @param[in] grid   of that slice
 *  @param[in] point  [nx][ns]: the nodes (aw_frame_points)
 *  @param[out] bin   [aw_current_bins]: workspace
 *  @return NaN if a node's place is not finite */
aw_current_top aw_current_peak(const aw_history_view *view, const aw_grid_view *grid,
                               const aw_field_point *point, double *bin);

/** Mean of a field over the charge of the newest slice: the sum of the nodes' charge times the mean
 *  of the field over their splines (docs/theory.md, "Moments"), as far as those are felt, over the
 *  sum of the charge, in a fixed order. Of fourth order in the spacing: 1e-5 of a wave of 28 nodes.
 *  @param[in] felt   [nx][ns], 0: the field has no meaning at a node (aw_self_field_felt); or NULL
 *  @param[in] field  [nx][ns], at its nodes
 *  @return in units of the field; NaN without charge */
double aw_charge_mean(const aw_history_view *view, const unsigned char *felt, const double *field);

AW_END_DECLS
#endif
