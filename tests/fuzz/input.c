/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a run file, a lattice, values of --set or a tuning file: for libFuzzer, and for
 * replay.c. Beyond what sanitizers see, the result must be one of the documented ones, and a
 * configuration that is accepted must survive its own text. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/log.h"
#include "src/input/config.h"
#include "src/tuning/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Number of inputs that were accepted, for replay.c. */
extern unsigned long fuzz_accepted;
unsigned long fuzz_accepted;

/* Files in memory, at numbers that paths may name: the run file says `lattice: "100"` or a wake's
 * `file: "103"`, which are beside it. */
enum { LATTICE = 100, RUN, TUNING, WAKE, FILES_END };
#define FOLDER "/proc/self/fd/"
#define RUN_PATH FOLDER "101"
#define TUNING_PATH FOLDER "102"
#define SET_MAX 8

static const char good_run[] = "lattice: \"100\"\n"
                               "beam: {charge_C: 1e-9, sigma_s_m: 5e-5, sigma_x_m: 5e-5}\n";
static const char good_lattice[] =
    "PALS:\n"
    "  facility:\n"
    "    - line:\n"
    "        kind: BeamLine\n"
    "        line:\n"
    "          - start: {kind: BeginningEle, ReferenceP: {species_ref: electron, E_tot_ref: 5e9}}\n"
    "          - bend: {kind: Bend, length: 1.0, BendP: {radius_ref: 25.0}}\n"
    "          - drift: {kind: Drift, length: 60.0}\n"
    "    - machine: {kind: Lattice, branches: [line]}\n"
    "    - use: machine\n";

static const char good_wake[] = "-1.0 0.0\n-1e-4 1e12\n0.0 1e13\n";

static void require(int condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}

static void write_file(int file, const void *bytes, size_t size)
{
    require(ftruncate(file, 0) == 0 && pwrite(file, bytes, size, 0) == (ssize_t)size,
            "a file in memory can be written");
}

static void begin(void)
{
    static int begun;
    if (begun) return;
    begun = 1;
    aw_log_mute(1);
    for (int number = LATTICE; number < FILES_END; ++number) {
        const int file = memfd_create("fuzz", 0);
        require(file >= 0 && dup2(file, number) == number, "a file in memory can be made");
        close(file);
    }
    write_file(WAKE, good_wake, sizeof good_wake - 1);
}

static void check_numbers(const aw_config *config)
{
    const aw_lattice *lattice = config->lattice;
    require(config->beam.gamma > 1.0 && isfinite(config->beam.gamma), "gamma is finite, above 1");
    require(config->beam.charge > 0.0 && isfinite(config->beam.charge), "the charge is finite");
    require(config->beam.sigma_x > 0.0 && isfinite(config->beam.sigma_x), "the width is finite");
    require(config->beam.sigma_s > 0.0 && isfinite(config->beam.sigma_s), "the length is finite");
    require(config->step_m > 0.0 || config->step_m == AW_STEP_AUTO, "the step is positive or auto");
    require(config->tolerance > 0.0, "the tolerance is positive");
    require(lattice->gamma_ref > 1.0 && isfinite(lattice->gamma_ref), "the energy is finite");
    require(lattice->length > 0.0 && isfinite(lattice->length), "the orbit's length is finite");
    for (int i = 0; i < lattice->orbit.n; ++i)
        require(isfinite(lattice->piece[i].kappa) && isfinite(lattice->piece[i].S),
                "the orbit is finite");
    for (size_t i = 0; i < config->at_n; ++i)
        require(config->at_m[i] >= 0.0 && isfinite(config->at_m[i]), "at_m is within the lattice");
}

static int same_bits(double a, double b)
{
    uint64_t one, other;
    memcpy(&one, &a, sizeof one);
    memcpy(&other, &b, sizeof other);
    return one == other;
}

static void check_same(const aw_config *a, const aw_config *b)
{
    const aw_beam_params *p = &a->beam, *q = &b->beam;
    require(same_bits(p->charge, q->charge) && same_bits(p->gamma, q->gamma) &&
                same_bits(p->sigma_s, q->sigma_s) && same_bits(p->sigma_x, q->sigma_x) &&
                same_bits(p->chirp, q->chirp) && same_bits(p->energy_spread, q->energy_spread) &&
                same_bits(p->cutoff_sigma, q->cutoff_sigma) && p->particles == q->particles &&
                p->seed == q->seed,
            "its own text is the same beam");
    require(same_bits(a->step_m, b->step_m) && same_bits(a->tolerance, b->tolerance) &&
                same_bits(a->history_MiB, b->history_MiB) &&
                same_bits(a->upstream_m, b->upstream_m) && a->at_n == b->at_n,
            "its own text is the same run");
    for (size_t i = 0; i < a->at_n; ++i)
        require(same_bits(a->at_m[i], b->at_m[i]), "its own text has the same at_m");
}

/* What the program writes as resolved.yaml is read as the same configuration. */
static void check_text(const aw_config *config)
{
    /* the path in the text is that of a file which has no name */
    static const char *const set[] = {"lattice=\"" FOLDER "100\""};
    aw_config *again = NULL;
    char *text = aw_config_text(config), *second;
    require(text != NULL, "the configuration has a text");
    write_file(RUN, text, strlen(text));
    if (aw_config_read(RUN_PATH, set, 1, &again) != AW_OK) aw_log_show_muted();
    require(again != NULL, "its own text is accepted");
    check_same(config, again);
    second = aw_config_text(again);
    require(second && strcmp(text, second) == 0, "its own text means the same");
    aw_config_free(again);
    free(second);
    free(text);
}

static void read_config(const char *const *set, size_t n)
{
    aw_config *config = NULL;
    const aw_status status = aw_config_read(RUN_PATH, set, n, &config);
    require(status == AW_OK || status == AW_ERR_INPUT, "an input is read or refused");
    require((status == AW_OK) == (config != NULL), "there is a result if and only if it was read");
    if (!config) return;
    ++fuzz_accepted;
    check_numbers(config);
    check_text(config);
    aw_config_free(config);
}

/* One value of --set in each line. */
static void read_set(const uint8_t *data, size_t size)
{
    const char *set[SET_MAX];
    size_t n = 0;
    char *text = malloc(size + 1), *rest = NULL;
    require(text != NULL, "there is memory");
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *line = strtok_r(text, "\n", &rest); line && n < SET_MAX;
         line = strtok_r(NULL, "\n", &rest))
        set[n++] = line;
    read_config(set, n);
    free(text);
}

static void read_tuning(void)
{
    const aw_tuning_key here = {.version = "0", .cpu = "any", .variant = "scalar", .threads = 1};
    aw_tuning tuning;
    const aw_status status = aw_tuning_read(TUNING_PATH, &here, &tuning);
    require(status == AW_OK || status == AW_ERR_INPUT, "a tuning file is read or ignored");
    fuzz_accepted += status == AW_OK;
    for (int i = 0; aw_tuning_list(i); ++i) {
        const aw_tuning_field *field = aw_tuning_list(i);
        const int value = aw_tuning_get(&tuning, field);
        require(status == AW_OK ? value >= field->least && value <= field->most : value == 0,
                "a parameter is within its range, or its default");
    }
}

/* The first byte chooses the reader: 0 run file, 1 lattice, 2 --set, 3 tuning file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    begin();
    if (size == 0) return 0;
    const int reader = data[0] & 3;
    ++data;
    --size;
    write_file(LATTICE, reader == 1 ? (const void *)data : good_lattice,
               reader == 1 ? size : sizeof good_lattice - 1);
    write_file(RUN, reader == 0 ? (const void *)data : good_run,
               reader == 0 ? size : sizeof good_run - 1);
    write_file(TUNING, data, size);
    if (reader == 2)
        read_set(data, size);
    else if (reader == 3)
        read_tuning();
    else
        read_config(NULL, 0);
    return 0;
}
