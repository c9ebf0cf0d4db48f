/* SPDX-License-Identifier: GPL-3.0-or-later */
/* C-RULE: a cubature rule on one box of 2 to 8 dimensions, its error and the axis to cut; and
 * SEQUENTIAL-CUHRE: a queue of boxes whose worst one is cut (dissertation, appendix A). */
#ifndef AW_QUADRATURE_RULES_CUHRE_H
#define AW_QUADRATURE_RULES_CUHRE_H
#include <float.h>
#include <math.h>

#include "quadrature/rules/heap.h"
#include "src/base/status.h"

enum {
    AW_CUHRE_DIMENSIONS = 8, /* largest number of dimensions; the smallest is 2 */
    AW_CUHRE_POINTS = 673,   /* largest number of points of the rule */
    AW_CUHRE_ORBITS = 7,     /* sets of points that are equivalent by symmetry */
    AW_CUHRE_NULLS = 6,      /* null rules */
    AW_CUHRE_SHARES = 32     /* largest number of partial sums over the points */
};

/* Orbits: the centre; (inner, 0 ..), (outer, 0 ..), (rim, 0 ..) on the axes;
 * (outer, outer, 0 ..); the corners of an inner cube, and of one at the rim. */
enum {
    AW_CUHRE_CENTRE,
    AW_CUHRE_INNER,
    AW_CUHRE_OUTER,
    AW_CUHRE_FACE,
    AW_CUHRE_PAIR,
    AW_CUHRE_CORNER,
    AW_CUHRE_VERTEX
};

/* Squares of the coordinates of the points, in half widths. */
#define AW_CUHRE_INNER2 (9.0 / 70.0)
#define AW_CUHRE_OUTER2 (9.0 / 10.0)
#define AW_CUHRE_CORNER2 (9.0 / 19.0)
#define AW_CUHRE_RIM (1.0 - 0x1p-17) /* not squared */

/** The rule in n dimensions. All weights are for the mean over the box, one per orbit. */
typedef struct aw_cuhre_rule {
    int n;
    int points; /* 1 + 6 n + 2 n (n - 1) + 2 2^n: 25 in 2, 123 in 5, 673 in 8 dimensions */
    double degree7[AW_CUHRE_ORBITS];              /* the integral */
    double difference[AW_CUHRE_ORBITS];           /* degree 7 minus degree 5 */
    double null[AW_CUHRE_NULLS][AW_CUHRE_ORBITS]; /* null rules of degree 5, 5, 5, 3, 3, 1 */
    double axis[3][4]; /* null rules of degree 1, 3, 5 on the points of one axis */
    double sixth;      /* scales the last of these to `difference` */
} aw_cuhre_rule;

/** A box and the results of the rule. */
typedef struct aw_cuhre_region {
    double c[AW_CUHRE_DIMENSIONS], h[AW_CUHRE_DIMENSIONS]; /* centre and half widths */
    double value, error;                                   /* integral over the box, its error */
    int axis;                                              /* along which to cut next */
} aw_cuhre_region;

/** A partial sum over the points of a box: those of one axis, or some of another orbit. For other
 *  orbits only `largest` and sum[0] are set. */
typedef struct aw_cuhre_share {
    double largest; /* largest absolute value */
    double sum[3];  /* over the inner, the outer and the rim points of an axis; or sum[0] */
    double null[3]; /* absolute values of the null rules on the axis */
    double fourth;  /* fourth divided difference along the axis */
} aw_cuhre_share;

/** SEQUENTIAL-CUHRE: a queue of boxes whose worst one is cut, and its stopping criteria. Arrays are
 *  owned by the caller. */
typedef struct aw_cuhre_queue {
    aw_cuhre_region *region; /* [capacity], n in use */
    uint32_t *heap;          /* [capacity], n in use: region indices, the worst on top */
    uint32_t n, capacity;
    double value, error; /* sums over the regions; cuts update `error` only */
    double threshold;    /* stop when no region's error is larger than this ... */
    double enough;       /* ... or their sum is no larger than this */
    uint64_t quota;      /* cuts still permitted */
    int stuck;           /* 1: the worst region is too small to cut */
    int broken;          /* 1: a value is not finite */
} aw_cuhre_queue;

/* ------------------------------------------------------------------------------------ the rule */

/** Coordinates x[n] of the i-th point of the rule. */
AW_FN void aw_cuhre_point(const aw_cuhre_region *q, int n, int i, double *x)
{
    const int pairs = 1 + 6 * n, corners = pairs + 2 * n * (n - 1);
    if (i >= corners) { /* the majority of points in many dimensions */
        const int which = i - corners;
        const double at = which < 1 << n ? sqrt(AW_CUHRE_CORNER2) : AW_CUHRE_RIM;
        for (int k = 0; k < n; ++k) x[k] = q->c[k] + (which >> k & 1 ? at : -at) * q->h[k];
        return;
    }
    for (int k = 0; k < n; ++k) x[k] = q->c[k];
    if (i >= pairs) {
        const double at = sqrt(AW_CUHRE_OUTER2);
        int a = 0, b = (i - pairs) / 4;
        while (b >= n - 1 - a) b -= n - 1 - a++;
        b += a + 1;
        x[a] += ((i - pairs) & 1 ? at : -at) * q->h[a];
        x[b] += ((i - pairs) & 2 ? at : -at) * q->h[b];
    } else if (i > 0) { /* on an axis: inner, outer, rim, each on both sides */
        const int k = (i - 1) / 6, orbit = (i - 1) % 6 / 2;
        const double at = orbit == 0   ? sqrt(AW_CUHRE_INNER2)
                          : orbit == 1 ? sqrt(AW_CUHRE_OUTER2)
                                       : AW_CUHRE_RIM;
        x[k] += (i % 2 ? -at : at) * q->h[k];
    }
}

/* Number of shares of one orbit off the axes. */
AW_FN int aw_cuhre_orbit_shares(int n) { return n > 4 ? 8 : 1; }

/** Number of shares (partial sums over the points): one for each axis, and one or several for each
 *  of the other three orbits, according to their size. */
AW_FN int aw_cuhre_shares(int n) { return n + 3 * aw_cuhre_orbit_shares(n); }

/* The larger number, inline, where fmax would be a call of the library. */
AW_FN double aw_cuhre_larger(double a, double b) { return b > a ? b : a; }

/* Fourth divided difference from the centre and the sums over two pairs of points, at x = +-a and
 * x = +-b; a2 and b2 are the squares. */
AW_FN double aw_cuhre_fourth(double centre, double a2, double at_a, double b2, double at_b)
{
    const double near = (at_a - 2.0 * centre) / a2, far = (at_b - 2.0 * centre) / b2;
    return fabs((far - near) / (b2 - a2));
}

/* The share of one axis. */
AW_FN void aw_cuhre_axis_share(const aw_cuhre_rule *rule, const double *value, int axis,
                               aw_cuhre_share *share)
{
    const double rim2 = AW_CUHRE_RIM * AW_CUHRE_RIM, centre = value[0];
    const double *at = &value[1 + 6 * axis];
    share->largest = fabs(centre);
    for (int i = 0; i < 6; ++i) share->largest = aw_cuhre_larger(share->largest, fabs(at[i]));
    for (int k = 0; k < 3; ++k) share->sum[k] = at[2 * k] + at[2 * k + 1];
    for (int j = 0; j < 3; ++j) {
        const double *w = rule->axis[j];
        share->null[j] = fabs(w[0] * centre + w[1] * share->sum[0] + w[2] * share->sum[1] +
                              w[3] * share->sum[2]);
    }
    share->fourth = fmax(
        aw_cuhre_fourth(centre, AW_CUHRE_INNER2, share->sum[0], AW_CUHRE_OUTER2, share->sum[1]),
        aw_cuhre_fourth(centre, AW_CUHRE_INNER2, share->sum[0], rim2, share->sum[2]));
}

/** The i-th share.
 *  @param[in] value  [rule->points] the integrand at the rule's points */
AW_FN void aw_cuhre_share_of(const aw_cuhre_rule *rule, const double *value, int i,
                             aw_cuhre_share *share)
{
    const int n = rule->n;
    if (i < n) {
        aw_cuhre_axis_share(rule, value, i, share);
        return;
    }
    const int shares = aw_cuhre_orbit_shares(n), orbit = (i - n) / shares;
    const int pairs = 1 + 6 * n, corners = pairs + 2 * n * (n - 1), vertices = corners + (1 << n);
    const int first = orbit == 0 ? pairs : orbit == 1 ? corners : vertices;
    const int end = orbit == 0 ? corners : orbit == 1 ? vertices : rule->points;
    share->largest = share->sum[0] = 0.0;
    for (int k = first + (i - n) % shares; k < end; k += shares) {
        share->sum[0] += value[k];
        share->largest = aw_cuhre_larger(share->largest, fabs(value[k]));
    }
}

AW_FN double aw_cuhre_weighted(const double *weight, const double *sum)
{
    double total = 0.0;
    for (int k = 0; k < AW_CUHRE_ORBITS; ++k) total += weight[k] * sum[k];
    return total;
}

/* a/b, or 0 if a is nothing but rounding. */
AW_FN double aw_cuhre_ratio(double a, double b, double rounding)
{
    if (!(a > rounding)) return 0.0;
    return b > 0.0 ? a / b : HUGE_VAL;
}

/* Error of the mean over the box (aw_cuhre_judge).
 * sum   [AW_CUHRE_ORBITS] over the points of each orbit
 * axis  [3] absolute values of the null rules on axes, summed over the axes */
AW_FN double aw_cuhre_error(const aw_cuhre_rule *rule, const double *sum, const double *axis,
                            double largest)
{
    double e[AW_CUHRE_NULLS];
    for (int j = 0; j < AW_CUHRE_NULLS; ++j) e[j] = aw_cuhre_weighted(rule->null[j], sum);
    double e1 = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    const double e2 = sqrt(e[3] * e[3] + e[4] * e[4]), e3 = fabs(e[5]);
    e1 = fmax(e1, fabs(aw_cuhre_weighted(rule->difference, sum)));
    e1 = fmax(e1, rule->sixth * axis[2]);
    const double rounding = 16.0 * DBL_EPSILON * largest;
    double r = fmax(aw_cuhre_ratio(e1, e2, rounding), aw_cuhre_ratio(e2, e3, rounding));
    r = fmax(r, 0.5 * aw_cuhre_ratio(axis[2], axis[1], rounding));
    r = fmax(r, 0.5 * aw_cuhre_ratio(axis[1], axis[0], rounding));
    const double error = r < 0.5 ? 3.0 * r * e1 : fmax(1.5 * e1, fmax(e2, e3));
    return fmax(error, rounding);
}

/* The axis along which to cut (aw_cuhre_judge). */
AW_FN int aw_cuhre_axis_to_cut(const aw_cuhre_region *q, int n, const aw_cuhre_share *share,
                               double largest)
{
    const double noise = 1e-14 * largest; /* rounding of a difference must not decide */
    int best = 0;
    for (int i = 1; i < n; ++i) {
        const double more = share[i].fourth - share[best].fourth;
        const double equal = noise + 1e-10 * share[best].fourth;
        if (more > equal || (more >= -equal && q->h[i] > q->h[best])) best = i;
    }
    return best;
}

/** Result of the rule from the shares: fills value, error and axis of q. The error is infinite if a
 *  value or a sum is not finite.
 *  Error: E1, E2, E3 are the absolute values of null rules of degree 5, 3 and 1 (root of the sum of
 *  squares of orthogonal rules of one degree, so that one rule vanishing by accident does no harm).
 *  E1 is at least |I7 - I5|, and at least the same difference from the sixth differences along all
 *  axes without cancellation between axes. Let r be the larger of E1/E2 and E2/E3, and at least
 *  half the same ratios along the axes. The error is 3 r E1 where r < 1/2 (the series converges:
 *  one more ratio is the gain of degree 7 over degree 5), and elsewhere the largest of 1.5 E1, E2,
 *  E3; it is at least the rounding of the sums.
 *  Axis: the one with the largest fourth divided difference, from the inner points and the outer or
 *  the rim points; among equals the one along which the box is widest. */
AW_FN void aw_cuhre_judge(const aw_cuhre_rule *rule, const double centre,
                          const aw_cuhre_share *share, aw_cuhre_region *q)
{
    const int n = rule->n, shares = aw_cuhre_orbit_shares(n);
    double sum[AW_CUHRE_ORBITS] = {centre, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    double axis[3] = {0.0, 0.0, 0.0}, largest = 0.0, volume = 1.0;
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < 3; ++k) {
            sum[AW_CUHRE_INNER + k] += share[i].sum[k];
            axis[k] += share[i].null[k];
        }
        volume *= 2.0 * q->h[i];
    }
    for (int i = n; i < aw_cuhre_shares(n); ++i)
        sum[AW_CUHRE_PAIR + (i - n) / shares] += share[i].sum[0];
    for (int i = 0; i < aw_cuhre_shares(n); ++i) largest = fmax(largest, share[i].largest);
    q->value = volume * aw_cuhre_weighted(rule->degree7, sum);
    q->error = volume * aw_cuhre_error(rule, sum, axis, largest);
    q->axis = aw_cuhre_axis_to_cut(q, n, share, largest);
    /* A NaN or an infinity at any point shows up here, since every point enters the sums, some with
     * weight 0. */
    if (!(isfinite(q->value) && isfinite(q->error))) q->error = HUGE_VAL;
}

/* --------------------------------------------------------------------------------- the queue */

/** Whether a region is wide enough to cut along its axis. */
AW_FN int aw_cuhre_can_cut(const aw_cuhre_region *q)
{
    return q->h[q->axis] > 8.0 * DBL_EPSILON * fabs(q->c[q->axis]);
}

/** Cut a region into equal pieces along its axis.
 *  @param[out] piece  [pieces] */
AW_FN void aw_cuhre_cut(const aw_cuhre_region *q, int pieces, aw_cuhre_region *piece)
{
    const int i = q->axis;
    for (int k = 0; k < pieces; ++k) {
        piece[k] = *q;
        piece[k].h[i] = q->h[i] / pieces;
        piece[k].c[i] = q->c[i] + (2 * k + 1 - pieces) * piece[k].h[i];
    }
}

/** Raise the errors of the pieces of a region by the discrepancy between its integral and the sum
 *  of theirs (aw_cuhre, error model). */
AW_FN void aw_cuhre_compare(const aw_cuhre_region *whole, aw_cuhre_region *piece, int pieces)
{
    double value = 0.0, error = 0.0;
    for (int k = 0; k < pieces; ++k) {
        value += piece[k].value;
        error += piece[k].error;
    }
    const double discrepancy = fabs(value - whole->value);
    const double scale = error > 0.0 ? 1.0 + 0.5 * discrepancy / error : 1.0;
    for (int k = 0; k < pieces; ++k) piece[k].error = piece[k].error * scale + 0.25 * discrepancy;
}

/* The heap of the queue, which borrows from it. */
AW_FN aw_heap aw_cuhre_queue_heap(const aw_cuhre_queue *q)
{
    const aw_heap heap = {&q->region->error, sizeof *q->region / sizeof(double), q->heap, q->n};
    return heap;
}

/** Add a region; the capacity must not be used up. The sums are left to the caller. */
AW_FN void aw_cuhre_queue_push(aw_cuhre_queue *q, const aw_cuhre_region *region)
{
    aw_heap heap = aw_cuhre_queue_heap(q);
    q->region[q->n] = *region;
    aw_heap_push(&heap, q->n);
    q->n = heap.n;
}

/** Largest error of a region in the queue. */
AW_FN double aw_cuhre_queue_top(const aw_cuhre_queue *q) { return q->region[q->heap[0]].error; }

/** Whether the queue has to go on: an error is above the threshold, the sum is too large, and the
 *  quota is not used up. */
AW_FN int aw_cuhre_queue_wants(const aw_cuhre_queue *q)
{
    return !q->stuck && !q->broken && q->quota > 0 && aw_cuhre_queue_top(q) > q->threshold &&
           q->error > q->enough;
}

/** Halve the worst region; the caller applies the rule to the halves and returns them with
 *  aw_cuhre_queue_put. @return 0: nothing to do, or the capacity is used up */
AW_FN int aw_cuhre_queue_next(aw_cuhre_queue *q, aw_cuhre_region *half)
{
    if (!aw_cuhre_queue_wants(q) || q->n >= q->capacity) return 0;
    const aw_cuhre_region *worst = &q->region[q->heap[0]];
    if (!aw_cuhre_can_cut(worst)) {
        q->stuck = 1;
        return 0;
    }
    q->quota--;
    aw_cuhre_cut(worst, 2, half);
    return 1;
}

/** Replace the worst region by its halves. */
AW_FN void aw_cuhre_queue_put(aw_cuhre_queue *q, aw_cuhre_region *half)
{
    aw_cuhre_region *worst = &q->region[q->heap[0]];
    const aw_heap heap = aw_cuhre_queue_heap(q);
    if (!(half[0].error < HUGE_VAL && half[1].error < HUGE_VAL)) q->broken = 1;
    aw_cuhre_compare(worst, half, 2);
    q->error += half[0].error + half[1].error - worst->error;
    *worst = half[0];
    aw_heap_sift_down(&heap);
    aw_cuhre_queue_push(q, &half[1]);
}

#endif
