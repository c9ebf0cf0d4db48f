/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mathematics of one point, compiled for a device: with AW_CUDA a header that stops being CUDA
 * fails the build. The unit that launches it is not built yet. */
#include "kernels/blend.h"
#include "kernels/refine.h"
#include "kernels/tile.h"

/* One thread, one radius r: f_in of point p, the scalar reference of every other kernel. */
extern "C" __global__ void aw_cuda_inner(aw_history_view h, const aw_field_point *p, double r,
                                         double density, double *f_in)
{
    const aw_retarded f = aw_retarded_at(&h, r);
    aw_arc_slice s[3];
    aw_arc arc;
    double sum[3][8];
    aw_arc_place(&f, p, &arc);
    const aw_arcs arcs = aw_circle_arcs(arc.u, arc.w, arc.r, f.half_s, f.half_x);
    for (int t = 0; t < f.nt; ++t) s[t] = aw_arc_slice_of(&h, f.slice[t]);
    for (unsigned k = 0; k < AW_RESULTS; ++k) f_in[k] = 0.0;
    for (int i = 0; i < arcs.n; ++i) {
        aw_arc_nodes(&f, &arcs, i, density, &arc);
        aw_arc_sum_scalar(&arc, f.nt, s, h.single, sum);
        aw_arc_combine(&f, p, arc.step, sum, f_in);
    }
}

/* One thread, arc i of a tile: the sums of all lanes over combined planes. */
extern "C" __global__ void aw_cuda_tile(aw_history_view h, const aw_tile *tile, double r,
                                        const aw_tile_how *how, const aw_slice *shape,
                                        const void *planes, double f_in[AW_RESULTS][AW_TILE])
{
    const aw_retarded f = aw_retarded_at(&h, r);
    aw_tile_place place;
    aw_tile_arc arc;
    double sum[AW_PLANES][AW_TILE];
    aw_tile_at(&h, &f, tile, &place);
    for (int i = 0; i < place.arcs.n; ++i) {
        aw_tile_arc_of(&h, &f, &place, i, how->density, shape, &arc);
        aw_tile_sum_scalar(&h, &arc, planes, nullptr, how, sum);
        aw_tile_turn(&f, tile, arc.step, sum, f_in);
    }
}
