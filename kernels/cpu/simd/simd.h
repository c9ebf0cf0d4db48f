/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SIMD variants of the inner integral: one source, compiled several times, chosen at run time. */
#ifndef AW_KERNELS_CPU_SIMD_SIMD_H
#define AW_KERNELS_CPU_SIMD_SIMD_H
#include "kernels/math/convolution.h"
#include "kernels/math/form_factor.h"
#include "kernels/math/height.h"
#include "kernels/math/interpolated_cells.h"
#include "kernels/math/projection.h"
#include "kernels/math/tile.h"
#include "quadrature/rules/simpson.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** The beam at one retarded time, as the kernels read it. Everything is borrowed. */
typedef struct aw_retarded_beam {
    const aw_history_view *history;
    const aw_retarded *f;
    const aw_circles *circles;          /* of f, for inner_at */
    const aw_interpolated_cells *cells; /* for inner_at: f's slices interpolated in time, or NULL:
                                         * the kernel reads the slices themselves */
    const aw_interpolated_lines *lines; /* for tile: the same as lines */
} aw_retarded_beam;

/** Interpolation of lines in time: a weighted sum of three slices. Everything is borrowed. */
typedef struct aw_line_interpolation {
    const void *slice[3];    /* rows of three lines of `width` numbers */
    int single;              /* 1: slices and results are float, 0: double */
    int rates;               /* 0: the rates' lines are left as they are */
    double w[3], d[3];       /* weights for the moments, and for their rates */
    size_t width;            /* numbers of a line */
    int row[2];              /* first and last row */
    const int (*columns)[2]; /* [row]: first column and last + 1 */
    void *out;               /* rows of AW_LINE_COMPONENTS lines */
} aw_line_interpolation;

/* Offsets of a table for which weighted sums are taken together. */
enum { AW_MEANS = 6 };

/* Numbers that are summed together in Fourier space, and numbers of a node of a lattice: the
 * outputs of a convolution, and one for alignment. */
enum { AW_SPECTRAL_CHUNK = 32, AW_LATTICE_WIDTH = AW_CONVOLVED + 1 };

/** One output of a convolution in Fourier space, sum over q and i of conj(ring[q]) weight[q][i]
 *  source[i]. Spectra are real and imaginary parts in turn. Everything is borrowed. */
typedef struct aw_spectral_sum {
    double weight[AW_RINGS][AW_CONVOLUTION_SOURCES];
    int sources;
    const double *source[AW_CONVOLUTION_SOURCES];
    /* conj(ring) in two parts: that which multiplies a number to add to the same part of the
     * product, and to the other part. */
    const double *even[AW_RINGS], *odd[AW_RINGS];
    const double *factor; /* of the sum, the same for both parts; NULL: 1 */
    int adds;             /* 1: it is added to what is there */
} aw_spectral_sum;

/** Spline coefficients of the outputs on a lattice, node by node. */
typedef struct aw_lattice_values {
    const double (*node)[AW_LATTICE_WIDTH]; /* [rows][columns], borrowed */
    int columns, rows;
} aw_lattice_values;

/** A point on a lattice, and what turns it. Lengths are in cells. */
typedef struct aw_lattice_turn {
    double a, b;          /* from the first node */
    double u, w;          /* from the centre of the lattice */
    double along, across; /* of L = along d/du - across d/dw */
    double third;         /* L^3 is added to L so many times */
} aw_lattice_turn;

/** The interpolated outputs at a point: themselves, and under L and L^2. */
typedef struct aw_lattice_sums {
    double value[AW_LATTICE_WIDTH], once[AW_LATTICE_WIDTH], twice[AW_LATTICE_WIDTH];
} aw_lattice_sums;

/* Form factors as products of factors (kernels/cpu/form_factor.c): waves of a panel, whose cosines
 * and sines are the columns of a tile, and waves and rows of a tile. */
enum { AW_FORM_PANEL = 32, AW_FORM_COLUMNS = 2 * AW_FORM_PANEL, AW_FORM_WAVES = 3 };
enum { AW_FORM_ROWS = 2 * AW_FORM_WAVES };

/** Waves of a panel, component by component. */
typedef struct aw_form_panel {
    double hi[3][AW_FORM_PANEL], lo[3][AW_FORM_PANEL];
} aw_form_panel;

/** At most AW_FORM_BLOCK particles; everything is borrowed. */
typedef struct aw_form_points {
    const double *at[3], *weight; /* positions [m], weights; [n] each */
    int n;
} aw_form_points;

/** One variant. */
typedef struct aw_variant {
    const char *name;
    /** f_in(r) = int dtheta' of all results at point p, overwritten.
     *  @param[in] density  nodes per cell crossed */
    void (*inner)(const aw_history_view *h, const aw_field_point *p, double r, double density,
                  double f_in[AW_RESULTS], aw_work *work);
    /** The same where the beam at this r' is known already: many points share a radius. */
    void (*inner_at)(const aw_retarded_beam *beam, const aw_field_point *p, double density,
                     double f_in[AW_RESULTS], aw_work *work);
    /** aw_interpolated_cells_make. */
    void (*interpolate_cells)(const aw_history_view *h, const aw_retarded *f, double *buffer,
                              aw_interpolated_cells *out);
    /** The vector part of inner_at that reads slices, for tests (aw_arc_sum_scalar). */
    void (*arc_sum)(const aw_arc *arc, int nt, int same, const aw_arc_slice *s, int single,
                    double sum[3][8]);
    /** The vector part that reads interpolated cells (aw_interpolated_cells_sum_scalar). */
    void (*interpolated_sum)(const aw_arc *arc, const aw_arc_slice *s, const double *cells,
                             double sum[8]);
    /** inner_at for the lanes of a placed tile. */
    void (*tile)(const aw_retarded_beam *beam, const aw_tile_options *options, const aw_tile *tile,
                 const aw_tile_place *place, double f_in[AW_RESULTS][AW_TILE], aw_work *work);
    /** The vector part of `tile`, for tests (aw_tile_sum_scalar). It counts whole vectors, some of
     *  whose lanes may be empty. */
    int (*tile_sum)(const aw_history_view *h, const aw_tile_arc *arc, const void *cells,
                    const int (*span)[2], const aw_tile_options *options,
                    double sum[AW_LINE_COMPONENTS][AW_TILE]);
    /** aw_tile_rule. */
    void (*tile_rule)(const double f[5][AW_RESULTS][AW_TILE], double h, const aw_scales *scales,
                      int fine, aw_tile_estimate *out);
    /** Add the values of a table (kernels/math/projection.h) at AW_TILE points to sum.
     *  @param[in] table  [n][order + 1][AW_PROJECTION_WIDTH]
     *  @param[in] z, x   lab positions [m] */
    void (*look_up)(const aw_projection *p, const float *table, const double z[AW_TILE],
                    const double x[AW_TILE], float sum[AW_TILE][AW_PROJECTION_WIDTH]);
    /** Weighted sums of n consecutive entries of a table, for AW_MEANS neighbouring offsets:
     *  out[r] = sum_m weight[m - r] in[m].
     *  @param[in] weight  from weight[-(AW_MEANS - 1)] on */
    void (*entry_sums)(const double *weight, const double (*in)[AW_PROJECTION_WIDTH], int n,
                       double out[AW_MEANS][AW_PROJECTION_WIDTH]);
    void (*interpolate_lines)(const aw_line_interpolation *lines);
    /** Add the circles of one node to the weights of displacements. */
    void (*convolution_ring)(const aw_history_view *h, const aw_convolution *plan,
                             const aw_ring *ring, const aw_displacements *d);
    /** AW_SPECTRAL_CHUNK numbers of a sum of spectra, from number `first` on, into out. */
    void (*spectral_sum)(const aw_spectral_sum *sum, size_t first, double *out);
    /** Interpolation on a lattice, which has at least AW_LATTICE_NODES nodes either way. */
    void (*lattice_sum)(const aw_lattice_values *lattice, const aw_lattice_turn *turn,
                        aw_lattice_sums *out);
    /** Form factors, [1]: in single precision. Factors and terms are float or double; sums are
     *  double. The sum of weight exp(i phase) of one wave, real and imaginary part: added to. */
    void (*form_sum[2])(const aw_wave *wave, const aw_form_points *points, double sum[2]);
    /** Two rows of a tile: weight times cosine and sine of a wave at each particle,
     *  [2][AW_FORM_BLOCK]. */
    void (*form_row[2])(const aw_wave *wave, const aw_form_points *points, void *row);
    /** Columns of a tile: cosines and sines of a panel's waves at particles `first` to `end` - 1,
     *  [AW_FORM_BLOCK][AW_FORM_COLUMNS]. */
    void (*form_columns[2])(const aw_form_panel *panel, const aw_form_points *points, int first,
                            int end, void *column);
    /** The products of rows and columns, summed over n particles: added to
     *  sum[AW_FORM_ROWS][AW_FORM_COLUMNS].
     *  @param[in] row  [AW_FORM_ROWS][AW_FORM_BLOCK] */
    void (*form_tile[2])(const void *row, const void *column, int n, double *sum);
} aw_variant;

/** Variant by name ("scalar", "baseline", "avx2", "avx512"); NULL or "": the fastest here.
 *  @return NULL: there is no such variant, or this processor cannot run it. */
const aw_variant *aw_variant_find(const char *name);

/** The i-th variant that this processor can run, slowest first; NULL past the last. */
const aw_variant *aw_variant_list(int i);

AW_END_DECLS
#endif
