/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake validate`: runs the cases, collects and prints their checks. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/command.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/io/json.h"
#include "src/tuning/file.h"
#include "src/validate/cases.h"

enum { DIGITS = 17 }; /* of numbers in the JSON file: every bit is kept */

/* -------------------------------------------------------------------------------------- checks */

/* An error or a tolerance in the table: a plain 0 if it is exact. */
static const char *short_number(double value, char text[16])
{
    if (value == 0.0)
        snprintf(text, 16, "0");
    else
        snprintf(text, 16, "%.2e", value);
    return text;
}

static void print_check(const aw_check *check)
{
    char error[16], tolerance[16];
    if (isnan(check->tolerance))
        aw_info("  %-58s %12.5g %12.5g  %9s %9s  %s", check->quantity, check->ours,
                check->reference, "", "", check->pass ? "known value beside it" : "FAIL");
    else
        aw_info("  %-58s %12.5g %12.5g  %9s %9s  %s", check->quantity, check->ours,
                check->reference, short_number(check->error, error),
                short_number(check->tolerance, tolerance), check->pass ? "pass" : "FAIL");
}

/* Append a check, to which name, quantity and time are added here, and print it. */
static aw_status record(aw_validation *validation, const char *quantity, aw_check check)
{
    aw_status status = AW_OK;
    const double now = aw_now();
    AW_TRY(aw_grow((void **)&validation->check, &validation->capacity, validation->n + 1,
                   sizeof *validation->check));
    check.name = validation->name;
    check.seconds = now - validation->mark;
    snprintf(check.quantity, sizeof check.quantity, "%s", quantity);
    validation->check[validation->n++] = check;
    validation->mark = now;
    print_check(&check);
done:
    return status;
}

aw_status aw_check_add(aw_validation *validation, const char *quantity, double ours,
                       double reference, double scale, double tolerance)
{
    const double error = fabs(ours - reference) / scale;
    return record(validation, quantity,
                  (aw_check){.ours = ours,
                             .reference = reference,
                             .error = error,
                             .tolerance = tolerance,
                             .pass = error <= tolerance});
}

aw_status aw_check_note(aw_validation *validation, const char *quantity, double ours,
                        double reference)
{
    return record(validation, quantity,
                  (aw_check){.ours = ours,
                             .reference = reference,
                             .error = fabs(ours - reference) / fabs(reference),
                             .tolerance = NAN,
                             .pass = isfinite(ours)});
}

aw_status aw_check_worst(aw_validation *validation, const char *quantity, aw_pairs pairs,
                         double scale, double tolerance)
{
    const double *ours = pairs.ours, *reference = pairs.reference;
    size_t worst = 0;
    for (size_t i = 0; i < pairs.n; ++i) {
        double error = fabs(ours[i] - reference[i]);
        if (isnan(error))
            return aw_check_add(validation, quantity, ours[i], reference[i], 1.0, 0.0);
        if (error > fabs(ours[worst] - reference[worst])) worst = i;
    }
    return aw_check_add(validation, quantity, ours[worst], reference[worst], scale, tolerance);
}

/* ---------------------------------------------------------------------------------------- JSON */

static aw_status write_json(const aw_validation *validation, const char *path)
{
    aw_json json = {.depth = 0};
    aw_json_begin_array(&json, NULL);
    for (size_t i = 0; i < validation->n; ++i) {
        const aw_check *check = &validation->check[i];
        aw_json_begin_object(&json, NULL);
        aw_json_string(&json, "case", check->name);
        aw_json_string(&json, "quantity", check->quantity);
        aw_json_number(&json, "ours", check->ours, DIGITS);
        aw_json_number(&json, "reference", check->reference, DIGITS);
        aw_json_number(&json, "error", check->error, DIGITS);
        aw_json_number(&json, "tolerance", check->tolerance, DIGITS);
        aw_json_boolean(&json, "pass", check->pass);
        aw_json_number(&json, "seconds", check->seconds, DIGITS);
        aw_json_end_object(&json);
    }
    aw_json_end_array(&json);
    aw_status status = aw_json_save(&json, path);
    aw_json_free(&json);
    return status;
}

/* ------------------------------------------------------------------------------------- command */

/* Options of the command; texts are borrowed from argv. */
typedef struct request {
    const char *json, *directory, *solver;
    int list, full, threads;
    char **name; /* [names]: of the cases to run; none: all, or all but the long ones */
    int names;
} request;

static aw_status unknown_case(const char *name)
{
    char known[512];
    size_t n = 0;
    known[0] = '\0';
    for (int i = 0; aw_case_list(i) && n < sizeof known; ++i)
        n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "",
                              aw_case_list(i)->name);
    return aw_error(AW_ERR_ARG, "validate: case '%s' is not known (expected %s)", name, known);
}

static aw_status check_name(const char *name)
{
    for (int i = 0; aw_case_list(i); ++i)
        if (strcmp(aw_case_list(i)->name, name) == 0) return AW_OK;
    return unknown_case(name);
}

static int is_chosen(const request *r, const aw_case *one)
{
    if (r->names == 0) return r->full || !one->full;
    for (int i = 0; i < r->names; ++i)
        if (strcmp(one->name, r->name[i]) == 0) return 1;
    return 0;
}

static aw_status choose_solver(request *r, const char *name)
{
    for (int i = 0; aw_solver_list(i); ++i)
        if (strcmp(aw_solver_list(i), name) == 0) {
            r->solver = name;
            return AW_OK;
        }
    return aw_error(AW_ERR_ARG, "validate: solver '%s' is not known (see: arcwake help run)", name);
}

static aw_status read_request(int argc, char **argv, request *r)
{
    static const struct option known[] = {{"list", no_argument, NULL, 'l'},
                                          {"full", no_argument, NULL, 'f'},
                                          {"json", required_argument, NULL, 'j'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"solver", required_argument, NULL, 's'},
                                          {"output", required_argument, NULL, 'o'},
                                          {NULL, 0, NULL, 0}};
    aw_status status = AW_OK;
    int option;
    memset(r, 0, sizeof *r);
    optind = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:", known, NULL)) != -1) switch (option) {
        case 'l': r->list = 1; break;
        case 'f': r->full = 1; break;
        case 'j': r->json = optarg; break;
        case 'o': r->directory = optarg; break;
        case 's': AW_TRY(choose_solver(r, optarg)); break;
        case 't': AW_TRY(aw_option_threads(optarg, &r->threads)); break;
        case ':': return aw_error(AW_ERR_ARG, "validate: %s needs a value", argv[optind - 1]);
        default:
            return aw_error(AW_ERR_ARG,
                            "validate: option %s is not known (see: arcwake help validate)",
                            argv[optind - 1]);
        }
    r->name = argv + optind;
    r->names = argc - optind;
    for (int i = 0; i < r->names; ++i) AW_TRY(check_name(r->name[i]));
done:
    return status;
}

static void list_cases(void)
{
    for (int i = 0; aw_case_list(i); ++i) {
        const aw_case *one = aw_case_list(i);
        aw_info("%-16s %5d s %s  %s", one->name, one->seconds, one->full ? "full" : "    ",
                one->claim);
    }
}

/* Run one case. An error ends this case only, and counts as a failed check. */
static aw_status run_case(aw_validation *validation, const aw_case *one)
{
    validation->name = one->name;
    validation->mark = aw_now();
    aw_info("%s: %s (about %d s)", one->name, one->claim, one->seconds);
    aw_status status = one->run(validation);
    if (status == AW_OK || status == AW_ERR_NOMEM || status == AW_ERR_IO) return status;
    return aw_check_add(validation, aw_status_text(status), NAN, 0.0, 1.0, 0.0);
}

static aw_status run_cases(aw_validation *validation, const request *r)
{
    aw_status status = AW_OK;
    size_t failed = 0;
    double begin = aw_now();
    aw_info("  %-58s %12s %12s  %9s %9s", "", "ours", "reference", "error", "tolerance");
    for (int i = 0; aw_case_list(i); ++i)
        if (is_chosen(r, aw_case_list(i))) AW_TRY(run_case(validation, aw_case_list(i)));
    for (size_t i = 0; i < validation->n; ++i) failed += !validation->check[i].pass;
    aw_info("%zu of %zu checks passed in %.0f s", validation->n - failed, validation->n,
            aw_now() - begin);
    if (r->json) AW_TRY(write_json(validation, r->json));
    if (failed)
        status = aw_error(AW_ERR_CHECK, "validate: %zu of %zu checks failed (marked FAIL above)",
                          failed, validation->n);
done:
    return status;
}

static aw_status run_command(int argc, char **argv)
{
    aw_status status = AW_OK;
    aw_validation validation = {0};
    request r;
    AW_TRY(read_request(argc, argv, &r));
    if (r.list) {
        list_cases();
        return AW_OK;
    }
    if (r.directory && mkdir(r.directory, 0777) != 0 && errno != EEXIST)
        return aw_error(AW_ERR_IO, "%s: cannot be created: %s", r.directory, strerror(errno));
    validation.directory = r.directory;
    validation.threads = r.threads;
    validation.solver = r.solver;
    aw_tuning_load(&validation.tuning);
    AW_TRY(run_cases(&validation, &r));
done:
    aw_free(validation.check);
    return status;
}

static const char help[] =
    "arcwake validate [CASE]... [--list] [--full] [--json FILE] [--threads N] [-o DIR]\n"
    "              [--solver S]\n"
    "Runs the named cases (none named: all quick ones; --full: all), prints each value beside its\n"
    "reference, and ends with exit status 5 if a check failed.\n"
    "  --list        the cases: run time, claim\n"
    "  --full        the long cases, too\n"
    "  --json FILE   write the checks into FILE\n"
    "  -o DIR, --output DIR  write tables and pictures into DIR\n"
    "  --threads N   threads of the CPU device and of everything else\n"
    "  --solver S    strategy (default projection) of the cases that do not compare strategies\n";

const aw_command aw_validate_command = {
    .name = "validate",
    .usage = "validate [CASE]...",
    .summary = "compare with closed forms and known results",
    .help = help,
    .run = run_command,
};
