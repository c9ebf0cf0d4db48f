/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/session/beam.h"

#include <math.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/beam/columns.h"
#include "src/beam/vertical.h"

static void fill_column(double *to, const double *from, double unit, size_t n)
{
    for (size_t i = 0; from && i < n; ++i) to[i] = from[i] / unit;
}

aw_status aw_session_beam_read(const aw_session_beam *beam, aw_particles **out)
{
    const double *const column[AW_COLUMNS] = {beam->x,  beam->y,  beam->z, beam->px,
                                              beam->py, beam->pz, beam->t, beam->charge};
    aw_columns c = {0};
    aw_status status = AW_OK;
    *out = NULL;
    AW_TRY(aw_columns_new(beam->n, &c));
    for (int k = 0; k < AW_COLUMNS; ++k) {
        const int momentum = k == AW_COLUMN_PX || k == AW_COLUMN_PY || k == AW_COLUMN_PZ;
        fill_column(c.column[k], column[k], momentum ? AW_ME_EV : 1.0, beam->n);
    }
    if (beam->id) {
        c.id = aw_alloc(beam->n, sizeof *c.id);
        AW_TRY(c.id ? AW_OK : AW_ERR_NOMEM);
        memcpy(c.id, beam->id, beam->n * sizeof *c.id);
    }
    c.from_reference = beam->from_reference;
    AW_TRY(aw_columns_at_one_time(&c));
    AW_TRY(aw_columns_particles(&c, 0.0, out));
done:
    if (status == AW_ERR_INPUT) aw_error_print("beam: %s", c.why);
    aw_columns_free(&c);
    return status;
}

/* One particle along the axes of the design frame at a point of the orbit. */
static void turn(const aw_particles *p, size_t i, const aw_orbit_point *at, double out[4])
{
    const double dz = p->z[i] - at->z, dx = p->x[i] - at->x;
    out[0] = dz * at->ct + dx * at->st;
    out[1] = -dz * at->st + dx * at->ct;
    out[2] = AW_ME_EV * (p->pz[i] * at->ct + p->px[i] * at->st);
    out[3] = AW_ME_EV * (-p->pz[i] * at->st + p->px[i] * at->ct);
}

aw_status aw_session_beam_copy(aw_simulation *sim, const aw_session_beam *out)
{
    const aw_orbit_point at = aw_orbit_at(&sim->config->lattice->orbit, sim->S_ref);
    const double time = aw_simulation_ct(sim) / AW_C;
    const aw_particles *p;
    double m[4], one[4];
    const aw_status status = aw_simulation_particles(sim, &p);
    if (status != AW_OK) return status;
    aw_vertical_map(sim->config->lattice, sim->S_ref, m);
    for (size_t i = 0; i < p->n; ++i) {
        turn(p, i, &at, one);
        out->z[i] = one[0];
        out->x[i] = one[1];
        out->pz[i] = one[2];
        out->px[i] = one[3];
        out->y[i] = out->py[i] = 0.0;
        if (p->y) aw_vertical_move(m, p, i, &out->y[i], &out->py[i]);
        out->py[i] *= AW_ME_EV;
        out->t[i] = time;
        out->charge[i] = p->charge * aw_particles_weight(p, i);
        out->id[i] = p->id ? p->id[i] : i + 1;
    }
    return AW_OK;
}

/* Whether a particle may get its new momentum. @param[in] now  as turn() gives it */
static aw_status check_kick(const aw_session_beam *b, size_t i, const double now[4], double charge)
{
    if (!isfinite(b->px[i]) || !isfinite(b->pz[i]))
        return aw_error(AW_ERR_NONFINITE, "beam: the momentum of particle %zu is %g, %g eV/c",
                        i + 1, b->px[i], b->pz[i]);
    if (b->z[i] != now[0] || b->x[i] != now[1] || b->charge[i] != charge)
        return aw_error(AW_ERR_ARG,
                        "beam: particle %zu has another place or charge (expected the particles "
                        "of this step: after the start only px and pz may change)",
                        i + 1);
    if (!(b->pz[i] > 0.0))
        return aw_error(AW_ERR_ARG, "beam: particle %zu has pz = %g eV/c (expected a motion ahead)",
                        i + 1, b->pz[i]);
    return AW_OK;
}

aw_status aw_session_beam_kick(aw_simulation *sim, const aw_session_beam *b)
{
    const aw_orbit_point at = aw_orbit_at(&sim->config->lattice->orbit, sim->S_ref);
    aw_particles *p = sim->particles;
    double one[4];
    if (b->n != p->n)
        return aw_error(AW_ERR_ARG, "beam: %zu particles (expected the %zu of the run)", b->n,
                        p->n);
    for (size_t i = 0; i < p->n; ++i) {
        turn(p, i, &at, one);
        const aw_status status = check_kick(b, i, one, p->charge * aw_particles_weight(p, i));
        if (status != AW_OK) return status;
    }
    for (size_t i = 0; i < p->n; ++i) {
        turn(p, i, &at, one);
        if (b->pz[i] == one[2] && b->px[i] == one[3]) continue; /* keeps its bits */
        p->pz[i] = (b->pz[i] * at.ct - b->px[i] * at.st) / AW_ME_EV;
        p->px[i] = (b->pz[i] * at.st + b->px[i] * at.ct) / AW_ME_EV;
    }
    return AW_OK;
}
