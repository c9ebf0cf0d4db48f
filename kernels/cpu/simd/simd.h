/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SIMD variants of the inner integral: one source, compiled several times, picked at run time. */
#ifndef AW_KERNELS_CPU_SIMD_SIMD_H
#define AW_KERNELS_CPU_SIMD_SIMD_H
#include "kernels/math/interpolated_cells.h"
#include "kernels/math/projection.h"
#include "kernels/math/tile.h"
#include "quadrature/rules/simpson.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** One variant. `inner` gives f_in(r) = int dtheta' of all results at point p, overwritten.
 *  `arc_sum` is its vector part alone, for tests (aw_arc_sum_scalar says what it computes). */
typedef struct aw_variant {
    const char *name;
    void (*inner)(const aw_history_view *h, const aw_field_point *p, double r, double density,
                  double f_in[AW_RESULTS], aw_work *work);
    /** The same with the retarded frame of r at hand (many points share a radius), and perhaps its
     *  slices combined: `blend` is what the function of that name made of f, or NULL. */
    void (*inner_at)(const aw_history_view *h, const aw_retarded *f,
                     const aw_interpolated_cells *blend, const aw_field_point *p, double density,
                     double f_in[AW_RESULTS], aw_work *work);
    /** aw_interpolated_cells_make, which see. */
    void (*blend)(const aw_history_view *h, const aw_retarded *f, double *room,
                  aw_interpolated_cells *blend);
    void (*arc_sum)(const aw_arc *arc, int nt, int same, const aw_arc_slice *s, int single,
                    double sum[3][8]);
    /** The same of one part of a blend (aw_interpolated_cells_sum_scalar). */
    void (*blend_sum)(const aw_arc *arc, const aw_arc_slice *s, const double *cells, double sum[8]);
    /** `inner_at` for the lanes of a placed tile. */
    void (*tile)(const aw_history_view *h, const aw_retarded *f,
                 const aw_interpolated_lines *planes, const aw_tile_how *how, const aw_tile *tile,
                 const aw_tile_place *place, double f_in[AW_RESULTS][AW_TILE], aw_work *work);
    /** Its vector part alone, for tests (aw_tile_sum_scalar). Counts whole vectors: some of their
     *  lanes may be empty. */
    int (*tile_sum)(const aw_history_view *h, const aw_tile_arc *arc, const void *planes,
                    const int (*span)[2], const aw_tile_how *how,
                    double sum[AW_LINE_COMPONENTS][AW_TILE]);
    /** aw_tile_rule, which see. */
    void (*tile_rule)(const double f[5][AW_RESULTS][AW_TILE], double h, const aw_scales *scales,
                      int fine, aw_tile_estimate *out);
    /** Add a table (kernels/math/projection.h) at AW_TILE points to sum.
     *  @param[in] table  [n][order + 1][AW_PROJECTION_WIDTH] */
    void (*look_up)(const aw_projection *p, const float *table, const double z[AW_TILE],
                    const double x[AW_TILE], float sum[AW_TILE][AW_PROJECTION_WIDTH]);
    /** Weighted sum of three slices as lines (rows of three lines of `width` numbers) into planes,
     *  for the rows row[0] .. row[1], of row j the columns column[j][0] .. column[j][1] - 1: w
     *  for the moments, d for their rates, which are left as they are if it is NULL. */
    void (*combine)(const void *const slice[3], int single, const double w[3], const double *d,
                    size_t width, const int row[2], const int (*column)[2], void *planes);
} aw_variant;

/** Variant by name ("scalar", "baseline", "avx2", "avx512"); NULL or "" for the fastest here.
 *  @return NULL when there is no such variant, or this processor cannot run it. */
const aw_variant *aw_variant_find(const char *name);

/** The i-th variant that this processor can run, slowest first; NULL past the last. */
const aw_variant *aw_variant_list(int i);

AW_END_DECLS
#endif
