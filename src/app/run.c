/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake run`: the time loop, its output, and how it ends. */
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/app/options.h"
#include "src/app/summary.h"
#include "src/base/comm.h"
#include "src/base/command.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/io/file.h"
#include "src/output/progress.h"
#include "src/output/report.h"
#include "src/simulation/diag.h"
#include "src/simulation/simulation.h"
#include "src/tune/file.h"

/* Set by the first ^C or SIGTERM; a second one ends the process at once. */
static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number)
{
    (void)signal_number;
    stop_requested = 1;
}

static void catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = request_stop;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

typedef struct run {
    const aw_config *config;
    aw_simulation *sim;
    aw_diag *diag;
    aw_monitor *monitor;
    aw_progress progress;
    char *text;     /* resolved input, owned */
    size_t next_at; /* index of the first config->at_m not yet reached */
    long meshes;    /* mesh files written */
    int quiet;      /* no report */

    double worst;     /* largest error estimate of all solves, relative to the scales; or NaN */
    int table_kind;   /* what aw_summary_forces returned for `table` */
    char table[2048]; /* forces at the last mesh step in a bend, or else at the last mesh step */
} run;

/* Has the bunch centre reached S [m]? A step is beta c dt long, a little less than the c dt that
 * users count with, so a thousandth of a step may be missing. */
static int reached(const run *r, double S) { return r->sim->S_ref >= S - 1e-3 * r->config->step_m; }

/* Does this step write meshes? */
static int mesh_due(run *r)
{
    const aw_config *config = r->config;
    int due = r->sim->step == r->sim->plan.steps;
    if (config->every > 0 && r->sim->step % config->every == 0) due = 1;
    while (r->next_at < config->at_n && reached(r, config->at_m[r->next_at])) {
        due = 1;
        r->next_at++;
    }
    return due;
}

static int solve_due(const run *r, int meshes)
{
    const aw_config *config = r->config;
    if (config->motion == AW_MOTION_SELF_CONSISTENT) return 1;
    return meshes || (config->solve_every > 0 && r->sim->step % config->solve_every == 0);
}

static aw_status output_step(run *r, int meshes)
{
    const aw_config *config = r->config;
    aw_simulation *sim = r->sim;
    aw_status status = AW_OK;
    aw_monitor_row row;
    double begin = aw_now();
    /* openPMD-viewer reads the list of species from the first file of a series. */
    int particles = config->particles_every > 0 &&
                    (sim->step % config->particles_every == 0 || (meshes && r->meshes == 0));
    if (meshes) {
        AW_TRY(aw_diag_write(r->diag, sim, config->directory, particles));
        r->meshes++;
        char table[sizeof r->table];
        int kind = aw_summary_forces(sim, table, sizeof table);
        if (kind > 0 && kind >= r->table_kind) {
            memcpy(r->table, table, sizeof table);
            r->table_kind = kind;
        }
    }
    AW_TRY(aw_simulation_monitor(sim, &row));
    sim->seconds[AW_PART_OUTPUT] = row.seconds[AW_PART_OUTPUT] = aw_now() - begin;
    AW_TRY(aw_monitor_write(r->monitor, &row));
done:
    return status;
}

static aw_status one_step(run *r)
{
    const aw_config *config = r->config;
    aw_simulation *sim = r->sim;
    aw_status status = AW_OK;
    int meshes = mesh_due(r);
    if (config->particles_every > 0 && sim->step % config->particles_every == 0) meshes = 1;
    AW_TRY(aw_simulation_deposit(sim));
    if (solve_due(r, meshes)) {
        AW_TRY(aw_simulation_solve(sim));
        if (!(sim->report.error <= r->worst) && !isnan(r->worst)) r->worst = sim->report.error;
    }
    AW_TRY(aw_simulation_synchronise(sim));
    AW_TRY(output_step(r, meshes));
done:
    return status;
}

static aw_status loop(run *r)
{
    aw_simulation *sim = r->sim;
    aw_status status = AW_OK;
    for (;;) {
        AW_TRY(one_step(r));
        aw_progress_step(&r->progress, sim->seconds);
        if (sim->step == sim->plan.steps) break;
        if (stop_requested) {
            aw_progress_clear(&r->progress);
            status = aw_error(AW_ERR_INTERRUPTED,
                              "stopped by a signal after step %ld of %ld, S = "
                              "%.6g m; the files written so far are complete",
                              sim->step, sim->plan.steps, sim->S_ref);
            goto done;
        }
        AW_TRY(aw_simulation_advance(sim));
    }
done:
    return status;
}

/* Create the directory, run.log, resolved.yaml and monitor.csv. */
static aw_status open_output(run *r, int force)
{
    const char *directory = r->config->directory;
    char path[AW_PATH_MAX_LEN + 32];
    aw_status status = AW_OK;
    AW_TRY(aw_directory_make(directory, force));
    snprintf(path, sizeof path, "%s/run.log", directory);
    AW_TRY(aw_log_open(path));
    snprintf(path, sizeof path, "%s/resolved.yaml", directory);
    AW_TRY(aw_file_replace(path, r->text, strlen(r->text)));
    snprintf(path, sizeof path, "%s/monitor.csv", directory);
    AW_TRY(aw_monitor_open(path, &r->monitor));
done:
    return status;
}

static void finish(run *r, double seconds)
{
    const aw_simulation *sim = r->sim;
    double predicted = (double)(sim->plan.history_bytes + sim->plan.other_bytes);
    aw_info("%ld steps in %.1f s; %ld mesh file%s in %s/diag; largest error estimate %.2g of the "
            "scales (requested: %.2g)",
            sim->step, seconds, r->meshes, r->meshes == 1 ? "" : "s", r->config->directory,
            r->worst, r->config->tolerance);
    aw_info("memory: predicted %.0f MiB, peak %.0f MiB", predicted / 1048576.0,
            (double)aw_memory_peak() / 1048576.0);
    if (r->table_kind > 0) aw_info("%s", r->table);
    aw_summary_print(sim);
    if (!r->quiet && aw_report_try(r->config->directory))
        aw_info("report: %s/report.html, picture: %s/forces.png", r->config->directory,
                r->config->directory);
}

/* A worker rank: carries out the commands of rank 0 until that sends the last. Signals are handled
 * by rank 0 alone. */
static void work_for_root(aw_simulation *sim)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    aw_log_mute(0); /* errors and warnings from here on are this rank's own */
    aw_log_quiet(1);
    aw_simulation_worker(sim);
}

/* Unless told otherwise, mpirun binds each rank to one core, which all of its threads then
 * share. */
static void warn_of_threads(const aw_config *config)
{
    const int threads = config->threads > 0 ? config->threads : omp_get_max_threads();
    if (aw_comm_size() > 1 && threads > omp_get_num_procs())
        aw_warn("rank 0 has %d threads and may use %d CPU%s (mpirun: --bind-to none, or --map-by "
                "slot:PE=%d --bind-to core)",
                threads, omp_get_num_procs(), omp_get_num_procs() > 1 ? "s" : "", threads);
    if (aw_comm_size() > 1)
        aw_info("%d ranks share the particles and the potentials", aw_comm_size());
}

static aw_status run_command(int argc, char **argv)
{
    static aw_options options; /* too large for the stack; a process runs one command */
    aw_status status = AW_OK;
    aw_config *config = NULL;
    run r = {0};
    double begin = aw_now();
    AW_TRY(aw_options_read(argc, argv, &options));
    aw_log_quiet(options.quiet);
    AW_TRY(aw_options_config(&options, &config));
    aw_tuning_load(&config->tuning);
    r.config = config;
    r.quiet = options.quiet;
    aw_plan plan;
    aw_plan_make(config, &plan);
    AW_TRY(aw_plan_check(config, &plan));
    r.text = aw_config_text(config);
    if (!r.text) AW_TRY(aw_error(AW_ERR_NOMEM, "out of memory"));
    status = aw_simulation_new(config, NULL, 1, &r.sim);
    AW_TRY(aw_simulation_ranks_begin(r.sim, status));
    if (aw_comm_rank() > 0) {
        work_for_root(r.sim);
        goto done;
    }
    warn_of_threads(config);
    AW_TRY(aw_diag_new(r.sim, r.text, &r.diag));
    AW_TRY(open_output(&r, options.force));
    aw_summary_begin(r.sim);
    AW_TRY(aw_simulation_offload(r.sim));
    aw_plan_warn(config, &plan);
    catch_signals();
    aw_progress_begin(&r.progress, stderr, plan.steps + 1, options.quiet);
    status = loop(&r);
    if (status == AW_OK)
        aw_progress_end(&r.progress);
    else
        aw_progress_clear(&r.progress);
    if (status == AW_OK) finish(&r, aw_now() - begin);
done:
    if (r.monitor && aw_monitor_close(r.monitor) != AW_OK && status == AW_OK) status = AW_ERR_IO;
    aw_diag_free(r.diag);
    aw_simulation_free(r.sim);
    free(r.text);
    aw_config_free(config);
    aw_log_close();
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
    "  --set KEY=VALUE       set any key of the input, e.g. numerics.grid=[64,64]; repeatable\n"
    "  --quiet               errors and warnings only, and no report (arcwake report DIR)\n"
    "Exit status: 0 done; 2 wrong usage or input (nothing written); 3 the numbers went wrong;\n"
    "4 files, memory or devices; 75 stopped by a signal between two steps.\n";

const aw_command aw_run_command = {
    .name = "run",
    .usage = "run INPUT.yaml",
    .summary = "compute, write DIR (openPMD meshes, monitor.csv, report)",
    .help = help,
    .run = run_command,
    .on_all_ranks = 1,
};
