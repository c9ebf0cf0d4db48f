/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grid, steps, particles and tolerance from the wanted accuracy: they follow the orders of the
 * errors, given ones stay, and a bunch that no grid resolves is told of. */
#include "src/plan/choose.h"

#include <math.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/units.h"
#include "src/input/lcls.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

#define GAMMA (5e9 / AW_ME_EV)

/* The Berlin-Zeuthen chicane with its beam, nothing given. */
static aw_config *chicane(double accuracy)
{
    aw_element e[ZEUTHEN_N];
    aw_config *config = NULL;
    zeuthen(e);
    for (int i = 0; i < ZEUTHEN_N; ++i) snprintf(e[i].name, sizeof e[i].name, "e%d", i);
    assert_ok(aw_line_config("chicane", e, ZEUTHEN_N, GAMMA, AW_UPSTREAM_DRIFT, &config));
    config->motion = AW_MOTION_SELF_CONSISTENT;
    config->beam.sigma_s = 200e-6;
    config->beam.emittance = 1e-6 / GAMMA;
    config->beam.beta_x = 40.0;
    config->beam.alpha_x = 2.6;
    config->beam.sigma_x = sqrt(40.0 * config->beam.emittance);
    config->beam.chirp = -36.0;
    config->beam.energy_spread = 2e-6;
    config->step_m = AW_STEP_AUTO;
    config->step_scale = 1.0;
    config->accuracy = accuracy;
    return config;
}

static aw_choice choice_of(double accuracy)
{
    aw_config *config = chicane(accuracy);
    aw_choice c;
    assert_ok(aw_choose(config, &c));
    aw_config_free(config);
    return c;
}

/* What was measured to be within a per cent in this chicane. */
static void one_per_cent_is_what_was_measured(void **state)
{
    const aw_choice c = choice_of(0.01);
    (void)state;
    assert_int_equal(c.grid[0], 48);
    assert_int_equal(c.grid[1], 48);
    assert_true(c.step_m == AW_STEP_AUTO && c.step_scale == 1.0);
    assert_int_equal(c.particles, 200000);
    assert_close(c.tolerance, 3e-3, 1e-12, 0.0);
    for (int i = 0; i < AW_CHOICES; ++i) assert_true(strlen(c.why[i]) > 0);
}

/* Cells by the fifth root, steps by the square root, particles a cell and tolerance as A. The
 * nodes are rounded to 4 (at most 3 of 44), the factor of the steps to 0.01. */
static void numbers_follow_the_orders_of_the_errors(void **state)
{
    const double accuracy[] = {0.02, 0.01, 0.005, 0.001, 2e-4};
    (void)state;
    for (size_t i = 0; i < sizeof accuracy / sizeof accuracy[0]; ++i) {
        const double ratio = 0.01 / accuracy[i], cells = 44.0 * pow(ratio, 0.2);
        const aw_choice c = choice_of(accuracy[i]);
        for (int k = 0; k < 2; ++k) {
            assert_true(c.grid[k] - 4 >= cells - 1e-6 && c.grid[k] - 4 < cells + 4.0);
            assert_int_equal(c.grid[k] % 4, 0);
        }
        assert_close(c.step_scale, 1.0 / sqrt(ratio), 0.0, 0.0051);
        assert_close((double)c.particles, 87.0 * ratio * c.grid[0] * c.grid[1], 0.05, 0.0);
        assert_close(c.tolerance, fmin(0.3 * accuracy[i], 3e-3), 1e-9, 0.0);
    }
    const aw_choice coarse = choice_of(0.1); /* limits */
    assert_close(coarse.step_scale, 2.25, 1e-9, 0.0);
    assert_close(coarse.tolerance, 3e-3, 1e-9, 0.0);
    assert_true((double)coarse.particles >= 19.0 * coarse.grid[0] * coarse.grid[1]);
}

static void given_numbers_stay(void **state)
{
    aw_config *config = chicane(0.003);
    (void)state;
    config->grid[0] = 40;
    config->grid[1] = 24;
    config->beam.particles = 12345;
    config->tolerance = 2e-5;
    config->given = AW_GIVEN_GRID | AW_GIVEN_PARTICLES | AW_GIVEN_TOLERANCE;
    assert_ok(aw_choose_apply(config));
    assert_int_equal(config->grid[0], 40);
    assert_int_equal(config->grid[1], 24);
    assert_int_equal(config->beam.particles, 12345);
    assert_true(config->tolerance == 2e-5);
    assert_close(config->step_scale, 0.55, 1e-12, 0.0);
    config->step_m = 0.01;
    config->step_scale = 1.0;
    config->given |= AW_GIVEN_STEP;
    assert_ok(aw_choose_apply(config));
    assert_true(config->step_m == 0.01 && config->step_scale == 1.0);
    /* too coarse, and too few: one line each */
    assert_int_equal(aw_choose_warn(config), 2);

    /* a choice is for the grid that is taken */
    config->given = AW_GIVEN_GRID;
    assert_ok(aw_choose_apply(config));
    assert_close((double)config->beam.particles, 87.0 / 0.3 * 40 * 24, 0.05, 0.0);

    config->given = 0;
    assert_ok(aw_choose_apply(config));
    assert_int_equal(aw_choose_warn(config), 0);
    const int nodes = config->grid[0];
    assert_ok(aw_choose_apply(config)); /* again: the same */
    assert_int_equal(config->grid[0], nodes);
    aw_config_free(config);
}

/* Noise of a random start falls as the square root. */
static void a_random_start_needs_more_particles(void **state)
{
    aw_config *config = chicane(0.01);
    aw_choice fine, finer;
    (void)state;
    config->beam.quiet = 0;
    assert_ok(aw_choose(config, &fine));
    config->accuracy = 0.005;
    assert_ok(aw_choose(config, &finer));
    const double each = (double)fine.particles / (48 * 48);
    assert_true(each > 200.0);
    assert_close((double)finer.particles / ((double)finer.grid[0] * finer.grid[1]), 4.0 * each, 0.1,
                 0.0);
    aw_config_free(config);
}

/* A smaller emittance makes the tilted sheet thinner, while T566 curves it as before: more nodes
 * across it, and along it no more. */
static void thin_sheets_get_more_nodes_across(void **state)
{
    aw_config *config = chicane(0.01);
    aw_choice c;
    (void)state;
    config->beam.emittance *= 0.25; /* half as thick */
    assert_ok(aw_choose(config, &c));
    assert_int_equal(c.grid[0], 48);
    assert_true(c.grid[1] > 64 && c.grid[1] <= 96);
    assert_true(c.narrow[1].across && c.narrow[1].S > 6.0 && c.narrow[1].S < 12.6);
    assert_int_equal(aw_choose_warn(config), 0);

    /* of a rigid bunch none */
    config->motion = AW_MOTION_RIGID;
    assert_ok(aw_choose(config, &c));
    assert_int_equal(c.grid[1], 48);
    aw_config_free(config);
}

/* 1 - h R56 = 0 behind the last bend, where the bunch is upright: its length is that of T566 and of
 * the energy spread, and its density that of the grid. */
static void full_compression_is_told(void **state)
{
    aw_config *config = chicane(0.01);
    aw_choice c;
    (void)state;
    config->beam.chirp = -40.0;
    assert_ok(aw_choose(config, &c));
    assert_true(c.narrow[0].nodes > c.most || c.narrow[1].nodes > c.most);
    assert_true(c.grid[0] <= c.most && c.grid[1] <= c.most);
    assert_true(aw_choose_warn(config) >= 1);
    aw_config_free(config);
}

static void a_line_has_six_nodes_a_sigma(void **state)
{
    aw_config *config = chicane(0.01);
    aw_choice c;
    (void)state;
    config->line = 1;
    assert_ok(aw_choose(config, &c));
    assert_true(c.grid[0] >= 60 && c.grid[0] <= 68);
    assert_close((double)c.particles, 100.0 * c.grid[0], 0.05, 0.0);
    aw_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_per_cent_is_what_was_measured),
        cmocka_unit_test(numbers_follow_the_orders_of_the_errors),
        cmocka_unit_test(given_numbers_stay),
        cmocka_unit_test(a_random_start_needs_more_particles),
        cmocka_unit_test(thin_sheets_get_more_nodes_across),
        cmocka_unit_test(full_compression_is_told),
        cmocka_unit_test(a_line_has_six_nodes_a_sigma),
    };
    aw_log_quiet(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
