/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the outer integral is cut before anything is known of the integrand. */
#ifndef AW_QUADRATURE_PARTITION_H
#define AW_QUADRATURE_PARTITION_H
#include "kernels/math/view.h"
#include "quadrature/rules/simpson.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Where the moments may be non-zero at t - r/c: the beam's box. */
typedef struct aw_box {
    double delay, radius;  /* aw_retarded [m] */
    double z, x;           /* centre [m] */
    double cg, sg;         /* direction of its s axis */
    double half_s, half_x; /* [m] */
} aw_box;

/** How a point sees the beam at t - r/c. */
typedef struct aw_view_geometry {
    double lead;   /* how far the circle has run ahead of the beam's centre, r - |p - centre| [m] */
    double reach;  /* half diagonal of the beam's box [m] */
    double extent; /* half extent of the box along the line of sight [m] */
    double across; /* the same across it [m] */
    double chord;  /* half of the longest line of sight in the box: less than the extent if the box
                    * is turned against it [m] */
    double cell;   /* distance along the line of sight over which a sum across it varies [m]: what
                    * a cell of the grid covers there in its longer projection */
} aw_view_geometry;

aw_view_geometry aw_view_geometry_at(const aw_history_view *history, const aw_field_point *p,
                                     double r);

/** The next radius beyond r at which the beam's centre crossed a change of curvature. */
double aw_next_edge(const aw_history_view *history, double r);

/** Break points in r' that all field points share; owned, free with aw_partition_free. */
typedef struct aw_partition {
    aw_box *box;    /* [n] at the break points: r ascends, box[0].delay = 0 */
    aw_box *middle; /* [n], of which n - 1 hold: half way from break point i to the next */
    int *hard;      /* [n]: 1 where the integrand's slope may jump: at slices and element edges */
    size_t n, capacity;
} aw_partition;

aw_status aw_partition_new(aw_partition **out);
void aw_partition_free(aw_partition *partition);

/** Choose the break points for one time: steps that grow with r', are whole numbers of slices where
 *  slices are stored (so that halves end on slices), shrink where the circle sweeps through more
 *  than a few cells of the box, and begin anew at element edges; in the far upstream they are
 *  spaced in the logarithm. An adaptive rule started on [0, R] alone would see zeros at all its
 *  nodes and believe them.
 *  @param[in] centre  the grid's centre as a field point; half [m]: half diagonal of its grid
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_RANGE (the stored history does not reach as far as the
 *          circle of causality needs: message), AW_ERR_NONFINITE. */
aw_status aw_partition_make(aw_partition *partition, const aw_history_view *history,
                            const aw_field_point *centre, double half);

/** R(p): the radius beyond which the circle about p no longer meets the beam's box; at most the
 *  last break point. r' - |p - centre(r')| never falls with r' (nothing is faster than light), so
 *  there is one such radius. */
double aw_partition_limit(const aw_partition *partition, const aw_history_view *history,
                          const aw_field_point *p);

/** Regions of one point: the break points cut at R(p), nodes unknown. Regions whose circles miss
 *  the beam's box are left out.
 *  @param[out] region  room for partition->n items
 *  @return the number of regions. */
size_t aw_partition_regions(const aw_partition *partition, const aw_history_view *history,
                            const aw_field_point *p, uint32_t index, aw_region *region);

/** Whether the circles of cell i (from break point i to the next) miss the beam's box for every
 *  point within `reach` [m] of p. */
int aw_partition_misses(const aw_partition *partition, size_t i, const aw_field_point *p,
                        double reach);

AW_END_DECLS
#endif
