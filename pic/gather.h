/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From forces on the grid to forces on the particles, with the shape of the deposition. */
#ifndef AW_PIC_GATHER_H
#define AW_PIC_GATHER_H
#include "pic/forces.h"
#include "pic/frame.h"
#include "pic/particles.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Interpolate one grid array [nx][ns] at a lab point with the quadratic B-spline.
 *  The point must lie where a particle may be deposited. */
double aw_gather_at(const aw_grid_view *grid, const double *field, double z, double x);

/** Where forces are gathered from. */
typedef struct aw_gather_params {
    const aw_grid_view *grid;
    const aw_forces *forces;
    double gamma; /* of the design velocity for which the grid's forces hold */
    double
        /* aw_gather_step: c times the time for which the forces then act on the particles [m]; may
         * be 0 */
        kick;
} aw_gather_params;

/** Forces on all particles along the lab axes [eV/m], of the particle's own velocity: what the grid
 *  gives for the design velocity plus dv x B for the difference (F = q(E + v x B)).
 *  The shape is that of the deposition, so a particle feels no force of its own.
 *  @param[out] Fz, Fx  [n], lab axes
 *  @param[out] Fs, Fn  [n] or NULL: along the design tangent and normal */
void aw_gather_run(const aw_gather_params *params, const aw_particles *particles, double *Fz,
                   double *Fx, double *Fs, double *Fn);

/** Workspace of aw_gather_step, for grids of ns x nx nodes; opaque. */
typedef struct aw_gather aw_gather;

/** @return AW_OK, AW_ERR_NOMEM. Free with aw_gather_free. */
aw_status aw_gather_new(int ns, int nx, aw_gather **out);
void aw_gather_free(aw_gather *gather);

/** Forces over all particles along the design tangent and normal [eV/m]; the peak is the one of the
 *  largest modulus, with its sign. */
typedef struct aw_gather_stats {
    double mean_s, peak_s, mean_n, peak_n;
} aw_gather_stats;

/** aw_gather_run with short vectors, followed by aw_push_kick while the particles are at hand.
 *  Agrees with them to rounding; the same bits for any number of threads; allocates nothing.
 *  @param[in,out] particles  momenta change if params->kick is not 0
 *  @param[out] Fz, Fx  [n], lab axes, of the momenta before the kick; of lent particles nothing:
 *  the device has them, for the next kick
 *  @param[out] stats   along the design tangent and normal
 *  @return AW_OK, AW_ERR_NONFINITE (a force or momentum; the message of aw_push_kick); of lent
 *  particles also AW_ERR_NOMEM, AW_ERR_BACKEND */
aw_status aw_gather_step(aw_gather *gather, const aw_gather_params *params, aw_particles *particles,
                         double *Fz, double *Fx, aw_gather_stats *stats);

AW_END_DECLS
#endif
