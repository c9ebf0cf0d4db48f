/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the particle side does to a block of particles, with short vectors: one source, compiled
 * for several instruction sets, picked at run time (as kernels/cpu/simd/simd.h does it). */
#ifndef AW_PIC_SIMD_SIMD_H
#define AW_PIC_SIMD_SIMD_H
#include <stddef.h>
#include <stdint.h>

#include "kernels/device/particle_ops.h"
#include "kernels/math/view.h"
#include "pic/lattice.h"
#include "pic/particles.h"
#include "src/base/port.h"

AW_BEGIN_DECLS

/* Particles of a block. Pieces of work begin at multiples of it, so that what a particle meets does
 * not depend on who works on it. */
enum { AW_BLOCK = 64 }; /* a bit each in a uint64_t */

/** Field region as it acts on a block that stays in it. */
typedef struct aw_simd_field {
    const aw_field_region *field;
    double
        bend; /* p_ref kappa: the curvature of a particle is this over its momentum; 0: straight */
    int last; /* nothing is beyond: no plane is met */
} aw_simd_field;

/** Where the coordinates of a bunch are measured from (pic/stats.h). */
typedef struct aw_simd_reference {
    double z, x, ct, st, kappa; /* point of the design orbit, tangent and curvature */
    double behind, ahead;       /* the piece of this curvature reaches so far [m] */
    double gamma;
} aw_simd_reference;

/** The point of the orbit at S and the piece that it is on; gamma is 0. */
aw_simd_reference aw_simd_reference_at(const aw_orbit_view *orbit, double S);

/* Nodes of a patch of the grid, which is a piece of work, and of those beside it. */
enum { AW_STRIP = 64, AW_PATCH_ROWS = 8, AW_HALO = 2, AW_PATCH_WIDTH = AW_STRIP + 2 * AW_HALO };
enum { AW_PATCH_HEIGHT = AW_PATCH_ROWS + 4 };

/** Potentials and design tangents of a patch's nodes (kernels/math/view.h). */
typedef struct aw_simd_nodes {
    double theta[AW_PATCH_HEIGHT][AW_PATCH_WIDTH], psi[AW_PATCH_HEIGHT][AW_PATCH_WIDTH];
    double az[AW_PATCH_HEIGHT][AW_PATCH_WIDTH], ax[AW_PATCH_HEIGHT][AW_PATCH_WIDTH];
    double ct[AW_PATCH_HEIGHT][AW_PATCH_WIDTH], st[AW_PATCH_HEIGHT][AW_PATCH_WIDTH];
    double beta[AW_PATCH_HEIGHT][AW_PATCH_WIDTH];
} aw_simd_nodes;

/** n nodes of row `own`, from column AW_HALO on, and their neighbours: in row `row`, `shift`
 *  columns further on. */
typedef struct aw_simd_line {
    int own, row, shift, n;
} aw_simd_line;

/** Forces on the particles of a block [eV/m], [n] each: along the lab axes, and along the design
 *  tangent and normal. The arrays do not overlap. */
typedef struct aw_block_forces {
    double *z, *x, *s, *n;
} aw_block_forces;

/** One variant. Operations on particles p work on the n <= AW_BLOCK ones from i on. */
typedef struct aw_particle_kernels {
    const char *name;

    /** Add the moments of the block, in units of its charge, to a grid: kernels/math/view.h,
     *  padded.
     *  @return 0; or 1: a particle is off the grid or not finite, and nothing was added. */
    int (*deposit)(const aw_particles *p, size_t i, size_t n, const aw_particle_grid *g,
                   double *AW_RESTRICT grid);

    /** Forces of aw_gather_run, by which they are defined.
     *  @param[in] field  [nx][ns][4]: Fz_lab, Fx_lab, cBy and theta of a node, 32-byte aligned */
    void (*gather)(const aw_particles *p, size_t i, size_t n, const aw_particle_grid *g,
                   const double *field, const aw_block_forces *out);

    /** Add n numbers to sum[0]; sum[1] and sum[2] become the least and the greatest if they were
     *  not; NaN counts in the sum only. */
    void (*extremes)(const double *value, size_t n, double sum[3]);

    /** p += factor F, F [n] of the block. @return 0; 1: a momentum is not finite now. */
    int (*kick)(aw_particles *p, size_t i, size_t n, double factor, const double *Fz,
                const double *Fx);

    /** Carry those particles that surely stay in the region for a time of `cdt`, a drift or a bend.
     *  @return a bit for each particle that was left as it is: pic/push.c carries it. */
    uint64_t (*fly)(aw_particles *p, size_t i, size_t n, const aw_simd_field *r, double cdt);

    /** Put particles at s0, x0 about the reference, of momentum `momentum` along the orbit.
     *  @return 0; or 1: one is not within the reference's piece, or is too far for the series, and
     *  none was put. */
    int (*rigid)(aw_particles *p, size_t i, size_t n, const aw_simd_reference *r, double momentum);

    /** Add dz, dx, dz dz, dz dx, dx dx about (z, x) to sum. */
    void (*moments)(const aw_particles *p, size_t i, size_t n, double z, double x, double sum[5]);

    /** Raise reach[0], reach[1] to the largest |u|, |w| in axes along (c, s) at (z, x); particles
     *  that are not finite do not count. */
    void (*reach)(const aw_particles *p, size_t i, size_t n, const double place[4],
                  double reach[2]);

    /** Add the block to sums, if all of it is within the reference's piece of the orbit.
     *  @return 0; or 1: it is not (or not finite), and nothing was added. */
    int (*stats)(const aw_particles *p, size_t i, size_t n, const aw_simd_reference *r,
                 aw_beam_sums *sums);

    /** Add to out, times w, phi - v.A with the node's own v, c A_z and c A_x, as the nodes of a
     *  line see them at their neighbours.
     *  @return 1: tangents differ by too much for the series, and out is of no use; else 0 */
    int (*neighbours)(const aw_simd_nodes *node, const aw_simd_line *line, double w,
                      double (*AW_RESTRICT out)[AW_STRIP]);
} aw_particle_kernels;

/** Variant by name ("baseline", "avx2", "avx512"); NULL: the fastest here.
 *  @return NULL when there is no such variant, or this processor cannot run it. */
const aw_particle_kernels *aw_particle_kernels_find(const char *name);

AW_END_DECLS
#endif
