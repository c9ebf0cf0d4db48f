/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecasts of access patterns from those of the last steps. */
#include <string.h>

#include "predictor/learner.h"
#include "tests/assert_close.h"
#include "tests/predictor/patterns.h"
#include "tests/slice_fixture.h"

enum { CELLS = 12, TILES = 20 };

/* Spacings of positions: farther apart than one step back in time (0.01 sides), and closer. */
#define APART 0.05
#define CLOSE 0.005

typedef double place[2];

static void row_of_places(place *where, size_t n, double spacing)
{
    for (size_t i = 0; i < n; ++i) {
        where[i][0] = spacing * (double)i - 0.5;
        where[i][1] = 0.25;
    }
}

/* Random patterns over equal cells of [0, length]. */
static void random_patterns(aw_patterns *p, double length, size_t cells, size_t rows,
                            uint64_t *random)
{
    double edge[CELLS_MAX + 1];
    for (size_t i = 0; i <= cells; ++i) edge[i] = length * (double)i / (double)cells;
    patterns_over(p, edge, NULL, cells, rows);
    for (size_t i = 0; i < rows * cells; ++i) p->need[i] = (float)uniform(random, 0.0, 5.0);
}

/* A learner, and copies of the patterns that it has learned, newest first. */
typedef struct story {
    aw_learner *learner;
    aw_patterns seen, now, copy[3];
    uint64_t random;
} story;

static void story_begin(story *s)
{
    *s = (story){.random = 1};
    assert_ok(aw_learner_new(&s->learner));
}

static void story_end(story *s)
{
    aw_learner_free(s->learner);
    aw_patterns_free(&s->seen);
    aw_patterns_free(&s->now);
    for (int i = 0; i < 3; ++i) aw_patterns_free(&s->copy[i]);
}

static void learn(story *s, const place *where, size_t tiles, double length, size_t cells)
{
    const aw_patterns last = s->copy[2];
    s->copy[2] = s->copy[1];
    s->copy[1] = s->copy[0];
    s->copy[0] = last;
    random_patterns(&s->seen, length, cells, tiles, &s->random);
    patterns_over(&s->copy[0], s->seen.edge, NULL, cells, tiles);
    memcpy(s->copy[0].need, s->seen.need, tiles * cells * sizeof(float));
    assert_ok(aw_learner_learn(s->learner, &s->seen, where));
}

static void forecast(story *s, const place *where, size_t tiles, int k)
{
    random_patterns(&s->now, 3.0, CELLS, tiles, &s->random); /* to be overwritten */
    assert_ok(aw_learner_forecast(s->learner, where, k, &s->now));
}

static void the_nearest_neighbour_is_the_same_position_one_step_ago(void **state)
{
    place where[TILES];
    story s;
    (void)state;
    story_begin(&s);
    for (int dense = 0; dense < 2; ++dense) {
        row_of_places(where, TILES, dense ? CLOSE : APART);
        for (int step = 0; step < 3; ++step) {
            learn(&s, where, TILES, 3.0, CELLS);
            forecast(&s, where, TILES, 1);
            assert_memory_equal(s.now.need, s.copy[0].need, sizeof(float) * TILES * CELLS);
        }
    }
    assert_int_equal(aw_learner_steps(s.learner), 6);
    story_end(&s);
}

static void the_second_neighbour_is_the_same_position_two_steps_ago(void **state)
{
    place where[TILES];
    story s;
    (void)state;
    story_begin(&s);
    row_of_places(where, TILES, APART);
    for (int step = 0; step < 3; ++step) learn(&s, where, TILES, 3.0, CELLS);
    forecast(&s, where, TILES, 2);
    for (int i = 0; i < TILES * CELLS; ++i)
        assert_close(s.now.need[i], 0.5 * ((double)s.copy[0].need[i] + (double)s.copy[1].need[i]),
                     1e-6, 0.0);
    story_end(&s);
}

static void near_positions_of_the_last_step_precede_older_ones(void **state)
{
    place where[TILES];
    story s;
    (void)state;
    story_begin(&s);
    row_of_places(where, TILES, CLOSE);
    for (int step = 0; step < 2; ++step) learn(&s, where, TILES, 3.0, CELLS);
    forecast(&s, where, TILES, 3);
    for (int t = 1; t + 1 < TILES; ++t)
        for (int i = 0; i < CELLS; ++i) {
            const float *mine = &s.copy[0].need[t * CELLS + i];
            const double sum = (double)mine[-CELLS] + (double)mine[0] + (double)mine[CELLS];
            assert_close(s.now.need[t * CELLS + i], sum / 3.0, 1e-6, 0.0);
        }
    story_end(&s);
}

static void only_the_last_two_steps_are_kept(void **state)
{
    place where = {0.0, 0.0};
    story s;
    (void)state;
    story_begin(&s);
    for (int step = 0; step < 3; ++step) learn(&s, &where, 1, 3.0, CELLS);
    forecast(&s, &where, 1, 64); /* there are only two */
    for (int i = 0; i < CELLS; ++i)
        assert_close(s.now.need[i], 0.5 * ((double)s.copy[0].need[i] + (double)s.copy[1].need[i]),
                     1e-6, 0.0);
    forecast(&s, &where, 1, 1000); /* above the limit: the same */
    assert_close(s.now.need[0], 0.5 * ((double)s.copy[0].need[0] + (double)s.copy[1].need[0]), 1e-6,
                 0.0);
    story_end(&s);
}

static void patterns_are_transferred_to_other_cells(void **state)
{
    place where[TILES];
    float want[CELLS];
    story s;
    (void)state;
    story_begin(&s);
    row_of_places(where, TILES, APART);
    learn(&s, where, TILES, 2.0, 7); /* shorter than the forecast, with other break points */
    forecast(&s, where, TILES, 1);
    for (size_t t = 0; t < TILES; ++t) {
        const double part = sum_of(&s.copy[0].need[t * 7], 7);
        aw_patterns_carry(&s.copy[0], &s.copy[0].need[t * 7], &s.now, want);
        assert_memory_equal(&s.now.need[t * CELLS], want, sizeof want);
        assert_close(sum_of(want, CELLS), part, 1e-6, 0.0);
        assert_true(want[CELLS - 1] == 0.0F); /* beyond the learned patterns */
    }
    story_end(&s);
}

static void the_number_of_tiles_may_change(void **state)
{
    place where[TILES], fewer[TILES / 2];
    story s;
    (void)state;
    story_begin(&s);
    row_of_places(where, TILES, APART);
    row_of_places(fewer, TILES / 2, 2.0 * APART);
    learn(&s, where, TILES, 3.0, CELLS);
    learn(&s, fewer, TILES / 2, 3.0, 5);
    forecast(&s, where, TILES, 1);
    for (int t = 0; t < TILES; ++t) { /* every other position has no tile in the newest step */
        const aw_patterns *from = &s.copy[t % 2];
        const size_t row = (size_t)(t % 2 ? t : t / 2);
        float want[CELLS];
        aw_patterns_carry(from, &from->need[row * from->cells], &s.now, want);
        assert_memory_equal(&s.now.need[t * CELLS], want, sizeof want);
    }
    story_end(&s);
}

static void a_forecast_without_learned_patterns_is_refused(void **state)
{
    place where = {0.0, 0.0};
    story s;
    (void)state;
    story_begin(&s);
    random_patterns(&s.now, 1.0, CELLS, 1, &s.random);
    assert_status(aw_learner_forecast(s.learner, &where, 1, &s.now), AW_ERR_ARG);
    assert_int_equal(aw_learner_steps(s.learner), 0);
    story_end(&s);
}

static void a_position_that_is_not_finite_is_refused(void **state)
{
    place where[TILES];
    story s;
    (void)state;
    story_begin(&s);
    row_of_places(where, TILES, APART);
    where[TILES / 2][1] = NAN;
    random_patterns(&s.seen, 3.0, CELLS, TILES, &s.random);
    assert_status(aw_learner_learn(s.learner, &s.seen, where), AW_ERR_NONFINITE);
    assert_int_equal(aw_learner_steps(s.learner), 0); /* it has learned nothing from it */
    random_patterns(&s.now, 3.0, CELLS, TILES, &s.random);
    assert_status(aw_learner_forecast(s.learner, where, 1, &s.now), AW_ERR_ARG);
    story_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_neighbour_is_the_same_position_one_step_ago),
        cmocka_unit_test(the_second_neighbour_is_the_same_position_two_steps_ago),
        cmocka_unit_test(near_positions_of_the_last_step_precede_older_ones),
        cmocka_unit_test(only_the_last_two_steps_are_kept),
        cmocka_unit_test(patterns_are_transferred_to_other_cells),
        cmocka_unit_test(the_number_of_tiles_may_change),
        cmocka_unit_test(a_forecast_without_learned_patterns_is_refused),
        cmocka_unit_test(a_position_that_is_not_finite_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
