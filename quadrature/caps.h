/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Caps on the lengths of panels in r' (panels.h): where panels have proved too long. What a panel
 * must resolve belongs to the magnet or drift where the circles meet the beam: caps upstream of the
 * last change of curvature stay where they are on the orbit, and their r' grows from step to
 * step. */
#ifndef AW_QUADRATURE_CAPS_H
#define AW_QUADRATURE_CAPS_H
#include "kernels/math/view.h"

AW_BEGIN_DECLS

/* Largest number of caps; beyond it the loosest is forgotten. */
enum { AW_CAPS_MAX = 2048 };

/** A panel that begins at r' >= from and overlaps the range may be so long. */
typedef struct aw_panel_cap {
    double from, to; /* of r' [m] */
    double length;   /* > 0 [m] */
} aw_panel_cap;

/** All caps, in no order. Initialise with zeros. */
typedef struct aw_panel_caps {
    aw_panel_cap cap[AW_CAPS_MAX]; /* [n] */
    int n;
    double ct; /* of the step whose r' they have [m] */
} aw_panel_caps;

/** Add a cap. Those within its range that are longer are superseded. */
void aw_panel_caps_add(aw_panel_caps *caps, const aw_panel_cap *cap);

/** Take the r' of another step, that of the view. */
void aw_panel_caps_follow(aw_panel_caps *caps, const aw_history_view *history);

/** Raise all caps by a factor; one that is longer than its range is forgotten. */
void aw_panel_caps_forget(aw_panel_caps *caps, double factor);

/** End, at most b, of a panel from a on that observes the caps [m]. */
double aw_panel_caps_end(const aw_panel_caps *caps, double a, double b);

AW_END_DECLS
#endif
