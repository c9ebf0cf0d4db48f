/* SPDX-License-Identifier: GPL-3.0-or-later */
/* C-RULE on the host: the weights of the cubature rule, and its application to an integrand. */
#ifndef AW_QUADRATURE_CUHRE_RULE_H
#define AW_QUADRATURE_CUHRE_RULE_H
#include "quadrature/rules/cuhre.h"

AW_BEGIN_DECLS

/** Integrand: returns the value at x[n]. Several threads call it concurrently with the same
 *  `context`, so it must lock what it changes there. It must not keep the pointer x. */
typedef double (*aw_cuhre_fn)(void *context, int n, const double *x);

/** Compute the weights for n = 2 .. AW_CUHRE_DIMENSIONS. */
void aw_cuhre_rule_make(aw_cuhre_rule *rule, int n);

/** Apply the rule to the box: fills value, error and axis.
 *  Points: those of Genz and Malik, and two more orbits just inside the centres of the faces and
 *  the corners. These have no weight in the integral, only in the null rules: without them no point
 *  sees a jump or a peak in the outermost 2.6 % of a box (measured: with these points moved in to
 *  0.95, 290 of 683 discontinuous integrals of Genz that were reported as converged were wrong; as
 *  it is, none of 671). No point lies on the boundary.
 *  Error and axis: aw_cuhre_judge.
 *  @return AW_OK, or AW_ERR_NONFINITE (a value or a sum is not finite; error is infinite).
 *  Source: A. C. Genz, A. A. Malik, J. Comput. Appl. Math. 6 (1980) 295 (rules, axis);
 *  J. Berntsen, T. O. Espelid, A. Genz, ACM TOMS 17 (1991) 437 (null rules, ratios). Differs: the
 *  null rules are computed here, by orthogonalisation, and the factors are fitted to tests. */
aw_status aw_cuhre_rule_apply(const aw_cuhre_rule *rule, aw_cuhre_fn f, void *context,
                              aw_cuhre_region *q);

AW_END_DECLS
#endif
