/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interpolation of the forces from the grid to the particles, with the shape of the deposition. */
#ifndef AW_PIC_GATHER_H
#define AW_PIC_GATHER_H
#include "pic/forces.h"
#include "pic/frame.h"
#include "pic/particles.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Interpolate a grid array [nx][ns] at the lab point (z, x) [m] with the shape of a particle
 *  (kernels/math/spline.h), compensated for the smoothing
 *  (pic/compensation.h). The point must be one where a particle may be deposited. */
double aw_gather_at(const aw_grid_view *grid, const double *field, double z, double x);

/** Forces on a grid, and what to do with them. */
typedef struct aw_gather_params {
    const aw_grid_view *grid;
    const aw_forces *forces; /* on the nodes of the grid, for the design velocity there */
    double gamma;            /* of the design velocity */
    /* aw_gather_step only: */
    double kick;  /* c times the time of the kick [m]; 0: no kick */
    int vectors;  /* 1: replace rates of the vector potential by differences; the forces have it */
    double since; /* c times the time for which the forces of the last call have acted since [m] */
} aw_gather_params;

/** Forces on all particles [eV/m], each for its own velocity: the interpolated force for the design
 *  velocity, plus dv x B with dv the difference of the velocities (F = q(E + v x B)). The shape is
 *  that of the deposition and its compensation even, so that a particle exerts no force on itself.
 *  @param[out] Fz, Fx  [n], along the lab axes
 *  @param[out] Fs, Fn  [n] or NULL, along the design tangent and normal */
void aw_gather_run(const aw_gather_params *params, const aw_particles *particles, double *Fz,
                   double *Fx, double *Fs, double *Fn);

/** Workspace of aw_gather_step, for grids of ns x nx nodes; opaque. */
typedef struct aw_gather aw_gather;

/** Allocate it. @return AW_OK, AW_ERR_NOMEM. Free with aw_gather_free. */
aw_status aw_gather_new(int ns, int nx, aw_gather **out);
void aw_gather_free(aw_gather *gather);

/** Force statistics over all particles, along the design tangent (s) and normal (n) [eV/m]: mean,
 *  and peak, which is the force of the largest modulus, with its sign. */
typedef struct aw_gather_stats {
    double mean_s, peak_s, mean_n, peak_n;
} aw_gather_stats;

/** aw_gather_run followed by aw_push_kick, with SIMD and in one pass over the particles. Agrees
 *  with the two to rounding; has the same bits for any number of threads.
 *
 *  With params->vectors, what the kicks since the last call took for -dA/dt, the rate of the vector
 *  potential along the path, is replaced by the difference of A between the two places and times:
 *  p += -grad psi dt - (A - A_before). The rate is nearly all of a force in a transient, all of its
 *  jumps at edges and most of its noise; its sum over steps is known exactly. Source: conservation
 *  of canonical momentum; differs: a correction of the leap-frog's sum, so that forces and outputs
 *  stay those of the real force. Error model: an error of A counts once, where errors of dA/dt add
 *  up. The first call stores A; it allocates, the others do not.
 *  @param[in,out] particles  momenta change if params->kick is not 0
 *  @param[out] Fz, Fx  [n], lab axes, for the momenta before the kick. Of offloaded particles
 *  nothing is written: the forces stay on the device for the next kick
 *  @param[out] stats   force statistics
 *  @return AW_OK, AW_ERR_NONFINITE (a force or momentum; the message of aw_push_kick); of offloaded
 *  particles also AW_ERR_BACKEND; AW_ERR_NOMEM */
aw_status aw_gather_step(aw_gather *gather, const aw_gather_params *params, aw_particles *particles,
                         double *Fz, double *Fx, aw_gather_stats *stats);

/** Save or load what the last call of aw_gather_step has stored for the next one. Of offloaded
 *  particles nothing is saved, and the first step after loading takes rates for differences. All
 *  ranks must call this; @param[in] particles  those of the calls */
void aw_gather_archive(aw_gather *gather, const aw_particles *particles, aw_archive *archive);

AW_END_DECLS
#endif
