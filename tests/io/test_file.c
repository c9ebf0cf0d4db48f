/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files are complete or absent; a directory in use is refused as output directory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/io/file.h"
#include "tests/assert_close.h"
#include "tests/output/scratch.h"

static void assert_text(const char *path, const char *want)
{
    char *got = scratch_read(path, NULL);
    assert_string_equal(got, want);
    free(got);
}

/* The text is one whole line with the path and the reason. Frees the text. */
static void assert_one_line(char *text, const char *path, const char *reason)
{
    char *end = strchr(text, '\n');
    assert_non_null(end);
    assert_int_equal(end[1], '\0');
    assert_non_null(strstr(text, path));
    assert_non_null(strstr(text, reason));
    free(text);
}

static void replace_writes_the_bytes_and_leaves_no_temporary_file(void **state)
{
    scratch_fixture *f = *state;
    const char *path = scratch_path(f->dir, "a.bin");
    assert_ok(aw_file_replace(path, "first", 5));
    assert_text(path, "first");
    assert_ok(aw_file_replace(path, "2nd", 3));
    assert_text(path, "2nd");
    assert_ok(aw_file_replace(path, NULL, 0));
    assert_text(path, "");
    assert_int_equal(scratch_count(f->dir), 1);
}

static void full_disk_keeps_the_old_file_and_is_one_line(void **state)
{
    scratch_fixture *f = *state;
    const char *path = scratch_path(f->dir, "a.bin");
    char *big = calloc(100000, 1);
    assert_non_null(big);
    assert_ok(aw_file_replace(path, "old", 3));
    scratch_stderr_begin(f->dir);
    scratch_disk_full(50000);
    aw_status status = aw_file_replace(path, big, 100000);
    aw_status fresh = aw_file_replace(scratch_path(f->dir, "new.bin"), "x", 1);
    scratch_disk_free();
    assert_one_line(scratch_stderr_end(), path, strerror(EFBIG));
    assert_int_equal(status, AW_ERR_IO);
    assert_ok(fresh); /* a file that fits is still written */
    assert_text(path, "old");
    assert_int_equal(scratch_count(f->dir), 2); /* no .tmp */
    free(big);
}

static void path_under_a_regular_file_is_refused(void **state)
{
    scratch_fixture *f = *state;
    scratch_write(scratch_path(f->dir, "plain"), "text");
    const char *path = scratch_path(f->dir, "plain/a.bin");
    scratch_stderr_begin(f->dir);
    aw_status status = aw_file_replace(path, "x", 1);
    assert_one_line(scratch_stderr_end(), path, strerror(ENOTDIR));
    assert_int_equal(status, AW_ERR_IO);
    assert_status(aw_directory_make(path, 1), AW_ERR_IO);
    assert_text(scratch_path(f->dir, "plain"), "text");
}

static void path_of_a_directory_is_refused_and_leaves_no_temporary_file(void **state)
{
    scratch_fixture *f = *state;
    const char *path = scratch_path(f->dir, "folder");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_status(aw_file_replace(path, "x", 1), AW_ERR_IO);
    assert_int_equal(scratch_count(f->dir), 1);
}

static void unwritable_directory_is_refused(void **state)
{
    scratch_fixture *f = *state;
    if (geteuid() == 0) {
        print_message("skipped: root ignores permissions\n");
        skip();
    }
    assert_int_equal(chmod(f->dir, 0500), 0);
    aw_status file = aw_file_replace(scratch_path(f->dir, "a.bin"), "x", 1);
    aw_status folder = aw_directory_make(scratch_path(f->dir, "run"), 0);
    chmod(f->dir, 0700);
    assert_int_equal(file, AW_ERR_IO);
    assert_int_equal(folder, AW_ERR_IO);
    assert_int_equal(scratch_count(f->dir), 0);
}

static void new_directory_is_created_with_its_parents_and_diag(void **state)
{
    scratch_fixture *f = *state;
    assert_ok(aw_directory_make(scratch_path(f->dir, "a/b/run"), 0));
    assert_true(scratch_exists(scratch_path(f->dir, "a/b/run/diag")));
    assert_int_equal(mkdir(scratch_path(f->dir, "empty"), 0700), 0);
    assert_ok(aw_directory_make(scratch_path(f->dir, "empty/"), 0));
    assert_true(scratch_exists(scratch_path(f->dir, "empty/diag")));
    assert_status(aw_directory_make("", 1), AW_ERR_ARG);
}

static void directory_in_use_is_refused_without_force_and_unchanged(void **state)
{
    scratch_fixture *f = *state;
    scratch_write(scratch_path(f->dir, "monitor.csv"), "old");
    scratch_stderr_begin(f->dir);
    aw_status status = aw_directory_make(f->dir, 0);
    assert_one_line(scratch_stderr_end(), f->dir, "--force");
    assert_int_equal(status, AW_ERR_ARG);
    assert_text(scratch_path(f->dir, "monitor.csv"), "old");
    assert_int_equal(scratch_count(f->dir), 1);
}

static void force_removes_the_files_of_an_earlier_run_and_no_others(void **state)
{
    static const char *const ours[] = {"monitor.csv",
                                       "run.log",
                                       "resolved.yaml",
                                       "report.html",
                                       "forces.png",
                                       "run.log.tmp",
                                       "diag/arcwake_00000000.h5",
                                       "diag/arcwake_12345678.h5",
                                       "diag/arcwake_00000001.h5.tmp"};
    static const char *const others[] = {"notes.txt",    "monitor.csv.bak",
                                         "my_run.log",   "arcwake_00000000.h5",
                                         "diag/beam.h5", "diag/arcwake_plot.png"};
    scratch_fixture *f = *state;
    assert_ok(aw_directory_make(f->dir, 0));
    for (size_t i = 0; i < sizeof ours / sizeof *ours; ++i)
        scratch_write(scratch_path(f->dir, ours[i]), "old");
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        scratch_write(scratch_path(f->dir, others[i]), "mine");
    assert_ok(aw_directory_make(f->dir, 1));
    for (size_t i = 0; i < sizeof ours / sizeof *ours; ++i)
        assert_false(scratch_exists(scratch_path(f->dir, ours[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        assert_text(scratch_path(f->dir, others[i]), "mine");
}

static void old_file_that_cannot_be_removed_is_an_error(void **state)
{
    scratch_fixture *f = *state;
    assert_int_equal(mkdir(scratch_path(f->dir, "run.log"), 0700), 0);
    assert_status(aw_directory_make(f->dir, 1), AW_ERR_IO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(replace_writes_the_bytes_and_leaves_no_temporary_file),
        TEST(full_disk_keeps_the_old_file_and_is_one_line),
        TEST(path_under_a_regular_file_is_refused),
        TEST(path_of_a_directory_is_refused_and_leaves_no_temporary_file),
        TEST(unwritable_directory_is_refused),
        TEST(new_directory_is_created_with_its_parents_and_diag),
        TEST(directory_in_use_is_refused_without_force_and_unchanged),
        TEST(force_removes_the_files_of_an_earlier_run_and_no_others),
        TEST(old_file_that_cannot_be_removed_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
