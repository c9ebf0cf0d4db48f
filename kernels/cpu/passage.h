/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mean of a table over the passage of the circles through the beam, from one end of a panel to the
 * other. A point's circle sweeps through many cells in a panel, and what it meets varies from cell
 * to cell; but how the beam looks at a given offset varies slowly. After Filon (Proc. R. Soc.
 * Edinburgh 49 (1928) 38), what varies slowly is interpolated from node to node, here by Lagrange's
 * polynomial l_i(r') through the nodes of a panel, and the rest is integrated as it is:
 *
 *   int f(q(r'), r') dr' = sum_i int l_i(r') T_i(q(r')) dr',
 *
 * with the table T_i of node i and the offsets q through which a point passes. The inner integral
 * is a mean of the table over its own offsets, and makes another table, of the offset that the
 * point has at the node. Offsets are measured in parts of the beam's extent along the line of
 * sight, and what is seen is multiplied by that extent: a thin tilted bunch then looks the same at
 * any angle. */
#ifndef AW_KERNELS_CPU_PASSAGE_H
#define AW_KERNELS_CPU_PASSAGE_H
#include "kernels/cpu/simd/simd.h"
#include "kernels/device/device.h"
#include "kernels/math/projection.h"

/** The passage of one node, and scratch memory of a thread. Initialise with zeros; free with
 *  aw_passage_free. */
typedef struct aw_passage {
    struct aw_stop *stop; /* [stops]: nodes in r' of the inner integral, owned */
    size_t stops, stop_capacity;
    double *weight; /* [weight_capacity], owned: of a table's entries in a mean, between zeros */
    size_t weight_capacity;
    double entries; /* by which the offset grows from node to node, approximately */
} aw_passage;

/** Table of a node of a passage, while it is made. */
typedef struct aw_passage_table {
    const aw_variant *variant; /* borrowed */
    const aw_projection *p;    /* of the node, with its offsets; borrowed */
    int per_cell;              /* offsets per cell */
    int k, order;              /* direction k of `order` + 1 */
} aw_passage_table;

/** Prepare the means of a node's tables.
 *  @param[in] centre  of the grid of points
 *  @param[in] p       of the node, with its offsets
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_passage_begin(const aw_history_view *h, const aw_field_point *centre,
                           const aw_common_node *node, const aw_projection *p, aw_passage *out);

/** Means in one direction.
 *  @param[in]  in   [p->n][AW_PROJECTION_WIDTH]: the beam as seen at the node's time
 *  @param[out] out  [p->read][AW_PROJECTION_WIDTH]: for a point at offset p->skip + i
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_RANGE (more than AW_PROJECTION_OFFSETS passed, or NaN) */
aw_status aw_passage_mean(aw_passage *passage, const aw_passage_table *table,
                          const double (*in)[AW_PROJECTION_WIDTH],
                          double (*out)[AW_PROJECTION_WIDTH]);

void aw_passage_free(aw_passage *passage);

#endif
