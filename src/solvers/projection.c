/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes in r' that all points share. Near the points, within about the size of the bunch, the
 * moments are evaluated at every point on Gauss-Legendre panels; further away they are seen only
 * through projections, which are tabulated once for a node and looked up for every point
 * (kernels/projection.h). Arcwake's own; nearest is the rotation of sums in tomography.
 *
 * Nothing of this adapts to a point, so the error is measured: at every step some points are
 * recomputed adaptively, near and far part by themselves. A part that misses its share of the
 * tolerance there is done again with a finer rule, and the finer rule is kept. If the finest does
 * not do, the step is left to `predictive`. */
#include <math.h>
#include <string.h>

#include "kernels/retarded.h"
#include "kernels/slope.h"
#include "quadrature/panels.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/solvers/internal.h"

/* Points of a sample: at the first step with a rule, and at every other. */
enum { AW_SAMPLE_FIRST = 32, AW_SAMPLE = 4 };
/* Of the tolerance, the error that a sample may show, the first and every other: points outside of
 * the sample may be a little worse. */
#define AW_SHARE_FIRST 0.4
#define AW_SHARE 0.6
/* Of the tolerance, the error of the sample's own integrals. */
#define AW_SAMPLE_SHARE 0.1
/* Below this part of the tolerance for a while a zone tries the next coarser rule. */
#define AW_CALM 0.15
enum { AW_CALM_STEPS = 16, AW_CALM_MOST = 1024 };
/* A finer rule that leaves this part of the rates' error has not found what causes it; that is
 * forgotten by and by. */
#define AW_FLOOR 0.7
#define AW_FORGET 0.98
/* Evaluations a point beyond which `predictive` is not dearer, and how many rules a zone goes back
 * to begin with after it has come in. */
#define AW_COST_MOST 50000.0
enum { AW_BACK = 3 };
/* Most steps that are left to `predictive` without trying. */
enum { AW_PAUSE_MOST = 31 };
/* Largest near zone, over the half diagonals of the bunch's box and of the grid. */
#define AW_NEAR_REACH 1.0
/* First panel, over the shorter half side of the bunch's box. */
#define AW_FIRST_PANEL 0.1
/* The bunch's size, over the same. */
#define AW_BUNCH_SIZE 0.4
/* Circles of so many cells of a coarser grid can do with it. */
#define AW_COARSE_CELLS 16.0

/** A rule, of one zone. */
typedef struct rule {
    int order, coarsest;
    double density, spacing, sweep; /* spacing: in cells */
    double tables; /* errors of all tables if they added up, in tolerances; they do not */
    int few_rates;
} rule;

/* From coarse to fine. Near: panels of an octave. Far: panels of two octaves, or less where the
 * circle sweeps through the bunch. docs/strategies.md, "Projection", has what they give. */
static const rule near_rule[] = {
    {5, 2, 0.34, HUGE_VAL, HUGE_VAL, 0.0, 1}, {5, 1, 0.34, HUGE_VAL, HUGE_VAL, 0.0, 1},
    {7, 1, 0.34, HUGE_VAL, HUGE_VAL, 0.0, 1}, {7, 0, 0.34, HUGE_VAL, HUGE_VAL, 0.0, 1},
    {7, 0, 0.34, 2.0, HUGE_VAL, 0.0, 1},      {7, 0, 0.34, 1.0, HUGE_VAL, 0.0, 1},
    {9, 0, 0.67, 0.5, HUGE_VAL, 0.0, 1},      {13, 0, 1.0, 0.5, HUGE_VAL, 0.0, 0},
    {21, 0, 1.0, 0.25, HUGE_VAL, 0.0, 0}};
static const rule far_rule[] = {
    {9, 0, 1.0, HUGE_VAL, 0.5, 3.0, 1},   {9, 0, 1.0, HUGE_VAL, 0.25, 2.0, 1},
    {9, 0, 1.0, HUGE_VAL, 0.12, 1.0, 1},  {9, 0, 1.0, HUGE_VAL, 0.06, 0.5, 1},
    {11, 0, 1.0, HUGE_VAL, 0.03, 0.5, 0}, {15, 0, 1.0, HUGE_VAL, 0.02, 0.3, 0},
    {21, 0, 1.0, HUGE_VAL, 0.01, 0.3, 0}};

/** A range of r'. */
typedef struct zone {
    const rule *rule; /* [rules] */
    int rules, level; /* which of them is used */
    int calm, wait;   /* steps that a coarser one might have done, and after how many it is tried */
    int trying;       /* 1: it is being tried */
    aw_panels panels;
    double (*sum)[AW_RESULTS]; /* [points], part of projection.sum */
    double error;              /* of potentials, the worst of the sample, in scales */
    double rate_error;         /* the same of the rates */
    double cost;               /* evaluations a point, of the last integration */
    double floor;              /* below which finer rules have not brought the rates' error */
} zone;

enum { NEAR, FAR, ZONES };

/** A point that is recomputed. */
typedef struct sample {
    size_t point;
    double I[ZONES][AW_RESULTS];
} sample;

typedef struct projection {
    zone zone[ZONES];
    double (*sum)[AW_RESULTS]; /* [ZONES + 1][points]: of the zones, and a scratch */
    size_t capacity;
    sample *sample;
    size_t sample_capacity, samples;
    uint64_t steps, sampled; /* points sampled so far */
    void *fallback;          /* memory of the strategy to which steps are left */
    int back;                /* 1: rules have gone back to coarser ones */
    int pause, left;         /* steps that are left to it at once, and how many still are */
} projection;

static void forget(void *memory)
{
    projection *p = memory;
    if (!p) return;
    aw_strategy_predictive.forget(p->fallback);
    for (int z = 0; z < ZONES; ++z) aw_panels_free(&p->zone[z].panels);
    aw_free(p->sum);
    aw_free(p->sample);
    aw_free(p);
}

static projection *remember(void)
{
    projection *p = aw_alloc(1, sizeof *p);
    if (!p) return NULL;
    p->zone[NEAR] = (zone){.rule = near_rule, .rules = sizeof near_rule / sizeof *near_rule};
    p->zone[FAR] = (zone){.rule = far_rule, .rules = sizeof far_rule / sizeof *far_rule};
    for (int z = 0; z < ZONES; ++z) p->zone[z].wait = AW_CALM_STEPS;
    return p;
}

/* Derivative of one result along a line of the grid at its node i of n, per step. */
static double slope(const double *at, size_t stride, size_t i, size_t n)
{
    int first;
    const double *weight = aw_slope_weights((int)i, (int)n, &first);
    const double *line = at - i * stride + (size_t)first * stride;
    double sum = 0.0;
    for (size_t k = 0; k < AW_SLOPE_NODES; ++k) sum += weight[k] * line[k * stride];
    return sum / AW_SLOPE_UNIT;
}

/* The far zone is summed for the velocity v0 of the grid's centre. At a point that moves with v0 +
 * dv, psi is less by dv.A and the rates along the path are more by dv.grad. */
static void give_velocities(const aw_problem *problem, double (*I)[AW_RESULTS],
                            double (*old)[AW_RESULTS])
{
    const aw_field_point *p = problem->point, *centre = &problem->centre;
    const size_t columns = problem->columns, rows = problem->points / columns;
    const size_t last = columns * (rows - 1);
    /* Steps of the grid along its rows (a) and columns (b). */
    const double na = (double)(columns - 1), nb = (double)(rows - 1);
    const double az = (p[columns - 1].z - p[0].z) / na, ax = (p[columns - 1].x - p[0].x) / na;
    const double bz = (p[last].z - p[0].z) / nb, bx = (p[last].x - p[0].x) / nb;
    const double det = az * bx - ax * bz;
    memcpy(old, I, problem->points * sizeof *I);
    for (size_t j = 0; j < rows; ++j)
        for (size_t i = 0; i < columns; ++i) {
            const size_t at = j * columns + i;
            const double dz = p[at].beta * p[at].ct - centre->beta * centre->ct;
            const double dx = p[at].beta * p[at].st - centre->beta * centre->st;
            const double da = (dz * bx - dx * bz) / det, db = (az * dx - ax * dz) / det;
            I[at][AW_PSI] -= dz * old[at][AW_AZ] + dx * old[at][AW_AX];
            for (unsigned k = 0; k < 3; ++k)
                I[at][AW_DPHI + k] += da * slope(&old[at][k], AW_RESULTS, i, columns) +
                                      db * slope(&old[at][k], AW_RESULTS * columns, j, rows);
        }
}

/* Integrate a zone with its rule, from r' = from to `to`. */
static aw_status integrate(aw_solver *solver, const aw_problem *problem, zone *z, double from,
                           double to, int far, aw_report *report)
{
    const aw_retarded now = aw_retarded_at(problem->history, 0.0);
    const rule *r = &z->rule[z->level];
    const double size = fmin(now.half_s, now.half_x);
    const aw_panels_how how = {.order = r->order,
                               .ratio = 2.0,
                               .still = far ? 4.0 : 0.0,
                               .sweep = r->sweep,
                               .first = AW_FIRST_PANEL * size,
                               .spacing = r->spacing * fmin(now.hs, now.hx),
                               .bunch = AW_BUNCH_SIZE * size,
                               .cells = AW_COARSE_CELLS * fmax(now.hs, now.hx),
                               .density = r->density,
                               .coarsest = r->coarsest,
                               .few_rates = r->few_rates};
    const aw_device_ops *ops = solver->device->ops;
    aw_status status = AW_OK;
    z->panels.n = 0;
    AW_TRY(aw_panels_add(&z->panels, problem->history, &problem->centre, from, to, &how));
    memset(z->sum, 0, problem->points * sizeof *z->sum);
    aw_shared shared = {.node = z->panels.node,
                        .nodes = z->panels.n,
                        .columns = problem->columns,
                        .common = far ? &problem->centre : NULL, /* and no tables near */
                        .table_error = r->tables * problem->tolerance / (double)z->panels.n,
                        .I = z->sum};
    const uint64_t before = report->work.evaluations;
    AW_TRY(ops->integrate(solver->device->state, &shared, &problem->scales, &report->work));
    AW_TRY(ops->wait(solver->device->state));
    z->cost = (double)(report->work.evaluations - before) / (double)problem->points;
done:
    return status;
}

/* Cut the regions of a point at the zones' border, near ones first.
 * @return how many are near; *n, the number of all, may grow by one */
static size_t cut_regions(aw_region *region, size_t *n, double border)
{
    size_t near = 0;
    while (near < *n && region[near].b <= border) ++near;
    if (near == *n || region[near].a >= border) return near;
    memmove(&region[near + 1], &region[near], (*n - near) * sizeof *region);
    region[near].b = region[near + 1].a = border;
    ++*n;
    return near + 1;
}

/* Choose points all over the grid, others at every step, and integrate there adaptively. */
static aw_status take_sample(aw_solver *solver, projection *p, const aw_problem *problem,
                             double border, size_t count, aw_report *report)
{
    const aw_device_ops *ops = solver->device->ops;
    const size_t columns = problem->columns, rows = problem->points / columns;
    const size_t most = solver->partition->n + 1;
    aw_status status = AW_OK;
    size_t n = 0;
    AW_TRY(aw_grow((void **)&p->sample, &p->sample_capacity, count, sizeof *p->sample));
    AW_TRY(
        aw_grow((void **)&solver->job, &solver->job_capacity, ZONES * count, sizeof *solver->job));
    for (size_t i = 0; i < count; ++i) {
        /* The additive sequence of the plastic number: evenly spread, however it is cut. */
        const double k = (double)(p->sampled++ % 1000000);
        const double u = 0.5 + 0.7548776662466927 * k, w = 0.5 + 0.5698402909980532 * k;
        const size_t row = (size_t)((u - floor(u)) * (double)rows);
        const size_t point = row * columns + (size_t)((w - floor(w)) * (double)columns);
        AW_TRY(aw_grow((void **)&solver->region, &solver->region_capacity, n + most,
                       sizeof *solver->region));
        aw_region *region = &solver->region[n];
        size_t regions = aw_partition_regions(solver->partition, problem->history,
                                              &problem->point[point], (uint32_t)point, region);
        const size_t near = cut_regions(region, &regions, border);
        const double tolerance = AW_SAMPLE_SHARE * problem->tolerance;
        solver->job[ZONES * i + NEAR] = (aw_job){.first = n, .count = near, .tolerance = tolerance};
        solver->job[ZONES * i + FAR] =
            (aw_job){.first = n + near, .count = regions - near, .tolerance = tolerance};
        p->sample[i].point = point;
        n += regions;
    }
    AW_TRY(ops->refine(solver->device->state, solver->region, solver->job, ZONES * count,
                       &problem->scales, &report->work));
    AW_TRY(ops->wait(solver->device->state));
    for (size_t i = 0; i < count; ++i)
        for (int z = 0; z < ZONES; ++z) {
            const aw_job *job = &solver->job[ZONES * i + (size_t)z];
            for (unsigned k = 0; k < AW_RESULTS; ++k) /* a poor reference judges nothing */
                p->sample[i].I[z][k] = job->status == AW_OK ? job->I[k] : (double)NAN;
        }
    p->samples = report->samples = count;
done:
    return status;
}

/* The worst error of a zone's results first .. last - 1 at the sampled points, in scales; NaN if
 * there is one. */
static double sampled_error(const projection *p, int which, const aw_problem *problem,
                            unsigned first, unsigned last)
{
    double worst = 0.0;
    for (size_t i = 0; i < p->samples; ++i)
        for (unsigned k = first; k < last; ++k) {
            const double off = p->zone[which].sum[p->sample[i].point][k] - p->sample[i].I[which][k];
            const double error = fabs(off) / aw_scale_of(&problem->scales, k);
            if (!(error <= worst) && !isnan(worst)) worst = error;
        }
    return worst;
}

/* Take the errors of a zone that has been integrated. Where cells are long and thin, or few
 * particles fill them, the rates differ between any two sets of nodes in angle by more than the
 * tolerance allows, the sample's and ours too, and no rule in r' can mend that: what a finer rule
 * has not lowered is let pass. */
static void judge(const projection *p, zone *z, int which, const aw_problem *problem, int again)
{
    const double before = z->rate_error;
    z->error = sampled_error(p, which, problem, 0, AW_DPHI);
    z->rate_error = sampled_error(p, which, problem, AW_DPHI, AW_RESULTS);
    if (again && z->rate_error > AW_FLOOR * before) z->floor = fmax(z->floor, before);
}

/* Error of a zone that counts, in scales; NaN if there is one. */
static double counted(const zone *z)
{
    if (isnan(z->rate_error)) return z->rate_error;
    return z->rate_error <= 2.0 * z->floor ? z->error : fmax(z->error, z->rate_error);
}

/* After a step that the zone's rule has done: whether a coarser one might do the next. */
static void relax(zone *z, double tolerance)
{
    if (z->trying) z->wait = AW_CALM_STEPS; /* it does */
    z->trying = 0;
    z->floor *= AW_FORGET;
    z->calm = counted(z) <= AW_CALM * tolerance ? z->calm + 1 : 0;
    if (z->calm < z->wait || z->level == 0) return;
    z->level--;
    z->calm = 0;
    z->trying = 1;
}

/* After a rule that has not done. @return 0 if there is no finer one that is worth it */
static int tighten(zone *z)
{
    if (z->trying && z->wait < AW_CALM_MOST) z->wait *= 2;
    z->trying = z->calm = 0;
    if (z->level + 1 == z->rules || z->cost > AW_COST_MOST) return 0;
    z->level++;
    return 1;
}

/* Both zones, each as often as it takes. @return 1 if the sample is within the tolerance */
static aw_status solve_zones(aw_solver *solver, projection *p, const aw_problem *problem,
                             double *result, aw_report *report, int *converged)
{
    const aw_retarded now = aw_retarded_at(problem->history, 0.0);
    const double end = solver->partition->box[solver->partition->n - 1].r;
    const double border =
        fmin(AW_NEAR_REACH * (hypot(now.half_s, now.half_x) + problem->half), end);
    const size_t points = problem->points;
    aw_status status = AW_OK;
    int wanted[ZONES] = {1, 1}, again = 0;
    *converged = 0;
    AW_TRY(aw_grow((void **)&p->sum, &p->capacity, (ZONES + 1) * points, sizeof *p->sum));
    double start = aw_now();
    /* A coarser rule is judged as the first one is: few points may pass it by luck. */
    const int begins = p->steps++ == 0 || p->back || p->zone[NEAR].trying || p->zone[FAR].trying;
    p->back = 0;
    const double share = begins ? AW_SHARE_FIRST : AW_SHARE;
    AW_TRY(take_sample(solver, p, problem, border, begins ? AW_SAMPLE_FIRST : AW_SAMPLE, report));
    report->sample += aw_now() - start;
    start = aw_now();
    for (;;) {
        for (int i = 0; i < ZONES; ++i) {
            zone *z = &p->zone[i];
            if (!wanted[i]) continue;
            z->sum = &p->sum[(size_t)i * points];
            AW_TRY(integrate(solver, problem, z, i == NEAR ? 0.0 : border, i == NEAR ? border : end,
                             i == FAR, report));
            if (i == FAR) give_velocities(problem, z->sum, &p->sum[ZONES * points]);
            judge(p, z, i, problem, again);
            report->rule[i] = z->level;
        }
        const double near = counted(&p->zone[NEAR]), far = counted(&p->zone[FAR]);
        if (near + far <= share * problem->tolerance) break;
        /* The worse one again, with a finer rule. */
        const int worse = near >= far ? NEAR : FAR;
        if (isnan(near + far) || !tighten(&p->zone[worse])) goto done;
        again = 1;
        wanted[worse] = 1;
        wanted[!worse] = 0;
    }
    report->sampled = p->zone[NEAR].error + p->zone[FAR].error;
    for (int i = 0; i < ZONES; ++i) relax(&p->zone[i], problem->tolerance);
    for (size_t i = 0; i < points; ++i)
        for (unsigned k = 0; k < AW_RESULTS; ++k)
            result[i * AW_RESULTS + k] = p->zone[NEAR].sum[i][k] + p->zone[FAR].sum[i][k];
    report->evaluate += aw_now() - start;
    *converged = 1;
done:
    return status;
}

/* Leave the step to `predictive`, which has a memory of its own. */
static aw_status fall_back(aw_solver *solver, projection *p, const aw_problem *problem,
                           double *result, double *error, aw_report *report)
{
    solver->memory = p->fallback;
    const aw_status status = aw_strategy_predictive.solve(solver, problem, result, error, report);
    p->fallback = solver->memory;
    solver->memory = p;
    report->fell_back = 1;
    for (size_t i = 0; i < report->samples; ++i)
        for (unsigned k = 0; k < AW_DPHI; ++k) {
            const sample *s = &p->sample[i];
            const double off = result[s->point * AW_RESULTS + k] - s->I[NEAR][k] - s->I[FAR][k];
            const double e = fabs(off) / aw_scale_of(&problem->scales, k);
            if (!(e <= report->sampled) && !isnan(report->sampled)) report->sampled = e;
        }
    return status;
}

/* Whether the next steps are tried: what was out of reach now, or too dear, will hardly be better
 * then. */
static void plan_ahead(projection *p, int converged)
{
    const int dear = p->zone[NEAR].cost > AW_COST_MOST || p->zone[FAR].cost > AW_COST_MOST;
    if (converged && !dear) {
        p->pause = 0;
    } else {
        if (p->pause < AW_PAUSE_MOST) p->pause = 2 * p->pause + 1;
        p->back = 1;
        for (int i = 0; i < ZONES; ++i)
            p->zone[i].level = p->zone[i].level > AW_BACK ? p->zone[i].level - AW_BACK : 0;
    }
    p->left = p->pause;
}

static aw_status solve(aw_solver *solver, const aw_problem *problem, double *result, double *error,
                       aw_report *report)
{
    aw_status status = AW_OK;
    int converged = 0;
    if (!solver->memory && !(solver->memory = remember())) return AW_ERR_NOMEM;
    projection *p = solver->memory;
    /* Scattered points share nothing, and what a problem records is not known here. */
    const int grid =
        problem->columns >= AW_SLOPE_NODES && problem->points >= AW_SLOPE_NODES * problem->columns;
    const int able = grid && solver->device->ops->integrate && !problem->record;
    if (able && p->left == 0) {
        AW_TRY(solve_zones(solver, p, problem, result, report, &converged));
        plan_ahead(p, converged);
    } else if (able) {
        p->left--;
    }
    if (!converged) {
        AW_TRY(fall_back(solver, p, problem, result, error, report));
    } else {
        report->error = report->sampled;
        for (size_t i = 0; error && i < problem->points; ++i) error[i] = report->sampled;
    }
    if (grid) aw_solver_keep_scales(solver, problem, result);
done:
    return status;
}

const aw_strategy aw_strategy_projection = {.name = "projection", .solve = solve, .forget = forget};
