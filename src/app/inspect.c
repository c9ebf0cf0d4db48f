/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake inspect`: the resolved input, and the memory and time of a run; runs nothing. */
#include <math.h>
#include <stdlib.h>

#include "src/app/options.h"
#include "src/app/summary.h"
#include "src/base/command.h"
#include "src/base/log.h"
#include "src/simulation/simulation.h"

/* Time of one solve on one thread, per point and side of the grid [s], from `arcwake bench` (LCLS
 * bend, tolerance 1e-6; AVX-512 at about 4 GHz). Machine and bunch change it by a factor of a
 * few. */
#define AW_SECONDS_PER_POINT_CELL 1.1e-5

static void print_time(const aw_config *config, const aw_plan *plan)
{
    double points = (double)config->grid[0] * config->grid[1];
    double solve = AW_SECONDS_PER_POINT_CELL * points * sqrt(points);
    const long meshes = config->every > 0 ? plan->steps / config->every : 0;
    double solves = config->motion == AW_MOTION_SELF_CONSISTENT
                        ? (double)plan->steps + 1.0
                        : (double)config->at_n + 1.0 + (double)meshes;
    aw_info("time         about %.0f solves of %.2g s on one thread", solves, solve);
}

static aw_status run_command(int argc, char **argv)
{
    static aw_options options; /* too large for the stack; a process runs one command */
    aw_status status = AW_OK;
    aw_config *config = NULL;
    char *text = NULL;
    aw_plan plan;
    AW_TRY(aw_options_read(argc, argv, &options));
    AW_TRY(aw_options_config(&options, &config));
    text = aw_config_text(config);
    if (!text) AW_TRY(aw_error(AW_ERR_NOMEM, "out of memory"));
    aw_info("# resolved input of %s", config->path);
    aw_info("%s", text);
    aw_plan_make(config, &plan);
    aw_summary_plan(config, &plan);
    print_time(config, &plan);
    aw_plan_warn(config, &plan);
    status = aw_plan_check(config, &plan);
done:
    free(text);
    aw_config_free(config);
    return status;
}

static const char help[] =
    "arcwake inspect INPUT.yaml [--set KEY=VALUE]... [--steps N]\n"
    "Prints the resolved input, derived lengths, grid, memory and an estimate of the time, and\n"
    "warns of steps, grids or particle numbers that are too coarse.\n";

const aw_command aw_inspect_command = {
    .name = "inspect",
    .usage = "inspect INPUT.yaml",
    .summary = "resolved input, lengths, memory, time; runs nothing",
    .help = help,
    .run = run_command,
};
