/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key `wakes`: tables of both kinds, where they act, what is refused, and the written text. */
#include <stdlib.h>
#include <string.h>

#include "src/input/wakes.h"
#include "tests/assert_close.h"
#include "tests/input/files.h"

#define WAKE(rest) "wakes: [{file: w.txt, kind: longitudinal, unit: V/C, " rest "}]"

static const char table[] = "# z [m], W\n-2.0e-3 0.0\n\n-1e-3, 5e13  # between\n0 4e14\n";
/* Three terms, one of y; the first with all constants. */
static const char taylor[] = "3 0\n2 1\n150 -3e-12\n4e13 0\n0 1e14\n1e-3 5e13\n0 -20\n"
                             "2 0\n0 0\n0 13\n0 3e20\n2e-3 0\n1 0\n0 0\n0 24\n0 1e20\n";

/* The valid run in external motion with these wakes, as one line after `device`. */
static const char *with(const char *wakes)
{
    static char line[1000];
    snprintf(line, sizeof line, "device: cpu\n%s", wakes);
    return line;
}

static void write_table(const char *text) { file_write("w.txt", text, strlen(text)); }

static aw_config *read_wakes(const char *wakes, const char *text)
{
    static const char *const set[] = {"motion=external"};
    aw_config *config = NULL;
    write_good();
    write_table(text);
    const char *run = replaced(good_run, "device: cpu", with(wakes));
    file_write(RUN, run, strlen(run));
    assert_ok(read_run(set, 1, &config));
    assert_string_equal(messages(), "");
    return config;
}

static void a_table_is_turned_and_acts_over_an_element(void **state)
{
    (void)state;
    aw_config *c = read_wakes(WAKE("element: after, factor: 2"), table);
    const aw_wake *wake = &c->wake[0];
    const aw_wake_points *w = &wake->term[AW_WAKE_00].w;
    assert_int_equal(c->wakes, 1);
    assert_int_equal(w->n, 3);
    assert_close(w->at[1], 1e-3, 0.0, 0.0);
    assert_close(w->value[0], 4e14, 0.0, 0.0);
    assert_close(w->value[2], 0.0, 0.0, 0.0);
    assert_close(aw_wake_reach(wake), 2e-3, 0.0, 0.0);
    /* the last metre of the lattice, with the factor, whole */
    assert_close(aw_wake_amount(wake, 0.0, c->lattice->length - 0.5), 1.0, 1e-14, 0.0);
    assert_close(aw_wake_amount(wake, 0.0, 100.0), 2.0, 1e-14, 0.0);
    aw_config_free(c);
}

static void a_taylor_table_has_terms_and_constants(void **state)
{
    (void)state;
    aw_config *c = read_wakes("wakes:\n  - {file: w.txt, kind: taylor, unit: V/C/m, from_m: 1, "
                              "to_m: 3}",
                              taylor);
    const aw_wake_function *f = c->wake[0].term;
    assert_close(f[AW_WAKE_00].R, 150.0, 0.0, 0.0);
    assert_close(f[AW_WAKE_00].L, -3e-12, 0.0, 0.0);
    assert_close(f[AW_WAKE_00].w.value[1], 9e13, 0.0, 0.0); /* with 1/C */
    assert_close(f[AW_WAKE_00].w1.value[0], -20.0, 0.0, 0.0);
    assert_close(f[AW_WAKE_13].w.value[0], 3e20, 0.0, 0.0);
    assert_true(aw_wake_function_is_zero(&f[AW_WAKE_33]));
    assert_close(aw_wake_reach(&c->wake[0]), 0.0, 0.0, 0.0); /* of the one point of w1 */
    assert_close(aw_wake_amount(&c->wake[0], 0.0, 2.0), 1.0, 1e-15, 0.0);
    aw_config_free(c);
}

/* What is written reads back to the same text and the same wakes, from another folder, too. */
static void the_written_text_reads_back(void **state)
{
    aw_config *c = NULL, *again = NULL;
    (void)state;
    c = read_wakes("wakes:\n  - {file: ./w.txt, kind: longitudinal, unit: V/C, elements: [after, "
                   "bend], factor: -0.1}\n"
                   "  - {file: w.txt, kind: longitudinal, unit: V/C/m, from_m: 0.1, to_m: 5.3}",
                   table);
    char *text = aw_config_text(c);
    assert_non_null(text);
    assert_non_null(strstr(text, "kind: longitudinal, unit: V/C, factor: -0.1, elements: "
                                 "[\"after\", \"bend\"]}\n"));
    const aw_config_source source = {.path = "elsewhere/other.yaml", .text = text};
    assert_ok(aw_config_read_from(&source, &again));
    char *second = aw_config_text(again);
    assert_string_equal(text, second);
    for (size_t i = 0; i < 2; ++i)
        for (size_t k = 0; k < c->wake[i].ranges; ++k)
            assert_memory_equal(&c->wake[i].range[k], &again->wake[i].range[k],
                                sizeof(aw_wake_range));
    assert_int_equal(c->wake[0].ranges, 2);
    free(text);
    free(second);
    aw_config_free(again);
    aw_config_free(c);
    c = read_wakes("wakes: []", table);
    assert_int_equal(c->wakes, 0);
    text = aw_config_text(c);
    assert_null(strstr(text, "wakes"));
    free(text);
    aw_config_free(c);
}

/* A wrong item, and the problem behind "run.yaml:26:" ; that of rigid motion comes with it. */
static void refused(const char *wakes, const char *message)
{
    char line[600];
    write_table(table);
    snprintf(line, sizeof line, "run.yaml:26:%s", message);
    refused_run("device: cpu", with(wakes), line);
    assert_int_equal(message_count(), 2);
    assert_message("arcwake: error: run.yaml:26:1: wakes: have no meaning with motion: rigid, "
                   "which keeps all energies (expected none)");
}

static void wrong_items_are_refused_in_one_line(void **state)
{
    (void)state;
    refused(WAKE("element: befor"),
            "63: wakes[1].element: there is no element 'befor' in the lattice (expected the name "
            "of an element of the lattice)");
    refused(
        WAKE("elements: [bend, aftr]"),
        "71: wakes[1].elements[2]: there is no element 'aftr' in the lattice (expected after?)");
    refused(WAKE("elements: [bend, bend]"),
            "71: wakes[1].elements[2]: is named twice (expected once)");
    refused(WAKE("from_m: 1, to_m: 7"),
            "71: wakes[1].to_m: '7' is outside the lattice (expected 0 to 6.00006584 m)");
    refused(WAKE("from_m: 1, to_m: 0.5"),
            "71: wakes[1].to_m: is before from_m (expected at least 1 m)");
    refused(WAKE("from_m: 1"),
            "9: wakes[1]: has no to_m (expected an arc length of the lattice in m)");
    refused(WAKE("element: bend, to_m: 2"),
            "9: wakes[1]: says in two ways where it acts (expected one of element, elements, or "
            "from_m and to_m)");
    refused(WAKE("factor: 1"),
            "9: wakes[1]: acts nowhere (expected element, elements, or from_m and to_m)");
    refused("wakes: [{file: w.txt, kind: longitudinal, unit: V/pC/m, element: bend}]",
            "49: wakes[1].unit: 'V/pC/m' is not known (expected V/C, of the whole, or V/C/m, per "
            "length)");
    refused("wakes: [{file: w.txt, kind: longitudinal, element: bend}]",
            "9: wakes[1]: has no unit (expected V/C, of the whole, or V/C/m, per length)");
    refused("wakes: [{file: w.txt, kind: longitudinal, unit: V/C/m, from_m: 1, to_m: 1}]",
            "73: wakes[1].to_m: has no length, and the table is per metre (expected unit: V/C)");
    refused("wakes: [{file: no.txt, kind: longitudinal, unit: V/C, element: bend}]",
            "16: wakes[1].file: no.txt: cannot be opened: No such file or directory (expected a "
            "file)");
    refused_run("device: cpu", "wakes: {file: w.txt}",
                "run.yaml:25:8: wakes: a mapping is not a list (expected a list, e.g. [{file: "
                "wake.txt, kind: longitudinal, unit: V/C/m, element: pipe}])");
    assert_int_equal(message_count(), 1);
}

/* Problems of a table: its path, and the line. */
static void refused_table(const char *kind, const char *text, const char *message)
{
    aw_config *config = NULL;
    static const char *const set[] = {"motion=external"};
    char wakes[200];
    write_good();
    write_table(text);
    snprintf(wakes, sizeof wakes, "wakes: [{file: w.txt, kind: %s, unit: V/C, element: bend}]",
             kind);
    const char *run = replaced(good_run, "device: cpu", with(wakes));
    file_write(RUN, run, strlen(run));
    assert_status(read_run(set, 1, &config), AW_ERR_INPUT);
    assert_int_equal(message_count(), 1);
    if (strstr(messages(), message)) return;
    print_error("got %swant %s\n", messages(), message);
    fail();
}

static void wrong_tables_are_refused_with_their_lines(void **state)
{
    (void)state;
    refused_table("longitudinal", "0 1\n-1e-3 2\n",
                  "w.txt: line 2: z = -0.001 m does not rise (expected more than 0 m)");
    refused_table("longitudinal", "0 1\n1e-3 2\n",
                  "w.txt: line 2: z = 0.001 m is ahead of the source (expected z <= 0, behind it)");
    refused_table("longitudinal", "-2e-3 1\n-1e-3 2\n",
                  "w.txt: ends at z = -0.001 m (expected 0, the source itself, in the last line)");
    refused_table("longitudinal", "-1e-3 1 2\n0 1\n",
                  "w.txt: line 1 is not a pair of numbers (expected z in m, and W)");
    refused_table("longitudinal", "# nothing\n0 1\n",
                  "w.txt: has fewer than two points (expected two or more lines of z in m, and W)");
    refused_table(
        "taylor", table,
        "w.txt: line 2: -0.002 and 0 are not a number of terms and 0 (expected e.g. 13 0)");
    refused_table("taylor", "1 0\n2 0\n0 0\n0 0\n0 1\n",
                  "w.txt: ends behind line 5 (expected a distance in m, and the wake there)");
    refused_table("taylor", "1 0\n2 0\n0 0\n0 0\n0 1\n0 2\n",
                  "w.txt: line 6: the distance 0 m does not rise (expected more than 0 m)");
    refused_table("taylor", "1 0\n1 0\n0 0\n0 0\n1e-6 1\n",
                  "w.txt: line 5: a term begins at 1e-06 m (expected 0)");
    refused_table("taylor", "1 0\n1.5 0\n",
                  "w.txt: line 2: 1.5 and 0 are no numbers of points (expected whole numbers)");
    refused_table("taylor", "1 0\n1 0\n0 0\n0 5\n0 1\n", "w.txt: line 4: there is no term 5 ");
    refused_table("taylor", "2 0\n0 0\n1 0\n0 0\n0 0\n1 0\n0 0\n",
                  "w.txt: line 7: the term 00 is given twice (expected once)");
    refused_table("taylor", "1 0\n0 0\n1 0\n0 0\n7 7\n",
                  "w.txt: line 5 is behind the last of 1 terms (expected the end)");
    refused_table("taylor", "1 0\n1 0\n0 0\n0 24\n0 1\n",
                  "w.txt: has no term that acts in the plane (expected 00, 01, 03, 11, 13 or 33)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_turned_and_acts_over_an_element),
        cmocka_unit_test(a_taylor_table_has_terms_and_constants),
        cmocka_unit_test(the_written_text_reads_back),
        cmocka_unit_test(wrong_items_are_refused_in_one_line),
        cmocka_unit_test(wrong_tables_are_refused_with_their_lines),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
