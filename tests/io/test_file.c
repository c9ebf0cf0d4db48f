/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files are complete or absent. */
#include <errno.h>
#include <fcntl.h>
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
    assert_int_equal(aw_file_make_directories(path), ENOTDIR);
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
    chmod(f->dir, 0700);
    assert_int_equal(file, AW_ERR_IO);
    assert_int_equal(scratch_count(f->dir), 0);
}

/* A name of ours that is foreseen could be a symbolic link to any file of the user. */
static void temporary_file_is_not_opened_through_a_symbolic_link(void **state)
{
    scratch_fixture *f = *state;
    scratch_write(scratch_path(f->dir, "mine"), "mine");
    assert_int_equal(symlink("mine", scratch_path(f->dir, "a.bin.tmp")), 0);
    assert_ok(aw_file_replace(scratch_path(f->dir, "a.bin"), "x", 1));
    assert_text(scratch_path(f->dir, "mine"), "mine");
    assert_int_equal(symlink("mine", scratch_path(f->dir, "new")), 0);
    assert_int_equal(aw_file_create(AT_FDCWD, scratch_path(f->dir, "new")), -EEXIST);
    assert_text(scratch_path(f->dir, "mine"), "mine");
}

static void temporary_names_differ_and_are_recognised(void **state)
{
    scratch_fixture *f = *state;
    char *first = NULL, *second = NULL;
    const char *path = scratch_path(f->dir, "a.bin");
    int one = aw_file_temporary(AT_FDCWD, path, &first);
    int two = aw_file_temporary(AT_FDCWD, path, &second);
    assert_true(one >= 0 && two >= 0);
    assert_string_not_equal(first, second);
    assert_true(aw_file_is_temporary(first, path));
    assert_true(aw_file_is_temporary("a.tmp", "a"));
    assert_false(aw_file_is_temporary("a.draft.tmp", "a"));
    assert_false(aw_file_is_temporary("a.abcdefg.tmp", "a"));
    assert_false(aw_file_is_temporary("a.abcdef.tmp2", "a"));
    assert_false(aw_file_is_temporary("ab.abcdef.tmp", "a"));
    close(one);
    close(two);
    free(first);
    free(second);
}

/* A rename would put a regular file in the place of /dev/null, for everyone. */
static void pipe_is_written_in_place(void **state)
{
    scratch_fixture *f = *state;
    struct stat info;
    char got[8] = "";
    const char *path = scratch_path(f->dir, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    int end = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(end >= 0);
    assert_ok(aw_file_replace(path, "text", 4));
    assert_int_equal(read(end, got, sizeof got), 4);
    assert_string_equal(got, "text");
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    close(end);
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
        TEST(temporary_file_is_not_opened_through_a_symbolic_link),
        TEST(temporary_names_differ_and_are_recognised),
        TEST(pipe_is_written_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
