/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output directory: one run at a time writes to it, and only arcwake's files are removed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/io/directory.h"
#include "src/io/lock.h"
#include "tests/assert_close.h"
#include "tests/output/scratch.h"

#ifdef AW_POOR_FILE_SYSTEM
/* The linker puts these in the place of the system's functions: neither flock nor links. */
int __wrap_flock(int fd, int operation);
int __wrap_linkat(int at, const char *path, int to, const char *name, int flags);

int __wrap_flock(int fd, int operation)
{
    (void)fd, (void)operation;
    errno = ENOSYS;
    return -1;
}

int __wrap_linkat(int at, const char *path, int to, const char *name, int flags)
{
    (void)at, (void)path, (void)to, (void)name, (void)flags;
    errno = EPERM;
    return -1;
}
#endif

typedef struct fixture {
    char dir[SCRATCH_PATH];
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    scratch_make(f->dir);
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

static void assert_text(const char *path, const char *want)
{
    char *got = scratch_read(path, NULL);
    assert_string_equal(got, want);
    free(got);
}

/* Open a directory and close it again. */
static aw_status try_open(const char *path, aw_directory_mode mode)
{
    aw_directory *directory = NULL;
    const aw_status status = aw_directory_open(path, mode, &directory);
    assert_true((directory != NULL) == (status == AW_OK));
    aw_directory_close(directory);
    return status;
}

/* It is refused with this status, and one line that has these words. */
static void assert_refused(const char *path, int force, aw_status status, const char *words)
{
    char beside[SCRATCH_PATH];
    snprintf(beside, sizeof beside, "scratch_%ld", (long)getpid());
    scratch_stderr_begin(beside);
    const aw_status got = try_open(path, force);
    char *text = scratch_stderr_end(), *end = strchr(text, '\n');
    assert_int_equal(got, status);
    assert_non_null(end);
    assert_int_equal(end[1], '\0');
    if (!strstr(text, words)) fail_msg("'%s' is not in: %s", words, text);
    free(text);
}

/* Put the first line of a resolved.yaml there. */
static void mark(const char *dir)
{
    scratch_write(scratch_path(dir, "resolved.yaml"), AW_DIRECTORY_MARK "\n");
}

static void new_directory_is_created_with_its_parents_and_diag(void **state)
{
    fixture *f = *state;
    assert_ok(try_open(scratch_path(f->dir, "a/b/run"), 0));
    assert_true(scratch_exists(scratch_path(f->dir, "a/b/run/diag")));
    assert_int_equal(mkdir(scratch_path(f->dir, "empty"), 0700), 0);
    assert_ok(try_open(scratch_path(f->dir, "empty/"), 0));
    assert_true(scratch_exists(scratch_path(f->dir, "empty/diag")));
    assert_int_equal(scratch_count(scratch_path(f->dir, "empty")), 1); /* no lock is left */
    assert_refused("", 1, AW_ERR_ARG, "has no name");
}

static void path_under_a_regular_file_is_refused(void **state)
{
    fixture *f = *state;
    scratch_write(scratch_path(f->dir, "plain"), "text");
    assert_refused(scratch_path(f->dir, "plain/run"), 1, AW_ERR_IO, "Not a directory");
    assert_text(scratch_path(f->dir, "plain"), "text");
}

static void directory_in_use_is_refused_without_force_and_unchanged(void **state)
{
    fixture *f = *state;
    scratch_write(scratch_path(f->dir, "monitor.csv"), "old");
    assert_refused(f->dir, 0, AW_ERR_ARG, "--force");
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
                                       "resolved.yaml.abcdef.tmp",
                                       "run.lock.abcdef.tmp",
                                       "diag/arcwake_00000000.h5",
                                       "diag/arcwake_12345678.h5",
                                       "diag/arcwake_00000001.h5.tmp",
                                       "diag/arcwake_00000001.h5.abcdef.tmp"};
    static const char *const others[] = {"notes.txt",    "monitor.csv.bak",
                                         "my_run.log",   "arcwake_00000000.h5",
                                         "diag/beam.h5", "diag/arcwake_plot.png"};
    fixture *f = *state;
    assert_ok(try_open(f->dir, 0));
    for (size_t i = 0; i < sizeof ours / sizeof *ours; ++i)
        scratch_write(scratch_path(f->dir, ours[i]), "old");
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        scratch_write(scratch_path(f->dir, others[i]), "mine");
    mark(f->dir);
    assert_ok(try_open(f->dir, 1));
    for (size_t i = 0; i < sizeof ours / sizeof *ours; ++i)
        assert_false(scratch_exists(scratch_path(f->dir, ours[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        assert_text(scratch_path(f->dir, others[i]), "mine");
}

/* Files of these names may belong to another program, and resolved.yaml to the user. */
static void force_removes_nothing_where_arcwake_wrote_nothing(void **state)
{
    static const char *const names[] = {"monitor.csv", "run.log",    "resolved.yaml",
                                        "report.html", "forces.png", "diag/arcwake_00000000.h5"};
    fixture *f = *state;
    assert_ok(try_open(f->dir, 0));
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char *path = scratch_path(f->dir, names[i]);
        scratch_write(path, "title: mine\n");
        assert_refused(f->dir, 1, AW_ERR_ARG, names[i]);
        assert_text(path, "title: mine\n");
        assert_int_equal(unlink(path), 0);
    }
    scratch_write(scratch_path(f->dir, "notes.txt"), "mine");
    assert_ok(try_open(f->dir, 1)); /* nothing of theirs is in the way */
}

static void resolved_yaml_without_mark_is_known_by_its_first_lines(void **state)
{
    fixture *f = *state;
    scratch_write(scratch_path(f->dir, "resolved.yaml"),
                  "title: \"a bend\"\nlattice: \"/a/b.yaml\"\nbeam:\n  charge_C: 1e-09\n");
    assert_ok(try_open(f->dir, 1));
    assert_false(scratch_exists(scratch_path(f->dir, "resolved.yaml")));
}

static void symbolic_links_are_not_followed(void **state)
{
    fixture *f = *state;
    char run[SCRATCH_PATH];
    snprintf(run, sizeof run, "%.400s/run", f->dir);
    assert_ok(try_open(scratch_path(f->dir, "far"), 0));
    scratch_write(scratch_path(f->dir, "far/diag/arcwake_00000000.h5"), "mine");
    scratch_write(scratch_path(f->dir, "mine.log"), "mine");
    assert_int_equal(mkdir(run, 0700), 0);
    mark(run);
    assert_int_equal(symlink("../far/diag", scratch_path(run, "diag")), 0);
    assert_int_equal(symlink("../mine.log", scratch_path(run, "run.log")), 0);
    assert_refused(run, 1, AW_ERR_ARG, "diag: is not a directory");
    assert_int_equal(unlink(scratch_path(run, "diag")), 0);
    assert_ok(try_open(run, 1));
    assert_false(scratch_exists(scratch_path(run, "run.log"))); /* the link itself is removed */
    assert_text(scratch_path(f->dir, "mine.log"), "mine");
    assert_text(scratch_path(f->dir, "far/diag/arcwake_00000000.h5"), "mine");
    /* a resolved.yaml elsewhere says nothing of this directory */
    mark(f->dir);
    assert_int_equal(symlink("../resolved.yaml", scratch_path(run, "resolved.yaml")), 0);
    assert_refused(run, 1, AW_ERR_ARG, "resolved.yaml");
}

static void old_file_that_cannot_be_removed_is_an_error(void **state)
{
    fixture *f = *state;
    mark(f->dir);
    assert_int_equal(mkdir(scratch_path(f->dir, "run.log"), 0700), 0);
    assert_refused(f->dir, 1, AW_ERR_IO, "run.log cannot be removed");
    assert_true(scratch_exists(scratch_path(f->dir, "resolved.yaml"))); /* it goes last */
}

static void second_run_is_refused_while_the_first_lives(void **state)
{
    fixture *f = *state;
    aw_directory *first = NULL;
    assert_ok(aw_directory_open(f->dir, AW_DIRECTORY_EMPTY, &first));
    mark(f->dir);
    scratch_write(scratch_path(f->dir, "monitor.csv"), "live");
    char words[64];
    snprintf(words, sizeof words, "process %ld is writing", (long)getpid());
    assert_refused(f->dir, 1, AW_ERR_ARG, words);
    assert_text(scratch_path(f->dir, "monitor.csv"), "live");
    assert_ok(aw_directory_check(first));
    aw_directory_close(first);
    assert_ok(try_open(f->dir, 1));
}

static void lock_of_a_killed_process_is_replaced(void **state)
{
    fixture *f = *state;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        aw_directory *held = NULL;
        if (aw_directory_open(f->dir, AW_DIRECTORY_EMPTY, &held) == AW_OK &&
            write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_refused(f->dir, 1, AW_ERR_ARG, "is writing its results");
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(scratch_exists(scratch_path(f->dir, AW_LOCK_NAME)));
    assert_ok(try_open(f->dir, 1));
    assert_false(scratch_exists(scratch_path(f->dir, AW_LOCK_NAME)));
    close(ready[0]);
    close(ready[1]);
}

/* The number of a dead run's process may be in use again: here it is that of this test. */
static void number_of_a_process_used_again_does_not_keep_the_lock(void **state)
{
    fixture *f = *state;
    char text[400], host[256];
    assert_int_equal(gethostname(host, sizeof host), 0);
    snprintf(text, sizeof text, "arcwake: process %ld on host %s\n", (long)getpid(), host);
    scratch_write(scratch_path(f->dir, AW_LOCK_NAME), text);
#ifdef AW_POOR_FILE_SYSTEM /* only the number is known there: rather refuse */
    assert_refused(f->dir, 1, AW_ERR_ARG, "is writing its results");
#else
    assert_ok(try_open(f->dir, 1));
#endif
}

static void lock_of_another_host_is_named_with_the_remedy(void **state)
{
    fixture *f = *state;
    const char *path = scratch_path(f->dir, AW_LOCK_NAME);
    scratch_write(path, "arcwake: process 12 on host elsewhere.example\n");
    assert_refused(f->dir, 1, AW_ERR_ARG, "process 12 on host elsewhere.example");
    assert_refused(f->dir, 1, AW_ERR_ARG, "/run.lock)");
    scratch_write(path, "what is this?");
    assert_refused(f->dir, 1, AW_ERR_ARG, "is not readable as a run's lock");
    assert_text(path, "what is this?");
}

/* Many processes find the same stale lock: one gets it. */
static void one_of_many_gets_a_stale_lock(void **state)
{
    enum { MANY = 16, ROUNDS = 10 };
    fixture *f = *state;
    char text[400], host[256];
    assert_int_equal(gethostname(host, sizeof host), 0);
    snprintf(text, sizeof text, "arcwake: process 999999999 on host %s\n", host);
    for (int round = 0; round < ROUNDS; ++round) {
        int got = 0, begin[2], end[2], state_of;
        scratch_write(scratch_path(f->dir, AW_LOCK_NAME), text);
        assert_int_equal(pipe(begin), 0);
        assert_int_equal(pipe(end), 0);
        for (int i = 0; i < MANY; ++i)
            if (fork() == 0) {
                char byte;
                aw_lock lock;
                freopen("/dev/null", "w", stderr);
                const int at = open(f->dir, O_RDONLY | O_DIRECTORY);
                if (read(begin[0], &byte, 1) != 1) _exit(2);
                const int mine = aw_lock_take(at, f->dir, &lock) == AW_OK;
                if (mine && !aw_lock_is_held(&lock)) _exit(3);
                if (write(end[1], mine ? "1" : "0", 1) != 1) _exit(2);
                if (mine) alarm(60), pause();
                _exit(0);
            }
        assert_int_equal(write(begin[1], "0123456789abcdef", MANY), MANY);
        for (int i = 0; i < MANY; ++i) {
            char byte;
            assert_int_equal(read(end[0], &byte, 1), 1);
            got += byte == '1';
        }
        assert_int_equal(got, 1);
        long owner = 0;
        char *now = scratch_read(scratch_path(f->dir, AW_LOCK_NAME), NULL);
        assert_int_equal(sscanf(now, "arcwake: process %ld", &owner), 1);
        free(now);
        kill((pid_t)owner, SIGKILL);
        for (int i = 0; i < MANY; ++i) {
            assert_true(wait(&state_of) > 0);
            assert_true(WIFSIGNALED(state_of) || WEXITSTATUS(state_of) == 0);
        }
        assert_int_equal(scratch_count(f->dir), 1); /* the lock; nothing temporary */
        close(begin[0]), close(begin[1]), close(end[0]), close(end[1]);
    }
}

static void watched_file_that_is_removed_or_replaced_is_noticed(void **state)
{
    fixture *f = *state;
    aw_directory *d = NULL;
    const char *run = scratch_path(f->dir, "run"), *file = scratch_path(f->dir, "run/monitor.csv");
    const char *lock = scratch_path(f->dir, "run/" AW_LOCK_NAME);
    assert_ok(aw_directory_open(run, AW_DIRECTORY_EMPTY, &d));
    scratch_write(file, "one");
    assert_ok(aw_directory_watch(d, "monitor.csv"));
    scratch_write(file, "two"); /* the same file, with more in it */
    assert_ok(aw_directory_check(d));
    assert_int_equal(unlink(file), 0);
    assert_status(aw_directory_check(d), AW_ERR_IO);
    scratch_write(file, "another file");
    assert_status(aw_directory_check(d), AW_ERR_IO);
    aw_directory_close(d);

    assert_int_equal(unlink(file), 0);
    assert_ok(aw_directory_open(run, AW_DIRECTORY_REPLACE, &d));
    assert_int_equal(unlink(lock), 0);
    assert_status(aw_directory_check(d), AW_ERR_IO);
    scratch_write(lock, "another lock");
    assert_status(aw_directory_check(d), AW_ERR_IO);
    aw_directory_close(d);
    assert_text(lock, "another lock"); /* is not ours to remove */

    assert_int_equal(unlink(lock), 0);
    assert_ok(aw_directory_open(run, AW_DIRECTORY_REPLACE, &d));
    assert_int_equal(rename(run, scratch_path(f->dir, "moved")), 0);
    assert_status(aw_directory_check(d), AW_ERR_IO);
    aw_directory_close(d);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(new_directory_is_created_with_its_parents_and_diag),
        TEST(path_under_a_regular_file_is_refused),
        TEST(directory_in_use_is_refused_without_force_and_unchanged),
        TEST(force_removes_the_files_of_an_earlier_run_and_no_others),
        TEST(force_removes_nothing_where_arcwake_wrote_nothing),
        TEST(resolved_yaml_without_mark_is_known_by_its_first_lines),
        TEST(symbolic_links_are_not_followed),
        TEST(old_file_that_cannot_be_removed_is_an_error),
        TEST(second_run_is_refused_while_the_first_lives),
        TEST(lock_of_a_killed_process_is_replaced),
        TEST(number_of_a_process_used_again_does_not_keep_the_lock),
        TEST(lock_of_another_host_is_named_with_the_remedy),
        TEST(one_of_many_gets_a_stale_lock),
        TEST(watched_file_that_is_removed_or_replaced_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
