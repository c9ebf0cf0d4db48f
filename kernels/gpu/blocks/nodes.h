/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU: f_in(r) of one point at a few radii at once, one warp per radius, whose threads take the
 * nodes in angle in turn. For the regions of a list and for adaptive refinement. */
#ifndef AW_KERNELS_GPU_BLOCKS_NODES_H
#define AW_KERNELS_GPU_BLOCKS_NODES_H
#include "kernels/gpu/blocks/reading.h"
#include "kernels/math/height.h"

/** Shared memory of a block for AW_GPU_WARPS radii, one per warp. */
typedef struct aw_gpu_nodes {
    /* in: */
    int wanted[AW_GPU_WARPS];
    double r[AW_GPU_WARPS];
    /* out: */
    double f_in[AW_GPU_WARPS][AW_RESULTS];
    aw_work work[AW_GPU_WARPS]; /* added to; all evaluations are with rates */
    /* scratch: */
    aw_retarded f[AW_GPU_WARPS];
    aw_circles circles[AW_GPU_WARPS];
    int most; /* largest number of circles of a radius */
    aw_arc arc[AW_GPU_WARPS][AW_ARCS_MAX];
    int arcs[AW_GPU_WARPS];
    aw_arc_slice slice[AW_GPU_WARPS][3]; /* geometry of the slices of a round */
    aw_gpu_reading reading[AW_GPU_WARPS][3];
    double sum[6][AW_GPU_THREADS];
} aw_gpu_nodes;

/* Find the retarded frame of a warp's radius, and its circles. Called by one thread. */
AW_GPU_CALL void aw_gpu_nodes_begin(const aw_history_view *h, const aw_field_point *p,
                                    aw_gpu_nodes *s, int warp)
{
    s->f[warp] = aw_retarded_at(h, s->r[warp]);
    s->circles[warp] = aw_circles_at(&s->f[warp]);
    aw_circles_see_from(&s->f[warp], p->z, p->x, &s->circles[warp]);
    s->work[warp].nodes++;
    for (unsigned k = 0; k < AW_RESULTS; ++k) s->f_in[warp][k] = s->f[warp].nt ? 0.0 : (double)NAN;
}

/* Find the arcs of a circle. Called by one thread. */
AW_GPU_CALL void aw_gpu_nodes_place(const aw_history_view *h, const aw_field_point *p,
                                    double density, int circle, aw_gpu_nodes *s, int warp)
{
    aw_retarded *f = &s->f[warp];
    s->arcs[warp] = 0;
    if (f->nt == 0 || circle >= aw_circles_count(&s->circles[warp])) return;
    f->radius = aw_circle_radius(f, &s->circles[warp], circle);
    aw_arc arc;
    aw_arc_place(f, p, &arc);
    const aw_arcs arcs = aw_circle_arcs(arc.u, arc.w, arc.r, f->half_s, f->half_x);
    for (int t = 0; t < aw_gpu_rounds(f); ++t) {
        s->slice[warp][t] = aw_arc_slice_of(h, f->slice[t]);
        aw_gpu_read(f, t, &s->reading[warp][t]);
    }
    for (int i = 0; i < arcs.n; ++i) {
        aw_arc_nodes(f, &arcs, i, aw_circle_density(&s->circles[warp], circle, density), &arc);
        s->arc[warp][i] = arc;
        s->work[warp].evaluations += (uint64_t)arc.n;
        s->work[warp].rated += (uint64_t)arc.n;
    }
    s->arcs[warp] = arcs.n;
}

/* Add one thread's part of the nodes on an arc, in the slices of one spacing, to sum. A macro in
 * place of a template on the precision of the cells. */
#define AW_GPU_NODES_ARC(letter)                                                                 \
    AW_GPU_FN void aw_gpu_nodes_arc_##letter(const aw_arc *arc, const aw_arc_slice *slice,       \
                                             const aw_gpu_reading *reading, int lane,            \
                                             double sum[6])                                      \
    {                                                                                            \
        double value[3][3] = {{0.0}}, rate[3][3] = {{0.0}};                                      \
        for (int m = lane; m < arc->n; m += AW_GPU_WARP) {                                       \
            double c, s;                                                                         \
            const double weight = aw_arc_turned(&arc->even, arc->first + m * arc->step, &c, &s); \
            aw_node node = aw_node_at(slice, arc, arc->u + arc->r * c, arc->w + arc->r * s);     \
            aw_node_weigh(&node, weight);                                                        \
            aw_gpu_gather_##letter(reading, 1, &node, slice->ns + 2 * AW_PAD, value, rate);      \
        }                                                                                        \
        aw_gpu_combine_##letter(reading, 1, arc->step, value, rate, sum);                        \
    }
AW_GPU_NODES_ARC(d)
AW_GPU_NODES_ARC(m)

/* The same for all arcs and spacings. */
AW_GPU_FN void aw_gpu_nodes_sum(const aw_gpu_nodes *s, int single, int warp, int lane,
                                double sum[6])
{
    const int rounds = aw_gpu_rounds(&s->f[warp]);
    for (int k = 0; k < 6; ++k) sum[k] = 0.0;
    for (int i = 0; i < s->arcs[warp]; ++i)
        for (int t = 0; t < rounds; ++t) {
            const aw_arc *arc = &s->arc[warp][i];
            const aw_gpu_reading *reading = &s->reading[warp][t];
            if (reading->slices == 0) continue;
            if (single)
                aw_gpu_nodes_arc_m(arc, &s->slice[warp][t], reading, lane, sum);
            else
                aw_gpu_nodes_arc_d(arc, &s->slice[warp][t], reading, lane, sum);
        }
}

/* Add circle `circle` of each radius to f_in. */
AW_GPU_FN void aw_gpu_nodes_circle(const aw_history_view *h, const aw_field_point *p,
                                   double density, int circle, aw_gpu_nodes *s)
{
    AW_GPU_EACH(t)
    {
        const int warp = t / AW_GPU_WARP;
        if (t % AW_GPU_WARP == 0 && s->wanted[warp])
            aw_gpu_nodes_place(h, p, density, circle, s, warp);
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        const int warp = t / AW_GPU_WARP;
        double sum[6];
        if (s->wanted[warp]) {
            aw_gpu_nodes_sum(s, h->single, warp, t % AW_GPU_WARP, sum);
            for (int k = 0; k < 6; ++k) s->sum[k][t] = sum[k];
        }
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        const int warp = t / AW_GPU_WARP, k = t % AW_GPU_WARP;
        if (k < 6 && s->wanted[warp]) { /* in the same order on every device */
            double sum = 0.0;
            for (int l = 0; l < AW_GPU_WARP; ++l) sum += s->sum[k][warp * AW_GPU_WARP + l];
            s->sum[k][warp * AW_GPU_WARP] = sum;
        }
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        const int warp = t / AW_GPU_WARP;
        if (t % AW_GPU_WARP == 0 && s->wanted[warp] && s->arcs[warp] > 0) {
            double v[3], rate[3], one[AW_RESULTS] = {0.0};
            for (int k = 0; k < 3; ++k) {
                v[k] = s->sum[k][t];
                rate[k] = s->sum[3 + k][t];
            }
            aw_arc_turn(&s->f[warp], p, 1.0, v, rate, one);
            aw_circle_add(&s->circles[warp], circle, one, s->f_in[warp]);
        }
    }
    AW_GPU_BARRIER();
}

/** Compute f_in at the wanted radii at point p. Called by all threads, after a barrier that follows
 *  the writing of the inputs; it ends with a barrier. */
AW_GPU_FN void aw_gpu_nodes_run(const aw_history_view *h, const aw_field_point *p, double density,
                                aw_gpu_nodes *s)
{
    AW_GPU_EACH(t)
    {
        const int warp = t / AW_GPU_WARP;
        if (t % AW_GPU_WARP == 0 && s->wanted[warp]) aw_gpu_nodes_begin(h, p, s, warp);
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        if (t == 0) {
            s->most = 0;
            for (int i = 0; i < AW_GPU_WARPS; ++i)
                if (s->wanted[i] && aw_circles_count(&s->circles[i]) > s->most)
                    s->most = aw_circles_count(&s->circles[i]);
        }
    }
    AW_GPU_BARRIER();
    for (int circle = 0; circle < s->most; ++circle) aw_gpu_nodes_circle(h, p, density, circle, s);
}

#endif
