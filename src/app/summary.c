/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/summary.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "pic/stats.h"
#include "src/base/log.h"
#include "src/base/units.h"
#include "src/input/wakes.h"
#include "src/plan/choose.h"
#include "src/plan/optics.h"
#include "validation/analytic.h"

static const char *const motion_name[] = {"self-consistent", "rigid", "external"};

static double mib(size_t bytes) { return (double)bytes / 1048576.0; }

/* The height of a bunch that is not a sheet. */
static void print_height(const aw_config *config)
{
    const aw_beam_params *beam = &config->beam;
    const char *const none = config->line ? ", of no effect on a line" : "";
    if (beam->emittance_y > 0.0)
        aw_info("height       %.4g um rms at the start (emittance %.4g nm, beta %.4g m, alpha "
                "%.4g)%s",
                1e6 * sqrt(beam->emittance_y * beam->beta_y), 1e9 * beam->emittance_y, beam->beta_y,
                beam->alpha_y, none);
    else if (beam->sigma_y > 0.0)
        aw_info("height       %.4g um rms everywhere%s", 1e6 * beam->sigma_y, none);
}

/* A line for each wake: its table, and where it acts. */
static void print_wakes(const aw_config *config)
{
    for (size_t i = 0; i < config->wakes; ++i) {
        const aw_wake *wake = &config->wake[i];
        const aw_wake_item *item = &config->wake_item[i];
        double length = 0.0;
        char reach[40] = "", factor[40] = "";
        for (size_t k = 0; k < wake->ranges; ++k) length += wake->range[k].to - wake->range[k].from;
        if (isfinite(aw_wake_reach(wake)))
            snprintf(reach, sizeof reach, ", known to %.4g mm", 1e3 * aw_wake_reach(wake));
        if (item->factor != 1.0) snprintf(factor, sizeof factor, ", times %g", item->factor);
        aw_info("wake         %s, %s, in %s%s%s: at %zu place%s, over %.6g m", item->file,
                item->kind == AW_WAKE_TAYLOR ? "Taylor" : "longitudinal",
                item->per_m ? "V/C/m" : "V/C", factor, reach, wake->ranges,
                wake->ranges == 1 ? "" : "s", length);
    }
}

void aw_summary_plan(const aw_config *config, const aw_plan *plan)
{
    char from[40] = "";
    if (config->start_m > 0.0) snprintf(from, sizeof from, " from S = %.6g m on", config->start_m);
    if (config->step_m > 0.0)
        aw_info("lattice      %.6g m%s, %s motion, %ld steps of %g m", config->lattice->length,
                from, motion_name[config->motion], plan->steps, config->step_m);
    else
        aw_info("lattice      %.6g m%s, %s motion, %ld steps of %.3g to %.3g m",
                config->lattice->length, from, motion_name[config->motion], plan->steps,
                plan->shortest_step, plan->longest_step);
    aw_info("beam         %.4g nC, gamma %.6g, %zu macro-particles (%.3g per cell), %s",
            1e9 * config->beam.charge, config->beam.gamma, config->beam.particles, plan->per_cell,
            config->beam.quiet ? "quiet" : "random");
    print_height(config);
    aw_info("grid         %d x %d, %.3g and %.3g cells per sigma", config->grid[0], config->grid[1],
            plan->cells_s, plan->cells_x);
    if (plan->overtaking > 0.0)
        aw_info("sharpest R   %.6g m: overtaking length %.4g m, Derbenev number %.3g", plan->radius,
                plan->overtaking, plan->derbenev);
    if (config->isr)
        aw_info("radiation    incoherent, %s",
                config->isr == AW_ISR_FULL ? "with fluctuations" : "its mean alone");
    print_wakes(config);
    if (config->plates_gap > 0.0)
        aw_info("plates       %.4g mm apart, along all of the lattice and before it",
                1e3 * config->plates_gap);
    if (!config->line) aw_info("upstream     cut at r' = %.4g m", plan->upstream_cut);
    aw_info("memory       history %.1f MiB of %.0f allowed, in all about %.0f MiB",
            mib(plan->history_bytes), config->history_MiB,
            mib(plan->history_bytes + plan->other_bytes));
}

/* A row of what was chosen. */
static void print_choice(const char *key, const char *value, int given, const char *why)
{
    aw_info("  %-11s%s%s: %s", key, value, given ? ", given" : "", why);
}

void aw_summary_choice(const aw_config *config)
{
    aw_choice c;
    char value[64] = "auto";
    const int given = config->given;
    if (!(config->accuracy > 0.0) || aw_choose(config, &c) != AW_OK) return;
    aw_info("accuracy     %g of mean and rms energy change, emittance and peak current at the end",
            config->accuracy);
    snprintf(value, sizeof value, "%d x %d", c.grid[0], c.grid[1]);
    print_choice("grid", value, given & AW_GIVEN_GRID, c.why[AW_CHOICE_GRID]);
    if (c.step_m == AW_STEP_AUTO)
        snprintf(value, sizeof value, "auto, step_scale %.4g", c.step_scale);
    else
        snprintf(value, sizeof value, "%g", c.step_m);
    print_choice("step_m", value, given & (AW_GIVEN_STEP | AW_GIVEN_SCALE), c.why[AW_CHOICE_STEP]);
    snprintf(value, sizeof value, "%zu", c.particles);
    print_choice("particles", value, given & AW_GIVEN_PARTICLES, c.why[AW_CHOICE_PARTICLES]);
    snprintf(value, sizeof value, "%.3g", c.tolerance);
    print_choice("tolerance", value, given & AW_GIVEN_TOLERANCE, c.why[AW_CHOICE_TOLERANCE]);
}

void aw_summary_begin(const aw_simulation *sim)
{
    aw_info("%s", sim->config->title);
    aw_summary_choice(sim->config);
    aw_summary_plan(sim->config, &sim->plan);
    if (sim->line)
        aw_info("forces       of a line bunch, %s, on %d nodes",
                sim->config->line_model == AW_LINE_STEADY ? "steady state" : "with transients",
                sim->line->n);
    else
        aw_info("solver       %s, tolerance %.3g, on %s", sim->config->solver,
                sim->config->tolerance, sim->device.ops->describe(sim->device.state));
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

/* Charge density of the nodes i along s, summed over x. */
static double line_charge(const aw_simulation *sim, int i)
{
    const aw_history_view *view = sim->field.view;
    const size_t row = (size_t)(view->ns + 2 * AW_PAD) * AW_COMPONENTS;
    double sum = 0.0;
    for (int j = 0; j < view->nx; ++j) {
        const size_t at = (size_t)(j + AW_PAD) * row + (size_t)(i + AW_PAD) * AW_COMPONENTS;
        sum += view->single ? (double)((const float *)view->slice[0].cells)[at]
                            : ((const double *)view->slice[0].cells)[at];
    }
    return sum;
}

/* Whether the current along the grid has the third and fourth moments of a Gaussian: skewness below
 * 0.2, excess kurtosis below 0.5 (a sample of 2000 particles scatters by 0.05 and 0.1). */
static int is_gaussian(const aw_simulation *sim)
{
    const aw_grid_view *grid = &sim->field.frame.grid;
    double m[5] = {0.0};
    for (int i = 0; i < grid->ns; ++i) {
        const double s = i - 0.5 * (grid->ns - 1);
        double term = line_charge(sim, i);
        for (int k = 0; k < 5; ++k, term *= s) m[k] += term;
    }
    const double mean = m[1] / m[0], v = m[2] / m[0] - mean * mean;
    const double third = m[3] / m[0] - mean * (3.0 * m[2] / m[0] - 2.0 * mean * mean);
    const double fourth =
        m[4] / m[0] - mean * (4.0 * m[3] / m[0] - mean * (6.0 * m[2] / m[0] - 3.0 * mean * mean));
    return fabs(third) < 0.2 * v * sqrt(v) && fabs(fourth - 3.0 * v * v) < 0.5 * v * v;
}

/* One-dimensional theory for a place on the orbit. */
typedef enum line_theory { NO_THEORY, ENTRANCE, STEADY, EXIT } line_theory;

/* A place on the orbit, and the theory that holds there; the numbers that do not matter are 0. */
typedef struct line_place {
    line_theory theory;
    const char *note; /* what the table says of its columns "1D" */
    double kappa;     /* of the bend in which the bunch is, or which it has left [1/m] */
    double d;         /* distance behind the entrance or the exit of that bend [m] */
    double angle;     /* of that bend, behind its exit [rad] */
} line_place;

/* Whether the conditions of one-dimensional theory that aw_plan_warn checks at the start do not
 * hold, at the sharpest bend. */
static int is_wide_or_slow(const aw_simulation *sim, const aw_beam_stats *now)
{
    const double R = sim->plan.radius, sigma = now->sigma_s;
    return now->sigma_x > cbrt(R * sigma * sigma) ||
           sim->config->beam.gamma < 10.0 * cbrt(R / sigma);
}

/* The closed forms hold for a straight line before the bend, or where none of it is seen any more:
 * two overtaking lengths behind the entrance the field of 8 sigma_s behind has caught up. */
static line_place place_of(const aw_simulation *sim, const aw_beam_stats *now)
{
    const double sigma = now->sigma_s;
    const aw_orbit_view *orbit = &sim->config->lattice->orbit;
    const aw_grid_view *grid = &sim->field.frame.grid;
    const int i = aw_orbit_find(orbit, grid->S);
    const aw_orbit_piece *here = &orbit->piece[i];
    line_place place = {.theory = NO_THEORY, .note = "", .kappa = here->kappa};
    if (i == 0 && here->kappa == 0.0) return place;
    place.d = grid->S - here->S;
    if (fabs(grid->tilt) > 0.1)
        place.note = "; tilted bunch: no 1D theory";
    else if (!is_gaussian(sim))
        place.note = "; the current is not Gaussian: no 1D theory";
    else if (is_wide_or_slow(sim, now))
        place.note = "; the bunch is wide or its energy low: no 1D theory";
    else if (here->kappa != 0.0 &&
             (i == 0 || place.d > 2.0 * aw_overtaking_length(sigma, here->kappa))) {
        place.theory = STEADY;
        place.note = "; 1D: a line bunch in steady state";
    } else if (i == 1 && here->kappa != 0.0 && here[-1].kappa == 0.0) {
        place.theory = ENTRANCE;
        place.note = "; 1D: a line bunch behind the entrance (Saldin et al. 1997)";
    } else if (i == 2 && here->kappa == 0.0 && here[-2].kappa == 0.0) {
        place.theory = EXIT;
        place.note = "; 1D: a line bunch behind the exit (Stupakov, Emma 2002)";
        place.kappa = here[-1].kappa;
        place.angle = fabs(place.kappa) * (here->S - here[-1].S);
    } else
        place.note = "; transient: no 1D theory";
    return place;
}

/* Longitudinal force of the theory at a distance s ahead of the centre [eV/m]. */
static double line_force(const line_place *place, const aw_line_bunch *line, double s)
{
    const double R = 1.0 / fabs(place->kappa), d = fmax(place->d + s, 0.0);
    switch (place->theory) {
    case STEADY: return aw_steady_force(line, R, s);
    case ENTRANCE: return aw_entrance_force(line, R, d, s);
    case EXIT: return aw_exit_force(line, R, place->angle, d, s);
    default: return NAN;
    }
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
    const aw_grid_view *grid = &sim->field.frame.grid;
    aw_beam_stats now;
    if (aw_simulation_stats(sim, &now) != AW_OK) return 0; /* the monitor reports it */
    const double sigma = now.sigma_s;
    const aw_line_bunch line = {.charge = sim->config->beam.charge, .sigma = sigma};
    if (!(3.0 * sigma < 0.5 * (grid->ns - 3) * grid->hs) || fabs(grid->tilt) > 0.5) return 0;
    const line_place place = place_of(sim, &now);
    const int across = !sim->line; /* the line model has no force there */
    const char *head = place.theory != NO_THEORY ? "1D" : "";
    size_t at =
        append(text, size, 0, "forces on the axis at S = %.4g m, sigma_s = %.4g um [eV/m]%s",
               sim->S_ref, 1e6 * sigma, place.note);
    at = append(text, size, at, "\n%9s %12s %12s %12s %12s", "s/sigma", "F_z", head,
                across ? "F_x_eff" : "", across && place.theory == STEADY ? head : "");
    for (int k = -3; k <= 3; ++k) {
        const double s = k * sigma, fz = aw_simulation_at(sim, sim->field.forces.Fs, s, 0.0);
        char c[4][CELL] = {"", "", "", ""};
        if (place.theory != NO_THEORY) cell(line_force(&place, &line, s), c[1]);
        if (across) cell(aw_simulation_at(sim, sim->field.forces.Fx_eff, s, 0.0), c[2]);
        if (across && place.theory == STEADY)
            cell(aw_steady_transverse(&line, place.kappa, s), c[3]);
        at = append(text, size, at, "\n%9d %12s %12s %12s %12s", k, cell(fz, c[0]), c[1], c[2],
                    c[3]);
    }
    if (place.theory == STEADY) return 4;
    if (place.theory == ENTRANCE) return 3;
    return aw_orbit_at(&sim->config->lattice->orbit, sim->S_ref).kappa != 0.0 ? 2 : 1;
}

/* What incoherent radiation, wakes and cavities did to the mean energy, and whether the parts add
 * up to its change. */
static void print_budget(const aw_simulation *sim, const aw_beam_stats *now)
{
    const double change = now->energy - sim->energy_start;
    const double cavities = aw_simulation_cavity_gain(sim, now);
    double sum = now->energy_mean - sim->wake_loss;
    int parts = 0;
    if (isfinite(now->isr_mean)) {
        aw_info("incoherent radiation: mean loss %.5g keV, rms %.5g keV", 1e-3 * now->isr_mean,
                1e-3 * now->isr_rms);
        sum -= now->isr_mean;
        ++parts;
    }
    if (sim->wakes) aw_info("wakes: mean loss %.5g keV", 1e-3 * sim->wake_loss);
    if (isfinite(cavities)) aw_info("cavities: mean gain %.5g keV", 1e-3 * cavities);
    if (isfinite(cavities)) sum += cavities;
    parts += sim->wakes || isfinite(cavities);
    if (parts)
        aw_info("mean energy: changed by %.6g keV, to which these parts add up within %.1g eV",
                1e-3 * change, fabs(sum - change));
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
    if (!sim->line && sim->field.height2 > 0.0)
        aw_info("height: %.5g um rms", 1e6 * sqrt(sim->field.height2));
    if (config->motion == AW_MOTION_SELF_CONSISTENT)
        aw_info("energy change: mean %.5g keV (dE/E %.4g %%), rms %.5g keV (%.4g %%)",
                1e-3 * now.energy_mean, 100.0 * now.energy_mean / energy, 1e-3 * now.energy_rms,
                100.0 * now.energy_rms / energy);
    print_budget(sim, &now);
}
