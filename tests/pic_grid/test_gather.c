/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gather of forces: exact for linear fields, the adjoint of the deposition, dv x B. */
#include <math.h>

#include "pic/compensation.h"
#include "pic/deposit.h"
#include "pic/gather.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NS = 20, NX = 14, NODES = NS * NX, FIELDS = sizeof(aw_forces) / sizeof(double *) };

static const aw_grid_view grid = {.ns = NS,
                                  .nx = NX,
                                  .hs = 1e-5,
                                  .hx = 2.5e-5,
                                  .z = 1.25,
                                  .x = -0.5,
                                  .theta = 0.65,
                                  .tilt = 0.25};

/* Lab position of (u, w), in cells about the grid's centre. */
static void lab(double u, double w, double *z, double *x)
{
    double c = cos(grid.theta), s = sin(grid.theta);
    *z = grid.z + u * grid.hs * c - w * grid.hx * s;
    *x = grid.x + u * grid.hs * s + w * grid.hx * c;
}

static void gather_is_exact_for_fields_of_second_degree(void **state)
{
    double one[NODES], line[NODES], square[NODES];
    uint64_t random = 6;
    (void)state;
    for (int k = 0; k < NODES; ++k) {
        const int column = k % NS, row = k / NS;
        double u = column - 0.5 * (NS - 1), w = row - 0.5 * (NX - 1);
        one[k] = 4.5;
        line[k] = 1.0 + 2.0 * u - 3.0 * w;
        square[k] = u * u - 2.0 * w * w + u * w;
    }
    for (int i = 0; i < 500; ++i) {
        double u = uniform(&random, -8.9, 8.9), w = uniform(&random, -5.9, 5.9), z, x;
        lab(u, w, &z, &x);
        /* lab positions of 1 m are rounded to 1e-16 m, 1e-11 of a cell */
        assert_close(aw_gather_at(&grid, one, z, x), 4.5, 1e-14, 0.0);
        assert_close(aw_gather_at(&grid, line, z, x), 1.0 + 2.0 * u - 3.0 * w, 0.0, 1e-9);
        assert_close(aw_gather_at(&grid, square, z, x), u * u - 2.0 * w * w + u * w, 0.0, 1e-8);
    }
}

/* sum over particles of q f(x_p) = sum over nodes of sigma f h_s h_x, for any field: the two have
 * the same shape. Deposit and gather compensate for different smoothings, so that each side of the
 * equation gets the filter that it lacks; the field is zero near the edges, where filters differ.
 */
static void gather_is_the_adjoint_of_deposit(void **state)
{
    enum { N = 3000 };
    const double q = 2e-13;
    _Alignas(32) double filtered[NODES][AW_QUAD] = {{0.0}}, scratch[NODES][AW_QUAD];
    double field[NODES], moments_filtered[NODES], gathered = 0.0, deposited = 0.0, size = 0.0,
                                                  charge;
    double *cells = aw_alloc(1, aw_slice_bytes(NS, NX, 0));
    aw_frame frame = {.grid = grid, .theta_design = 0.4, .placed = 1};
    aw_particles *p = NULL;
    aw_deposit *d = NULL;
    uint64_t random = 8;
    (void)state;
    assert_non_null(cells);
    assert_ok(aw_particles_new(N, q, &p));
    assert_ok(aw_deposit_new(NS, NX, &d));
    for (int k = 0; k < NODES; ++k) {
        const int i = k % NS, j = k / NS, inside = i > 3 && i < NS - 4 && j > 3 && j < NX - 4;
        filtered[k][0] = field[k] = inside ? uniform(&random, -1.0, 1.0) : 0.0;
    }
    aw_compensate_moments(&(aw_quad_grid){NS, NX, NS}, filtered[0], scratch[0]);
    for (int k = 0; k < NODES; ++k) moments_filtered[k] = filtered[k][0];
    for (int i = 0; i < N; ++i) {
        lab(uniform(&random, -8.9, 8.9), uniform(&random, -5.9, 5.9), &p->z[i], &p->x[i]);
        p->pz[i] = 100.0;
        gathered += q * aw_gather_at(&grid, moments_filtered, p->z[i], p->x[i]);
    }
    assert_ok(aw_deposit_run(d, p, &frame, 0, cells, &charge));
    for (int k = 0; k < NODES; ++k) {
        size_t at = (size_t)(k / NS + AW_PAD) * (NS + 2 * AW_PAD) + (size_t)(k % NS + AW_PAD);
        const double field_filtered = aw_compensated_at(field, NS, NX, k % NS, k / NS);
        deposited += cells[at * AW_COMPONENTS] * field_filtered * grid.hs * grid.hx;
        size += cells[at * AW_COMPONENTS] * grid.hs * grid.hx;
    }
    assert_close(gathered, deposited, 0.0, 1e-13 * size); /* sums of 3000 terms, each rounded */
    aw_deposit_free(d);
    aw_particles_free(p);
    aw_free(cells);
}

/* Uniform forces and field: the force is that for the design velocity plus dv x B. */
static void a_particle_off_the_design_velocity_gets_dv_cross_b(void **state)
{
    enum { N = 50 };
    const double gamma = 20.0, theta = 0.4, Fz0 = 3.0, Fx0 = -2.0, cBy = 7.0;
    double field[FIELDS][NODES], Fz[N], Fx[N], Fs[N], Fn[N], beta = beta_of(gamma);
    aw_forces forces = {field[0], field[1], field[2], field[3],
                        field[4], field[5], field[6], field[7]};
    aw_particles *p = NULL;
    uint64_t random = 4;
    (void)state;
    assert_int_equal(FIELDS, 8);
    for (int k = 0; k < NODES; ++k) {
        for (int f = 0; f < 4; ++f) field[f][k] = NAN; /* must not be read */
        forces.Fz_lab[k] = Fz0;
        forces.Fx_lab[k] = Fx0;
        forces.cBy[k] = cBy;
        forces.theta[k] = theta;
    }
    assert_ok(aw_particles_new(N, 1e-13, &p));
    for (int i = 0; i < N; ++i) {
        double g = gamma * uniform(&random, 0.5, 2.0), a = theta + uniform(&random, -0.3, 0.3);
        double m = sqrt(g * g - 1.0);
        lab(uniform(&random, -8.9, 8.9), uniform(&random, -5.9, 5.9), &p->z[i], &p->x[i]);
        p->pz[i] = i ? m * cos(a) : gamma * beta * cos(theta); /* the first: the design velocity */
        p->px[i] = i ? m * sin(a) : gamma * beta * sin(theta);
    }
    const aw_gather_params params = {&grid, &forces, gamma, 0.0};
    aw_gather_run(&params, p, Fz, Fx, Fs, Fn);
    assert_close(Fz[0], Fz0, 0.0, 1e-13);
    assert_close(Fx[0], Fx0, 0.0, 1e-13);
    for (int i = 0; i < N; ++i) {
        double g = sqrt(1.0 + p->pz[i] * p->pz[i] + p->px[i] * p->px[i]);
        double dz = p->pz[i] / g - beta * cos(theta), dx = p->px[i] / g - beta * sin(theta);
        /* (x, y, z) is right-handed, so that v x B = (-v_z B_y) x + (v_x B_y) z */
        assert_close(Fz[i], Fz0 + dx * cBy, 1e-13, 1e-13);
        assert_close(Fx[i], Fx0 - dz * cBy, 1e-13, 1e-13);
        assert_close(Fs[i], Fz[i] * cos(theta) + Fx[i] * sin(theta), 1e-12, 1e-13);
        assert_close(Fn[i], -Fz[i] * sin(theta) + Fx[i] * cos(theta), 1e-12, 1e-13);
    }
    aw_gather_run(&params, p, Fz, Fx, NULL, NULL); /* F_s and F_n may be left out */
    aw_particles_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gather_is_exact_for_fields_of_second_degree),
        cmocka_unit_test(gather_is_the_adjoint_of_deposit),
        cmocka_unit_test(a_particle_off_the_design_velocity_gets_dv_cross_b),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
