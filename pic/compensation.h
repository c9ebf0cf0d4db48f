/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compensation of the smoothing by B-splines, so that the error of the grid is of sixth order, and
 * what it does to the noise of single cells. */
#ifndef AW_PIC_COMPENSATION_H
#define AW_PIC_COMPENSATION_H
#include <stddef.h>

#include "src/base/port.h"

AW_BEGIN_DECLS

/** Nodes with AW_QUAD numbers each, in rows, s fastest. */
typedef struct aw_quad_grid {
    int ns, nx;    /* nodes of a row, and rows; >= 5 */
    ptrdiff_t row; /* from a node to the same one of the next row, in nodes; >= ns */
} aw_quad_grid;

enum { AW_QUAD = 4 };

/** Compensate deposited moments for the smoothing by the deposit and by the reading of the slice:
 *  each is a convolution with the quadratic B-spline, and multiplies a wave k by sinc^3(k h/2).
 *  The filter 1 - d^2/4 + 13/240 d^4, with d^2 the second difference along either axis, multiplies
 *  it by 1/sinc^6 (k h/2) up to O(k^6 h^6). Waves of less than three cells would be amplified up to
 *  2.9 times, and are noise: a second filter 1 + d^10/1024 multiplies them by 1 - sin^10(k h/2),
 *  which is 0.97 at four cells, 0.76 at three and 0 at two. Sums are kept: nothing flows over the
 *  edges. Source: compensating filters of Birdsall and Langdon, Plasma Physics via Computer
 *  Simulation, app. C; differs: compensates for the shape of the particles, to sixth order, and the
 *  second filter.
 *  @param[in,out] cells    of node (0, 0), 32-byte aligned
 *  @param         scratch  as large, overwritten */
void aw_compensate_moments(const aw_quad_grid *grid, double *cells, double *scratch);

/** Compensate a field on the nodes for the smoothing by the gather alone: 1 - d^2/8 + 37/1920 d^4,
 *  1/sinc^3 (k h/2) up to O(k^6 h^6). At the edges d^2 is that of the next node inward. Arguments
 *  as of aw_compensate_moments. */
void aw_compensate_field(const aw_quad_grid *grid, double *field, double *scratch);

/** aw_compensate_field of an array of one number per node ([nx][ns]), at node (i, j) alone. */
double aw_compensated_at(const double *field, int ns, int nx, int i, int j);

/** The nodes that the compensation of a field reads at those of a set.
 *  @param[in,out] set  [nx][ns], s fastest; not 0: the node belongs to it; overwritten
 *  @param[out] reads   [nx][ns] */
void aw_compensation_reads(int ns, int nx, unsigned char *set, unsigned char *reads);

AW_END_DECLS
#endif
