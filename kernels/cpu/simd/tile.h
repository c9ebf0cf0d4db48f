/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inner integral of a tile with its points as lanes (kernels/math/tile.h), and the
 * interpolation of lines in time. Included by variant.c once per number type: AW_REAL is float or
 * double, AW_LETTER ends the names, adding and subtracting AW_ROUND rounds to whole numbers.
 *
 * Each lane reads neighbouring cells of the interpolated lines with its own weights. Where lanes of
 * one vector have different nearest cells, those in one row are summed together, under a mask, if
 * their cells can be picked from two vectors; else lanes with the same cell.
 *
 * Errors of float: weights and cells have relative rounding errors of 6e-8, independent from node
 * to node; positions do not (the whole number of cells is split off in double), and sums are added
 * up in double after each batch of nodes (aw_tuning). Measured errors: docs/strategies.md,
 * "Tiles". */

#define AW_LANES AW_CAT(aw_lanes_, AW_LETTER)
#define AW_LANES_LOOSE AW_CAT(aw_lanes_loose_, AW_LETTER)
#define AW_WHICH AW_CAT(aw_lanes_which_, AW_LETTER)
#define AW_SUMS AW_CAT(aw_tile_sums_, AW_LETTER)
#define AW_PICK AW_CAT(aw_tile_pick_, AW_LETTER)
#define AW_NODE AW_CAT(aw_tile_node_, AW_LETTER)
#define AW_MIXED AW_CAT(aw_tile_mixed_, AW_LETTER)
#define AW_BATCH_SUM AW_CAT(aw_tile_batch_, AW_LETTER)
#define AW_TILE_SUM AW_CAT(aw_tile_run_, AW_LETTER)
#define AW_PER (AW_VECTOR_BYTES / (int)sizeof(AW_REAL)) /* lanes per vector */
#define AW_INLINE static inline __attribute__((always_inline))

typedef AW_REAL AW_LANES __attribute__((vector_size(AW_VECTOR_BYTES)));
typedef AW_REAL AW_LANES_LOOSE
    __attribute__((vector_size(AW_VECTOR_BYTES), aligned(sizeof(AW_REAL)), may_alias));

typedef __typeof__((AW_LANES){0} == (AW_LANES){0}) AW_WHICH; /* of a lane: -1: chosen, 0: not */

/* Sums of one vector of lanes. */
typedef struct AW_SUMS {
    AW_LANES moment[3], rate[3];
} AW_SUMS;

/* Which cells of two vectors are those of the lanes, and of their neighbours on either side. */
typedef struct AW_PICK {
    AW_WHICH before, now, after;
} AW_PICK;

/* Load the cells of all lanes, and their neighbours on either side: consecutive ones, or, if `pick`
 * is not NULL, those that it picks from the two vectors at `cell`. Whether it is NULL is a
 * compile-time constant, here and below; without AVX-512 it is. */
AW_INLINE void AW_CAT(aw_three_, AW_LETTER)(const AW_REAL *cell, const AW_PICK *pick,
                                            AW_LANES *before, AW_LANES *now, AW_LANES *after)
{
#ifdef __AVX512F__
    if (pick) {
        const AW_LANES first = *(const AW_LANES_LOOSE *)cell;
        const AW_LANES second = *(const AW_LANES_LOOSE *)(cell + AW_PER);
        *before = AW_CAT(aw_lanes_pick_, AW_LETTER)(first, pick->before, second);
        *now = AW_CAT(aw_lanes_pick_, AW_LETTER)(first, pick->now, second);
        *after = AW_CAT(aw_lanes_pick_, AW_LETTER)(first, pick->after, second);
        return;
    }
    /* One load that crosses a cache line instead of three. */
    const __m512i low = _mm512_loadu_si512(cell);
    const __m128i beyond = sizeof(AW_REAL) == sizeof(double)
                               ? _mm_loadu_si128((const __m128i *)(const void *)(cell + AW_PER))
                               : _mm_loadl_epi64((const __m128i *)(const void *)(cell + AW_PER));
    const __m512i high = _mm512_castsi128_si512(beyond);
    *before = (AW_LANES)low;
    if (sizeof(AW_REAL) == sizeof(double)) {
        *now = (AW_LANES)_mm512_alignr_epi64(high, low, 1);
        *after = (AW_LANES)_mm512_alignr_epi64(high, low, 2);
    } else {
        *now = (AW_LANES)_mm512_alignr_epi32(high, low, 1);
        *after = (AW_LANES)_mm512_alignr_epi32(high, low, 2);
    }
#else
    (void)pick;
    *before = *(const AW_LANES_LOOSE *)cell;
    *now = *(const AW_LANES_LOOSE *)(cell + 1);
    *after = *(const AW_LANES_LOOSE *)(cell + 2);
    AW_KEEP(*now);
#endif
}

/* Add one node to the sums. `window` points to the first of the nine cells of lane 0, or to the
 * vectors that `pick` picks from; f and g are the offsets from the nearest cell [cells], ud and wd
 * the velocity [cells/m]. `rates` is a compile-time constant, here and below. */
AW_INLINE void AW_NODE(const AW_REAL *window, const AW_PICK *pick, ptrdiff_t width, AW_LANES f,
                       AW_LANES g, AW_LANES ud, AW_LANES wd, AW_LANES mask, int rates, AW_SUMS *acc)
{
    const AW_REAL half = (AW_REAL)0.5, peak = (AW_REAL)0.75;
    const AW_LANES fm = half - f, fp = half + f, gm = half - g, gp = half + g, wm = wd * mask;
    const AW_LANES w0 = half * fm * fm, w2 = half * fp * fp, d0 = fm * ud, d2 = fp * ud;
    const AW_LANES wv[AW_SPLINE_NODES] = {half * gm * gm * mask, (peak - g * g) * mask,
                                          half * gp * gp * mask};
    const AW_LANES dv[AW_SPLINE_NODES] = {-gm * wm, -(g + g) * wm, gp * wm};
#ifdef __AVX512F__
    if (!rates && !pick) { /* few operations per load: three loads cost less than shifting one */
        const AW_LANES w1 = peak - f * f;
#pragma GCC unroll 3
        for (int q = 0; q < AW_SPLINE_NODES; ++q) {
            const AW_REAL *cell = window + q * AW_LINE_COMPONENTS * width;
            const AW_LANES a = wv[q] * w0, b = wv[q] * w1, c = wv[q] * w2;
#pragma GCC unroll 3
            for (int k = 0; k < 3; ++k, cell += width) {
                acc->moment[k] += a * *(const AW_LANES_LOOSE *)cell;
                acc->moment[k] += b * *(const AW_LANES_LOOSE *)(cell + 1);
                acc->moment[k] += c * *(const AW_LANES_LOOSE *)(cell + 2);
            }
        }
        return;
    }
#endif
#pragma GCC unroll 3
    for (int q = 0; q < AW_SPLINE_NODES; ++q) {
#pragma GCC unroll 3
        for (int k = 0; k < 3; ++k) {
            /* The middle cell, and the differences to its neighbours: the weights add up to one,
             * their slopes to zero, and subtractions run on execution ports of their own. */
            const AW_REAL *cell = window + (q * AW_LINE_COMPONENTS + k) * width;
            AW_LANES before, now, after;
            AW_CAT(aw_three_, AW_LETTER)(cell, pick, &before, &now, &after);
            const AW_LANES down = now - before, up = after - now;
            AW_LANES value = now + w2 * up;
            value -= w0 * down;
            acc->moment[k] += wv[q] * value;
            if (!rates) continue;
            AW_CAT(aw_three_, AW_LETTER)(cell + 3 * width, pick, &before, &now, &after);
            AW_LANES slope = now + w2 * (after - now);
            slope -= w0 * (now - before);
            slope += d0 * down;
            slope += d2 * up;
            acc->rate[k] += wv[q] * slope;
            acc->rate[k] += dv[q] * value;
        }
    }
}

/* Add one node to the sums where the nearest cells differ from lane to lane. (i, j) is the nearest
 * cell without the lanes' own offsets; `node` is f, g, ud, wd of aw_tile_node, f and g against that
 * cell. */
#ifdef __AVX512F__
static __attribute__((noinline)) void AW_MIXED(const aw_history_view *h, const AW_REAL *cells,
                                               const int (*span)[2], int lane, int i, int j,
                                               const AW_LANES node[5], int rates, AW_SUMS *acc)
{
    const ptrdiff_t width = aw_line_width(h);
    const AW_LANES zero = {0}, round = zero + AW_ROUND;
    const AW_LANES di = (node[0] + round) - round, dj = (node[1] + round) - round;
    const AW_LANES f = node[0] - di, g = node[1] - dj;
    const int last = (int)width - AW_SPLINE_NODES, rows = h->nx + 2 * AW_PAD - AW_SPLINE_NODES;
    AW_WHICH row = __builtin_convertvector(dj, AW_WHICH) + (j - 1 + AW_PAD);
    AW_WHICH column = __builtin_convertvector(di, AW_WHICH) + (i + lane - 1 + AW_TILE_PAD);
    for (int l = 0; l < AW_PER; ++l) column[l] += l;
    AW_WHICH left = (row >= 0) & (row <= rows) & (column >= 0) & (column <= last);
    for (int first = 0; first < AW_PER; ++first) {
        if (!left[first]) continue;
        const int line = (int)row[first], from = span ? span[line][0] - AW_SPLINE_NODES : -1;
        AW_WHICH in_row = left & (row == line);
        left &= ~in_row;
        in_row &= (column > from) & (column < (span ? span[line][1] : last + 1));
        while (AW_CAT(aw_lanes_any_, AW_LETTER)(in_row)) {
            const int lowest = AW_CAT(aw_lanes_lowest_, AW_LETTER)(in_row, column);
            const int begin = lowest < (int)width - 2 * AW_PER ? lowest : (int)width - 2 * AW_PER;
            const AW_WHICH within = in_row & (column <= begin + 2 * AW_PER - AW_SPLINE_NODES);
            const AW_LANES mask = (AW_LANES)(within & (AW_WHICH)node[4]);
            /* The others read what the lowest does: not all cells are set. */
            const AW_WHICH before = ((column & within) | (lowest & ~within)) - begin;
            const AW_PICK pick = {before, before + 1, before + 2};
            const AW_REAL *window = cells + (ptrdiff_t)line * AW_LINE_COMPONENTS * width + begin;
            in_row &= ~within;
            if (rates) /* a compile-time constant in each branch */
                AW_NODE(window, &pick, width, f, g, node[2], node[3], mask, 1, acc);
            else
                AW_NODE(window, &pick, width, f, g, node[2], node[3], mask, 0, acc);
        }
    }
}
#else
static __attribute__((noinline)) void AW_MIXED(const aw_history_view *h, const AW_REAL *cells,
                                               const int (*span)[2], int lane, int i, int j,
                                               const AW_LANES node[5], int rates, AW_SUMS *acc)
{
    const ptrdiff_t width = aw_line_width(h), last = width - AW_PER - AW_SPLINE_NODES + 1;
    const AW_LANES zero = {0}, round = zero + AW_ROUND;
    const AW_LANES di = (node[0] + round) - round, dj = (node[1] + round) - round;
    const AW_LANES f = node[0] - di, g = node[1] - dj;
    AW_WHICH left = zero == zero;
    for (int first = 0; first < AW_PER; ++first) {
        if (!left[first]) continue;
        const AW_WHICH same = left & (di == zero + di[first]) & (dj == zero + dj[first]);
        const AW_LANES mask = (AW_LANES)(same & (AW_WHICH)node[4]);
        left &= ~same;
        const double at = (double)di[first] + i + lane - 1 + AW_TILE_PAD;
        const double line = (double)dj[first] + j - 1 + AW_PAD;
        if (!(at >= 0.0 && at <= (double)last)) continue;
        if (!(line >= 0.0 && line <= h->nx + 2 * AW_PAD - AW_SPLINE_NODES)) continue;
        const int column = (int)at, row = (int)line;
        if (aw_window_is_empty(span, row, column, AW_PER + AW_SPLINE_NODES - 1)) continue;
        const AW_REAL *window = cells + (ptrdiff_t)row * AW_LINE_COMPONENTS * width + column;
        if (rates) /* a compile-time constant in each branch */
            AW_NODE(window, NULL, width, f, g, node[2], node[3], mask, 1, acc);
        else
            AW_NODE(window, NULL, width, f, g, node[2], node[3], mask, 0, acc);
    }
}
#endif

/* Sum over `count` nodes, from the place `first` on, for the lanes lane .. lane + AW_PER - 1: in
 * *sums the nodes with the same cell for all lanes, in *mixed the others. `angle` is the cosine and
 * sine of the first node's angle, then of the step, where nodes are equidistant in angle.
 * @return number of nodes that do not lie in empty cells */
AW_INLINE int AW_BATCH_SUM(const aw_history_view *h, const aw_tile_arc *arc, const AW_REAL *cells,
                           const int (*span)[2], int lane, int count, double first,
                           const double angle[4], int rates, AW_SUMS *sums, AW_SUMS *mixed)
{
    const ptrdiff_t width = aw_line_width(h);
    AW_SUMS acc = {{{0}}, {{0}}};
    const double a0 = arc->a, b0 = arc->b, r_s = arc->r_s, r_x = arc->r_x;
    const double turn_s = arc->turn_s, turn_x = arc->turn_x;
    const int columns = (int)width - AW_TILE - AW_SPLINE_NODES + 1;
    const int rows = h->nx + 2 * AW_PAD - AW_SPLINE_NODES;
    double c = angle[0], s = angle[1];
    aw_turned turned;
    int done = 0;
    AW_LANES da, db, pa, qa, pb, qb, ud, wd, all = {0};
    for (int l = 0; l < AW_PER; ++l) {
        da[l] = (AW_REAL)arc->da[lane + l];
        db[l] = (AW_REAL)arc->db[lane + l];
        pa[l] = (AW_REAL)arc->pa[lane + l];
        qa[l] = (AW_REAL)arc->qa[lane + l];
        pb[l] = (AW_REAL)arc->pb[lane + l];
        qb[l] = (AW_REAL)arc->qb[lane + l];
        ud[l] = (AW_REAL)arc->ud[lane + l];
        wd[l] = (AW_REAL)arc->wd[lane + l];
    }
    all += 1;
    for (int m = 0; m < count; ++m) {
        AW_LANES weight = all;
        if (arc->even.in != AW_EVEN_ANGLE) {
            const int l = m % AW_BATCH;
            if (l == 0) aw_turn_batch(&arc->even, first + m * arc->step, arc->step, &turned);
            weight *= (AW_REAL)turned.by[l];
            c = turned.c[l];
            s = turned.s[l];
        }
        const double a = a0 + r_s * c, b = b0 + r_x * s;
        const double ra = floor(a + 0.5), rb = floor(b + 0.5), fa = a - ra, fb = b - rb;
        const AW_REAL co = (AW_REAL)c, si = (AW_REAL)s;
        const AW_LANES f = da + (AW_REAL)fa - (qa * si + pa * co);
        const AW_LANES g = db + (AW_REAL)fb + (qb * co - pb * si);
        const AW_LANES u = ud + (AW_REAL)(turn_s * s), w = wd - (AW_REAL)(turn_x * c);
        if (arc->even.in == AW_EVEN_ANGLE) {
            const double next = c * angle[2] - s * angle[3];
            s = s * angle[2] + c * angle[3];
            c = next;
        }
        if (AW_CAT(aw_lanes_within_, AW_LETTER)(f, g)) {
            const int column = (int)ra - 1 + AW_TILE_PAD, row = (int)rb - 1 + AW_PAD;
            if ((unsigned)column > (unsigned)columns || (unsigned)row > (unsigned)rows) continue;
            if (aw_window_is_empty(span, row, column + lane, AW_PER + AW_SPLINE_NODES - 1))
                continue;
            const AW_REAL *window =
                cells + (ptrdiff_t)row * AW_LINE_COMPONENTS * width + column + lane;
            AW_NODE(window, NULL, width, f, g, u, w, weight, rates, &acc);
        } else {
            /* A copy, so that the numbers of the frequent case stay in registers. */
            const AW_LANES node[5] = {f, g, u, w, weight};
            AW_MIXED(h, cells, span, lane, (int)ra, (int)rb, node, rates, mixed);
        }
        done++;
    }
    *sums = acc;
    return done;
}

/* Vector form of aw_tile_sum_scalar. */
AW_INLINE int AW_TILE_SUM(const aw_history_view *h, const aw_tile_arc *arc, const void *cells,
                          const int (*span)[2], int batch, int rates,
                          double sum[AW_LINE_COMPONENTS][AW_TILE])
{
    double angle[4] = {0.0, 0.0, cos(arc->step), sin(arc->step)};
    int done = 0;
    for (int k = 0; k < AW_LINE_COMPONENTS; ++k)
        for (int l = 0; l < AW_TILE; ++l) sum[k][l] = 0.0;
    for (int m = 0; m < arc->n; m += batch) {
        const int count = arc->n - m < batch ? arc->n - m : batch;
        const double first = arc->first + m * arc->step;
        if (arc->even.in == AW_EVEN_ANGLE) {
            angle[0] = cos(first);
            angle[1] = sin(first);
        }
        for (int lane = 0; lane < AW_TILE; lane += AW_PER) {
            AW_SUMS acc, mixed = {{{0}}, {{0}}};
            done += AW_PER * AW_BATCH_SUM(h, arc, cells, span, lane, count, first, angle, rates,
                                          &acc, &mixed);
            for (int k = 0; k < 3; ++k)
                for (int l = 0; l < AW_PER; ++l) {
                    sum[k][lane + l] += (double)(acc.moment[k][l] + mixed.moment[k][l]);
                    sum[3 + k][lane + l] += (double)(acc.rate[k][l] + mixed.rate[k][l]);
                }
        }
    }
    return done;
}

static int AW_CAT(aw_tile_sum_, AW_LETTER)(const aw_history_view *h, const aw_tile_arc *arc,
                                           const void *cells, const int (*span)[2],
                                           const aw_tile_options *options,
                                           double sum[AW_LINE_COMPONENTS][AW_TILE])
{
    return options->rates ? AW_TILE_SUM(h, arc, cells, span, options->batch, 1, sum)
                          : AW_TILE_SUM(h, arc, cells, span, options->batch, 0, sum);
}

static void AW_CAT(aw_interpolate_lines_, AW_LETTER)(const aw_line_interpolation *lines)
{
    const void *const slice[3] = {lines->slice[0], lines->slice[1], lines->slice[2]};
    const AW_REAL w0 = (AW_REAL)lines->w[0], w1 = (AW_REAL)lines->w[1], w2 = (AW_REAL)lines->w[2];
    const AW_REAL d0 = (AW_REAL)lines->d[0], d1 = (AW_REAL)lines->d[1], d2 = (AW_REAL)lines->d[2];
    const size_t width = lines->width;
    const int row_last = lines->row[1], rates = lines->rates;
    for (int j = lines->row[0]; j <= row_last; ++j) {
        const int first = lines->columns[j][0], last = lines->columns[j][1];
        for (int k = 0; k < 3; ++k) {
            const size_t from = ((size_t)j * 3 + (size_t)k) * width;
            const AW_REAL *AW_RESTRICT a = (const AW_REAL *)slice[0] + from;
            const AW_REAL *AW_RESTRICT b = (const AW_REAL *)slice[1] + from;
            const AW_REAL *AW_RESTRICT e = (const AW_REAL *)slice[2] + from;
            AW_REAL *AW_RESTRICT out =
                (AW_REAL *)lines->out + ((size_t)j * AW_LINE_COMPONENTS + (size_t)k) * width;
            AW_REAL *AW_RESTRICT rate = out + 3 * width;
            if (!rates) {
#pragma omp simd
                for (int i = first; i < last; ++i) out[i] = w0 * a[i] + w1 * b[i] + w2 * e[i];
                continue;
            }
#pragma omp simd
            for (int i = first; i < last; ++i) {
                out[i] = w0 * a[i] + w1 * b[i] + w2 * e[i];
                rate[i] = d0 * a[i] + d1 * b[i] + d2 * e[i];
            }
        }
    }
}

#undef AW_LANES
#undef AW_LANES_LOOSE
#undef AW_WHICH
#undef AW_SUMS
#undef AW_PICK
#undef AW_NODE
#undef AW_MIXED
#undef AW_BATCH_SUM
#undef AW_TILE_SUM
#undef AW_PER
#undef AW_INLINE
