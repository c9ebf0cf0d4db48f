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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_that_are_worse_give_way_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
