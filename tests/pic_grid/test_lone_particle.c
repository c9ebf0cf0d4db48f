/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A single macro-particle in straight motion exerts no force on itself. */
#include <math.h>
#include <stdlib.h>

#include "pic/deposit.h"
#include "pic/forces.h"
#include "pic/frame.h"
#include "pic/gather.h"
#include "pic/history.h"
#include "src/base/memory.h"
#include "src/solvers/solver.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

/* Filters and differences about the particle reach 6 nodes; at an edge they are one-sided. */
enum { NODES = 16, POINTS = NODES * NODES };
#define GAMMA 100.0
#define TOLERANCE 1e-8

typedef struct stage {
    aw_orbit_piece piece;
    aw_orbit_view orbit;
    aw_frame frame;
    aw_particles *p;
    aw_history *history;
    aw_field_point point[POINTS];
    double result[POINTS * AW_RESULTS];
    double field[8][POINTS];
} stage;

/* One particle at (a, b) cells from the grid's centre; nothing else is in its history. */
static void stage_open(stage *g, double hs, double hx, double a, double b)
{
    const aw_history_params ring = {NODES, NODES, 0, 0.02, GAMMA, 0.0, 0, 1e3, 4};
    double charge;
    aw_deposit *d = NULL;
    g->piece = (aw_orbit_piece){.S = 0.0};
    g->orbit = (aw_orbit_view){&g->piece, 1};
    aw_frame_init(&g->frame, NODES, NODES);
    aw_frame_rigid(&g->frame, &g->orbit, 0.0, hs * (0.5 * (NODES - 1) - AW_SHAPE_REACH),
                   hx * (0.5 * (NODES - 1) - AW_SHAPE_REACH));
    assert_ok(aw_particles_new(1, 1e-12, &g->p));
    g->p->z[0] = a * hs;
    g->p->x[0] = b * hx;
    g->p->pz[0] = sqrt((GAMMA - 1.0) * (GAMMA + 1.0));
    assert_ok(aw_history_new(&ring, &g->history));
    assert_ok(aw_deposit_new(NODES, NODES, &d));
    assert_ok(aw_deposit_run(d, g->p, &g->frame, 0, aw_history_cells(g->history), &charge));
    aw_deposit_free(d);
    aw_history_push(g->history, &g->frame, 0.0, 0.0);
    aw_frame_points(&g->frame.grid, &g->orbit, GAMMA, g->point);
}

static void solve(stage *g, const aw_variant *variant)
{
    const aw_device_params params = {.variant = variant->name, .inner_density = 1.0};
    const aw_grid_view *grid = &g->frame.grid;
    double middle = 0.5 * (NODES - 1);
    aw_device device;
    aw_solver *solver = NULL;
    aw_report report;
    aw_problem problem = {.history = aw_history_look(g->history, &g->orbit),
                          .point = g->point,
                          .points = POINTS,
                          .centre = aw_frame_point(grid, &g->orbit, GAMMA, middle, middle),
                          .half = middle * hypot(grid->hs, grid->hx),
                          .tolerance = TOLERANCE};
    assert_ok(aw_device_open("cpu", &params, &device));
    assert_ok(aw_solver_new("two-phase", &device, &solver));
    assert_ok(aw_solver_scales(solver, &problem, &problem.scales));
    assert_ok(aw_solver_solve(solver, &problem, g->result, NULL, &report));
    aw_solver_free(solver);
    aw_device_close(&device);
}

static void check_self_force(void **state, double hs, double hx, double a, double b)
{
    stage *g = calloc(1, sizeof *g);
    double Fz, Fx, max_s = 0.0, max_x = 0.0;
    assert_non_null(g);
    aw_forces forces = {g->field[0], g->field[1], g->field[2], g->field[3], g->field[4],
                        g->field[5], g->field[6], g->field[7], NULL};
    stage_open(g, hs, hx, a, b);
    solve(g, *state);
    aw_forces_from_potentials(&g->frame.grid, g->point, g->result, &forces);
    const aw_gather_params params = {.grid = &g->frame.grid, .forces = &forces, .gamma = GAMMA};
    aw_gather_run(&params, g->p, &Fz, &Fx, NULL, NULL);
    for (int i = 0; i < POINTS; ++i) {
        max_s = fmax(max_s, fabs(forces.Fs[i]));
        max_x = fmax(max_x, fabs(forces.Fx[i]));
    }
    assert_true(max_s > 0.0 && max_x > 0.0);
    /* Deposit and gather have the same shape, and the gradient is odd under reflection: the force
     * is zero but for the error of the quadrature, which is larger the less symmetric its nodes
     * are. */
    assert_close(Fz, 0.0, 0.0, 1e-4 * max_s);
    assert_close(Fx, 0.0, 0.0, 1e-4 * max_x);
    aw_particles_free(g->p);
    aw_history_free(g->history);
    free(g);
}

static void a_lone_particle_exerts_no_force_on_itself(void **state)
{
    check_self_force(state, 1e-5, 1e-5, 0.0, 0.0);
    check_self_force(state, 1e-5, 1e-5, 0.5, 0.5);
    check_self_force(state, 1e-5, 1e-5, 0.3, -0.2);
    check_self_force(state, 1e-5, 1e-5, -0.45, 0.11);
}

static void a_lone_particle_exerts_no_force_on_itself_on_cells_that_are_not_square(void **state)
{
    check_self_force(state, 1e-5, 3e-5, 0.3, -0.2);
    check_self_force(state, 2e-5, 1e-5, -0.1, 0.4);
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(a_lone_particle_exerts_no_force_on_itself, variant),
        cmocka_unit_test_prestate(
            a_lone_particle_exerts_no_force_on_itself_on_cells_that_are_not_square, variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
