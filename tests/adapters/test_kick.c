/* SPDX-License-Identifier: GPL-3.0-or-later */
/* aw_field_kick: what a rigid bunch loses on its way into a bend, against forces of short steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/api/bunch_fixture.h"
#include "tests/assert_close.h"

#define LIGHT 299792458.0
#define MASS 510998.95 /* m c^2 of the electron [eV] */
#define WAY 1.4        /* of the bunch [m]: from 0.2 m ahead of the bend on */

static void show_at(aw_field *field, bunch *b, double S)
{
    assert_int_equal(observe_at(field, b, S), AW_DONE);
}

static double mean(const double *v)
{
    double sum = 0.0;
    for (int i = 0; i < N; ++i) sum += v[i];
    return sum / N;
}

/* Mean and rms of what the particles have lost [eV]. */
static void result(const double *lost, double out[2])
{
    double square = 0.0;
    out[0] = mean(lost);
    for (int i = 0; i < N; ++i) square += (lost[i] - out[0]) * (lost[i] - out[0]);
    out[1] = sqrt(square / N);
}

/* By kicks, in `steps` steps, of which every third has the given part of its kick ahead. */
static void by_kicks(int steps, double part, double out[2])
{
    bunch *b = draw();
    aw_field *field = lcls();
    static double dps[N], dpx[N], lost[N];
    memset(lost, 0, sizeof lost);
    for (int k = 0; k <= steps; ++k) {
        const double ahead = k < steps ? WAY / steps / LIGHT * (k % 3 == 1 ? part : 0.5) : 0.0;
        show_at(field, b, WAY * k / steps);
        assert_int_equal(aw_field_kick(field, ahead, N, dps, dpx), AW_DONE);
        for (int i = 0; i < N; ++i) lost[i] += MASS * dps[i];
    }
    result(lost, out);
    aw_field_free(field);
    free(b);
}

/* By the trapezium rule over forces. */
static void by_forces(int steps, double out[2])
{
    bunch *b = draw();
    aw_field *field = lcls();
    static double Fs[N], Fx[N], lost[N];
    memset(lost, 0, sizeof lost);
    for (int k = 0; k <= steps; ++k) {
        const double part = (k == 0 || k == steps ? 0.5 : 1.0) * WAY / steps;
        show_at(field, b, WAY * k / steps);
        assert_int_equal(aw_field_force(field, N, b->s, b->x, Fs, Fx), AW_DONE);
        for (int i = 0; i < N; ++i) lost[i] += part * Fs[i];
    }
    result(lost, out);
    aw_field_free(field);
    free(b);
}

/* A trapezium sum of forces in 96 steps, 1/60 of an overtaking length each, against kicks in 24.
 * Seen are 0.05 % of the mean and 0.13 % of the rms. Tolerance: A errs by 1e-4 of its largest
 * value, some 40 eV or 0.03 % of the mean, and the trapezium of grad psi by 1/12 (1/15)^2 of what
 * it does in an overtaking length; 0.3 %. A kick that lasts for 0.3 instead of 0.5 of the step to
 * the next observation has an error of first order, 0.6 % seen, and no more: the times add up. */
static void kicks_agree_with_forces_of_short_steps(void **state)
{
    (void)state;
    double want[2], half[2], uneven[2];
    by_forces(96, want);
    by_kicks(24, 0.5, half);
    by_kicks(24, 0.3, uneven);
    print_message("mean %g, rms %g eV; kicks %+.3f, %+.3f %%, uneven %+.3f, %+.3f %%\n", want[0],
                  want[1], 100.0 * (half[0] / want[0] - 1.0), 100.0 * (half[1] / want[1] - 1.0),
                  100.0 * (uneven[0] / want[0] - 1.0), 100.0 * (uneven[1] / want[1] - 1.0));
    assert_true(want[0] < -1e4);
    for (int k = 0; k < 2; ++k) {
        assert_close(half[k], want[k], 3e-3, 0.0);
        assert_close(uneven[k], want[k], 1e-2, 0.0);
    }
}

/* A field that was saved between two kicks and loaded kicks with the same bits. */
static void a_saved_field_goes_on_with_its_kicks(void **state)
{
    (void)state;
    bunch *b = draw();
    aw_field *field = lcls(), *loaded;
    static double first[2][N], second[2][N];
    void *bytes;
    size_t size;
    show_at(field, b, 0.1);
    assert_int_equal(aw_field_kick(field, 0.05 / LIGHT, N, first[0], first[1]), AW_DONE);
    assert_int_equal(aw_field_save(field, &bytes, &size), AW_DONE);
    assert_int_equal(aw_field_load(bytes, size, NULL, &loaded), AW_DONE);
    assert_int_equal(aw_field_kick(loaded, 0.0, N, second[0], second[1]), AW_WRONG_ARGUMENT);
    says(loaded, "there are no particles to kick");
    show_at(field, b, 0.2);
    show_at(loaded, b, 0.2);
    assert_int_equal(aw_field_kick(field, 0.0, N, first[0], first[1]), AW_DONE);
    assert_int_equal(aw_field_kick(loaded, 0.0, N, second[0], second[1]), AW_DONE);
    assert_true(first[0][0] != 0.0);
    assert_memory_equal(first, second, sizeof first);
    aw_bytes_free(bytes);
    aw_field_free(field);
    aw_field_free(loaded);
    free(b);
}

static void bad_calls_have_one_line(void **state)
{
    (void)state;
    bunch *b = draw();
    aw_field *field = lcls();
    static double dps[N], dpx[N];
    assert_int_equal(aw_field_kick(field, 0.0, N, dps, dpx), AW_WRONG_ARGUMENT);
    says(field, "nothing has been observed yet");
    show_at(field, b, 0.0);
    assert_int_equal(aw_field_kick(field, 0.0, N - 1, dps, dpx), AW_WRONG_ARGUMENT);
    says(field, "59999 kicks (expected 60000");
    assert_int_equal(aw_field_kick(field, -1e-12, N, dps, dpx), AW_WRONG_ARGUMENT);
    says(field, "ahead: -1e-12 s");
    assert_int_equal(aw_field_kick(field, NAN, N, dps, dpx), AW_WRONG_ARGUMENT);
    assert_int_equal(aw_field_kick(field, 0.1 / LIGHT, N, dps, dpx), AW_DONE);
    assert_int_equal(aw_field_kick(field, 0.1 / LIGHT, N, dps, dpx), AW_WRONG_ARGUMENT);
    says(field, "the last kick ended");
    assert_null(strchr(aw_message(field), '\n'));
    show_at(field, b, 0.1);
    assert_int_equal(aw_field_kick(field, 0.0, N, dps, dpx), AW_DONE);
    aw_field_free(field);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kicks_agree_with_forces_of_short_steps),
        cmocka_unit_test(a_saved_field_goes_on_with_its_kicks),
        cmocka_unit_test(bad_calls_have_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
