/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gauss-Legendre panels in r' that all points of a grid share. */
#ifndef AW_QUADRATURE_PANELS_H
#define AW_QUADRATURE_PANELS_H
#include "kernels/device/device.h"
#include "kernels/math/view.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/* Most nodes of a panel. */
#define AW_PANEL_ORDER 31

/* Cells of ln r', from where [m], and how many of them. */
#define AW_CAP_CELL 0.02
#define AW_CAP_FROM 1e-6
enum { AW_CAP_CELLS = 1200 };

/** Largest ln(end/beginning) of a panel that overlaps a cell of ln r'; 0: any. Begin with zeros. */
typedef struct aw_panel_caps {
    double most[AW_CAP_CELLS];
} aw_panel_caps;

/** Lower the caps between a and b > a. */
void aw_panel_caps_lower(aw_panel_caps *caps, double a, double b, double most);

/** Let the caps grow by a factor, until they are none. */
void aw_panel_caps_forget(aw_panel_caps *caps, double factor);

/** How fine a rule is. */
typedef struct aw_panels_how {
    int order;      /* nodes of a panel: odd, 3 .. AW_PANEL_ORDER */
    double ratio;   /* of a panel's end to its beginning, at most, > 1 */
    double still;   /* the same, 0 or more, where the circle hardly sweeps through the bunch */
    double sweep;   /* of the beam's box along the line of sight, the part that the circle sweeps
                     * through within a panel, at most */
    double first;   /* a panel may be that long whatever the ratio (near r' = 0) [m] */
    double spacing; /* of nodes, at most [m], on circles smaller than the bunch; HUGE_VAL: any */
    double bunch;   /* its size: larger circles change slower, by (r'/bunch)^2 [m] */
    double density; /* of the inner rule (aw_common_node) */
    int few_rates;  /* 1: three nodes of a panel are enough for the rates */
    const aw_panel_caps *caps; /* borrowed, or NULL */
} aw_panels_how;

/** Nodes; owned, free with aw_panels_free. */
typedef struct aw_panels {
    aw_common_node *node;
    size_t n, capacity, panels;
} aw_panels;

void aw_panels_free(aw_panels *panels);

/** Add panels that fill [from, to], with breaks where the beam's centre crossed a change of
 *  curvature.
 *  @param[in] centre  of the grid
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_panels_add(aw_panels *panels, const aw_history_view *history,
                        const aw_field_point *centre, double from, double to,
                        const aw_panels_how *how);

/** Drop the nodes at which no point of a rectangle sees anything of the beam.
 *  @param[in] corner  of the rectangle */
void aw_panels_drop_unseen(aw_panels *panels, const aw_history_view *history,
                           const aw_field_point corner[4]);

AW_END_DECLS
#endif
