/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/field/self_field.h"

#include <math.h>
#include <string.h>

#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* A solver that has learned nothing. */
static aw_status new_solver(const aw_self_field_params *p, aw_solver **out)
{
    const aw_status status = aw_solver_new(p->solver, p->device, out);
    if (status == AW_OK) aw_solver_forecast(*out, &p->forecast);
    return status;
}

aw_status aw_self_field_init(aw_self_field *f, const aw_self_field_params *params)
{
    const int ns = params->history.ns, nx = params->history.nx;
    const size_t n = (size_t)ns * (size_t)nx;
    aw_status status = AW_OK;
    *f = (aw_self_field){.params = *params, .nodes = n};
    AW_TRY(aw_comm_agree(new_solver(params, &f->solver)));
    AW_TRY(aw_forces_new(n, params->vectors, &f->forces));
    f->point = aw_alloc(n, sizeof *f->point);
    f->result = aw_alloc(n * AW_RESULTS, sizeof *f->result);
    f->error = aw_alloc(n, sizeof *f->error);
    if (!f->point || !f->result || !f->error) AW_TRY(AW_ERR_NOMEM);
    AW_TRY(aw_deposit_new(ns, nx, &f->deposit));
    AW_TRY(aw_history_new(&params->history, &f->history));
    aw_frame_init(&f->frame, ns, nx);
done:
    return status;
}

void aw_self_field_free(aw_self_field *f)
{
    aw_free(f->result);
    aw_free(f->error);
    aw_free(f->point);
    aw_forces_free(&f->forces);
    aw_solver_free(f->solver);
    aw_history_free(f->history);
    aw_deposit_free(f->deposit);
    memset(f, 0, sizeof *f);
}

aw_status aw_self_field_deposit(aw_self_field *f, const aw_particles *particles, double ct)
{
    aw_status status = AW_OK;
    void *cells = aw_history_cells(f->history);
    if (!cells) status = aw_error(AW_ERR_NOMEM, "out of memory for the history");
    AW_TRY(aw_particles_agree(particles, status));
    AW_TRY(aw_deposit_run(f->deposit, particles, &f->frame, f->params.history.single, cells,
                          &f->charge));
    aw_history_push(f->history, &f->frame, f->height2, ct);
    f->view = aw_history_look(f->history, f->params.orbit);
done:
    return status;
}

aw_problem aw_self_field_problem(const aw_self_field *f, const aw_field_point *point, size_t n,
                                 double tolerance)
{
    const aw_grid_view *grid = &f->frame.grid;
    double i = 0.5 * (grid->ns - 1), j = 0.5 * (grid->nx - 1);
    return (aw_problem){.history = f->view,
                        .point = point,
                        .points = n,
                        .centre =
                            aw_frame_point(grid, f->params.orbit, f->params.history.gamma, i, j),
                        .half = hypot(i * grid->hs, j * grid->hx),
                        .tolerance = tolerance,
                        .scales = f->scales};
}

aw_status aw_self_field_grid_problem(aw_self_field *f, aw_problem *out)
{
    const aw_grid_view *grid = &f->frame.grid;
    aw_status status = AW_OK;
    aw_frame_points(grid, f->params.orbit, f->params.history.gamma, f->point);
    *out = aw_self_field_problem(f, f->point, f->nodes, f->params.tolerance);
    out->columns = (size_t)grid->ns;
    out->felt = aw_self_field_felt(f);
    AW_TRY(aw_solver_scales(f->solver, out, &f->scales));
    out->scales = f->scales;
done:
    return status;
}

const unsigned char *aw_self_field_felt(const aw_self_field *f)
{
    return f->params.felt ? aw_deposit_felt(f->deposit) : NULL;
}

aw_status aw_self_field_solve(aw_self_field *f, int complete)
{
    aw_status status = AW_OK;
    aw_problem problem;
    AW_TRY(aw_self_field_grid_problem(f, &problem));
    problem.complete = complete;
    AW_TRY(aw_solver_solve(f->solver, &problem, f->result, f->error, &f->report));
done:
    return status;
}

void aw_self_field_forces(aw_self_field *f)
{
    aw_forces_from_potentials(&f->frame.grid, f->point, f->result, &f->forces);
}

aw_status aw_self_field_forget(aw_self_field *f)
{
    aw_solver *fresh = NULL;
    const aw_status status = new_solver(&f->params, &fresh);
    if (status != AW_OK) return status;
    aw_solver_free(f->solver);
    f->solver = fresh;
    return AW_OK;
}

void aw_self_field_archive(aw_self_field *f, aw_archive *archive)
{
    aw_history_archive(f->history, archive);
    aw_solver_archive(f->solver, archive);
    AW_ARCHIVE_ITEM(archive, f->frame);
}
