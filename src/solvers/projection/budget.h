/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of many errors may stay: panels keep their length, and nodes in r' their density of nodes
 * in angle, if what they miss fits into a part of the tolerance. */
#ifndef AW_SOLVERS_PROJECTION_BUDGET_H
#define AW_SOLVERS_PROJECTION_BUDGET_H
#include <stddef.h>

/** The largest of n errors that may stay: the smallest of them, so many that their sum is at most
 *  `limit`.
 *  @param[in,out] error  [n], not negative; sorted
 *  @param[in] power  1: they may all have the same sign; 2: they have nothing in common, and their
 *  squares add up
 *  @return an error; -1: none may stay. What is larger, or NaN, may not */
double aw_budget_largest(double *error, size_t n, double limit, double power);

#endif
