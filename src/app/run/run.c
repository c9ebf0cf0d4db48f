/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake run`: the time loop, its output, and how it ends. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/app/estimate.h"
#include "src/app/options.h"
#include "src/app/run/restart.h"
#include "src/app/signals.h"
#include "src/app/spectrum/command.h"
#include "src/app/summary.h"
#include "src/app/version.h"
#include "src/base/comm.h"
#include "src/base/command.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/input/resolved.h"
#include "src/io/directory.h"
#include "src/io/file.h"
#include "src/output/progress.h"
#include "src/output/report.h"
#include "src/plan/choose.h"
#include "src/plan/plan_memory.h"
#include "src/simulation/diag.h"
#include "src/simulation/force_error.h"
#include "src/simulation/ranks.h"
#include "src/simulation/simulation.h"
#include "src/simulation/state.h"
#include "src/tuning/file.h"

typedef struct run {
    const aw_config *config;
    aw_simulation *sim;
    aw_diag *diag;
    aw_monitor *monitor;
    aw_directory *directory;
    aw_progress progress;
    char *text;                         /* of resolved.yaml, owned */
    size_t next_at, next_particles_at;  /* first of at_m and particles_at_m not yet reached */
    long meshes;                        /* mesh files written */
    long steps;                         /* done; the first is step 0 */
    int quiet;                          /* no report */
    double begin, max_time, stop_after; /* time of the start; limits of the run, 0: none [s] */
    aw_checkpoint from; /* that the run goes on from; no path: it begins at the start */
    long first;         /* step with which this process began */

    int broken;             /* rules of which the run has warned, AW_RULE_.. */
    double cells;           /* per sigma_s at the warning, */
    aw_plan_bunch coarsest; /* and the bunch with the fewest since then */
    double worst; /* largest error estimate of all solves, relative to the scales; or NaN */
    double F_s, F_s_error, F_x, F_x_error; /* largest of the run, and estimated errors [eV/m] */
    int table_kind;                        /* what aw_summary_forces returned for `table` */
    char table[2048];                      /* forces at the last mesh step of the highest kind */
} run;

/* Has the bunch centre reached S [m]? A step is beta c dt long, a little less than the c dt that
 * users count with, so a thousandth of a step may be missing. */
static int reached(const run *r, double S)
{
    return r->sim->S_ref >= S - 1e-3 * aw_simulation_cdt(r->sim);
}

/* Has one of n places, or several, been reached since the last step? *next: the first that has
 * not. */
static int place_reached(const run *r, const double *place, size_t n, size_t *next)
{
    const size_t before = *next;
    while (*next < n && reached(r, place[*next])) ++*next;
    return *next > before;
}

/* What this step writes. openPMD-viewer reads the list of species from the first file of a series,
 * and the last one has particles. */
static void output_due(run *r, int *meshes, int *particles)
{
    const aw_config *config = r->config;
    const long step = r->sim->step;
    const int last = aw_simulation_is_last(r->sim);
    *particles = last || (config->particles_every > 0 && step % config->particles_every == 0);
    *particles |=
        place_reached(r, config->particles_at_m, config->particles_at_n, &r->next_particles_at);
    *meshes = *particles || (config->every > 0 && step % config->every == 0);
    *meshes |= place_reached(r, config->at_m, config->at_n, &r->next_at);
    if (*meshes && r->meshes == 0) *particles = 1;
}

static int solve_due(const run *r, int meshes)
{
    const aw_config *config = r->config;
    if (config->motion == AW_MOTION_SELF_CONSISTENT || config->line) return 1;
    return meshes || (config->solve_every > 0 && r->sim->step % config->solve_every == 0);
}

/* Spacing of the grid along the orbit, to which its axes are tilted. */
static double spacing_along(const aw_grid_view *grid)
{
    return fmax(grid->hs * fabs(cos(grid->tilt)), grid->hx * fabs(sin(grid->tilt)));
}

/* Warn, once of each, of a bunch that has become too short for the step or the grid. */
static void watch_bunch(run *r, const aw_monitor_row *row)
{
    const aw_simulation *sim = r->sim;
    const aw_grid_view *grid = &sim->field.frame.grid;
    const aw_plan_bunch bunch = {.S = sim->S_ref,
                                 .kappa = aw_orbit_at(&r->config->lattice->orbit, sim->S_ref).kappa,
                                 .sigma_s = row->sigma_s,
                                 .step = aw_simulation_cdt(sim),
                                 .spike = row->current_peak_width,
                                 .h_s = spacing_along(grid)};
    const int now = aw_plan_broken(r->config, &sim->plan, &bunch), broken = now & ~r->broken;
    if (broken & AW_RULE_CELLS) r->cells = aw_plan_cells(&bunch);
    if (broken & AW_RULE_CELLS ||
        (now & AW_RULE_CELLS && aw_plan_cells(&bunch) < aw_plan_cells(&r->coarsest)))
        r->coarsest = bunch;
    if (!broken) return;
    aw_progress_clear(&r->progress);
    aw_plan_warn_broken(&bunch, broken);
    r->broken |= broken;
}

static aw_status output_step(run *r, int meshes, int particles)
{
    const aw_config *config = r->config;
    aw_simulation *sim = r->sim;
    aw_status status = AW_OK;
    aw_monitor_row row;
    double begin = aw_now();
    AW_TRY(aw_directory_check(r->directory));
    if (meshes) {
        AW_TRY(aw_diag_write(r->diag, sim, config->directory, particles));
        r->meshes++;
        char table[sizeof r->table] = "";
        int kind = aw_summary_forces(sim, table, sizeof table);
        if (kind > 0 && kind >= r->table_kind) {
            memcpy(r->table, table, sizeof table);
            r->table_kind = kind;
        }
    }
    AW_TRY(aw_simulation_monitor(sim, &row));
    watch_bunch(r, &row);
    sim->seconds[AW_PART_OUTPUT] = row.seconds[AW_PART_OUTPUT] = aw_now() - begin;
    AW_TRY(aw_monitor_write(r->monitor, &row));
done:
    return status;
}

/* The larger number; a NaN stays. */
static double larger(double a, double b) { return isnan(a) || a >= b ? a : b; }

/* The line model has no quadrature whose error could be measured. */
static int force_error_due(const run *r, int meshes)
{
    return !r->config->line && (meshes || r->sim->step % AW_FORCE_ERROR_EVERY == 0);
}

static void record_force_error(run *r)
{
    const aw_simulation *sim = r->sim;
    r->F_s = larger(r->F_s, sim->F_s_largest);
    r->F_x = larger(r->F_x, sim->F_x_largest);
    r->F_s_error = larger(r->F_s_error, sim->force_error.s);
    r->F_x_error = larger(r->F_x_error, sim->force_error.x);
}

static aw_status one_step(run *r)
{
    aw_simulation *sim = r->sim;
    aw_status status = AW_OK;
    int meshes = 0, particles = 0;
    output_due(r, &meshes, &particles);
    AW_TRY(aw_simulation_deposit(sim));
    if (solve_due(r, meshes)) {
        AW_TRY(meshes ? aw_simulation_solve(sim) : aw_simulation_solve_felt(sim));
        r->worst = larger(r->worst, sim->field.report.error);
        if (force_error_due(r, meshes)) AW_TRY(aw_simulation_force_error(sim));
        if (sim->force_error_known) record_force_error(r);
    }
    AW_TRY(aw_simulation_synchronise(sim));
    AW_TRY(output_step(r, meshes, particles));
done:
    return status;
}

/* @return why the run is to stop, or NULL */
static const char *stop_asked(const run *r)
{
    const double spent = aw_now() - r->begin;
    if (aw_signals_stop()) return "by a signal";
    if (r->max_time > 0.0 && spent > r->max_time) return "at --max-time";
    return r->stop_after > 0.0 && spent > r->stop_after ? "at --stop-after" : NULL;
}

/* Before the first step of this process there is nothing to keep.
 * @return AW_OK, or AW_ERR_INTERRUPTED (message) */
static aw_status stop_at_once(run *r)
{
    const char *why = stop_asked(r);
    if (!why) return AW_OK;
    aw_progress_clear(&r->progress);
    return aw_error(AW_ERR_INTERRUPTED, "stopped %s before the first step%s", why,
                    r->directory ? "" : "; nothing was written");
}

/* What a run knows beside its simulation. */
static void archive_run(run *r, aw_archive *archive)
{
    AW_ARCHIVE_ITEM(archive, r->next_at);
    AW_ARCHIVE_ITEM(archive, r->next_particles_at);
    AW_ARCHIVE_ITEM(archive, r->meshes);
    AW_ARCHIVE_ITEM(archive, r->steps);
    AW_ARCHIVE_ITEM(archive, r->broken);
    AW_ARCHIVE_ITEM(archive, r->cells);
    AW_ARCHIVE_ITEM(archive, r->coarsest);
    AW_ARCHIVE_ITEM(archive, r->worst);
    AW_ARCHIVE_ITEM(archive, r->F_s);
    AW_ARCHIVE_ITEM(archive, r->F_s_error);
    AW_ARCHIVE_ITEM(archive, r->F_x);
    AW_ARCHIVE_ITEM(archive, r->F_x_error);
    AW_ARCHIVE_ITEM(archive, r->table_kind);
    AW_ARCHIVE_ITEM(archive, r->table);
    aw_simulation_archive(r->sim, archive);
}

/* Write a checkpoint, right after the particles have advanced. */
static aw_status save_checkpoint(run *r)
{
    aw_checkpoint file;
    aw_status status = aw_directory_check(r->directory);
    if (status != AW_OK) return status;
    status = aw_checkpoint_create(r->config->directory, r->sim->step - 1, r->text, &file);
    if (status != AW_OK) return status;
    archive_run(r, &file.archive);
    return aw_checkpoint_commit(&file);
}

/* @return AW_ERR_INTERRUPTED (message), or the error of the checkpoint */
static aw_status stop(run *r, const char *why, double S)
{
    const aw_simulation *sim = r->sim;
    aw_progress_clear(&r->progress);
    const aw_status status = save_checkpoint(r);
    if (status != AW_OK) return status;
    return aw_error(AW_ERR_INTERRUPTED,
                    "stopped %s after step %ld of %ld, S = %.6g m; the files written so far are "
                    "complete, and --restart goes on",
                    why, sim->step - 1, sim->plan.steps, S);
}

static int checkpoint_due(const run *r)
{
    const int every = r->config->checkpoint_every;
    return every > 0 && r->sim->step % every == 0;
}

static aw_status loop(run *r)
{
    aw_simulation *sim = r->sim;
    aw_status status = AW_OK;
    for (;;) {
        AW_TRY(one_step(r));
        r->steps++;
        aw_progress_expect(&r->progress, sim->plan.steps + lround(sim->extra) + 1 - r->first);
        aw_progress_step(&r->progress, sim->seconds);
        if (aw_simulation_is_last(sim)) break;
        const char *why = stop_asked(r);
        const double S = sim->S_ref;
        AW_TRY(aw_simulation_advance(sim));
        if (why) AW_TRY(stop(r, why, S));
        if (checkpoint_due(r)) AW_TRY(save_checkpoint(r));
    }
done:
    return status;
}

/* Create the directory, resolved.yaml, run.log and monitor.csv, or go on with them. resolved.yaml
 * comes first: it marks the directory as arcwake's (src/io/directory.h). */
static aw_status open_output(run *r, int force)
{
    const char *directory = r->config->directory;
    const int goes_on = r->first > 0;
    char path[AW_PATH_MAX_LEN + 32];
    aw_status status = AW_OK;
    AW_TRY(aw_directory_open(directory,
                             goes_on ? AW_DIRECTORY_CONTINUE
                             : force ? AW_DIRECTORY_REPLACE
                                     : AW_DIRECTORY_EMPTY,
                             &r->directory));
    snprintf(path, sizeof path, "%s/resolved.yaml", directory);
    if (!goes_on) AW_TRY(aw_file_replace(path, r->text, strlen(r->text)));
    AW_TRY(aw_directory_watch(r->directory, "resolved.yaml"));
    snprintf(path, sizeof path, "%s/run.log", directory);
    AW_TRY(goes_on ? aw_log_reopen(path) : aw_log_open(path));
    snprintf(path, sizeof path, "%s/monitor.csv", directory);
    AW_TRY(goes_on ? aw_monitor_reopen(path, r->first - 1, &r->monitor)
                   : aw_monitor_open(path, &r->monitor));
    AW_TRY(aw_directory_watch(r->directory, "monitor.csv"));
    if (goes_on) aw_checkpoint_remove_later(directory, r->first - 1);
done:
    return status;
}

/* Close what open_output opened, the lock last. @return `status`, or the first error if that is
 * AW_OK */
static aw_status close_output(run *r, aw_status status)
{
    const aw_status monitor = aw_monitor_close(r->monitor), log = aw_log_close();
    if (status == AW_OK) status = monitor != AW_OK ? monitor : log;
    aw_directory_close(r->directory);
    return status;
}

static void finish(run *r, double seconds)
{
    const aw_simulation *sim = r->sim;
    double predicted = (double)(sim->plan.history_bytes + sim->plan.other_bytes);
    char error[96] = "", steps[256];
    if (!r->config->line)
        snprintf(error, sizeof error,
                 "; largest error estimate %.2g of the scales (requested: %.2g)", r->worst,
                 r->config->tolerance);
    aw_info("%ld steps in %.1f s; %ld mesh file%s in %s/diag%s", sim->step - r->first, seconds,
            r->meshes, r->meshes == 1 ? "" : "s", r->config->directory, error);
    if (sim->extra > 0.0)
        aw_info("steps: %ld were planned; some were halved, as often as %d times, where the force "
                "changed faster than lattice and bunch had told",
                sim->plan.steps, sim->most_halved);
    if (aw_step_check_text(&sim->check, sim->plan.beta, r->config->step_scale, steps, sizeof steps))
        aw_warn("%s", steps);
    if (r->broken & AW_RULE_CELLS && aw_plan_cells(&r->coarsest) < 0.5 * r->cells)
        aw_plan_warn_broken(&r->coarsest, AW_RULE_CELLS);
    if (r->F_s > 0.0 && r->F_x > 0.0)
        aw_info("forces: largest error estimate %.2g of the largest F_z and %.2g of the largest "
                "F_x (%.3g and %.3g eV/m), from the quadrature alone",
                r->F_s_error / r->F_s, r->F_x_error / r->F_x, r->F_s, r->F_x);
    aw_info("memory: predicted %.0f MiB, peak %.0f MiB", predicted / 1048576.0,
            (double)aw_memory_peak() / 1048576.0);
    if (r->table_kind > 0) aw_info("%s", r->table);
    aw_summary_print(sim);
}

/* What is made of the files of a run: its spectrum, if it was asked for, and the report. By now
 * rank 0 is alone. */
static aw_status make_results(const run *r)
{
    const char *directory = r->config->directory;
    aw_status status = AW_OK;
    if (r->config->spectrum) AW_TRY(aw_spectrum_of_run(directory, r->config->threads, r->quiet));
    if (!r->quiet && aw_report_try(directory))
        aw_info("report: %s/report.html, picture: %s/forces.png", directory, directory);
done:
    return status;
}

/* A worker rank: carries out the commands of rank 0 until that sends the last. */
static void work_for_root(aw_simulation *sim)
{
    aw_log_mute(0); /* errors and warnings from here on are this rank's own */
    aw_log_quiet(1);
    aw_simulation_worker(sim);
}

/* Unless told otherwise, mpirun binds each rank to one core, which all of its threads then
 * share. */
static void warn_of_threads(const aw_config *config)
{
    const int threads = aw_plan_threads(config);
    if (aw_comm_size() > 1 && threads > omp_get_num_procs())
        aw_warn("rank 0 has %d threads and may use %d CPU%s (mpirun: --bind-to none, or --map-by "
                "slot:PE=%d --bind-to core)",
                threads, omp_get_num_procs(), omp_get_num_procs() > 1 ? "s" : "", threads);
    if (aw_comm_size() > 1)
        aw_info("%d ranks share the particles and the potentials", aw_comm_size());
}

/* Read options and input, and make the plan. What was made is freed by the caller, also after an
 * error. */
static aw_status read_input(int argc, char **argv, aw_options *options, aw_config **config,
                            aw_plan *plan)
{
    aw_status status = AW_OK;
    AW_TRY(aw_options_read(argc, argv, options));
    aw_log_quiet(options->quiet);
    AW_TRY(aw_options_config(options, config));
    aw_tuning_load(&(*config)->tuning);
    AW_TRY(aw_plan_make(*config, plan));
    AW_TRY(aw_plan_check(*config, plan));
    AW_TRY(aw_plan_memory(*config, plan));
    if ((*config)->spectrum) AW_TRY(aw_spectrum_check(*config, plan));
done:
    return status;
}

/* Refuse a run that would take longer than --max-time, before anything is written. What the
 * estimate cannot say (of several ranks, say) is left to the limit itself. */
static aw_status check_time(const run *r, const aw_plan *plan)
{
    aw_estimate estimate;
    if (!(r->max_time > 0.0) || aw_comm_size() > 1) return AW_OK;
    aw_status status = aw_estimate_make(r->config, plan, aw_signals_stop, &estimate);
    const double total = estimate.total, left = r->max_time - (aw_now() - r->begin);
    if (status == AW_OK) aw_estimate_print(r->config, &estimate);
    aw_estimate_free(&estimate);
    if (status == AW_ERR_INTERRUPTED || status == AW_ERR_NOMEM) return AW_OK; /* told at set-up */
    if (status != AW_OK || total <= left) return AW_OK;
    return aw_error(AW_ERR_ARG,
                    "--max-time: the run takes about %.3g s, and %.3g s of %.3g are left (expected "
                    "--max-time %.0f or more, a larger accuracy or tolerance, or a coarser grid)",
                    total, fmax(left, 0.0), r->max_time, ceil(1.5 * total + r->max_time - left));
}

/* Load the state from which the run goes on. All ranks must call this. */
static aw_status load_state(run *r)
{
    archive_run(r, &r->from.archive);
    const aw_status status = aw_checkpoint_close(&r->from);
    r->first = r->sim->step;
    return aw_comm_agree(status);
}

/* Set up the simulation, on all ranks. */
static aw_status set_up(run *r, const aw_options *options, aw_status status)
{
    char program[AW_PROGRAM_SIZE];
    aw_version_program(program);
    if (status == AW_OK) {
        r->text = aw_resolved_text(r->config, program);
        if (!r->text) status = aw_error(AW_ERR_NOMEM, "out of memory");
    }
    status = aw_ranks_agree(r->text, status);
    if (status == AW_OK && options->restart)
        status = aw_restart_open(options, r->config, r->text, &r->from);
    if (status != AW_OK) return status;
    status = aw_simulation_new(r->config, NULL, 1, &r->sim);
    if (status == AW_OK) aw_simulation_expect_felt(r->sim, r->config->motion);
    if (options->restart) {
        status = aw_comm_agree(status);
        if (status == AW_OK) status = load_state(r);
    }
    if (status == AW_OK) status = stop_at_once(r);
    return aw_simulation_ranks_begin(r->sim, status);
}

static aw_status run_command(int argc, char **argv)
{
    static aw_options options; /* too large for the stack; a process runs one command */
    aw_status status = AW_OK;
    aw_config *config = NULL;
    run r = {0};
    aw_plan plan;
    r.begin = aw_now();
    if (aw_comm_rank() > 0)
        aw_signals_ignore(); /* rank 0 handles them for all */
    else
        aw_signals_catch();
    status = read_input(argc, argv, &options, &config, &plan);
    r.config = config;
    r.quiet = options.quiet;
    r.max_time = options.max_time;
    r.stop_after = options.stop_after;
    if (status == AW_OK) status = check_time(&r, &plan);
    AW_TRY(set_up(&r, &options, status));
    if (!config || !r.sim) goto done; /* never: they are set up */
    if (aw_comm_rank() > 0) {
        work_for_root(r.sim);
        goto done;
    }
    warn_of_threads(config);
    AW_TRY(aw_diag_new(r.sim, r.text, &r.diag));
    AW_TRY(open_output(&r, options.force));
    aw_summary_begin(r.sim);
    if (r.first > 0)
        aw_info("restart: goes on with step %ld of %ld, S = %.6g m", r.first, plan.steps,
                r.sim->S_ref);
    AW_TRY(aw_simulation_offload(r.sim));
    aw_plan_warn(config, &plan);
    aw_choose_warn(config);
    aw_progress_begin(&r.progress, stderr, plan.steps + 1 - r.first, options.quiet);
    status = stop_at_once(&r);
    if (status == AW_OK) status = loop(&r);
    if (status == AW_OK) status = aw_directory_check(r.directory);
    if (status == AW_OK)
        aw_progress_end(&r.progress);
    else
        aw_progress_clear(&r.progress);
    if (status == AW_OK) finish(&r, aw_now() - r.begin);
    aw_simulation_free(r.sim); /* lets the other ranks go */
    r.sim = NULL;
    aw_comm_alone();
    if (status == AW_OK) status = make_results(&r);
done:
    status = close_output(&r, status);
    aw_checkpoint_abandon(&r.from);
    aw_diag_free(r.diag);
    aw_simulation_free(r.sim);
    free(r.text);
    aw_config_free(config);
    return status;
}

static const char help[] =
    "arcwake run INPUT.yaml [options]\n"
    "  -o DIR, --output DIR  output directory (key output.directory)\n"
    "  --force               write into a directory that is not empty\n"
    "  --solver NAME         projection | predictive | heterogeneous | heuristic | two-phase |\n"
    "                        adaptive (key numerics.solver)\n"
    "  --device LIST         auto | cpu | manycore | cuda, or several: cpu,cuda:0 (key device)\n"
    "  --threads N           threads of the CPU device and of everything else\n"
    "  --steps N             stop after N steps\n"
    "  --solve-every N       rigid and external motion: solve every N steps, too\n"
    "  --max-time T          seconds, or e.g. 30min, 2h: refuse a run that would take longer, by\n"
    "                        a few solves, and stop at T between two steps\n"
    "  --stop-after T        stop at T between two steps, with a checkpoint\n"
    "  --restart[=FILE]      go on from the newest checkpoint of the output directory, or from "
    "FILE\n"
    "  --set KEY=VALUE       set any key of the input, e.g. numerics.grid=[64,64]; repeatable\n"
    "  --quiet               errors and warnings only, and no report (arcwake report DIR)\n"
    "Exit status: 0 done; 2 wrong usage or input (nothing written); 3 the numbers went wrong;\n"
    "4 files, memory or devices; 75 stopped by a signal (INT, TERM, HUP, USR1), at\n"
    "--max-time or --stop-after, between two steps, with a checkpoint (--restart goes\n"
    "on; a second signal ends the process at once).\n";

const aw_command aw_run_command = {
    .name = "run",
    .usage = "run INPUT.yaml",
    .summary = "compute, write DIR (openPMD meshes, monitor.csv, report)",
    .help = help,
    .run = run_command,
    .on_all_ranks = 1,
    .stdout_in_files = 1, /* run.log */
};
