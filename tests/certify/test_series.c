/* SPDX-License-Identifier: GPL-3.0-or-later */
/* monitor.csv as curves: reading, interpolation, peaks; and texts of resolved.yaml. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/certify/curve.h"
#include "src/input/resolved.h"
#include "tests/assert_close.h"

/* A file with this text. */
static void with_file(char path[32], const char *text)
{
    snprintf(path, 32, "series.XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void rows_and_empty_cells_are_read(void **state)
{
    (void)state;
    char path[32];
    aw_series s;
    aw_curve c;
    with_file(path, "step,s_ref_m,f\n0,0,1.5\n1,0.25,\n2,0.5,-2e3\n3,0.7");
    assert_ok(aw_series_read(path, &s));
    assert_int_equal(s.rows, 3); /* the last line has no end */
    assert_int_equal(aw_series_column(&s, "f"), 2);
    assert_int_equal(aw_series_column(&s, "g"), -1);
    assert_true(isnan(s.value[1 * 3 + 2]));
    assert_ok(aw_curve_of(&s, "f", &c));
    assert_int_equal(c.n, 2);
    assert_close(c.S[1], 0.5, 0.0, 0.0);
    assert_close(c.f[1], -2e3, 0.0, 0.0);
    aw_curve_free(&c);
    assert_ok(aw_curve_of(&s, "g", &c));
    assert_int_equal(c.n, 0);
    assert_true(isnan(aw_curve_at(&c, 0.1)));
    aw_curve_free(&c);
    aw_series_free(&s);
    unlink(path);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    static const char *const text[] = {"", "a,b\n1\n", "a,b\n1,2,3\n", "a,b\n1,x\n"};
    char path[32];
    aw_series s;
    for (int i = 0; i < 4; ++i) {
        with_file(path, text[i]);
        assert_status(aw_series_read(path, &s), AW_ERR_IO);
        assert_true(s.value == NULL && s.text == NULL);
        unlink(path);
    }
    assert_status(aw_series_read("no/such/file", &s), AW_ERR_IO);
}

static double cubic(double S) { return 2.0 - S + 3.0 * S * S - 0.5 * S * S * S; }

/* Unequal steps: a cubic is reproduced to rounding everywhere, a line of two points as well. */
static void a_cubic_is_interpolated_exactly(void **state)
{
    (void)state;
    double S[] = {0.0, 0.1, 0.25, 0.3, 0.6, 1.0}, f[6];
    const aw_curve c = {.n = 6, .S = S, .f = f};
    for (int i = 0; i < 6; ++i) f[i] = cubic(S[i]);
    for (double at = 0.0; at < 1.0; at += 0.03)
        assert_close(aw_curve_at(&c, at), cubic(at), 1e-13, 0.0);
    assert_close(aw_curve_at(&c, 1.0), cubic(1.0), 0.0, 0.0);
    assert_true(isnan(aw_curve_at(&c, 1.01)) && isnan(aw_curve_at(&c, -0.01)));
    assert_true(isnan(aw_curve_at(&c, NAN)));
    const aw_curve two = {.n = 2, .S = S, .f = f};
    assert_close(aw_curve_at(&two, 0.05), 0.5 * (f[0] + f[1]), 1e-15, 0.0);
}

static void a_peak_lies_between_points(void **state)
{
    (void)state;
    double S[] = {0.0, 0.1, 0.25, 0.3, 0.5}, f[5], at = 0.0;
    const aw_curve c = {.n = 5, .S = S, .f = f};
    for (int i = 0; i < 5; ++i) f[i] = -7.0 + 4.0 * (S[i] - 0.22) * (S[i] - 0.22);
    assert_close(aw_curve_peak(&c, &at), -7.0, 1e-14, 0.0);
    assert_close(at, 0.22, 1e-13, 0.0);
    f[4] = 9.0; /* at an end: the point itself */
    assert_close(aw_curve_peak(&c, &at), 9.0, 0.0, 0.0);
    assert_close(at, 0.5, 0.0, 0.0);
}

static void texts_agree_but_for_the_directory(void **state)
{
    (void)state;
    static const char text[] = "a: 1\noutput:\n  directory: \"x\"\n# by p\n";
    static const char *const same = "a: 1\noutput:\n  directory: \"longer/y\"\n# by p\n";
    static const char *const other[] = {"a: 2\noutput:\n  directory: \"x\"\n# by p\n",
                                        "a: 1\noutput:\n  directory: \"x\"\n# by q\n",
                                        "a: 1\noutput:\n  directory: \"x\"\n",
                                        "a: 1\noutput:\n  directory: \"x\"\n# by p\n# more\n", ""};
    char path[32];
    with_file(path, same);
    assert_int_equal(aw_resolved_matches(path, text), 1);
    unlink(path);
    for (int i = 0; i < 5; ++i) {
        with_file(path, other[i]);
        assert_int_equal(aw_resolved_matches(path, text), 0);
        unlink(path);
    }
    assert_int_equal(aw_resolved_matches("no/such/file", text), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_empty_cells_are_read),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(a_cubic_is_interpolated_exactly),
        cmocka_unit_test(a_peak_lies_between_points),
        cmocka_unit_test(texts_agree_but_for_the_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
