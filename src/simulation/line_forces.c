/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/simulation/line_forces.h"

#include "pic/push.h"
#include "src/base/timer.h"

/* The line's force at the nodes of the two-dimensional grid, of which the meshes are made. */
static void fill_grid(aw_simulation *sim)
{
    const aw_config *config = sim->config;
    const aw_line *line = sim->line;
    aw_frame_points(&sim->field.frame.grid, &config->lattice->orbit, config->beam.gamma,
                    sim->field.point);
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < sim->field.nodes; ++k) {
        sim->field.forces.Fs[k] = aw_line_at(line, line->force, sim->field.point[k].S - line->S);
        sim->field.forces.Fx[k] = 0.0;
    }
}

/* Seconds since *begin, from where the next part is timed. */
static double lap(double *begin)
{
    const double now = aw_now(), seconds = now - *begin;
    *begin = now;
    return seconds;
}

aw_status aw_line_forces_update(aw_simulation *sim)
{
    const aw_config *config = sim->config;
    const aw_orbit_view *orbit = &config->lattice->orbit;
    double begin = aw_now();
    aw_status status = AW_OK;
    AW_TRY(aw_line_deposit(sim->line, sim->particles, orbit, sim->field.frame.grid.S));
    sim->seconds[AW_PART_DEPOSIT] += lap(&begin);
    aw_line_solve(sim->line, (aw_line_model)config->line_model, orbit, config->beam.gamma);
    fill_grid(sim);
    sim->seconds[AW_PART_FORCES] = lap(&begin);
    aw_line_gather(sim->line, sim->particles, orbit, sim->Fz, sim->Fx, &sim->force_stats);
    if (sim->half_kick_pending)
        status = aw_push_kick(sim->particles, sim->Fz, sim->Fx, 0.5 * aw_simulation_cdt(sim));
    AW_TRY(aw_particles_agree(sim->particles, status));
    sim->seconds[AW_PART_GATHER] = lap(&begin);
    sim->half_kick_pending = 0;
    sim->solved = 1;
done:
    return status;
}
