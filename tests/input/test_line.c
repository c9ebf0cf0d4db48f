/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of the line model: read, written, and refused where they mean nothing. */
#include <stdlib.h>
#include <string.h>

#include "src/input/config.h"
#include "tests/assert_close.h"
#include "tests/input/files.h"

static aw_config *read_text(const char *text)
{
    aw_config *config = NULL;
    write_good();
    file_write(RUN, text, strlen(text));
    assert_ok(read_run(NULL, 0, &config));
    assert_string_equal(messages(), "");
    return config;
}

static void the_line_model_is_read_and_written_and_refused_elsewhere(void **state)
{
    (void)state;
    aw_config *c = read_text(good_run);
    char *text = aw_config_text(c);
    assert_int_equal(c->line, 0);
    assert_non_null(text);
    assert_non_null(strstr(text, "\nforces: full\n"));
    assert_null(strstr(text, "model:")); /* or the text would be refused */
    free(text);
    aw_config_free(c);
    c = read_text(replaced(good_run, "device: cpu", "forces: line"));
    assert_int_equal(c->line, 1);
    assert_int_equal(c->line_model, 0);
    aw_config_free(c);
    c = read_text(replaced(good_run, "device: cpu", "forces: line\nline: {model: steady}"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_model_is_read_and_written_and_refused_elsewhere),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
