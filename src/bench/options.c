/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of `arcwake bench`. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/command.h"
#include "src/base/log.h"
#include "src/bench/bench.h"

enum {
    FORECAST = 256,
    NEIGHBOURS,
    CLASSES,
    CONVERSION,
    MERGE,
    LEAST,
    BUDGET,
    HOLD,
    BEAM,
    ACROSS,
    SLOW,
    SETS,
    FORM_FACTOR,
    MEMORY
};

static const struct option known[] = {
    {"grid", 1, NULL, 'g'},
    {"particles", 1, NULL, 'n'},
    {"solver", 1, NULL, 's'},
    {"device", 1, NULL, 'd'},
    {"slow", 1, NULL, SLOW},
    {"sets", 0, NULL, SETS},
    {"json", 1, NULL, 'j'},
    {"verify", 0, NULL, 'v'},
    {"tolerance", 1, NULL, 't'},
    {"sampling", 1, NULL, 'm'},
    {"beam", 1, NULL, BEAM},
    {"threads", 1, NULL, 'T'},
    {"skip", 1, NULL, 'S'},
    {"repeat", 1, NULL, 'r'},
    {"tables", 0, NULL, 'b'},
    {"kernel", 0, NULL, 'k'},
    {"patterns", 1, NULL, 'p'},
    {"step", 0, NULL, 'e'},
    {"hold", 0, NULL, HOLD},
    {"cuhre", 2, NULL, 'c'},
    {"forecast", 1, NULL, FORECAST},
    {"neighbours", 1, NULL, NEIGHBOURS},
    {"classes", 1, NULL, CLASSES},
    {"conversion", 1, NULL, CONVERSION},
    {"merge", 1, NULL, MERGE},
    {"least", 1, NULL, LEAST},
    {"budget", 1, NULL, BUDGET},
    {"form-factor", 2, NULL, FORM_FACTOR},
    {"memory", 1, NULL, MEMORY},
    {"across", 1, NULL, ACROSS},
    {NULL, 0, NULL, 0},
};

static aw_status too_many(const char *option)
{
    return aw_error(AW_ERR_ARG, "%s: more than %d entries (measure them in several runs)", option,
                    (int)AW_BENCH_LIST);
}

/* Whole numbers separated by commas, at most AW_BENCH_LIST of them. */
static aw_status number_list(const char *option, const char *text, long min, long max, long *out,
                             int *count)
{
    char copy[256], *rest = copy, *word;
    aw_status status = AW_OK;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return aw_error(AW_ERR_ARG, "%s: the list is too long", option);
    *count = 0;
    while (status == AW_OK && (word = strtok_r(rest, ",", &rest)))
        status = *count < AW_BENCH_LIST ? aw_option_number(option, word, min, max, &out[(*count)++])
                                        : too_many(option);
    if (status == AW_OK && *count == 0)
        return aw_error(AW_ERR_ARG, "%s: no number in '%s'", option, text);
    return status;
}

static aw_status name_list(aw_bench *b, const char *text)
{
    char copy[256], *rest = copy, *word;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return aw_error(AW_ERR_ARG, "--solver: the list is too long");
    b->solvers = 0;
    while ((word = strtok_r(rest, ",", &rest))) {
        if (b->solvers == AW_BENCH_LIST) return too_many("--solver");
        snprintf(b->solver[b->solvers++], AW_NAME_MAX, "%s", word);
    }
    return b->solvers ? AW_OK : aw_error(AW_ERR_ARG, "--solver: no name in '%s'", text);
}

/* A whole number that fits an int. */
static aw_status small(const char *option, const char *value, long min, long max, int *out)
{
    long number = 0;
    aw_status status = aw_option_number(option, value, min, max, &number);
    if (status == AW_OK) *out = (int)number;
    return status;
}

/* A number above 0 and up to `max`. */
static aw_status positive(const char *option, const char *value, double max, double *out)
{
    char *end = NULL;
    *out = strtod(value, &end);
    if (end != value && !*end && *out > 0.0 && *out <= max) return AW_OK;
    return aw_error(AW_ERR_ARG, "%s: '%s' is not a number above 0 and up to %g", option, value,
                    max);
}

/* The position of a word in a list that ends with NULL. */
static aw_status choice(const char *option, const char *value, const char *const *word, int *out)
{
    char all[128] = "";
    for (int i = 0; word[i]; ++i) {
        if (strcmp(value, word[i]) == 0) {
            *out = i;
            return AW_OK;
        }
        const size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i == 0 ? "" : (word[i + 1] ? ", " : " or "),
                 word[i]);
    }
    return aw_error(AW_ERR_ARG, "%s: '%s' is not %s", option, value, all);
}

/* Options of `heuristic` and `predictive`. */
static aw_status apply_forecast(aw_forecast *f, int option, const char *value)
{
    static const char *const sources[] = {"learned", "off", "random", NULL};
    static const char *const conversions[] = {"even", "uniform", "adaptive", NULL};
    static const char *const merges[] = {"most", "mean", NULL};
    aw_status status = AW_OK;
    int index = 0;
    switch (option) {
    case FORECAST:
        status = choice("--forecast", value, sources, &index);
        f->source = (aw_forecast_source)index;
        return status;
    case NEIGHBOURS: return small("--neighbours", value, 1, 64, &f->neighbours);
    case CLASSES: return small("--classes", value, 0, 1000000, &f->classes);
    case CONVERSION:
        status = choice("--conversion", value, conversions, &index);
        return status == AW_OK && aw_conversion_find(value, &f->conversion) ? AW_OK : AW_ERR_ARG;
    case MERGE:
        status = choice("--merge", value, merges, &index);
        f->merge = (aw_merge)index;
        return status;
    case LEAST: return positive("--least", value, 64.0, &f->least);
    case BUDGET: return positive("--budget", value, 1e6, &f->budget);
    default: return AW_ERR_ARG;
    }
}

static aw_status apply(aw_bench *b, int option, const char *value)
{
    static const char *const samplings[] = {"quiet", "random", NULL};
    switch (option) {
    case 'g': return number_list("--grid", value, 8, 4096, b->grid, &b->grids);
    case ACROSS: return small("--across", value, 8, 4096, &b->across);
    case 'n': return number_list("--particles", value, 1, 1000000000, b->particles, &b->counts);
    case 's': return name_list(b, value);
    case 'd': b->device = value; return AW_OK;
    case SLOW: b->slow = value; return AW_OK;
    case SETS: b->sets = 1; return AW_OK;
    case 'j': b->json = value; return AW_OK;
    case 'p': b->patterns = value; return AW_OK;
    case 'v': b->verify = 1; return AW_OK;
    case 'b': b->tables = 1; return AW_OK;
    case 'k': b->kernel = 1; return AW_OK;
    case 'e': b->step = 1; return AW_OK;
    case BEAM: return choice("--beam", value, aw_bench_beam_name, &b->beam);
    case HOLD: b->hold = 1; return AW_OK;
    case 'c':
        b->cuhre = 24;
        return value ? aw_option_number("--cuhre", value, 1, 1000000, &b->cuhre) : AW_OK;
    case FORM_FACTOR:
        b->form_factor = 100000;
        return value ? aw_option_number("--form-factor", value, 1, 2000000000, &b->form_factor)
                     : AW_OK;
    case MEMORY: return aw_option_number("--memory", value, 8, 1048576, &b->memory);
    case 't': return positive("--tolerance", value, 1.0, &b->tolerance);
    case 'm': return choice("--sampling", value, samplings, &b->random);
    case 'T': return aw_option_threads(value, &b->threads);
    case 'S': return small("--skip", value, 0, AW_BENCH_SOLVES, &b->skip);
    case 'r': return small("--repeat", value, 1, AW_BENCH_SOLVES, &b->repeat);
    default: return apply_forecast(&b->forecast, option, value);
    }
}

/* The default of a list that was not given; second = 0: it has one element. */
static void fill_list(long *list, int *n, long first, long second)
{
    if (*n > 0) return;
    list[(*n)++] = first;
    if (second > 0) list[(*n)++] = second;
}

/* The strategies that are measured unless some are given: the default of runs and, of those that
 * evaluate every node for every point, the plain one. The tables count evaluations, and compare the
 * strategies that do nothing else; the patterns are those of such a strategy, too. */
static void fill_solvers(aw_bench *b)
{
    static const char *const plain[] = {AW_DEFAULT_SOLVER, "two-phase", NULL}, *const counted[] = {
                                                                                   "two-phase",
                                                                                   "heuristic",
                                                                                   "predictive",
                                                                                   NULL};
    const char *const *name = b->tables || b->patterns ? counted : plain;
    const int most = b->step || b->patterns ? 1 : AW_BENCH_LIST;
    for (; name[b->solvers] && b->solvers < most; b->solvers++)
        snprintf(b->solver[b->solvers], AW_NAME_MAX, "%s", name[b->solvers]);
}

static void fill_defaults(aw_bench *b)
{
    const int tables = b->tables;
    fill_list(b->grid, &b->grids, b->step ? 128 : 64, b->step ? 0 : 128);
    fill_list(b->particles, &b->counts, b->step || b->form_factor ? 1000000 : 100000,
              tables ? 1000000 : 0);
    if (b->solvers == 0) fill_solvers(b);
    if (b->random < 0) b->random = tables;
    if (b->skip < 0) b->skip = tables ? 5 : 0;
    if (b->repeat < 0) b->repeat = tables ? 10 : (b->hold ? 60 : 3);
}

aw_status aw_bench_options(int argc, char **argv, aw_bench *b)
{
    int option;
    *b = (aw_bench){.device = "auto",
                    .tolerance = 1e-6,
                    .random = -1,
                    .skip = -1,
                    .repeat = -1,
                    .forecast = aw_forecast_default()};
    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1) {
        if (option == ':' || option == '?')
            return aw_error(AW_ERR_ARG,
                            "bench: option %s is not known or lacks its value (see: "
                            "arcwake help bench)",
                            argv[optind - 1]);
        aw_status status = apply(b, option, optarg);
        if (status != AW_OK) return status;
    }
    if (optind < argc)
        return aw_error(AW_ERR_ARG, "bench: '%s' is not an option (see: arcwake help bench)",
                        argv[optind]);
    if (b->tables + b->kernel + b->step + (b->patterns != NULL) + (b->cuhre > 0) +
            (b->form_factor > 0) >
        1)
        return aw_error(AW_ERR_ARG, "bench: --tables, --kernel, --patterns, --step, --cuhre and "
                                    "--form-factor are separate measurements (give one of them)");
    if ((b->slow || b->sets) && !strchr(b->device, ','))
        return aw_error(AW_ERR_ARG, "--slow and --sets need several devices (give --device a list, "
                                    "such as cpu:0,cpu:1)");
    if (b->memory && !b->form_factor)
        return aw_error(AW_ERR_ARG, "bench: --memory belongs to --form-factor");
    if (b->hold && !b->step) return aw_error(AW_ERR_ARG, "bench: --hold belongs to --step");
    fill_defaults(b);
    if (b->skip + b->repeat > AW_BENCH_SOLVES)
        return aw_error(AW_ERR_ARG,
                        "--skip and --repeat: %d solves (at most %d in all, then the bunch leaves "
                        "the bend)",
                        b->skip + b->repeat, (int)AW_BENCH_SOLVES);
    return AW_OK;
}
