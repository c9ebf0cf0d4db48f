/* SPDX-License-Identifier: GPL-3.0-or-later */
/* monitor.csv, the progress bar, and the report's failures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/output/monitor.h"
#include "src/output/progress.h"
#include "src/output/report.h"
#include "tests/assert_close.h"
#include "tests/output/scratch.h"

#define ONE_MORE(member, name) +1
enum { NUMBERS = 0 AW_MONITOR_COLUMNS(ONE_MORE), COLUMNS = 1 + NUMBERS + AW_PARTS };
#undef ONE_MORE

typedef struct fixture {
    char dir[SCRATCH_PATH];
    char path[SCRATCH_PATH];
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    scratch_make(f->dir);
    snprintf(f->path, sizeof f->path, "%.400s/monitor.csv", f->dir);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    scratch_remove(f->dir);
    free(f);
    return 0;
}

/* Split line `row` (0: header) of a text into its cells, in place. @return their number */
static int cells_of(char *text, int row, char *cell[COLUMNS + 1])
{
    int n = 0;
    while (row-- > 0) {
        text = strchr(text, '\n');
        assert_non_null(text);
        ++text;
    }
    *strchr(text, '\n') = '\0';
    for (cell[n++] = text; *text; ++text) {
        if (*text != ',') continue;
        *text = '\0';
        assert_true(n < COLUMNS + 1);
        cell[n++] = text + 1;
    }
    return n;
}

static void row_has_one_cell_per_name_and_nan_is_empty(void **state)
{
    fixture *f = *state;
    aw_monitor *monitor = NULL;
    aw_monitor_row row;
    aw_monitor_row_clear(&row);
    row.step = 7;
    row.s_ref = 0.1;
    row.F_x_peak = -1.0 / 3.0;
    row.evaluations = 123456789012.0;
    row.seconds[AW_PART_PUSH] = 0.123456;
    assert_ok(aw_monitor_open(f->path, &monitor));
    assert_ok(aw_monitor_write(monitor, &row));
    /* before the close, because rows are not buffered */
    char *names = scratch_read(f->path, NULL), *numbers = scratch_read(f->path, NULL);
    assert_ok(aw_monitor_close(monitor));
    char *name[COLUMNS + 1], *cell[COLUMNS + 1];
    assert_int_equal(cells_of(names, 0, name), COLUMNS);
    assert_int_equal(cells_of(numbers, 1, cell), COLUMNS);
    int filled = 0;
    for (int i = 0; i < COLUMNS; ++i) {
        if (!*cell[i]) continue;
        ++filled;
        if (strcmp(name[i], "step") == 0)
            assert_string_equal(cell[i], "7");
        else if (strcmp(name[i], "s_ref_m") == 0)
            assert_string_equal(cell[i], "0.1");
        else if (strcmp(name[i], "F_x_peak_eV_per_m") == 0)
            assert_true(strtod(cell[i], NULL) == -1.0 / 3.0); /* exactly */
        else if (strcmp(name[i], "evaluations") == 0)
            assert_string_equal(cell[i], "123456789012");
        else if (strcmp(name[i], "seconds_push") == 0)
            assert_string_equal(cell[i], "0.1235");
        else
            fail_msg("%s is not empty: %s", name[i], cell[i]);
    }
    assert_int_equal(filled, 5);
    free(names);
    free(numbers);
}

/* Readers rely on these columns and their order; new columns come after fell_back. */
static void header_line_begins_and_ends_as_documented(void **state)
{
    static const char first[] =
        "step,time_s,s_ref_m,charge_C,energy_change_mean_eV,energy_change_rms_eV,sigma_s_m,"
        "sigma_x_m,emittance_x_m,emittance_x_dispersion_free_m,F_s_mean_eV_per_m,"
        "F_s_peak_eV_per_m,F_x_mean_eV_per_m,F_x_peak_eV_per_m,evaluations,error_estimate,"
        "error_sampled,fell_back,";
    static const char last[] = ",seconds_deposit,seconds_potentials,seconds_forces,seconds_gather,"
                               "seconds_push,seconds_output\n";
    fixture *f = *state;
    aw_monitor *monitor = NULL;
    assert_ok(aw_monitor_open(f->path, &monitor));
    assert_ok(aw_monitor_close(monitor));
    size_t n = 0;
    char *text = scratch_read(f->path, &n);
    assert_memory_equal(text, first, sizeof first - 1);
    assert_string_equal(text + n - (sizeof last - 1), last);
    free(text);
}

static void longest_numbers_fit_into_a_row(void **state)
{
    fixture *f = *state;
    aw_monitor *monitor = NULL;
    const double worst = -1.2345678901234567e-300;
    aw_monitor_row row = {.step = -9223372036854775807L};
#define SET(member, name) row.member = worst;
    AW_MONITOR_COLUMNS(SET)
#undef SET
    for (int i = 0; i < AW_PARTS; ++i) row.seconds[i] = worst;
    assert_ok(aw_monitor_open(f->path, &monitor));
    assert_ok(aw_monitor_write(monitor, &row));
    assert_ok(aw_monitor_close(monitor));
    char *text = scratch_read(f->path, NULL), *cell[COLUMNS + 1];
    assert_int_equal(cells_of(text, 1, cell), COLUMNS);
    for (int i = 1; i <= NUMBERS; ++i) assert_true(strtod(cell[i], NULL) == worst);
    free(text);
}

static void row_that_does_not_fit_on_the_disk_is_removed_whole(void **state)
{
    fixture *f = *state;
    aw_monitor *monitor = NULL;
    aw_monitor_row row;
    aw_monitor_row_clear(&row);
    row.time = 1.0 / 3.0;
    assert_ok(aw_monitor_open(f->path, &monitor));
    struct stat info;
    assert_int_equal(stat(f->path, &info), 0);
    assert_ok(aw_monitor_write(monitor, &row));
    scratch_disk_full((size_t)info.st_size + 50); /* one row has 40 characters */
    aw_status status = aw_monitor_write(monitor, &row);
    scratch_disk_free();
    assert_int_equal(status, AW_ERR_IO);
    row.step = 2;
    assert_ok(aw_monitor_write(monitor, &row)); /* the disk has free space again */
    assert_ok(aw_monitor_close(monitor));
    char *text = scratch_read(f->path, NULL), *cell[COLUMNS + 1];
    assert_int_equal(cells_of(text, 2, cell), COLUMNS);
    assert_string_equal(cell[0], "2");
    free(text);
}

static void monitor_that_cannot_be_created_is_an_io_error(void **state)
{
    fixture *f = *state;
    aw_monitor *monitor = NULL;
    assert_status(aw_monitor_open(scratch_path(f->dir, "no/such/monitor.csv"), &monitor),
                  AW_ERR_IO);
    assert_null(monitor);
    assert_ok(aw_monitor_close(NULL));
}

static void progress_bar_shows_rate_time_left_and_shares(void **state)
{
    (void)state;
    char text[200];
    aw_progress_state at = {.done = 50, .total = 200, .elapsed = 4.0};
    at.seconds[AW_PART_POTENTIALS] = 3.0;
    at.seconds[AW_PART_PUSH] = 1.0;
    at.seconds[AW_PART_OUTPUT] = 0.001; /* less than 1 %: omitted */
    aw_progress_format(&at, 120, text, sizeof text);
    assert_string_equal(text, "[=====>              ]  25 % 50/200  12.5 steps/s  ETA 0:12  "
                              "potentials 75 %, push 25 %");
    aw_progress_format(&at, 60, text, sizeof text); /* too narrow for the shares */
    assert_string_equal(text, "[=====>              ]  25 % 50/200  12.5 steps/s  ETA 0:12");
    aw_progress_format(&at, 40, text, sizeof text); /* and for the bar */
    assert_string_equal(text, " 25 % 50/200  12.5 steps/s  ETA 0:12");
    aw_progress_format(&at, 120, text, 10); /* never beyond the buffer */
    assert_int_equal(strlen(text), 9);
    at.done = 200;
    at.elapsed = 3700.0;
    aw_progress_format(&at, 70, text, sizeof text);
    assert_string_equal(text, "[====================] 100 % 200/200  0.0541 steps/s  took 1:01:40");
    at.done = 0;
    at.elapsed = 0.0;
    aw_progress_format(&at, 40, text, sizeof text); /* no step done yet */
    assert_string_equal(text, "  0 % 0/200  0 steps/s  ETA -");
}

static void progress_in_a_file_is_a_line_per_tenth_and_nothing_if_quiet(void **state)
{
    fixture *f = *state;
    const char *path = scratch_path(f->dir, "progress");
    for (int quiet = 0; quiet < 2; ++quiet) {
        FILE *stream = fopen(path, "w");
        aw_progress progress;
        const double seconds[AW_PARTS] = {NAN, 1.0, NAN, NAN, NAN, NAN};
        assert_non_null(stream);
        aw_progress_begin(&progress, stream, 57, quiet);
        for (int i = 0; i < 57; ++i) aw_progress_step(&progress, i % 2 ? seconds : NULL);
        aw_progress_clear(&progress);
        aw_progress_end(&progress);
        assert_int_equal(fclose(stream), 0);
        char *text = scratch_read(path, NULL);
        int lines = 0;
        for (const char *c = text; *c; ++c) lines += *c == '\n';
        assert_int_equal(lines, quiet ? 0 : 10);
        assert_null(strchr(text, '\r'));
        if (!quiet) assert_non_null(strstr(text, "100 % 57/57"));
        if (!quiet) assert_non_null(strstr(text, "potentials 100 %"));
        free(text);
    }
}

/* Use a shell script as Python. */
static void fake_python(fixture *f, const char *script)
{
    const char *path = scratch_path(f->dir, "python");
    scratch_write(path, script);
    assert_int_equal(chmod(path, 0700), 0);
    setenv("AW_PYTHON", path, 1);
}

static char *report_message(fixture *f, aw_status want)
{
    scratch_stderr_begin(f->dir);
    aw_status got = aw_report_run(f->dir, &(aw_report_beside){NULL});
    char *text = scratch_stderr_end();
    assert_int_equal(got, want);
    const char *end = strchr(text, '\n');
    assert_true(want == AW_OK ? !*text : end && !end[1]); /* one line, or none */
    return text;
}

static void missing_python_is_one_line_with_the_remedy(void **state)
{
    fixture *f = *state;
    setenv("AW_PYTHON", "no/such/python", 1);
    char *text = report_message(f, AW_ERR_IO);
    assert_non_null(strstr(text, "no/such/python"));
    assert_non_null(strstr(text, "AW_PYTHON"));
    free(text);
    assert_int_equal(aw_report_try(f->dir), 0);
}

static void last_line_of_python_is_in_the_message(void **state)
{
    fixture *f = *state;
    fake_python(f, "#!/bin/sh\necho 'Traceback' >&2\necho 'KeyError: rho' >&2\nexit 1\n");
    char *text = report_message(f, AW_ERR_IO);
    assert_non_null(strstr(text, "KeyError: rho"));
    free(text);
    fake_python(f, "#!/bin/sh\nexit 3\n");
    text = report_message(f, AW_ERR_IO);
    assert_non_null(strstr(text, "status 3"));
    free(text);
    fake_python(f, "#!/bin/sh\nkill -9 $$\n");
    text = report_message(f, AW_ERR_IO);
    assert_non_null(strstr(text, "signal 9"));
    free(text);
}

static void python_gets_the_script_and_the_directory(void **state)
{
    fixture *f = *state;
    fake_python(f, "#!/bin/sh\ncase $1 in */tools/report.py) ;; *) exit 1 ;; esac\n"
                   "[ \"$2\" = -- ] && [ -d \"$3\" ] && [ $# = 3 ]\n");
    free(report_message(f, AW_OK));
    assert_int_equal(aw_report_try(f->dir), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(row_has_one_cell_per_name_and_nan_is_empty),
        TEST(header_line_begins_and_ends_as_documented),
        TEST(longest_numbers_fit_into_a_row),
        TEST(row_that_does_not_fit_on_the_disk_is_removed_whole),
        TEST(monitor_that_cannot_be_created_is_an_io_error),
        TEST(progress_bar_shows_rate_time_left_and_shares),
        TEST(progress_in_a_file_is_a_line_per_tenth_and_nothing_if_quiet),
        TEST(missing_python_is_one_line_with_the_remedy),
        TEST(last_line_of_python_is_in_the_message),
        TEST(python_gets_the_script_and_the_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
