/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a caller of libarcwake may rely on: options of other versions, errors that change nothing,
 * and a process that stays as it was: output, signals, threads, fork, little memory. */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/api/bunch_fixture.h"
#include "tests/assert_close.h"

static double forces[2][N];

static aw_field *made(const aw_options *options)
{
    aw_field *field;
    if (aw_field_new(options, bend, 2, &field) != AW_DONE) fail_msg("%s", aw_message(field));
    return field;
}

static int nodes_of(aw_field *field, bunch *b)
{
    aw_grid_info info;
    assert_int_equal(observe_at(field, b, 0.1), AW_DONE);
    assert_int_equal(aw_field_grid(field, &info, NULL, NULL), AW_DONE);
    return info.ns * 10000 + info.nx;
}

/* Options of an older version are shorter, those of a newer one longer. */
static void options_of_other_versions(void **state)
{
    (void)state;
    bunch *b = draw();
    struct {
        aw_options options;
        double added[2];
    } newer = {aw_default_options(), {0.0, 0.0}};
    aw_options older = aw_default_options();
    aw_field *field;
    older.size = offsetof(aw_options, threads);
    older.grid[0] = 24;
    older.threads = -7; /* beyond its end: not read, nor are these */
    older.device = older.solver = "abacus";
    field = made(&older);
    assert_int_equal(nodes_of(field, b), 240048);
    aw_field_free(field);
    newer.options.size = sizeof newer;
    newer.options.grid[1] = 32;
    field = made(&newer.options);
    assert_int_equal(nodes_of(field, b), 480032);
    aw_field_free(field);
    newer.added[1] = 1.0;
    assert_int_equal(aw_field_new(&newer.options, bend, 2, &field), AW_WRONG_ARGUMENT);
    says(field, "members that arcwake");
    aw_field_free(field);
    const size_t wrong[] = {0, 3, 9, (size_t)1 << 40};
    for (int i = 0; i < 4; ++i) {
        older.size = wrong[i];
        assert_int_equal(aw_field_new(&older, bend, 2, &field), AW_WRONG_ARGUMENT);
        says(field, "expected that which aw_default_options sets");
        aw_field_free(field);
    }
    free(b);
}

static void handles_that_are_none(void **state)
{
    (void)state;
    double F;
    const aw_options options = {.size = 0};
    aw_field *field;
    assert_int_equal(aw_field_observe(NULL, 0.0, NULL), AW_WRONG_ARGUMENT);
    assert_int_equal(aw_field_force(NULL, 1, &F, &F, &F, &F), AW_WRONG_ARGUMENT);
    assert_int_equal(aw_field_grid(NULL, NULL, NULL, NULL), AW_WRONG_ARGUMENT);
    assert_int_equal(aw_field_new(NULL, bend, 2, NULL), AW_WRONG_ARGUMENT);
    aw_field_free(NULL);
    assert_int_equal(aw_field_new(&options, bend, 2, &field), AW_WRONG_ARGUMENT);
    bunch *b = draw();
    assert_int_equal(observe_at(field, b, 0.1), AW_WRONG_ARGUMENT);
    free(b);
    says(field, "could not be made");
    assert_int_equal(aw_field_force(field, 1, &F, &F, &F, &F), AW_WRONG_ARGUMENT);
    says(field, "could not be made");
    aw_field_free(field);
}

/* Observations that are refused, the first among them, leave the field as it was. */
static void a_failed_observation_changes_nothing(void **state)
{
    (void)state;
    static const double absurd[] = {NAN, INFINITY, 1e300, 1e160, 1e30};
    bunch *b = draw(), *bad = draw();
    double want[2], got[2];
    aw_field *field = lcls(), *other = lcls();
    const double s = 0.1, x = 1e-5;
    for (int round = 0; round < 2; ++round) {
        double *const column[] = {bad->s0, bad->x, bad->ps, bad->px, bad->charge};
        for (int c = 0; c < 5; ++c)
            for (size_t k = 0; k < sizeof absurd / sizeof absurd[0]; ++k) {
                const double kept = column[c][123];
                column[c][123] = absurd[k];
                const int answer = observe_at(other, bad, 0.15 * (1 + round));
                assert_int_equal(answer, isfinite(absurd[k]) ? AW_WRONG_ARGUMENT : AW_NOT_FINITE);
                says(other, "particle ");
                column[c][123] = kept;
            }
        assert_int_equal(aw_field_observe(other, 1.0, &(aw_bunch){.n = 0}), AW_WRONG_ARGUMENT);
        assert_int_equal(aw_field_observe(other, 1.0, NULL), AW_WRONG_ARGUMENT);
        assert_int_equal(observe_at(field, b, 0.1 * (1 + round)), AW_DONE);
        assert_int_equal(observe_at(other, b, 0.1 * (1 + round)), AW_DONE);
        if (round == 1) break;
        assert_int_equal(aw_field_force(field, 1, &s, &x, &want[0], &want[1]), AW_DONE);
        assert_int_equal(aw_field_force(other, 1, &s, &x, &got[0], &got[1]), AW_DONE);
        assert_memory_equal(want, got, sizeof want);
    }
    aw_field_free(field);
    aw_field_free(other);
    free(bad);
    free(b);
}

/* Numbers that are absurd and permitted give an error or finite forces, but never a crash. */
static void outliers_are_survived(void **state)
{
    (void)state;
    static const double absurd[] = {1e-300, 1e11, 9.9, -9.9};
    for (int c = 0; c < 5; ++c)
        for (size_t k = 0; k < sizeof absurd / sizeof absurd[0]; ++k) {
            bunch *b = draw();
            double *const column[] = {b->s0, b->x, b->ps, b->px, b->charge};
            const aw_options options = {.size = offsetof(aw_options, tolerance), .grid = {16, 16}};
            aw_field *field = made(&options);
            double F[2];
            column[c][123] = absurd[k];
            int status = observe_at(field, b, 0.1);
            if (status == AW_DONE) status = aw_field_force(field, 1, b->s, b->x, &F[0], &F[1]);
            if (status == AW_DONE)
                assert_true(isfinite(F[0]) && isfinite(F[1]));
            else
                assert_true(strlen(aw_message(field)) > 10);
            aw_field_free(field);
            free(b);
        }
}

/* The same error at each call, with the best forces, as long as they are of the same bunch. */
static void a_tolerance_that_was_missed_is_told_again(void **state)
{
    (void)state;
    bunch *b = draw();
    aw_options options = aw_default_options();
    char message[512];
    double F[2][2], s, x = 0.0;
    options.grid[0] = options.grid[1] = 8;
    options.tolerance = 1e-12;
    options.solver = "adaptive";
    aw_field *field = made(&options);
    for (int k = 0; k < 6; ++k) assert_int_equal(observe_at(field, b, 0.1 * k), AW_DONE);
    s = 0.5;
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(aw_field_force(field, 1, &s, &x, &F[i][0], &F[i][1]), AW_NOT_REACHED);
        assert_true(isfinite(F[i][0]) && F[i][0] != 0.0);
        if (i == 1) assert_string_equal(aw_message(field), message);
        strcpy(message, aw_message(field));
    }
    says(field, "tolerance not reached");
    assert_memory_equal(F[0], F[1], sizeof F[0]);
    aw_field_free(field);
    free(b);
}

/* Two fields within a parallel region of the caller's have the bits of one outside. */
static void fields_within_a_parallel_region(void **state)
{
    (void)state;
    double force[3] = {0.0};
    for (int nested = 0; nested < 2; ++nested) {
        omp_set_max_active_levels(nested ? 2 : 1);
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < 2 + !nested; ++i) {
            bunch *b = draw();
            aw_field *field = lcls();
            const double s = 0.3, x = 0.0;
            double Fx, Fs = 0.0;
            for (int k = 0; k < 4; ++k) observe_at(field, b, 0.1 * k);
            aw_field_force(field, 1, &s, &x, &Fs, &Fx);
            force[i] = Fs;
            aw_field_free(field);
            free(b);
        }
        assert_true(force[2] < 0.0);
        assert_memory_equal(&force[0], &force[2], sizeof force[0]);
        assert_memory_equal(&force[1], &force[2], sizeof force[0]);
    }
    omp_set_max_active_levels(1);
}

static void gsl_handler(const char *reason, const char *file, int line, int code)
{
    (void)reason, (void)file, (void)line, (void)code;
}

/* What errors and good calls leave behind: nothing. */
static void the_process_stays_as_it_was(void **state)
{
    (void)state;
    enum { SIGNALS = 32 };
    struct sigaction before[SIGNALS], after;
    char output[] = "output_XXXXXX";
    const int file = mkstemp(output), out = dup(1), err = dup(2);
    struct stat info;
    bunch *b = draw();
    aw_options options = aw_default_options();
    aw_field *field;
    gsl_set_error_handler(gsl_handler);
    omp_set_num_threads(3);
    for (int i = 1; i < SIGNALS; ++i) sigaction(i, NULL, &before[i]);
    fflush(stdout);
    dup2(file, 1);
    dup2(file, 2);
    options.threads = 2;
    options.device = "cpu:0,cpu:1";
    options.grid[0] = options.grid[1] = 24;
    field = made(&options);
    for (int k = 0; k < 3; ++k) observe_at(field, b, 0.1 * k);
    aw_field_force(field, b->n, b->s, b->x, forces[0], forces[1]);
    observe_at(field, b, 0.0);
    aw_field_free(field);
    const char *const wrong[] = {"abacus", "cuda", "cpu:77", "auto"};
    for (int i = 0; i < 4; ++i) {
        options.device = wrong[i];
        aw_field_new(&options, bend, 2, &field);
        aw_field_free(field);
    }
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    assert_int_equal(fstat(file, &info), 0);
    assert_int_equal(info.st_size, 0);
    assert_int_equal(omp_get_max_threads(), 3);
    assert_ptr_equal(gsl_set_error_handler(NULL), gsl_handler);
    for (int i = 1; i < SIGNALS; ++i) {
        if (sigaction(i, NULL, &after) != 0) continue;
        assert_ptr_equal(after.sa_handler, before[i].sa_handler);
    }
    close(file);
    close(out);
    close(err);
    unlink(output);
    free(b);
}

/* @return exit status of a child that makes a field with so many threads and asks for a force */
static int in_a_child(int threads)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        bunch *b = draw();
        aw_options options = aw_default_options();
        double F[2], s = 0.1, x = 0.0;
        aw_field *field;
        options.threads = threads;
        alarm(60);
        if (aw_field_new(&options, bend, 2, &field) == AW_WRONG_ARGUMENT)
            _exit(strstr(aw_message(field), "before fork()") ? 1 : 2);
        if (observe_at(field, b, 0.1) != AW_DONE) _exit(3);
        _exit(aw_field_force(field, 1, &s, &x, &F[0], &F[1]) == AW_DONE && F[0] != 0.0 ? 0 : 4);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* A child would wait for its parent's threads for ever: it is told so, and may work with one. */
static void fields_after_fork(void **state)
{
    (void)state;
    aw_options options = aw_default_options();
    options.threads = 2;
    aw_field_free(made(&options));
    assert_int_equal(in_a_child(2), 1);
    assert_int_equal(in_a_child(1), 0);
}

/* @return exit status of a child with so much more address space: 0 done, 1 refused in one line */
static int with_little_memory(size_t more)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        char line[256];
        size_t pages = 0;
        FILE *file = fopen("/proc/self/statm", "r");
        bunch *b = draw();
        aw_options options = aw_default_options();
        aw_field *field;
        if (!file || !fgets(line, sizeof line, file)) _exit(9);
        pages = strtoul(line, NULL, 10);
        options.threads = 1;
        options.grid[0] = options.grid[1] = 64;
        const rlim_t limit = pages * (size_t)sysconf(_SC_PAGESIZE) + more;
        setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit});
        int got = aw_field_new(&options, bend, 2, &field);
        for (int k = 0; k < 3 && got == AW_DONE; ++k) {
            got = observe_at(field, b, 0.1 * k);
            if (got == AW_DONE) got = aw_field_force(field, 1, b->s, b->x, forces[0], forces[1]);
        }
        if (got == AW_DONE) _exit(0);
        if (got != AW_NO_MEMORY) fprintf(stderr, "%s\n", aw_message(field));
        _exit(got == AW_NO_MEMORY && strlen(aw_message(field)) > 5 ? 1 : 10 + got);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) fail_msg("with %zu KiB: signal %d", more >> 10, WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* However little there is, the call returns and says so. */
static void little_memory_is_an_error(void **state)
{
    (void)state;
#ifdef AW_SANITIZED
    skip();
#endif
    int refused = 0, done = 0;
    for (size_t more = (size_t)1 << 16; more < (size_t)1 << 30; more += more / 2) {
        const int got = with_little_memory(more);
        if (got != 0 && got != 1) fail_msg("with %zu KiB: status %d", more >> 10, got);
        refused += got == 1;
        done += got == 0;
    }
    assert_true(refused > 5);
    assert_true(done > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_other_versions),
        cmocka_unit_test(handles_that_are_none),
        cmocka_unit_test(a_failed_observation_changes_nothing),
        cmocka_unit_test(outliers_are_survived),
        cmocka_unit_test(a_tolerance_that_was_missed_is_told_again),
        cmocka_unit_test(fields_within_a_parallel_region),
        cmocka_unit_test(the_process_stays_as_it_was),
        cmocka_unit_test(fields_after_fork),
        cmocka_unit_test(little_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
