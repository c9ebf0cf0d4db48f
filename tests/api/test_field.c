/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libarcwake as its users have it: only arcwake.h and the shared library. The test carries a bunch
 * through the LCLS bend, and compares the library's forces with closed forms. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/api/arcwake.h"
#include "tests/api/bunch_fixture.h"
#include "tests/assert_close.h"
#include "validation/analytic.h"

enum { PLACES = 25 };

/* Steps of unequal lengths through the entrance into the steady state, then Derbenev's force on the
 * axis. Seen is an rms of 0.07 % of the largest force: 0.04 % are space charge, which the closed
 * form does not have, the rest the particles and the tolerance of 1e-4. Twice that for others. */
static void forces_agree_with_the_closed_form(void **state)
{
    (void)state;
    bunch *b = draw();
    aw_field *field = lcls();
    double s[PLACES], x[PLACES] = {0.0}, Fs[PLACES], Fx[PLACES], largest = 0.0, square = 0.0;
    double S = 0.0;
    for (int k = 0; S < 2.6; ++k) {
        assert_int_equal(observe_at(field, b, S), AW_DONE);
        S += k % 3 == 0 ? 0.05 : 0.035;
    }
    aw_grid_info info;
    assert_int_equal(aw_field_grid(field, &info, NULL, NULL), AW_DONE);
    assert_close(info.charge, CHARGE, 1e-12, 0.0);
    for (int i = 0; i < PLACES; ++i) s[i] = info.s + SIGMA * (-3.0 + 6.0 * i / (PLACES - 1));
    assert_int_equal(aw_field_force(field, PLACES, s, x, Fs, Fx), AW_DONE);
    assert_string_equal(aw_message(field), "");
    assert_int_equal(aw_field_grid(field, &info, NULL, NULL), AW_DONE);
    assert_true(info.error > 0.0 && info.error <= 1e-4);
    const aw_line_bunch line = {.charge = CHARGE, .sigma = SIGMA};
    for (int i = 0; i < PLACES; ++i) {
        const double want = aw_steady_force(&line, RADIUS, s[i] - info.s);
        largest = fmax(largest, fabs(want));
        square += (Fs[i] - want) * (Fs[i] - want);
    }
    const double rms = sqrt(square / PLACES) / largest;
    if (!(rms <= 1.5e-3)) fail_msg("rms difference %.3g of the largest force", rms);
    aw_field_free(field);
    free(b);
}

/* The forces at nodes and at points are the same field. */
static void points_and_nodes_agree(void **state)
{
    (void)state;
    bunch *b = draw();
    aw_field *field = lcls();
    aw_grid_info info;
    for (int k = 0; k < 20; ++k) assert_int_equal(observe_at(field, b, 0.05 * k), AW_DONE);
    double *Fs = calloc(48 * 48, sizeof *Fs), *Fx = calloc(48 * 48, sizeof *Fx);
    assert_int_equal(aw_field_grid(field, &info, Fs, Fx), AW_DONE);
    assert_int_equal(info.ns, 48);
    double largest = 0.0, at[2];
    for (int i = 0; i < 48 * 48; ++i) largest = fmax(largest, fabs(Fs[i]));
    /* the node nearest to the centre, which is half a spacing from it along both axes */
    const double c = cos(info.tilt), t = sin(info.tilt);
    const double s = info.s + 0.5 * (info.hs * c - info.hx * t);
    const double x = info.x + 0.5 * (info.hs * t + info.hx * c);
    assert_int_equal(aw_field_force(field, 1, &s, &x, &at[0], &at[1]), AW_DONE);
    /* forces that turn with the orbit are interpolated along the lab's axes: 8e-4 seen */
    assert_close(at[0], Fs[24 * 48 + 24], 0.0, 2e-3 * largest);
    free(Fs);
    free(Fx);
    aw_field_free(field);
    free(b);
}

static void bad_calls_have_one_line(void **state)
{
    (void)state;
    bunch *b = draw();
    aw_options options = aw_default_options();
    aw_field *field;
    double F[2];
    options.grid[0] = 4;
    assert_int_equal(aw_field_new(&options, bend, 2, &field), AW_WRONG_ARGUMENT);
    says(field, "grid: 4 x 48 nodes (expected 8 to 4096 each)");
    aw_field_free(field);
    options = aw_default_options();
    options.solver = "magic";
    assert_int_equal(aw_field_new(&options, bend, 2, &field), AW_WRONG_ARGUMENT);
    says(field, "solver 'magic' is not known");
    aw_field_free(field);
    options = aw_default_options();
    options.steady = 7;
    assert_int_equal(aw_field_new(&options, bend, 2, &field), AW_WRONG_ARGUMENT);
    says(field, "steady: 7 (expected 0 or 1)");
    aw_field_free(field);
    options = aw_default_options();
    options.device = "abacus";
    assert_int_equal(aw_field_new(&options, bend, 2, &field), AW_DEVICE_FAILED);
    says(field, "abacus");
    aw_field_free(field);
    assert_int_equal(aw_field_new(NULL, bend, 0, &field), AW_WRONG_ARGUMENT);
    says(field, "the design orbit has no sections");
    aw_field_free(field);
    const aw_section wrong = {-1.0, 0.0, 0.0, 0.0};
    assert_int_equal(aw_field_new(NULL, &wrong, 1, &field), AW_WRONG_ARGUMENT);
    assert_true(strlen(aw_message(field)) > 10);
    aw_field_free(field);

    field = lcls();
    assert_int_equal(aw_field_force(field, 1, b->s, b->x, F, F + 1), AW_WRONG_ARGUMENT);
    says(field, "nothing has been observed yet");
    for (size_t i = 0; i < N; ++i) b->ps[i] = 1e-3;
    assert_int_equal(observe_at(field, b, 0.1), AW_WRONG_ARGUMENT);
    says(field, "the mean gamma is 1.0000005");
    for (size_t i = 0; i < N; ++i) b->ps[i] = GAMMA;
    assert_int_equal(observe_at(field, b, 0.1), AW_DONE);
    assert_string_equal(aw_message(field), "");
    assert_int_equal(observe_at(field, b, 0.1), AW_WRONG_ARGUMENT);
    says(field, "is not later than the last one");
    b->x[77] = NAN;
    assert_int_equal(observe_at(field, b, 0.2), AW_NOT_FINITE);
    says(field, "particle 77 is not finite");
    b->x[77] = 0.0;
    b->ps[5] = -GAMMA;
    assert_int_equal(observe_at(field, b, 0.2), AW_WRONG_ARGUMENT);
    says(field, "particle 5: ");
    b->ps[5] = GAMMA;
    memset(b->charge, 0, sizeof b->charge);
    assert_int_equal(observe_at(field, b, 0.2), AW_WRONG_ARGUMENT);
    says(field, "the bunch has no charge");
    for (size_t i = 0; i < N; ++i) b->charge[i] = CHARGE / N;
    assert_int_equal(observe_at(field, b, 0.2), AW_DONE);
    const double s[2] = {0.2, 0.3}, x[2] = {0.0, 0.0};
    double Fs[2], Fx[2];
    assert_int_equal(aw_field_force(field, 2, s, x, Fs, Fx), AW_OUT_OF_RANGE);
    says(field, "point 1 lies outside of the grid: s 0.3 m");
    assert_true(isfinite(Fs[0]) && isnan(Fs[1]));
    aw_field_free(field);
    aw_field_free(NULL);
    free(b);
}

typedef struct work {
    bunch *b;
    double force;
} work;

static void *one_thread(void *argument)
{
    work *w = argument;
    aw_field *field = lcls();
    const double x = 0.0;
    double Fx;
    for (int k = 0; k < 12; ++k) observe_at(field, w->b, 0.06 * k);
    const double s = 0.06 * 11;
    aw_field_force(field, 1, &s, &x, &w->force, &Fx);
    aw_field_free(field);
    return NULL;
}

/* Two fields in two threads have the bits of one alone. */
static void two_fields_in_two_threads(void **state)
{
    (void)state;
    work w[3] = {{draw(), 0.0}, {draw(), 0.0}, {draw(), 0.0}};
    pthread_t thread[2];
    one_thread(&w[2]);
    for (int i = 0; i < 2; ++i)
        assert_int_equal(pthread_create(&thread[i], NULL, one_thread, &w[i]), 0);
    for (int i = 0; i < 2; ++i) assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_true(w[2].force < -1e4);
    assert_memory_equal(&w[0].force, &w[2].force, sizeof w[0].force);
    assert_memory_equal(&w[1].force, &w[2].force, sizeof w[1].force);
    for (int i = 0; i < 3; ++i) free(w[i].b);
}

static void a_field_does_not_survive_fork(void **state)
{
    (void)state;
    bunch *b = draw();
    aw_field *field = lcls();
    int status;
    assert_int_equal(observe_at(field, b, 0.1), AW_DONE);
    const pid_t child = fork();
    if (child == 0) {
        const int refused = observe_at(field, b, 0.2) == AW_WRONG_ARGUMENT &&
                            strstr(aw_message(field), "in another process");
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(observe_at(field, b, 0.2), AW_DONE);
    aw_field_free(field);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_agree_with_the_closed_form),
        cmocka_unit_test(points_and_nodes_agree),
        cmocka_unit_test(bad_calls_have_one_line),
        cmocka_unit_test(two_fields_in_two_threads),
        cmocka_unit_test(a_field_does_not_survive_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
