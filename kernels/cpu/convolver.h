/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of the CPU device's convolutions: transforms of one size, and the spectra of slices. */
#ifndef AW_KERNELS_CPU_CONVOLVER_H
#define AW_KERNELS_CPU_CONVOLVER_H
#include <fftw3.h>

#include "kernels/cpu/simd/simd.h"
#include "src/base/status.h"

/* Spectra of slices that are kept from step to step. Of more slices than these in the near zone,
 * some are transformed anew at every step. */
enum { AW_SPECTRA = 12 };

/** Spectra of the moments of a slice. */
typedef struct aw_spectra {
    uint64_t id;   /* of the slice; 0: none, or of a slice without an id, which is never reused */
    uint64_t used; /* number of the block that used it last */
    fftw_complex *moment[3]; /* [numbers / 2] each, owned */
} aw_spectra;

/** Spectrum of weights, in the two parts of aw_spectral_sum. */
typedef struct aw_ring_spectrum {
    double *even, *odd; /* [numbers] each, owned */
} aw_ring_spectrum;

/** Factors that turn spectra of values at nodes into spectra of spline coefficients, along one
 *  axis, for each frequency of the transforms: of nodes a cell apart, and of two sets of nodes
 *  that lie half a cell apart, each from its own values and, times exp(i half the phase), from the
 *  other's. */
typedef struct aw_lattice_filter {
    double *whole, *own, *other; /* [frequencies] each, owned */
    double (*half)[2];           /* [frequencies], owned: cosine and sine of half the phase */
} aw_lattice_filter;

/** Slices of ns x nx nodes are convolved on lattices with pad[] more nodes at either end of each
 *  axis. All arrays are owned. */
typedef struct aw_cpu_convolver {
    int ns, nx;
    int pad[2];           /* along, across */
    int size_s, size_x;   /* of the transforms */
    size_t modes;         /* of one spectrum */
    size_t numbers;       /* 2 modes, to the next multiple of AW_SPECTRAL_CHUNK */
    double *real;         /* [threads][size_x][size_s] */
    aw_displacements all; /* by up to ns + pad - 1 and nx + pad - 1 cells, all rows */
    double (
        *node)[AW_LATTICE_WIDTH]; /* [nx + 2 pad][ns + 2 pad]: spline coefficients of all sets */
    size_t node_capacity;
    aw_lattice_filter filter[2]; /* along, across */
    double *factor;              /* [numbers]: of a lattice of one set */
    aw_ring_spectrum ring[AW_RINGS];
    /* Of each set, spectra, then values in their place: [size_x][2 (size_s/2 + 1)], node (0, 0) of
     * a slice at (pad, pad). */
    fftw_complex *sum[AW_LATTICE_SETS][AW_CONVOLVED];
    int sets; /* that have memory */
    aw_spectra slice[AW_SPECTRA];
    uint64_t block; /* number of the present block */
    fftw_plan forward, backward;
} aw_cpu_convolver;

/** Nodes of a lattice beyond either end of an axis of n nodes, of which `wanted` are needed: in
 *  quarters of the grid, so that there are few sizes, which last for many steps. */
int aw_cpu_convolver_pad(int n, double wanted);

/** @return NULL: out of memory; aw_cpu_convolver_free frees it */
aw_cpu_convolver *aw_cpu_convolver_new(int ns, int nx, const int pad[2], int threads);

/** Have memory for so many sets of nodes. @return AW_OK, AW_ERR_NOMEM */
aw_status aw_cpu_convolver_sets(aw_cpu_convolver *c, int sets);

/** Turn line `line` of the spectra of output j, of values at the nodes of all sets, into those of
 *  spline coefficients.
 *  @param[in] halved  along, across: 1: there are two sets along the axis; sets along it follow
 *  each other */
void aw_cpu_convolver_join(const aw_cpu_convolver *c, int j, const int halved[2], int line);

/** Begin a block: find or choose the spectra of the slices of its lattice.
 *  @param[out] spectra  [plan->slices]: index in `slice`; of slices that are not on the lattice, 0
 *  @param[out] missing  bit t is set: slice t must be transformed
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_cpu_convolver_begin(aw_cpu_convolver *c, const aw_convolution *plan, int spectra[3],
                                 int *missing);

/** Copy moment k of a slice to its place in `real`, and pad it with zeros. */
void aw_cpu_convolver_moment(const aw_cpu_convolver *c, const aw_history_view *h,
                             const aw_slice *slice, int k, double *real);

/** Split spectrum q of weights, which is in its even part, into the two. */
void aw_cpu_convolver_split(const aw_cpu_convolver *c, int q);

/** Copy weights q of all displacements, negative ones at the end, and pad them with zeros. */
void aw_cpu_convolver_weights(const aw_cpu_convolver *c, int q, double *real);

#endif
