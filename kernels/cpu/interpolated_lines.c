/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices as lines: rows of one moment each, which are read by vectors whose lanes are neighbouring
 * points; and the interpolation of lines in time. */
#include <math.h>
#include <string.h>

#include "kernels/cpu/device.h"
#include "kernels/device/slice_cache.h"
#include "kernels/math/retarded.h"
#include "src/base/memory.h"

/* Bytes of one slice as lines. */
static size_t slice_bytes(const aw_history_view *h, int single)
{
    return aw_interpolated_lines_size(h) / 2 * (single ? sizeof(float) : sizeof(double));
}

static void clear_cache(aw_cpu_line_cache *cache)
{
    for (size_t i = 0; i < cache->capacity; ++i) {
        aw_free(cache->slice[i].lines);
        aw_free(cache->slice[i].span);
    }
    aw_free(cache->slice);
    cache->slice = NULL;
    cache->capacity = 0;
}

void aw_cpu_line_cache_free(aw_cpu_line_cache *cache)
{
    clear_cache(cache);
    aw_free(cache->turned);
    memset(cache, 0, sizeof *cache);
}

/* Grow the span [from, to) so that it contains another one; from >= to: that one is empty. */
static void widen(int from, int to, int span[2])
{
    if (from >= to) return;
    if (span[0] >= span[1] || from < span[0]) span[0] = from;
    if (span[1] < to) span[1] = to;
}

/* View the history as it is, or with its grids turned by a quarter: s runs where x did, and x where
 * s did, but backwards. Cells stay in place (convert_slice). */
static aw_status view_along(aw_cpu_line_cache *cache, const aw_history_view *h, int along)
{
    aw_status status = AW_OK;
    cache->view = *h;
    cache->along = along;
    if (along == AW_ALONG_S) return AW_OK;
    AW_TRY(aw_grow((void **)&cache->turned, &cache->turned_capacity, (size_t)h->n,
                   sizeof *cache->turned));
    for (int i = 0; i < h->n; ++i) {
        cache->turned[i] = h->slice[i];
        cache->turned[i].tilt += 0.5 * AW_PI;
        cache->turned[i].hs = h->slice[i].hx;
        cache->turned[i].hx = h->slice[i].hs;
    }
    cache->view.slice = cache->turned;
    cache->view.ns = h->nx;
    cache->view.nx = h->ns;
done:
    return status;
}

static void convert_slice(const aw_cpu_line_cache *cache, const aw_slice *slice,
                          const aw_cpu_slice_lines *out)
{
    const aw_history_view *h = &cache->view;
    const int single = cache->single, turned = cache->along == AW_ALONG_X;
    const ptrdiff_t width = aw_line_width(h), row = h->ns + 2 * AW_PAD, rows = h->nx + 2 * AW_PAD;
    /* Strides in cells along a line and from line to line, and the cell where the first begins. */
    const ptrdiff_t along = turned ? rows : 1, across = turned ? -1 : row;
    const ptrdiff_t begin = turned ? rows - 1 : 0;
    const size_t size = single ? sizeof(float) : sizeof(double);
    for (ptrdiff_t j = 0; j < rows; ++j) {
        int *span = out->span[j];
        span[0] = span[1] = 0;
        for (ptrdiff_t k = 0; k < 3; ++k) {
            void *line = (char *)out->lines + (size_t)((j * 3 + k) * width) * size;
            for (ptrdiff_t i = 0; i < row; ++i) {
                const ptrdiff_t cell = begin + j * across + i * along;
                const double value = aw_cell_get(slice->cells, h->single, cell * AW_COMPONENTS + k);
                const int column = (int)i + AW_TILE_PAD - AW_PAD;
                if (value != 0.0) /* or NaN */
                    widen(column, column + 1, span);
                if (single)
                    ((float *)line)[column] = (float)value;
                else
                    ((double *)line)[column] = value;
            }
        }
    }
}

aw_status aw_cpu_line_cache_update(aw_cpu_line_cache *cache, const aw_history_view *history,
                                   int along, double longest, int single, int threads)
{
    const size_t all = (size_t)history->n;
    size_t n = 0;
    if (longest >= 0.0) n = (size_t)aw_slice_before(history, longest) + 3; /* as many are read */
    if (n > all) n = all;
    aw_status status = AW_OK;
    const aw_history_view *h = &cache->view, before = *h;
    AW_TRY(view_along(cache, history, along));
    if (before.ns != h->ns || before.nx != h->nx || cache->single != single) clear_cache(cache);
    cache->single = single;
    const size_t bytes = slice_bytes(h, single);
    AW_TRY(aw_grow((void **)&cache->slice, &cache->capacity, n, sizeof *cache->slice));
    aw_slice_cache_match(cache->slice, sizeof *cache->slice, cache->capacity, h, n);
    for (size_t i = 0; i < n; ++i) {
        aw_cpu_slice_lines *slice = &cache->slice[i];
        if (!slice->lines) slice->lines = aw_alloc(1, bytes);
        if (!slice->span) slice->span = aw_alloc((size_t)h->nx + 2 * AW_PAD, sizeof *slice->span);
        if (!slice->lines || !slice->span) return AW_ERR_NOMEM;
    }
#pragma omp parallel for schedule(static) num_threads(threads)
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n; ++i) {
        const aw_slice *slice = &h->slice[i];
        if (slice->id != 0 && cache->slice[i].id == slice->id) continue;
        convert_slice(cache, slice, &cache->slice[i]);
        cache->slice[i].id = slice->id;
    }
done:
    return status;
}

aw_status aw_cpu_line_buffer_grow(aw_cpu_line_buffer *buffer, const aw_history_view *h)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow(&buffer->cells, &buffer->cells_capacity, 3 * aw_interpolated_lines_size(h),
                   sizeof(double)));
    AW_TRY(aw_grow((void **)&buffer->span, &buffer->span_capacity,
                   (size_t)4 * (size_t)(h->nx + 2 * AW_PAD), sizeof *buffer->span));
done:
    return status;
}

void aw_cpu_line_buffer_free(aw_cpu_line_buffer *buffer)
{
    aw_free(buffer->cells);
    aw_free(buffer->span);
    memset(buffer, 0, sizeof *buffer);
}

/* One axis of the lines. */
typedef struct line_axis {
    double spacing; /* of the nodes [m] */
    int nodes, pad; /* pad: zeros before the first node */
    int width;      /* nodes and all padding */
} line_axis;

/* First index and last + 1 on an axis that nodes within [lo, hi] [m] read, and `margin` cells
 * beyond. */
static void index_range(const line_axis *axis, double lo, double hi, double margin, int out[2])
{
    const double middle = 0.5 * (axis->nodes - 1) + axis->pad;
    const double a = floor(lo / axis->spacing + middle - 3.0 - margin);
    const double b = ceil(hi / axis->spacing + middle + 4.0 + margin);
    out[0] = a > 0.0 ? (int)a : 0;
    out[1] = b < axis->width ? (int)b : axis->width;
    if (out[0] > axis->width) out[0] = axis->width;
    if (out[1] < out[0]) out[1] = out[0];
}

/* For the rows row[0] .. row[1]: in `span` the columns where a window that begins in that row may
 * meet a non-zero cell of one of the three slices; in `columns` those to interpolate, which are all
 * that such windows read within column[]. */
static void find_spans(const aw_history_view *h, const int (*const slice[3])[2], const int row[2],
                       const int column[2], int (*span)[2], int (*columns)[2])
{
    const int rows = h->nx + 2 * AW_PAD;
    for (int j = row[0]; j <= row[1]; ++j) {
        span[j][0] = span[j][1] = 0;
        for (int q = j; q < j + AW_SPLINE_NODES && q < rows; ++q)
            for (int t = 0; t < 3; ++t) widen(slice[t][q][0], slice[t][q][1], span[j]);
    }
    for (int j = row[0]; j <= row[1]; ++j) {
        int all[2] = {0, 0};
        for (int q = j - (AW_SPLINE_NODES - 1); q <= j; ++q) /* windows that read this row */
            if (q >= row[0]) widen(span[q][0], span[q][1], all);
        const int reach = AW_TILE + AW_SPLINE_NODES - 1;
        all[0] = all[0] > column[0] + reach ? all[0] - reach : column[0];
        all[1] = all[1] + reach < column[1] ? all[1] + reach : column[1];
        columns[j][0] = all[0] / 16 * 16; /* whole vectors */
        columns[j][1] = (all[1] + 15) / 16 * 16;
        if (columns[j][1] < columns[j][0]) columns[j][1] = columns[j][0];
    }
}

void aw_cpu_interpolate_lines(const aw_variant *variant, const aw_cpu_line_cache *cache,
                              const aw_retarded *f, const aw_cpu_line_range *range,
                              aw_cpu_line_buffer *buffer, aw_interpolated_lines *out)
{
    const aw_history_view *h = &cache->view;
    const size_t size =
        aw_interpolated_lines_size(h) * (cache->single ? sizeof(float) : sizeof(double));
    const int width = aw_line_width(h), rows = h->nx + 2 * AW_PAD;
    out->n = 0;
    for (int first = 0; first < f->nt; ++first) {
        const aw_slice *shape = f->slice[first];
        const line_axis along = {shape->hs, h->ns, AW_TILE_PAD, width};
        const line_axis across = {shape->hx, h->nx, AW_PAD, rows};
        int(*columns)[2] = &buffer->span[3 * rows];
        aw_line_interpolation lines = {.single = cache->single,
                                       .rates = range->rates,
                                       .width = (size_t)width,
                                       .columns = (const int(*)[2])columns};
        const int(*spans[3])[2];
        int done = 0, column[2];
        for (int p = 0; p < out->n; ++p)
            done = done || (out->shape[p]->hs == shape->hs && out->shape[p]->hx == shape->hx);
        if (done) continue;
        for (int t = 0; t < 3; ++t) {
            const aw_slice *s = f->slice[t];
            const int like = t < f->nt && s->hs == shape->hs && s->hx == shape->hx;
            const aw_cpu_slice_lines *slice = &cache->slice[(like ? s : shape) - h->slice];
            lines.slice[t] = slice->lines;
            spans[t] = (const int(*)[2])slice->span;
            lines.w[t] = like ? f->w[t] : 0.0;
            lines.d[t] = like && range->rates ? f->wd[t] : 0.0;
        }
        index_range(&along, range->box[0], range->box[1], range->margin[0], column);
        index_range(&across, range->box[2], range->box[3], range->margin[1], lines.row);
        lines.row[1]--;
        int(*span)[2] = &buffer->span[out->n * rows];
        lines.out = (char *)buffer->cells + (size_t)out->n * size;
        find_spans(h, spans, lines.row, column, span, columns);
        variant->interpolate_lines(&lines);
        out->cells[out->n] = lines.out;
        out->span[out->n] = (const int(*)[2])span;
        out->shape[out->n++] = shape;
    }
}

void aw_cpu_interpolate_all_lines(const aw_variant *variant, const aw_cpu_line_cache *cache,
                                  const aw_retarded *f, int rates, aw_cpu_line_buffer *buffer,
                                  aw_interpolated_lines *out)
{
    const aw_cpu_line_range range = {.box = {-f->half_s, f->half_s, -f->half_x, f->half_x},
                                     .margin = {AW_TILE_PAD, AW_PAD},
                                     .rates = rates};
    out->n = 0;
    if (f->nt > 0) aw_cpu_interpolate_lines(variant, cache, f, &range, buffer, out);
}
