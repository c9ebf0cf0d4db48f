/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gather of forces: exact for linear fields, the adjoint of the deposition, dv x B, differences of
 * the vector potential. */
#include <math.h>

#include "pic/compensation.h"
#include "pic/deposit.h"
#include "pic/gather.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NS = 30, NX = 24, NODES = NS * NX, FIELDS = 8, PARTICLES = 200 };

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
        const int i = k % NS, j = k / NS, inside = i > 9 && i < NS - 10 && j > 9 && j < NX - 10;
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

/* Forces at other nodes than those that the deposit calls felt are not read, in the middle of the
 * grid and at its edges. */
static void the_gather_reads_felt_nodes_alone(void **state)
{
    enum { N = 40 };
    double field[FIELDS][NODES], Fz[N], Fx[N], Fs[N], Fn[N], charge;
    aw_forces forces = {field[0], field[1], field[2], field[3], field[4],
                        field[5], field[6], field[7], NULL};
    double *cells = aw_alloc(1, aw_slice_bytes(NS, NX, 0));
    aw_frame frame = {.grid = grid, .theta_design = 0.4, .placed = 1};
    aw_particles *p = NULL;
    aw_deposit *d = NULL;
    aw_gather *gather = NULL;
    aw_gather_stats stats;
    uint64_t random = 11;
    int felt_nodes = 0;
    (void)state;
    assert_non_null(cells);
    assert_ok(aw_particles_new(N, 1e-13, &p));
    assert_ok(aw_deposit_new(NS, NX, &d));
    assert_ok(aw_gather_new(NS, NX, &gather));
    for (int i = 0; i < N; ++i) {
        const double u = i < N / 2 ? uniform(&random, -2.0, 2.0) : uniform(&random, 8.0, 8.9);
        const double w = i < N / 2 ? uniform(&random, -1.0, 1.0) : uniform(&random, -5.9, -5.0);
        lab(u, w, &p->z[i], &p->x[i]);
        p->pz[i] = 100.0;
    }
    assert_ok(aw_deposit_run(d, p, &frame, 0, cells, &charge));
    const unsigned char *felt = aw_deposit_felt(d);
    for (int k = 0; k < NODES; ++k) {
        felt_nodes += felt[k] != 0;
        for (int f = 0; f < FIELDS; ++f)
            field[f][k] = felt[k] ? uniform(&random, -1.0, 1.0) : (double)NAN;
    }
    assert_in_range(felt_nodes, 1, NODES - 1);
    const aw_gather_params params = {.grid = &grid, .forces = &forces, .gamma = 100.0};
    aw_gather_run(&params, p, Fz, Fx, Fs, Fn);
    for (int i = 0; i < N; ++i) assert_true(isfinite(Fz[i] + Fx[i] + Fs[i] + Fn[i]));
    assert_ok(aw_gather_step(gather, &params, p, Fz, Fx, &stats));
    for (int i = 0; i < N; ++i) assert_true(isfinite(Fz[i] + Fx[i]));
    aw_gather_free(gather);
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
    aw_forces forces = {field[0], field[1], field[2], field[3], field[4],
                        field[5], field[6], field[7], NULL};
    aw_particles *p = NULL;
    uint64_t random = 4;
    (void)state;
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
    const aw_gather_params params = {.grid = &grid, .forces = &forces, .gamma = gamma};
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

/* Particles anywhere with momenta about the design one, and a grid whose vector potential is
 * linear, with a node's rates along the design velocity in a static field. */
typedef struct vector_case {
    double field[4][NODES], vector[8 * NODES], Fz[PARTICLES], Fx[PARTICLES];
    aw_forces forces;
    aw_particles *p;
    aw_gather *gather;
} vector_case;

#define VECTOR_GAMMA 20.0
#define VECTOR_THETA 0.4
/* Derivatives of q c A_z and q c A_x along z and x [eV/m]. */
static const double slope_of[2][2] = {{4e8, -7e8}, {-2e8, 9e8}};

/* Of A in the middle, and what the rates are wrong by [eV, eV/m]. With `slopes` 0, A is uniform. */
static void set_vectors(vector_case *c, double slopes, const double A[2], const double wrong[2])
{
    const double beta = beta_of(VECTOR_GAMMA);
    const double v[2] = {beta * cos(VECTOR_THETA), beta * sin(VECTOR_THETA)};
    for (int k = 0; k < NODES; ++k) {
        const int column = k % NS, row = k / NS;
        double z, x;
        lab(column - 0.5 * (NS - 1), row - 0.5 * (NX - 1), &z, &x);
        for (int a = 0; a < 2; ++a) {
            double *to = c->vector + 4 * k + a;
            const double slope[2] = {slopes * slope_of[a][0], slopes * slope_of[a][1]};
            to[0] = A[a] + slope[0] * (z - grid.z) + slope[1] * (x - grid.x);
            to[2] = v[0] * slope[0] + v[1] * slope[1] + wrong[a];
            for (int b = 0; b < 2; ++b) c->vector[4 * (NODES + k) + 2 * a + b] = slope[b];
        }
        for (int f = 0; f < 3; ++f) c->field[f][k] = 0.0; /* no force: only what is due */
        c->field[3][k] = VECTOR_THETA;
    }
}

static vector_case *vector_case_new(void)
{
    vector_case *c = aw_alloc(1, sizeof *c);
    uint64_t random = 14;
    assert_non_null(c);
    c->forces = (aw_forces){.Fz_lab = c->field[0],
                            .Fx_lab = c->field[1],
                            .cBy = c->field[2],
                            .theta = c->field[3],
                            .vector = c->vector};
    assert_ok(aw_particles_new(PARTICLES, 1e-13, &c->p));
    assert_ok(aw_gather_new(NS, NX, &c->gather));
    for (int i = 0; i < PARTICLES; ++i) {
        const double m = VECTOR_GAMMA * uniform(&random, 0.5, 2.0);
        const double a = VECTOR_THETA + uniform(&random, -0.3, 0.3);
        lab(uniform(&random, -7.0, 7.0), uniform(&random, -4.0, 4.0), &c->p->z[i], &c->p->x[i]);
        c->p->pz[i] = m * cos(a);
        c->p->px[i] = m * sin(a);
    }
    return c;
}

static void vector_case_free(vector_case *c)
{
    aw_particles_free(c->p);
    aw_gather_free(c->gather);
    aw_free(c);
}

static void gather_vectors(vector_case *c, double kick, double since)
{
    aw_gather_stats stats;
    const aw_gather_params params = {.grid = &grid,
                                     .forces = &c->forces,
                                     .gamma = VECTOR_GAMMA,
                                     .kick = kick,
                                     .vectors = 1,
                                     .since = since};
    assert_ok(aw_gather_step(c->gather, &params, c->p, c->Fz, c->Fx, &stats));
}

/* Whatever the rates, momenta change by what these contributed, less the difference of A. */
static void momenta_change_by_the_difference_of_the_vector_potential(void **state)
{
    enum { CALLS = 4 };
    const double A[CALLS][2] = {{2e5, -3e4}, {9e5, 1e4}, {-4e5, 8e4}, {5e5, 6e4}};
    const double rate[CALLS][2] = {{5e7, 7e6}, {-3e7, 1e6}, {2e7, -9e6}, {8e7, 4e6}};
    const double kick = 1e-3, since = 3e-3; /* [m] */
    vector_case *c = vector_case_new(), *start = vector_case_new();
    double due[2] = {A[0][0] - A[CALLS - 1][0], A[0][1] - A[CALLS - 1][1]};
    (void)state;
    for (int k = 0; k < CALLS; ++k) {
        set_vectors(c, 0.0, A[k], rate[k]);
        gather_vectors(c, k > 0 ? kick : 0.0, since);
        for (int a = 0; a < 2; ++a)
            due[a] +=
                (k > 0 ? kick * rate[k][a] : 0.0) + (k < CALLS - 1 ? since * rate[k][a] : 0.0);
    }
    for (int i = 0; i < PARTICLES; ++i) {
        assert_close(AW_ME_EV * (c->p->pz[i] - start->p->pz[i]), due[0], 1e-10, 0.0);
        assert_close(AW_ME_EV * (c->p->px[i] - start->p->px[i]), due[1], 1e-10, 0.0);
    }
    vector_case_free(c);
    vector_case_free(start);
}

/* The rate along the path of a particle with a velocity of its own is that of A at its places. */
static void a_particle_on_its_straight_path_in_a_static_field_is_due_nothing(void **state)
{
    const double A[2] = {2e5, -3e4}, none[2] = {0.0, 0.0};
    const double half = 2e-6; /* [m]: a fraction of the grid */
    vector_case *c = vector_case_new(), *start = vector_case_new();
    (void)state;
    set_vectors(c, 1.0, A, none);
    gather_vectors(c, 0.0, 0.0);
    for (int i = 0; i < PARTICLES; ++i) {
        const double pz = c->p->pz[i], px = c->p->px[i], g = sqrt(1.0 + pz * pz + px * px);
        c->p->z[i] += 2.0 * half * pz / g;
        c->p->x[i] += 2.0 * half * px / g;
    }
    gather_vectors(c, half, half);
    for (int i = 0; i < PARTICLES; ++i) {
        /* terms of 4 keV; lab positions are rounded to 1e-16 m, 1e-7 eV of A */
        assert_close(AW_ME_EV * (c->p->pz[i] - start->p->pz[i]), 0.0, 0.0, 1e-5);
        assert_close(AW_ME_EV * (c->p->px[i] - start->p->px[i]), 0.0, 0.0, 1e-5);
    }
    vector_case_free(c);
    vector_case_free(start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gather_is_exact_for_fields_of_second_degree),
        cmocka_unit_test(gather_is_the_adjoint_of_deposit),
        cmocka_unit_test(the_gather_reads_felt_nodes_alone),
        cmocka_unit_test(a_particle_off_the_design_velocity_gets_dv_cross_b),
        cmocka_unit_test(momenta_change_by_the_difference_of_the_vector_potential),
        cmocka_unit_test(a_particle_on_its_straight_path_in_a_static_field_is_due_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
