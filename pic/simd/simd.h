/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particle kernels: the operations on blocks of particles with SIMD. One source is compiled for
 * several instruction sets, one of which is chosen at run time (as in kernels/cpu/simd/simd.h). */
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

/* Particles of a block; one bit each in a uint64_t. Chunks begin at multiples of it, so that the
 * arithmetic for a particle does not depend on the number of threads. */
enum { AW_BLOCK = 64 };

/** A drift or a bend, for the transport of a block in it. */
typedef struct aw_simd_field {
    const aw_field_region *field;
    double bend; /* p_ref kappa, the curvature of a path times the momentum; 0: drift */
    int last;    /* 1: the last region, which has no exit plane */
} aw_simd_field;

/** Reference point of the coordinates of a bunch (pic/stats.h). */
typedef struct aw_simd_reference {
    double z, x, ct, st, kappa; /* point of the design orbit, tangent and curvature */
    double behind, ahead;       /* ends of the piece of this curvature, from here [m] */
    double gamma;               /* energy at which delta = 0 */
} aw_simd_reference;

/** The point of the orbit at S, with the ends of its piece; gamma is 0. */
aw_simd_reference aw_simd_reference_at(const aw_orbit_view *orbit, double S);

/* Size of a patch of the grid, the unit of work of pic/forces.c, without and with its halo. */
enum { AW_STRIP = 64, AW_PATCH_ROWS = 8, AW_HALO = 3, AW_PATCH_WIDTH = AW_STRIP + 2 * AW_HALO };
enum { AW_PATCH_HEIGHT = AW_PATCH_ROWS + 2 * AW_HALO };

/** Potentials and design tangents at the nodes of a patch (kernels/math/view.h). */
typedef struct aw_simd_nodes {
    double theta[AW_PATCH_HEIGHT][AW_PATCH_WIDTH], psi[AW_PATCH_HEIGHT][AW_PATCH_WIDTH];
    double az[AW_PATCH_HEIGHT][AW_PATCH_WIDTH], ax[AW_PATCH_HEIGHT][AW_PATCH_WIDTH];
    double ct[AW_PATCH_HEIGHT][AW_PATCH_WIDTH], st[AW_PATCH_HEIGHT][AW_PATCH_WIDTH];
    double beta[AW_PATCH_HEIGHT][AW_PATCH_WIDTH];
} aw_simd_nodes;

/** n nodes of row `own`, from column AW_HALO on, and one neighbour of each: in row `row`, `shift`
 *  columns further on. */
typedef struct aw_simd_line {
    int own, row, shift, n;
} aw_simd_line;

/** Forces on the particles of a block [eV/m], [n] each: along the lab axes, and along the design
 *  tangent and normal; q c A_z, q c A_x [eV] and their rates along the paths [eV/m], or all NULL.
 *  The arrays do not overlap. */
typedef struct aw_block_forces {
    double *z, *x, *s, *n;
    double *vector[4];
} aw_block_forces;

/** Particle kernels of one instruction set. They work on the n <= AW_BLOCK particles of p from i
 *  on; n = AW_BLOCK is faster. */
typedef struct aw_particle_kernels {
    const char *name;

    /** Add the moments of the block, in units of the mean charge of a particle, to the padded
     *  cells of a slice (kernels/math/view.h, double).
     *  @return 0; or 1: a particle is off the grid or not finite, and nothing was added. */
    int (*deposit)(const aw_particles *p, size_t i, size_t n, const aw_particle_grid *g,
                   double *AW_RESTRICT cells);

    /** Forces on the particles of the block, as aw_gather_run defines them.
     *  @param[in] field  [nx][ns][4]: Fz_lab, Fx_lab, cBy and theta of a node, 32-byte aligned;
     *                    behind that, if out->vector is wanted, that of aw_forces */
    void (*gather)(const aw_particles *p, size_t i, size_t n, const aw_particle_grid *g,
                   const double *field, const aw_block_forces *out);

    /** Add n numbers to sum[0], and update the minimum sum[1] and the maximum sum[2]; a NaN counts
     *  in the sum only. */
    void (*extremes)(const double *value, size_t n, double sum[3]);

    /** Kick: p += factor F, with F [n] on the particles of the block.
     *  @return 0; 1: a momentum is not finite now. */
    int (*kick)(aw_particles *p, size_t i, size_t n, double factor, const double *Fz,
                const double *Fx);

    /** Replace the rates of A in the kicks of a step by its difference (aw_particle_due).
     *  @param vector  [4][n], at the beginning of the step, as in f
     *  @return as of kick */
    int (*settle)(aw_particles *p, size_t i, size_t n, const aw_kick_times *times,
                  const aw_block_forces *f, double *const vector[4]);

    /** Transport for a time of cdt/c those particles that are certain to stay in the region.
     *  @return a bit for each particle that was not moved; pic/push.c tracks it by itself. */
    uint64_t (*transport)(aw_particles *p, size_t i, size_t n, const aw_simd_field *r, double cdt);

    /** Put the particles at s0, x0 from the reference, with their momentum along the orbit.
     *  @return 0; or 1: a particle would be beyond the piece of the reference, or too far for the
     *  series; no particle was moved. */
    int (*rigid)(aw_particles *p, size_t i, size_t n, const aw_simd_reference *r, double momentum);

    /** Add dz, dx, dz dz, dz dx and dx dx, with (dz, dx) the position from (z, x), each times the
     *  weight of the particle, to sum. */
    void (*moments)(const aw_particles *p, size_t i, size_t n, double z, double x, double sum[5]);

    /** Update the maxima reach[0] of |u| and reach[1] of |w|, along and across the direction (c, s)
     *  from the point (z, x); axes: z, x, c, s. Particles that are not finite do not count. */
    void (*reach)(const aw_particles *p, size_t i, size_t n, const double axes[4], double reach[2]);

    /** Add the coordinates of the block, times the weights, to sums.
     *  @return 0; or 1: a particle is not on the piece of the reference, or not finite, and nothing
     *  was added. */
    int (*stats)(const aw_particles *p, size_t i, size_t n, const aw_simd_reference *r,
                 aw_beam_sums *sums);

    /** Add w times phi - v.A, c A_z and c A_x at the neighbour of each node of a line to out, with
     *  v the velocity of the node itself.
     *  @return 0; or 1: some tangents differ by too much for the series, and out is not valid */
    int (*neighbours)(const aw_simd_nodes *node, const aw_simd_line *line, double w,
                      double (*AW_RESTRICT out)[AW_STRIP]);
} aw_particle_kernels;

/** Particle kernels by name ("baseline", "avx2", "avx512"); NULL: the fastest on this processor.
 *  @return NULL if the name is not known, or this processor cannot run them. */
const aw_particle_kernels *aw_particle_kernels_find(const char *name);

AW_END_DECLS
#endif
