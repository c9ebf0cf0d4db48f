/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles that a processing unit keeps from step to step. */
#include "pic/particles.h"
#include "src/base/log.h"

static aw_beam_view view_of(const aw_particles *p)
{
    return (aw_beam_view){.n = p->n,
                          .z = p->z,
                          .x = p->x,
                          .pz = p->pz,
                          .px = p->px,
                          .gamma0 = p->gamma0,
                          .element = p->element};
}

aw_status aw_particles_lend(aw_particles *p, const aw_fields_view *fields,
                            const aw_orbit_view *orbit, const aw_device *device)
{
    const aw_device *keeper = aw_device_keeper(device);
    const aw_beam_view beam = view_of(p);
    aw_status status = AW_OK;
    if (keeper && !p->keeper && p->n > 0 && p->n >= keeper->ops->beam->many) {
        status = keeper->ops->beam->keep(keeper->state, &beam, fields, orbit);
        if (status == AW_OK) {
            p->keeper = keeper;
            aw_info("%zu particles are kept by %s", p->n, keeper->ops->describe(keeper->state));
        }
        if (status == AW_ERR_NOMEM) {
            aw_warn("%s has no room for %zu particles besides the history: they stay with the host",
                    keeper->ops->describe(keeper->state), p->n);
            status = AW_OK;
        }
    }
    return aw_particles_agree(p, status);
}

aw_status aw_particles_fetch(const aw_particles *p)
{
    const aw_beam_view here = view_of(p);
    return p->keeper ? p->keeper->ops->beam->fetch(p->keeper->state, &here) : AW_OK;
}
