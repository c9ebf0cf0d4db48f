/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mean of |F|^2 over directions: the sum over pairs against closed forms, in single against
 * double precision, and against the mean over directions. The argument is a device. */
#include "src/form_factor/debye.h"
#include "tests/assert_close.h"
#include "tests/device_fixture.h"
#include "tests/form_factor/cloud.h"

enum { RADII = 60, FEW = 800 };

static aw_device device;
static cloud all;

static aw_debye_task task_of(size_t n, int single)
{
    return (aw_debye_task){.device = &device,
                           .particles = all.arrays,
                           .n = n,
                           .radii = {0.5, 0.4, RADII},
                           .options = {.single = single}};
}

/* Two charges: (q1^2 + q2^2 + 2 q1 q2 sin(k r) / (k r)) / Q^2. */
static void closed_form_for_two_particles(void **state)
{
    const aw_debye_task t = task_of(2, 0);
    double mean[RADII], square = 0.0;
    (void)state;
    assert_ok(aw_debye(&t, mean));
    for (int c = 0; c < 3; ++c)
        square += (all.at[c][1] - all.at[c][0]) * (all.at[c][1] - all.at[c][0]);
    const double r = sqrt(square), a = all.charge[0], b = all.charge[1];
    for (int i = 0; i < RADII; ++i) {
        const double k = 0.5 + 0.4 * i;
        const double want =
            (a * a + b * b + 2.0 * a * b * sin(k * r) / (k * r)) / (a + b) / (a + b);
        assert_close(mean[i], want, 1e-12, 0.0); /* 1e-13 of a term, over k r of 0.2 and more */
    }
}

/* Particles at one place do not divide by their distance. */
static void one_where_all_are_at_one_place(void **state)
{
    const double at[5] = {0.25, 0.25, 0.25, 0.25, 0.25};
    const aw_debye_task t = {
        .device = &device, .particles = {.at = {at, NULL, at}}, .n = 5, .radii = {0.0, 10.0, 4}};
    double mean[4];
    (void)state;
    assert_ok(aw_debye(&t, mean));
    /* A phase of 1e-5 stands for none: 2e-11; and 1e-16 over that phase. */
    for (int i = 0; i < 4; ++i) assert_close(mean[i], 1.0, 1e-10, 0.0);
}

/* Rounding of single terms at 1e-7 of each pair averages out over 320000 pairs. */
static void single_precision_holds(void **state)
{
    const aw_debye_task exact = task_of(FEW, 0), rounded = task_of(FEW, 1);
    double mean[2][RADII];
    (void)state;
    assert_ok(aw_debye(&exact, mean[0]));
    assert_ok(aw_debye(&rounded, mean[1]));
    for (int i = 0; i < RADII; ++i) assert_close(mean[1][i], mean[0][i], 1e-5, 0.0);
}

/* The rule's degree exceeds k times the extent: both ways agree to rounding. */
static void directions_agree(void **state)
{
    const aw_debye_task t = task_of(FEW, 0);
    double pairs[RADII], directions[RADII];
    (void)state;
    assert_ok(aw_debye(&t, pairs));
    assert_ok(aw_debye_directions(&t, aw_debye_order(&t), directions));
    for (int i = 0; i < RADII; ++i) assert_close(directions[i], pairs[i], 1e-9, 0.0);
}

static void refusals(void **state)
{
    aw_debye_task t = task_of(0, 1);
    double mean[RADII];
    (void)state;
    assert_status(aw_debye(&t, mean), AW_ERR_ARG);
    t = task_of(10, 1);
    t.radii.first = NAN;
    assert_status(aw_debye(&t, mean), AW_ERR_ARG);
    t.radii = (aw_radii){1e6, 1.0, RADII};
    assert_int_equal(aw_debye_order(&t), 0);
    assert_status(aw_debye_directions(&t, 0, mean), AW_ERR_ARG);
}

int main(int argc, char **argv)
{
    const aw_device_params params = {.threads = 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form_for_two_particles),
        cmocka_unit_test(one_where_all_are_at_one_place),
        cmocka_unit_test(single_precision_holds),
        cmocka_unit_test(directions_agree),
        cmocka_unit_test(refusals),
    };
    cloud_fill(&all);
    if (aw_device_open(kind_of(argc, argv), &params, &device) != AW_OK) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    aw_device_close(&device);
    return failed;
}
