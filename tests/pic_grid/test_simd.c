/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particle kernels on the grid against one particle at a time, for every SIMD variant. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "pic/compensation.h"
#include "pic/deposit.h"
#include "pic/gather.h"
#include "pic/push.h"
#include "pic/simd/simd.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NS = 21, NX = 14, NODES = NS * NX, PADDED = (NS + 2 * AW_PAD) * (NX + 2 * AW_PAD) };
#define GAMMA 200.0
#define THETA 0.4

static const aw_grid_view grid = {.ns = NS,
                                  .nx = NX,
                                  .hs = 1e-5,
                                  .hx = 2.5e-5,
                                  .z = 1.25,
                                  .x = -0.5,
                                  .theta = 0.65,
                                  .tilt = 0.25};

static aw_particle_grid grid_about(double theta)
{
    const double c = cos(grid.theta), s = sin(grid.theta);
    return (aw_particle_grid){.z = grid.z,
                              .x = grid.x,
                              .az = c / grid.hs,
                              .ax = s / grid.hs,
                              .bz = -s / grid.hx,
                              .bx = c / grid.hx,
                              .mid_s = 0.5 * (NS - 1),
                              .mid_x = 0.5 * (NX - 1),
                              .ns = NS,
                              .nx = NX,
                              .ct = cos(theta),
                              .st = sin(theta),
                              .theta = theta,
                              .beta = beta_of(GAMMA)};
}

static void put(aw_particles *p, size_t i, double u, double w, double gamma, double angle)
{
    double c = cos(grid.theta), s = sin(grid.theta), m = sqrt((gamma - 1.0) * (gamma + 1.0));
    p->z[i] = grid.z + u * grid.hs * c - w * grid.hx * s;
    p->x[i] = grid.x + u * grid.hs * s + w * grid.hx * c;
    p->pz[i] = m * cos(angle);
    p->px[i] = m * sin(angle);
}

static aw_particles *cloud(size_t n)
{
    uint64_t random = 5;
    aw_particles *p = NULL;
    assert_ok(aw_particles_new(n, 1e-13, &p));
    for (size_t i = 0; i < n; ++i)
        put(p, i, uniform(&random, -9.4, 9.4), uniform(&random, -5.9, 5.9),
            GAMMA * uniform(&random, 0.5, 2.0), THETA + uniform(&random, -0.3, 0.3));
    return p;
}

/* Deposit one particle as kernels/math/view.h defines it, with moments in long double. */
static void deposit_one(const aw_particles *p, size_t i, double *cells)
{
    const aw_particle_grid g = grid_about(THETA);
    double dz = p->z[i] - g.z, dx = p->x[i] - g.x, wu[AW_SHAPE_NODES], wv[AW_SHAPE_NODES];
    double a = dz * g.az + dx * g.ax + g.mid_s, b = dz * g.bz + dx * g.bx + g.mid_x;
    int ia = (int)(a + AW_SHAPE_ROUND), ib = (int)(b + AW_SHAPE_ROUND);
    int column = ia + AW_SHAPE_FIRST + AW_PAD, row = ib + AW_SHAPE_FIRST + AW_PAD;
    long double pz = p->pz[i], px = p->px[i], gamma = sqrtl(1.0L + pz * pz + px * px);
    long double along = pz * g.ct + px * g.st, across = px * g.ct - pz * g.st;
    aw_shape_weights(a - ia, wu);
    aw_shape_weights(b - ib, wv);
    for (int q = 0; q < AW_SHAPE_NODES; ++q)
        for (int k = 0; k < AW_SHAPE_NODES; ++k) {
            double *to = &cells[((row + q) * (NS + 2 * AW_PAD) + column + k) * AW_COMPONENTS];
            to[0] += wu[k] * wv[q];
            to[1] += wu[k] * wv[q] * (double)((gamma - along) / gamma);
            to[2] += wu[k] * wv[q] * (double)(across / gamma);
        }
}

static void deposit_of_a_block_is_the_sum_over_its_particles(void **state)
{
    static const size_t sizes[] = {1, 7, 63, 64};
    const aw_particle_kernels *kernels = *state;
    const aw_particle_grid g = grid_about(THETA);
    aw_particles *p = cloud(AW_BLOCK);
    double *got = aw_alloc(PADDED, 32), *want = aw_alloc(PADDED, 32);
    for (size_t k = 0; k < 4; ++k) {
        memset(got, 0, PADDED * 32);
        memset(want, 0, PADDED * 32);
        assert_int_equal(kernels->deposit(p, 0, sizes[k], &g, got), 0);
        for (size_t i = 0; i < sizes[k]; ++i) deposit_one(p, i, want);
        for (size_t c = 0; c < 4 * PADDED; ++c) /* sums of 64 terms up to 1 */
            assert_close(got[c], want[c], 0.0, 1e-14);
    }
    aw_free(got);
    aw_free(want);
    aw_particles_free(p);
}

/* For each particle of the block, and each kind of error. */
static void a_block_with_one_bad_particle_deposits_nothing(void **state)
{
    const aw_particle_kernels *kernels = *state;
    const aw_particle_grid g = grid_about(THETA);
    double *got = aw_alloc(PADDED, 32), *none = aw_alloc(PADDED, 32);
    for (size_t i = 0; i < AW_BLOCK; ++i)
        for (int wrong = 0; wrong < 7; ++wrong) {
            aw_particles *p = cloud(AW_BLOCK);
            const size_t n = i < 9 ? 9 : AW_BLOCK; /* also a block that is not full */
            if (wrong == 0) put(p, i, 9.55, 0.0, GAMMA, THETA);
            if (wrong == 1) put(p, i, -9.55, 0.0, GAMMA, THETA);
            if (wrong == 2) put(p, i, 0.0, 6.05, GAMMA, THETA);
            if (wrong == 3) put(p, i, 0.0, -6.05, GAMMA, THETA);
            if (wrong == 4) p->z[i] = NAN;
            if (wrong == 5) p->px[i] = NAN;
            if (wrong == 6) p->pz[i] = INFINITY;
            assert_int_equal(kernels->deposit(p, 0, n, &g, got), 1);
            assert_memory_equal(got, none, PADDED * 32);
            aw_particles_free(p);
        }
    aw_free(got);
    aw_free(none);
}

typedef struct field {
    double value[8][NODES];
    _Alignas(64) double packed[NODES][4]; /* compensated, as aw_gather_step does */
    _Alignas(64) double scratch[NODES][4];
    aw_forces forces;
} field;

/* Forces that vary from node to node; tangents that turn by `turn` over the grid. */
static field *field_new(double turn)
{
    field *f = aw_alloc(1, sizeof *f);
    uint64_t random = 3;
    assert_non_null(f);
    for (int k = 0; k < NODES; ++k) {
        for (int c = 0; c < 8; ++c) f->value[c][k] = uniform(&random, -5.0, 5.0);
        f->value[7][k] = THETA + turn * (k % NS - 0.5 * NS) / NS;
        for (int c = 0; c < 4; ++c) f->packed[k][c] = f->value[4 + c][k];
    }
    aw_compensate_field(&(aw_quad_grid){NS, NX, NS}, f->packed[0], f->scratch[0]);
    f->forces = (aw_forces){f->value[0], f->value[1], f->value[2], f->value[3], f->value[4],
                            f->value[5], f->value[6], f->value[7], NULL};
    return f;
}

/* Also where the tangents turn by too much for the series, for a particle off the grid, which gets
 * the nearest nodes, and in a block with a particle that is not finite. */
static void gather_of_a_block_agrees_with_that_of_its_particles(void **state)
{
    static const double turns[] = {0.0, 1e-3, 0.15, 3.0};
    static const size_t sizes[] = {1, 7, 63, 64};
    const aw_particle_kernels *kernels = *state;
    double got[4][AW_BLOCK], want[4][AW_BLOCK];
    for (int t = 0; t < 4; ++t) {
        field *f = field_new(turns[t]);
        for (int k = 0; k < 4; ++k) {
            const aw_particle_grid g = grid_about(THETA);
            aw_particles *p = cloud(sizes[k]);
            if (sizes[k] > 1) put(p, 3, 9.7, -6.2, GAMMA, THETA);
            if (sizes[k] > 1) p->x[5] = NAN;
            aw_gather_run(&(aw_gather_params){.grid = &grid, .forces = &f->forces, .gamma = GAMMA},
                          p, want[0], want[1], want[2], want[3]);
            kernels->gather(p, 0, sizes[k], &g, f->packed[0],
                            &(aw_block_forces){got[0], got[1], got[2], got[3], {NULL}});
            for (size_t i = 0; i < sizes[k]; ++i)
                for (int c = 0; c < 4; ++c)
                    if (i == 5 && sizes[k] > 1)
                        assert_true(isnan(got[c][i]));
                    else /* positions are rounded to 1e-11 of a cell */
                        assert_close(got[c][i], want[c][i], 0.0, 1e-9);
            aw_particles_free(p);
        }
        aw_free(f);
    }
}

/* Where the coordinates on the grid are exact, the two agree to rounding. */
static void gather_of_a_block_agrees_to_rounding_on_an_exact_grid(void **state)
{
    const aw_particle_kernels *kernels = *state;
    const aw_grid_view exact = {.ns = NS, .nx = NX, .hs = 0x1p-16, .hx = 0x1p-15};
    aw_particle_grid g = grid_about(THETA);
    field *f = field_new(0.01);
    aw_particles *p = cloud(AW_BLOCK);
    double got[4][AW_BLOCK], want[4][AW_BLOCK];
    uint64_t random = 12;
    g.z = g.x = g.ax = g.bz = 0.0;
    g.az = 0x1p16;
    g.bx = 0x1p15;
    for (size_t i = 0; i < AW_BLOCK; ++i) {
        p->z[i] = exact.hs * uniform(&random, -9.4, 9.4);
        p->x[i] = exact.hx * uniform(&random, -5.9, 5.9);
    }
    aw_gather_run(&(aw_gather_params){.grid = &exact, .forces = &f->forces, .gamma = GAMMA}, p,
                  want[0], want[1], want[2], want[3]);
    kernels->gather(p, 0, AW_BLOCK, &g, f->packed[0],
                    &(aw_block_forces){got[0], got[1], got[2], got[3], {NULL}});
    for (size_t i = 0; i < AW_BLOCK; ++i)
        for (int c = 0; c < 4; ++c) assert_close(got[c][i], want[c][i], 0.0, 2e-14);
    aw_free(f);
    aw_particles_free(p);
}

static void sums_and_extremes_are_those_of_a_loop(void **state)
{
    static const size_t sizes[] = {1, 7, 63, 64};
    const aw_particle_kernels *kernels = *state;
    for (int k = 0; k < 4; ++k) {
        aw_particles *p = cloud(sizes[k]);
        double got[5] = {1.0, 0.0, 0.0, 0.0, 0.0}, want[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
        double reach[2] = {1e-5, 1e-9}, max[2] = {1e-5, 1e-9}, value[3] = {2.0, -1.0, 1.0};
        const double at[4] = {1.2501, -0.5001, cos(0.3), sin(0.3)};
        double sum = 2.0, least = -1.0, top = 1.0;
        kernels->moments(p, 0, sizes[k], at[0], at[1], got);
        kernels->reach(p, 0, sizes[k], at, reach);
        kernels->extremes(p->px, sizes[k], value);
        for (size_t i = 0; i < sizes[k]; ++i) {
            double dz = p->z[i] - at[0], dx = p->x[i] - at[1];
            const double term[5] = {dz, dx, dz * dz, dz * dx, dx * dx};
            for (int c = 0; c < 5; ++c) want[c] += term[c];
            max[0] = fmax(max[0], fabs(dz * at[2] + dx * at[3]));
            max[1] = fmax(max[1], fabs(dx * at[2] - dz * at[3]));
            sum += p->px[i];
            least = fmin(least, p->px[i]);
            top = fmax(top, p->px[i]);
        }
        for (int c = 0; c < 5; ++c) assert_close(got[c], want[c], 1e-14, 1e-20);
        for (int c = 0; c < 2; ++c) assert_close(reach[c], max[c], 0.0, 1e-19);
        assert_close(value[0], sum, 1e-14, 1e-12);
        assert_close(value[1], least, 0.0, 0.0);
        assert_close(value[2], top, 0.0, 0.0);
        aw_particles_free(p);
    }
}

/* Of the values at neighbours in another row and column. */
static void values_at_neighbours_are_for_the_velocity_of_the_node(void **state)
{
    enum { N = 61 };
    const aw_particle_kernels *kernels = *state;
    aw_simd_nodes *node = aw_alloc(1, sizeof *node);
    double out[3][AW_STRIP] = {{0.0}};
    uint64_t random = 2;
    assert_non_null(node);
    for (int r = 0; r < AW_PATCH_HEIGHT; ++r)
        for (int l = 0; l < AW_PATCH_WIDTH; ++l) {
            node->theta[r][l] = 0.7 + uniform(&random, -0.04, 0.04);
            node->ct[r][l] = cos(node->theta[r][l]);
            node->st[r][l] = sin(node->theta[r][l]);
            node->beta[r][l] = uniform(&random, 0.5, 1.0);
            node->psi[r][l] = uniform(&random, -1.0, 1.0);
            node->az[r][l] = uniform(&random, -1.0, 1.0);
            node->ax[r][l] = uniform(&random, -1.0, 1.0);
        }
    assert_int_equal(kernels->neighbours(node, &(aw_simd_line){3, 5, -2, N}, 0.5, out), 0);
    for (int l = 0; l < AW_STRIP; ++l) {
        const int p = l + AW_HALO, q = p - 2;
        const double dz = node->ct[5][q] - node->ct[3][p], dx = node->st[5][q] - node->st[3][p];
        const double psi =
            node->psi[5][q] + node->beta[3][p] * (dz * node->az[5][q] + dx * node->ax[5][q]);
        assert_close(out[0][l], l < N ? 0.5 * psi : 0.0, 0.0, 1e-15);
        assert_close(out[1][l], l < N ? 0.5 * node->az[5][q] : 0.0, 0.0, 0.0);
        assert_close(out[2][l], l < N ? 0.5 * node->ax[5][q] : 0.0, 0.0, 0.0);
    }
    node->theta[5][AW_HALO + 17] += 0.3; /* too large for the series */
    assert_int_equal(kernels->neighbours(node, &(aw_simd_line){3, 5, 0, N}, 0.5, out), 1);
    node->theta[5][AW_HALO + 17] = NAN;
    assert_int_equal(kernels->neighbours(node, &(aw_simd_line){3, 5, 0, N}, 0.5, out), 1);
    aw_free(node);
}

/* aw_gather_step is aw_gather_run and aw_push_kick; it has the same bits for any number of
 * threads. */
static void a_gather_step_is_a_gather_and_a_kick(void **state)
{
    enum { N = 20011 };
    const double kick = 0.01 * AW_ME_EV;
    field *f = field_new(0.01);
    aw_gather *gather = NULL;
    aw_particles *plain = cloud(N);
    double *F[6], peak[2] = {0.0, 0.0}, sum[2] = {0.0, 0.0};
    double first[2][N];
    int before = omp_get_max_threads();
    aw_gather_stats stats, once = {0};
    const aw_gather_params params = {
        .grid = &grid, .forces = &f->forces, .gamma = GAMMA, .kick = kick};
    (void)state;
    for (int k = 0; k < 6; ++k) assert_non_null(F[k] = aw_alloc(N, sizeof(double)));
    assert_ok(aw_gather_new(NS, NX, &gather));
    aw_gather_run(&(aw_gather_params){.grid = &grid, .forces = &f->forces, .gamma = GAMMA}, plain,
                  F[0], F[1], F[2], F[3]);
    assert_ok(aw_push_kick(plain, F[0], F[1], kick));
    for (int threads = 1; threads <= 3; ++threads) {
        aw_particles *p = cloud(N);
        omp_set_num_threads(threads);
        assert_ok(aw_gather_step(gather, &params, p, F[4], F[5], &stats));
        if (threads == 1) {
            once = stats;
            memcpy(first[0], p->pz, sizeof first[0]);
            memcpy(first[1], F[5], sizeof first[1]);
        }
        assert_memory_equal(first[0], p->pz, sizeof first[0]);
        assert_memory_equal(first[1], F[5], sizeof first[1]);
        assert_memory_equal(&once, &stats, sizeof stats);
        for (size_t i = 0; i < N; ++i) { /* positions are rounded to 1e-11 of a cell */
            assert_close(F[4][i], F[0][i], 0.0, 1e-9);
            assert_close(p->px[i], plain->px[i], 0.0, 1e-10);
        }
        aw_particles_free(p);
    }
    omp_set_num_threads(before);
    for (size_t i = 0; i < N; ++i)
        for (int k = 0; k < 2; ++k) {
            sum[k] += F[2 + k][i];
            if (fabs(F[2 + k][i]) > fabs(peak[k])) peak[k] = F[2 + k][i];
        }
    assert_close(stats.mean_s, sum[0] / N, 0.0, 1e-9);
    assert_close(stats.mean_n, sum[1] / N, 0.0, 1e-9);
    assert_close(stats.peak_s, peak[0], 0.0, 1e-9);
    assert_close(stats.peak_n, peak[1], 0.0, 1e-9);
    plain->pz[123] = NAN;
    assert_status(aw_gather_step(gather, &params, plain, F[4], F[5], &stats), AW_ERR_NONFINITE);
    for (int k = 0; k < 6; ++k) aw_free(F[k]);
    aw_gather_free(gather);
    aw_particles_free(plain);
    aw_free(f);
}

/* Second moments about a guess are shifted to the mean; if the guess is far off, they are summed
 * again. */
static void a_frame_does_not_depend_on_the_guess_or_the_number_of_threads(void **state)
{
    static const double guesses[] = {0.0, 1e-4, 0.02, 0.3};
    const aw_orbit_piece piece = {.z = grid.z, .x = grid.x, .theta = THETA};
    const aw_orbit_view orbit = {&piece, 1};
    aw_particles *p = cloud(5003);
    aw_frame first, f, again;
    int before = omp_get_max_threads();
    (void)state;
    aw_frame_init(&first, NS, NX);
    assert_ok(aw_frame_fit(&first, &orbit, p, guesses[0]));
    for (int k = 0; k < 4; ++k)
        for (int threads = 1; threads <= 3; ++threads) {
            omp_set_num_threads(threads);
            aw_frame_init(&f, NS, NX);
            assert_ok(aw_frame_fit(&f, &orbit, p, guesses[k]));
            if (threads == 1) again = f;
            assert_memory_equal(&f.grid, &again.grid, sizeof f.grid);
            assert_close(f.grid.S, first.grid.S, 0.0, 1e-15);
            /* 1e6 variances may be subtracted: 1e-10 of a variance, with sums of 5003 terms */
            assert_close(f.grid.tilt, first.grid.tilt, 0.0, 1e-9);
            assert_close(f.grid.hs, first.grid.hs, 1e-9, 0.0);
            assert_close(f.grid.hx, first.grid.hx, 1e-9, 0.0);
        }
    omp_set_num_threads(before);
    aw_particles_free(p);
}

int main(int argc, char **argv)
{
    void *kernels = NULL;
    const aw_particle_kernels *found = aw_particle_kernels_find(variant_of(argc, argv)->name);
    memcpy(&kernels, &found, sizeof kernels);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(deposit_of_a_block_is_the_sum_over_its_particles, kernels),
        cmocka_unit_test_prestate(a_block_with_one_bad_particle_deposits_nothing, kernels),
        cmocka_unit_test_prestate(gather_of_a_block_agrees_with_that_of_its_particles, kernels),
        cmocka_unit_test_prestate(gather_of_a_block_agrees_to_rounding_on_an_exact_grid, kernels),
        cmocka_unit_test_prestate(sums_and_extremes_are_those_of_a_loop, kernels),
        cmocka_unit_test_prestate(values_at_neighbours_are_for_the_velocity_of_the_node, kernels),
        cmocka_unit_test(a_frame_does_not_depend_on_the_guess_or_the_number_of_threads),
        cmocka_unit_test_prestate(a_gather_step_is_a_gather_and_a_kick, kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
