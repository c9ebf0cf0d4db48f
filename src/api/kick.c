/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libarcwake: kicks of the observed particles, with differences of the vector potential. */
#include <math.h>
#include <string.h>

#include "pic/push.h"
#include "src/api/field.h"
#include "src/base/memory.h"
#include "src/base/units.h"

void aw_kick_free(aw_kick *kick)
{
    aw_gather_free(kick->gather);
    aw_free(kick->momentum);
    kick->gather = NULL;
    kick->momentum = NULL;
}

/* Room for the kick of n particles; what is known of an earlier one stays if they are as many. */
static aw_status reserve(aw_field *f, size_t n)
{
    aw_status status = AW_OK;
    if (f->kick.gather && f->kick.n == n) return AW_OK;
    aw_kick_free(&f->kick);
    f->kick.n = n;
    f->kick.momentum = aw_alloc(n, 2 * sizeof *f->kick.momentum);
    AW_TRY(f->kick.momentum ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(aw_gather_new(f->options.grid[0], f->options.grid[1], &f->kick.gather));
done:
    return status;
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

/* Whether there is a kick to make, behind and ahead of the observation [m]. */
static aw_status check(const aw_field *f, double ahead, size_t n, double *behind)
{
    if (!f->bunch)
        return aw_error(AW_ERR_ARG, "there are no particles to kick (expected an observation since "
                                    "the field was loaded, or since one was refused)");
    if (n != f->bunch->n)
        return aw_error(AW_ERR_ARG, "%zu kicks (expected %zu, one of each observed particle)", n,
                        f->bunch->n);
    if (!(ahead >= 0.0 && isfinite(ahead)))
        return aw_error(AW_ERR_ARG, "ahead: %g s (expected at least 0)", ahead / AW_C);
    *behind = f->kick.made ? f->ct - f->kick.end : 0.0;
    if (*behind >= 0.0) return AW_OK;
    return aw_error(AW_ERR_ARG,
                    "the last kick ended %g s behind this observation (expected one kick at each, "
                    "with at most the time to the next one ahead)",
                    -*behind / AW_C);
}

static aw_status kick(aw_field *f, double ahead, size_t n, double *dps, double *dpx)
{
    aw_status status = AW_OK;
    const aw_status found = aw_field_solve(f);
    double behind;
    aw_gather_stats stats;
    if (found != AW_OK && found != AW_ERR_MAXEVAL) return found;
    if (!dps || !dpx) return aw_error(AW_ERR_ARG, "dps or dpx: NULL (expected arrays)");
    AW_TRY(check(f, ahead, n, &behind));
    AW_TRY(reserve(f, n));
    memcpy(f->kick.momentum, f->bunch->pz, n * sizeof(double));
    memcpy(f->kick.momentum + n, f->bunch->px, n * sizeof(double));
    const aw_gather_params gather = {.grid = &f->self.frame.grid,
                                     .forces = &f->self.forces,
                                     .gamma = f->self.params.history.gamma,
                                     .kick = behind,
                                     .vectors = 1,
                                     .since = f->kick.ahead};
    status = aw_gather_step(f->kick.gather, &gather, f->bunch, dps, dpx, &stats);
    if (status == AW_OK) status = aw_push_kick(f->bunch, dps, dpx, ahead);
    if (status != AW_OK) {
        memcpy(f->bunch->pz, f->kick.momentum, n * sizeof(double));
        memcpy(f->bunch->px, f->kick.momentum + n, n * sizeof(double));
        return status;
    }
    momentum_change(f, dps, dpx);
    f->kick.made = 1;
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
    aw_particles *all = NULL;
    size_t n = f->kick.made ? f->kick.n : 0;
    AW_ARCHIVE_ITEM(a, n);
    AW_ARCHIVE_ITEM(a, f->kick.ahead);
    AW_ARCHIVE_ITEM(a, f->kick.end);
    if (n == 0 || a->status != AW_OK) return;
    f->kick.made = 1;
    aw_status status = aw_particles_new(n, 1.0, &all);
    if (status == AW_OK) status = reserve(f, n);
    if (status == AW_OK)
        aw_gather_archive(f->kick.gather, all, a);
    else
        a->status = status;
    aw_particles_free(all);
}
