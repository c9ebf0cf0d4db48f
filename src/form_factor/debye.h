/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mean of |F(k)|^2 over all directions of k, in two ways that share nothing but the sums of
 * waves: over the distances of all pairs of particles, and over directions. */
#ifndef AW_FORM_FACTOR_DEBYE_H
#define AW_FORM_FACTOR_DEBYE_H
#include "src/form_factor/form_factor.h"

AW_BEGIN_DECLS

/** Magnitudes of k: first + i step [1/m]. */
typedef struct aw_radii {
    double first, step;
    size_t n;
} aw_radii;

/** A mean over directions. Everything is borrowed. */
typedef struct aw_debye_task {
    const aw_device *device;
    aw_form_arrays particles; /* [n] */
    size_t n;
    aw_radii radii;
    aw_form_options options;
} aw_debye_task;

/** Over pairs: sum_ij q_i q_j sin(k r_ij) / (k r_ij) / Q^2. Each distance is a particle of weight
 *  q_i q_j / r_ij on a line, of whose form factor the imaginary part is the sum: n^2/2 such
 *  particles, which the device gets a part at a time.
 *  @param[out] mean  [radii.n]
 *  @return as aw_form_factor
 *  Source: P. Debye, Ann. Phys. 351 (1915) 809. */
aw_status aw_debye(const aw_debye_task *task, double *mean);

/** Over directions: a product of Gauss's rule in the cosine to the third axis and of equal steps
 *  about it. Exact if |F|^2 of a sphere of radius k is a polynomial of degree 2 order - 1 in the
 *  direction, which it is to rounding where `order` is some ten above k times the largest distance
 *  of a particle from the origin.
 *  @param[in] order  1 to AW_DEBYE_ORDER
 *  @return as aw_form_factor; AW_ERR_ARG (order: message) */
aw_status aw_debye_directions(const aw_debye_task *task, int order, double *mean);

/** Largest order of the rule, and the order for these particles and radii; 0: it is larger. */
enum { AW_DEBYE_ORDER = 2000 };
int aw_debye_order(const aw_debye_task *task);

AW_END_DECLS
#endif
