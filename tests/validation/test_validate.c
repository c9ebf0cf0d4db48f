/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake validate` with cases made up here: what passes, what fails, and what the JSON says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/log.h"
#include "src/validate/cases.h"
#include "src/validate/validate.h"
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
    return aw_check_worst(v, "one of many", ours, reference, 4, 1.0, 1e9);
}

static aw_status worst_place(aw_validation *v)
{
    const double ours[4] = {1.0, 2.0, 2.5, 4.0}, reference[4] = {1.1, 2.0, 3.0, 4.2};
    return aw_check_worst(v, "worst place", ours, reference, 4, 1.0, 0.5);
}

/* The table of validate.c, filled with ours. */
const aw_case aw_case_lcls_bend = {.name = "good", .claim = "", .run = good};
const aw_case aw_case_lcls_entrance = {.name = "beyond", .claim = "", .full = 1, .run = beyond};
const aw_case aw_case_lcls_exit = {.name = "no-number", .claim = "", .full = 1, .run = no_number};
const aw_case aw_case_lcls_energy = {
    .name = "no-reference", .claim = "", .full = 1, .run = no_reference};
const aw_case aw_case_straight_sheet = {
    .name = "no-scale", .claim = "", .full = 1, .run = no_scale};
const aw_case aw_case_lone_particle = {
    .name = "breaks-off", .claim = "", .full = 1, .run = breaks_off};
const aw_case aw_case_mse = {.name = "known", .claim = "", .run = known};
const aw_case aw_case_split_bend = {.name = "lost", .claim = "", .full = 1, .run = lost};
const aw_case aw_case_step = {.name = "one-of-many", .claim = "", .full = 1, .run = one_of_many};
const aw_case aw_case_solvers = {.name = "worst-place", .claim = "", .run = worst_place};
const aw_case aw_case_threads = {.name = "t", .claim = "", .run = good};
const aw_case aw_case_charge = {.name = "c", .claim = "", .run = good};
const aw_case aw_case_chicane_optics = {.name = "o", .claim = "", .run = good};
const aw_case aw_case_zeuthen = {.name = "z", .claim = "", .run = good};
const aw_case aw_case_strategies = {.name = "n", .claim = "", .run = good};

static aw_status validate(char *a, char *b, char *c)
{
    char name[] = "validate", *argv[] = {name, a, b, c, NULL};
    int argc = 1;
    while (argc < 4 && argv[argc]) argc++;
    return aw_validate_command.run(argc, argv);
}

static void a_failed_check_gives_its_own_status(void **state)
{
    static char *const bad[] = {"beyond",     "no-number", "no-reference", "no-scale",
                                "breaks-off", "lost",      "one-of-many"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
        assert_status(validate(bad[i], NULL, NULL), AW_ERR_CHECK);
    assert_status(validate("good", "no-number", "known"), AW_ERR_CHECK);
}

static void what_is_right_passes(void **state)
{
    (void)state;
    assert_ok(validate("good", NULL, NULL));
    assert_ok(validate("known", "worst-place", NULL));
    assert_ok(validate(NULL, NULL, NULL)); /* the default leaves out what is marked full */
    assert_status(validate("--full", NULL, NULL), AW_ERR_CHECK);
}

static void wrong_usage_is_refused(void **state)
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

/* What --json writes of the cases (the second may be NULL), which end with this status; the caller
 * frees it. */
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

static void json_is_whole_and_exact(void **state)
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

static void the_worst_place_is_the_one_reported(void **state)
{
    char *text = json_of(AW_OK, "worst-place", NULL);
    (void)state;
    assert_non_null(strstr(text, "\"ours\": 2.5, \"reference\": 3, \"error\": 0.5"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_check_gives_its_own_status),
        cmocka_unit_test(what_is_right_passes),
        cmocka_unit_test(wrong_usage_is_refused),
        cmocka_unit_test(json_is_whole_and_exact),
        cmocka_unit_test(the_worst_place_is_the_one_reported),
    };
    aw_log_quiet(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
