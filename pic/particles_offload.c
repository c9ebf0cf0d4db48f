/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles that a device keeps from step to step. */
#include "pic/particles.h"
#include "src/base/log.h"

static aw_particles_view view_of(const aw_particles *p)
{
    return (aw_particles_view){.n = p->n,
                               .z = p->z,
                               .x = p->x,
                               .pz = p->pz,
                               .px = p->px,
                               .gamma0 = p->gamma0,
                               .element = p->element};
}

aw_status aw_particles_offload(aw_particles *p, const aw_fields_view *fields,
                               const aw_orbit_view *orbit, const aw_device *device)
{
    const aw_device *keeper = aw_device_for_particles(device);
    const aw_particles_view beam = view_of(p);
    aw_status status = AW_OK;
    if (keeper && !p->resident_on && p->n > 0 && p->n >= keeper->ops->particles->many) {
        status = keeper->ops->particles->offload(keeper->state, &beam, fields, orbit);
        if (status == AW_OK) {
            p->resident_on = keeper;
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

aw_status aw_particles_download(const aw_particles *p)
{
    const aw_particles_view here = view_of(p);
    return p->resident_on ? p->resident_on->ops->particles->download(p->resident_on->state, &here)
                          : AW_OK;
}
