/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/simulation/force_error.h"

#include <math.h>
#include <stdint.h>

#include "kernels/math/slope.h"
#include "src/base/timer.h"
#include "src/simulation/ranks.h"
#include "src/solvers/at_points.h"

/* Nodes at which forces are compared: spread over the core of the grid, and the two where |F_s| and
 * |F_x| are largest. */
enum { SPREAD = 8, PLACES = SPREAD + 2 };
/* Nodes of the windows along both axes of all places. */
enum { STENCIL = 2 * AW_SLOPE_NODES - 1, POINTS = PLACES * STENCIL };

/* Part of the grid's nodes at either end of each axis that is not in the core: few particles. */
#define AW_FORCE_RIM 0.125
/* Tolerance and inner nodes of the reference, over those of the solver. `projection` is often more
 * accurate than an adaptive rule with the same tolerance, and a reference that is not far better
 * would show its own error (with 0.2, 36 times the true one of F_x at a first step). */
#define AW_FORCE_TOLERANCE 0.05
#define AW_FORCE_DENSITY 2.0
/* Tolerance from which on the reference has the inner nodes of the solver. In the Zeuthen chicane
 * (48 x 48, 3e-3 and 1e-3) the estimates then agree within 30 % with those of twice as many, at 13
 * and 7 places, for half of the time; with half as many they are up to five times too small. */
#define AW_FORCE_SPARSE 1e-3

/* A node of the grid. */
typedef struct place {
    int i, j;
} place;

static size_t index_of(const aw_grid_view *grid, int i, int j)
{
    return (size_t)j * (size_t)grid->ns + (size_t)i;
}

/* The node where |value| is largest, of those that are felt. */
static place largest(const aw_simulation *sim, const double *value)
{
    const aw_grid_view *grid = &sim->field.frame.grid;
    const unsigned char *felt = aw_self_field_felt(&sim->field);
    size_t at = SIZE_MAX;
    for (size_t k = 0; k < sim->field.nodes; ++k) {
        if (felt && !felt[k]) continue;
        if (at == SIZE_MAX || fabs(value[k]) > fabs(value[at])) at = k;
    }
    return (place){(int)(at % (size_t)grid->ns), (int)(at / (size_t)grid->ns)};
}

/* The next place of the sequence that is felt. */
static place next_place(aw_simulation *sim)
{
    const aw_grid_view *grid = &sim->field.frame.grid;
    const unsigned char *felt = aw_self_field_felt(&sim->field);
    const double core = 1.0 - 2.0 * AW_FORCE_RIM;
    for (size_t tries = 0;; ++tries) {
        double u, w;
        aw_spread_pair(sim->force_places++, &u, &w);
        /* Where nothing is felt in the core, beside it. */
        if (tries < sim->field.nodes) {
            u = AW_FORCE_RIM + core * u;
            w = AW_FORCE_RIM + core * w;
        }
        const place at = {(int)(u * grid->ns), (int)(w * grid->nx)};
        if (!felt || felt[index_of(grid, at.i, at.j)]) return at;
    }
}

static void choose_places(aw_simulation *sim, place out[PLACES])
{
    for (int k = 0; k < SPREAD; ++k) out[k] = next_place(sim);
    out[SPREAD] = largest(sim, sim->field.forces.Fs);
    out[SPREAD + 1] = largest(sim, sim->field.forces.Fx);
}

/* Append a node to a list that does not hold it yet. @return the new length */
static size_t list_node(size_t node, size_t *list, size_t n)
{
    for (size_t k = 0; k < n; ++k)
        if (list[k] == node) return n;
    list[n] = node;
    return n + 1;
}

/* List the nodes of the windows of all places. @return their number */
static size_t list_windows(const aw_grid_view *grid, const place at[PLACES], size_t list[POINTS])
{
    size_t n = 0;
    for (int k = 0; k < PLACES; ++k) {
        int first_s, first_x;
        aw_slope_weights(at[k].i, grid->ns, &first_s);
        aw_slope_weights(at[k].j, grid->nx, &first_x);
        for (int m = 0; m < AW_SLOPE_NODES; ++m) {
            n = list_node(index_of(grid, first_s + m, at[k].j), list, n);
            n = list_node(index_of(grid, at[k].i, first_x + m), list, n);
        }
    }
    return n;
}

/* Exchange the grid's results at n nodes with those of the reference. */
static void exchange(double *result, const size_t *node, size_t n, double (*reference)[AW_RESULTS])
{
    for (size_t i = 0; i < n; ++i)
        for (unsigned k = 0; k < AW_RESULTS; ++k) {
            double *at = &result[node[i] * AW_RESULTS + k];
            const double own = *at;
            *at = reference[i][k];
            reference[i][k] = own;
        }
}

/* Sums over the places that have a reference. */
typedef struct sums {
    double square, max;
} sums;

static void add_error(double difference, sums *to)
{
    to->square += difference * difference;
    to->max = fmax(to->max, fabs(difference));
}

static double likely_largest(const sums *of, double peak, double n)
{
    return n > 0.0 ? fmax(of->max, peak * sqrt(of->square / n)) : (double)NAN;
}

/* Estimates from the forces of the run and those of the reference, whose results are in the windows
 * of the places; places where the reference did not converge are left out. */
static aw_force estimate(const aw_simulation *sim, const place at[PLACES])
{
    const aw_grid_view *grid = &sim->field.frame.grid;
    const aw_forces *own = &sim->field.forces;
    sums s = {0}, x = {0}, s_eff = {0}, x_eff = {0};
    double n = 0.0;
    for (int k = 0; k < PLACES; ++k) {
        const size_t node = index_of(grid, at[k].i, at[k].j);
        const aw_force f =
            aw_force_from_potentials(grid, sim->field.point, sim->field.result, at[k].i, at[k].j);
        if (!isfinite(f.s + f.x + f.s_eff + f.x_eff)) continue;
        add_error(own->Fs[node] - f.s, &s);
        add_error(own->Fx[node] - f.x, &x);
        add_error(own->Fs_eff[node] - f.s_eff, &s_eff);
        add_error(own->Fx_eff[node] - f.x_eff, &x_eff);
        n += 1.0;
    }
    return (aw_force){.s = likely_largest(&s, AW_FORCE_PEAK_S, n),
                      .x = likely_largest(&x, AW_FORCE_PEAK_X, n),
                      .s_eff = likely_largest(&s_eff, AW_FORCE_PEAK_S, n),
                      .x_eff = likely_largest(&x_eff, AW_FORCE_PEAK_X, n)};
}

/* Inner nodes of the reference, over those of the solver. */
static double reference_density(double tolerance)
{
    return tolerance < AW_FORCE_SPARSE ? AW_FORCE_DENSITY : 1.0;
}

aw_status aw_simulation_force_error(aw_simulation *sim)
{
    aw_status status = AW_OK;
    place at[PLACES];
    size_t node[POINTS];
    double reference[POINTS][AW_RESULTS];
    const aw_grid_view *grid = &sim->field.frame.grid;
    const double begin = aw_now();
    aw_simulation_command(sim, AW_COMMAND_FORCE_ERROR);
    const aw_problem problem = aw_self_field_problem(&sim->field, sim->field.point,
                                                     sim->field.nodes, sim->config->tolerance);
    choose_places(sim, at);
    const size_t n = list_windows(grid, at, node);
    const aw_at_points wanted = {.point = node,
                                 .n = n,
                                 .tolerance = AW_FORCE_TOLERANCE * problem.tolerance,
                                 .density = reference_density(problem.tolerance),
                                 .I = reference};
    AW_TRY(aw_solver_at_points(sim->field.solver, &problem, &wanted));
    exchange(sim->field.result, node, n, reference);
    sim->force_error = estimate(sim, at);
    exchange(sim->field.result, node, n, reference);
    sim->F_s_largest = fabs(sim->field.forces.Fs[index_of(grid, at[SPREAD].i, at[SPREAD].j)]);
    sim->F_x_largest =
        fabs(sim->field.forces.Fx[index_of(grid, at[SPREAD + 1].i, at[SPREAD + 1].j)]);
    sim->force_error_known = 1;
    sim->seconds[AW_PART_FORCES] += aw_now() - begin;
done:
    return status;
}
