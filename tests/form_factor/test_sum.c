/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Form factors against sums in long double, for lists and lattices of waves. The argument is a
 * device, or a SIMD variant of the CPU device. */
#include "kernels/cpu/simd/simd.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/device_fixture.h"
#include "tests/form_factor/cloud.h"

/* Terms in single precision: cosines and sines round at 6e-8, as do products, and sums of 256 equal
 * terms at 2e-7. In double: the same with 1e-16 (2e-16 of a quarter turn, and 256 terms). */
#define SINGLE 1e-6
#define DOUBLE 1e-13

static aw_device device;
static cloud all;

static void compute(const aw_waves *waves, size_t particles, int single, size_t memory,
                    double (*F)[2])
{
    const aw_form_source source = aw_form_source_of(&all.arrays, particles);
    const aw_form_sink sink = aw_form_sink_of(F);
    const aw_form_options options = {.single = single, .memory = memory};
    aw_form_bunch bunch;
    assert_ok(aw_form_factor(&device, &source, waves, &options, &sink, &bunch));
}

/* The error of every `stride`-th wave. */
static void check(const aw_waves *waves, size_t particles, size_t stride)
{
    const size_t n = aw_waves_count(waves);
    double(*F)[2] = aw_alloc(n, sizeof *F), want[2];
    for (int single = 0; single < 2; ++single) {
        compute(waves, particles, single, 0, F);
        for (size_t i = 0; i < n; i += stride) {
            long double k[3];
            cloud_wave(waves, i, k);
            for (int c = 0; waves->list && c < 3; ++c) k[c] = waves->list[i][c];
            cloud_exact(&all, particles, k, want);
            for (int c = 0; c < 2; ++c)
                assert_close(F[i][c], want[c], 0.0, single ? SINGLE : DOUBLE);
        }
    }
    aw_free(F);
}

static void long_double_at_1000_random_waves(void **state)
{
    double k[1000][3];
    uint64_t seed = 3;
    (void)state;
    for (int i = 0; i < 1000; ++i) /* phases up to 1.5e4 */
        for (int c = 0; c < 3; ++c) k[i][c] = 2e4 * (cloud_chance(&seed) - 0.5);
    check(&(aw_waves){.n = {1, 1, 1000}, .list = (const double(*)[3])k}, 700, 1);
}

/* Few particles: their errors do not average out. Phases up to 1e4. */
static void long_double_for_one_particle(void **state)
{
    (void)state;
    check(
        &(aw_waves){.n = {1, 1, 3001}, .origin = {3.0, -2e3, 5e3}, .step = {{0}, {0}, {7.0, 1.0}}},
        1, 1);
}

static void long_double_on_lattices(void **state)
{
    (void)state;
    const double along[3] = {0.3, -0.1, 0.02}, across[3] = {0.01, 2.0, 0.0},
                 up[3] = {0.0, 0.0, 9.0};
    aw_waves w = {.n = {1, 1, 1009}, .origin = {100.0, 20.0, -3.0}};
    memcpy(w.step[2], along, sizeof along);
    memcpy(w.step[1], across, sizeof across);
    memcpy(w.step[0], up, sizeof up);
    check(&w, CLOUD, 17); /* a prime number of points: the last block is incomplete */
    w.n[1] = 45;
    w.n[2] = 67;
    check(&w, CLOUD, 101);
    w.n[0] = 11;
    w.n[1] = 13;
    w.n[2] = 17;
    check(&w, CLOUD, 101);
    w.n[0] = 5;
    w.n[1] = 1;
    w.n[2] = 1;
    check(&w, CLOUD, 1);
    w.n[0] = 1;
    check(&w, 257, 1);
}

/* Parts of particles and waves change no more than rounding, and of the waves alone nothing but
 * which of them are the sum or difference of a pair. */
static void parts_agree_with_the_whole(void **state)
{
    enum { WAVES = 200000 };
    const aw_waves w = {.n = {1, 1, WAVES}, .step = {{0}, {0}, {0.05, 0.02, 0.0}}};
    double(*whole)[2] = aw_alloc(WAVES, sizeof *whole),
    (*parts)[2] = aw_alloc(WAVES, sizeof *parts);
    (void)state;
    for (int single = 0; single < 2; ++single) {
        compute(&w, 300, single, (size_t)1 << 30, whole);
        compute(&w, 300, single, AW_FORM_MEMORY_LEAST, parts);
        for (size_t i = 0; i < WAVES; ++i)
            for (int c = 0; c < 2; ++c)
                assert_close(parts[i][c], whole[i][c], 0.0, single ? SINGLE : DOUBLE);
    }
    aw_free(whole);
    aw_free(parts);
}

static void sums_do_not_depend_on_threads(void **state)
{
    const aw_waves w = {.n = {1, 30, 40}, .step = {{0}, {0.0, 3.0, 0.0}, {5.0, 0.0, 0.0}}};
    double F[2][1200][2];
    (void)state;
    for (int single = 0; single < 2; ++single) {
        for (int i = 0; i < 2; ++i) {
            const aw_device first = device;
            assert_ok(aw_device_open("cpu", &(aw_device_params){.threads = 1 + 2 * i}, &device));
            compute(&w, CLOUD, single, 0, F[i]);
            aw_device_close(&device);
            device = first;
        }
        assert_memory_equal(F[0], F[1], sizeof F[0]);
    }
}

/* Many particles, which the least budget divides: read one after the other from a short list. */
static aw_status read_again(void *context, size_t first, size_t n, double *const at[3],
                            double *charge)
{
    const cloud *c = context;
    for (size_t j = 0; j < n; ++j) {
        for (int i = 0; i < 3; ++i) at[i][j] = c->at[i][(first + j) % CLOUD];
        charge[j] = c->charge[(first + j) % CLOUD];
    }
    return AW_OK;
}

static void parts_of_particles_agree_with_the_whole(void **state)
{
    enum { TIMES = 20, WAVES = 97 };
    const aw_waves w = {.n = {1, 1, WAVES}, .step = {{0}, {0}, {0.5, 0.2, 0.1}}};
    const aw_form_source many = {.n = TIMES * CLOUD, .read = read_again, .context = &all};
    double F[WAVES][2], want[WAVES][2];
    aw_form_bunch bunch;
    (void)state;
    const aw_form_sink sink = aw_form_sink_of(F);
    compute(&w, CLOUD, 0, 0, want);
    for (int single = 0; single < 2; ++single) {
        assert_ok(aw_form_factor(&device, &many, &w,
                                 &(aw_form_options){single, AW_FORM_MEMORY_LEAST}, &sink, &bunch));
        for (int i = 0; i < WAVES; ++i)
            for (int c = 0; c < 2; ++c)
                assert_close(F[i][c], want[i][c], 0.0, single ? SINGLE : DOUBLE);
    }
    double squares = 0.0, charge = 0.0;
    for (int j = 0; j < CLOUD; ++j) {
        charge += all.charge[j];
        squares += all.charge[j] * all.charge[j];
    }
    assert_close(bunch.charge, TIMES * charge, 1e-12, 0.0);
    assert_close(bunch.floor, squares / charge / charge / TIMES, 1e-12, 0.0);
}

static void refusals(void **state)
{
    const aw_form_sink sink = aw_form_sink_of((double[4][2]){{0}});
    const aw_form_options options = {.single = 1};
    aw_form_source source = aw_form_source_of(&all.arrays, 0);
    aw_waves w = {.n = {1, 1, 4}, .step = {{0}, {0}, {1.0}}};
    aw_form_bunch bunch;
    (void)state;
    assert_status(aw_form_factor(&device, &source, &w, &options, &sink, &bunch), AW_ERR_ARG);
    source = aw_form_source_of(&all.arrays, 9);
    w.n[0] = 0;
    assert_status(aw_form_factor(&device, &source, &w, &options, &sink, &bunch), AW_ERR_ARG);
    w.n[0] = 1;
    w.step[2][0] = NAN;
    assert_status(aw_form_factor(&device, &source, &w, &options, &sink, &bunch), AW_ERR_ARG);
    w.step[2][0] = 1e17; /* phases that no longer count quarter turns */
    assert_status(aw_form_factor(&device, &source, &w, &options, &sink, &bunch), AW_ERR_ARG);
    w.step[2][0] = 1.0;
    const double kept = all.at[1][3];
    all.at[1][3] = INFINITY;
    assert_status(aw_form_factor(&device, &source, &w, &options, &sink, &bunch), AW_ERR_ARG);
    all.at[1][3] = kept;
    const double none[9] = {0.0};
    const aw_form_arrays neutral = {.charge = none};
    source = aw_form_source_of(&neutral, 9);
    assert_status(aw_form_factor(&device, &source, &w, &options, &sink, &bunch), AW_ERR_ARG);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "cpu";
    aw_device_params params = {.threads = 2};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_double_at_1000_random_waves),
        cmocka_unit_test(long_double_for_one_particle),
        cmocka_unit_test(long_double_on_lattices),
        cmocka_unit_test(parts_agree_with_the_whole),
        cmocka_unit_test(sums_do_not_depend_on_threads),
        cmocka_unit_test(parts_of_particles_agree_with_the_whole),
        cmocka_unit_test(refusals),
    };
    int variant = 0;
    for (int i = 0; aw_variant_list(i); ++i) variant |= strcmp(aw_variant_list(i)->name, name) == 0;
    if (variant) params.variant = name;
    if (!variant && strncmp(name, "avx", 3) == 0) {
        printf("skipped: no %s on this processor\n", name);
        return 77;
    }
    if (!variant) kind_of(argc, argv);
    cloud_fill(&all);
    if (aw_device_open(variant ? "cpu" : name, &params, &device) != AW_OK) return 1;
    const int failed = cmocka_run_group_tests_name(name, tests, NULL, NULL);
    aw_device_close(&device);
    return failed;
}
