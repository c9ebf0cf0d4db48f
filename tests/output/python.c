/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a run's directory with two steps, then lets tests/output/test_<word>.py read it. */
#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/io/file.h"
#include "src/output/monitor.h"
#include "tests/assert_close.h"
#include "tests/output/sample.h"
#include "tests/output/scratch.h"

enum { SKIP = 77, STEPS = 40 };

extern char **environ;

/* The interpreter, from the first place that names one which is there. */
static const char *find_python(void)
{
    const char *candidate[] = {getenv("AW_PYTHON"), AW_PYTHON, AW_BINARY_DIR "/venv/bin/python",
                               AW_SOURCE_DIR "/build/venv/bin/python"};
    for (size_t i = 0; i < sizeof candidate / sizeof *candidate; ++i)
        if (candidate[i] && *candidate[i] && access(candidate[i], X_OK) == 0) return candidate[i];
    return "python3";
}

static void write_monitor(const char *directory)
{
    aw_monitor *monitor = NULL;
    assert_ok(aw_monitor_open(scratch_path(directory, "monitor.csv"), &monitor));
    for (long i = 0; i <= STEPS; ++i) {
        double s = 0.02 * (double)i;
        aw_monitor_row row;
        aw_monitor_row_clear(&row);
        row.step = i;
        row.time = s / 299792458.0;
        row.s_ref = s;
        row.charge = 1e-9;
        row.energy_change_mean = -1.99e5 * s;
        row.energy_change_rms = 1.4e5 * s;
        row.sigma_s = 50e-6 * (1.0 - 0.1 * s);
        row.sigma_x = 50e-6 * (1.0 + 0.2 * s);
        row.emittance_x = 1e-10 * (1.0 + s * s);
        row.emittance_x_dispersion_free = 1e-10;
        if (i % 2 == 0) row.F_s_mean = -1.99e5;
        row.evaluations = 1e6;
        for (int p = 0; p < AW_PARTS; ++p) row.seconds[p] = p == AW_PART_POTENTIALS ? 0.5 : 0.01;
        assert_ok(aw_monitor_write(monitor, &row));
    }
    assert_ok(aw_monitor_close(monitor));
}

static void write_run(const char *directory)
{
    sample *s = calloc(1, sizeof *s);
    assert_non_null(s);
    assert_int_equal(aw_file_make_directories(scratch_path(directory, "diag")), 0);
    for (long step = 20; step <= STEPS; step += 20) {
        char path[SCRATCH_PATH];
        sample_fill(s, step);
        assert_ok(aw_openpmd_path(directory, step, path, sizeof path));
        assert_ok(aw_openpmd_write(path, &s->snapshot));
    }
    write_monitor(directory);
    scratch_write(scratch_path(directory, "resolved.yaml"),
                  "title: LCLS bend <sample> & more\nlattice:\n  PALS:\n    facility:\n"
                  "      - line: {kind: BeamLine}\nbeam:\n  charge_C: 1e-09\n");
    free(s);
}

/* Exit status of `python test_<word>.py DIRECTORY`. */
static int run_python(const char *word, const char *directory)
{
    const char *python = find_python();
    char script[1024];
    int state = 0;
    pid_t pid = 0;
    snprintf(script, sizeof script, "%s/tests/output/test_%s.py", AW_SOURCE_DIR, word);
    char *const arguments[] = {(char *)python, script, (char *)directory, NULL};
    int code = posix_spawnp(&pid, python, NULL, NULL, arguments, environ);
    if (code == ENOENT) {
        printf("skipped: no %s (tools/setup.sh --tests makes one in build/venv)\n", python);
        return SKIP;
    }
    if (code != 0 || waitpid(pid, &state, 0) != pid) return 1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    char directory[SCRATCH_PATH];
    scratch_make(directory);
    write_run(directory);
    fflush(stdout);
    int code = run_python(argv[1], directory);
    scratch_remove(directory);
    return code;
}
