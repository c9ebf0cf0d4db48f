/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices as lines of one number each, which vectors of neighbouring points read, and their
 * combination at a retarded time. */
#include <math.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "kernels/device/slice_cache.h"
#include "src/base/memory.h"

/* Bytes of one slice as lines. */
static size_t pack_bytes(const aw_history_view *h, int single)
{
    return aw_interpolated_lines_size(h) / 2 * (single ? sizeof(float) : sizeof(double));
}

static void packs_drop(aw_cpu_packs *packs)
{
    for (size_t i = 0; i < packs->capacity; ++i) {
        aw_free(packs->pack[i].lines);
        aw_free(packs->pack[i].span);
    }
    aw_free(packs->pack);
    packs->pack = NULL;
    packs->capacity = 0;
}

void aw_cpu_packs_free(aw_cpu_packs *packs)
{
    packs_drop(packs);
    aw_free(packs->slice);
    memset(packs, 0, sizeof *packs);
}

/* Grow the span [from, to) so that it holds another; one of no length holds nothing. */
static void widen(int from, int to, int span[2])
{
    if (from >= to) return;
    if (span[0] >= span[1] || from < span[0]) span[0] = from;
    if (span[1] < to) span[1] = to;
}

/* View the history as it is, or with its grids turned by a quarter: s runs where x did, x where s
 * did, but backwards. Cells stay where they are (pack_slice). */
static aw_status view_along(aw_cpu_packs *packs, const aw_history_view *h, int along)
{
    aw_status status = AW_OK;
    packs->view = *h;
    packs->along = along;
    if (along == AW_ALONG_S) return AW_OK;
    AW_TRY(aw_grow((void **)&packs->slice, &packs->slices, (size_t)h->n, sizeof *packs->slice));
    for (int i = 0; i < h->n; ++i) {
        packs->slice[i] = h->slice[i];
        packs->slice[i].tilt += 0.5 * AW_PI;
        packs->slice[i].hs = h->slice[i].hx;
        packs->slice[i].hx = h->slice[i].hs;
    }
    packs->view.slice = packs->slice;
    packs->view.ns = h->nx;
    packs->view.nx = h->ns;
done:
    return status;
}

static void pack_slice(const aw_cpu_packs *packs, const aw_slice *slice, const aw_cpu_pack *pack)
{
    const aw_history_view *h = &packs->view;
    const int single = packs->single, turned = packs->along == AW_ALONG_X;
    const ptrdiff_t width = aw_line_width(h), row = h->ns + 2 * AW_PAD, rows = h->nx + 2 * AW_PAD;
    /* Cells from one to the next of a line, from line to line, and at the first line's begin. */
    const ptrdiff_t along = turned ? rows : 1, across = turned ? -1 : row;
    const ptrdiff_t begin = turned ? rows - 1 : 0;
    const size_t size = single ? sizeof(float) : sizeof(double);
    for (ptrdiff_t j = 0; j < rows; ++j) {
        int *span = pack->span[j];
        span[0] = span[1] = 0;
        for (ptrdiff_t k = 0; k < 3; ++k) {
            void *line = (char *)pack->lines + (size_t)((j * 3 + k) * width) * size;
            for (ptrdiff_t i = 0; i < row; ++i) {
                const ptrdiff_t cell = begin + j * across + i * along;
                const double value = aw_cell_get(slice->cells, h->single, cell * AW_COMPONENTS + k);
                const int column = (int)i + AW_TILE_PAD - AW_PAD;
                if (value != 0.0) /* or not a number */
                    widen(column, column + 1, span);
                if (single)
                    ((float *)line)[column] = (float)value;
                else
                    ((double *)line)[column] = value;
            }
        }
    }
}

aw_status aw_cpu_packs_hold(aw_cpu_packs *packs, const aw_history_view *history, int along,
                            double longest, int single, int threads)
{
    const double oldest = longest >= 0.0 ? longest / history->cdt + 3.0 : 0.0;
    const size_t n = oldest < history->n ? (size_t)oldest : (size_t)history->n;
    aw_status status = AW_OK;
    const aw_history_view *h = &packs->view, before = *h;
    AW_TRY(view_along(packs, history, along));
    if (before.ns != h->ns || before.nx != h->nx || packs->single != single) packs_drop(packs);
    packs->single = single;
    const size_t bytes = pack_bytes(h, single);
    AW_TRY(aw_grow((void **)&packs->pack, &packs->capacity, n, sizeof *packs->pack));
    aw_slice_cache_match(packs->pack, sizeof *packs->pack, packs->capacity, h, n);
    for (size_t i = 0; i < n; ++i) {
        aw_cpu_pack *pack = &packs->pack[i];
        if (!pack->lines) pack->lines = aw_alloc(1, bytes);
        if (!pack->span) pack->span = aw_alloc((size_t)(h->nx + 2 * AW_PAD), sizeof *pack->span);
        if (!pack->lines || !pack->span) return AW_ERR_NOMEM;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n; ++i) {
        const aw_slice *slice = &h->slice[i];
        if (slice->id != 0 && packs->pack[i].id == slice->id) continue;
        pack_slice(packs, slice, &packs->pack[i]);
        packs->pack[i].id = slice->id;
    }
    packs->n = n;
done:
    return status;
}

aw_status aw_cpu_lines_grow(aw_cpu_cluster_space *space, const aw_history_view *h)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow(&space->planes, &space->planes_capacity, 3 * aw_interpolated_lines_size(h),
                   sizeof(double)));
    AW_TRY(aw_grow((void **)&space->span, &space->span_capacity,
                   (size_t)4 * (size_t)(h->nx + 2 * AW_PAD), sizeof *space->span));
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

/* Columns of the rows row[0] .. row[1] where windows may find something in one of three slices, and
 * those to combine, within column[]: all that such windows read. */
static void spans_of(const aw_history_view *h, const int (*const slice[3])[2], const int row[2],
                     const int column[2], int (*span)[2], int (*combine)[2])
{
    const int rows = h->nx + 2 * AW_PAD;
    for (int j = row[0]; j <= row[1]; ++j) {
        span[j][0] = span[j][1] = 0;
        for (int q = j; q < j + 3 && q < rows; ++q)
            for (int t = 0; t < 3; ++t) widen(slice[t][q][0], slice[t][q][1], span[j]);
    }
    for (int j = row[0]; j <= row[1]; ++j) {
        int all[2] = {0, 0};
        for (int q = j - 2; q <= j; ++q) /* windows that read this row */
            if (q >= row[0]) widen(span[q][0], span[q][1], all);
        const int reach = AW_TILE + 2;
        all[0] = all[0] > column[0] + reach ? all[0] - reach : column[0];
        all[1] = all[1] + reach < column[1] ? all[1] + reach : column[1];
        combine[j][0] = all[0] / 16 * 16; /* whole vectors */
        combine[j][1] = (all[1] + 15) / 16 * 16;
        if (combine[j][1] < combine[j][0]) combine[j][1] = combine[j][0];
    }
}

void aw_cpu_lines_make(const aw_variant *variant, const aw_cpu_packs *packs, const aw_retarded *f,
                       const double box[4], const double margin[2], int rates,
                       aw_cpu_cluster_space *space, aw_interpolated_lines *planes)
{
    const aw_history_view *h = &packs->view;
    const size_t size =
        aw_interpolated_lines_size(h) * (packs->single ? sizeof(float) : sizeof(double));
    const int width = aw_line_width(h), rows = h->nx + 2 * AW_PAD;
    planes->n = 0;
    for (int first = 0; first < f->nt; ++first) {
        const aw_slice *shape = f->slice[first];
        const void *lines[3];
        const int(*spans[3])[2];
        double w[3] = {0.0, 0.0, 0.0}, d[3] = {0.0, 0.0, 0.0};
        int done = 0, column[2], row[2];
        for (int p = 0; p < planes->n; ++p)
            done = done || (planes->shape[p]->hs == shape->hs && planes->shape[p]->hx == shape->hx);
        if (done) continue;
        for (int t = 0; t < 3; ++t) {
            const aw_slice *s = f->slice[t];
            const int like = t < f->nt && s->hs == shape->hs && s->hx == shape->hx;
            const aw_cpu_pack *pack = &packs->pack[(like ? s : shape) - h->slice];
            lines[t] = pack->lines;
            spans[t] = (const int(*)[2])pack->span;
            w[t] = like ? f->w[t] : 0.0;
            d[t] = like ? f->wd[t] : 0.0;
        }
        range_of(box[0], box[1], shape->hs, h->ns, AW_TILE_PAD, width, margin[0], column);
        range_of(box[2], box[3], shape->hx, h->nx, AW_PAD, rows, margin[1], row);
        row[1]--;
        int(*span)[2] = &space->span[planes->n * rows], (*columns)[2] = &space->span[3 * rows];
        void *out = (char *)space->planes + (size_t)planes->n * size;
        spans_of(h, spans, row, column, span, columns);
        variant->combine(lines, packs->single, w, rates ? d : NULL, (size_t)width, row,
                         (const int(*)[2])columns, out);
        planes->cells[planes->n] = out;
        planes->span[planes->n] = (const int(*)[2])span;
        planes->shape[planes->n++] = shape;
    }
}

void aw_cpu_lines_whole(const aw_variant *variant, const aw_cpu_packs *packs, const aw_retarded *f,
                        int rates, aw_cpu_cluster_space *space, aw_interpolated_lines *planes)
{
    const double box[4] = {-f->half_s, f->half_s, -f->half_x, f->half_x};
    const double margin[2] = {AW_TILE_PAD, AW_PAD};
    planes->n = 0;
    if (f->nt > 0) aw_cpu_lines_make(variant, packs, f, box, margin, rates, space, planes);
}
