/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU: f_in(r) of one point at a few radii at once, a warp for each; its threads share the nodes in
 * angle. For regions of a list and for adaptive refinement. */
#ifndef AW_KERNELS_GPU_BLOCKS_NODES_H
#define AW_KERNELS_GPU_BLOCKS_NODES_H
#include "kernels/gpu/blocks/reading.h"

/** What a block has in hand of AW_GPU_WARPS radii. */
typedef struct aw_gpu_nodes {
    /* in: */
    int wanted[AW_GPU_WARPS];
    double r[AW_GPU_WARPS];
    /* out: */
    double f_in[AW_GPU_WARPS][AW_RESULTS];
    aw_work work[AW_GPU_WARPS]; /* to which is added; all evaluations are with rates */
    /* in between: */
    aw_retarded f[AW_GPU_WARPS];
    aw_arc arc[AW_GPU_WARPS][AW_ARCS_MAX];
    int arcs[AW_GPU_WARPS];
    aw_arc_slice slice[AW_GPU_WARPS][3]; /* geometry of a round */
    aw_gpu_reading reading[AW_GPU_WARPS][3];
    double sum[6][AW_GPU_THREADS];
} aw_gpu_nodes;

/* The retarded frame and the arcs of a warp's radius: one thread's work. */
AW_GPU_CALL void aw_gpu_nodes_place(const aw_history_view *h, const aw_field_point *p,
                                    double density, aw_gpu_nodes *s, int g)
{
    aw_retarded *f = &s->f[g];
    *f = aw_retarded_at(h, s->r[g]);
    s->arcs[g] = 0;
    s->work[g].nodes++;
    if (f->nt == 0) return;
    aw_arc arc;
    aw_arc_place(f, p, &arc);
    const aw_arcs arcs = aw_circle_arcs(arc.u, arc.w, arc.r, f->half_s, f->half_x);
    for (int t = 0; t < aw_gpu_rounds(f); ++t) {
        s->slice[g][t] = aw_arc_slice_of(h, f->slice[t]);
        aw_gpu_read(f, t, &s->reading[g][t]);
    }
    for (int i = 0; i < arcs.n; ++i) {
        aw_arc_nodes(f, &arcs, i, density, &arc);
        s->arc[g][i] = arc;
        s->work[g].evaluations += (uint64_t)arc.n;
        s->work[g].rated += (uint64_t)arc.n;
    }
    s->arcs[g] = arcs.n;
}

/* One thread's share of a warp's nodes on an arc, read in one spacing: adds to sum. A macro for
 * want of templates: the cells' precision is known to the compiler. */
#define AW_GPU_NODES_ARC(letter)                                                             \
    AW_GPU_FN void aw_gpu_nodes_arc_##letter(const aw_arc *arc, const aw_arc_slice *slice,   \
                                             const aw_gpu_reading *reading, int lane,        \
                                             double sum[6])                                  \
    {                                                                                        \
        double value[3][3] = {{0.0}}, rate[3][3] = {{0.0}};                                  \
        for (int m = lane; m < arc->n; m += AW_GPU_WARP) {                                   \
            const double angle = arc->first + m * arc->step;                                 \
            const double u = arc->u + arc->r * cos(angle), w = arc->w + arc->r * sin(angle); \
            const aw_node node = aw_node_at(slice, arc, u, w);                               \
            aw_gpu_gather_##letter(reading, 1, &node, slice->ns + 2 * AW_PAD, value, rate);  \
        }                                                                                    \
        aw_gpu_combine_##letter(reading, 1, arc->step, value, rate, sum);                    \
    }
AW_GPU_NODES_ARC(d)
AW_GPU_NODES_ARC(m)

/* The same of all arcs. */
AW_GPU_FN void aw_gpu_nodes_sum(const aw_gpu_nodes *s, int single, int g, int lane, double sum[6])
{
    const int rounds = aw_gpu_rounds(&s->f[g]);
    for (int k = 0; k < 6; ++k) sum[k] = 0.0;
    for (int i = 0; i < s->arcs[g]; ++i)
        for (int t = 0; t < rounds; ++t) {
            const aw_arc *arc = &s->arc[g][i];
            const aw_gpu_reading *reading = &s->reading[g][t];
            if (reading->slices == 0) continue;
            if (single)
                aw_gpu_nodes_arc_m(arc, &s->slice[g][t], reading, lane, sum);
            else
                aw_gpu_nodes_arc_d(arc, &s->slice[g][t], reading, lane, sum);
        }
}

/** f_in at the wanted radii at point p; called by all threads. What it takes is there from a
 *  barrier on, and what it gives after the one with which it ends. */
AW_GPU_FN void aw_gpu_nodes_run(const aw_history_view *h, const aw_field_point *p, double density,
                                aw_gpu_nodes *s)
{
    AW_GPU_EACH(t)
    {
        const int g = t / AW_GPU_WARP;
        if (t % AW_GPU_WARP == 0 && s->wanted[g]) aw_gpu_nodes_place(h, p, density, s, g);
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        const int g = t / AW_GPU_WARP;
        double sum[6];
        if (s->wanted[g]) {
            aw_gpu_nodes_sum(s, h->single, g, t % AW_GPU_WARP, sum);
            for (int k = 0; k < 6; ++k) s->sum[k][t] = sum[k];
        }
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        const int g = t / AW_GPU_WARP, k = t % AW_GPU_WARP;
        if (k < 6 && s->wanted[g]) { /* in one order, whatever the device */
            double sum = 0.0;
            for (int l = 0; l < AW_GPU_WARP; ++l) sum += s->sum[k][g * AW_GPU_WARP + l];
            s->sum[k][g * AW_GPU_WARP] = sum;
        }
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        const int g = t / AW_GPU_WARP;
        if (t % AW_GPU_WARP == 0 && s->wanted[g]) {
            double v[3], rate[3];
            for (int k = 0; k < 3; ++k) {
                v[k] = s->sum[k][t];
                rate[k] = s->sum[3 + k][t];
            }
            for (unsigned k = 0; k < AW_RESULTS; ++k)
                s->f_in[g][k] = s->f[g].nt ? 0.0 : (double)NAN;
            if (s->f[g].nt > 0) aw_arc_turn(&s->f[g], p, 1.0, v, rate, s->f_in[g]);
        }
    }
    AW_GPU_BARRIER();
}

#endif
