/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/certify/certify.h"

#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/log.h"
#include "src/base/timer.h"
#include "src/certify/certificate.h"
#include "src/certify/process.h"
#include "src/input/resolved.h"
#include "src/io/lock.h"
#include "src/output/report.h"
#include "src/plan/choose.h"

/* Of a case without `accuracy`: that of the key's example. */
#define DEFAULT_ACCURACY 0.01

static const char *const certificate[] = {"certificate.json", "certificate.csv"};

static int exists(const char *directory, const char *name)
{
    char path[AW_PATH_MAX_LEN + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

/* May the run of the case replace what is in DIR? What `certify` itself has made, or the same input
 * not run to its end. */
static int may_replace(const aw_certify_params *p, const aw_neighbours *list)
{
    char path[AW_PATH_MAX_LEN + 64];
    if (p->force || exists(p->input.directory, certificate[0])) return 1;
    for (size_t i = 1; i < list->n; ++i)
        if (exists(list->run[i].directory, "resolved.yaml")) return 1;
    snprintf(path, sizeof path, "%s/resolved.yaml", p->input.directory);
    return aw_resolved_matches(path, list->run[0].text);
}

static aw_status status_of(int exit)
{
    if (exit == aw_status_exit(AW_ERR_INPUT)) return AW_ERR_INPUT;
    if (exit == aw_status_exit(AW_ERR_MAXEVAL)) return AW_ERR_MAXEVAL;
    return AW_ERR_IO;
}

/* The status of the first run that failed. */
static aw_status first_failure(const aw_neighbours *list)
{
    for (size_t i = 0; i < list->n; ++i)
        if (list->run[i].failed) return status_of(list->run[i].failed);
    return AW_OK;
}

static void print_ended(const aw_neighbour *run, double seconds)
{
    if (run->name[0]) aw_info("  %-11s %8.1f s", run->name, seconds);
}

static aw_status run_case(const aw_certify_params *p, aw_neighbours *list)
{
    aw_status status = AW_OK;
    const aw_process_params process = {.input = &p->input,
                                       .threads = p->input.threads,
                                       .jobs = 1,
                                       .force = may_replace(p, list),
                                       .quiet = p->quiet,
                                       .stopped = p->stopped};
    if (list->run[0].done) {
        aw_info("the case itself: kept from %s", p->input.directory);
        return AW_OK;
    }
    AW_TRY(aw_process_runs(&process, list, 0, 1));
    status = first_failure(list);
done:
    return status;
}

/* Time left for neighbours that begin now [s]. */
static double time_left(const aw_certify_params *p, double begin)
{
    return p->max_time > 0.0 ? p->max_time - (aw_now() - begin) : INFINITY;
}

/* Estimate what the neighbours will take, and refuse what takes too long. */
static aw_status estimate_time(const aw_certify_params *p, aw_neighbours *list, double begin)
{
    const double own = aw_neighbours_cost(list);
    double sum = 0.0;
    int n = 0;
    for (size_t i = 1; i < list->n; ++i) {
        if (list->run[i].done) continue;
        sum += list->run[i].cost * own;
        n++;
    }
    if (n == 0) return AW_OK;
    aw_info("the case took %.3g s; its neighbours: %zu kept, %d to run, about %.3g s", own,
            list->n - 1 - (size_t)n, n, sum);
    const double left = time_left(p, begin);
    if (sum <= left) return AW_OK;
    return aw_error(AW_ERR_INTERRUPTED,
                    "--max-time: %d neighbours take about %.3g s, and %.3g s of %.3g are left (the "
                    "case is kept: the same command with --max-time %.0f, or without, goes on)",
                    n, sum, fmax(left, 0.0), p->max_time, ceil(1.2 * sum + 1.0));
}

/* A certificate of other runs is none of those that are about to be made. */
static void remove_certificate(const aw_certify_params *p, const aw_neighbours *list)
{
    char path[AW_PATH_MAX_LEN + 64];
    size_t done = 0;
    for (size_t i = 0; i < list->n; ++i) done += list->run[i].done != 0;
    for (int i = 0; i < 2 && done < list->n; ++i) {
        snprintf(path, sizeof path, "%s/%s", p->input.directory, certificate[i]);
        unlink(path);
    }
}

/* Run those of the list from `first` on that are not done. */
static aw_status run_neighbours(const aw_certify_params *p, aw_neighbours *list, size_t first)
{
    const int all = p->input.threads > 0 ? p->input.threads : omp_get_max_threads();
    const aw_process_params process = {
        .input = &p->input,
        .threads = p->jobs > 1 ? (all / p->jobs > 1 ? all / p->jobs : 1) : p->input.threads,
        .jobs = p->jobs,
        .stopped = p->stopped,
        .ended = print_ended};
    return aw_process_runs(&process, list, first, list->n);
}

/* Append the finer run of a source, where there is one and the time for it. */
static aw_status add_finer(const aw_certify_params *p, const aw_config *config, aw_source source,
                           double begin, aw_neighbours *list)
{
    const size_t n = list->n;
    const aw_status status = aw_neighbours_add_finer(&p->input, config, source, list);
    /* what a finer run does not allow (memory) is printed, and leaves the certificate without it */
    if (status != AW_OK) return status == AW_ERR_NOMEM ? status : AW_OK;
    if (list->n == n || list->run[n].done) return AW_OK;
    const double own = aw_neighbours_cost(list), cost = list->run[n].cost * own;
    const int is_late = !(cost <= time_left(p, begin));
    aw_info("the bar of the %s takes more than half of the accuracy: %s, about %.3g s%s",
            aw_source_name(source), list->run[n].name, cost,
            is_late ? ", is left out for --max-time" : "");
    if (is_late) aw_neighbours_drop_last(list);
    return AW_OK;
}

/* Where grid or steps alone take a large part of the accuracy, a finer run narrows their bars. */
static aw_status refine(const aw_certify_params *p, const aw_config *config, double begin,
                        aw_neighbours *list)
{
    const double accuracy = config->accuracy > 0.0 ? config->accuracy : DEFAULT_ACCURACY;
    const size_t n = list->n;
    aw_status status = AW_OK;
    aw_certificate c = {.n = 0};
    AW_TRY(aw_certificate_make(list, config, NULL, &c));
    for (int s = AW_SOURCE_GRID; s <= AW_SOURCE_STEP; ++s)
        if (aw_certificate_is_wide(&c, (aw_source)s, accuracy))
            AW_TRY(add_finer(p, config, (aw_source)s, begin, list));
    AW_TRY(run_neighbours(p, list, n));
done:
    aw_certificate_free(&c);
    return status;
}

/* Compare the runs that are done, with those of `minus` or NULL; write and print what comes out. */
static aw_status write_one(const aw_certify_params *p, const aw_neighbours *list,
                           const aw_config *config, const char *minus, const char *name)
{
    aw_status status = AW_OK;
    aw_certificate c = {.n = 0};
    AW_TRY(aw_certificate_make(list, config, minus, &c));
    AW_TRY(aw_certificate_save(&c, p->input.directory, name));
    if (minus) aw_info("the results less those of %s:", minus);
    aw_certificate_print(&c);
    aw_info("%s/%s.json, %s.csv", p->input.directory, name, name);
done:
    aw_certificate_free(&c);
    return status;
}

static aw_status write_certificate(const aw_certify_params *p, const aw_neighbours *list,
                                   const aw_config *config)
{
    aw_status status = AW_OK;
    AW_TRY(write_one(p, list, config, NULL, "certificate"));
    if (p->minus) AW_TRY(write_one(p, list, config, p->minus, "difference"));
    if (!p->quiet && aw_report_try(p->input.directory))
        aw_info("report, with the bars: %s/report.html", p->input.directory);
done:
    return status;
}

static aw_status work(const aw_certify_params *p, aw_neighbours *list, const aw_config *config)
{
    const double begin = aw_now();
    aw_status status = AW_OK;
    aw_lock lock = {.fd = -1};
    int fd = -1;
    AW_TRY(run_case(p, list));
    fd = open(p->input.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) AW_TRY(aw_error(AW_ERR_IO, "%s: cannot be read", p->input.directory));
    AW_TRY(aw_lock_take(fd, p->input.directory, &lock));
    AW_TRY(estimate_time(p, list, begin));
    remove_certificate(p, list);
    AW_TRY(run_neighbours(p, list, 1));
    if (first_failure(list) == AW_OK) AW_TRY(refine(p, config, begin, list));
    AW_TRY(write_certificate(p, list, config));
    status = first_failure(list);
done:
    if (lock.fd >= 0) aw_lock_release(&lock);
    if (fd >= 0) close(fd);
    return status;
}

aw_status aw_certify(const aw_certify_params *p)
{
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_neighbours list = {.n = 0};
    AW_TRY(aw_config_read(p->input.path, p->input.set, p->input.n_set, &config));
    AW_TRY(aw_choose_apply(config));
    config->steps = p->input.steps;
    config->solve_every = p->input.solve_every;
    AW_TRY(aw_neighbours_make(&p->input, config, &list));
    aw_neighbours_look(&list);
    status = work(p, &list, config);
done:
    aw_neighbours_free(&list);
    aw_config_free(config);
    return status;
}
