/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arcs of the circle of causality inside a rectangle: the limits of the inner integral. */
#ifndef AW_QUADRATURE_RULES_CIRCLE_H
#define AW_QUADRATURE_RULES_CIRCLE_H
#include <math.h>

#include "src/base/port.h"
#include "src/base/units.h"

#define AW_ARCS_MAX 4

/** Arcs of a circle that lie in a rectangle centred at the origin. */
typedef struct aw_arcs {
    int n;                                   /* 0 .. AW_ARCS_MAX */
    int whole;                               /* 1: the only arc is the whole circle */
    double lo[AW_ARCS_MAX], hi[AW_ARCS_MAX]; /* angles [rad], lo < hi <= lo + 2 pi */
} aw_arcs;

/* Intersections with the line at signed distance q from the centre. Bits 1 and 2 of the result:
 * the point at centre + *h, or at centre - *h, lies on the side |coordinate| <= half of the
 * rectangle. The margin assigns a corner to both of its sides. */
AW_FN int aw_circle_cross(double q, double r, double centre, double half, double *h)
{
    if (!(fabs(q) < r)) return 0;
    *h = sqrt((r - q) * (r + q));
    double margin = half * (1.0 + 1e-9);
    return (fabs(centre + *h) <= margin ? 1 : 0) | (fabs(centre - *h) <= margin ? 2 : 0);
}

/* Whether the point of the circle at an angle lies in the rectangle |u| <= a, |w| <= b. */
AW_FN int aw_circle_inside(double u, double w, double r, double a, double b, double angle)
{
    return fabs(u + r * cos(angle)) <= a && fabs(w + r * sin(angle)) <= b;
}

/** Whether the circle with centre (u, w) and radius r may meet the rectangle |u| <= a, |w| <= b:
 *  its radius lies between the distances of the rectangle's nearest and furthest points. */
AW_FN int aw_circle_meets(double u, double w, double r, double a, double b)
{
    const double margin = 1.0 + 1e-9;
    const double du = fmax(fabs(u) - a, 0.0), dw = fmax(fabs(w) - b, 0.0);
    const double fu = fabs(u) + a, fw = fabs(w) + b, r2 = r * r;
    return du * du + dw * dw <= margin * r2 && r2 <= margin * (fu * fu + fw * fw);
}

/** Arcs of the circle with centre (u, w) and radius r > 0 inside |u| <= a, |w| <= b.
 *  Angles are directions from the centre. There may be no arc, several, or the whole circle. Limits
 *  are exact to rounding; arcs shorter than 1e-9 rad may be missed. */
AW_FN aw_arcs aw_circle_arcs(double u, double w, double r, double a, double b)
{
    double angle[17], h = 0.0;
    int n = 0;
    aw_arcs arcs = {0, 0, {0.0}, {0.0}};
    if (!aw_circle_meets(u, w, r, a, b)) return arcs;
    for (int side = -1; side <= 1; side += 2) {
        double q = side * a - u;
        int hit = aw_circle_cross(q, r, w, b, &h);
        if (hit & 1) angle[n++] = atan2(h, q);
        if (hit & 2) angle[n++] = atan2(-h, q);
        q = side * b - w;
        hit = aw_circle_cross(q, r, u, a, &h);
        if (hit & 1) angle[n++] = atan2(q, h);
        if (hit & 2) angle[n++] = atan2(q, -h);
    }
    if (n == 0) {
        if (!aw_circle_inside(u, w, r, a, b, 0.0)) return arcs;
        arcs.n = arcs.whole = 1;
        arcs.lo[0] = -AW_PI;
        arcs.hi[0] = AW_PI;
        return arcs;
    }
    for (int i = 1; i < n; ++i) { /* insertion sort: at most 16 */
        double v = angle[i];
        int j = i - 1;
        for (; j >= 0 && angle[j] > v; --j) angle[j + 1] = angle[j];
        angle[j + 1] = v;
    }
    angle[n] = angle[0] + 2.0 * AW_PI;
    for (int i = 0; i < n; ++i) {
        if (!(angle[i + 1] > angle[i])) continue;
        if (!aw_circle_inside(u, w, r, a, b, 0.5 * (angle[i] + angle[i + 1]))) continue;
        if (arcs.n > 0 && arcs.hi[arcs.n - 1] == angle[i]) {
            arcs.hi[arcs.n - 1] = angle[i + 1]; /* the side is touched only: one arc, not two */
        } else if (arcs.n < AW_ARCS_MAX) {
            arcs.lo[arcs.n] = angle[i];
            arcs.hi[arcs.n++] = angle[i + 1];
        }
    }
    /* Join an arc that was cut at the beginning of the list of angles. */
    if (arcs.n > 1 && arcs.hi[arcs.n - 1] == arcs.lo[0] + 2.0 * AW_PI) {
        arcs.lo[0] = arcs.lo[arcs.n - 1] - 2.0 * AW_PI;
        arcs.n--;
    }
    return arcs;
}

#endif
