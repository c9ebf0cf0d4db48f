/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/command.h"
#include "src/base/log.h"
#include "src/plan/choose.h"
#include "src/yaml/quote.h"

enum {
    O_FORCE = 256,
    O_SOLVER,
    O_DEVICE,
    O_THREADS,
    O_STEPS,
    O_SOLVE,
    O_RESTART,
    O_SET,
    O_QUIET,
    O_JOBS,
    O_MAX_TIME,
    O_MINUS,
    O_NO_TIMING,
    O_STOP_AFTER,
    O_FREQUENCIES,
    O_THETA,
    O_PSI,
    O_APERTURE,
    O_BAND
};

static const struct option known[] = {{"output", required_argument, NULL, 'o'},
                                      {"force", no_argument, NULL, O_FORCE},
                                      {"solver", required_argument, NULL, O_SOLVER},
                                      {"device", required_argument, NULL, O_DEVICE},
                                      {"threads", required_argument, NULL, O_THREADS},
                                      {"steps", required_argument, NULL, O_STEPS},
                                      {"solve-every", required_argument, NULL, O_SOLVE},
                                      {"restart", optional_argument, NULL, O_RESTART},
                                      {"set", required_argument, NULL, O_SET},
                                      {"quiet", no_argument, NULL, O_QUIET},
                                      {"jobs", required_argument, NULL, O_JOBS},
                                      {"max-time", required_argument, NULL, O_MAX_TIME},
                                      {"minus", required_argument, NULL, O_MINUS},
                                      {"no-timing", no_argument, NULL, O_NO_TIMING},
                                      {"stop-after", required_argument, NULL, O_STOP_AFTER},
                                      {"frequencies", required_argument, NULL, O_FREQUENCIES},
                                      {"theta", required_argument, NULL, O_THETA},
                                      {"psi", required_argument, NULL, O_PSI},
                                      {"aperture", required_argument, NULL, O_APERTURE},
                                      {"band", required_argument, NULL, O_BAND},
                                      {NULL, 0, NULL, 0}};

static aw_status add_set(aw_options *o, const char *text)
{
    if (o->n_set == AW_SET_MAX)
        return aw_error(AW_ERR_ARG, "--set: more than %d settings (put them into the input file)",
                        (int)AW_SET_MAX);
    o->set[o->n_set++] = text;
    return AW_OK;
}

/* Append key="value" to o->text, with whatever the value contains. @return its size with the 0 */
static size_t append_key(aw_options *o, const char *key, const char *value)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return 0;
    fprintf(out, "%s=", key);
    aw_yaml_quote(out, value);
    const int failed = ferror(out);
    if (fclose(out) != 0 || failed || ++size > sizeof o->text - o->n_text) size = 0;
    if (size > 0) memcpy(o->text + o->n_text, text, size);
    free(text);
    return size;
}

/* An option that stands for a key of the input. */
static aw_status add_key(aw_options *o, const char *key, const char *value)
{
    const char *text = o->text + o->n_text;
    const size_t size = append_key(o, key, value);
    if (size == 0) return aw_error(AW_ERR_ARG, "%s: the value is too long", key);
    o->n_text += size;
    return add_set(o, text);
}

/* Refuse what only another command has. */
static aw_status check_command(const char *command, int option)
{
    static const struct {
        int option;
        const char *name, *commands;
    } own[] = {{O_JOBS, "jobs", "certify"},
               {O_MAX_TIME, "max-time", "certify run"},
               {O_MINUS, "minus", "certify"},
               {O_NO_TIMING, "no-timing", "inspect"},
               {O_STOP_AFTER, "stop-after", "run"},
               {O_RESTART, "restart", "run"},
               {O_FREQUENCIES, "frequencies", "spectrum"},
               {O_THETA, "theta", "spectrum"},
               {O_PSI, "psi", "spectrum"},
               {O_APERTURE, "aperture", "spectrum"},
               {O_BAND, "band", "spectrum"},
               {O_FORCE, "force", "run inspect certify"},
               {O_SOLVE, "solve-every", "run inspect certify"}};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; ++i)
        if (own[i].option == option && !strstr(own[i].commands, command))
            return aw_error(AW_ERR_ARG, "%s: option --%s is not known (see: arcwake help %s)",
                            command, own[i].name, command);
    return AW_OK;
}

static aw_status apply(aw_options *o, int option, const char *value)
{
    switch (option) {
    case 'o': return add_key(o, "output.directory", value);
    case O_SOLVER: return add_key(o, "numerics.solver", value);
    case O_DEVICE: return add_key(o, "device", value);
    case O_SET: return add_set(o, value);
    case O_FORCE: o->force = 1; return AW_OK;
    case O_NO_TIMING: o->no_timing = 1; return AW_OK;
    case O_QUIET: o->quiet = 1; return AW_OK;
    case O_THREADS: return aw_option_threads(value, &o->threads);
    case O_STEPS: return aw_option_number("--steps", value, 1, 1000000000, &o->steps);
    case O_SOLVE: return aw_option_number("--solve-every", value, 1, 1000000000, &o->solve_every);
    case O_JOBS: return aw_option_number("--jobs", value, 1, 64, &o->jobs);
    case O_MAX_TIME: return aw_option_duration("--max-time", value, &o->max_time);
    case O_MINUS: o->minus = value; return AW_OK;
    case O_STOP_AFTER: return aw_option_duration("--stop-after", value, &o->stop_after);
    case O_FREQUENCIES: o->frequencies = value; return AW_OK;
    case O_THETA: o->theta = value; return AW_OK;
    case O_PSI: o->psi = value; return AW_OK;
    case O_APERTURE: o->aperture = value; return AW_OK;
    case O_BAND: o->band = value; return AW_OK;
    case O_RESTART:
        o->restart = 1;
        o->restart_file = value;
        return AW_OK;
    default: return AW_ERR_ARG;
    }
}

aw_status aw_options_read(int argc, char **argv, aw_options *o)
{
    int option;
    memset(o, 0, sizeof *o);
    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:", known, NULL)) != -1) {
        if (option == ':')
            return aw_error(AW_ERR_ARG, "%s: %s needs a value", argv[0], argv[optind - 1]);
        if (option == '?')
            return aw_error(AW_ERR_ARG, "%s: option %s is not known (see: arcwake help %s)",
                            argv[0], argv[optind - 1], argv[0]);
        aw_status status = check_command(argv[0], option);
        if (status == AW_OK) status = apply(o, option, optarg);
        if (status != AW_OK) return status;
    }
    if (optind == argc)
        return aw_error(AW_ERR_ARG, "%s: no input file given (arcwake %s INPUT.yaml)", argv[0],
                        argv[0]);
    if (optind + 1 < argc)
        return aw_error(AW_ERR_ARG, "%s: expected one input file, '%s' is a second one", argv[0],
                        argv[optind + 1]);
    o->input = argv[optind];
    if (o->restart && o->force)
        return aw_error(AW_ERR_ARG,
                        "--restart goes on with the files of the directory, --force removes them "
                        "(expected one of the two)");
    return AW_OK;
}

aw_status aw_options_config(const aw_options *o, aw_config **out)
{
    aw_status status = aw_config_read(o->input, o->set, o->n_set, out);
    if (status != AW_OK) return status;
    status = aw_choose_apply(*out);
    if (status != AW_OK) {
        aw_config_free(*out);
        *out = NULL;
        return status;
    }
    if (o->solve_every > 0 && (*out)->motion == AW_MOTION_SELF_CONSISTENT) {
        aw_config_free(*out);
        *out = NULL;
        return aw_error(AW_ERR_ARG,
                        "--solve-every: self-consistent motion needs the forces at every "
                        "step (leave it out)");
    }
    (*out)->threads = o->threads;
    (*out)->steps = o->steps;
    (*out)->solve_every = (int)o->solve_every;
    return AW_OK;
}
