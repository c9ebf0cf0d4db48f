/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The height of a beam in the run file. */
#include <stdlib.h>
#include <string.h>

#include "src/input/config.h"
#include "tests/assert_close.h"
#include "tests/input/files.h"

/* The height is constant, or follows from an emittance and Twiss parameters; 0 is none. */
static void the_height_has_one_source(void **state)
{
    static const struct {
        const char *to, *message;
    } row[] = {
        {"sigma_y_m: 1e-5\n  emittance_y_m: 1e-10\n  beta_y_m: 1",
         "8:3: beam.emittance_y_m: 'sigma_y_m' is given as well, at line 7 (expected one of the "
         "two)"},
        {"emittance_y_m: 1e-10",
         "3:1: beam.beta_y_m: is missing (expected the vertical beta function in m, e.g. 10.0)"},
        {"beta_y_m: 1",
         "7:3: beam.beta_y_m: has no meaning without emittance_y_m (expected both or neither)"},
        {"alpha_y: 1",
         "7:3: beam.alpha_y: has no meaning without emittance_y_m (expected both or neither)"},
        {"sigma_y_m: 1e-10",
         "7:14: beam.sigma_y_m: '1e-10' is below 1e-09 (expected 0 for a thin sheet, or 1e-09 to "
         "1000)"},
        {"sigma_y_m: -1e-5",
         "7:14: beam.sigma_y_m: '-1e-5' is negative (expected the rms height in m everywhere, 0 "
         "for a thin sheet, e.g. 50.0e-6)"},
        {"sigma_y_m: 1e4",
         "7:14: beam.sigma_y_m: '1e4' is above 1000 (expected the rms height in m everywhere, 0 "
         "for a thin sheet, e.g. 50.0e-6)"},
        {"emittance_y_m: 1e-24\n  beta_y_m: 1",
         "7:18: beam.emittance_y_m: the rms height sqrt(emittance beta) is 1e-12 m (expected "
         "1e-09 to 1000 m)"},
        {"emittance_y_m: 1e-10\n  beta_y_m: 0",
         "8:13: beam.beta_y_m: '0' is not positive (expected the vertical beta function in m, "
         "e.g. 10.0)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; ++i) {
        char to[200], message[400];
        snprintf(to, sizeof to, "  %s", row[i].to);
        snprintf(message, sizeof message, "run.yaml:%s", row[i].message);
        refused_run("  seed: 7", to, message);
        assert_int_equal(message_count(), 1);
    }
}

/* An emittance of 0 is a sheet, whatever its Twiss parameters, and may stand beside a height. */
static void a_sheet_and_a_height_are_read(void **state)
{
    (void)state;
    aw_config *c = read_silently(good_run);
    assert_true(c->beam.sigma_y == 0.0 && c->beam.emittance_y == 0.0);
    aw_config_free(c);
    c = read_silently(
        replaced(good_run, "  seed: 7",
                 "  sigma_y_m: 3e-5\n  emittance_y_m: 0\n  beta_y_m: 3\n  alpha_y: 1"));
    assert_true(c->beam.sigma_y == 3e-5 && c->beam.emittance_y == 0.0 && c->beam.beta_y == 0.0);
    aw_config_free(c);
    c = read_silently(
        replaced(good_run, "  seed: 7",
                 "  sigma_y_m: 0\n  emittance_y_m: 1e-10\n  beta_y_m: 3\n  alpha_y: 1"));
    assert_true(c->beam.sigma_y == 0.0 && c->beam.emittance_y == 1e-10);
    assert_true(c->beam.beta_y == 3.0 && c->beam.alpha_y == 1.0);
    aw_config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_height_has_one_source),
        cmocka_unit_test(a_sheet_and_a_height_are_read),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
