/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake spectrum`: what the bunch of a run radiates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/app/options.h"
#include "src/app/signals.h"
#include "src/app/spectrum/wish.h"
#include "src/app/version.h"
#include "src/base/command.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/output/progress.h"
#include "src/plan/plan_memory.h"
#include "src/simulation/simulation.h"
#include "src/spectrum/results.h"
#include "src/tune/file.h"

#define THZ (2.0 * AW_PI * 1e12 / AW_C) /* omega/c of 1 THz [1/m] */

/* What the far field here does not know. */
static aw_status check_config(const aw_config *config, const aw_plan *plan)
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

/* Move the bunch to the end, with its forces where it feels them, and add up what it radiates. */
static aw_status radiate(aw_simulation *sim, aw_spectrum *spectrum, aw_progress *progress)
{
    const aw_config *config = sim->config;
    aw_status status = AW_OK;
    for (;;) {
        AW_TRY(aw_simulation_deposit(sim));
        AW_TRY(aw_spectrum_add(spectrum, &sim->field.view->slice[0], sim->S_ref));
        if (config->motion == AW_MOTION_SELF_CONSISTENT) AW_TRY(aw_simulation_solve(sim));
        AW_TRY(aw_simulation_synchronise(sim));
        aw_progress_expect(progress, sim->plan.steps + lround(sim->extra) + 1);
        aw_progress_step(progress, sim->seconds);
        if (aw_simulation_is_last(sim)) break;
        if (aw_signals_stop())
            AW_TRY(aw_error(AW_ERR_INTERRUPTED,
                            "stopped by a signal at S = %.6g m; nothing was written", sim->S_ref));
        AW_TRY(aw_simulation_advance(sim));
    }
    if (aw_orbit_at(&config->lattice->orbit, sim->S_ref).kappa != 0.0)
        aw_warn(
            "spectrum: the run ends within a bend, at S = %.6g m; from there the bunch is taken "
            "to go straight on",
            sim->S_ref);
    AW_TRY(aw_spectrum_end(spectrum));
done:
    return status;
}

/* Energies in the log, and what limits them. */
static void print_results(const aw_spectrum *spectrum, const aw_spectrum_wish *wish,
                          const aw_spectrum_row *row)
{
    const double limit = aw_spectrum_resolved(spectrum);
    size_t held = 0, noisy = 0;
    while (held < wish->waves && !isnan(row[held].coherent)) ++held;
    for (size_t i = 0; i < held; ++i) noisy += !row[i].resolved;
    if (held > 1)
        aw_info("coherent energy  %.4g J from %.4g to %.4g THz",
                aw_spectrum_band(row, held, wish->k[0], wish->k[held - 1]), wish->k[0] / THZ,
                wish->k[held - 1] / THZ);
    if (wish->has_band)
        aw_info("in the band      %.4g J from %.4g to %.4g THz",
                aw_spectrum_band(row, wish->waves, wish->band[0], wish->band[1]),
                wish->band[0] / THZ, wish->band[1] / THZ);
    if (held < wish->waves)
        aw_warn("spectrum: the grid resolves up to %.4g THz; the table is empty above (a finer "
                "numerics.grid, or lower --frequencies)",
                limit / THZ);
    if (noisy > 0)
        aw_warn("spectrum: at %zu of %zu frequencies the coherent part is below the noise of the "
                "macro-particles; they are marked in the table (more beam.particles)",
                noisy, held);
}

static aw_status save(const aw_spectrum *spectrum, const aw_spectrum_wish *wish,
                      const aw_config *config, const aw_simulation *sim)
{
    aw_status status = AW_OK;
    char program[AW_PROGRAM_SIZE];
    const aw_spectrum_beam beam = {config->beam.charge, sim->particles->n};
    aw_spectrum_row *row = aw_alloc(wish->waves, sizeof *row);
    char *text = aw_config_text(config);
    AW_TRY(row && text ? AW_OK : aw_error(AW_ERR_NOMEM, "out of memory"));
    if (!row || !text) goto done; /* never */
    aw_version_program(program);
    aw_spectrum_rows(spectrum, &beam, row);
    print_results(spectrum, wish, row);
    const aw_spectrum_file file = {.spectrum = spectrum,
                                   .beam = &beam,
                                   .row = row,
                                   .band = wish->has_band ? wish->band : NULL,
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

static aw_status run_command(int argc, char **argv)
{
    static aw_options options; /* too large for the stack; a process runs one command */
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_spectrum *spectrum = NULL;
    aw_spectrum_wish wish = {.k = NULL};
    aw_progress progress;
    aw_plan plan;
    aw_signals_catch();
    AW_TRY(aw_options_read(argc, argv, &options));
    aw_log_quiet(options.quiet);
    AW_TRY(aw_options_config(&options, &config));
    aw_tuning_load(&config->tuning);
    AW_TRY(aw_plan_make(config, &plan));
    AW_TRY(aw_plan_check(config, &plan));
    AW_TRY(aw_plan_memory(config, &plan));
    AW_TRY(check_config(config, &plan));
    AW_TRY(aw_spectrum_wish_make(&options, config, &plan, &wish));
    AW_TRY(aw_simulation_new(config, NULL, 0, &sim));
    const aw_spectrum_params params = {.orbit = &config->lattice->orbit,
                                       .gamma = config->beam.gamma,
                                       .k = wish.k,
                                       .waves = wish.waves,
                                       .directions = &wish.directions,
                                       .ns = config->grid[0],
                                       .nx = config->grid[1],
                                       .single = config->history_single};
    AW_TRY(aw_spectrum_new(&params, &spectrum));
    aw_info("spectrum: %zu frequencies from %.4g to %.4g THz, %zu x %zu directions", wish.waves,
            wish.k[0] / THZ, wish.k[wish.waves - 1] / THZ, wish.directions.theta.n,
            wish.directions.psi.n);
    aw_progress_begin(&progress, stderr, plan.steps + 1, options.quiet);
    status = radiate(sim, spectrum, &progress);
    aw_progress_clear(&progress);
    if (status == AW_OK) status = save(spectrum, &wish, config, sim);
done:
    aw_spectrum_free(spectrum);
    aw_spectrum_wish_free(&wish);
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

static const char help[] =
    "arcwake spectrum INPUT.yaml [options]\n"
    "Moves the bunch as run does, and adds up what it radiates into the far field: energy per\n"
    "frequency and solid angle, coherent and incoherent. Writes DIR/spectrum.csv (a row per\n"
    "frequency), spectrum.json and spectrum.h5 (each direction): docs/spectrum.md.\n"
    "  -o DIR, --output DIR  where to write (key output.directory); other files there stay\n"
    "  --frequencies A,B,N   from A to B in THz, N at equal ratios; default: those of the bunch\n"
    "  --theta A,B,N         angles in the plane in mrad, against the direction at the start of\n"
    "                        the lattice, and\n"
    "  --psi MAX,N           angles to the plane in mrad, above and below; default: all the\n"
    "                        radiation, by directions that are finer towards the straights\n"
    "  --aperture R,D[,A]    instead: through a round aperture of radius R, D behind the lattice,\n"
    "                        both in m, at the angle A in mrad to the direction at its end\n"
    "  --band A,B            also the coherent energy from A to B in THz (bunch-length monitor)\n"
    "  --solver NAME, --device LIST, --threads N, --steps N, --set KEY=VALUE\n"
    "                        as for run (arcwake help run)\n"
    "  --quiet               errors and warnings only\n"
    "Exit status: as of run; a run that is stopped writes nothing.\n";

const aw_command aw_spectrum_command = {
    .name = "spectrum",
    .usage = "spectrum INPUT.yaml",
    .summary = "what the bunch radiates: per frequency, direction, aperture, band",
    .help = help,
    .run = run_command,
};
