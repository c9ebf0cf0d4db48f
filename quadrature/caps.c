/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quadrature/caps.h"

#include <math.h>

#include "quadrature/partition.h"

static void drop(aw_panel_caps *caps, int i) { caps->cap[i] = caps->cap[--caps->n]; }

/* How much of its range a cap leaves to one panel: the most of all is the least worth keeping. */
static double looseness(const aw_panel_cap *cap) { return cap->length / (cap->to - cap->from); }

static int loosest(const aw_panel_caps *caps)
{
    int found = 0;
    for (int i = 1; i < caps->n; ++i)
        if (looseness(&caps->cap[i]) > looseness(&caps->cap[found])) found = i;
    return found;
}

void aw_panel_caps_add(aw_panel_caps *caps, const aw_panel_cap *cap)
{
    for (int i = caps->n; i-- > 0;) {
        const aw_panel_cap *old = &caps->cap[i];
        if (old->from >= cap->from && old->to <= cap->to && old->length >= cap->length)
            drop(caps, i);
    }
    if (caps->n == AW_CAPS_MAX) drop(caps, loosest(caps));
    caps->cap[caps->n++] = *cap;
}

void aw_panel_caps_follow(aw_panel_caps *caps, const aw_history_view *history)
{
    const double ct = history->slice[0].ct, moved = ct - caps->ct;
    const double edge = aw_next_edge(history, 0.0); /* where the bunch now is, r' stays as it is */
    for (int i = 0; i < caps->n; ++i) {
        aw_panel_cap *cap = &caps->cap[i];
        if (0.5 * (cap->from + cap->to) + moved <= edge) continue;
        cap->from += moved;
        cap->to += moved;
    }
    caps->ct = ct;
}

void aw_panel_caps_forget(aw_panel_caps *caps, double factor)
{
    for (int i = caps->n; i-- > 0;) {
        caps->cap[i].length *= factor;
        if (!(looseness(&caps->cap[i]) <= 1.0)) drop(caps, i);
    }
}

double aw_panel_caps_end(const aw_panel_caps *caps, double a, double b)
{
    for (int i = 0; i < caps->n; ++i) {
        const aw_panel_cap *cap = &caps->cap[i];
        if (cap->to <= a || cap->from >= b) continue;
        b = fmin(b, fmax(cap->from, a + cap->length));
    }
    return b;
}
