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

/* What there is to see of the particles of a step. */
typedef struct view {
    const aw_particles *p;
    aw_orbit_point at;
    double vertical[4]; /* of aw_vertical_map */
    double time;
} view;

typedef struct seen {
    double x, px, y, py, z, pz, t, charge; /* as of aw_session_beam */
    uint64_t id;
} seen;

static view view_of(const aw_simulation *sim, const aw_particles *p)
{
    view v = {p, aw_orbit_at(&sim->config->lattice->orbit, sim->S_ref), {0.0}, 0.0};
    aw_vertical_map(sim->config->lattice, sim->S_ref, v.vertical);
    v.time = aw_simulation_ct(sim) / AW_C;
    return v;
}

/* One particle, along the axes of the design frame at a point of the orbit. */
static seen see(const view *v, size_t i)
{
    const aw_particles *p = v->p;
    const aw_orbit_point *at = &v->at;
    const double dz = p->z[i] - at->z, dx = p->x[i] - at->x;
    seen one = {.z = dz * at->ct + dx * at->st,
                .x = -dz * at->st + dx * at->ct,
                .pz = AW_ME_EV * (p->pz[i] * at->ct + p->px[i] * at->st),
                .px = AW_ME_EV * (-p->pz[i] * at->st + p->px[i] * at->ct),
                .t = v->time,
                .charge = p->charge * aw_particles_weight(p, i),
                .id = p->id ? p->id[i] : i + 1};
    if (p->y) aw_vertical_move(v->vertical, p, i, &one.y, &one.py);
    one.py *= AW_ME_EV;
    return one;
}

aw_status aw_session_beam_copy(aw_simulation *sim, const aw_session_beam *out)
{
    const aw_particles *p;
    const aw_status status = aw_simulation_particles(sim, &p);
    if (status != AW_OK) return status;
    const view v = view_of(sim, p);
    for (size_t i = 0; i < p->n; ++i) {
        const seen one = see(&v, i);
        out->x[i] = one.x;
        out->px[i] = one.px;
        out->y[i] = one.y;
        out->py[i] = one.py;
        out->z[i] = one.z;
        out->pz[i] = one.pz;
        out->t[i] = one.t;
        out->charge[i] = one.charge;
        out->id[i] = one.id;
    }
    return AW_OK;
}

/* What of a particle differs that has to be as it is, by the name that Python has for it; NULL:
 * nothing. */
static const char *changed(const aw_session_beam *b, size_t i, const seen *now)
{
    const struct {
        const char *name;
        const double *given;
        double now;
    } kept[] = {{"x", b->x, now->x}, {"y", b->y, now->y}, {"py", b->py, now->py},
                {"z", b->z, now->z}, {"t", b->t, now->t}, {"weight", b->charge, now->charge}};
    for (size_t k = 0; k < sizeof kept / sizeof kept[0]; ++k)
        if (kept[k].given && kept[k].given[i] != kept[k].now) return kept[k].name;
    return b->id && b->id[i] != now->id ? "id" : NULL;
}

/* Whether a particle may get its new momentum. */
static aw_status check_kick(const aw_session_beam *b, size_t i, const seen *now)
{
    const char *other = changed(b, i, now);
    if (!isfinite(b->px[i]) || !isfinite(b->pz[i]))
        return aw_error(AW_ERR_NONFINITE, "beam: the momentum of particle %zu is %g, %g eV/c",
                        i + 1, b->px[i], b->pz[i]);
    if (other)
        return aw_error(AW_ERR_ARG,
                        "beam: particle %zu has another %s (expected the particles of this step: "
                        "after the start only px and pz may change)",
                        i + 1, other);
    if (!(b->pz[i] > 0.0))
        return aw_error(AW_ERR_ARG, "beam: particle %zu has pz = %g eV/c (expected a motion ahead)",
                        i + 1, b->pz[i]);
    return AW_OK;
}

aw_status aw_session_beam_kick(aw_simulation *sim, const aw_session_beam *b)
{
    aw_particles *p = sim->particles;
    const view v = view_of(sim, p);
    const aw_orbit_point *at = &v.at;
    if (b->n != p->n)
        return aw_error(AW_ERR_ARG, "beam: %zu particles (expected the %zu of the run)", b->n,
                        p->n);
    for (size_t i = 0; i < p->n; ++i) {
        const seen now = see(&v, i);
        const aw_status status = check_kick(b, i, &now);
        if (status != AW_OK) return status;
    }
    for (size_t i = 0; i < p->n; ++i) {
        const seen now = see(&v, i);
        if (b->pz[i] == now.pz && b->px[i] == now.px) continue; /* keeps its bits */
        p->pz[i] = (b->pz[i] * at->ct - b->px[i] * at->st) / AW_ME_EV;
        p->px[i] = (b->pz[i] * at->st + b->px[i] * at->ct) / AW_ME_EV;
    }
    return AW_OK;
}
