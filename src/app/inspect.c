/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake inspect`: the resolved input, the optics, and the memory and time of a run; writes
 * nothing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device/device.h"
#include "src/app/estimate.h"
#include "src/app/options.h"
#include "src/app/summary.h"
#include "src/base/command.h"
#include "src/base/log.h"
#include "src/plan/choose.h"
#include "src/plan/optics.h"
#include "src/plan/plan_memory.h"
#include "src/simulation/simulation.h"
#include "src/tuning/file.h"

/* Lines of the table of optics, at most. */
#define AW_TABLE_LINES 24

/* The time of the run, if it may run at all. */
static void print_time(const aw_config *config, const aw_plan *plan)
{
    aw_estimate estimate;
    const aw_status status = aw_estimate_make(config, plan, NULL, &estimate);
    if (status == AW_OK)
        aw_estimate_print(config, &estimate);
    else
        aw_info("time         not known: %s", aw_status_text(status));
    aw_estimate_free(&estimate);
}

/* The points of the table: the start, and the ends of all elements, or, of many, of bends and of
 * the lattice. */
static int is_shown(const aw_optics *optics, size_t i, int bends_only)
{
    const aw_optics_point *p = &optics->point[i];
    return i == 0 || i + 1 == optics->n || (p->end && (!bends_only || p->kappa != 0.0));
}

static size_t count_shown(const aw_optics *optics, int bends_only)
{
    size_t n = 0;
    for (size_t i = 0; i < optics->n; ++i) n += (size_t)is_shown(optics, i, bends_only);
    return n;
}

/* A number without the rounding of its derivative. */
static double above(double noise, double value) { return fabs(value) < noise ? 0.0 : value; }

static void print_point(const aw_config *config, const aw_optics_point *p, const char *name)
{
    char twiss[32] = "       -       -", overtaking[16] = "";
    if (!isnan(p->beta_x)) snprintf(twiss, sizeof twiss, "%8.4g%8.3g", p->beta_x, p->alpha_x);
    if (p->end && p->kappa != 0.0)
        snprintf(overtaking, sizeof overtaking, "%7.3g",
                 aw_overtaking_length(p->shortest, p->kappa));
    aw_info("%9.4f %-12.12s%9.4g%9.4g%s%9.4g%9.4g%9.4g%s%9.4g%s", p->S, name,
            above(1e-9, 1e3 * p->R56), above(1e-3, 1e3 * p->T566), twiss, above(1e-6, 1e3 * p->R16),
            above(1e-6, 1e3 * p->R26), 1e6 * p->sigma_s,
            aw_optics_fully_compressed(p, &config->beam) ? "*" : " ", 1e6 * p->sigma_x, overtaking);
}

/* What a * in the table stands for. */
static void print_compressed(const aw_config *config, const aw_optics *optics)
{
    for (size_t i = 0; i < optics->n; ++i) {
        const aw_optics_point *p = &optics->point[i];
        if (!p->end || !aw_optics_fully_compressed(p, &config->beam)) continue;
        aw_info(
            "* full compression, from S = %.4g m on: 1 - h R56 = %.2g leaves %.3g um of sigma_s, "
            "energy spread and T566 make %.3g um",
            p->S, p->compression, 1e6 * fabs(p->compression) * config->beam.sigma_s,
            1e6 * p->sigma_s_energy);
        return;
    }
}

static void print_table(const aw_config *config, const aw_optics *optics)
{
    static const char *const head[2][10] = {
        {"S", "element", "R56", "T566", "beta_x", "alpha_x", "eta_x", "eta_x'", "sigma_s",
         "sigma_x"},
        {"[m]", "", "[mm]", "[mm]", "[m]", "", "[mm]", "[mrad]", "[um]", "[um]"}};
    const int bends_only = count_shown(optics, 0) > AW_TABLE_LINES;
    const size_t n = count_shown(optics, bends_only), half = AW_TABLE_LINES / 2;
    size_t shown = 0;
    for (int i = 0; i < 2; ++i) {
        const char *const *h = head[i];
        aw_info("%9s %-12s%9s%9s%8s%8s%9s%9s%9s %9s%7s", h[0], h[1], h[2], h[3], h[4], h[5], h[6],
                h[7], h[8], h[9], i == 0 ? "L_o" : "[m]");
    }
    for (size_t i = 0; i < optics->n; ++i) {
        if (!is_shown(optics, i, bends_only)) continue;
        ++shown;
        if (n > AW_TABLE_LINES && shown == half + 1)
            aw_info("      ... (%zu more bends)", n - 2 * half);
        if (n > AW_TABLE_LINES && shown > half && shown <= n - half) continue;
        const aw_optics_point *p = &optics->point[i];
        print_point(config, p, i == 0 ? "start" : config->lattice->element[p->element].name);
    }
}

/* How the bunch changes where cavities change its chirp; each of them by R65, if nothing that is
 * dispersive comes between. */
static void print_cavities(const aw_config *config, const aw_optics_point *end)
{
    aw_info("cavities: delta is that at the start, where the chirp is h = %g /m; at the end "
            "R55 = %.4g,",
            config->beam.chirp, end->R55);
    aw_info("R65 = %.4g /m, R66 = %.4g: R55 - h R56 = %.4g, and the chirp is %.4g /m", end->R65,
            end->R66, end->compression, aw_optics_chirp(end, &config->beam));
}

static void print_optics(const aw_config *config)
{
    char chirp[80] = "";
    const int rigid = config->motion == AW_MOTION_RIGID;
    aw_optics *optics = NULL;
    const aw_status status = aw_optics_new(config->lattice, &config->beam, rigid, &optics);
    aw_info("optics       s = s_0 - R56 delta - T566 delta^2 (s > 0 ahead), %s",
            rigid ? "sizes of the rigid bunch" : "sizes without self-force");
    if (status != AW_OK) {
        aw_info("  none: %s", status == AW_ERR_RANGE
                                  ? "a particle of the beam's energy does not reach the end"
                                  : aw_status_text(status));
        return;
    }
    print_table(config, optics);
    const aw_optics_point *end = &optics->point[optics->n - 1];
    if (end->R65 != 0.0 && !rigid)
        print_cavities(config, end);
    else if (end->compression != 1.0)
        snprintf(chirp, sizeof chirp, "; chirp h = %g /m: 1 - h R56 = %.4g at the end",
                 config->beam.chirp, end->compression);
    if (config->lattice->orbit.n > 1)
        aw_info("L_o: overtaking length of the shortest bunch in the bend%s", chirp);
    print_compressed(config, optics);
    aw_optics_free(optics);
}

static aw_status run_command(int argc, char **argv)
{
    static aw_options options; /* too large for the stack; a process runs one command */
    aw_status status = AW_OK;
    aw_config *config = NULL;
    char *text = NULL, lacks[320];
    aw_plan plan;
    AW_TRY(aw_options_read(argc, argv, &options));
    AW_TRY(aw_options_config(&options, &config));
    AW_TRY(aw_device_check(config->device));
    text = aw_config_text(config);
    if (!text) AW_TRY(aw_error(AW_ERR_NOMEM, "out of memory"));
    aw_info("# resolved input of %s", config->path);
    aw_info("%.*s", (int)strlen(text) - 1, text); /* without its last line feed */
    aw_tuning_load(&config->tuning);
    AW_TRY(aw_plan_make(config, &plan));
    aw_summary_choice(config);
    aw_summary_plan(config, &plan);
    status = aw_plan_check(config, &plan);
    if (status == AW_OK && !options.no_timing) print_time(config, &plan);
    print_optics(config);
    /* With the time it has been said as the reason for which there is none. */
    if (options.no_timing && aw_plan_memory_text(config, &plan, lacks, sizeof lacks))
        aw_warn("%s", lacks);
    aw_plan_warn(config, &plan);
    aw_choose_warn(config);
done:
    free(text);
    aw_config_free(config);
    return status;
}

static const char help[] =
    "arcwake inspect INPUT.yaml [--set KEY=VALUE]... [--steps N] [--no-timing]\n"
    "Prints the resolved input, derived lengths, grid and memory; the time of a run on this\n"
    "machine, from a few solves of the case itself at places along the lattice (seconds; not with\n"
    "--no-timing); and the optics of the lattice, with the sizes of the bunch to which it leads\n"
    "without self-force. Warns of steps, grids or particle numbers that are too coarse.\n"
    "  -o DIR, --output DIR, --force, --solver NAME, --device LIST, --threads N,\n"
    "  --solve-every N, --quiet\n"
    "                        as for run (arcwake help run), whose command line may be repeated\n";

const aw_command aw_inspect_command = {
    .name = "inspect",
    .usage = "inspect INPUT.yaml",
    .summary = "resolved input, optics, memory, time; writes nothing",
    .help = help,
    .run = run_command,
};
