/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FINUFFT against the direct sum, on lattices of one to three axes. */
#include "src/base/memory.h"
#include "src/form_factor/fast.h"
#include "tests/assert_close.h"
#include "tests/form_factor/cloud.h"

static cloud all;

/* FINUFFT's tolerance of 1e-9 is relative to the largest |F|, about 1; its errors exceed it by
 * less than ten. */
static void agrees(aw_waves w)
{
    const size_t n = aw_waves_count(&w);
    double(*fast)[2] = aw_alloc(n, sizeof *fast), (*direct)[2] = aw_alloc(n, sizeof *direct);
    const aw_form_source source = aw_form_source_of(&all.arrays, CLOUD);
    const aw_form_sink sink = aw_form_sink_of(direct);
    aw_form_bunch bunch[2];
    aw_device cpu;
    assert_ok(aw_device_open("cpu", &(aw_device_params){.threads = 1}, &cpu));
    assert_ok(aw_form_factor(&cpu, &source, &w, &(aw_form_options){0}, &sink, &bunch[0]));
    assert_ok(aw_form_factor_fast(&source, &w, 1e-9, fast, &bunch[1]));
    for (size_t i = 0; i < n; ++i)
        for (int c = 0; c < 2; ++c) assert_close(fast[i][c], direct[i][c], 0.0, 1e-8);
    assert_close(bunch[1].floor, bunch[0].floor, 1e-12, 0.0);
    aw_device_close(&cpu);
    aw_free(fast);
    aw_free(direct);
}

static void direct_sum_on_a_line(void **state)
{
    (void)state;
    agrees(
        (aw_waves){.n = {1, 1, 4001}, .origin = {-50.0, 3.0, 1.0}, .step = {{0}, {0}, {0.7, 0.1}}});
    agrees((aw_waves){.n = {1, 1, 1}, .origin = {2.0, 3.0, 1.0}});
}

static void direct_sum_in_a_plane_and_a_volume(void **state)
{
    aw_waves w = {.n = {1, 31, 44}, .step = {{0.0, 0.0, 2.0}, {0.1, 1.3, 0.0}, {0.9, 0.0, 0.2}}};
    (void)state;
    agrees(w);
    w.n[0] = 15;
    agrees(w);
}

static void lists_are_refused(void **state)
{
    const double k[1][3] = {{1.0, 0.0, 0.0}};
    const aw_waves w = {.n = {1, 1, 1}, .list = k};
    const aw_form_source source = aw_form_source_of(&all.arrays, CLOUD);
    double F[1][2];
    aw_form_bunch bunch;
    (void)state;
    assert_status(aw_form_factor_fast(&source, &w, 1e-9, F, &bunch), AW_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(direct_sum_on_a_line),
        cmocka_unit_test(direct_sum_in_a_plane_and_a_volume),
        cmocka_unit_test(lists_are_refused),
    };
    if (!aw_form_is_fast()) {
        printf("skipped: this program was built without FINUFFT\n");
        return 77;
    }
    cloud_fill(&all);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
