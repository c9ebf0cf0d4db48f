/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gauss-Legendre panels in r': the common nodes of all points of a grid. */
#ifndef AW_QUADRATURE_PANELS_H
#define AW_QUADRATURE_PANELS_H
#include "kernels/device/device.h"
#include "kernels/math/view.h"
#include "quadrature/caps.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/* Largest number of nodes of a panel. */
#define AW_PANEL_ORDER AW_PASSAGE_NODES

/** Resolution of the panels. */
typedef struct aw_panels_options {
    int order;    /* nodes of a panel: odd, 3 .. AW_PANEL_ORDER */
    double ratio; /* largest ratio of a panel's end to its beginning, > 1 */
    double still; /* the same where the circle hardly sweeps through the bunch, >= 0 */
    double sweep; /* largest fraction of the beam (its box, along the line of sight) through which
                   * the circle may sweep within a panel */
    /* Of the sweep of images between plates (aw_images_sweep), the part that counts in `sweep`, and
     * that where circles touch the long side of the beam. */
    double images, tangent;
    double first; /* length that a panel may have whatever the ratio, near r' = 0 [m] */
    /* Along each axis of the grid: */
    double spacing[2]; /* largest spacing of nodes on circles smaller than the bunch [m]; HUGE_VAL:
                        * no limit */
    double bunch[2];   /* size of the bunch: on larger circles the integrand varies more slowly, by
                        * (r'/bunch)^2 [m] */
    double density;    /* of the inner rule (aw_common_node) */
    int few_rates;     /* 1: rates are taken at three nodes of a panel only */
    const aw_panel_caps *caps; /* borrowed, or NULL */
    /* [4]: corners of the grid of points (aw_grid_corners), borrowed, if panels may be passages, of
     * which `sweep` limits by how much the beam looks different in them; or NULL. */
    const aw_field_point *corner;
} aw_panels_options;

/** The common nodes of all panels. Initialise with zeros; free with aw_panels_free. */
typedef struct aw_panels {
    aw_common_node *node; /* [n], owned */
    size_t n, capacity, panels;
} aw_panels;

void aw_panels_free(aw_panels *panels);

/** Append panels that cover [from, to] [m], with breaks where the beam's centre crossed a change of
 *  curvature.
 *  @param[in] centre  centre of the grid
 *  @return AW_OK, AW_ERR_ARG (options->order: message), AW_ERR_NOMEM */
aw_status aw_panels_add(aw_panels *panels, const aw_history_view *history,
                        const aw_field_point *centre, double from, double to,
                        const aw_panels_options *options);

/** Whether any panel is a passage. */
int aw_panels_have_passages(const aw_panels *panels);

/** Drop the nodes at which the circle of no point of a rectangle meets the beam, but for those of
 *  passages.
 *  @param[in] corner  corners of the rectangle */
void aw_panels_drop_unseen(aw_panels *panels, const aw_history_view *history,
                           const aw_field_point corner[4]);

AW_END_DECLS
#endif
