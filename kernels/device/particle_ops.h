/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operations of a device on particles that stay with it from step to step. */
#ifndef AW_KERNELS_DEVICE_PARTICLE_OPS_H
#define AW_KERNELS_DEVICE_PARTICLE_OPS_H
#include <stddef.h>
#include <stdint.h>

#include "pic/particle/coordinates.h"
#include "pic/particle/grid.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Particles, borrowed: [n] each (pic/particles.h). */
typedef struct aw_particles_view {
    size_t n;
    double *z, *x, *pz, *px; /* lab position [m], momentum gamma beta */
    double *gamma0;          /* gamma at the start */
    int32_t *element;        /* region of the lattice */
} aw_particles_view;

/** The first particle in trouble of each kind; SIZE_MAX: none. */
typedef struct aw_particles_lost {
    size_t kicked; /* its momentum is not finite after the kick; it was not moved */
    size_t turned, nonfinite;
} aw_particles_lost;

/** Operations on particles that a device keeps, so that they need not cross its bus at each step.
 *  All is done on return. Errors of all: AW_ERR_NOMEM, AW_ERR_BACKEND (messages). A particle in
 *  trouble is no error here. The numbers are those of the host's functions, to rounding. */
typedef struct aw_particle_ops {
    size_t many; /* from so many particles on it is worth it */

    /** Copy particles to the unit, and what they will meet, instead of any that it has.
     *  @return also AW_ERR_NOMEM without a message: it has no room for so many */
    aw_status (*offload)(void *state, const aw_particles_view *beam, const aw_fields_view *fields,
                         const aw_orbit_view *orbit);

    /** Copy back positions, momenta and regions. */
    aw_status (*download)(void *state, const aw_particles_view *to);

    /** dz, dx, dz dz, dz dx, dx dx about (z, x), summed. */
    aw_status (*second_moments)(void *state, double z, double x, double sum[5]);

    /** Largest |u| and |w| in axes along (c, s) at (z, x), place = z, x, c, s; a NaN
     *  does not count. */
    aw_status (*reach)(void *state, const double place[4], double reach[2]);

    /** Moments of the particles, in units of the charge of one, on a padded grid
     *  (kernels/math/view.h, double), overwritten. @param[out] lost  the first one off the grid or
     *  not finite: nothing was deposited then; SIZE_MAX: none */
    aw_status (*deposit)(void *state, const aw_particle_grid *grid, double *cells, size_t *lost);

    /** Forces of aw_gather_run, which stay with the device; and p += factor F.
     *  @param[in]  field  [nx][ns][4]: Fz_lab, Fx_lab, cBy and theta of a node
     *  @param[out] sum    of F_s, and of F_n: sum, least and greatest (0 among them)
     *  @param[out] lost   the first one of a momentum that is not finite then; SIZE_MAX: none */
    aw_status (*gather)(void *state, const aw_particle_grid *grid, const double *field,
                        double factor, double sum[2][3], size_t *lost);

    /** p += factor F of the last gather, and transport for a time of cdt (aw_particle_track). */
    aw_status (*push)(void *state, double factor, double cdt, aw_particles_lost *lost);

    /** Sums of coordinates about the orbit at S, delta = 0 at gamma. */
    aw_status (*stats)(void *state, double S, double gamma, aw_beam_sums *sums);
} aw_particle_ops;

AW_END_DECLS
#endif
