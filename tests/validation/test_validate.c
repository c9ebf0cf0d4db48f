/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake validate` with cases of this test: what passes, what fails, and what the JSON says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/command.h"
#include "src/base/log.h"
#include "src/validate/cases.h"
#include "tests/assert_close.h"

static aw_status good(aw_validation *v)
{
    return aw_check_add(v, "a \"quoted\" \\ name\n", 1.0 / 3.0, 1.0, 2.0, 0.5);
}

static aw_status beyond(aw_validation *v) { return aw_check_add(v, "beyond", 1.2, 1.0, 1.0, 0.1); }

static aw_status no_number(aw_validation *v)
{
    return aw_check_add(v, "no number", NAN, 1.0, 1.0, 1e9);
}

static aw_status no_reference(aw_validation *v)
{
    return aw_check_add(v, "no reference", 1.0, NAN, 1.0, 1e9);
}

static aw_status no_scale(aw_validation *v) { return aw_check_add(v, "no scale", 1, 1, 0.0, 1.0); }

static aw_status breaks_off(aw_validation *v)
{
    (void)v;
    return AW_ERR_MAXEVAL;
}

static aw_status known(aw_validation *v) { return aw_check_note(v, "known", 2.0, 1.0); }

static aw_status lost(aw_validation *v) { return aw_check_note(v, "lost", INFINITY, 1.0); }

static aw_status one_of_many(aw_validation *v)
{
    const double ours[4] = {1.0, NAN, 1.0, 1.0}, reference[4] = {1.0, 1.0, 1.0, 5.0};
    return aw_check_worst(v, "one of many", (aw_pairs){ours, reference, 4}, 1.0, 1e9);
}

static aw_status worst_place(aw_validation *v)
{
    const double ours[4] = {1.0, 2.0, 2.5, 4.0}, reference[4] = {1.1, 2.0, 3.0, 4.2};
    return aw_check_worst(v, "worst place", (aw_pairs){ours, reference, 4}, 1.0, 0.5);
}

/* Cases in place of those of the program. */
static const aw_case cases[] = {
    {.name = "good", .claim = "", .run = good},
    {.name = "beyond", .claim = "", .full = 1, .run = beyond},
    {.name = "no-number", .claim = "", .full = 1, .run = no_number},
    {.name = "no-reference", .claim = "", .full = 1, .run = no_reference},
    {.name = "no-scale", .claim = "", .full = 1, .run = no_scale},
    {.name = "breaks-off", .claim = "", .full = 1, .run = breaks_off},
    {.name = "known", .claim = "", .run = known},
    {.name = "lost", .claim = "", .full = 1, .run = lost},
    {.name = "one-of-many", .claim = "", .full = 1, .run = one_of_many},
    {.name = "worst-place", .claim = "", .run = worst_place},
};

const aw_case *aw_case_list(int i)
{
    return i < (int)(sizeof cases / sizeof cases[0]) ? &cases[i] : NULL;
}

extern const aw_command aw_validate_command;

static aw_status validate(char *a, char *b, char *c)
{
    char name[] = "validate", *argv[] = {name, a, b, c, NULL};
    int argc = 1;
    while (argc < 4 && argv[argc]) argc++;
    return aw_validate_command.run(argc, argv);
}

static void failed_check_has_an_exit_status_of_its_own(void **state)
{
    static char *const bad[] = {"beyond",     "no-number", "no-reference", "no-scale",
                                "breaks-off", "lost",      "one-of-many"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
        assert_status(validate(bad[i], NULL, NULL), AW_ERR_CHECK);
    assert_status(validate("good", "no-number", "known"), AW_ERR_CHECK);
}

static void correct_results_pass(void **state)
{
    (void)state;
    assert_ok(validate("good", NULL, NULL));
    assert_ok(validate("known", "worst-place", NULL));
    assert_ok(validate(NULL, NULL, NULL)); /* by default without the long cases */
    assert_status(validate("--full", NULL, NULL), AW_ERR_CHECK);
}

static void unknown_cases_and_options_are_refused(void **state)
{
    (void)state;
    assert_status(validate("goood", NULL, NULL), AW_ERR_ARG);
    assert_status(validate("good", "--json", NULL), AW_ERR_ARG);
    assert_status(validate("--threads", "0", NULL), AW_ERR_ARG);
    assert_status(validate("--colour", NULL, NULL), AW_ERR_ARG);
    assert_ok(validate("--list", NULL, NULL));
}

/* The file's text; the caller frees it. */
static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 65536);
    assert_non_null(text);
    assert_true(fread(text, 1, 65535, file) > 0);
    fclose(file);
    return text;
}

/* The file of --json for one or two cases (the second may be NULL) that end with this status; the
 * caller frees the text. */
static char *json_of(aw_status status, char *first, char *second)
{
    char path[] = "validate_XXXXXX", json[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(json, sizeof json, "--json=%s", path);
    assert_status(validate(first, json, second), status);
    char *text = read_all(path);
    unlink(path);
    return text;
}

static void json_keeps_every_bit_and_escapes_names(void **state)
{
    char *text = json_of(AW_ERR_CHECK, "good", "no-number");
    (void)state;
    assert_true(text[0] == '[');
    assert_non_null(strstr(text, "\"case\": \"good\""));
    assert_non_null(strstr(text, "\"quantity\": \"a \\\"quoted\\\" \\\\ name\\u000a\""));
    const char *ours = strstr(text, "\"ours\": ");
    assert_non_null(ours);
    assert_true(strtod(ours + 8, NULL) == 1.0 / 3.0); /* the same bits */
    assert_non_null(strstr(text, "\"ours\": null"));
    assert_non_null(strstr(text, "\"pass\": true"));
    assert_non_null(strstr(text, "\"pass\": false"));
    assert_null(strstr(text, "nan"));
    free(text);
}

static void pair_that_differs_most_is_the_one_reported(void **state)
{
    char *text = json_of(AW_OK, "worst-place", NULL);
    (void)state;
    assert_non_null(strstr(text, "\"ours\": 2.5, \"reference\": 3, \"error\": 0.5"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_check_has_an_exit_status_of_its_own),
        cmocka_unit_test(correct_results_pass),
        cmocka_unit_test(unknown_cases_and_options_are_refused),
        cmocka_unit_test(json_keeps_every_bit_and_escapes_names),
        cmocka_unit_test(pair_that_differs_most_is_the_one_reported),
    };
    aw_log_quiet(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
