/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libarcwake: kicks of the particles by the self-force, from one observation to the next. */
#include <math.h>
#include <string.h>

#include "pic/push.h"
#include "src/api/field.h"
#include "src/base/memory.h"
#include "src/base/units.h"

/* Room for the kick of n particles; of other numbers what is known of an earlier kick is lost. */
static aw_status reserve_kick(aw_field *f, size_t n)
{
    if (f->kick.gather && f->kick.n == n) return AW_OK;
    aw_gather_free(f->kick.gather);
    aw_free(f->kick.momentum);
    f->kick.gather = NULL;
    f->kick.momentum = aw_alloc(n, 2 * sizeof *f->kick.momentum);
    f->kick.n = n;
    if (!f->kick.momentum) return AW_ERR_NOMEM;
    return aw_gather_new(f->options.grid[0], f->options.grid[1], &f->kick.gather);
}

/* What the momenta have changed, along the design tangent and normal of each particle. */
static void momentum_change(const aw_field *f, double *dps, double *dpx)
{
    const aw_particles *p = f->bunch;
    const aw_orbit_view *orbit = &f->lattice->orbit;
    const aw_orbit_point centre = aw_orbit_at(orbit, f->self.frame.grid.S);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->n; ++i) {
        const double dz = p->pz[i] - f->kick.momentum[i];
        const double dx = p->px[i] - f->kick.momentum[p->n + i];
        const double along = (p->z[i] - centre.z) * centre.ct + (p->x[i] - centre.x) * centre.st;
        double offset;
        const double s = aw_orbit_project(orbit, p->z[i], p->x[i], centre.S + along, &offset);
        const aw_orbit_point at = aw_orbit_at(orbit, s);
        dps[i] = dz * at.ct + dx * at.st;
        dpx[i] = dx * at.ct - dz * at.st;
    }
}

static aw_status kick(aw_field *f, double ahead, size_t n, double *dps, double *dpx)
{
    aw_status status = AW_OK;
    const aw_status found = aw_field_solve(f);
    aw_gather_stats stats;
    if (found != AW_OK && found != AW_ERR_MAXEVAL) return found;
    if (!f->kick.observed)
        return aw_error(AW_ERR_ARG, "there are no particles to kick (expected an observation since "
                                    "the field was loaded, or since one was refused)");
    if (n != f->bunch->n || !dps || !dpx)
        return aw_error(AW_ERR_ARG, "%zu kicks (expected %zu, one of each observed particle)", n,
                        f->bunch->n);
    if (!(ahead >= 0.0 && isfinite(ahead)))
        return aw_error(AW_ERR_ARG, "ahead: %g s (expected at least 0)", ahead / AW_C);
    const int first = !f->kick.gather;
    AW_TRY(reserve_kick(f, n));
    const double behind = first ? 0.0 : f->ct - f->kick.end;
    if (behind < 0.0)
        AW_TRY(aw_error(AW_ERR_ARG,
                        "the last kick ended %g s behind this observation (expected one kick at "
                        "each, with at most the time to the next one ahead)",
                        -behind / AW_C));
    memcpy(f->kick.momentum, f->bunch->pz, n * sizeof(double));
    memcpy(f->kick.momentum + n, f->bunch->px, n * sizeof(double));
    const aw_gather_params gather = {.grid = &f->self.frame.grid,
                                     .forces = &f->self.forces,
                                     .gamma = f->self.params.history.gamma,
                                     .kick = behind,
                                     .vectors = 1,
                                     .since = f->kick.ahead};
    AW_TRY(aw_gather_step(f->kick.gather, &gather, f->bunch, dps, dpx, &stats));
    AW_TRY(aw_push_kick(f->bunch, dps, dpx, ahead));
    momentum_change(f, dps, dpx);
    f->kick.ahead = ahead;
    f->kick.end = f->ct + ahead;
done:
    return status != AW_OK ? status : found;
}

int aw_field_kick(aw_field *field, double ahead, size_t n, double *dps, double *dpx)
{
    aw_call c;
    if (!field) return AW_WRONG_ARGUMENT;
    aw_call_begin(&c, field);
    return aw_call_end(&c, kick(field, AW_C * ahead, n, dps, dpx));
}

void aw_kick_archive(aw_field *f, aw_archive *a)
{
    size_t n = f->kick.gather ? f->kick.n : 0;
    aw_status status = AW_OK;
    AW_ARCHIVE_ITEM(a, n);
    if (n == 0 || a->status != AW_OK) return;
    AW_ARCHIVE_ITEM(a, f->kick.ahead);
    AW_ARCHIVE_ITEM(a, f->kick.end);
    if (a->way == AW_ARCHIVE_LOAD) status = reserve_kick(f, n);
    if (status == AW_OK && a->way == AW_ARCHIVE_LOAD) status = aw_field_reserve(&f->bunch, n);
    if (status == AW_OK)
        aw_gather_archive(f->kick.gather, f->bunch, a);
    else
        a->status = status;
}

void aw_kick_free(aw_kick *kick)
{
    aw_gather_free(kick->gather);
    aw_free(kick->momentum);
}
