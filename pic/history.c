/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/history.h"

#include <math.h>
#include <string.h>

#include "kernels/math/height.h"
#include "pic/deposit.h"
#include "src/archive/hash.h"
#include "src/base/comm.h"
#include "src/base/memory.h"
#include "src/base/shared_memory.h"

struct aw_history {
    aw_history_params params;
    aw_slice *slice; /* [slices], newest first */
    size_t n;        /* slices stored */
    uint64_t pushed; /* slices ever pushed */
    void *spare;     /* cells of the next slice, not yet pushed */
    void *scratch;   /* where a rank writes if another rank of its node writes the cells; owned */
    aw_shared_memory *segment; /* [segments], memory of the cells */
    size_t segments, segment_capacity;
    size_t allocated; /* slices whose cells have been taken from the segments */
    aw_history_view view;
};

size_t aw_history_bytes(const aw_history_params *params)
{
    size_t one = aw_slice_bytes(params->ns, params->nx, params->single);
    return params->slices * ((one + 63) / 64 * 64 + sizeof(aw_slice));
}

aw_status aw_history_new(const aw_history_params *params, aw_history **out)
{
    aw_history *h = aw_alloc(1, sizeof *h);
    *out = NULL;
    if (!h) return AW_ERR_NOMEM;
    h->params = *params;
    h->slice = aw_alloc(params->slices, sizeof *h->slice);
    if (!h->slice) {
        aw_free(h);
        return AW_ERR_NOMEM;
    }
    *out = h;
    return AW_OK;
}

/* Slices per segment: several, since to allocate memory common to ranks takes long. */
static size_t slices_per_segment(void) { return aw_comm_node_size() > 1 ? 16 : 1; }

void aw_history_free(aw_history *history)
{
    if (!history) return;
    for (size_t i = 0; i < history->segments; ++i) aw_shared_memory_free(&history->segment[i]);
    aw_free(history->segment);
    aw_free(history->slice);
    aw_free(history->scratch);
    aw_free(history);
}

/* Bytes of the cells of a slice, up to the begin of the next one's, which is aligned. */
static size_t cells_bytes(const aw_history *h)
{
    return (aw_slice_bytes(h->params.ns, h->params.nx, h->params.single) + 63) / 64 * 64;
}

/* Cells that no slice has used yet. @return NULL when out of memory */
static void *new_cells(aw_history *h)
{
    const size_t bytes = cells_bytes(h), each = slices_per_segment(), at = h->allocated % each;
    if (at == 0) {
        if (aw_grow((void **)&h->segment, &h->segment_capacity, h->segments + 1,
                    sizeof *h->segment) != AW_OK)
            return NULL;
        if (aw_shared_memory_new(each * bytes, &h->segment[h->segments]) != AW_OK) return NULL;
        h->segments++;
    }
    h->allocated++;
    return (char *)h->segment[h->segments - 1].at + at * bytes;
}

/* Whether another rank of the node writes these cells. */
static int is_written_elsewhere(const aw_history *h, const void *cells)
{
    const char *at = cells;
    if (aw_comm_local() == 0) return 0;
    for (size_t i = 0; i < h->segments; ++i) {
        const char *from = h->segment[i].at;
        if (at >= from && at < from + h->segment[i].bytes) return h->segment[i].common;
    }
    return 0;
}

void *aw_history_cells(aw_history *h)
{
    if (!h->spare && h->n == h->params.slices) { /* full: the oldest slice is dropped */
        memcpy(&h->spare, &h->slice[h->n - 1].cells, sizeof h->spare);
        h->n--;
        aw_comm_node_wait(); /* until no rank reads it any more */
    } else if (!h->spare) {
        h->spare = new_cells(h);
    }
    if (!h->spare || !is_written_elsewhere(h, h->spare)) return h->spare;
    if (!h->scratch) h->scratch = aw_alloc(1, cells_bytes(h));
    return h->scratch;
}

/* Identity of a slice: a hash of its cells and its number. Numbers alone would be the same for the
 * slices of two histories, and a device that gets slices of both would mistake one for the other in
 * its slice cache. */
static uint64_t id_of(const void *cells, size_t bytes, uint64_t pushed)
{
    const uint64_t hash = aw_hash(cells, bytes, pushed);
    return hash ? hash : 1; /* 0 means that the id is not known */
}

/* Make the cells of aw_history_cells() the newest slice. @param[in] place  where its grid was */
static void push(aw_history *h, const aw_slice *place)
{
    const aw_history_params *p = &h->params;
    aw_comm_node_wait(); /* until the cells are written */
    memmove(h->slice + 1, h->slice, h->n * sizeof *h->slice);
    h->slice[0] = *place;
    h->slice[0].cells = h->spare;
    h->slice[0].id = id_of(h->spare, aw_slice_bytes(p->ns, p->nx, p->single), h->pushed);
    h->spare = NULL;
    h->n++;
    h->pushed++;
}

void aw_history_push(aw_history *h, const aw_frame *frame, double height2, double ct)
{
    push(h, &(aw_slice){.ct = ct,
                        .S = frame->grid.S,
                        .x = frame->grid.offset,
                        .tilt = frame->grid.tilt,
                        .hs = frame->grid.hs,
                        .hx = frame->grid.hx,
                        .height2 = height2});
}

/* One slice of those that are stored, or the next one that is loaded. */
static void archive_slice(aw_history *h, size_t i, aw_archive *archive)
{
    const int loads = archive->way == AW_ARCHIVE_LOAD;
    aw_slice slice = loads ? (aw_slice){.ct = 0.0} : h->slice[i];
    double *const place[] = {&slice.ct, &slice.S,  &slice.x,      &slice.tilt,
                             &slice.hs, &slice.hx, &slice.height2};
    void *cells = loads ? aw_history_cells(h) : NULL;
    if (!loads) memcpy(&cells, &slice.cells, sizeof cells);
    if (!cells) archive->status = AW_ERR_NOMEM;
    for (size_t k = 0; k < sizeof place / sizeof place[0]; ++k) AW_ARCHIVE_ITEM(archive, *place[k]);
    if (!cells) return;
    aw_archive_bytes(archive, cells, aw_slice_bytes(h->params.ns, h->params.nx, h->params.single));
    if (loads && cells) push(h, &slice);
}

void aw_history_archive(aw_history *h, aw_archive *archive)
{
    uint64_t n = h->n, pushed = h->pushed;
    AW_ARCHIVE_ITEM(archive, n);
    AW_ARCHIVE_ITEM(archive, pushed);
    if (archive->way == AW_ARCHIVE_LOAD) {
        if (n > h->params.slices || n > pushed) archive->status = AW_ERR_INPUT;
        h->pushed = pushed - n; /* each slice gets the number that it had */
    }
    if (n > h->params.slices) return;
    for (size_t i = n; i-- > 0;) archive_slice(h, i, archive); /* the ranks wait for each other */
}

/* Where all images have the same radius to this part of a cell they cancel, and the sum is cut. */
#define AW_PLATES_SAME 0.01

/* Images at which their sum is cut now. */
static int images_of(const aw_history *h, const aw_orbit_view *orbit)
{
    const aw_slice *now = &h->slice[0];
    if (!(h->params.gap > 0.0) || h->n == 0) return h->params.images;
    const double size[2] = {h->params.ns * now->hs, h->params.nx * now->hx};
    const int needed = aw_images_of(orbit, now->S, h->params.gap, size, now->tilt);
    return needed < h->params.images ? needed : h->params.images;
}

/* Distance r' beyond which sources are neglected [m]. */
static double cut_of(const aw_history *h, int images)
{
    const aw_slice *now = &h->slice[0];
    const double Y = h->params.gap * images;
    if (!(Y > 0.0) || h->n == 0) return h->params.upstream_cut;
    return fmin(h->params.upstream_cut, 0.5 * Y * Y / (AW_PLATES_SAME * fmin(now->hs, now->hx)));
}

const aw_history_view *aw_history_look(aw_history *h, const aw_orbit_view *orbit)
{
    const double g = h->params.gamma;
    const int images = images_of(h, orbit);
    h->view = (aw_history_view){.orbit = *orbit,
                                .slice = h->slice,
                                .n = (int)h->n,
                                .ns = h->params.ns,
                                .nx = h->params.nx,
                                .single = h->params.single,
                                .upstream = h->n == h->pushed,
                                .cdt = h->params.cdt,
                                .beta = sqrt((1.0 - 1.0 / g) * (1.0 + 1.0 / g)),
                                .r_cut = cut_of(h, images),
                                .gap = h->params.gap,
                                .images = images};
    return &h->view;
}
