/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of unequal charge: one that is split in two, of a third and of two thirds of its charge
 * at the same place, changes no sum beyond rounding; and shares and gathering keep every array. */
#include <math.h>
#include <string.h>

#include "pic/deposit.h"
#include "pic/gather.h"
#include "pic/line/line.h"
#include "pic/simd/simd.h"
#include "pic/stats.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

enum { N = 3000, NODES = 24 };

static aw_particles *whole_beam(void)
{
    const aw_beam_params beam = {.charge = 1e-9,
                                 .gamma = 1e3,
                                 .particles = N,
                                 .seed = 3,
                                 .cutoff_sigma = 4.0,
                                 .sigma_s = 50e-6,
                                 .sigma_x = 80e-6,
                                 .emittance = 1e-9,
                                 .beta_x = 6.4,
                                 .alpha_x = 0.5,
                                 .energy_spread = 1e-3,
                                 .chirp = -20.0};
    aw_particles *p = NULL;
    assert_ok(aw_particles_draw(&beam, &p));
    return p;
}

static aw_particles *split_beam(const aw_particles *p)
{
    aw_particles *q = NULL;
    assert_ok(aw_particles_new(2 * p->n, 0.5 * p->charge, &q));
    assert_ok(aw_particles_extend(q, AW_WITH_WEIGHT));
    for (size_t i = 0; i < q->n; ++i) {
        q->z[i] = p->z[i / 2];
        q->x[i] = p->x[i / 2];
        q->pz[i] = p->pz[i / 2];
        q->px[i] = p->px[i / 2];
        q->gamma0[i] = p->gamma0[i / 2];
        q->weight[i] = i % 2 ? 4.0 / 3.0 : 2.0 / 3.0;
    }
    return q;
}

typedef struct result {
    aw_frame frame;
    double cells[(NODES + 2 * AW_PAD) * (NODES + 2 * AW_PAD) * 4];
    double charge;
    aw_beam_stats stats;
    aw_gather_stats force, line;
} result;

/* All sums over the beam. The force is linear along the grid. */
static void observe(aw_particles *p, const aw_lattice *lattice, result *out)
{
    static double zero[NODES * NODES], slope[NODES * NODES], Fz[2 * N], Fx[2 * N];
    aw_deposit *deposit = NULL;
    aw_gather *gather = NULL;
    aw_line *line = NULL;
    const aw_forces forces = {.Fz_lab = slope, .Fx_lab = zero, .cBy = zero, .theta = zero};
    aw_frame_init(&out->frame, NODES, NODES);
    assert_ok(aw_frame_fit(&out->frame, &lattice->orbit, p, 0.0));
    assert_ok(aw_deposit_new(NODES, NODES, &deposit));
    double *cells = aw_alloc(1, sizeof out->cells);
    assert_non_null(cells);
    assert_ok(aw_deposit_run(deposit, p, &out->frame, 0, cells, &out->charge));
    memcpy(out->cells, cells, sizeof out->cells);
    assert_ok(aw_beam_stats_of(p, &lattice->orbit, 0.0, 1e3, &out->stats));
    for (int k = 0; k < NODES * NODES; ++k) slope[k] = 1.0 + 0.1 * (k % NODES);
    const aw_gather_params params = {.grid = &out->frame.grid, .forces = &forces, .gamma = 1e3};
    assert_ok(aw_gather_new(NODES, NODES, &gather));
    assert_ok(aw_gather_step(gather, &params, p, Fz, Fx, &out->force));
    assert_ok(aw_line_new(NODES, p->n, &line));
    assert_ok(aw_line_deposit(line, p, &lattice->orbit, 0.0));
    aw_line_solve(line, AW_LINE_TRANSIENT, &lattice->orbit, 1e3);
    aw_line_gather(line, p, &lattice->orbit, Fz, Fx, &out->line);
    aw_line_free(line);
    aw_gather_free(gather);
    aw_deposit_free(deposit);
    aw_free(cells);
}

/* Rounding of sums of 6000 terms: 6000 times 1e-16 at worst, 1e-14 as a rule; variances lose two
 * digits more. */
#define ROUNDING 1e-11

static void splitting_particles_changes_no_sum(void **state)
{
    static result one, two;
    const aw_element element[1] = {drift_of(1.0)};
    aw_lattice *lattice = machine_of(element, 1, 1e3, AW_UPSTREAM_DRIFT);
    aw_particles *whole = whole_beam(), *split = split_beam(whole);
    (void)state;
    observe(whole, lattice, &one);
    observe(split, lattice, &two);
    assert_close(two.charge, one.charge, ROUNDING, 0.0);
    assert_close(two.frame.grid.tilt, one.frame.grid.tilt, ROUNDING, 0.0);
    double most = 0.0;
    for (size_t k = 0; k < sizeof one.cells / sizeof one.cells[0]; k += 4)
        most = fmax(most, fabs(one.cells[k]));
    assert_true(most > 0.0);
    for (size_t k = 0; k < sizeof one.cells / sizeof one.cells[0]; ++k)
        assert_close(two.cells[k], one.cells[k], 0.0, ROUNDING * most);
    const double a[] = {one.stats.sigma_s,        one.stats.sigma_x, one.stats.emittance,
                        one.stats.emittance_free, one.force.mean_s,  one.force.peak_s,
                        one.line.mean_s,          one.line.peak_s};
    const double b[] = {two.stats.sigma_s,        two.stats.sigma_x, two.stats.emittance,
                        two.stats.emittance_free, two.force.mean_s,  two.force.peak_s,
                        two.line.mean_s,          two.line.peak_s};
    for (size_t k = 0; k < sizeof a / sizeof a[0]; ++k) assert_close(b[k], a[k], ROUNDING, 0.0);
    aw_particles_free(whole);
    aw_particles_free(split);
    aw_lattice_free(lattice);
}

/* Every instruction set that this processor has: sums over blocks, whole and partial. */
static void every_variant_weighs_particles(void **state)
{
    static const char *const variants[] = {"baseline", "avx2", "avx512"};
    static const size_t sizes[] = {AW_BLOCK, 17};
    const aw_element element[1] = {drift_of(1.0)};
    aw_lattice *lattice = machine_of(element, 1, 1e3, AW_UPSTREAM_DRIFT);
    aw_particles *whole = whole_beam(), *split = split_beam(whole);
    aw_simd_reference ref = aw_simd_reference_at(&lattice->orbit, 0.0);
    (void)state;
    ref.gamma = 1e3;
    for (int v = 0; v < 3; ++v) {
        const aw_particle_kernels *kernels = aw_particle_kernels_find(variants[v]);
        for (int k = 0; kernels && k < 2; ++k) {
            double sum[2][5] = {{0.0}};
            aw_beam_sums beam[2] = {{.mean = {0.0}}, {.mean = {0.0}}};
            const size_t n = sizes[k];
            kernels->moments(whole, 0, n / 2, 1e-3, 2e-3, sum[0]);
            kernels->moments(split, 0, n / 2 * 2, 1e-3, 2e-3, sum[1]);
            assert_int_equal(kernels->stats(whole, 0, n / 2, &ref, &beam[0]), 0);
            assert_int_equal(kernels->stats(split, 0, n / 2 * 2, &ref, &beam[1]), 0);
            for (int i = 0; i < 5; ++i) assert_close(sum[1][i], 2.0 * sum[0][i], ROUNDING, 0.0);
            for (int a = 0; a < AW_BEAM_WIDTH; ++a)
                for (int b = 0; b <= a; ++b)
                    assert_close(beam[1].product[a][b], 2.0 * beam[0].product[a][b], ROUNDING,
                                 1e-20);
        }
    }
    aw_particles_free(whole);
    aw_particles_free(split);
    aw_lattice_free(lattice);
}

static void a_share_has_every_array(void **state)
{
    aw_particles *whole = whole_beam(), *split = split_beam(whole), *copy = NULL;
    (void)state;
    assert_ok(aw_particles_extend(split, AW_WITH_HEIGHT | AW_WITH_ID));
    assert_int_equal(split->id[5], 6);
    split->y[7] = 3.0;
    split->py[8] = 4.0;
    split->id[9] = UINT64_MAX;
    assert_ok(aw_particles_share(split, 0, &copy));
    assert_int_equal(copy->n, split->n);
    assert_memory_equal(copy->weight, split->weight, split->n * sizeof(double));
    assert_memory_equal(copy->pz, split->pz, split->n * sizeof(double));
    assert_memory_equal(copy->y, split->y, split->n * sizeof(double));
    assert_memory_equal(copy->py, split->py, split->n * sizeof(double));
    assert_memory_equal(copy->id, split->id, split->n * sizeof(uint64_t));
    aw_particles_free(whole);
    aw_particles_free(split);
    aw_particles_free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splitting_particles_changes_no_sum),
        cmocka_unit_test(every_variant_weighs_particles),
        cmocka_unit_test(a_share_has_every_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
