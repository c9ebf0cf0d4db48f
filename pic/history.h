/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The beam's past: a ring of slices within a memory budget. */
#ifndef AW_PIC_HISTORY_H
#define AW_PIC_HISTORY_H
#include "kernels/math/view.h"
#include "pic/frame.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

typedef struct aw_history_params {
    int ns, nx, single;
    double cdt;          /* [m] */
    double gamma;        /* of the beam before the start */
    double upstream_cut; /* distance r' at which the upstream is cut [m] */
    size_t slices;       /* that the ring holds at most, >= 4 */
} aw_history_params;

typedef struct aw_history aw_history;

/** Bytes that a ring of `slices` slices takes. */
size_t aw_history_bytes(const aw_history_params *params);

/** @return AW_OK, AW_ERR_NOMEM. Slices are allocated as they are pushed. */
aw_status aw_history_new(const aw_history_params *params, aw_history **out);
void aw_history_free(aw_history *history);

/** Room for the next slice's cells, zeroed or of the oldest slice that is dropped; valid until the
 *  next call. The ranks of a node have one history in common: the first of them writes there, and
 *  the others, who write the same, elsewhere. All of them must make, fill, push and free alike.
 *  @return NULL when out of memory. */
void *aw_history_cells(aw_history *history);

/** Make the cells of aw_history_cells() the newest slice, deposited on `frame`. */
void aw_history_push(aw_history *history, const aw_frame *frame);

/** View of what is stored; borrowed, valid until the next push. */
const aw_history_view *aw_history_look(aw_history *history, const aw_orbit_view *orbit);

AW_END_DECLS
#endif
