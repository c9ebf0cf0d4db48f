/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error of the forces that a cut of the past at a distance r' makes. */
#ifndef AW_PLAN_UPSTREAM_H
#define AW_PLAN_UPSTREAM_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** What the error depends on. */
typedef struct aw_upstream_case {
    double gamma;
    double sigma_s, sigma_x; /* [m] */
    double cutoff;           /* half the bunch in units of sigma */
    double radius;           /* of the sharpest bend [m]; 0 without bends */
    int transients;          /* 1: some bend is entered from a straight longer than the cut */
} aw_upstream_case;

/** Estimate of the largest error of F_s if sources at retarded distances above `cut` [m] are
 *  ignored, in units of the largest |F_s| in the steady state of the sharpest bend, or of the
 *  space-charge force without bends; from 0 to 1. Derivation and measurement: docs/theory.md,
 *  "Upstream". */
double aw_upstream_error(const aw_upstream_case *c, double cut);

/** The shortest cut [m] whose estimated error is at most `error`, to two digits, rounded up. */
double aw_upstream_needed(const aw_upstream_case *c, double error);

/** Lower limit of a cut [m], below which most of the force is lost: the overtaking length
 *  (24 sigma_s R^2)^(1/3) of the sharpest bend or the diagonal of the bunch, whichever is longer,
 *  but no more than the distance at which a bunch on a straight line is overtaken. */
double aw_upstream_least(const aw_upstream_case *c);

AW_END_DECLS
#endif
