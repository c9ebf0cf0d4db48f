/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles that stay on a device from step to step. */
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
                               .element = p->element,
                               .weight = p->weight,
                               .radiated = p->radiated};
}

aw_status aw_particles_offload(aw_particles *p, const aw_fields_view *fields,
                               const aw_orbit_view *orbit, const aw_device *device)
{
    const aw_device *target = aw_device_for_particles(device);
    const aw_particles_view beam = view_of(p);
    aw_status status = AW_OK;
    if (target && !p->resident_on && p->n > 0 && p->n >= target->ops->particles->many) {
        status = target->ops->particles->offload(target->state, &beam, fields, orbit);
        if (status == AW_OK) {
            p->resident_on = target;
            aw_info("%zu particles are resident on %s", p->n, target->ops->describe(target->state));
        }
        if (status == AW_ERR_NOMEM) {
            aw_warn("%s has no memory for %zu particles besides the history: they stay on the host",
                    target->ops->describe(target->state), p->n);
            status = AW_OK;
        }
    }
    return aw_particles_agree(p, status);
}

aw_status aw_particles_download(const aw_particles *p)
{
    const aw_particles_view host = view_of(p);
    return p->resident_on ? p->resident_on->ops->particles->download(p->resident_on->state, &host)
                          : AW_OK;
}
