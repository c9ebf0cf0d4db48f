/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake tune`: search once for the block sizes that suit this machine. */
#include <getopt.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/command.h"
#include "src/base/log.h"
#include "src/io/file.h"
#include "src/tune/choice.h"
#include "src/tune/work.h"
#include "src/tuning/file.h"

enum { VALUES_MAX = 6, STAGES_MAX = 3 };

/* A parameter and the values that are tried. */
typedef struct stage {
    const char *field;
    int value[VALUES_MAX]; /* 0 ends the list */
} stage;

/* The parameters that the time of a work depends on. */
static const stage stages[AW_TUNE_WORKS][STAGES_MAX] = {
    [AW_TUNE_TWO_PHASE] = {{"sweep_group", {32, 64, 128, 256}},
                           {"sweep_pieces", {4, 8, 16, 32, 64}},
                           {"blend_points", {3, 6, 12, 24}}},
    [AW_TUNE_PREDICTIVE] = {{"cluster_tiles", {4, 8, 16, 32, 64}},
                            {"cluster_batch", {8, 16, 32, 64, 128}}},
    [AW_TUNE_FORM_FACTOR] = {{"form_sums", {8192, 16384, 32768, 65536, 131072, 262144}}}};

typedef struct tune {
    int threads, dry_run;
    const char *file;
    char path[AW_PATH_MAX_LEN]; /* of the file in which the result is stored */
    aw_tune_case *of;           /* owned */
} tune;

/* ------------------------------------------------------------------------------------- search */

/* Try the values of one parameter against its present value in `tuning`. */
static aw_status search_one(const aw_tune_case *of, aw_tune_work work, const stage *s,
                            aw_tuning *tuning)
{
    const aw_tuning_field *field = aw_tuning_find(s->field);
    const int present = aw_tuning_get(tuning, field);
    aw_tuning candidate[VALUES_MAX + 1] = {*tuning};
    aw_timings timings;
    aw_choice choice;
    aw_status status = AW_OK;
    int n = 1;
    for (int i = 0; i < VALUES_MAX && s->value[i] > 0; ++i) {
        if (s->value[i] == present) continue;
        candidate[n] = *tuning;
        aw_tuning_set(&candidate[n++], field, s->value[i]);
    }
    AW_TRY(aw_tune_time(of, work, candidate, n, &timings));
    aw_tune_choose(&timings, &choice);
    aw_info("%s: %s, best of %d, noise %.1f %%", s->field, aw_tune_work_name(work), timings.rounds,
            100.0 * choice.noise);
    for (int i = 0; i < n; ++i)
        aw_info("  %6d  %8.4f s  %6.3f%s%s", aw_tuning_get(&candidate[i], field), choice.best[i],
                choice.best[i] / choice.best[0], i == 0 ? "  present" : "",
                i == choice.chosen ? "  *" : "");
    *tuning = candidate[choice.chosen];
done:
    return status;
}

/* Time all chosen values together against the defaults, once more: the fastest of several
 * candidates is in part the luckiest. If the gain is not confirmed, the defaults stay. */
static aw_status confirm(const aw_tune_case *of, aw_tune_work work, const aw_tuning *defaults,
                         aw_tuning *tuning)
{
    const aw_tuning candidate[2] = {*defaults, *tuning};
    aw_timings timings;
    aw_choice choice;
    aw_status status = AW_OK;
    if (memcmp(defaults, tuning, sizeof *tuning) == 0) return AW_OK;
    AW_TRY(aw_tune_time(of, work, candidate, 2, &timings));
    aw_tune_choose(&timings, &choice);
    aw_info("together: %s, best of %d, noise %.1f %%: %.3f of the defaults' time%s",
            aw_tune_work_name(work), timings.rounds, 100.0 * choice.noise,
            choice.best[1] / choice.best[0], choice.chosen ? "" : "; the defaults stay");
    *tuning = candidate[choice.chosen];
done:
    return status;
}

/* One parameter after the other; no parameter belongs to two works. */
static aw_status search(const aw_tune_case *of, aw_tuning *tuning)
{
    aw_status status = AW_OK;
    AW_TRY(aw_tuning_resolve(NULL, tuning));
    for (int work = 0; work < AW_TUNE_WORKS; ++work) {
        const aw_tuning before = *tuning;
        for (int j = 0; j < STAGES_MAX && stages[work][j].field; ++j)
            AW_TRY(search_one(of, (aw_tune_work)work, &stages[work][j], tuning));
        AW_TRY(confirm(of, (aw_tune_work)work, &before, tuning));
    }
done:
    return status;
}

/* ------------------------------------------------------------------------------------- command */

static aw_status read_options(int argc, char **argv, tune *t)
{
    static const struct option known[] = {{"threads", required_argument, NULL, 't'},
                                          {"dry-run", no_argument, NULL, 'd'},
                                          {"file", required_argument, NULL, 'f'},
                                          {NULL, 0, NULL, 0}};
    aw_status status = AW_OK;
    int option;
    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1) switch (option) {
        case 't': AW_TRY(aw_option_threads(optarg, &t->threads)); break;
        case 'd': t->dry_run = 1; break;
        case 'f': t->file = optarg; break;
        case ':': return aw_error(AW_ERR_ARG, "tune: %s needs a value", argv[optind - 1]);
        default:
            return aw_error(AW_ERR_ARG, "tune: option %s is not known (see: arcwake help tune)",
                            argv[optind - 1]);
        }
    if (optind < argc)
        return aw_error(AW_ERR_ARG, "tune: '%s' is not an option (see: arcwake help tune)",
                        argv[optind]);
done:
    return status;
}

/* Choose the file and create its directory: errors are found before minutes are spent. */
static aw_status find_path(tune *t)
{
    struct stat info;
    if (t->dry_run) return AW_OK;
    if (t->file) {
        if (!t->file[0] || snprintf(t->path, sizeof t->path, "%s", t->file) >= (int)sizeof t->path)
            return aw_error(AW_ERR_ARG, "--file: no name, or one that is too long");
    } else if (!aw_tuning_path(t->path, sizeof t->path)) {
        return aw_error(AW_ERR_ARG, "tune: nowhere to store the result (HOME is not set, or "
                                    "ARCWAKE_TUNING is none; give --file FILE or --dry-run)");
    }
    if (stat(t->path, &info) == 0 && !S_ISREG(info.st_mode))
        return aw_error(AW_ERR_IO, "%s: is not a regular file that could be replaced", t->path);
    return aw_file_parents(t->path);
}

/* Store the result, and print how runs find it. */
static aw_status store(const tune *t, const aw_tuning *tuning)
{
    char usual[AW_PATH_MAX_LEN];
    aw_tuning_key key;
    aw_status status = AW_OK;
    aw_tuning_key_here(t->threads > 0 ? t->threads : omp_get_max_threads(), &key);
    AW_TRY(aw_tuning_write(t->path, &key, tuning));
    if (aw_tuning_path(usual, sizeof usual) && strcmp(usual, t->path) == 0)
        aw_info("stored in %s; runs read it from now on", t->path);
    else
        aw_info("stored in %s; runs read it with ARCWAKE_TUNING set to that path", t->path);
done:
    return status;
}

static aw_status run_command(int argc, char **argv)
{
    aw_status status = AW_OK;
    tune t = {0};
    aw_tuning tuning;
    AW_TRY(read_options(argc, argv, &t));
    AW_TRY(find_path(&t));
    AW_TRY(aw_tune_case_new(t.threads, &t.of));
    aw_info("%s; times also relative to the present value, * is chosen", aw_tune_case_text(t.of));
    AW_TRY(search(t.of, &tuning));
    for (int i = 0; aw_tuning_list(i); ++i)
        aw_info("%-13s %d%s", aw_tuning_list(i)->name, aw_tuning_get(&tuning, aw_tuning_list(i)),
                aw_tuning_get(&tuning, aw_tuning_list(i)) == aw_tuning_list(i)->initial
                    ? " (the default)"
                    : "");
    if (!t.dry_run) AW_TRY(store(&t, &tuning));
done:
    aw_tune_case_free(t.of);
    return status;
}

static const char help[] =
    "arcwake tune [--threads N] [--dry-run] [--file FILE]\n"
    "Times block sizes of the CPU device, in the LCLS bend in steady state and in a form factor\n"
    "(about three minutes; let nothing else run), and stores those that beat the defaults by more\n"
    "than the noise.\n"
    "  --threads N   threads of the CPU device (default: as many as OpenMP chooses)\n"
    "  --dry-run     store nothing\n"
    "  --file FILE   store in FILE (default: $ARCWAKE_TUNING, or ~/.cache/arcwake/tuning.yaml)\n"
    "run, spectrum, form-factor, validate and bench use the stored values; results depend on them\n"
    "by rounding only.\n"
    "A damaged file, or one of another version, CPU or SIMD variant, is ignored with a warning.\n"
    "With ARCWAKE_TUNING=none the defaults are used.\n";

const aw_command aw_tune_command = {
    .name = "tune",
    .usage = "tune",
    .summary = "find the block sizes that suit this machine, for all later runs",
    .help = help,
    .run = run_command,
};
