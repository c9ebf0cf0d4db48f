/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The beam's past: its newest slices, up to a fixed number. */
#ifndef AW_PIC_HISTORY_H
#define AW_PIC_HISTORY_H
#include "kernels/math/view.h"
#include "pic/frame.h"
#include "src/archive/archive.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

typedef struct aw_history_params {
    int ns, nx;          /* nodes of a slice */
    int single;          /* 1: cells are float; 0: double */
    double cdt;          /* c times the first step [m] */
    double gamma;        /* of the beam before the start */
    double gap;          /* between plates; 0: none [m] */
    int images;          /* of the bunch in them, above and below, at most */
    double upstream_cut; /* distance r' beyond which the upstream is ignored [m] */
    size_t slices;       /* capacity, >= 4 */
} aw_history_params;

typedef struct aw_history aw_history;

/** Bytes of memory of a history that is full. */
size_t aw_history_bytes(const aw_history_params *params);

/** An empty history; cells are allocated as slices are pushed. Free with aw_history_free.
 *  @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_history_new(const aw_history_params *params, aw_history **out);
void aw_history_free(aw_history *history);

/** Cells for the next slice, aw_slice_bytes() bytes, owned by the history and valid until the push:
 *  either zero or those of the oldest slice, which is dropped. The ranks of a node have one history
 *  in common. The first rank writes to it; the others, which compute the same numbers, get private
 *  cells. All ranks must make the same calls.
 *  @return NULL when out of memory. */
void *aw_history_cells(aw_history *history);

/** Make the cells of aw_history_cells() the newest slice; they were deposited on the grid of
 *  `frame`, at the time ct/c [m], which is later than that of the last one.
 *  @param[in] height2  square of the rms height of the beam then [m^2] */
void aw_history_push(aw_history *history, const aw_frame *frame, double height2, double ct);

/** View of the stored slices; borrowed, valid until the next push. */
const aw_history_view *aw_history_look(aw_history *history, const aw_orbit_view *orbit);

/** Save the slices, or load them into an empty history of the same kind and of at least as many
 *  slices. All ranks that load must call this, each with an archive of its own. */
void aw_history_archive(aw_history *history, aw_archive *archive);

AW_END_DECLS
#endif
