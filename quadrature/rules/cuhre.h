/* SPDX-License-Identifier: GPL-3.0-or-later */
/* C-RULE: one cubature rule on one box of 2 to 8 dimensions, its error and the axis to cut; and
 * SEQUENTIAL-CUHRE: a queue of boxes, of which the worst is cut (dissertation, appendix A). */
#ifndef AW_QUADRATURE_RULES_CUHRE_H
#define AW_QUADRATURE_RULES_CUHRE_H
#include <float.h>
#include <math.h>

#include "quadrature/rules/heap.h"
#include "src/base/status.h"

enum {
    AW_CUHRE_DIMENSIONS = 8, /* at most; at least 2 */
    AW_CUHRE_POINTS = 673,   /* of the rule, at most */
    AW_CUHRE_ORBITS = 7,     /* sets of points that symmetry carries into each other */
    AW_CUHRE_NULLS = 6,
    AW_CUHRE_SHARES = 32 /* into which the sums over the points are cut, at most */
};

/* Orbits: the centre; (inner, 0 ..), (outer, 0 ..), (rim, 0 ..) on the axes;
 * (outer, outer, 0 ..); and the corners of two cubes. */
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
#define AW_CUHRE_RIM (1.0 - 0x1p-17) /* a coordinate */

/** The rule of one dimension. All weights are for a mean over the box, one per orbit. */
typedef struct aw_cuhre_rule {
    int n;
    int points; /* 1 + 6 n + 2 n (n - 1) + 2 2^n: 25 in 2, 123 in 5, 673 in 8 dimensions */
    double degree7[AW_CUHRE_ORBITS];              /* the integral */
    double difference[AW_CUHRE_ORBITS];           /* degree 7 less degree 5 */
    double null[AW_CUHRE_NULLS][AW_CUHRE_ORBITS]; /* of degree 5, 5, 5, 3, 3, 1 */
    double axis[3][4]; /* null rules of degree 1, 3, 5 on the points of one axis */
    double sixth;      /* scales the last of these to `difference` */
} aw_cuhre_rule;

/** A box and what the rule found in it. */
typedef struct aw_cuhre_region {
    double c[AW_CUHRE_DIMENSIONS], h[AW_CUHRE_DIMENSIONS]; /* centre and half widths */
    double value, error;                                   /* of the integral */
    int axis;                                              /* to cut next */
} aw_cuhre_region;

/** What a share of the sums over a box's points is. Shares of one orbit know its sum alone. */
typedef struct aw_cuhre_share {
    double largest; /* of the absolute values */
    double sum[3];  /* of the orbit; or of the inner, outer and outermost points of one axis */
    double null[3]; /* sizes of the null rules on that axis */
    double fourth;  /* divided difference along it */
} aw_cuhre_share;

/** SEQUENTIAL-CUHRE: boxes of which the worst is cut, and when that ends. Arrays are the caller's.
 */
typedef struct aw_cuhre_queue {
    aw_cuhre_region *region; /* [n of room] */
    uint32_t *heap;          /* [n of room]: their numbers, the worst on top */
    uint32_t n, room;
    double value, error; /* sums over the regions; the value is the caller's matter */
    double threshold;    /* an error no larger than this is small enough, */
    double enough;       /* and so is a sum of them */
    uint64_t quota;      /* cuts that it may still make */
    int stuck;           /* 1: its worst region is too small to cut */
    int broken;          /* 1: a value is no finite number */
} aw_cuhre_queue;

/* ------------------------------------------------------------------------------------ the rule */

/** The i-th point of the rule: its coordinates x[n]. */
AW_FN void aw_cuhre_point(const aw_cuhre_region *q, int n, int i, double *x)
{
    const int pairs = 1 + 6 * n, corners = pairs + 2 * n * (n - 1);
    if (i >= corners) { /* most of them, in many dimensions */
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

/* Shares of one orbit. */
AW_FN int aw_cuhre_orbit_shares(int n) { return n > 4 ? 8 : 1; }

/** Into how many shares the sums over the points are cut: one for each axis, and as many for each
 *  of the other orbits as are worth the trouble. */
AW_FN int aw_cuhre_shares(int n) { return n + 3 * aw_cuhre_orbit_shares(n); }

/* fmax, which is a function of the library. */
AW_FN double aw_cuhre_larger(double a, double b) { return b > a ? b : a; }

/* Fourth divided difference from the centre and two pairs of points, |x| = a and b. */
AW_FN double aw_cuhre_fourth(double centre, double a2, double at_a, double b2, double at_b)
{
    const double near = (at_a - 2.0 * centre) / a2, far = (at_b - 2.0 * centre) / b2;
    return fabs((far - near) / (b2 - a2));
}

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

/** The i-th share of the sums over the values at the rule's points. */
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

AW_FN double aw_cuhre_weigh(const double *weight, const double *sum)
{
    double total = 0.0;
    for (int k = 0; k < AW_CUHRE_ORBITS; ++k) total += weight[k] * sum[k];
    return total;
}

/* a/b; of what is nothing but rounding, 0. */
AW_FN double aw_cuhre_ratio(double a, double b, double rounding)
{
    if (!(a > rounding)) return 0.0;
    return b > 0.0 ? a / b : HUGE_VAL;
}

/* Of the mean over the box: from sums over the orbits, and of the sizes of null rules on axes. */
AW_FN double aw_cuhre_error(const aw_cuhre_rule *rule, const double *sum, const double *axis,
                            double largest)
{
    double e[AW_CUHRE_NULLS];
    for (int j = 0; j < AW_CUHRE_NULLS; ++j) e[j] = aw_cuhre_weigh(rule->null[j], sum);
    double e1 = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    const double e2 = sqrt(e[3] * e[3] + e[4] * e[4]), e3 = fabs(e[5]);
    e1 = fmax(e1, fabs(aw_cuhre_weigh(rule->difference, sum)));
    e1 = fmax(e1, rule->sixth * axis[2]);
    const double rounding = 16.0 * DBL_EPSILON * largest;
    double r = fmax(aw_cuhre_ratio(e1, e2, rounding), aw_cuhre_ratio(e2, e3, rounding));
    r = fmax(r, 0.5 * aw_cuhre_ratio(axis[2], axis[1], rounding));
    r = fmax(r, 0.5 * aw_cuhre_ratio(axis[1], axis[0], rounding));
    const double error = r < 0.5 ? 3.0 * r * e1 : fmax(1.5 * e1, fmax(e2, e3));
    return fmax(error, rounding);
}

AW_FN int aw_cuhre_axis_to_cut(const aw_cuhre_region *q, int n, const aw_cuhre_share *share,
                               double largest)
{
    const double noise = 1e-14 * largest; /* of a difference: larger by chance is not larger */
    int best = 0;
    for (int i = 1; i < n; ++i) {
        const double more = share[i].fourth - share[best].fourth;
        const double equal = noise + 1e-10 * share[best].fourth;
        if (more > equal || (more >= -equal && q->h[i] > q->h[best])) best = i;
    }
    return best;
}

/** What the shares say of the box: fills value, error and axis. An error that is infinite: a value
 *  or a sum is no finite number.
 *  Error: E1, E2, E3 are sizes of null rules of degree 5, 3 and 1 (quadratic means of orthogonal
 *  ones, against accidents of one), of which E1 is at least |I7 - I5|, and at least what the sixth
 *  differences along all axes would make of it if none cancelled another. With r the larger of
 *  E1/E2 and E2/E3, and at least half of the same ratio along the axes, the error is 3 r E1 where
 *  r < 1/2 (a series that converges: one more ratio gains what degree 7 gains on degree 5), and the
 *  largest of 1.5 E1, E2, E3 elsewhere; at least the rounding of the sums.
 *  Axis: largest fourth divided difference, over inner or outer points; the widest among equals. */
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
    q->value = volume * aw_cuhre_weigh(rule->degree7, sum);
    q->error = volume * aw_cuhre_error(rule, sum, axis, largest);
    q->axis = aw_cuhre_axis_to_cut(q, n, share, largest);
    /* A NaN or an infinity anywhere is one in the value: it enters all sums, if with weight 0. */
    if (!(isfinite(q->value) && isfinite(q->error))) q->error = HUGE_VAL;
}

/* --------------------------------------------------------------------------------- the queue */

AW_FN int aw_cuhre_can_cut(const aw_cuhre_region *q)
{
    return q->h[q->axis] > 8.0 * DBL_EPSILON * fabs(q->c[q->axis]);
}

/** Cut a region into equal pieces along its axis. */
AW_FN void aw_cuhre_cut(const aw_cuhre_region *q, int pieces, aw_cuhre_region *piece)
{
    const int i = q->axis;
    for (int k = 0; k < pieces; ++k) {
        piece[k] = *q;
        piece[k].h[i] = q->h[i] / pieces;
        piece[k].c[i] = q->c[i] + (2 * k + 1 - pieces) * piece[k].h[i];
    }
}

/** What the whole and its pieces disagree about is an error of the whole, and a doubt about the
 *  pieces. */
AW_FN void aw_cuhre_hold_against(const aw_cuhre_region *whole, aw_cuhre_region *piece, int pieces)
{
    double value = 0.0, error = 0.0;
    for (int k = 0; k < pieces; ++k) {
        value += piece[k].value;
        error += piece[k].error;
    }
    const double apart = fabs(value - whole->value);
    const double scale = error > 0.0 ? 1.0 + 0.5 * apart / error : 1.0;
    for (int k = 0; k < pieces; ++k) piece[k].error = piece[k].error * scale + 0.25 * apart;
}

AW_FN aw_heap aw_cuhre_queue_heap(const aw_cuhre_queue *q)
{
    const aw_heap heap = {&q->region->error, sizeof *q->region / sizeof(double), q->heap, q->n};
    return heap;
}

/** Put a region in, for which there is room; the sums are the caller's. */
AW_FN void aw_cuhre_queue_push(aw_cuhre_queue *q, const aw_cuhre_region *region)
{
    aw_heap heap = aw_cuhre_queue_heap(q);
    q->region[q->n] = *region;
    aw_heap_push(&heap, q->n);
    q->n = heap.n;
}

AW_FN double aw_cuhre_queue_top(const aw_cuhre_queue *q) { return q->region[q->heap[0]].error; }

/** Whether there is something to do: until no error is above the threshold, or their sum is small
 *  enough, or the quota is used up. */
AW_FN int aw_cuhre_queue_wants(const aw_cuhre_queue *q)
{
    return !q->stuck && !q->broken && q->quota > 0 && aw_cuhre_queue_top(q) > q->threshold &&
           q->error > q->enough;
}

/** What is to be done next: halves of the worst region, to which the rule is to be applied, and
 *  which go back (aw_cuhre_queue_put). @return 0: nothing, or there is no room */
AW_FN int aw_cuhre_queue_next(aw_cuhre_queue *q, aw_cuhre_region *half)
{
    if (!aw_cuhre_queue_wants(q) || q->n >= q->room) return 0;
    const aw_cuhre_region *worst = &q->region[q->heap[0]];
    if (!aw_cuhre_can_cut(worst)) {
        q->stuck = 1;
        return 0;
    }
    q->quota--;
    aw_cuhre_cut(worst, 2, half);
    return 1;
}

/** Put the halves in the place of the worst region. */
AW_FN void aw_cuhre_queue_put(aw_cuhre_queue *q, aw_cuhre_region *half)
{
    aw_cuhre_region *worst = &q->region[q->heap[0]];
    const aw_heap heap = aw_cuhre_queue_heap(q);
    if (!(half[0].error < HUGE_VAL && half[1].error < HUGE_VAL)) q->broken = 1;
    aw_cuhre_hold_against(worst, half, 2);
    q->error += half[0].error + half[1].error - worst->error;
    *worst = half[0];
    aw_heap_sift_down(&heap);
    aw_cuhre_queue_push(q, &half[1]);
}

#endif
