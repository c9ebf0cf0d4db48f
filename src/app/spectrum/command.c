/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake spectrum`: what the bunch of a run radiates, and whether its energy balance closes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/app/options.h"
#include "src/app/signals.h"
#include "src/app/spectrum/command.h"
#include "src/app/spectrum/follow.h"
#include "src/app/spectrum/wish.h"
#include "src/app/version.h"
#include "src/base/comm.h"
#include "src/base/command.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/io/file.h"
#include "src/output/progress.h"
#include "src/plan/plan_memory.h"
#include "src/simulation/simulation.h"
#include "src/spectrum/results.h"
#include "src/tuning/file.h"

#define THZ (2.0 * AW_PI * 1e12 / AW_C) /* omega/c of 1 THz [1/m] */
/* A slice has a wave where |F|^2 is above so many times the noise of its particles, or, where their
 * start is quieter than chance, above FLOOR. */
#define NOISES 4.0
#define FLOOR 1e-8
/* For a balance: k sigma_s at which the frequencies must begin at most, and the part of the energy
 * that the last one that the grid resolves may have, k dW/dk over W. */
#define FIRST 0.012
#define LAST 0.01
/* Error of the waves between slices from which on a row is not known, and from which on the number
 * of slices is worth a line. */
#define SLICE_ERROR 0.1

aw_status aw_spectrum_check(const aw_config *config, const aw_plan *plan)
{
    if (config->upstream == AW_UPSTREAM_STEADY)
        return aw_error(AW_ERR_ARG,
                        "spectrum: numerics.upstream: steady has no straight line before the bend, "
                        "and the circle before it radiates for ever (expected drift)");
    if (!(plan->overtaking > 0.0))
        return aw_error(AW_ERR_ARG,
                        "spectrum: there is no bend on the way, and a straight line does not "
                        "radiate (expected a lattice that bends)");
    if (config->plates_gap > 0.0)
        aw_warn("spectrum: the forces are those between plates, the radiation is that in free "
                "space");
    return AW_OK;
}

/* ----------------------------------------------------------------------------------- balance */

/* Why what is asked for has no balance; NULL: it may have one. */
static const char *no_balance(const aw_config *config, const aw_spectrum_wish *wish)
{
    if (config->motion != AW_MOTION_SELF_CONSISTENT)
        return "only in self-consistent motion do the particles lose energy";
    if (config->line) return "the forces are those of the one-dimensional model";
    if (config->plates_gap > 0.0) return "the forces are those between plates";
    if (aw_lattice_has_cavity(config->lattice)) return "cavities change the energy of the bunch";
    if (!wish->all) return "it needs all directions";
    if (!(wish->k[0] * config->beam.sigma_s <= FIRST))
        return "it needs frequencies from k sigma_s = 0.01 on";
    return NULL;
}

/* All that is radiated: below the first frequency as much per frequency as there. */
static void sum_radiated(const aw_spectrum_row *row, size_t held, aw_balance *balance)
{
    if (held < 2) {
        if (!balance->open) balance->open = "the grid resolves too few frequencies";
        return;
    }
    const aw_spectrum_row *last = &row[held - 1];
    const double all = aw_spectrum_band(row, held, row[0].k, last->k);
    balance->radiated = all + AW_C * row[0].k * row[0].coherent;
    if (!balance->open && !(AW_C * last->k * last->coherent <= LAST * all))
        balance->open = "the bunch radiates beyond the frequencies that there are";
}

static void print_balance(const aw_balance *b)
{
    if (b->open) {
        aw_info("balance          none: %s", b->open);
        return;
    }
    aw_info("balance          lost %.4g J, and behind the end %.4g J; radiated %.4g J, bound field "
            "%.4g J more: closes to %.2g %%",
            b->lost, b->missing, b->radiated, b->bound[1] - b->bound[0],
            100.0 * fabs(aw_balance_gap(b)));
}

/* ----------------------------------------------------------------------------------- results */

/* What limits the table. */
static void print_limits(const aw_spectrum *spectrum, const aw_spectrum_wish *wish,
                         const aw_spectrum_row *row, size_t held)
{
    size_t noisy = 0, apart = 0;
    double worst = 0.0;
    for (size_t i = 0; i < held; ++i) {
        noisy += !(row[i].coherent > row[i].noise);
        apart += !(row[i].slices <= SLICE_ERROR);
        worst = fmax(worst, row[i].slices);
    }
    if (held < wish->waves)
        aw_warn("spectrum: the grid resolves up to %.4g THz; the table is empty above (a finer "
                "numerics.grid, or lower --frequencies)",
                aw_spectrum_resolved(spectrum) / THZ);
    if (noisy > 0)
        aw_warn("spectrum: at %zu of %zu frequencies the coherent part is below the noise of the "
                "macro-particles; they are marked in the table (more beam.particles)",
                noisy, held);
    if (apart > 0)
        aw_warn("spectrum: at %zu of %zu frequencies the bunch changes too much from one slice to "
                "the next (by up to %.2g of its waves); they are marked in the table (a mesh file "
                "at each step, or shorter steps)",
                apart, held, worst);
}

/* Energies in the log. */
static void print_results(const aw_spectrum_wish *wish, const aw_spectrum_row *row, size_t held)
{
    if (held > 1)
        aw_info("coherent energy  %.4g J from %.4g to %.4g THz",
                aw_spectrum_band(row, held, wish->k[0], wish->k[held - 1]), wish->k[0] / THZ,
                wish->k[held - 1] / THZ);
    if (wish->has_band)
        aw_info("in the band      %.4g J from %.4g to %.4g THz",
                aw_spectrum_band(row, wish->waves, wish->band[0], wish->band[1]),
                wish->band[0] / THZ, wish->band[1] / THZ);
}

static aw_status save(const aw_spectrum *spectrum, const aw_spectrum_wish *wish,
                      const aw_config *config, aw_balance *balance)
{
    aw_status status = AW_OK;
    char program[AW_PROGRAM_SIZE];
    const aw_spectrum_beam beam = {config->beam.charge, config->beam.particles};
    aw_spectrum_row *row = aw_alloc(wish->waves, sizeof *row);
    char *text = aw_config_text(config);
    size_t held = 0;
    AW_TRY(row && text ? AW_OK : aw_error(AW_ERR_NOMEM, "out of memory"));
    if (!row || !text) goto done; /* never */
    aw_version_program(program);
    aw_spectrum_rows(spectrum, &beam, SLICE_ERROR, row);
    while (held < wish->waves && !isnan(row[held].coherent)) ++held;
    sum_radiated(row, held, balance);
    print_results(wish, row, held);
    print_balance(balance);
    print_limits(spectrum, wish, row, held);
    const aw_spectrum_file file = {.spectrum = spectrum,
                                   .beam = &beam,
                                   .row = row,
                                   .band = wish->has_band ? wish->band : NULL,
                                   .balance = balance,
                                   .software = "arcwake",
                                   .version = program,
                                   .input = text};
    AW_TRY(aw_spectrum_save(config->directory, &file));
    aw_info("spectrum: %s/spectrum.csv, spectrum.json, spectrum.h5", config->directory);
done:
    free(text);
    aw_free(row);
    return status;
}

/* ------------------------------------------------------------------------------------- input */

/* A bunch that is moved is moved by rank 0 alone; the slices of a run, every rank reads.
 * @return 0: this is another rank */
static int is_only_rank(void)
{
    const int rank = aw_comm_rank();
    if (aw_comm_size() > 1)
        aw_warn("spectrum: one rank moves the bunch (run it on all with output.every: 1, and give "
                "spectrum the directory)");
    aw_comm_alone();
    return rank == 0;
}

/* Of a run that has been, the input is known: only where to write may be said, by default beside
 * it. */
static aw_status directory_config(const aw_options *o, aw_config **out)
{
    static const char output[] = "output.directory=";
    static char path[AW_PATH_MAX_LEN + 32]; /* too large for the stack */
    aw_options of_run = *o;
    aw_status status = AW_OK;
    int elsewhere = 0;
    for (size_t i = 0; i < o->n_set; ++i) {
        if (strncmp(o->set[i], output, sizeof output - 1) != 0)
            return aw_error(AW_ERR_ARG,
                            "spectrum: '%s' cannot be set for a run that has been (expected the "
                            "directory alone, or an input file)",
                            o->set[i]);
        elsewhere = 1;
    }
    if (o->steps > 0)
        return aw_error(AW_ERR_ARG, "spectrum: --steps is for an input file, not for the directory "
                                    "of a run (leave it out)");
    if (snprintf(path, sizeof path, "%s/resolved.yaml", o->input) >= (int)sizeof path)
        return aw_error(AW_ERR_ARG, "%s: the path is too long", o->input);
    of_run.input = path;
    AW_TRY(aw_options_config(&of_run, out));
    if (elsewhere) goto done;
    char *directory = strdup(o->input);
    AW_TRY(directory ? AW_OK : aw_error(AW_ERR_NOMEM, "out of memory"));
    free((*out)->directory);
    (*out)->directory = directory;
done:
    return status;
}

/* Input and plan, of a file or of a run that has been. */
static aw_status read_input(const aw_options *options, int been, aw_config **config, aw_plan *plan)
{
    aw_status status = AW_OK;
    AW_TRY(been ? directory_config(options, config) : aw_options_config(options, config));
    aw_tuning_load(&(*config)->tuning);
    AW_TRY(aw_plan_make(*config, plan));
    if (!been) AW_TRY(aw_plan_check(*config, plan));
    if (!been) AW_TRY(aw_plan_memory(*config, plan));
    AW_TRY(aw_spectrum_check(*config, plan));
done:
    return status;
}

static aw_status new_spectrum(const aw_config *config, const aw_spectrum_wish *wish, int single,
                              aw_spectrum **out)
{
    const aw_spectrum_params params = {.orbit = &config->lattice->orbit,
                                       .gamma = config->beam.gamma,
                                       .k = wish->k,
                                       .waves = wish->waves,
                                       .directions = &wish->directions,
                                       .ns = config->grid[0],
                                       .nx = config->grid[1],
                                       .single = single,
                                       .floor =
                                           fmax(NOISES / (double)config->beam.particles, FLOOR)};
    return aw_spectrum_new(&params, out);
}

/* The whole command. @param[in] been  1: options->input is the directory of a run */
static aw_status carry_out(const aw_options *options, int been)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_spectrum *spectrum = NULL;
    aw_spectrum_wish wish = {.k = NULL};
    aw_balance balance = {.open = NULL};
    aw_progress progress;
    aw_plan plan;
    AW_TRY(read_input(options, been, &config, &plan));
    AW_TRY(aw_spectrum_wish_make(options, config, &plan, &wish));
    balance.open = no_balance(config, &wish);
    if (!been) AW_TRY(aw_simulation_new(config, NULL, 0, &sim));
    AW_TRY(new_spectrum(config, &wish, !been && config->history_single, &spectrum));
    aw_info("spectrum: %zu frequencies from %.4g to %.4g THz, %zu x %zu directions", wish.waves,
            wish.k[0] / THZ, wish.k[wish.waves - 1] / THZ, wish.directions.theta.n,
            wish.directions.psi.n);
    aw_progress_begin(&progress, stderr, plan.steps + 1, options->quiet || aw_comm_rank() > 0);
    const aw_follow follow = {config, spectrum, &balance, &progress, plan.end - plan.longest_step};
    status = been ? aw_follow_files(&follow, options->input) : aw_follow_simulation(&follow, sim);
    aw_progress_clear(&progress);
done:;
    const aw_status agreed = aw_comm_agree(status);
    if (status == AW_OK && agreed == AW_OK) {
        aw_spectrum_gather(spectrum);
        if (aw_comm_rank() == 0) status = save(spectrum, &wish, config, &balance);
    } else {
        status = agreed;
    }
    aw_spectrum_free(spectrum);
    aw_spectrum_wish_free(&wish);
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

aw_status aw_spectrum_of_run(const char *directory, int threads, int quiet)
{
    static aw_options options; /* too large for the stack */
    options = (aw_options){.input = directory, .threads = threads, .quiet = quiet};
    return carry_out(&options, 1);
}

static aw_status run_command(int argc, char **argv)
{
    static aw_options options; /* too large for the stack; a process runs one command */
    aw_status status = AW_OK;
    aw_signals_catch();
    AW_TRY(aw_options_read(argc, argv, &options));
    aw_log_quiet(options.quiet);
    const int been = aw_file_is_directory(options.input);
    if (!been && !is_only_rank()) goto done;
    status = carry_out(&options, been);
done:
    return status;
}

static const char help[] =
    "arcwake spectrum INPUT.yaml|RUN [options]\n"
    "Moves the bunch as run does, or takes it from the mesh files of the directory of a run (with\n"
    "output.every: 1), and adds up what it radiates into the far field: energy per frequency and\n"
    "solid angle, coherent and incoherent; and draws up the balance with what the bunch loses.\n"
    "Writes DIR/spectrum.csv (a row per frequency), spectrum.json and spectrum.h5 (each\n"
    "direction): docs/spectrum.md.\n"
    "  -o DIR, --output DIR  where to write (key output.directory; RUN); other files there stay\n"
    "  --frequencies A,B,N   from A to B in THz, N at equal ratios; default: those of the bunch\n"
    "  --theta A,B,N         angles in the plane in mrad, against the direction at the start of\n"
    "                        the lattice, and\n"
    "  --psi MAX,N           angles to the plane in mrad, above and below; default: all the\n"
    "                        radiation, by directions that are finer towards the straights\n"
    "  --aperture R,D[,A]    instead: through a round aperture of radius R, D behind the lattice,\n"
    "                        both in m, at the angle A in mrad to the direction at its end\n"
    "  --band A,B            also the coherent energy from A to B in THz (bunch-length monitor)\n"
    "  --solver NAME, --device LIST, --threads N, --steps N, --set KEY=VALUE\n"
    "                        as for run (arcwake help run); of these only --threads with RUN\n"
    "  --quiet               errors and warnings only\n"
    "Exit status: as of run; a run that is stopped writes nothing.\n";

const aw_command aw_spectrum_command = {
    .name = "spectrum",
    .usage = "spectrum INPUT.yaml|RUN",
    .summary = "what the bunch radiates: per frequency, direction, aperture, band",
    .help = help,
    .run = run_command,
    .on_all_ranks = 1,
};
