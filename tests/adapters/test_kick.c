/* SPDX-License-Identifier: GPL-3.0-or-later */
/* aw_field_kick: what a rigid bunch loses on its way into a bend, against forces of short steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/api/arcwake.h"
#include "tests/assert_close.h"

#define GAMMA 1e4
#define SIGMA 50e-6
#define LIGHT 299792458.0
#define CHARGE 1e-9
#define MASS 510998.95 /* m c^2 of the electron [eV] */
#define WAY 1.2        /* of the bunch, from the entrance on [m] */

enum { N = 20000 };

typedef struct bunch {
    double s0[N], s[N], x[N], ps[N], px[N], charge[N];
} bunch;

/* A round bunch of quasi-random particles (additive recurrence), cut at 4 sigma. */
static bunch *draw(void)
{
    bunch *b = calloc(1, sizeof *b);
    assert_non_null(b);
    for (size_t i = 0, n = 0; n < N; ++i) {
        const double u = fmod(0.5 + 0.7548776662466927 * (double)i, 1.0);
        const double v = fmod(0.5 + 0.5698402909980532 * (double)i, 1.0);
        const double r = sqrt(-2.0 * log(u > 0.0 ? u : 0.5)), angle = 6.283185307179586 * v;
        if (r > 4.0) continue;
        b->s0[n] = SIGMA * r * cos(angle);
        b->x[n] = SIGMA * r * sin(angle);
        b->ps[n] = GAMMA;
        b->charge[n++] = CHARGE / N;
    }
    return b;
}

static const aw_section bend = {5.0, 1.0 / 25.13, 0.0, 0.0};

static aw_field *new_field(void)
{
    aw_options options = aw_default_options();
    aw_field *field;
    options.tolerance = 1e-3;
    assert_int_equal(aw_field_new(&options, &bend, 1, &field), AW_DONE);
    return field;
}

static void observe_at(aw_field *field, bunch *b, double S)
{
    for (size_t i = 0; i < N; ++i) b->s[i] = S + b->s0[i];
    const aw_bunch now = {N, b->s, b->x, b->ps, b->px, b->charge};
    assert_int_equal(aw_field_observe(field, S / LIGHT, &now), AW_DONE);
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
    aw_field *field = new_field();
    static double dps[N], dpx[N], lost[N];
    memset(lost, 0, sizeof lost);
    for (int k = 0; k <= steps; ++k) {
        const double ahead = k < steps ? WAY / steps / LIGHT * (k % 3 == 1 ? part : 0.5) : 0.0;
        observe_at(field, b, WAY * k / steps);
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
    aw_field *field = new_field();
    static double Fs[N], Fx[N], lost[N];
    memset(lost, 0, sizeof lost);
    for (int k = 0; k <= steps; ++k) {
        const double part = (k == 0 || k == steps ? 0.5 : 1.0) * WAY / steps;
        observe_at(field, b, WAY * k / steps);
        assert_int_equal(aw_field_force(field, N, b->s, b->x, Fs, Fx), AW_DONE);
        for (int i = 0; i < N; ++i) lost[i] += part * Fs[i];
    }
    result(lost, out);
    aw_field_free(field);
    free(b);
}

/* A trapezium sum of forces in 96 steps, 1/70 of an overtaking length each, against kicks in 24.
 * Seen are 0.05 % of the mean and 0.05 to 0.2 % of the rms. Tolerance: A errs by 1e-3 of its largest
 * value, some 400 eV here, 0.3 % of the mean. A kick that lasts from 0.3 instead of 0.5 of the step
 * to the next observation has an error of first order, 0.5 %, and no more: the times add up. */
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
    aw_field *field = new_field(), *loaded;
    static double first[2][N], second[2][N];
    void *bytes;
    size_t size;
    observe_at(field, b, 0.1);
    assert_int_equal(aw_field_kick(field, 0.05 / LIGHT, N, first[0], first[1]), AW_DONE);
    assert_int_equal(aw_field_save(field, &bytes, &size), AW_DONE);
    assert_int_equal(aw_field_load(bytes, size, NULL, &loaded), AW_DONE);
    assert_int_equal(aw_field_kick(loaded, 0.0, N, second[0], second[1]), AW_WRONG_ARGUMENT);
    assert_non_null(strstr(aw_message(loaded), "a saved field has no particles to kick"));
    observe_at(field, b, 0.2);
    observe_at(loaded, b, 0.2);
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
    aw_field *field = new_field();
    static double dps[N], dpx[N];
    assert_int_equal(aw_field_kick(field, 0.0, N, dps, dpx), AW_WRONG_ARGUMENT);
    assert_non_null(strstr(aw_message(field), "nothing has been observed yet"));
    observe_at(field, b, 0.0);
    assert_int_equal(aw_field_kick(field, 0.0, N - 1, dps, dpx), AW_WRONG_ARGUMENT);
    assert_non_null(strstr(aw_message(field), "19999 kicks (expected 20000"));
    assert_int_equal(aw_field_kick(field, -1e-12, N, dps, dpx), AW_WRONG_ARGUMENT);
    assert_non_null(strstr(aw_message(field), "ahead: -1e-12 s"));
    assert_int_equal(aw_field_kick(field, NAN, N, dps, dpx), AW_WRONG_ARGUMENT);
    assert_int_equal(aw_field_kick(field, 0.1 / LIGHT, N, dps, dpx), AW_DONE);
    assert_int_equal(aw_field_kick(field, 0.1 / LIGHT, N, dps, dpx), AW_WRONG_ARGUMENT);
    assert_non_null(strstr(aw_message(field), "the last kick ended"));
    assert_null(strchr(aw_message(field), '\n'));
    observe_at(field, b, 0.1);
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
