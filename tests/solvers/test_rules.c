/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice among the rules of a zone from the errors of its passes. */
#include "src/solvers/projection/constants.h"
#include "src/solvers/projection/rules.h"
#include "tests/assert_close.h"

/* A convolution that is not accurate enough gives way to tiles; tiles that are worse give way to it
 * again, and the zone is done once more, but not at the next step. */
static void tiles_that_are_worse_give_way_once(void **state)
{
    (void)state;
    aw_rules r;
    aw_rules_init(&r, 0);
    r.level = r.n - 1;
    r.has_convolution = r.all_convolution = 1;
    r.density_level = AW_DENSITY_LEVEL_MAX; /* it is as fine as it gets */
    r.error = 0.1;
    assert_true(aw_rules_refine(&r, 1e9, 0.01));
    assert_true(r.tiles_only);
    r.all_convolution = r.has_convolution = 0;
    r.error = 0.5;
    aw_rules_record_gain(&r);
    assert_false(r.tiles_only);
    assert_true(r.goes_back);
    aw_rules_accept(&r);
    assert_false(r.goes_back);
}

/* A convolution is made finer, twice, before tiles take its place, and coarser again in time, but
 * never for its rule, which it does not use. */
static void convolutions_get_finer_before_tiles(void **state)
{
    (void)state;
    aw_rules r, far;
    aw_rules_init(&r, 0);
    aw_rules_init(&far, 1);
    r.has_convolution = r.all_convolution = 1;
    r.error = 0.1;
    r.level = 2;
    for (int i = 1; i <= AW_DENSITY_LEVEL_MAX; ++i) {
        assert_true(aw_rules_refine(&r, 1e9, 0.01));
        assert_int_equal(r.density_level, i);
        assert_false(r.tiles_only);
        aw_rules_record_gain(&r);
    }
    assert_true(aw_rules_refine(&r, 1e9, 0.01));
    assert_true(r.tiles_only);
    r.tiles_only = 0;
    r.error = r.recent_error = 0.0;
    for (int i = 0; i < 2 * (AW_DENSE_STEPS_MAX + 2); ++i) {
        aw_rules_try_coarser(&r, &far, 0.0, 1.0);
        r.unproven = 0;
    }
    assert_int_equal(r.density_level, 0);
    assert_int_equal(r.level, r.n - 1);
    r.cost = 2.0;
    assert_false(aw_rules_refine(&r, 1.0, 0.01)); /* over cost */
}

/* Errors of the rates alone do not bring tiles, which cost many times as much and lower them
 * little; those of the potentials do, and a NaN. */
static void rates_alone_do_not_bring_tiles(void **state)
{
    (void)state;
    aw_rules r;
    aw_rules_init(&r, 0);
    r.has_convolution = r.all_convolution = 1;
    r.density_level = AW_DENSITY_LEVEL_MAX;
    r.rate_part = 1.0;
    r.rate_error = 0.3;
    r.error = 0.005;
    assert_true(aw_rules_error(&r) > 0.01);
    assert_false(aw_rules_refine(&r, 1e9, 0.01));
    assert_false(r.tiles_only);
    r.error = (double)NAN;
    assert_true(aw_rules_refine(&r, 1e9, 0.01));
    assert_true(r.tiles_only);
}

/* Neither a larger error of the convolution, nor one of tiles, nor one of the far zone that adds to
 * it is a floor; a NaN is none. */
static void what_splines_leave_is_a_floor(void **state)
{
    (void)state;
    aw_rules near, far;
    aw_rules_init(&near, 0);
    aw_rules_init(&far, 1);
    near.has_convolution = near.all_convolution = 1;
    near.error = 6e-7;
    far.error = 2e-7;
    assert_true(aw_rules_are_at_floor(&near, &far));
    far.error = 5e-7;
    assert_false(aw_rules_are_at_floor(&near, &far));
    far.error = (double)NAN;
    assert_false(aw_rules_are_at_floor(&near, &far));
    far.error = 2e-7;
    near.error = 6e-6;
    assert_false(aw_rules_are_at_floor(&near, &far));
    near.error = 6e-7;
    near.all_convolution = 0;
    assert_false(aw_rules_are_at_floor(&near, &far));
}

/* After a trial of fewer nodes in angle a finer rule in r' is not the rule that was given up: what
 * was known of that one holds again once it has its nodes in angle back. */
static void a_rule_given_up_is_back_with_its_nodes_in_angle(void **state)
{
    (void)state;
    aw_rules r, near;
    aw_rules_init(&r, 1);
    aw_rules_init(&near, 0);
    r.level = 2;
    r.density_level = 1;
    aw_rules_accept(&r);
    assert_true(aw_rules_are_as_fine(&r));
    aw_rules_try_coarser(&r, &near, 0.0, 1.0);
    assert_int_equal(r.density_level, 0);
    assert_true(r.unproven);
    assert_false(aw_rules_are_as_fine(&r));
    assert_true(aw_rules_refine(&r, 1e9, 0.01));
    assert_int_equal(r.level, 3);
    assert_false(aw_rules_are_as_fine(&r));
    assert_true(aw_rules_densify(&r, 1e9));
    assert_true(aw_rules_are_as_fine(&r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_that_are_worse_give_way_once),
        cmocka_unit_test(convolutions_get_finer_before_tiles),
        cmocka_unit_test(rates_alone_do_not_bring_tiles),
        cmocka_unit_test(what_splines_leave_is_a_floor),
        cmocka_unit_test(a_rule_given_up_is_back_with_its_nodes_in_angle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
