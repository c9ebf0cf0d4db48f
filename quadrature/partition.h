/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The initial partition of the outer integral, from geometry alone, before any evaluation. */
#ifndef AW_QUADRATURE_PARTITION_H
#define AW_QUADRATURE_PARTITION_H
#include "kernels/math/view.h"
#include "quadrature/rules/simpson.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** The beam's box: the rectangle in which the moments may be non-zero, at one r'. */
typedef struct aw_box {
    double r, least; /* r', and the radius of the smallest of its circles [m]; that of the
                            * largest is r' (kernels/math/height.h) */
    double gap, rms; /* between plates, and of the difference of heights [m] */
    int images, images_only;
    double z, x;           /* centre [m] */
    double cg, sg;         /* direction of its s axis */
    double half_s, half_x; /* [m] */
} aw_box;

/** The beam at one r' as seen from a point. */
typedef struct aw_view_geometry {
    double lead;   /* lead of the largest circle over the beam's centre, r' - |p - centre| [m] */
    double last;   /* lead of the smallest, those of images included [m] */
    double reach;  /* half diagonal of the beam's box [m] */
    double extent; /* half extent of the box along the line of sight [m] */
    double across; /* half extent of the box across the line of sight [m] */
    double chord;  /* half of the longest chord of the box along the line of sight: shorter than
                    * the extent if the box is at an angle to it [m] */
    double cell;   /* length along the line of sight over which a sum across it varies: the longer
                    * projection of a cell of the grid [m] */
} aw_view_geometry;

/** View geometry of the beam at r' = r from point p. */
aw_view_geometry aw_view_geometry_at(const aw_history_view *history, const aw_field_point *p,
                                     double r);

/** By how much circles of images that meet the beam sweep through it from one r' to another, beyond
 *  the others [m]: an image at Y has the radius r' - Y^2/2r', with Y^2/2r' at most what the circle
 *  of any point of the grid leads over the nearest part of the beam.
 *  @param[out] tangent  whether circles of images about points of the grid touch the long side of
 *  the beam's box at an r' in between; they then cross all of it at once. NULL: not wanted */
double aw_images_sweep(const aw_history_view *history, double from, double to, int *tangent);

/** By how much the circle of the outermost image is less than r' [m]. */
double aw_images_lag(const aw_history_view *history, double r);

/** The next r' beyond r at which the beam's centre crossed a change of curvature [m]; HUGE_VAL:
 *  there is none. */
double aw_next_edge(const aw_history_view *history, double r);

/** Break points in r' common to all field points. The arrays are owned. */
typedef struct aw_partition {
    aw_box *box;    /* [n] at the break points: r' ascends from box[0].r = 0 */
    aw_box *middle; /* [n], n - 1 in use: half way from break point i to the next */
    int *hard;      /* [n]: 1 where the integrand's slope may jump: at slices and element edges */
    size_t n, capacity;
} aw_partition;

/** An empty partition. @return AW_OK, AW_ERR_NOMEM. Free with aw_partition_free. */
aw_status aw_partition_new(aw_partition **out);
void aw_partition_free(aw_partition *partition);

/** Choose the break points for one time. Steps grow with r', are whole numbers of slices where
 *  slices are stored (so that halves end on slices), shrink where the circle sweeps through more
 *  than a few cells of the box, and restart at element edges; in the far upstream they are uniform
 *  in ln r'. (An adaptive rule started on [0, R] alone would find zeros at all its nodes and accept
 *  them.)
 *  @param[in] centre  the grid's centre as a field point
 *  @param[in] half    half diagonal of the grid [m]
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_RANGE (the circle of causality still meets the beam where
 *          the stored history ends: message), AW_ERR_NONFINITE (message). */
aw_status aw_partition_make(aw_partition *partition, const aw_history_view *history,
                            const aw_field_point *centre, double half);

/** R(p): the r' beyond which no circle about p meets the beam's box any more [m]; at most the
 *  last break point. r' - |p - centre(r')| never decreases with r' (the beam is slower than light),
 *  so there is exactly one such radius. */
double aw_partition_limit(const aw_partition *partition, const aw_history_view *history,
                          const aw_field_point *p);

/** Regions of one point: between the break points up to R(p), with unknown nodes, without those
 *  whose circles miss the beam's box.
 *  @param[in]  index   number of the point, for aw_region.point
 *  @param[out] region  capacity partition->n
 *  @return the number of regions */
size_t aw_partition_regions(const aw_partition *partition, const aw_history_view *history,
                            const aw_field_point *p, uint32_t index, aw_region *region);

/** Whether the circles of cell i (from break point i to the next) miss the beam's box for every
 *  point within `reach` [m] of p. */
int aw_partition_misses(const aw_partition *partition, size_t i, const aw_field_point *p,
                        double reach);

AW_END_DECLS
#endif
