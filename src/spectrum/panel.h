/* SPDX-License-Identifier: GPL-3.0-or-later */
/* int f(x) exp(i Phi(x)) dx over a panel, and over the straight lines before and behind a path, for
 * many wave numbers k: Phi = k q. */
#ifndef AW_SPECTRUM_PANEL_H
#define AW_SPECTRUM_PANEL_H
#include <stddef.h>

#include "src/base/port.h"

AW_BEGIN_DECLS

/** A panel of the path, as one direction sees it: at its ends and its middle (nodes 0, 2 and 1). */
typedef struct aw_panel {
    double half;      /* half its length [m] */
    double q[3];      /* phase over wave number [m], which rises along the path, */
    double slope[3];  /* and its derivative, > 0 */
    double across[3]; /* sine of the angle of the design velocity to the direction, times beta */
    int by_phase;     /* 1: parabolas in q, see below */
} aw_panel;

/** Of each wave number: horizontal and vertical amplitude of the bunch and of a unit charge on the
 *  design orbit; real and imaginary part. */
enum { AW_SUM_H, AW_SUM_V = 2, AW_SUM_ONE_H = 4, AW_SUM_ONE_V = 6, AW_SUMS = 8 };

/** Of each wave number: charge in the bunch's wave, and its horizontal current less the charge
 *  times the design velocity; real and imaginary part [C]. */
enum { AW_WAVE_CHARGE, AW_WAVE_CURRENT = 2, AW_WAVES = 4 };

/** Add a panel to the sums. Amplitudes run as parabolas through the three nodes, and their product
 *  with the exponential of a linear phase is integrated exactly (L. N. G. Filon, Proc. R. Soc.
 *  Edinburgh 49 (1928) 38). There are two ways. The parabola is in the length, and of the amplitude
 *  times exp(i (Phi - its chord)): good where the phase is nearly linear, which the caller sees to.
 *  Or it is in the phase, of the amplitude over the phase's slope: exact for any phase, and good
 *  where the slope changes little from node to node (D. Levin, Math. Comp. 38 (1982) 531).
 *  @param[in] k       [n], wave numbers [1/m]
 *  @param[in] wave    at the three nodes, [AW_WAVES][n] each; NULL: no bunch
 *  @param[in,out] sum [AW_SUMS][n] */
void aw_panel_add(const aw_panel *panel, const double *k, size_t n, const double *const wave[3],
                  double *sum);

/** Add what a straight line adds that begins (sign 1) or ends (-1) at node 0: the term at the end
 *  of an integration by parts, sign i f exp(i k q)/(k slope), exact for a rigid bunch. So neither
 *  the start nor the end of a path radiates. @param[in] wave  [AW_WAVES][n]; NULL: no bunch */
void aw_tail_add(const aw_panel *end, double sign, const double *k, size_t n, const double *wave,
                 double *sum);

AW_END_DECLS
#endif
