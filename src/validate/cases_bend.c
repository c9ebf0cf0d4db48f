/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cases of a single bend: steady state, entrance, exit, and the energy lost in all of it. */
#include <math.h>
#include <stdio.h>

#include "src/base/memory.h"
#include "src/input/lcls.h"
#include "src/validate/cases.h"
#include "validation/analytic.h"

static const aw_line_bunch line = {.charge = 1e-9, .sigma = AW_LCLS_SIGMA};
#define BEND_END (AW_LCLS_RADIUS * AW_LCLS_ANGLE)

/* Largest magnitude of the steady force, at s = -0.3816 sigma [eV/m]: the scale of every F_z
 * here. */
static double steady_peak(void)
{
    return fabs(aw_steady_force(&line, AW_LCLS_RADIUS, -0.3816 * line.sigma));
}

/* ------------------------------------------------------------------------------- steady state */

enum { POINTS = 61, COLUMNS = 5 };

static aw_status steady(aw_validation *v)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_strip strip = {0};
    double fz[POINTS], fz_known[POINTS], fx[POINTS], fx_known[POINTS], on_strip[POINTS];
    double table[POINTS][COLUMNS];
    AW_TRY(aw_case_lcls(v, AW_UPSTREAM_DRIFT, &config));
    config->steps = 150;
    AW_TRY(aw_case_begin(config, &sim));
    AW_TRY(aw_case_to(sim, 3.0));
    AW_TRY(aw_simulation_solve(sim));
    AW_TRY(aw_strip_new(sim, &strip));
    AW_TRY(aw_strip_solve(sim, &strip));
    for (int i = 0; i < POINTS; ++i) {
        double s = (0.1 * i - 3.0) * line.sigma;
        fz[i] = aw_simulation_at(sim, sim->field.forces.Fs, s, 0.0);
        fx[i] = aw_simulation_at(sim, sim->field.forces.Fx_eff, s, 0.0);
        on_strip[i] = aw_strip_at(sim, &strip, strip.forces.Fs, s);
        fz_known[i] = aw_steady_force(&line, AW_LCLS_RADIUS, s);
        fx_known[i] = aw_steady_transverse(&line, 1.0 / AW_LCLS_RADIUS, s);
        const double row[COLUMNS] = {s, fz[i], fz_known[i], fx[i], fx_known[i]};
        for (int k = 0; k < COLUMNS; ++k) table[i][k] = row[k];
    }
    AW_TRY(aw_check_worst(v, "F_z, worst of 61 points on the axis [eV/m]",
                          (aw_pairs){fz, fz_known, POINTS}, steady_peak(), 0.002));
    AW_TRY(aw_check_worst(v, "F_x_eff, worst of 61 points on the axis [eV/m]",
                          (aw_pairs){fx, fx_known, POINTS},
                          fabs(aw_steady_transverse(&line, 1.0 / AW_LCLS_RADIUS, 0.0)), 0.003));
    /* Two solves of the same nodes, each with errors of psi up to the tolerance of 1e-6 psi; the
     * gradient is over a cell of sigma/12: a few times 1e-6 * (12 psi/sigma)/(psi/sigma). */
    AW_TRY(aw_check_worst(v, "F_z of 8 rows solved alone, against the whole grid [eV/m]",
                          (aw_pairs){on_strip, fz, POINTS}, steady_peak(), 1e-4));
    AW_TRY(aw_case_table(v, "lcls_bend", "s_m,F_z,F_z_analytic,F_x_eff,F_x_eff_analytic",
                         &table[0][0], POINTS, COLUMNS));
done:
    aw_strip_free(&strip);
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_lcls_bend = {
    .name = "lcls-bend",
    .claim = "forces in the steady state of the LCLS bend agree with the closed forms",
    .seconds = 15,
    .run = steady,
};

/* ----------------------------------------------------------------------- entrance and exit */

/* F_z on the axis at s = -sigma, 0, sigma at the current step, against `known` at distance d [m]
 * from the edge at S = `edge`. */
static aw_status check_three(aw_validation *v, aw_simulation *sim, aw_strip *strip,
                             const char *where, double edge, double (*known)(double d, double s))
{
    static const char *const place[3] = {"-sigma", "0", "sigma"};
    char quantity[96];
    aw_status status = AW_OK;
    AW_TRY(aw_strip_solve(sim, strip));
    for (int j = 0; j < 3; ++j) {
        double s = (j - 1) * line.sigma;
        snprintf(quantity, sizeof quantity, "F_z %s, s = %s [eV/m]", where, place[j]);
        AW_TRY(aw_check_add(v, quantity, aw_strip_at(sim, strip, strip->forces.Fs, s),
                            known(sim->S_ref - edge + s, s), steady_peak(), 0.004));
    }
done:
    return status;
}

static double entrance_known(double d, double s)
{
    return aw_entrance_force(&line, AW_LCLS_RADIUS, d, s);
}

static double exit_known(double d, double s)
{
    return aw_exit_force(&line, AW_LCLS_RADIUS, AW_LCLS_ANGLE, d, s);
}

static aw_status entrance_of_width(aw_validation *v, double sigma_x)
{
    static const double d[4] = {0.2, 0.5, 0.8, 1.2};
    char where[64];
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_strip strip = {0};
    AW_TRY(aw_case_lcls(v, AW_UPSTREAM_DRIFT, &config));
    config->beam.sigma_x = sigma_x;
    config->steps = 60;
    AW_TRY(aw_case_begin(config, &sim));
    AW_TRY(aw_strip_new(sim, &strip));
    for (int i = 0; i < 4; ++i) {
        AW_TRY(aw_case_to(sim, d[i]));
        snprintf(where, sizeof where, "%.1f m in, sigma_x = %.0f um", d[i], 1e6 * sigma_x);
        AW_TRY(check_three(v, sim, &strip, where, 0.0, entrance_known));
    }
done:
    aw_strip_free(&strip);
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

static aw_status entrance(aw_validation *v)
{
    aw_status status = entrance_of_width(v, 10e-6);
    return status == AW_OK ? entrance_of_width(v, 50e-6) : status;
}

const aw_case aw_case_lcls_entrance = {
    .name = "lcls-entrance",
    .claim = "the real force in the entrance of a bend agrees with Saldin et al.",
    .seconds = 15,
    .run = entrance,
};

static aw_status exit_of_bend(aw_validation *v)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    aw_strip strip = {0};
    AW_TRY(aw_case_lcls(v, AW_UPSTREAM_DRIFT, &config));
    AW_TRY(aw_case_begin(config, &sim));
    AW_TRY(aw_strip_new(sim, &strip));
    AW_TRY(aw_case_to(sim, BEND_END + 0.5));
    AW_TRY(check_three(v, sim, &strip, "0.5 m behind the exit", BEND_END, exit_known));
done:
    aw_strip_free(&strip);
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_lcls_exit = {
    .name = "lcls-exit",
    .claim = "the real force behind a bend agrees with Stupakov and Emma",
    .seconds = 15,
    .run = exit_of_bend,
};

/* ------------------------------------------------------------------------------------ energy */

/* Solve at these S [m]: every 0.1 m where the mean force changes, sparsely where it is constant. */
enum { ENERGY_NODES = 27 };
static double energy_place(int i)
{
    return i <= 22 ? 0.1 * i : fmin(2.2 + 0.7 * (i - 22), BEND_END);
}

/* Integral of f[n] over the uneven nodes x[n] by piecewise cubics (Hermite, slopes from three
 * points). */
static double integral(const double *x, const double *f, int n)
{
    double sum = 0.0, slope[ENERGY_NODES];
    for (int i = 1; i < n - 1; ++i) {
        double a = x[i] - x[i - 1], b = x[i + 1] - x[i];
        slope[i] = ((f[i + 1] - f[i]) / b * a + (f[i] - f[i - 1]) / a * b) / (a + b);
    }
    slope[0] = 2.0 * (f[1] - f[0]) / (x[1] - x[0]) - slope[1];
    slope[n - 1] = 2.0 * (f[n - 1] - f[n - 2]) / (x[n - 1] - x[n - 2]) - slope[n - 2];
    for (int i = 0; i + 1 < n; ++i) {
        double h = x[i + 1] - x[i];
        sum += 0.5 * h * (f[i] + f[i + 1]) + h * h / 12.0 * (slope[i] - slope[i + 1]);
    }
    return sum;
}

static aw_status energy(aw_validation *v)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    double S[ENERGY_NODES], mean[ENERGY_NODES], known[ENERGY_NODES];
    AW_TRY(aw_case_lcls(v, AW_UPSTREAM_DRIFT, &config));
    config->beam.particles = 300000;
    config->grid[1] = 32; /* F_z hardly depends on x: 3 nodes per sigma are enough there */
    AW_TRY(aw_case_begin(config, &sim));
    for (int i = 0; i < ENERGY_NODES; ++i) {
        AW_TRY(aw_case_to(sim, energy_place(i)));
        AW_TRY(aw_simulation_solve(sim));
        S[i] = sim->S_ref;
        mean[i] = sim->force_stats.mean_s;
        known[i] = aw_entrance_mean(&line, AW_LCLS_RADIUS, S[i]);
    }
    double exact = aw_entrance_energy(&line, AW_LCLS_RADIUS, S[ENERGY_NODES - 1]);
    /* The error of this rule: the closed form at the nodes, against its exact integral. */
    AW_TRY(aw_check_add(v, "closed form summed over the same 27 places [eV]",
                        integral(S, known, ENERGY_NODES), exact, fabs(exact), 1e-4));
    AW_TRY(aw_check_add(v, "mean energy change through the bend [eV]",
                        integral(S, mean, ENERGY_NODES), exact, fabs(exact), 0.002));
    AW_TRY(aw_check_worst(v, "mean force, worst of the 27 places [eV/m]",
                          (aw_pairs){mean, known, ENERGY_NODES},
                          fabs(aw_steady_mean(&line, AW_LCLS_RADIUS)), 0.002));
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

const aw_case aw_case_lcls_energy = {
    .name = "lcls-energy",
    .claim = "in the 5 m LCLS bend, entered from a drift, the mean particle loses 0.887 MeV",
    .seconds = 80,
    .run = energy,
};
