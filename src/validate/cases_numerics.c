/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cases of the numerics: a split bend, step, solvers, threads, and the charge. */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/input/lcls.h"
#include "src/simulation/verify.h"
#include "src/validate/cases.h"
#include "validation/analytic.h"

enum { POINTS = 61 };

static double steady_peak(void)
{
    const aw_line_bunch line = {.charge = 1e-9, .sigma = AW_LCLS_SIGMA};
    return fabs(aw_steady_force(&line, AW_LCLS_RADIUS, -0.3816 * line.sigma));
}

/* F_z on the axis out to 3 sigma, by the strip, at S[places] [m]: out[places][POINTS]. */
static aw_status axis_forces(const aw_config *config, const double *S, int places,
                             double out[][POINTS])
{
    aw_status status = AW_OK;
    aw_simulation *sim = NULL;
    aw_strip strip = {0};
    AW_TRY(aw_case_begin(config, &sim));
    AW_TRY(aw_strip_new(sim, &strip));
    for (int k = 0; k < places; ++k) {
        AW_TRY(aw_case_to(sim, S[k]));
        AW_TRY(aw_strip_solve(sim, &strip));
        for (int i = 0; i < POINTS; ++i)
            out[k][i] = aw_strip_at(sim, &strip, strip.forces.Fs, (0.1 * i - 3.0) * AW_LCLS_SIGMA);
    }
done:
    aw_strip_free(&strip);
    aw_simulation_free(sim);
    return status;
}

/* ----------------------------------------------------------------------------------- split bend */

static aw_status split(aw_validation *v)
{
    static const double part[3] = {0.137, 0.413, 0.45}, S[2] = {0.6, 1.0};
    aw_status status = AW_OK;
    aw_element element[4];
    aw_config *whole = NULL, *pieces = NULL;
    double one[2][POINTS], three[2][POINTS];
    for (int i = 0; i < 3; ++i) {
        element[i] = (aw_element){.kind = AW_BEND,
                                  .length = part[i] * AW_LCLS_RADIUS * AW_LCLS_ANGLE,
                                  .angle = part[i] * AW_LCLS_ANGLE};
        snprintf(element[i].name, sizeof element[i].name, "piece%d", i + 1);
    }
    element[3] = (aw_element){.kind = AW_DRIFT, .name = "after", .length = 1.0};
    AW_TRY(aw_case_lcls(v, AW_UPSTREAM_DRIFT, &whole));
    AW_TRY(aw_case_config(v, element, 4, 1e4, AW_UPSTREAM_DRIFT, &pieces));
    whole->beam.particles = pieces->beam.particles = 200000;
    whole->steps = pieces->steps = 50;
    AW_TRY(axis_forces(whole, S, 2, one));
    AW_TRY(axis_forces(pieces, S, 2, three));
    AW_TRY(aw_check_worst(v, "F_z 0.6 m in, inside a piece, three pieces and one [eV/m]",
                          (aw_pairs){three[0], one[0], POINTS}, steady_peak(), 2e-4));
    AW_TRY(aw_check_worst(v, "F_z 1.0 m in, behind a joint, three pieces and one [eV/m]",
                          (aw_pairs){three[1], one[1], POINTS}, steady_peak(), 2e-4));
done:
    aw_config_free(whole);
    aw_config_free(pieces);
    return status;
}

const aw_case aw_case_split_bend = {
    .name = "split-bend",
    .claim = "a bend split into three unequal parts gives the same force",
    .seconds = 8,
    .run = split,
};

/* ----------------------------------------------------------------------------------------- step */

static aw_status step(aw_validation *v)
{
    static const double S[3] = {0.3, 0.5, 0.8};
    static const char *const name[3] = {"F_z 0.3 m in, c dt = 0.02 m and 0.005 m [eV/m]",
                                        "F_z 0.5 m in, c dt = 0.02 m and 0.005 m [eV/m]",
                                        "F_z 0.8 m in, c dt = 0.02 m and 0.005 m [eV/m]"};
    aw_status status = AW_OK;
    aw_config *config = NULL;
    double coarse[3][POINTS], fine[3][POINTS];
    AW_TRY(aw_case_lcls(v, AW_UPSTREAM_DRIFT, &config));
    config->beam.particles = 200000;
    config->steps = 40;
    AW_TRY(axis_forces(config, S, 3, coarse));
    config->step_m = 0.005;
    config->steps = 160;
    AW_TRY(axis_forces(config, S, 3, fine));
    for (int k = 0; k < 3; ++k)
        AW_TRY(aw_check_worst(v, name[k], (aw_pairs){coarse[k], fine[k], POINTS}, steady_peak(),
                              0.005));
done:
    aw_config_free(config);
    return status;
}

const aw_case aw_case_step = {
    .name = "step",
    .claim = "a four times smaller step gives the same force in the entrance",
    .seconds = 15,
    .run = step,
};

/* -------------------------------------------------------------------------------------- solvers */

/* Solve with the centre at S, and compare about 200 nodes with the adaptive rule at a 1000 times
 * smaller tolerance and four times as many inner nodes (src/simulation/verify.h). */
static aw_status verify_at(aw_validation *v, aw_simulation *sim, double S, const char *where)
{
    aw_status status = AW_OK;
    double phi = NAN, psi = NAN;
    char quantity[96];
    const double tolerance = sim->config->tolerance;
    AW_TRY(aw_case_to(sim, S));
    AW_TRY(aw_simulation_solve(sim));
    AW_TRY(aw_verify_solution(sim, 200, &phi, &psi));
    snprintf(quantity, sizeof quantity, "phi %s, largest error over max|phi|", where);
    AW_TRY(aw_check_add(v, quantity, phi, 0.0, 1.0, tolerance));
    snprintf(quantity, sizeof quantity, "psi %s, largest error over max|psi|", where);
    AW_TRY(aw_check_add(v, quantity, psi, 0.0, 1.0, tolerance));
done:
    return status;
}

static aw_status solvers_of(aw_validation *v, int quiet, const char *const where[3])
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    AW_TRY(aw_case_lcls(v, AW_UPSTREAM_DRIFT, &config));
    config->beam.particles = 200000;
    config->beam.quiet = quiet;
    config->grid[0] = config->grid[1] = 64;
    AW_TRY(aw_case_begin(config, &sim));
    AW_TRY(verify_at(v, sim, 0.5, where[0]));
    AW_TRY(verify_at(v, sim, 2.0, where[1]));
    AW_TRY(verify_at(v, sim, AW_LCLS_RADIUS * AW_LCLS_ANGLE + 0.3, where[2]));
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

static aw_status solvers(aw_validation *v)
{
    static const char *const where[2][3] = {
        {"in the entrance, random", "in the steady state, random", "behind the exit, random"},
        {"in the entrance, quiet", "in the steady state, quiet", "behind the exit, quiet"}};
    aw_status status = solvers_of(v, 0, where[0]);
    return status == AW_OK ? solvers_of(v, 1, where[1]) : status;
}

const aw_case aw_case_solvers = {
    .name = "solvers",
    .claim = "the solver agrees with the adaptive rule at a 1000 times smaller tolerance",
    .seconds = 60,
    .run = solvers,
};

/* -------------------------------------------------------------------------------------- threads */

/* Three steps with `threads` threads. The potentials of the last step go into result
 * [nodes][AW_RESULTS], the particles' z, x, pz and px into coordinates [n][4]. */
static aw_status few_steps(aw_validation *v, aw_motion motion, int threads, double *result,
                           double *coordinates)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    AW_TRY(aw_case_lcls(v, AW_UPSTREAM_DRIFT, &config));
    config->motion = motion;
    config->beam.particles = 20000;
    config->grid[0] = config->grid[1] = 32;
    config->step_m = 0.1;
    config->threads = threads;
    config->steps = 3;
    AW_TRY(aw_simulation_new(config, NULL, 0, &sim));
    for (;;) {
        AW_TRY(aw_simulation_deposit(sim));
        AW_TRY(aw_simulation_solve(sim));
        AW_TRY(aw_simulation_synchronise(sim));
        if (sim->step == 3) break;
        AW_TRY(aw_simulation_advance(sim));
    }
    memcpy(result, sim->field.result, sim->field.nodes * AW_RESULTS * sizeof *result);
    for (size_t i = 0; i < sim->particles->n; ++i) {
        const aw_particles *p = sim->particles;
        const double one[4] = {p->z[i], p->x[i], p->pz[i], p->px[i]};
        memcpy(&coordinates[4 * i], one, sizeof one);
    }
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

/* How many of n numbers differ in any bit; NaN if one of them is not finite. */
static double differing(const double *a, const double *b, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; ++i) {
        uint64_t one, other;
        if (!isfinite(a[i])) return NAN;
        memcpy(&one, &a[i], sizeof one);
        memcpy(&other, &b[i], sizeof other);
        count += one != other;
    }
    return (double)count;
}

static aw_status threads(aw_validation *v)
{
    static const char *const name[2][2] = {
        {"rigid: potentials that differ in any bit", "rigid: coordinates that differ in any bit"},
        {"self-consistent: potentials that differ in any bit",
         "self-consistent: coordinates that differ in any bit"}};
    const aw_motion motion[2] = {AW_MOTION_RIGID, AW_MOTION_SELF_CONSISTENT};
    const size_t fields = (size_t)32 * 32 * AW_RESULTS, coordinates = (size_t)20000 * 4;
    const int before = omp_get_max_threads();
    aw_status status = AW_OK;
    double *one = aw_alloc(fields + coordinates, sizeof *one);
    double *two = aw_alloc(fields + coordinates, sizeof *two);
    AW_TRY(one && two ? AW_OK : AW_ERR_NOMEM);
    for (int k = 0; k < 2; ++k) {
        AW_TRY(few_steps(v, motion[k], 1, one, one + fields));
        AW_TRY(few_steps(v, motion[k], 2, two, two + fields));
        AW_TRY(aw_check_add(v, name[k][0], differing(one, two, fields), 0.0, 1.0, 0.0));
        AW_TRY(aw_check_add(v, name[k][1], differing(one + fields, two + fields, coordinates), 0.0,
                            1.0, 0.0));
    }
done:
    omp_set_num_threads(before); /* a simulation sets the number for the process */
    aw_free(one);
    aw_free(two);
    return status;
}

const aw_case aw_case_threads = {
    .name = "threads",
    .claim = "one and two threads give the same bits",
    .seconds = 20,
    .run = threads,
};

/* --------------------------------------------------------------------------------------- charge */

/* Charge in the cells of the newest slice [C], summed independently of the deposit. */
static double charge_in_cells(const aw_simulation *sim)
{
    const aw_slice *slice = &sim->field.view->slice[0];
    const double *cell = slice->cells;
    size_t n =
        (size_t)(sim->field.view->ns + 2 * AW_PAD) * (size_t)(sim->field.view->nx + 2 * AW_PAD);
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) sum += cell[i * AW_COMPONENTS];
    return sum * slice->hs * slice->hx;
}

static aw_status charge_of(aw_validation *v, aw_motion motion, const char *quantity)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_simulation *sim = NULL;
    double ours[11], reference[11];
    AW_TRY(aw_case_lcls(v, AW_UPSTREAM_DRIFT, &config));
    config->motion = motion;
    config->beam.particles = 200000;
    config->beam.quiet = 0;
    config->beam.chirp = -36.0; /* the grid tilts and changes size */
    config->steps = 10;
    config->step_m = 0.1;
    AW_TRY(aw_case_begin(config, &sim));
    for (int i = 0;; ++i) {
        ours[i] = charge_in_cells(sim);
        reference[i] = config->beam.charge;
        if (i == 10) break;
        AW_TRY(aw_simulation_advance(sim));
        AW_TRY(aw_simulation_deposit(sim));
    }
    AW_TRY(
        aw_check_worst(v, quantity, (aw_pairs){ours, reference, 11}, config->beam.charge, 1e-12));
done:
    aw_simulation_free(sim);
    aw_config_free(config);
    return status;
}

static aw_status charge(aw_validation *v)
{
    aw_status status = charge_of(v, AW_MOTION_RIGID, "rigid, worst of 11 steps [C]");
    if (status != AW_OK) return status;
    return charge_of(v, AW_MOTION_EXTERNAL, "moving in the bend's field, worst of 11 steps [C]");
}

const aw_case aw_case_charge = {
    .name = "charge",
    .claim = "the charge in the cells is that of the beam, to rounding",
    .seconds = 2,
    .run = charge,
};
