/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/spectrum/follow.h"

#include <math.h>

#include "src/app/signals.h"
#include "src/app/spectrum/files.h"
#include "src/base/log.h"

/* Slices that a bend must have at least. */
enum { PER_BEND = 4 };

/* Add a slice; with the first one the balance begins, and it ends with the last one. */
static aw_status add(const aw_follow *f, const aw_slice *slice, int single, double S, int first,
                     int last)
{
    const aw_config *config = f->config;
    const aw_orbit_view *orbit = &config->lattice->orbit;
    const aw_bound_params bound = {.slice = slice,
                                   .ns = config->grid[0],
                                   .nx = config->grid[1],
                                   .single = single,
                                   .gamma = config->beam.gamma};
    aw_status status = AW_OK;
    AW_TRY(aw_spectrum_add(f->spectrum, slice, S));
    if (first && !f->balance->open) AW_TRY(aw_balance_begin(f->balance, orbit, bound));
    if (last && !f->balance->open) AW_TRY(aw_balance_end(f->balance, orbit, bound));
done:
    return status;
}

static aw_status stopped(double S)
{
    return aw_error(AW_ERR_INTERRUPTED, "stopped by a signal at S = %.6g m; nothing was written",
                    S);
}

/* The bunch has come to its end at S. */
static aw_status end(const aw_follow *f, double S)
{
    if (aw_orbit_at(&f->config->lattice->orbit, S).kappa != 0.0)
        aw_warn(
            "spectrum: the run ends within a bend, at S = %.6g m; from there the bunch is taken "
            "to go straight on",
            S);
    return aw_spectrum_end(f->spectrum);
}

static aw_status note_loss(const aw_follow *f, const aw_simulation *sim)
{
    aw_monitor_row row;
    aw_monitor_row_clear(&row);
    const aw_status status = aw_simulation_monitor(sim, &row);
    f->balance->lost = -row.energy_change_mean * row.charge;
    return status;
}

aw_status aw_follow_simulation(const aw_follow *f, aw_simulation *sim)
{
    aw_status status = AW_OK;
    for (;;) {
        AW_TRY(aw_simulation_deposit(sim));
        AW_TRY(add(f, &sim->field.view->slice[0], sim->field.view->single, sim->S_ref,
                   sim->step == 0, aw_simulation_is_last(sim)));
        if (f->config->motion == AW_MOTION_SELF_CONSISTENT) AW_TRY(aw_simulation_solve(sim));
        AW_TRY(aw_simulation_synchronise(sim));
        aw_progress_expect(f->progress, sim->plan.steps + lround(sim->extra) + 1);
        aw_progress_step(f->progress, sim->seconds);
        if (aw_simulation_is_last(sim)) break;
        if (aw_signals_stop()) AW_TRY(stopped(sim->S_ref));
        AW_TRY(aw_simulation_advance(sim));
    }
    AW_TRY(note_loss(f, sim));
    AW_TRY(end(f, sim->S_ref));
done:
    return status;
}

/* ------------------------------------------------------------------------------------- files */

/* What slices there must be: some in each bend that the bunch has gone through, and one before the
 * first. */
static aw_status check_bends(const aw_follow *f, const aw_slice_files *files, const char *directory)
{
    static const char remedy[] = "run with output.every: 1";
    const aw_orbit_view *orbit = &f->config->lattice->orbit;
    const size_t n = aw_slice_files_count(files);
    const double first = aw_slice_files_place(files, 0), last = aw_slice_files_place(files, n - 1);
    int bends = 0;
    for (int i = 0; i < orbit->n; ++i) {
        const double from = orbit->piece[i].S;
        const double to = i + 1 < orbit->n ? orbit->piece[i + 1].S : f->config->lattice->length;
        int inside = 0;
        if (orbit->piece[i].kappa == 0.0) continue;
        if (bends++ == 0 && first > fmax(from, f->config->start_m))
            return aw_error(AW_ERR_INPUT,
                            "%s: its first mesh file is of S = %.6g m, behind the beginning of a "
                            "bend at %.6g m (expected one at the start: %s)",
                            directory, first, from, remedy);
        for (size_t j = 0; j < n; ++j) {
            const double S = aw_slice_files_place(files, j);
            inside += S >= from && S <= to;
        }
        if (inside < PER_BEND && last >= to)
            return aw_error(AW_ERR_INPUT,
                            "%s: %d mesh files within the bend from S = %.6g to %.6g m (expected "
                            "one at each step: %s)",
                            directory, inside, from, to, remedy);
    }
    return AW_OK;
}

aw_status aw_follow_files(const aw_follow *f, const char *directory)
{
    aw_status status = AW_OK;
    aw_slice_files *files = NULL;
    AW_TRY(aw_slice_files_open(directory, f->config, &files));
    const size_t n = aw_slice_files_count(files);
    AW_TRY(check_bends(f, files, directory));
    aw_progress_expect(f->progress, (long)n);
    for (size_t i = 0; i < n; ++i) {
        const double S = aw_slice_files_place(files, i);
        aw_slice slice;
        if (aw_signals_stop()) AW_TRY(stopped(S));
        AW_TRY(aw_slice_files_read(files, i, &slice));
        AW_TRY(add(f, &slice, 0, S, i == 0, i + 1 == n));
        aw_progress_step(f->progress, NULL);
    }
    const double S = aw_slice_files_place(files, n - 1);
    if (S < f->end)
        aw_warn("spectrum: %s has mesh files to S = %.6g m, of a run to %.6g m; what the bunch "
                "radiates behind them is not in the table (a run that was stopped goes on with "
                "--restart)",
                directory, S, f->end);
    f->balance->lost = -aw_slice_files_change(files, n - 1) * f->config->beam.charge;
    AW_TRY(end(f, S));
done:
    aw_slice_files_free(files);
    return status;
}
