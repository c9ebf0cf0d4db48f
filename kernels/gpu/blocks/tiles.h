/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU: f_in(r) of the points of a tile at a few radii at once, one warp per radius. A warp has two
 * threads per lane of the tile, and neighbouring lanes read neighbouring cells. The nodes are those
 * of the CPU's tiles (kernels/math/tile.h), but slices are read without prior interpolation in
 * time. */
#ifndef AW_KERNELS_GPU_BLOCKS_TILES_H
#define AW_KERNELS_GPU_BLOCKS_TILES_H
#include "kernels/gpu/blocks/reading.h"
#include "kernels/math/tile.h"

/* Threads of a warp per lane: they take its nodes in turn. */
#define AW_GPU_LANE_THREADS (AW_GPU_WARP / AW_TILE)

/** Shared memory of a block for AW_GPU_WARPS radii, one per warp. */
typedef struct aw_gpu_tiles {
    /* in: */
    aw_tile tile;
    int wanted[AW_GPU_WARPS], rates[AW_GPU_WARPS];
    double r[AW_GPU_WARPS], density[AW_GPU_WARPS];
    int rounded; /* 1: sums over AW_GPU_WARP nodes at a time are in single precision */
    /* out: */
    double f_in[AW_GPU_WARPS][AW_RESULTS][AW_TILE];
    aw_work work[AW_GPU_WARPS]; /* added to */
    /* scratch: */
    aw_retarded f[AW_GPU_WARPS];
    aw_circles circles[AW_GPU_WARPS];
    double on_circle[AW_GPU_WARPS];                /* density on the present one */
    int most;                                      /* largest number of circles of a radius */
    double one[AW_GPU_WARPS][AW_RESULTS][AW_TILE]; /* of a circle */
    aw_tile_place place[AW_GPU_WARPS];
    aw_tile_arc arc[AW_GPU_WARPS];
    aw_gpu_reading reading[AW_GPU_WARPS];
    int rounds[AW_GPU_WARPS], max_rounds, steps;
    double turn[AW_GPU_THREADS][3]; /* cosine, sine and weight of the nodes of this step */
    double share[AW_LINE_COMPONENTS][AW_GPU_THREADS];
    double sum[AW_GPU_WARPS][AW_LINE_COMPONENTS][AW_TILE];
} aw_gpu_tiles;

/* Find the retarded frame of a warp's radius, and its circles. Called by one thread. */
AW_GPU_CALL void aw_gpu_tiles_begin(const aw_history_view *h, aw_gpu_tiles *s, int warp)
{
    s->f[warp] = aw_retarded_at(h, s->r[warp]);
    aw_span span = aw_span_of_none();
    s->circles[warp] = aw_circles_at(&s->f[warp]);
    aw_tile_span_add(&s->f[warp], &s->tile, &span);
    aw_circles_see_span(&s->f[warp], &span, &s->circles[warp]);
    s->work[warp].nodes += (uint64_t)s->tile.n;
}

/* Find the tile's place about a circle. Called by one thread. */
AW_GPU_CALL void aw_gpu_tiles_place(const aw_history_view *h, int circle, aw_gpu_tiles *s, int warp)
{
    aw_retarded *f = &s->f[warp];
    s->rounds[warp] = 0;
    s->on_circle[warp] = aw_circle_density(&s->circles[warp], circle, s->density[warp]);
    if (f->nt == 0 || circle >= aw_circles_count(&s->circles[warp])) return;
    f->radius = aw_circle_radius(f, &s->circles[warp], circle);
    aw_tile_at(h, f, &s->tile, &s->place[warp]);
    s->rounds[warp] = s->place[warp].arcs.n * aw_gpu_rounds(f);
}

/* Prepare round `round` of a warp: an arc, and the slices of one spacing. Called by one thread. */
AW_GPU_CALL void aw_gpu_tiles_round(const aw_history_view *h, aw_gpu_tiles *s, int warp, int round)
{
    const aw_retarded *f = &s->f[warp];
    const int which = round % aw_gpu_rounds(f), i = round / aw_gpu_rounds(f);
    aw_gpu_read(f, which, &s->reading[warp]);
    const aw_arc_slice slice = aw_arc_slice_of(h, f->slice[which]);
    aw_tile_arc_of(f, &s->place[warp], i, s->on_circle[warp], &slice, &s->arc[warp]);
    if (s->reading[warp].slices == 0) s->arc[warp].n = 0;
    if (which > 0) return;
    const uint64_t done = (uint64_t)s->arc[warp].n * (uint64_t)s->tile.n;
    s->work[warp].evaluations += done;
    s->work[warp].rated += s->rates[warp] ? done : 0;
}

/* Lane l's node at the angle with the cosine, sine and weight turn[3]. */
AW_GPU_FN aw_node aw_gpu_tiles_node(const aw_history_view *h, const aw_tile_arc *arc, int l,
                                    const double turn[3])
{
    const double c = turn[0], s = turn[1];
    const double a = arc->a + l + arc->da[l] + arc->r_s * c - arc->qa[l] * s - arc->pa[l] * c;
    const double b = arc->b + arc->db[l] + arc->r_x * s + arc->qb[l] * c - arc->pb[l] * s;
    const double ud = arc->ud[l] + arc->turn_s * s, wd = arc->wd[l] - arc->turn_x * c;
    aw_node node = aw_node_in(h->ns, h->nx, a, b, ud, wd);
    aw_node_weigh(&node, turn[2]);
    return node;
}

/* Add one thread's part of the nodes of a step, at most AW_GPU_WARP of them, to sum. */
#define AW_GPU_TILES_SHARE(letter, real)                                                        \
    AW_GPU_FN void aw_gpu_tiles_share_##letter(const aw_history_view *h, const aw_gpu_tiles *s, \
                                               int rates, int t, int step,                      \
                                               double sum[AW_LINE_COMPONENTS])                  \
    {                                                                                           \
        const int warp = t / AW_GPU_WARP, lane = t % AW_GPU_WARP;                               \
        const int left = s->arc[warp].n - step * AW_GPU_WARP;                                   \
        const int n = left < AW_GPU_WARP ? left : AW_GPU_WARP;                                  \
        real value[3][3] = {{0}}, rate[3][3] = {{0}};                                           \
        for (int m = lane / AW_TILE; m < n; m += AW_GPU_LANE_THREADS) {                         \
            const double *turn = s->turn[warp * AW_GPU_WARP + m];                               \
            const aw_node node = aw_gpu_tiles_node(h, &s->arc[warp], lane % AW_TILE, turn);     \
            aw_gpu_gather_##letter(&s->reading[warp], rates, &node, h->ns + 2 * AW_PAD, value,  \
                                   rate);                                                       \
        }                                                                                       \
        aw_gpu_combine_##letter(&s->reading[warp], rates, 1.0, value, rate, sum);               \
    }
AW_GPU_TILES_SHARE(d, double)
AW_GPU_TILES_SHARE(m, double)
AW_GPU_TILES_SHARE(f, float)

/* `rates` is a constant in each call, so that the loops have no branch. */
#define AW_GPU_TILES_EITHER(letter)                             \
    do {                                                        \
        if (s->rates[t / AW_GPU_WARP])                          \
            aw_gpu_tiles_share_##letter(h, s, 1, t, step, sum); \
        else                                                    \
            aw_gpu_tiles_share_##letter(h, s, 0, t, step, sum); \
    } while (0)

AW_GPU_FN void aw_gpu_tiles_share(const aw_history_view *h, const aw_gpu_tiles *s, int t, int step,
                                  double sum[AW_LINE_COMPONENTS])
{
    if (!h->single)
        AW_GPU_TILES_EITHER(d);
    else if (!s->rounded)
        AW_GPU_TILES_EITHER(m);
    else
        AW_GPU_TILES_EITHER(f);
}

/* Whether a warp has work in this round. */
AW_GPU_FN int aw_gpu_tiles_works(const aw_gpu_tiles *s, int warp, int round)
{
    return s->wanted[warp] && round < s->rounds[warp];
}

/* Sum over the nodes of one round, AW_GPU_WARP at a time, and add the sums to those of the
 * circle. */
AW_GPU_FN void aw_gpu_tiles_sum(const aw_history_view *h, aw_gpu_tiles *s, int round)
{
    double own[AW_GPU_PRIVATE][AW_LINE_COMPONENTS] = {{0.0}};
    for (int step = 0; step < s->steps; ++step) {
        AW_GPU_EACH(t)
        {
            const int warp = t / AW_GPU_WARP, m = step * AW_GPU_WARP + t % AW_GPU_WARP;
            if (aw_gpu_tiles_works(s, warp, round) && m < s->arc[warp].n) {
                const aw_tile_arc *arc = &s->arc[warp];
                s->turn[t][2] = aw_arc_turned(&arc->even, arc->first + m * arc->step,
                                              &s->turn[t][0], &s->turn[t][1]);
            }
        }
        AW_GPU_BARRIER();
        AW_GPU_EACH(t)
        {
            const int warp = t / AW_GPU_WARP;
            if (aw_gpu_tiles_works(s, warp, round))
                aw_gpu_tiles_share(h, s, t, step, own[AW_GPU_INDEX(t)]);
        }
        AW_GPU_BARRIER();
    }
    AW_GPU_EACH(t)
    {
        for (int k = 0; k < AW_LINE_COMPONENTS; ++k) s->share[k][t] = own[AW_GPU_INDEX(t)][k];
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        const int warp = t / AW_GPU_WARP, l = t % AW_GPU_WARP;
        if (l < AW_TILE && aw_gpu_tiles_works(s, warp, round)) {
            for (int k = 0; k < AW_LINE_COMPONENTS; ++k) {
                double sum = 0.0;
                for (int i = 0; i < AW_GPU_LANE_THREADS; ++i) sum += s->share[k][t + i * AW_TILE];
                s->sum[warp][k][l] = sum;
            }
            const aw_lanes lane = {l, l + 1};
            aw_tile_turn_lanes(&s->f[warp], &s->tile, lane, s->arc[warp].step,
                               (const double(*)[AW_TILE])s->sum[warp], s->one[warp]);
        }
    }
    AW_GPU_BARRIER();
}

/* Add circle `circle` of each radius to f_in. */
AW_GPU_FN void aw_gpu_tiles_circle(const aw_history_view *h, int circle, aw_gpu_tiles *s)
{
    AW_GPU_EACH(t)
    {
        const int warp = t / AW_GPU_WARP, l = t % AW_GPU_WARP;
        if (l == 0 && s->wanted[warp]) aw_gpu_tiles_place(h, circle, s, warp);
        for (unsigned k = 0; l < AW_TILE && k < AW_RESULTS; ++k) s->one[warp][k][l] = 0.0;
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        if (t == 0) {
            s->max_rounds = 0;
            for (int i = 0; i < AW_GPU_WARPS; ++i)
                if (s->wanted[i] && s->rounds[i] > s->max_rounds) s->max_rounds = s->rounds[i];
        }
    }
    AW_GPU_BARRIER();
    for (int round = 0; round < s->max_rounds; ++round) {
        AW_GPU_EACH(t)
        {
            const int warp = t / AW_GPU_WARP;
            if (t % AW_GPU_WARP == 0 && aw_gpu_tiles_works(s, warp, round))
                aw_gpu_tiles_round(h, s, warp, round);
        }
        AW_GPU_BARRIER();
        AW_GPU_EACH(t)
        {
            if (t == 0) {
                int max_nodes = 0;
                for (int warp = 0; warp < AW_GPU_WARPS; ++warp)
                    if (aw_gpu_tiles_works(s, warp, round) && s->arc[warp].n > max_nodes)
                        max_nodes = s->arc[warp].n;
                s->steps = (max_nodes + AW_GPU_WARP - 1) / AW_GPU_WARP;
            }
        }
        AW_GPU_BARRIER();
        aw_gpu_tiles_sum(h, s, round);
    }
    AW_GPU_EACH(t)
    {
        const int warp = t / AW_GPU_WARP, l = t % AW_GPU_WARP;
        const aw_lanes lane = {l, l + 1};
        if (l < AW_TILE && s->wanted[warp] && s->f[warp].nt > 0 &&
            circle < aw_circles_count(&s->circles[warp]))
            aw_tile_circle_add_lanes(&s->circles[warp], circle, lane,
                                     (const double(*)[AW_TILE])s->one[warp], s->f_in[warp]);
    }
    AW_GPU_BARRIER();
}

/** Compute f_in at the wanted radii for all lanes. Called by all threads, after a barrier that
 *  follows the writing of the inputs; it ends with a barrier. */
AW_GPU_FN void aw_gpu_tiles_run(const aw_history_view *h, aw_gpu_tiles *s)
{
    AW_GPU_EACH(t)
    {
        const int warp = t / AW_GPU_WARP;
        if (t % AW_GPU_WARP == 0 && s->wanted[warp]) aw_gpu_tiles_begin(h, s, warp);
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        const int warp = t / AW_GPU_WARP, l = t % AW_GPU_WARP;
        if (t == 0) {
            s->most = 0;
            for (int i = 0; i < AW_GPU_WARPS; ++i)
                if (s->wanted[i] && aw_circles_count(&s->circles[i]) > s->most)
                    s->most = aw_circles_count(&s->circles[i]);
        }
        if (l < AW_TILE && s->wanted[warp])
            for (unsigned k = 0; k < AW_RESULTS; ++k)
                s->f_in[warp][k][l] = s->f[warp].nt ? 0.0 : (double)NAN;
    }
    AW_GPU_BARRIER();
    for (int circle = 0; circle < s->most; ++circle) aw_gpu_tiles_circle(h, circle, s);
}

#endif
