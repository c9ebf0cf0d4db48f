/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How `arcwake tune` decides: the present value is replaced only for a gain above the noise. */
#include <string.h>

#include "src/tune/choice.h"
#include "tests/assert_close.h"

enum { ROUNDS = 6 };

/* The same times in every round. */
static aw_timings steady(int n, const double *seconds)
{
    aw_timings t = {.n = n, .rounds = ROUNDS};
    for (int i = 0; i < ROUNDS; ++i) memcpy(t.seconds[i], seconds, (size_t)n * sizeof *seconds);
    return t;
}

static aw_choice choose(const aw_timings *t)
{
    aw_choice choice;
    aw_tune_choose(t, &choice);
    return choice;
}

static void fastest_candidate_is_chosen(void **state)
{
    const double seconds[] = {1.0, 0.9, 0.8, 1.1};
    aw_timings t = steady(4, seconds);
    (void)state;
    assert_int_equal(choose(&t).chosen, 2);
    assert_true(choose(&t).noise == 0.0);
    assert_true(choose(&t).best[3] == 1.1);
}

static void disturbed_rounds_do_not_change_the_choice(void **state)
{
    const double seconds[] = {1.0, 0.9};
    aw_timings t = steady(2, seconds);
    (void)state;
    t.seconds[0][1] = 50.0;
    t.seconds[3][1] = 20.0;
    t.seconds[2][0] = 5.0;
    assert_int_equal(choose(&t).chosen, 1);
    assert_true(choose(&t).noise == 0.0);
}

static void gain_within_the_noise_is_ignored(void **state)
{
    const double seconds[] = {1.0, 0.9, 1.2};
    aw_timings t = steady(3, seconds);
    (void)state;
    /* The even rounds of one candidate, though not of the fastest, are 12 % off its odd ones: then
     * a gain of 10 % may be luck. */
    for (int i = 0; i < ROUNDS; i += 2) t.seconds[i][2] = 1.2 * 1.12;
    assert_int_equal(choose(&t).chosen, 0);
    assert_close(choose(&t).noise, 0.12, 1e-12, 0.0); /* a few roundings */
    for (int i = 0; i < ROUNDS; i += 2) t.seconds[i][2] = 1.2 * 1.08;
    assert_int_equal(choose(&t).chosen, 1);
}

static void gain_below_one_percent_is_ignored(void **state)
{
    const double seconds[] = {1.0, 0.995};
    aw_timings t = steady(2, seconds);
    (void)state;
    assert_int_equal(choose(&t).chosen, 0);
    for (int i = 0; i < ROUNDS; ++i) t.seconds[i][1] = 0.985;
    assert_int_equal(choose(&t).chosen, 1);
}

static void with_one_round_a_nan_or_one_candidate_the_present_value_stays(void **state)
{
    const double seconds[] = {1.0, 0.5};
    aw_timings t = steady(2, seconds);
    (void)state;
    for (t.rounds = 0; t.rounds < 2; ++t.rounds) assert_int_equal(choose(&t).chosen, 0);
    assert_int_equal(choose(&t).chosen, 1); /* two rounds: an even one and an odd one */
    t.rounds = ROUNDS;
    t.seconds[4][1] = (double)NAN;
    assert_int_equal(choose(&t).chosen, 0);
    t = steady(1, seconds);
    assert_int_equal(choose(&t).chosen, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fastest_candidate_is_chosen),
        cmocka_unit_test(disturbed_rounds_do_not_change_the_choice),
        cmocka_unit_test(gain_within_the_noise_is_ignored),
        cmocka_unit_test(gain_below_one_percent_is_ignored),
        cmocka_unit_test(with_one_round_a_nan_or_one_candidate_the_present_value_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
