/* SPDX-License-Identifier: GPL-3.0-or-later */
/* C-RULE: one cubature rule on one box of 2 to 8 dimensions, its error and the axis to cut. */
#ifndef AW_QUADRATURE_CUHRE_RULE_H
#define AW_QUADRATURE_CUHRE_RULE_H
#include "quadrature/rules/cuhre.h"

AW_BEGIN_DECLS

/** Integrand: the value at x[n]. Several threads call it at once with one `context`, which it must
 *  not change without a lock of its own. It must not keep x. */
typedef double (*aw_cuhre_fn)(void *context, int n, const double *x);

/** Make the rule for n = 2 .. AW_CUHRE_DIMENSIONS. */
void aw_cuhre_rule_make(aw_cuhre_rule *rule, int n);

/** Apply the rule to the box: fills value, error and axis.
 *  Points: those of Genz and Malik, and two more orbits just inside the middles of the faces and
 *  the corners, which carry no weight in the integral but in the null rules: a jump or a peak in
 *  the outermost 2.6 % of a box is otherwise seen by no point (measured: with these points drawn in
 *  to 0.95, 290 of 683 discontinuous integrals of Genz were wrong that said they had converged; as
 *  it is, none of 671). No point lies on the boundary.
 *  Error and axis: aw_cuhre_judge.
 *  @return AW_OK, or AW_ERR_NONFINITE (a value or a sum is no finite number; error is infinite).
 *  Source: A. C. Genz, A. A. Malik, J. Comput. Appl. Math. 6 (1980) 295 (rules, axis);
 *  J. Berntsen, T. O. Espelid, A. Genz, ACM TOMS 17 (1991) 437 (null rules, ratios). Differs: the
 *  null rules are made here, by orthogonalisation, and the factors are measured ones. */
aw_status aw_cuhre_rule_apply(const aw_cuhre_rule *rule, aw_cuhre_fn f, void *context,
                              aw_cuhre_region *q);

AW_END_DECLS
#endif
