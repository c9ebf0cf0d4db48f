/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A wake function from a table, and what it does to a line density on a regular grid. */
#ifndef AW_PIC_WAKE_FUNCTION_H
#define AW_PIC_WAKE_FUNCTION_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Points of a function of the distance behind the source, linear between them, and constant beyond
 *  the last one. All arrays are owned. */
typedef struct aw_wake_points {
    size_t n;         /* 0: the function is zero */
    double *at;       /* [n] rising from 0 [m] */
    double *value;    /* [n] */
    double *integral; /* [n] of the function, from the source */
    size_t room[2];   /* capacities of `at` and `value` */
} aw_wake_points;

/** What a charge loses to one that is y ahead of it, per charge of that one [V/C]:
 *      W(y) = w(y) + 1/C + R c delta(y) - c d/dy [L c delta(y) + w1(y)],    y >= 0,
 *  positive where energy is lost, and nothing ahead of the source. The singular part of a function
 *  is in R, L and w1, whose derivative exists once it has met a density. Source: I. Zagorodnov, M.
 *  Dohlus, S. Tomin, PRAB 22 (2019) 024401, eq. (B1). Start with zeros. */
typedef struct aw_wake_function {
    aw_wake_points w;  /* [V/C] */
    aw_wake_points w1; /* [V s/C] */
    double R, L;       /* [Ohm], [H] */
    double per_C;      /* 1/C [1/F] */
    double reach;      /* distance up to which it is known [m]; INFINITY: R, L and C alone */
} aw_wake_function;

/** Add a point. @return AW_OK, AW_ERR_NOMEM */
aw_status aw_wake_points_add(aw_wake_points *points, double at, double value);

/** Complete a function whose points and constants are set: its reach, and what is derived from
 *  them. Once. @return AW_OK, AW_ERR_NOMEM */
aw_status aw_wake_function_finish(aw_wake_function *function);
void aw_wake_function_free(aw_wake_function *function);

/** 1 if it is zero everywhere. */
int aw_wake_function_is_zero(const aw_wake_function *function);

/** What the function says along the bunch, or across it (Panofsky and Wenzel). */
typedef enum aw_wake_order {
    AW_WAKE_ITSELF,  /* W(y) */
    AW_WAKE_INTEGRAL /* its integral over the distance, from the source to y */
} aw_wake_order;

/** Weights of the convolution on n nodes, h apart, along which s rises: with the line density
 *  lambda(s) = sum_j c_j B(s/h - j), B the cubic B-spline (pic/line/kernel.h),
 *      int W(s' - s_i) lambda(s') ds' = sum_j weight[j - i + 1] c_j,    j - i >= -1.
 *  Exact for the function as it is between its points: three Gauss nodes for each part of a cell
 *  between two of them, where the integrand has degree five at most. So a charge meets half of its
 *  own W(0), as the fundamental theorem of beam loading wants it: its spline lies on both sides.
 *  @param[out] weight  [n + 1] */
void aw_wake_weights(const aw_wake_function *function, aw_wake_order order, double h, int n,
                     double *weight);

AW_END_DECLS
#endif
