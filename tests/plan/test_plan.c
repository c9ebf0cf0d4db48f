/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which time steps and grids are too coarse for the bunch that is expected, and that is met. */
#include <math.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/units.h"
#include "src/input/lcls.h"
#include "src/plan/optics.h"
#include "src/plan/plan.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

#define GAMMA (5e9 / AW_ME_EV)

/* The Berlin-Zeuthen chicane with a thin beam and no warning but those of this test. */
static aw_config *chicane(double chirp)
{
    aw_element e[ZEUTHEN_N];
    aw_config *config = NULL;
    zeuthen(e);
    for (int i = 0; i < ZEUTHEN_N; ++i) snprintf(e[i].name, sizeof e[i].name, "e%d", i);
    assert_ok(aw_line_config("chicane", e, ZEUTHEN_N, GAMMA, AW_UPSTREAM_DRIFT, &config));
    config->motion = AW_MOTION_EXTERNAL;
    config->beam.sigma_s = 200e-6;
    config->beam.sigma_x = 1e-6;
    config->beam.chirp = chirp;
    return config;
}

static void the_step_is_judged_by_the_shortest_bunch(void **state)
{
    aw_config *config = chicane(-36.0);
    aw_plan plan;
    (void)state;
    assert_ok(aw_plan_make(config, &plan));
    /* 20 um at the end of the third bend, and after: 1 - h R56 = 0.093 there, 0.1 after the last,
     * R56 with two digits; for the initial 200 um the length is 0.80 m */
    assert_string_equal(plan.shortest.name, "e4");
    assert_close(plan.shortest.sigma_s, 0.093 * 200e-6, 0.03, 0.0);
    assert_close(plan.shortest.S, 7.5064, 0.0, 1e-3);
    assert_close(plan.shortest.overtaking, cbrt(24.0 * 18.6e-6 * ZEUTHEN_RHO * ZEUTHEN_RHO), 0.01,
                 0.0);
    config->step_m = 0.02;
    assert_int_equal(aw_plan_warn(config, &plan), 1);
    config->step_m = 0.016; /* 1/22.8 of 0.364 m */
    assert_int_equal(aw_plan_warn(config, &plan), 0);

    /* not if the run ends before, and not if the bunch is rigid or has no chirp */
    config->step_m = 0.02;
    config->steps = 200;
    assert_ok(aw_plan_make(config, &plan));
    assert_string_equal(plan.shortest.name, "e0");
    assert_int_equal(aw_plan_warn(config, &plan), 0);
    config->steps = 0;
    config->motion = AW_MOTION_RIGID;
    assert_ok(aw_plan_make(config, &plan));
    assert_close(plan.shortest.sigma_s, 200e-6, 1e-12, 0.0);
    assert_int_equal(aw_plan_warn(config, &plan), 0);
    aw_config_free(config);
}

static void a_bunch_that_becomes_too_short_is_noticed(void **state)
{
    aw_config *config = chicane(0.0);
    aw_plan plan;
    (void)state;
    config->step_m = 0.02;
    assert_ok(aw_plan_make(config, &plan));
    assert_int_equal(aw_plan_warn(config, &plan), 0);
    aw_plan_bunch bunch = {.S = 7.0,
                           .kappa = -1.0 / ZEUTHEN_RHO,
                           .sigma_s = 100e-6,
                           .step = 0.02,
                           .spike = 13e-6,
                           .h_s = 10e-6};
    assert_int_equal(aw_plan_broken(config, &plan, &bunch), 0);
    bunch.spike = 11e-6; /* 1.1 cells */
    assert_int_equal(aw_plan_broken(config, &plan, &bunch), AW_RULE_SPIKE);
    bunch.spike = NAN; /* the current has no top */
    assert_int_equal(aw_plan_broken(config, &plan, &bunch), 0);
    bunch.sigma_s = 15e-6; /* 1.5 cells; overtaking length 0.34 m */
    assert_int_equal(aw_plan_broken(config, &plan, &bunch), AW_RULE_STEP | AW_RULE_CELLS);
    bunch.kappa = 0.0; /* no bend */
    assert_int_equal(aw_plan_broken(config, &plan, &bunch), AW_RULE_CELLS);
    bunch.h_s = 0.0; /* not known */
    assert_int_equal(aw_plan_broken(config, &plan, &bunch), 0);
    bunch.sigma_s = NAN; /* no statistics: another message */
    assert_int_equal(aw_plan_broken(config, &plan, &bunch), 0);
    aw_plan_warn_broken(&bunch, 0);

    /* what the optics had predicted is not said again */
    bunch = (aw_plan_bunch){.kappa = -1.0 / ZEUTHEN_RHO, .sigma_s = 15e-6, .step = 0.02};
    assert_int_equal(aw_plan_broken(config, &plan, &bunch), AW_RULE_STEP);
    config->beam.chirp = -36.0;
    assert_ok(aw_plan_make(config, &plan));
    assert_int_equal(aw_plan_warn(config, &plan), 1);
    assert_int_equal(aw_plan_broken(config, &plan, &bunch), 0);
    aw_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_step_is_judged_by_the_shortest_bunch),
        cmocka_unit_test(a_bunch_that_becomes_too_short_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
