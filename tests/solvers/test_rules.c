/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice among the rules of a zone from the errors of its passes. */
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

/* Errors of zones add in quadrature: of 5 = (3, 4) the second zone leaves 4. */
static void the_rest_is_what_the_other_zone_leaves(void **state)
{
    (void)state;
    aw_rules near, far;
    aw_rules_init(&near, 0);
    aw_rules_init(&far, 1);
    assert_close(aw_rules_rest(&near, &far), 0.0, 0.0, 0.0);
    near.error = 3e-6;
    far.error = 4e-6;
    assert_close(aw_rules_rest(&near, &far), 0.8, 1e-15, 0.0);
    assert_close(aw_rules_rest(&far, &near), 0.6, 1e-15, 0.0);
}

/* An estimate that is above its limit because of the other zone keeps no rule finer than it need
 * be: one whose error hardly matters becomes coarser, one whose error matters stays. */
static void a_rule_that_hardly_matters_becomes_coarser(void **state)
{
    (void)state;
    aw_rules near, far;
    aw_rules_init(&near, 0);
    aw_rules_init(&far, 1);
    near.recent_error = 5e-7;
    far.level = 4;
    far.recent_error = 2e-8;
    aw_rules_try_coarser(&far, &near, 9e-7, 1e-6);
    assert_int_equal(far.level, 3);
    far.recent_error = 2e-7;
    aw_rules_try_coarser(&far, &near, 9e-7, 1e-6);
    assert_int_equal(far.level, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_that_are_worse_give_way_once),
        cmocka_unit_test(the_rest_is_what_the_other_zone_leaves),
        cmocka_unit_test(a_rule_that_hardly_matters_becomes_coarser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
