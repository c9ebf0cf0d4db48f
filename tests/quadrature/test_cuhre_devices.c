/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integration in 2 to 8 dimensions on a device compared with the host: both cut the same
 * regions. */
#include "quadrature/cuhre.h"
#include "tests/assert_close.h"
#include "tests/device_fixture.h"
#include "validation/genz.h"

static const double zeros[AW_CUHRE_DIMENSIONS] = {0.0};
static const double ones[AW_CUHRE_DIMENSIONS] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};

static aw_cuhre_params unit_cube(int n, double relative, uint64_t max_evaluations)
{
    return (aw_cuhre_params){
        .n = n, .a = zeros, .b = ones, .relative = relative, .max_evaluations = max_evaluations};
}

static aw_device open_device(const char *kind)
{
    const aw_device_params params = {.threads = 2, .inner_density = 1.0};
    aw_device device = {0};
    assert_ok(aw_device_open(kind, &params, &device));
    return device;
}

/* Without fused multiply-adds, which a compiler may use in one place and not in another, an
 * emulated device gives the host's bits. Otherwise values differ by rounding, and regions with
 * errors that are equal except for rounding are cut in a different order, which affects the last
 * round only. */
static void compare(const char *kind, const aw_cuhre_result *a, const aw_cuhre_result *b)
{
#if defined(__FMA__) || defined(__aarch64__)
    const int bits = 0;
#else
    const int bits = strcmp(kind, "emulated") == 0;
#endif
    if (bits) {
        assert_memory_equal(&a->value, &b->value, sizeof a->value);
        assert_memory_equal(&a->error, &b->error, sizeof a->error);
        assert_int_equal(a->evaluations, b->evaluations);
        assert_int_equal(a->regions, b->regions);
    } else {
        assert_close((double)a->evaluations, (double)b->evaluations, 0.1, 0.0);
        assert_close(a->value, b->value, 0.0, a->error + b->error);
        if (a->evaluations == b->evaluations) assert_close(a->value, b->value, 1e-11, 0.0);
    }
    assert_true(a->generations == b->generations);
}

static void all_families_agree_with_the_host(void **state)
{
    aw_device device = open_device(*state);
    uint64_t random = 21;
    int second = 0, limit = 0;
    for (int family = 0; family < AW_GENZ_FAMILIES; ++family)
        for (int n = 2; n <= AW_CUHRE_DIMENSIONS; ++n) {
            aw_genz genz = aw_genz_draw((aw_genz_family)family, n, &random);
            const aw_cuhre_params p = unit_cube(n, 1e-4, 60000);
            aw_cuhre_result host, ours;
            const aw_status status = aw_cuhre(&p, aw_genz_value, &genz, &host);
            assert_status(aw_cuhre_on(&device, &p, &genz, &ours), status);
            compare(*state, &ours, &host);
            if (status == AW_OK) assert_close(ours.value, aw_genz_integral(&genz), 1e-4, 0.0);
            second += ours.rounds > 0;
            limit += status == AW_ERR_MAXEVAL;
        }
    assert_in_range(second, 15, 42); /* phase two was necessary, */
    assert_in_range(limit, 5, 40);   /* and not always sufficient */
    aw_device_close(&device);
}

/* A queue that exceeds its capacity, several times. */
static void a_single_queue_grows(void **state)
{
    aw_device device = open_device(*state);
    uint64_t random = 4;
    aw_genz genz = aw_genz_draw(AW_GENZ_C0, 2, &random);
    aw_cuhre_params p = unit_cube(2, 1e-13, 400000);
    aw_cuhre_result host, ours;
    p.regions = 1;
    const aw_status status = aw_cuhre(&p, aw_genz_value, &genz, &host);
    assert_status(aw_cuhre_on(&device, &p, &genz, &ours), status);
    compare(*state, &ours, &host);
    assert_true(ours.regions > 2000);
    aw_device_close(&device);
}

static void integrands_that_are_not_finite_are_reported(void **state)
{
    aw_device device = open_device(*state);
    uint64_t random = 4;
    aw_cuhre_result r;
    for (int n = 2; n <= 6; n += 2) {
        aw_genz genz = aw_genz_draw(AW_GENZ_GAUSSIAN, n, &random);
        const aw_cuhre_params p = unit_cube(n, 1e-4, 60000);
        genz.a[1] = (double)NAN;
        assert_status(aw_cuhre_on(&device, &p, &genz, &r), AW_ERR_NONFINITE);
        assert_true(isnan(r.value) && r.error == HUGE_VAL);
    }
    /* the squares of the values overflow in the strip 0.7 < x < 0.705 along the jump, in which the
     * first boxes have no point */
    aw_genz jump = {.family = AW_GENZ_DISCONTINUOUS, .n = 2, .a = {507.0}, .u = {0.705, 2.0}};
    const aw_cuhre_params p = unit_cube(2, 1e-4, 60000);
    assert_status(aw_cuhre_on(&device, &p, &jump, &r), AW_ERR_NONFINITE);
    assert_true(isnan(r.value) && r.evaluations > 64 * 25);
    aw_device_close(&device);
}

static void impossible_requests_are_refused(void **state)
{
    aw_device device = open_device(*state), cpu = open_device("cpu");
    uint64_t random = 4;
    aw_genz genz = aw_genz_draw(AW_GENZ_GAUSSIAN, 3, &random);
    aw_cuhre_params p = unit_cube(2, 1e-4, 60000);
    aw_cuhre_result r;
    assert_status(aw_cuhre_on(&device, &p, &genz, &r), AW_ERR_ARG);
    p.n = 3;
    assert_status(aw_cuhre_on(&cpu, &p, &genz, &r), AW_ERR_BACKEND);
    p.max_evaluations = 10;
    assert_status(aw_cuhre_on(&device, &p, &genz, &r), AW_ERR_MAXEVAL);
    assert_true(r.evaluations == 0 && r.error == HUGE_VAL);
    aw_device_close(&device);
    aw_device_close(&cpu);
}

int main(int argc, char **argv)
{
    char *kind = kind_of(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(all_families_agree_with_the_host, kind),
        cmocka_unit_test_prestate(a_single_queue_grows, kind),
        cmocka_unit_test_prestate(integrands_that_are_not_finite_are_reported, kind),
        cmocka_unit_test_prestate(impossible_requests_are_refused, kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
