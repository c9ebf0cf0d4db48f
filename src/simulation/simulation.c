/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/simulation/simulation.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "kernels/math/height.h"
#include "kernels/math/integrand.h"
#include "pic/distribution.h"
#include "pic/push.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/threads.h"
#include "src/base/timer.h"
#include "src/base/units.h"
#include "src/beam/vertical.h"
#include "src/simulation/current.h"
#include "src/simulation/line_forces.h"
#include "src/simulation/ranks.h"
#include "src/simulation/wake_kicks.h"

/* Error of all steps together that the check allows, over the energy that the bunch is expected to
 * lose, if no two of them cancel. They do: with steps that err by a fifth of it, the results of the
 * Zeuthen chicane are within 5e-4 of those of half the steps. */
#define AW_STEP_ERROR 0.05

/* Whether the forces act, so that the particles keep vector potentials. */
static int keeps_vectors(const aw_simulation *sim)
{
    return sim->config->motion == AW_MOTION_SELF_CONSISTENT && !sim->config->line;
}

static aw_status allocate_arrays(aw_simulation *sim)
{
    const aw_config *config = sim->config;
    double **particle[] = {&sim->Fz, &sim->Fx};
    for (size_t i = 0; i < sizeof particle / sizeof particle[0]; ++i)
        if (!(*particle[i] = aw_alloc(sim->particles->n, sizeof(double)))) return AW_ERR_NOMEM;
    sim->axis = aw_alloc(sim->field.nodes, 2 * sizeof *sim->axis);
    sim->bin = aw_alloc(aw_current_bins(config->grid[0], config->grid[1]), sizeof *sim->bin);
    return sim->axis && sim->bin ? AW_OK : AW_ERR_NOMEM;
}

/* Draw the beam, or take that of a file, and place it on the design orbit at its start. */
static aw_status place_beam(aw_simulation *sim, int distributed)
{
    const aw_config *config = sim->config;
    aw_status status = AW_OK;
    if (config->beam_at)
        AW_TRY(aw_particles_share(config->beam_at, distributed, &sim->particles));
    else
        AW_TRY(distributed ? aw_particles_draw_part(&config->beam, &sim->particles)
                           : aw_particles_draw(&config->beam, &sim->particles));
    if (config->isr) AW_TRY(aw_particles_extend(sim->particles, AW_WITH_RADIATED));
    if (config->motion == AW_MOTION_RIGID)
        AW_TRY(aw_push_rigid(config->lattice, sim->particles, config->beam.gamma, sim->S_ref));
    else
        AW_TRY(aw_push_place(config->lattice, sim->particles));
done:
    return status;
}

/* Forecast parameters of the run file; 0 stands for the default. */
static aw_forecast forecast_of(const aw_config *config)
{
    aw_forecast forecast = aw_forecast_default();
    if (config->forecast_neighbours > 0) forecast.neighbours = config->forecast_neighbours;
    forecast.classes = config->forecast_classes;
    forecast.conversion = (aw_conversion)config->forecast_conversion;
    forecast.merge = (aw_merge)config->forecast_merge;
    return forecast;
}

/* The field, without slices. */
static aw_status new_field(aw_simulation *sim)
{
    const aw_config *config = sim->config;
    const aw_self_field_params params = {.orbit = &config->lattice->orbit,
                                         .device = &sim->device,
                                         .solver = config->solver,
                                         .forecast = forecast_of(config),
                                         .history = {.ns = config->grid[0],
                                                     .nx = config->grid[1],
                                                     .single = config->history_single,
                                                     .cdt = aw_simulation_cdt(sim),
                                                     .gamma = config->beam.gamma,
                                                     .gap = config->plates_gap,
                                                     .images = AW_IMAGES_MOST,
                                                     .upstream_cut = sim->plan.upstream_cut,
                                                     .slices = aw_plan_slices(config, &sim->plan)},
                                         .tolerance = config->tolerance,
                                         .vectors = keeps_vectors(sim)};
    return aw_self_field_init(&sim->field, &params);
}

aw_status aw_simulation_new(const aw_config *config, const char *variant, int distributed,
                            aw_simulation **out)
{
    aw_status status = AW_OK;
    aw_beam_stats start;
    aw_simulation *sim = aw_alloc(1, sizeof *sim);
    *out = NULL;
    if (!sim) return aw_error(AW_ERR_NOMEM, "out of memory");
    sim->config = config;
    sim->S_ref = config->lattice->begin;
    sim->reach = config->beam_at ? config->beam.cutoff_sigma : aw_beam_reach(&config->beam);
    if (config->threads > 0) omp_set_num_threads(config->threads);
    aw_device_params device = {.variant = variant,
                               .threads = config->threads,
                               .inner_density = config->inner_density,
                               .tuning = config->tuning};
    AW_TRY(aw_plan_make(config, &sim->plan));
    AW_TRY(aw_schedule_new(config, &sim->schedule));
    AW_TRY(aw_comm_agree(aw_threads_try(omp_get_max_threads())));
    AW_TRY(aw_device_open(config->line ? "cpu" : config->device, &device, &sim->device));
    AW_TRY(new_field(sim));
    AW_TRY(place_beam(sim, distributed));
    AW_TRY(aw_beam_stats_of(sim->particles, &config->lattice->orbit, sim->S_ref, config->beam.gamma,
                            &start));
    sim->energy_start = start.energy;
    AW_TRY(allocate_arrays(sim));
    AW_TRY(aw_gather_new(config->grid[0], config->grid[1], &sim->gather));
    if (config->line) AW_TRY(aw_line_new(config->grid[0], sim->particles->n, &sim->line));
    if (config->wakes > 0)
        AW_TRY(aw_wake_bunch_new(aw_wake_nodes(aw_particles_all(sim->particles)), sim->particles->n,
                                 &sim->wakes));
    sim->wakes_step = -1;
    *out = sim;
    return AW_OK;
done:
    if (status == AW_ERR_NOMEM) aw_error(status, "out of memory while setting up the run");
    aw_simulation_free(sim);
    return status;
}

void aw_simulation_free(aw_simulation *sim)
{
    if (!sim) return;
    aw_simulation_command(sim, AW_COMMAND_STOP);
    double *own[] = {sim->Fz, sim->Fx, sim->axis, sim->bin};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; ++i) aw_free(own[i]);
    aw_self_field_free(&sim->field);
    aw_device_close(&sim->device);
    aw_gather_free(sim->gather);
    aw_line_free(sim->line);
    aw_wake_bunch_free(sim->wakes);
    aw_schedule_free(sim->schedule);
    aw_particles_free(sim->particles);
    aw_particles_free(sim->gathered);
    aw_free(sim);
}

aw_status aw_simulation_offload(aw_simulation *sim)
{
    const aw_lattice *lattice = sim->config->lattice;
    const aw_fields_view fields = aw_lattice_fields(lattice, 0.0);
    if (sim->config->motion == AW_MOTION_RIGID || sim->line || sim->wakes) return AW_OK;
    aw_simulation_command(sim, AW_COMMAND_OFFLOAD);
    return aw_particles_offload(sim->particles, &fields, &lattice->orbit, &sim->device);
}

/* From here on errors name the step and the place. @return the number of errors so far */
static long begin_part(const aw_simulation *sim)
{
    char where[64];
    snprintf(where, sizeof where, "step %ld, S = %.6g m", sim->step, sim->S_ref);
    aw_log_context(where);
    return aw_log_errors();
}

/* End what begin_part began. An error that nobody has printed is printed here; of several ranks,
 * one that has an error of its own prints it. */
static aw_status end_part(const aw_simulation *sim, aw_status status, long errors)
{
    if (status != AW_OK && aw_log_errors() == errors && !sim->particles->distributed)
        aw_error(status, "%s", aw_status_text(status));
    aw_log_context(NULL);
    return status;
}

aw_status aw_simulation_deposit(aw_simulation *sim)
{
    const aw_config *config = sim->config;
    const aw_beam_params *beam = &config->beam;
    const aw_orbit_view *orbit = &config->lattice->orbit;
    aw_status status = AW_OK;
    const long errors = begin_part(sim);
    double begin = aw_now();
    aw_simulation_command(sim, AW_COMMAND_DEPOSIT);
    memset(sim->seconds, 0, sizeof sim->seconds);
    sim->solved = sim->force_error_known = 0;
    if (config->motion == AW_MOTION_RIGID && !sim->fit_grid)
        aw_frame_rigid(&sim->field.frame, orbit, sim->S_ref, sim->reach * beam->sigma_s,
                       sim->reach * beam->sigma_x);
    else
        AW_TRY(aw_frame_fit(&sim->field.frame, orbit, sim->particles, sim->S_ref));
    sim->field.height2 = aw_vertical_size2(config->lattice, beam, sim->S_ref);
    AW_TRY(aw_self_field_deposit(&sim->field, sim->particles, aw_simulation_ct(sim)));
    sim->seconds[AW_PART_DEPOSIT] = aw_now() - begin;
done:
    return end_part(sim, status, errors);
}

/* Compute forces from the potentials, gather them, and apply the half kick that is pending. */
static aw_status update_forces(aw_simulation *sim)
{
    const aw_config *config = sim->config;
    const aw_grid_view *grid = &sim->field.frame.grid;
    const aw_gather_params gather = {.grid = grid,
                                     .forces = &sim->field.forces,
                                     .gamma = config->beam.gamma,
                                     .kick = sim->half_kick_pending ? 0.5 * aw_simulation_cdt(sim)
                                                                    : 0.0,
                                     .vectors = keeps_vectors(sim),
                                     .since = sim->kicked};
    double begin = aw_now();
    aw_self_field_forces(&sim->field);
    sim->seconds[AW_PART_FORCES] = aw_now() - begin;
    begin = aw_now();
    aw_status status =
        aw_gather_step(sim->gather, &gather, sim->particles, sim->Fz, sim->Fx, &sim->force_stats);
    sim->seconds[AW_PART_GATHER] = aw_now() - begin;
    sim->solved = 1;
    sim->half_kick_pending = 0;
    sim->kicked = 0.0;
    return status;
}

aw_status aw_simulation_reuse_potentials(aw_simulation *sim) { return update_forces(sim); }

/* Whether the history has room for steps beyond the planned ones. */
static int has_room(const aw_simulation *sim)
{
    const long room = sim->plan.steps / AW_EXTRA_STEPS;
    return sim->extra < (double)room;
}

/* How often the step to come is halved. */
static int halvings(const aw_simulation *sim) { return has_room(sim) ? sim->check.halved : 0; }

/* The force along the design tangent without the rate of the vector potential, whose difference the
 * particles get: what the leap-frog has to resolve. */
static double resolved_force(const aw_simulation *sim, size_t i)
{
    const double *vector = sim->field.forces.vector;
    if (!vector) return sim->field.forces.Fs[i];
    const double *rate = vector + 4 * i + 2;
    return sim->field.forces.Fs[i] + rate[0] * sim->field.point[i].ct +
           rate[1] * sim->field.point[i].st;
}

/* Check the last step by the force along the longer axis of the bunch's grid. */
static void check_step(aw_simulation *sim)
{
    const aw_history_view *view = sim->field.view;
    const aw_grid_view *grid = &sim->field.frame.grid;
    const size_t size[2] = {(size_t)grid->ns, (size_t)grid->nx};
    const ptrdiff_t row = view->ns + 2 * AW_PAD;
    const int along = grid->hs * grid->ns >= grid->hx * grid->nx;
    const unsigned char *felt = aw_self_field_felt(&sim->field);
    double force[AW_CHECK_FORCES];
    /* of a step's share of what the bunch loses */
    const double limit = AW_STEP_ERROR * sim->schedule->energy / (double)sim->plan.steps;
    if (!sim->schedule->rung || sim->config->motion != AW_MOTION_SELF_CONSISTENT) return;
    for (size_t i = 0; i < sim->field.nodes; ++i) {
        const ptrdiff_t cell =
            ((ptrdiff_t)(i / size[0]) + AW_PAD) * row + (ptrdiff_t)(i % size[0]) + AW_PAD;
        const int counts = !felt || felt[i];
        const double charge = aw_cell_get(view->slice[0].cells, view->single, cell * AW_COMPONENTS);
        sim->axis[i] = counts ? charge : 0.0;
        sim->axis[sim->field.nodes + i] = counts ? resolved_force(sim, i) : 0.0;
    }
    sim->check.full = !has_room(sim);
    aw_step_check_force(sim->axis, sim->axis + sim->field.nodes, size, along, force);
    aw_step_check_add(&sim->check, aw_simulation_ct(sim), force, limit);
}

static aw_status solve(aw_simulation *sim, int complete)
{
    aw_status status = AW_OK;
    const long errors = begin_part(sim);
    const double begin = aw_now();
    aw_simulation_command(sim, complete ? AW_COMMAND_SOLVE : AW_COMMAND_SOLVE_FELT);
    if (sim->line) {
        AW_TRY(aw_line_forces_update(sim));
    } else {
        AW_TRY(aw_self_field_solve(&sim->field, complete));
        sim->seconds[AW_PART_POTENTIALS] = aw_now() - begin;
        AW_TRY(update_forces(sim));
    }
    check_step(sim);
done:
    return end_part(sim, status, errors);
}

aw_status aw_simulation_solve(aw_simulation *sim) { return solve(sim, 1); }

aw_status aw_simulation_solve_felt(aw_simulation *sim) { return solve(sim, 0); }

void aw_simulation_expect_felt(aw_simulation *sim, aw_motion motion)
{
    sim->field.params.felt = motion == AW_MOTION_SELF_CONSISTENT && !sim->line;
}

aw_status aw_simulation_synchronise(aw_simulation *sim)
{
    if (!sim->half_kick_pending) return AW_OK;
    const long errors = begin_part(sim);
    aw_simulation_command(sim, AW_COMMAND_SYNCHRONISE);
    double begin = aw_now();
    const double half = 0.5 * aw_simulation_cdt(sim);
    aw_status status = aw_push_kick(sim->particles, sim->Fz, sim->Fx, half);
    sim->seconds[AW_PART_PUSH] += aw_now() - begin;
    sim->half_kick_pending = 0;
    sim->kicked += half;
    return end_part(sim, aw_particles_agree(sim->particles, status), errors);
}

double aw_simulation_ct(const aw_simulation *sim)
{
    return aw_schedule_ct(sim->schedule, sim->tick);
}

double aw_simulation_cdt(const aw_simulation *sim)
{
    const int64_t first = aw_schedule_step(sim->schedule, 0, 0, 0);
    return aw_schedule_ct(sim->schedule, sim->ticks > 0 ? sim->ticks : first);
}

int aw_simulation_is_last(const aw_simulation *sim)
{
    const long steps = sim->config->steps;
    return sim->tick >= sim->schedule->end || (steps > 0 && sim->step >= steps);
}

/* The step to come [ticks]: of several ranks, the root's. */
static int64_t next_ticks(const aw_simulation *sim)
{
    int64_t ticks = aw_schedule_step(sim->schedule, sim->tick, sim->ticks, halvings(sim));
    if (sim->particles->distributed) aw_comm_broadcast(&ticks, sizeof ticks);
    return ticks;
}

aw_status aw_simulation_advance(aw_simulation *sim)
{
    const aw_config *config = sim->config;
    const int kicked = config->motion == AW_MOTION_SELF_CONSISTENT;
    aw_status status = AW_OK;
    const long errors = begin_part(sim);
    double begin = aw_now();
    aw_simulation_command(sim, AW_COMMAND_ADVANCE);
    const int64_t ticks = next_ticks(sim);
    const double S = aw_schedule_S(sim->schedule, sim->tick + ticks);
    const double middle = 0.5 * (sim->S_ref + S);
    const double cdt = aw_schedule_ct(sim->schedule, ticks), half = kicked ? 0.5 * cdt : 0.0;
    sim->particles->ct = aw_simulation_ct(sim); /* also in a run that was resumed */
    sim->particles->radiation = (aw_radiation){.isr = config->isr,
                                               .step = (uint32_t)sim->step,
                                               .seed = config->beam.seed,
                                               .first = sim->particles->first};
    /* a wake at the start of the run acts, too */
    AW_TRY(
        aw_wake_kicks(sim, sim->step > 0 ? sim->S_ref : nextafter(sim->S_ref, -INFINITY), middle));
    if (config->motion == AW_MOTION_RIGID)
        status = aw_push_rigid(config->lattice, sim->particles, config->beam.gamma, S);
    else
        status =
            aw_push_kick_transport(config->lattice, sim->particles, sim->Fz, sim->Fx, half, cdt);
    AW_TRY(aw_particles_agree(sim->particles, status));
    if (halvings(sim) > sim->most_halved) sim->most_halved = halvings(sim);
    sim->extra += 1.0 - exp2(-halvings(sim));
    sim->step++;
    sim->tick += ticks;
    sim->ticks = ticks;
    sim->S_ref = S;
    sim->solved = 0;
    sim->half_kick_pending = kicked;
    sim->kicked += half;
    AW_TRY(aw_wake_kicks(sim, middle, S));
    sim->seconds[AW_PART_PUSH] += aw_now() - begin;
done:
    return end_part(sim, status, errors);
}

aw_status aw_simulation_stats(const aw_simulation *sim, aw_beam_stats *out)
{
    aw_simulation_command(sim, AW_COMMAND_STATS);
    return aw_beam_stats_of(sim->particles, &sim->config->lattice->orbit, sim->S_ref,
                            sim->config->beam.gamma, out);
}

double aw_simulation_cavity_gain(const aw_simulation *sim, const aw_beam_stats *now)
{
    if (!aw_lattice_has_cavity(sim->config->lattice) || sim->config->motion == AW_MOTION_RIGID)
        return NAN;
    const double radiated = sim->config->isr ? now->isr_mean : 0.0;
    return now->energy - sim->energy_start - now->energy_mean + radiated + sim->wake_loss;
}

aw_status aw_simulation_particles(aw_simulation *sim, const aw_particles **out)
{
    aw_status status = AW_OK;
    *out = sim->particles;
    aw_simulation_command(sim, AW_COMMAND_GATHER);
    AW_TRY(aw_particles_agree(sim->particles, aw_particles_download(sim->particles)));
    if (!sim->particles->distributed) return AW_OK;
    aw_particles_free(sim->gathered);
    sim->gathered = NULL;
    AW_TRY(aw_particles_gather_root(sim->particles, &sim->gathered));
    *out = sim->gathered;
done:
    return status;
}

aw_status aw_simulation_monitor(const aw_simulation *sim, aw_monitor_row *row)
{
    aw_status status = AW_OK;
    aw_beam_stats stats;
    aw_monitor_row_clear(row);
    AW_TRY(aw_simulation_stats(sim, &stats));
    row->step = sim->step;
    row->time = aw_simulation_ct(sim) / AW_C;
    row->s_ref = sim->S_ref;
    row->charge = sim->field.charge;
    row->energy_change_mean = stats.energy_mean;
    row->energy_change_rms = stats.energy_rms;
    row->isr_loss_mean = stats.isr_mean;
    row->isr_rms = stats.isr_rms;
    if (sim->wakes) row->wake_loss_mean = sim->wake_loss;
    row->energy_mean = stats.energy;
    row->cavity_gain_mean = aw_simulation_cavity_gain(sim, &stats);
    row->sigma_s = stats.sigma_s;
    row->sigma_x = stats.sigma_x;
    if (!sim->line) row->sigma_y = sqrt(sim->field.height2);
    row->emittance_x = stats.emittance;
    row->emittance_x_dispersion_free = stats.emittance_free;
    memcpy(row->seconds, sim->seconds, sizeof row->seconds);
    if (!sim->solved) return AW_OK;
    row->F_s_mean = sim->force_stats.mean_s;
    row->F_s_peak = sim->force_stats.peak_s;
    row->F_x_mean = sim->force_stats.mean_n;
    row->F_x_peak = sim->force_stats.peak_n;
    if (sim->force_error_known) {
        row->F_s_error = sim->force_error.s;
        row->F_x_error = sim->force_error.x;
    }
    const aw_current_top top =
        aw_current_peak(sim->field.view, &sim->field.frame.grid, sim->field.point, sim->bin);
    row->current_peak = top.peak;
    row->current_peak_width = top.width;
    if (sim->line) return AW_OK; /* no solver worked */
    row->F_s_eff_mean =
        aw_charge_mean(sim->field.view, aw_self_field_felt(&sim->field), sim->field.forces.Fs_eff);
    row->evaluations = (double)sim->field.report.work.evaluations;
    row->error_estimate = sim->field.report.error;
    row->fell_back = (double)sim->field.report.fell_back;
    if (sim->field.report.samples > 0) row->error_sampled = sim->field.report.sampled;
done:
    return status;
}

double aw_simulation_at(const aw_simulation *sim, const double *field, double s, double x)
{
    aw_orbit_point at = aw_orbit_at(&sim->config->lattice->orbit, sim->field.frame.grid.S + s);
    double offset = sim->field.frame.grid.offset + x;
    return aw_gather_at(&sim->field.frame.grid, field, at.z - offset * at.st,
                        at.x + offset * at.ct);
}
