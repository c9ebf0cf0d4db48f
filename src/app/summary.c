/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/summary.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "pic/stats.h"
#include "src/base/log.h"
#include "src/base/units.h"
#include "validation/analytic.h"

static const char *const motion_name[] = {"self-consistent", "rigid", "external"};

static double mib(size_t bytes) { return (double)bytes / 1048576.0; }

void aw_summary_plan(const aw_config *config, const aw_plan *plan)
{
    aw_info("lattice      %.6g m, %s motion, %ld steps of %g m", config->lattice->length,
            motion_name[config->motion], plan->steps, config->step_m);
    aw_info("beam         %.4g nC, gamma %.6g, %zu macro-particles (%.3g per cell), %s",
            1e9 * config->beam.charge, config->beam.gamma, config->beam.particles, plan->per_cell,
            config->beam.quiet ? "quiet" : "random");
    aw_info("grid         %d x %d, %.3g and %.3g cells per sigma", config->grid[0], config->grid[1],
            plan->cells_s, plan->cells_x);
    if (plan->overtaking > 0.0)
        aw_info("sharpest R   %.6g m: overtaking length %.4g m, Derbenev number %.3g", plan->radius,
                plan->overtaking, plan->derbenev);
    aw_info("upstream     cut at r' = %.4g m", plan->upstream_cut);
    aw_info("memory       history %.1f MiB of %.0f allowed, in all about %.0f MiB",
            mib(plan->history_bytes), config->history_MiB,
            mib(plan->history_bytes + plan->other_bytes));
}

void aw_summary_begin(const aw_simulation *sim)
{
    aw_info("%s", sim->config->title);
    aw_summary_plan(sim->config, &sim->plan);
    aw_info("solver       %s, tolerance %.3g, on %s", sim->config->solver, sim->config->tolerance,
            sim->device.ops->describe(sim->device.state));
}

/* Append to text[size] at position `at`; what does not fit is cut off. @return the new end */
static size_t append(char *text, size_t size, size_t at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = at < size ? vsnprintf(text + at, size - at, format, args) : 0;
    va_end(args);
    return n > 0 ? at + (size_t)n : at;
}

#define CELL 16

/* A number of the table; "-" if it is not finite, as a formula can be outside its range. */
static const char *cell(double value, char text[CELL])
{
    if (isfinite(value))
        snprintf(text, CELL, "%.4e", value);
    else
        snprintf(text, CELL, "-");
    return text;
}

int aw_summary_forces(const aw_simulation *sim, char *text, size_t size)
{
    const aw_beam_params *beam = &sim->config->beam;
    const aw_grid_view *grid = &sim->frame.grid;
    double kappa = aw_orbit_at(&sim->config->lattice->orbit, sim->S_ref).kappa;
    aw_beam_stats now;
    if (aw_simulation_stats(sim, &now) != AW_OK) return 0; /* the monitor reports it */
    const double sigma = now.sigma_s;
    aw_line_bunch line = {.charge = beam->charge, .sigma = sigma};
    if (!(3.0 * sigma < 0.5 * (grid->ns - 3) * grid->hs) || fabs(grid->tilt) > 0.5) return 0;
    size_t at =
        append(text, size, 0, "forces on the axis at S = %.4g m, sigma_s = %.4g um [eV/m]%s",
               sim->S_ref, 1e6 * sigma, kappa != 0.0 ? "; 1D: a line bunch in steady state" : "");
    const char *head = kappa != 0.0 ? "1D" : "";
    at = append(text, size, at, "\n%9s %12s %12s %12s %12s", "s/sigma", "F_z", head, "F_x_eff",
                head);
    for (int k = -3; k <= 3; ++k) {
        double s = k * sigma, fz = aw_simulation_at(sim, sim->forces.Fs, s, 0.0);
        double fx = aw_simulation_at(sim, sim->forces.Fx_eff, s, 0.0);
        char c[4][CELL] = {"", "", "", ""};
        if (kappa != 0.0) {
            cell(aw_steady_force(&line, 1.0 / fabs(kappa), s), c[1]);
            cell(aw_steady_transverse(&line, kappa, s), c[3]);
        }
        at = append(text, size, at, "\n%9d %12s %12s %12s %12s", k, cell(fz, c[0]), c[1],
                    cell(fx, c[2]), c[3]);
    }
    return kappa != 0.0 ? 2 : 1;
}

void aw_summary_print(const aw_simulation *sim)
{
    const aw_config *config = sim->config;
    aw_beam_stats now;
    if (aw_simulation_stats(sim, &now) != AW_OK) return; /* it has printed why */
    double energy = config->beam.gamma * AW_ME_EV;
    aw_info("bunch at S = %.4g m: sigma_s %.5g um, sigma_x %.5g um, emittance %.4g nm (%.4g nm "
            "without dispersion)",
            sim->S_ref, 1e6 * now.sigma_s, 1e6 * now.sigma_x, 1e9 * now.emittance,
            1e9 * now.emittance_free);
    if (config->motion == AW_MOTION_SELF_CONSISTENT)
        aw_info("energy change: mean %.5g keV (dE/E %.4g %%), rms %.5g keV (%.4g %%)",
                1e-3 * now.energy_mean, 100.0 * now.energy_mean / energy, 1e-3 * now.energy_rms,
                100.0 * now.energy_rms / energy);
}
