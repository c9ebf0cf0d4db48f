/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/input/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/assert_close.h"

#define TEXT_MAX 200000

const char *const good_run = "title: one bend\n"          /* line 1 */
                             "lattice: bend.pals.yaml\n"  /* 2 */
                             "beam:\n"                    /* 3 */
                             "  charge_C: 1.0e-9\n"       /* 4 */
                             "  gamma: 1.0e4\n"           /* 5 */
                             "  particles: 1e6\n"         /* 6 */
                             "  seed: 7\n"                /* 7 */
                             "  distribution: gaussian\n" /* 8 */
                             "  sampling: quiet\n"        /* 9 */
                             "  cutoff_sigma: 5.0\n"      /* 10 */
                             "  sigma_s_m: 50.0e-6\n"     /* 11 */
                             "  sigma_x_m: 40.0e-6\n"     /* 12 */
                             "  energy_spread: 1.0e-4\n"  /* 13 */
                             "  chirp_per_m: -36.0\n"     /* 14 */
                             "motion: rigid\n"            /* 15 */
                             "numerics:\n"                /* 16 */
                             "  grid: [128, 96]\n"        /* 17 */
                             "  step_m: 0.01\n"           /* 18 */
                             "  tolerance: 1.0e-5\n"      /* 19 */
                             "  solver: adaptive\n"       /* 20 */
                             "  history: single\n"        /* 21 */
                             "  upstream: drift\n"        /* 22 */
                             "  history_MiB: 512\n"       /* 23 */
                             "  upstream_m: 2.0e3\n"      /* 24 */
                             "device: cpu\n"              /* 25 */
                             "output:\n"                  /* 26 */
                             "  directory: results\n"     /* 27 */
                             "  every: 20\n"              /* 28 */
                             "  at_m: [0.5, 0.2]\n"       /* 29 */
                             "  particles_every: 40\n"    /* 30 */
                             "  checkpoint_every: 0\n";   /* 31 */

#define ITEM(name, kind, keys) "          - " name ": {kind: " kind ", " keys "}\n"
const char *const magnet_items = ITEM("z", "Sextupole",
                                      "length: 0.1, MagneticMultipoleP: {Kn2: -0.0}")
    ITEM("x", "Sextupole", "length: 0.1, MagneticMultipoleP: {Bn2: 17.3, Kn5: 1e4}") ITEM(
        "o", "Octupole", "MagneticMultipoleP: {Kn3L: 33.3, Kn2L: 0.7}")
        ITEM("m", "Multipole", "MagneticMultipoleP: {Kn0L: 1e-5, Kn21L: 1e30}") ITEM(
            "g", "Bend",
            "length: 0.3, BendP: {g_ref: 0.1, multipole_geometry: HORIZONTALLY_PURE}, "
            "MagneticMultipoleP: {Kn1: -0.7, Bn2L: 3.3}")
            ITEM("v", "Bend", "length: 0.3, BendP: {g_ref: -0.1}, MagneticMultipoleP: {Kn1L: 0.11}")
                ITEM("d", "RFCavity", "length: 1, RFP: {voltage: 0, frequency: 1.3e9}")
                    ITEM("r", "RFCavity",
                         "length: 0.7, RFP: {gradient: -2.7e7, frequency: 1.3e9, phase: 0.75}")
                        ITEM("f", "Bend",
                             "length: 0.3, BendP: {angle_ref: 0, e1: 0.1}, "
                             "MagneticMultipoleP: {Kn1: 1}");

const char *const good_lattice =
    "PALS:\n"                  /* line 1 */
    "  version: null\n"        /* 2 */
    "  facility:\n"            /* 3 */
    "    - lcls_line:\n"       /* 4 */
    "        kind: BeamLine\n" /* 5 */
    "        line:\n"          /* 6 */
    "          - start: {kind: BeginningEle, ReferenceP: {species_ref: electron, "
    "E_tot_ref: 5.1099895e9}}\n" /* 7 */
    "          - bend: {kind: Bend, BendP: {angle_ref: 0.198968, radius_ref: "
    "25.13, e1: 0.0, e2: 0.0}}\n"                          /* 8 */
    "          - after: {kind: Drift, length: 1.0}\n"      /* 9 */
    "    - lcls: {kind: Lattice, branches: [lcls_line]}\n" /* 10 */
    "    - use: lcls\n";                                   /* 11 */

static char folder[] = "/tmp/arcwake_input_XXXXXX", old_folder[4096];
static char captured[TEXT_MAX], changed[TEXT_MAX];
static int old_stderr = -1;

int files_setup(void **state)
{
    (void)state;
    if (!getcwd(old_folder, sizeof old_folder) || !mkdtemp(folder)) return -1;
    return chdir(folder);
}

int files_teardown(void **state)
{
    static const char *const names[] = {RUN,          LATTICE,      "captured",
                                        "again.yaml", "other.yaml", "w.txt"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) unlink(names[i]);
    rmdir("a_directory");
    return chdir(old_folder) || rmdir(folder);
}

void file_write(const char *name, const void *bytes, size_t length)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

void capture_begin(void)
{
    fflush(stderr);
    old_stderr = dup(STDERR_FILENO);
    assert_non_null(freopen("captured", "w", stderr));
}

void capture_end(void)
{
    fflush(stderr);
    dup2(old_stderr, STDERR_FILENO);
    close(old_stderr);
    FILE *file = fopen("captured", "r");
    assert_non_null(file);
    captured[fread(captured, 1, sizeof captured - 1, file)] = '\0';
    fclose(file);
}

const char *messages(void) { return captured; }

aw_status read_run(const char *const *set, size_t n_set, aw_config **out)
{
    capture_begin();
    aw_status status = aw_config_read(RUN, set, n_set, out);
    capture_end();
    return status;
}

void write_good(void)
{
    file_write(RUN, good_run, strlen(good_run));
    file_write(LATTICE, good_lattice, strlen(good_lattice));
}

const char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at) fail_msg("the text to replace is not there: %s", from);
    assert_true(strlen(text) + strlen(to) < sizeof changed);
    int n = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to,
                     at + strlen(from));
    assert_true(n > 0);
    return changed;
}

void assert_message(const char *line)
{
    size_t length = strlen(line);
    for (const char *at = captured; *at;) {
        size_t n = strcspn(at, "\n");
        if (n == length && memcmp(at, line, n) == 0) return;
        at += n + (at[n] == '\n');
    }
    print_error("no such line:\n%s\nin:\n%s", line, captured);
    fail();
}

int message_count(void)
{
    int n = 0;
    for (const char *c = captured; *c; ++c) n += *c == '\n';
    return n;
}

static void refused(const char *message)
{
    char line[4096];
    aw_config *config = NULL;
    aw_status status = read_run(NULL, 0, &config);
    snprintf(line, sizeof line, "arcwake: error: %s", message);
    assert_message(line);
    assert_int_equal(aw_status_exit(status), 2);
    assert_null(config);
}

void refused_run(const char *from, const char *to, const char *message)
{
    write_good();
    const char *text = replaced(good_run, from, to);
    file_write(RUN, text, strlen(text));
    refused(message);
}

void refused_lattice(const char *from, const char *to, const char *message)
{
    write_good();
    const char *text = replaced(good_lattice, from, to);
    file_write(LATTICE, text, strlen(text));
    refused(message);
}

void refused_set(const char *set, const char *message)
{
    char line[4096];
    aw_config *config = NULL;
    write_good();
    aw_status status = read_run(&set, 1, &config);
    snprintf(line, sizeof line, "arcwake: error: %s", message);
    assert_message(line);
    assert_int_equal(aw_status_exit(status), 2);
    assert_null(config);
}

aw_config *read_text(const char *text)
{
    aw_config *config = NULL;
    write_good();
    file_write(RUN, text, strlen(text));
    const aw_status status = read_run(NULL, 0, &config);
    if (status) print_error("%s", messages());
    assert_ok(status);
    return config;
}

aw_config *read_silently(const char *text)
{
    aw_config *config = read_text(text);
    assert_string_equal(messages(), "");
    return config;
}
