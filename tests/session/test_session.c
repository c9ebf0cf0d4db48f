/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The calls of libarcwake_session one by one, for sanitizers; tests/session/test_simulation.py has
 * what they mean. */
#include "src/session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/assert_close.h"
#include "tests/output/scratch.h"

enum { N = 500, SIDE = 12 };

static const char run_file[] =
    "lattice: " AW_SOURCE_DIR "/inputs/lcls_bend.pals.yaml\n"
    "beam: {charge_C: 1.0e-9, particles: 500, sigma_s_m: 50.0e-6, sigma_x_m: 50.0e-6}\n"
    "motion: self-consistent\n"
    "numerics: {grid: [12, 12], step_m: 0.06, tolerance: 1.0e-2}\n";

static aw_session *made(const aw_session_input *input)
{
    aw_session *session;
    if (aw_session_new(input, &session) != 0) fail_msg("%s", aw_session_messages(session));
    return session;
}

static aw_session *small(void)
{
    return made(&(aw_session_input){.path = "input.yaml", .text = run_file, .threads = 2});
}

/* Arrays for all particles, to be freed. */
static aw_session_beam room(void)
{
    double *all = calloc(8 * N, sizeof *all);
    assert_non_null(all);
    return (aw_session_beam){.n = N,
                             .x = all,
                             .px = all + N,
                             .y = all + 2 * N,
                             .py = all + 3 * N,
                             .z = all + 4 * N,
                             .pz = all + 5 * N,
                             .t = all + 6 * N,
                             .charge = all + 7 * N,
                             .id = calloc(N, sizeof(uint64_t)),
                             .from_reference = 1};
}

static void free_room(const aw_session_beam *beam)
{
    free(beam->x);
    free(beam->id);
}

static void says(const aw_session *session, const char *words)
{
    const char *said = aw_session_messages(session);
    if (!strstr(said, words)) fail_msg("'%s' is not in: %s", words, said);
}

static void a_run_step_by_step(void **state)
{
    (void)state;
    aw_session *s = small();
    aw_session_state where;
    aw_session_grid grid;
    aw_session_beam beam = room();
    double Fz[N], Fx[N], Fs[SIDE * SIDE], Fn[SIDE * SIDE], row[64];
    int columns = 0;
    while (aw_session_column(columns)) ++columns;
    assert_in_range(columns, 20, 64);
    assert_string_equal(aw_session_column(0), "step");
    assert_null(aw_session_column(-1));
    aw_session_where(s, &where);
    assert_true(where.n == N && where.step == 0 && !where.solved && !where.last);
    for (int k = 0; k < 3; ++k) assert_int_equal(aw_session_step(s), 0);
    aw_session_where(s, &where);
    assert_true(where.step == 3 && where.solved);
    assert_int_equal(aw_session_monitor(s, row), 0);
    assert_true(row[0] == 3.0 && row[1] == where.time);
    assert_int_equal(aw_session_forces(s, Fz, Fx), 0);
    assert_int_equal(aw_session_grid_of(s, &grid, NULL, NULL), 0);
    assert_true(grid.ns == SIDE && grid.nx == SIDE && grid.charge > 0.99e-9);
    assert_int_equal(aw_session_grid_of(s, &grid, Fs, Fn), 0);
    assert_true(isfinite(Fz[N - 1]) && isfinite(Fs[5]) && Fs[5] != 0.0);
    assert_int_equal(aw_session_get_beam(s, &beam), 0);
    for (int i = 0; i < N; ++i) beam.pz[i] += 1e6;
    assert_int_equal(aw_session_kick(s, &beam), 0);
    beam.x[3] += 1e-9;
    assert_int_equal(aw_session_kick(s, &beam), 1);
    says(s, "E beam: particle 4 has another x");
    assert_int_equal(aw_session_step(s), 0);
    assert_string_equal(aw_session_messages(s), "");
    assert_non_null(strstr(aw_session_resolved(s), "charge_C: "));
    free_room(&beam);
    aw_session_free(s);
}

/* A beam in the place of that of the input, with its start. */
static void a_given_beam(void **state)
{
    (void)state;
    static const char *const set[] = {"beam.start_m=5.5"};
    aw_session *first = small(), *second;
    aw_session_beam beam = room(), got = room();
    aw_session_state where;
    assert_int_equal(aw_session_get_beam(first, &beam), 0);
    for (int i = 0; i < N; ++i) beam.id[i] += 7;
    beam.y = beam.py = NULL;
    second = made(&(aw_session_input){
        .path = "input.yaml", .text = run_file, .set = set, .n_set = 1, .beam = &beam});
    aw_session_where(second, &where);
    assert_true(where.S == 5.5 && where.n == N);
    assert_int_equal(aw_session_get_beam(second, &got), 0);
    for (int i = 0; i < N; ++i) {
        assert_true(got.id[i] == beam.id[i]);
        /* turned by the bend's angle and back */
        assert_close(got.z[i], beam.z[i], 0.0, 1e-14);
        assert_close(got.x[i], beam.x[i], 0.0, 1e-14);
        assert_true(got.y[i] == 0.0 && got.py[i] == 0.0);
    }
    beam.charge[1] = NAN;
    aw_session *third;
    assert_int_not_equal(
        aw_session_new(&(aw_session_input){.path = "a", .text = run_file, .beam = &beam}, &third),
        0);
    says(third, "E beam: charge of particle 2 is nan");
    aw_session_free(third);
    aw_session_free(first);
    aw_session_free(second);
    free_room(&beam);
    free_room(&got);
}

static void files(void **state)
{
    const scratch_fixture *f = *state;
    aw_session *s = small();
    assert_int_equal(aw_session_write(s, scratch_path(f->dir, "a.h5"), 1), 0);
    assert_true(scratch_exists(scratch_path(f->dir, "a.h5")));
    assert_int_not_equal(aw_session_write(s, scratch_path(f->dir, "no/a.h5"), 0), 0);
    says(s, "no/a.h5");
    assert_int_equal(scratch_count(f->dir), 1);
    aw_session_free(s);
}

static void all_problems_are_told(void **state)
{
    (void)state;
    static const char *const set[] = {"beam.charge_C=-1", "numerics.grids=3", "lattice=no.yaml"};
    aw_session *s;
    const aw_session_input bad = {
        .path = "input.yaml", .text = run_file, .set = set, .n_set = 3, .threads = 1};
    assert_int_not_equal(aw_session_new(&bad, &s), 0);
    says(s, "E --set beam.charge_C: '-1' is not positive");
    says(s, "E --set numerics.grids: unknown key");
    says(s, "no.yaml");
    assert_int_not_equal(aw_session_step(s), 0);
    says(s, "E the simulation could not be made");
    aw_session_where(s, &(aw_session_state){0});
    aw_session_free(s);
    assert_int_not_equal(aw_session_new(&(aw_session_input){.path = "no.yaml"}, &s), 0);
    says(s, "E no.yaml: ");
    aw_session_free(s);
    aw_session_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_step_by_step),
        cmocka_unit_test(a_given_beam),
        cmocka_unit_test_setup_teardown(files, scratch_setup, scratch_teardown),
        cmocka_unit_test(all_problems_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
