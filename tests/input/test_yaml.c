/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The YAML tree: places, numbers, and every kind of file that is not valid. */
#include "src/yaml/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/yaml/quote.h"
#include "tests/assert_close.h"
#include "tests/input/files.h"

/* Parse and report the problems, with stderr captured. */
static aw_status parse(const char *text, size_t length, aw_yaml **doc)
{
    aw_input_errors errors = {0};
    capture_begin();
    aw_status status = aw_yaml_parse("f.yaml", text, length, &errors, doc);
    aw_status reported = aw_input_report(&errors);
    capture_end();
    aw_input_errors_free(&errors);
    assert_int_equal(reported == AW_OK, status == AW_OK);
    return status;
}

static void refused(const char *text, size_t length, const char *message)
{
    aw_yaml *doc = NULL;
    assert_status(parse(text, length, &doc), AW_ERR_INPUT);
    assert_message(message);
    aw_yaml_free(doc);
}

#define REFUSED(text, message) refused(text, sizeof(text) - 1, "arcwake: error: f.yaml:" message)

static void nodes_have_their_line_and_column(void **state)
{
    aw_yaml *doc = NULL;
    (void)state;
    const char *text = "a: 1\nb:\n  c: [x, 'y z']\n  \xc3\xa9t\xc3\xa9: {d: 2.5}\n";
    assert_ok(parse(text, strlen(text), &doc));
    const aw_yaml_node *root = aw_yaml_root(doc), *b = aw_yaml_get(root, "b");
    const aw_yaml_node *c = aw_yaml_get(b, "c"), *summer = aw_yaml_get(b, "\xc3\xa9t\xc3\xa9");
    assert_int_equal(root->n, 2);
    assert_int_equal(c->n, 2);
    assert_string_equal(c->last->text, "y z");
    assert_true(c->last->quoted && !c->first->quoted);
    assert_int_equal(c->last->line, 3);
    assert_int_equal(c->last->column, 10);
    assert_int_equal(summer->key_line, 4);
    assert_int_equal(aw_yaml_get(summer, "d")->column, 12); /* characters, not bytes */
    assert_null(aw_yaml_get(root, "c"));
    assert_null(aw_yaml_get(c, "x"));
    aw_yaml_free(doc);
}

static void a_number_is_the_whole_text(void **state)
{
    static const char *const good[] = {"1", "-1.5e-9", "+3", ".5", "5.", "1e6", "0", "1E3"};
    static const double value[] = {1.0, -1.5e-9, 3.0, 0.5, 5.0, 1e6, 0.0, 1e3};
    static const char *const bad[] = {"0.5 m",  "nan", ".nan",  "inf", "-.inf",  "0x10", "1,5",
                                      "1_0",    "'1'", "\"2\"", "1e",  "e5",     "--1",  "1e999",
                                      "1e-999", "~",   "",      "[1]", "{a: 1}", "1d3",  "true"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i) {
        aw_yaml *doc = NULL;
        aw_input_errors errors = {0};
        double got = -1.0;
        assert_ok(parse(good[i], strlen(good[i]), &doc));
        assert_true(aw_yaml_number(&errors, aw_yaml_root(doc), "a number", &got));
        assert_true(got == value[i]); /* strtod rounds correctly: the same bits */
        aw_yaml_free(doc);
        aw_input_errors_free(&errors);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        aw_yaml *doc = NULL;
        aw_input_errors errors = {0};
        char text[64];
        double got = -1.0;
        snprintf(text, sizeof text, "k: %s", bad[i]);
        assert_ok(parse(text, strlen(text), &doc));
        assert_false(
            aw_yaml_number(&errors, aw_yaml_get(aw_yaml_root(doc), "k"), "a number", &got));
        assert_true(got == -1.0);
        assert_int_equal(errors.n, 1);
        assert_non_null(strstr(errors.item[0].text, "f.yaml:1:"));
        aw_yaml_free(doc);
        aw_input_errors_free(&errors);
    }
}

static void counts_are_whole_numbers_in_range(void **state)
{
    static const char *const text = "[1e6, 1000000, 18446744073709551615, 2.0, 1.5, -1, 1e17, "
                                    "18446744073709551616, 0]";
    static const uint64_t value[] = {1000000, 1000000, UINT64_MAX, 2};
    aw_yaml *doc = NULL;
    aw_input_errors errors = {0};
    size_t i = 0;
    (void)state;
    assert_ok(parse(text, strlen(text), &doc));
    for (const aw_yaml_node *c = aw_yaml_root(doc)->first; c; c = c->next, ++i) {
        uint64_t got = 0;
        int good = aw_yaml_whole(&errors, c, "a count", 1, UINT64_MAX, &got);
        assert_int_equal(good, i < 4);
        if (good) assert_true(got == value[i]);
    }
    assert_int_equal(errors.n, 5);
    aw_yaml_free(doc);
    aw_input_errors_free(&errors);
}

static void the_nearest_key_is_found(void **state)
{
    static const char *const words[] = {"charge_C", "gamma", "sigma_s_m", "sigma_x_m", "every"};
    (void)state;
    assert_string_equal(aw_yaml_nearest("chrage_C", words, 5), "charge_C");
    assert_string_equal(aw_yaml_nearest("GAMMA", words, 5), "gamma");
    assert_string_equal(aw_yaml_nearest("sigma_x", words, 5), "sigma_x_m");
    assert_string_equal(aw_yaml_nearest("evry", words, 5), "every");
    assert_null(aw_yaml_nearest("temperature", words, 5));
    assert_null(aw_yaml_nearest("", words, 0));
}

static void invalid_yaml_is_refused_with_its_place(void **state)
{
    (void)state;
    REFUSED("", " is empty (expected a YAML mapping)");
    REFUSED("# only a comment\n", " is empty (expected a YAML mapping)");
    REFUSED("a: b\n\tc: d\n", "2:1: a tab in the indentation (expected spaces)");
    REFUSED("a: b\nx: \0 y\n", "2:4: byte 0x00 is a NUL byte (expected a text file in UTF-8)");
    REFUSED("a: \xff\n", "1:4: byte 0xff is not UTF-8 (expected a text file in UTF-8)");
    REFUSED("\xff\xfe"
            "a\0:\0",
            "1:1: byte 0xff is not UTF-8 (expected a text file in UTF-8)");
    REFUSED("a: \xed\xa0\x80\n", "1:4: byte 0xed is not UTF-8 (expected a text file in UTF-8)");
    REFUSED("a: \x1b[0m\n", "1:4: byte 0x1b is a control character (expected a text file in "
                            "UTF-8)");
    REFUSED("a: \"\\0\"\n", "1:4: a text with a NUL in it");
    REFUSED("a: &x 1\nb: *x\n", "1:4: an anchor ('&') is not supported (expected a value)");
    REFUSED("b: *x\n", "1:4: an alias ('*') is not supported (expected the value itself; in a "
                       "lattice, use inherit)");
    REFUSED("a: !!int 1\n", "1:4: a tag ('!') is not supported (expected a value)");
    REFUSED("a: 1\n---\nb: 2\n", "2:1: a second document (expected one in a file)");
    REFUSED("? [a, b]\n: 1\n", "1:3: a list or mapping used as a key (expected a name)");
    REFUSED("a: 1: 2\n",
            "1:5: YAML: mapping values are not allowed in this context (expected valid YAML; see "
            "the indentation, brackets, quotes and colons here and on the line before)");
}

static void errors_of_duplicate_keys_name_both_places(void **state)
{
    (void)state;
    REFUSED("a: 1\nb: {c: 1, d: 2, c: 3}\na: 2\n",
            "3:1: a: this key was given before, at line 1, column 1 (expected once)");
    assert_message("arcwake: error: f.yaml:2:17: b.c: this key was given before, at line 2, column "
                   "5 (expected once)");
    assert_int_equal(message_count(), 2);
}

static void deep_and_huge_files_are_refused(void **state)
{
    static const char *const nested[] = {"[", "- ", "{a: ", "? "};
    aw_yaml *doc = NULL;
    (void)state;
    size_t bytes = AW_YAML_BYTES_MAX + 10;
    char *text = malloc(bytes);
    assert_non_null(text);
    for (size_t u = 0; u < 4; ++u) {
        size_t n = 0, step = strlen(nested[u]);
        for (; n + step < 200000; n += step) memcpy(text + n, nested[u], step);
        assert_status(parse(text, n, &doc), AW_ERR_INPUT);
        assert_non_null(strstr(messages(), "(expected"));
    }
    size_t n = 0; /* more values than the tree may have */
    text[n++] = '[';
    while (n < AW_YAML_BYTES_MAX - 2) text[n] = n % 2 ? 'a' : ',', ++n;
    assert_status(parse(text, n, &doc), AW_ERR_INPUT);
    assert_non_null(strstr(messages(), "too many values"));
    memset(text, ' ', bytes);
    file_write("other.yaml", text, bytes);
    aw_input_errors errors = {0};
    assert_status(aw_yaml_read("other.yaml", NULL, &errors, &doc), AW_ERR_INPUT);
    assert_string_equal(errors.item[0].text,
                        "other.yaml: is larger than 32 MiB (expected a file in YAML)");
    aw_input_errors_free(&errors);
    free(text);
}

static void errors_name_a_file_that_cannot_be_read(void **state)
{
    aw_yaml *doc = NULL;
    aw_input_errors errors = {0};
    (void)state;
    assert_int_equal(mkdir("a_directory", 0700), 0);
    assert_status(aw_yaml_read("a_directory", NULL, &errors, &doc), AW_ERR_INPUT);
    assert_status(aw_yaml_read("none.yaml", NULL, &errors, &doc), AW_ERR_INPUT);
    assert_string_equal(errors.item[0].text,
                        "a_directory: is a directory (expected a file in YAML)");
    assert_string_equal(errors.item[1].text,
                        "none.yaml: No such file or directory (expected a file in YAML)");
    assert_null(doc);
    aw_input_errors_free(&errors);
}

/* Neither waits for a writer nor reads without end. */
static void pipes_and_devices_are_refused_at_once(void **state)
{
    aw_yaml *doc = NULL;
    aw_input_errors errors = {0};
    (void)state;
    assert_int_equal(mkfifo("a_pipe", 0600), 0);
    alarm(20); /* ends a test that waits */
    assert_status(aw_yaml_read("a_pipe", NULL, &errors, &doc), AW_ERR_INPUT);
    assert_status(aw_yaml_read("/dev/zero", NULL, &errors, &doc), AW_ERR_INPUT);
    alarm(0);
    assert_int_equal(unlink("a_pipe"), 0);
    assert_int_equal(errors.n, 2);
    assert_string_equal(errors.item[0].text, "a_pipe: is a pipe (expected a file in YAML)");
    assert_string_equal(errors.item[1].text,
                        "/dev/zero: is not a regular file (expected a file in YAML)");
    assert_null(doc);
    aw_input_errors_free(&errors);
}

static void a_thousand_problems_print_a_hundred_lines(void **state)
{
    aw_input_errors errors = {0};
    (void)state;
    for (int i = 0; i < 1000; ++i) aw_input_add(&errors, "f", 1000 - i, 1, "k: bad\nvalue");
    aw_input_add(&errors, "f", 1000, 1, "k: bad\nvalue"); /* stored already */
    assert_int_equal(aw_input_count(&errors), 1000);
    capture_begin();
    assert_status(aw_input_report(&errors), AW_ERR_INPUT);
    capture_end();
    assert_int_equal(message_count(), 101);
    const char *first = "arcwake: error: f:901:1: k: bad?value\narcwake: error: f:902:1:";
    assert_int_equal(strncmp(messages(), first, strlen(first)), 0);
    assert_message("arcwake: error: f: 900 more problems are not listed");
    aw_input_errors_free(&errors);
}

/* Text -> YAML -> text, with all that YAML treats in a way of its own. */
static void quoted_text_reads_back(void **state)
{
    static const char *const texts[] = {"",
                                        "a\\b\tc",
                                        "\"",
                                        "two\nlines ",
                                        "x\xc2\x85y",
                                        "\xe2\x80\xa8",
                                        "z\xe2\x80\xa9",
                                        "\xef\xbb\xbf",
                                        "\xc2\x9f",
                                        "\x7f\x01",
                                        "gr\xc3\xbc\xc3\x9f",
                                        "~",
                                        "\xef\xbf\xbd",
                                        "\xf0\x9f\x98\x80",
                                        " # a: [b]",
                                        "\r"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        char yaml[200] = "";
        aw_input_errors errors = {0};
        aw_yaml *doc = NULL;
        FILE *out = fmemopen(yaml, sizeof yaml, "w");
        assert_non_null(out);
        aw_yaml_quote(out, texts[i]);
        assert_int_equal(fclose(out), 0);
        assert_ok(aw_yaml_parse("f.yaml", yaml, strlen(yaml), &errors, &doc));
        assert_string_equal(aw_yaml_root(doc)->text, texts[i]);
        assert_true(aw_yaml_root(doc)->quoted);
        aw_yaml_free(doc);
        aw_input_errors_free(&errors);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_have_their_line_and_column),
        cmocka_unit_test(a_number_is_the_whole_text),
        cmocka_unit_test(counts_are_whole_numbers_in_range),
        cmocka_unit_test(the_nearest_key_is_found),
        cmocka_unit_test(invalid_yaml_is_refused_with_its_place),
        cmocka_unit_test(errors_of_duplicate_keys_name_both_places),
        cmocka_unit_test(deep_and_huge_files_are_refused),
        cmocka_unit_test(errors_name_a_file_that_cannot_be_read),
        cmocka_unit_test(pipes_and_devices_are_refused_at_once),
        cmocka_unit_test(quoted_text_reads_back),
        cmocka_unit_test(a_thousand_problems_print_a_hundred_lines),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
