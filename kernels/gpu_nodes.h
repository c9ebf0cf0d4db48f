/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU: f_in(r) of one point at a few radii at once, a warp for each; its threads share the nodes in
 * angle. For regions of a list and for adaptive refinement. */
#ifndef AW_KERNELS_GPU_NODES_H
#define AW_KERNELS_GPU_NODES_H
#include "kernels/gpu_block.h"
#include "kernels/integrand.h"

/** What a block has in hand of AW_GPU_GROUPS radii. */
typedef struct aw_gpu_nodes {
    /* in: */
    int wanted[AW_GPU_GROUPS];
    double r[AW_GPU_GROUPS];
    /* out: */
    double f_in[AW_GPU_GROUPS][AW_RESULTS];
    uint64_t nodes[AW_GPU_GROUPS], evaluations[AW_GPU_GROUPS]; /* to which is added */
    /* in between: */
    aw_retarded f[AW_GPU_GROUPS];
    aw_arc arc[AW_GPU_GROUPS][AW_ARCS_MAX];
    int arcs[AW_GPU_GROUPS];
    aw_arc_slice slice[AW_GPU_GROUPS][3];
    double sum[6][AW_GPU_THREADS];
} aw_gpu_nodes;

/* The retarded frame and the arcs of a warp's radius: one thread's work. */
AW_GPU_FN void aw_gpu_nodes_place(const aw_history_view *h, const aw_field_point *p, double density,
                                  aw_gpu_nodes *s, int g)
{
    aw_retarded *f = &s->f[g];
    *f = aw_retarded_at(h, s->r[g]);
    s->arcs[g] = 0;
    s->nodes[g]++;
    if (f->nt == 0) return;
    aw_arc arc;
    aw_arc_place(f, p, &arc);
    const aw_arcs arcs = aw_circle_arcs(arc.u, arc.w, arc.r, f->half_s, f->half_x);
    for (int t = 0; t < f->nt; ++t) s->slice[g][t] = aw_arc_slice_of(h, f->slice[t]);
    for (int i = 0; i < arcs.n; ++i) {
        aw_arc_nodes(f, &arcs, i, density, &arc);
        s->arc[g][i] = arc;
        s->evaluations[g] += (uint64_t)arc.n;
    }
    s->arcs[g] = arcs.n;
}

/* One thread's share of a warp's nodes in angle: sums over them, combined in time. */
AW_GPU_FN void aw_gpu_nodes_sum(const aw_gpu_nodes *s, int single, int g, int lane, double v[3],
                                double rate[3])
{
    const aw_retarded *f = &s->f[g];
    for (int k = 0; k < 3; ++k) v[k] = rate[k] = 0.0;
    for (int i = 0; i < s->arcs[g]; ++i) {
        const aw_arc *arc = &s->arc[g][i];
        for (int m = lane; m < arc->n; m += AW_GPU_WARP) {
            const double angle = arc->first + m * arc->step;
            const double u = arc->u + arc->r * cos(angle), w = arc->w + arc->r * sin(angle);
            for (int t = 0; t < f->nt; ++t) {
                const aw_arc_slice *slice = &s->slice[g][t];
                const aw_node node = aw_node_at(slice, arc, u, w);
                double value[3] = {0.0, 0.0, 0.0}, moved[3] = {0.0, 0.0, 0.0};
                aw_gpu_gather(slice->cells, single, 1, node.first, slice->ns + 2 * AW_PAD, node.wu,
                              node.wv, node.du, node.dv, value, moved);
                const double by = arc->step * f->w[t], change = arc->step * f->wd[t];
                for (int k = 0; k < 3; ++k) {
                    v[k] += by * value[k];
                    rate[k] += by * moved[k] + change * value[k];
                }
            }
        }
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
        double v[3], rate[3];
        if (s->wanted[g]) {
            aw_gpu_nodes_sum(s, h->single, g, t % AW_GPU_WARP, v, rate);
            for (int k = 0; k < 3; ++k) {
                s->sum[k][t] = v[k];
                s->sum[3 + k][t] = rate[k];
            }
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
