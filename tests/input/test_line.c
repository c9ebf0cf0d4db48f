/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of the line model, `accuracy` and `beam.isr`: read, written, and refused where they mean
 * nothing. */
#include <stdlib.h>
#include <string.h>

#include "src/input/config.h"
#include "tests/assert_close.h"
#include "tests/input/files.h"

static void the_line_model_is_read_and_written_and_refused_elsewhere(void **state)
{
    (void)state;
    aw_config *c = read_silently(good_run);
    char *text = aw_config_text(c);
    assert_int_equal(c->line, 0);
    assert_non_null(text);
    assert_non_null(strstr(text, "\nforces: full\n"));
    assert_null(strstr(text, "model:")); /* or the text would be refused */
    free(text);
    aw_config_free(c);
    c = read_silently(replaced(good_run, "device: cpu", "forces: line"));
    assert_int_equal(c->line, 1);
    assert_int_equal(c->line_model, 0);
    aw_config_free(c);
    c = read_silently(replaced(good_run, "device: cpu", "forces: line\nline: {model: steady}"));
    assert_int_equal(c->line_model, 1);
    text = aw_config_text(c);
    assert_non_null(text);
    assert_non_null(strstr(text, "\nforces: line\nline:\n  model: steady\n"));
    free(text);
    aw_config_free(c);
    refused_run("device: cpu", "forces: 1D",
                "run.yaml:25:9: forces: '1D' is not known (expected full or line)");
    refused_run("device: cpu", "line: {model: steady}",
                "run.yaml:25:8: line.model: has no meaning without forces: line (expected both or "
                "neither)");
    refused_run("device: cpu", "forces: line\nline: {model: none}",
                "run.yaml:26:15: line.model: 'none' is not known (expected transient or steady)");
    refused_run("device: cpu", "forces: line\ndevice: cuda",
                "run.yaml:26:9: device: 'cuda' has no part in forces: line, which needs no device "
                "(expected auto or cpu)");
}

/* The keys that it stands for are known as given, also those of --set; without a step, `auto`. */
static void accuracy_tells_what_is_given(void **state)
{
    const char *set[] = {"numerics.tolerance=1e-4"};
    aw_config *config = NULL;
    (void)state;
    config = read_silently(replaced(good_run, "device: cpu", "device: cpu\naccuracy: 0.02"));
    assert_close(config->accuracy, 0.02, 0.0, 0.0);
    assert_int_equal(config->given,
                     AW_GIVEN_GRID | AW_GIVEN_STEP | AW_GIVEN_PARTICLES | AW_GIVEN_TOLERANCE);
    assert_true(config->step_m > 0.0);
    aw_config_free(config);

    write_good();
    const char *text = "lattice: " LATTICE "\naccuracy: 0.02\n"
                       "beam: {charge_C: 1e-9, sigma_s_m: 1e-5, sigma_x_m: 1e-5}\n";
    file_write(RUN, text, strlen(text));
    assert_ok(read_run(set, 1, &config));
    assert_int_equal(config->given, AW_GIVEN_TOLERANCE);
    assert_true(config->step_m == AW_STEP_AUTO);
    aw_config_free(config);

    refused_run("device: cpu", "accuracy: 0",
                "run.yaml:25:11: accuracy: '0' is not positive (expected a relative error from "
                "1.0e-4 to 0.1, e.g. 0.01)");
    refused_run("device: cpu", "accuracy: 1e-5",
                "run.yaml:25:11: accuracy: '1e-5' is below 0.0001 (expected a relative error from "
                "1.0e-4 to 0.1, e.g. 0.01)");
    refused_run("device: cpu", "accuracy: 1",
                "run.yaml:25:11: accuracy: '1' is above 0.1 (expected a relative error from "
                "1.0e-4 to 0.1, e.g. 0.01)");
    refused_run("device: cpu", "accuracy: 1 %",
                "run.yaml:25:11: accuracy: '1 %' is not a plain number (expected a relative error "
                "from 1.0e-4 to 0.1, e.g. 0.01)");
}

/* Incoherent radiation: its words, its default in each motion, and no part in rigid motion, which
 * that of the file is. */
static void radiation_is_off_mean_or_full(void **state)
{
    static const char *const full[] = {"beam.isr=full", "motion=external"};
    static const char *const motion[] = {"motion=external", "motion=self-consistent"};
    static const char *const off[] = {"beam.isr=off", "motion=self-consistent"};
    aw_config *c = NULL;
    (void)state;
    refused_run("  seed: 7", "  isr: maybe",
                "run.yaml:7:8: beam.isr: 'maybe' is not known (expected off, mean or full)");
    assert_int_equal(message_count(), 1);
    refused_run("  seed: 7", "  isr: mean",
                "run.yaml:7:8: beam.isr: has no meaning with motion: rigid, which keeps all "
                "energies (expected off)");
    assert_int_equal(message_count(), 1);
    c = read_silently(good_run);
    assert_int_equal(c->isr, AW_ISR_OFF);
    aw_config_free(c);
    for (int i = 0; i < 2; ++i) {
        assert_ok(read_run(&motion[i], 1, &c));
        assert_int_equal(c->isr, i ? AW_ISR_FULL : AW_ISR_OFF);
        aw_config_free(c);
    }
    assert_ok(read_run(off, 2, &c));
    assert_int_equal(c->isr, AW_ISR_OFF);
    aw_config_free(c);
    assert_ok(read_run(full, 2, &c));
    assert_int_equal(c->isr, AW_ISR_FULL);
    char *text = aw_config_text(c);
    assert_non_null(strstr(text, "\n  isr: full\n"));
    free(text);
    aw_config_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_model_is_read_and_written_and_refused_elsewhere),
        cmocka_unit_test(accuracy_tells_what_is_given),
        cmocka_unit_test(radiation_is_off_mean_or_full),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
