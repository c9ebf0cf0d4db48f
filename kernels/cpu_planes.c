/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices as lines of one number each, which vectors of neighbouring points read, and their
 * combination at a retarded time. */
#include <math.h>
#include <string.h>

#include "kernels/cpu_unit.h"
#include "src/base/memory.h"

size_t aw_cpu_pack_bytes(const aw_history_view *h, int single)
{
    return aw_planes_size(h) / 2 * (single ? sizeof(float) : sizeof(double));
}

void aw_cpu_packs_free(aw_cpu_packs *packs)
{
    for (size_t i = 0; i < packs->capacity; ++i) aw_free(packs->pack[i].lines);
    aw_free(packs->pack);
    memset(packs, 0, sizeof *packs);
}

static void pack_slice(const aw_history_view *h, const aw_slice *slice, int single, void *lines)
{
    const ptrdiff_t width = aw_plane_width(h), row = h->ns + 2 * AW_PAD;
    for (ptrdiff_t j = 0; j < h->nx + 2 * AW_PAD; ++j)
        for (ptrdiff_t k = 0; k < 3; ++k) {
            const ptrdiff_t to = (j * 3 + k) * width + AW_TILE_PAD - AW_PAD;
            for (ptrdiff_t i = 0; i < row; ++i) {
                const double value =
                    aw_cell_get(slice->cells, h->single, (j * row + i) * AW_COMPONENTS + k);
                if (single)
                    ((float *)lines)[to + i] = (float)value;
                else
                    ((double *)lines)[to + i] = value;
            }
        }
}

/* Move what is held to where the history has it now. */
static void packs_follow(aw_cpu_packs *packs, const aw_history_view *h, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        const uint64_t id = h->slice[i].id;
        for (size_t j = 0; id != 0 && j < packs->capacity; ++j) {
            if (packs->pack[j].id != id || j == i) continue;
            const aw_cpu_pack moved = packs->pack[j];
            packs->pack[j] = packs->pack[i];
            packs->pack[i] = moved;
            break;
        }
    }
}

aw_status aw_cpu_packs_hold(aw_cpu_packs *packs, const aw_history_view *h, size_t n, int single,
                            int threads)
{
    aw_status status = AW_OK;
    const size_t bytes = aw_cpu_pack_bytes(h, single);
    if (packs->ns != h->ns || packs->nx != h->nx || packs->single != single)
        aw_cpu_packs_free(packs);
    packs->ns = h->ns;
    packs->nx = h->nx;
    packs->single = single;
    AW_TRY(aw_grow((void **)&packs->pack, &packs->capacity, n, sizeof *packs->pack));
    packs_follow(packs, h, n);
    for (size_t i = 0; i < n; ++i)
        if (!packs->pack[i].lines && !(packs->pack[i].lines = aw_alloc(1, bytes)))
            return AW_ERR_NOMEM;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n; ++i) {
        const aw_slice *slice = &h->slice[i];
        if (slice->id != 0 && packs->pack[i].id == slice->id) continue;
        pack_slice(h, slice, single, packs->pack[i].lines);
        packs->pack[i].id = slice->id;
    }
    packs->n = n;
done:
    return status;
}

/* First and last + 1 of the lines' numbers that a span [m] of nodes reads, and `margin` beyond. */
static void range_of(double lo, double hi, double spacing, int nodes, int pad, int width,
                     double margin, int out[2])
{
    const double middle = 0.5 * (nodes - 1) + pad;
    const double a = floor(lo / spacing + middle - 3.0 - margin);
    const double b = ceil(hi / spacing + middle + 4.0 + margin);
    out[0] = a > 0.0 ? (int)a : 0;
    out[1] = b < width ? (int)b : width;
    if (out[0] > width) out[0] = width;
    if (out[1] < out[0]) out[1] = out[0];
}

void aw_cpu_planes_make(const aw_cpu_state *cpu, const aw_retarded *f, const double box[4],
                        const double margin[2], void *room, aw_planes *planes)
{
    const aw_history_view *h = &cpu->history;
    const size_t size = aw_planes_size(h) * (cpu->packs.single ? sizeof(float) : sizeof(double));
    const int width = aw_plane_width(h);
    planes->n = 0;
    for (int first = 0; first < f->nt; ++first) {
        const aw_slice *shape = f->slice[first];
        const void *lines[3];
        double w[3] = {0.0, 0.0, 0.0}, d[3] = {0.0, 0.0, 0.0};
        int done = 0, column[2], row[2];
        for (int p = 0; p < planes->n; ++p)
            done = done || (planes->shape[p]->hs == shape->hs && planes->shape[p]->hx == shape->hx);
        if (done) continue;
        for (int t = 0; t < 3; ++t) {
            const aw_slice *s = f->slice[t];
            const int like = t < f->nt && s->hs == shape->hs && s->hx == shape->hx;
            lines[t] = cpu->packs.pack[(like ? s : shape) - h->slice].lines;
            w[t] = like ? f->w[t] : 0.0;
            d[t] = like ? f->wd[t] : 0.0;
        }
        range_of(box[0], box[1], shape->hs, h->ns, AW_TILE_PAD, width, margin[0], column);
        range_of(box[2], box[3], shape->hx, h->nx, AW_PAD, h->nx + 2 * AW_PAD, margin[1], row);
        column[0] = column[0] / 16 * 16; /* whole vectors */
        column[1] = (column[1] + 15) / 16 * 16;
        row[1]--;
        void *out = (char *)room + (size_t)planes->n * size;
        const size_t columns[2] = {(size_t)column[0], (size_t)column[1]};
        cpu->variant->combine(lines, cpu->packs.single, w, d, (size_t)width, row, columns, out);
        planes->cells[planes->n] = out;
        planes->shape[planes->n++] = shape;
    }
}
