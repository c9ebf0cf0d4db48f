/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU: f_in(r) of the points of a tile at a few radii at once, a warp for each, which is twice the
 * tile's lanes: neighbouring lanes read neighbouring cells. The nodes are those of the CPU's tiles
 * (kernels/math/tile.h); slices are not combined first, but each is read as it is. */
#ifndef AW_KERNELS_GPU_BLOCKS_TILES_H
#define AW_KERNELS_GPU_BLOCKS_TILES_H
#include "kernels/gpu/blocks/reading.h"
#include "kernels/math/tile.h"

/* Threads of a warp that share a lane. */
#define AW_GPU_SHARES (AW_GPU_WARP / AW_TILE)

/** What a block has in hand of AW_GPU_WARPS radii. */
typedef struct aw_gpu_tiles {
    /* in: */
    aw_tile tile;
    int wanted[AW_GPU_WARPS], rates[AW_GPU_WARPS];
    double r[AW_GPU_WARPS], density[AW_GPU_WARPS];
    int rounded; /* 1: nodes are summed in single precision, AW_GPU_WARP at a time */
    /* out: */
    double f_in[AW_GPU_WARPS][AW_RESULTS][AW_TILE];
    aw_work work[AW_GPU_WARPS]; /* to which is added */
    /* in between: */
    aw_retarded f[AW_GPU_WARPS];
    aw_tile_place place[AW_GPU_WARPS];
    aw_tile_arc arc[AW_GPU_WARPS];
    aw_gpu_reading reading[AW_GPU_WARPS];
    int rounds[AW_GPU_WARPS], most_rounds, steps;
    double turn[AW_GPU_THREADS][2]; /* cosine and sine of the nodes of this step */
    double share[AW_LINE_COMPONENTS][AW_GPU_THREADS];
    double sum[AW_GPU_WARPS][AW_LINE_COMPONENTS][AW_TILE];
} aw_gpu_tiles;

/* The retarded frame of a warp's radius, and where the tile stands in it: one thread's work. */
AW_GPU_CALL void aw_gpu_tiles_place(const aw_history_view *h, aw_gpu_tiles *s, int g)
{
    aw_retarded *f = &s->f[g];
    *f = aw_retarded_at(h, s->r[g]);
    s->rounds[g] = 0;
    s->work[g].nodes += (uint64_t)s->tile.n;
    if (f->nt == 0) return;
    aw_tile_at(h, f, &s->tile, &s->place[g]);
    s->rounds[g] = s->place[g].arcs.n * aw_gpu_rounds(f);
}

/* Round `round` of a warp: an arc, and slices of one spacing. One thread's work. */
AW_GPU_CALL void aw_gpu_tiles_round(const aw_history_view *h, aw_gpu_tiles *s, int g, int round)
{
    const aw_retarded *f = &s->f[g];
    const int which = round % aw_gpu_rounds(f), i = round / aw_gpu_rounds(f);
    aw_gpu_read(f, which, &s->reading[g]);
    aw_tile_arc_of(h, f, &s->place[g], i, s->density[g], f->slice[which], &s->arc[g]);
    if (s->reading[g].slices == 0) s->arc[g].n = 0;
    if (which > 0) return;
    const uint64_t done = (uint64_t)s->arc[g].n * (uint64_t)s->tile.n;
    s->work[g].evaluations += done;
    s->work[g].rated += s->rates[g] ? done : 0;
}

/* Where lane l's node is, of which c and s are cosine and sine. */
AW_GPU_FN aw_node aw_gpu_tiles_node(const aw_history_view *h, const aw_tile_arc *arc, int l,
                                    double c, double s)
{
    const double a = arc->a + l + arc->da[l] + arc->r_s * c - arc->qa[l] * s - arc->pa[l] * c;
    const double b = arc->b + arc->db[l] + arc->r_x * s + arc->qb[l] * c - arc->pb[l] * s;
    const double ud = arc->ud[l] + arc->turn_s * s, wd = arc->wd[l] - arc->turn_x * c;
    return aw_node_in(h->ns, h->nx, a, b, ud, wd);
}

/* One thread's share of this step's nodes, of which there are at most AW_GPU_WARP: adds to sum. */
#define AW_GPU_TILES_SHARE(letter, real)                                                           \
    AW_GPU_FN void aw_gpu_tiles_share_##letter(const aw_history_view *h, const aw_gpu_tiles *s,    \
                                               int rates, int t, int step,                         \
                                               double sum[AW_LINE_COMPONENTS])                     \
    {                                                                                              \
        const int g = t / AW_GPU_WARP, lane = t % AW_GPU_WARP;                                     \
        const int left = s->arc[g].n - step * AW_GPU_WARP;                                         \
        const int n = left < AW_GPU_WARP ? left : AW_GPU_WARP;                                     \
        real value[3][3] = {{0}}, rate[3][3] = {{0}};                                              \
        for (int m = lane / AW_TILE; m < n; m += AW_GPU_SHARES) {                                  \
            const double *turn = s->turn[g * AW_GPU_WARP + m];                                     \
            const aw_node node =                                                                   \
                aw_gpu_tiles_node(h, &s->arc[g], lane % AW_TILE, turn[0], turn[1]);                \
            aw_gpu_gather_##letter(&s->reading[g], rates, &node, h->ns + 2 * AW_PAD, value, rate); \
        }                                                                                          \
        aw_gpu_combine_##letter(&s->reading[g], rates, 1.0, value, rate, sum);                     \
    }
AW_GPU_TILES_SHARE(d, double)
AW_GPU_TILES_SHARE(m, double)
AW_GPU_TILES_SHARE(f, float)

/* With and without rates: loops without a branch inside. */
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

/* Whether warp g has something to do in this round. */
AW_GPU_FN int aw_gpu_tiles_works(const aw_gpu_tiles *s, int g, int round)
{
    return s->wanted[g] && round < s->rounds[g];
}

/* The nodes of one round, AW_GPU_WARP at a time; then what they give to f_in. */
AW_GPU_FN void aw_gpu_tiles_sum(const aw_history_view *h, aw_gpu_tiles *s, int round)
{
    double own[AW_GPU_OWN][AW_LINE_COMPONENTS] = {{0.0}};
    for (int step = 0; step < s->steps; ++step) {
        AW_GPU_EACH(t)
        {
            const int g = t / AW_GPU_WARP, m = step * AW_GPU_WARP + t % AW_GPU_WARP;
            if (aw_gpu_tiles_works(s, g, round) && m < s->arc[g].n) {
                const double angle = s->arc[g].first + m * s->arc[g].step;
                s->turn[t][0] = cos(angle);
                s->turn[t][1] = sin(angle);
            }
        }
        AW_GPU_BARRIER();
        AW_GPU_EACH(t)
        {
            const int g = t / AW_GPU_WARP;
            if (aw_gpu_tiles_works(s, g, round))
                aw_gpu_tiles_share(h, s, t, step, own[AW_GPU_MINE(t)]);
        }
        AW_GPU_BARRIER();
    }
    AW_GPU_EACH(t)
    {
        for (int k = 0; k < AW_LINE_COMPONENTS; ++k) s->share[k][t] = own[AW_GPU_MINE(t)][k];
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        const int g = t / AW_GPU_WARP, l = t % AW_GPU_WARP;
        if (l < AW_TILE && aw_gpu_tiles_works(s, g, round)) {
            for (int k = 0; k < AW_LINE_COMPONENTS; ++k) {
                double sum = 0.0;
                for (int i = 0; i < AW_GPU_SHARES; ++i) sum += s->share[k][t + i * AW_TILE];
                s->sum[g][k][l] = sum;
            }
            aw_tile_turn_lanes(&s->f[g], &s->tile, l, l + 1, s->arc[g].step,
                               (const double(*)[AW_TILE])s->sum[g], s->f_in[g]);
        }
    }
    AW_GPU_BARRIER();
}

/** f_in at the wanted radii for all lanes; called by all threads. What it takes is there from a
 *  barrier on, and what it gives after the one with which it ends. */
AW_GPU_FN void aw_gpu_tiles_run(const aw_history_view *h, aw_gpu_tiles *s)
{
    AW_GPU_EACH(t)
    {
        const int g = t / AW_GPU_WARP;
        if (t % AW_GPU_WARP == 0 && s->wanted[g]) aw_gpu_tiles_place(h, s, g);
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        const int g = t / AW_GPU_WARP, l = t % AW_GPU_WARP;
        if (t == 0) {
            s->most_rounds = 0;
            for (int i = 0; i < AW_GPU_WARPS; ++i)
                if (s->wanted[i] && s->rounds[i] > s->most_rounds) s->most_rounds = s->rounds[i];
        }
        if (l < AW_TILE && s->wanted[g])
            for (unsigned k = 0; k < AW_RESULTS; ++k)
                s->f_in[g][k][l] = s->f[g].nt ? 0.0 : (double)NAN;
    }
    AW_GPU_BARRIER();
    for (int round = 0; round < s->most_rounds; ++round) {
        AW_GPU_EACH(t)
        {
            const int g = t / AW_GPU_WARP;
            if (t % AW_GPU_WARP == 0 && aw_gpu_tiles_works(s, g, round))
                aw_gpu_tiles_round(h, s, g, round);
        }
        AW_GPU_BARRIER();
        AW_GPU_EACH(t)
        {
            if (t == 0) {
                int most = 0;
                for (int g = 0; g < AW_GPU_WARPS; ++g)
                    if (aw_gpu_tiles_works(s, g, round) && s->arc[g].n > most) most = s->arc[g].n;
                s->steps = (most + AW_GPU_WARP - 1) / AW_GPU_WARP;
            }
        }
        AW_GPU_BARRIER();
        aw_gpu_tiles_sum(h, s, round);
    }
}

#endif
