/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes in r' that all points share. Near the points, within about the size of the bunch, the
 * moments are evaluated at every point on Gauss-Legendre panels; further away they are seen only
 * through projections, which are tabulated once for a node and looked up for every point
 * (kernels/projection.h). Arcwake's own; nearest is the rotation of sums in tomography.
 *
 * Nothing of this adapts to a point, so the error is measured: at every step some points are
 * recomputed adaptively, near and far part by themselves. If what they show is too much for the
 * tolerance, one part is done again with a finer rule, which is kept. If the finest does not do, or
 * is too dear, the step is left to `predictive`. */
#include <math.h>
#include <string.h>

#include "kernels/convolution.h"
#include "kernels/retarded.h"
#include "kernels/slope.h"
#include "quadrature/panels.h"
#include "quadrature/partition.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"
#include "src/solvers/sample.h"

/* Points that a sample takes from core and rim of the grid each: at a step with a new rule, and at
 * every other. Each zone adds its most doubtful one. */
enum { AW_SAMPLE_FIRST = 16, AW_SAMPLE = 1 };
/* Of the tolerance, the largest estimate. */
#define AW_SHARE 0.8
/* Largest error of many points of a stratum over their rms: of a normal distribution one point in
 * 2000 is further out than 3.5. In the rim most points have no particle near, and few have one. */
static const double peak[AW_STRATA] = {[AW_CORE] = 3.5, [AW_RIM] = 5.0};
/* Points of earlier steps that count as much as those of this one. */
#define AW_POOL 12.0
/* Of the tolerance, the error of the sample's own integrals. */
#define AW_SAMPLE_SHARE 0.1
/* Of the rates, errors are allowed to be so many times larger: the inner rule, which a sample has
 * too, leaves them 4 tolerances off (seen in all strategies, `validate strategies`). */
#define AW_RATE_TOLERANCES 3.0
/* Below this part of the tolerance for a while a zone tries the next coarser rule. */
#define AW_CALM 0.15
/* The same of the estimate, which is of both zones. */
#define AW_CALM_BOTH 0.5
enum { AW_CALM_STEPS = 16, AW_CALM_MOST = 1024 };
/* A finer rule that leaves this part of the rates' error has not found what causes it; that is
 * forgotten by and by. */
#define AW_FLOOR 0.7
#define AW_FORGET 0.98
/* Errors of two zones are alike within this factor: refining the smaller one changes little. */
#define AW_ALIKE 0.3
/* Evaluations a point of a zone, over those of the sample's points, beyond which `predictive` is
 * not dearer; and how many rules a zone goes back to begin with after it has come in. */
#define AW_DEAR 0.6
enum { AW_BACK = 3 };
/* Most steps that are left to `predictive` without trying. */
enum { AW_PAUSE_MOST = 31 };
/* Looking up a table takes as long as so many evaluations. */
#define AW_LOOK_UP 10.0
/* A convolution takes as long as so many evaluations a point. */
#define AW_CONVOLUTION 200.0
/* By so much of a cell slices may be turned against the points' grid where they are convolved: the
 * square of it, over the width of what they hold in cells, is left out. */
#define AW_TURN 0.1
/* So many times as far as it must the near zone goes where it is convolved: the further away, the
 * fewer directions the tables of the far zone need. */
#define AW_BEYOND 16.0
/* Nor need tiles fill what it leaves, if that is less than the rest of this. */
#define AW_NEARLY 0.7
/* Not worth it for less than this part of the near zone. */
#define AW_CONVOLVED_PART 0.25
/* First panel, over the shorter half side of the bunch's box. */
#define AW_FIRST_PANEL 0.1
/* The bunch's size, over the same. */
#define AW_BUNCH_SIZE 0.4

/** A rule, of one zone. */
typedef struct rule {
    int order;
    double density, spacing, sweep; /* spacing: in cells */
    double tables; /* errors of all tables if they added up, in tolerances; they do not */
    int few_rates; /* aw_panels_how */
    int tiles;     /* 1: and no convolution */
} rule;

/* From coarse to fine. Near: panels of an octave. Far: panels of two octaves, or less where the
 * circle sweeps through the bunch. docs/projection.md, "Rules", has what they give. */
static const rule near_rule[] = {
    {5, 0.12, HUGE_VAL, HUGE_VAL, 0.0, 1, 0}, {5, 0.12, 2.0, HUGE_VAL, 0.0, 1, 0},
    {7, 0.15, 1.5, HUGE_VAL, 0.0, 1, 0},      {7, 0.20, 1.0, HUGE_VAL, 0.0, 1, 0},
    {9, 0.25, 1.0, HUGE_VAL, 0.0, 1, 0},      {7, 0.25, 0.5, HUGE_VAL, 0.0, 1, 0},
    {9, 0.34, 0.35, HUGE_VAL, 0.0, 1, 0},     {5, 0.34, 0.35, 1.0, 0.0, 0, 0},
    {5, 0.34, 0.35, 0.3, 0.0, 0, 0},          {9, 0.67, 0.25, 0.15, 0.0, 0, 1}};
static const rule far_rule[] = {
    {5, 0.34, HUGE_VAL, 0.25, 8.0, 0, 0}, {5, 0.34, HUGE_VAL, 0.12, 8.0, 0, 0},
    {5, 0.34, HUGE_VAL, 0.08, 8.0, 0, 0}, {5, 0.34, 2.0, 0.055, 6.0, 0, 0},
    {5, 0.34, 1.0, 0.04, 6.0, 0, 0},      {5, 0.34, 1.0, 0.03, 6.0, 0, 0},
    {7, 0.34, 1.0, 0.03, 4.0, 0, 0},      {7, 0.34, 0.5, 0.02, 2.0, 0, 0},
    {9, 0.34, 0.5, 0.02, 1.0, 0, 0},      {15, 0.67, 0.5, 0.02, 0.3, 0, 0},
    {21, 1.0, 0.25, 0.01, 0.3, 0, 0}};

/** A range of r'. */
typedef struct zone {
    const rule *rule; /* [rules] */
    int rules, level; /* which of them is used */
    int calm, wait;   /* steps that a coarser one might have done, and after how many it is tried */
    int trying;       /* 1: it is being tried */
    aw_panels panels;
    double (*sum)[AW_RESULTS]; /* [points], part of projection.sum */
    double *check;             /* [points], part of projection.check: of its nodes (aw_shared) */
    double error;              /* of potentials, the worst of the sample, in scales */
    double rate_error;         /* the same of the rates */
    double cost;               /* evaluations a point, of the last integration, or their like */
    double floor;              /* below which finer rules have not brought the rates' error */
    int convolved;             /* 1: all of it, so that a finer rule is the same */
    size_t nodes;              /* of the rule with which the next ones of this step are compared, */
    double before;             /* and the rates' error by it */
} zone;

typedef struct projection {
    zone zone[AW_RANGES];
    double (*sum)[AW_RESULTS]; /* [AW_RANGES + 1][points]: of the zones, and a scratch */
    double *check;             /* [AW_RANGES][points] */
    size_t capacity, check_capacity;
    aw_sample sample;
    double dear;               /* evaluations a point above which a zone is too dear */
    aw_spread pool[AW_STRATA]; /* errors at points of earlier steps with these rules */
    uint64_t steps;
    void *fallback;  /* memory of the strategy to which steps are left */
    int back;        /* 1: rules have gone back to coarser ones */
    int dears;       /* steps in a row that were too dear */
    int pause, left; /* steps that are left to it at once, and how many still are */
} projection;

static void forget(void *memory)
{
    projection *p = memory;
    if (!p) return;
    aw_strategy_predictive.forget(p->fallback);
    for (int z = 0; z < AW_RANGES; ++z) aw_panels_free(&p->zone[z].panels);
    aw_free(p->sum);
    aw_free(p->check);
    aw_sample_free(&p->sample);
    aw_free(p);
}

static projection *remember(void)
{
    projection *p = aw_alloc(1, sizeof *p);
    if (!p) return NULL;
    p->zone[AW_NEAR] = (zone){.rule = near_rule, .rules = sizeof near_rule / sizeof *near_rule};
    p->zone[AW_FAR] = (zone){.rule = far_rule, .rules = sizeof far_rule / sizeof *far_rule};
    for (int z = 0; z < AW_RANGES; ++z) p->zone[z].wait = AW_CALM_STEPS;
    return p;
}

/* The far zone is summed for the velocity v0 of the grid's centre. At a point that moves with v0 +
 * dv, psi is less by dv.A and the rates along the path are more by dv.grad. */
static void give_velocities(const aw_problem *problem, double (*I)[AW_RESULTS],
                            double (*old)[AW_RESULTS])
{
    const aw_field_point *p = problem->point, *centre = &problem->centre;
    const size_t columns = problem->columns, rows = problem->points / columns;
    const size_t last = columns * (rows - 1);
    const ptrdiff_t row = (ptrdiff_t)(AW_RESULTS * columns);
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
                I[at][AW_DPHI + k] +=
                    da * aw_slope_at(&old[at][k], AW_RESULTS, (int)i, (int)columns) +
                    db * aw_slope_at(&old[at][k], row, (int)j, (int)rows);
        }
}

/* How far out slices lie as the points do, so that they can be convolved; 0: not at all. */
static double convolution_reach(const aw_solver *solver, const aw_problem *problem,
                                const rule *near, double border)
{
    const aw_history_view *h = problem->history;
    const double most = fmin(AW_BEYOND * border, aw_next_edge(h, 0.0));
    if (!solver->device->ops->convolve || near->tiles) return 0.0;
    if (!aw_convolution_fits(h, problem->point, problem->columns, problem->points)) return 0.0;
    const double r = aw_convolution_reach(h, most, AW_TURN);
    return r >= AW_CONVOLVED_PART * border ? r : 0.0;
}

/* Zone z from r' = 0 to `to` by convolution. */
static aw_status convolve(aw_solver *solver, const aw_problem *problem, zone *z, double to,
                          double (*scratch)[AW_RESULTS])
{
    const aw_history_view *h = problem->history;
    const aw_retarded now = aw_retarded_at(h, 0.0);
    const double size = fmin(now.half_s, now.half_x), cell = fmin(now.hs, now.hx);
    const aw_device_ops *ops = solver->device->ops;
    aw_status status = AW_OK;
    const aw_panels_how how = {.order = 9,
                               .ratio = 2.0,
                               .sweep = 0.02,
                               .first = AW_FIRST_PANEL * size,
                               .spacing = 0.1 * cell,
                               .bunch = AW_BUNCH_SIZE * size,
                               .density = 1.0};
    z->panels.n = 0;
    AW_TRY(aw_panels_add(&z->panels, h, &problem->centre, 0.0, to, &how));
    aw_shared shared = {.node = z->panels.node,
                        .nodes = z->panels.n,
                        .columns = problem->columns,
                        .common = &problem->centre,
                        .I = z->sum};
    AW_TRY(ops->convolve(solver->device->state, &shared));
    AW_TRY(ops->wait(solver->device->state));
    give_velocities(problem, z->sum, scratch);
done:
    return status;
}

/* Integrate a zone with its rule, from r' = from to `to`, up to `reach` by convolution; the check
 * is of the rates, or of the potentials. */
static aw_status integrate(aw_solver *solver, const aw_problem *problem, zone *z, double from,
                           double to, double reach, int look_at_rates,
                           double (*scratch)[AW_RESULTS], aw_report *report)
{
    aw_field_point corner[4];
    const aw_retarded now = aw_retarded_at(problem->history, 0.0);
    const rule *r = &z->rule[z->level];
    const int far = from > 0.0;
    const double size = fmin(now.half_s, now.half_x);
    const aw_panels_how how = {.order = r->order,
                               .ratio = 2.0,
                               .still = far ? 4.0 : 0.0,
                               .sweep = r->sweep,
                               .first = AW_FIRST_PANEL * size,
                               .spacing = r->spacing * fmin(now.hs, now.hx),
                               .bunch = AW_BUNCH_SIZE * size,
                               .density = r->density,
                               .few_rates = r->few_rates};
    const aw_device_ops *ops = solver->device->ops;
    aw_status status = AW_OK;
    memset(z->sum, 0, problem->points * sizeof *z->sum);
    memset(z->check, 0, problem->points * sizeof *z->check);
    z->cost = 0.0;
    z->convolved = 0;
    if (!far && reach > 0.0 && !r->tiles) {
        from = fmin(reach, to);
        z->convolved = from == to;
        z->cost += AW_CONVOLUTION;
        AW_TRY(convolve(solver, problem, z, from, scratch));
    }
    z->panels.n = 0;
    if (from < to)
        AW_TRY(aw_panels_add(&z->panels, problem->history, &problem->centre, from, to, &how));
    aw_grid_corners(problem->point, problem->columns, problem->points, corner);
    aw_panels_drop_unseen(&z->panels, problem->history, corner);
    if (z->panels.n == 0) return AW_OK;
    aw_shared shared = {.node = z->panels.node,
                        .nodes = z->panels.n,
                        .columns = problem->columns,
                        .common = far ? &problem->centre : NULL, /* and no tables near */
                        .table_error = r->tables * problem->tolerance / (double)z->panels.n,
                        .I = z->sum,
                        .check = z->check,
                        .check_rates = look_at_rates};
    const uint64_t before = report->work.evaluations;
    AW_TRY(ops->integrate(solver->device->state, &shared, &problem->scales, &report->work));
    AW_TRY(ops->wait(solver->device->state));
    z->cost += (double)(report->work.evaluations - before) / (double)problem->points +
               AW_LOOK_UP * (double)shared.tables;
    if (far) give_velocities(problem, z->sum, scratch);
done:
    return status;
}

/* The point where the nodes of a zone see the least of what is there. */
static size_t doubtful(const zone *z, size_t points)
{
    size_t worst = 0;
    for (size_t i = 1; i < points; ++i)
        if (fabs(z->check[i]) > fabs(z->check[worst])) worst = i;
    return worst;
}

/* Take the errors of a zone at the points of the sample. */
static void judge(const projection *p, zone *z, int which, const aw_problem *problem)
{
    const double(*I)[AW_RESULTS] = (const double(*)[AW_RESULTS])z->sum;
    const aw_scales *scales = &problem->scales;
    z->error = aw_sample_error(&p->sample, which, I, scales, 0, AW_DPHI, NULL);
    z->rate_error = aw_sample_error(&p->sample, which, I, scales, AW_DPHI, AW_RESULTS, NULL);
}

/* Worst error of the potentials at the points of the sample. */
static double seen_error(const projection *p, const aw_problem *problem, const double *result,
                         aw_spread *spread)
{
    return aw_sample_error(&p->sample, AW_RANGES, (const double(*)[AW_RESULTS])result,
                           &problem->scales, 0, AW_DPHI, spread);
}

/* Estimate of the potentials' largest error: what is seen at the points of the sample, and what
 * their rms, pooled with that of earlier steps, makes likely elsewhere.
 * @param[out] pool  [AW_STRATA], for the next step with the same rules */
static double estimate(const projection *p, const aw_problem *problem, const double *result,
                       aw_spread *pool)
{
    double worst = seen_error(p, problem, result, pool);
    for (int i = AW_CORE; i <= AW_RIM; ++i) {
        const double most = fmin(p->pool[i].points, AW_POOL);
        if (most > 0.0) pool[i].square += p->pool[i].square * most / p->pool[i].points;
        pool[i].points += most;
        const double likely = peak[i] * sqrt(pool[i].square / pool[i].points);
        if (!(likely <= worst) && !isnan(worst)) worst = likely;
    }
    return worst;
}

/* See whether finer rules lower the rates' error of a zone that has been done again. Where cells
 * are long and thin, or few particles fill them, the rates differ between any two sets of nodes in
 * angle by more than the tolerance allows, the sample's and ours too, and no rule in r' can mend
 * that: what half as many nodes again have not lowered is let pass. */
static void judge_again(const projection *p, zone *z, int which, const aw_problem *problem)
{
    judge(p, z, which, problem);
    if (2 * z->panels.n < 3 * z->nodes) return;
    if (z->rate_error > AW_FLOOR * z->before)
        z->floor = fmax(z->floor, z->before);
    else
        z->floor = fmin(z->floor, z->rate_error);
    z->nodes = z->panels.n;
    z->before = z->rate_error;
}

/* Error of a zone's rates, as far as it counts: over how much larger it may be. */
static double counted_rates(const zone *z)
{
    const int in_floor = z->rate_error <= 2.0 * z->floor;
    return in_floor ? 0.0 : z->rate_error / AW_RATE_TOLERANCES;
}

/* Error of a zone that counts, in scales; NaN if there is one. */
static double counted(const zone *z)
{
    const double rates = counted_rates(z);
    return z->error <= rates ? rates : z->error;
}

/* Which zone to do again, with a finer rule: the worse one, or of two that are alike the cheaper.
 * What is better than a convolution costs many times as much. */
static int to_refine(const zone *near, const zone *far)
{
    const double a = counted(near), b = counted(far);
    if (a < AW_ALIKE * b || near->convolved) return a < b ? AW_FAR : AW_NEAR;
    if (b < AW_ALIKE * a) return AW_NEAR;
    return a * far->cost >= b * near->cost ? AW_NEAR : AW_FAR;
}

/* After a step that the zone's rule has done: whether a coarser one might do the next. */
static void relax(zone *z, double estimated, double tolerance)
{
    if (z->trying) z->wait = AW_CALM_STEPS; /* it does */
    z->trying = 0;
    z->floor *= AW_FORGET;
    const int small = counted(z) <= AW_CALM * tolerance;
    const int calm =
        estimated <= AW_CALM_BOTH * tolerance && counted(z) <= AW_CALM_BOTH * tolerance;
    z->calm = small || calm ? z->calm + 1 : 0;
    if (z->calm < z->wait || z->level == 0) return;
    z->level--;
    /* A convolution, if there may be one, is better than tiles and cheaper. */
    while (z->level > 0 && z->rule[z->level].tiles) z->level--;
    z->calm = 0;
    z->trying = 1;
}

/* After a rule that has not done. @return 0 if there is no finer one that is worth it */
static int tighten(zone *z, double dear)
{
    int next = z->level + 1;
    if (z->trying && z->wait < AW_CALM_MOST) z->wait *= 2;
    z->trying = z->calm = 0;
    while (next < z->rules && z->convolved && !z->rule[next].tiles) ++next;
    if (next == z->rules || z->cost > dear) return 0;
    z->level = next;
    return 1;
}

/* Add points to the sample: `spread` of each stratum, and the doubtful ones of the zones that were
 * just done. */
static aw_status sample(aw_solver *solver, projection *p, const aw_problem *problem, double border,
                        int spread, const int zones[AW_RANGES], aw_report *report)
{
    enum { MOST = 2 * AW_SAMPLE_FIRST + AW_RANGES };
    const double start = aw_now();
    size_t point[MOST], n = 0;
    int stratum[MOST];
    for (int i = 0; i < spread; ++i)
        for (int s = AW_CORE; s <= AW_RIM; ++s) {
            stratum[n] = s;
            point[n++] = aw_sample_next(&p->sample, problem, s);
        }
    for (int i = 0; i < AW_RANGES; ++i) {
        if (!zones[i] || p->zone[i].panels.n == 0) continue;
        stratum[n] = AW_DOUBTFUL;
        point[n++] = doubtful(&p->zone[i], problem->points);
    }
    const uint64_t work = report->work.evaluations;
    const size_t before = p->sample.n;
    const aw_status status =
        aw_sample_add(&p->sample, solver, problem, border, AW_SAMPLE_SHARE * problem->tolerance,
                      point, stratum, n, &report->work);
    if (p->sample.n > before)
        p->dear =
            AW_DEAR * (double)(report->work.evaluations - work) / (double)(p->sample.n - before);
    report->samples = p->sample.n;
    report->sample += aw_now() - start;
    return status;
}

/* Integrate the zones that are wanted. */
static aw_status integrate_zones(aw_solver *solver, projection *p, const aw_problem *problem,
                                 double border, double reach, const int wanted[AW_RANGES],
                                 int look_at_rates, aw_report *report)
{
    const double end = solver->partition->box[solver->partition->n - 1].r;
    const double to[AW_RANGES] = {fmin(border, end), end};
    const size_t points = problem->points;
    aw_status status = AW_OK;
    for (int i = 0; i < AW_RANGES; ++i) {
        zone *z = &p->zone[i];
        if (!wanted[i]) continue;
        z->sum = &p->sum[(size_t)i * points];
        z->check = &p->check[(size_t)i * points];
        AW_TRY(integrate(solver, problem, z, i == AW_NEAR ? 0.0 : to[AW_NEAR], to[i], reach,
                         look_at_rates, &p->sum[AW_RANGES * points], report));
        report->rule[i] = z->level;
    }
done:
    return status;
}

/* Both zones, each as often as it takes.
 * @param[out] converged  1: the estimate is within the tolerance, and `result` holds the sums */
static aw_status solve_zones(aw_solver *solver, projection *p, const aw_problem *problem,
                             double *result, aw_report *report, int *converged)
{
    const aw_retarded now = aw_retarded_at(problem->history, 0.0);
    const double least = hypot(now.half_s, now.half_x) + problem->half;
    const double reach =
        convolution_reach(solver, problem, &p->zone[AW_NEAR].rule[p->zone[AW_NEAR].level], least);
    const double border = reach >= AW_NEARLY * least ? reach : least;
    const size_t points = problem->points;
    const double start = aw_now();
    aw_status status = AW_OK;
    aw_spread pool[AW_STRATA];
    int wanted[AW_RANGES] = {1, 1}, again = 0, spread = 0;
    *converged = 0;
    AW_TRY(aw_grow((void **)&p->sum, &p->capacity, (AW_RANGES + 1) * points, sizeof *p->sum));
    AW_TRY(aw_grow((void **)&p->check, &p->check_capacity, AW_RANGES * points, sizeof *p->check));
    /* A coarser rule is judged as the first one is: few points may pass it by luck. */
    const int begins =
        p->steps++ == 0 || p->back || p->zone[AW_NEAR].trying || p->zone[AW_FAR].trying;
    p->back = 0;
    if (begins) memset(p->pool, 0, sizeof p->pool);
    /* Potentials and rates by turns. */
    int look_at_rates = p->steps % 2 == 0;
    p->sample.n = 0;
    for (;;) {
        AW_TRY(integrate_zones(solver, p, problem, border, reach, wanted, look_at_rates, report));
        for (int i = 0; i < AW_RANGES; ++i) {
            zone *z = &p->zone[i];
            if (!again) z->nodes = z->panels.n;
            if (again && wanted[i]) judge_again(p, z, i, problem);
        }
        const int want = begins || again ? AW_SAMPLE_FIRST : AW_SAMPLE;
        AW_TRY(sample(solver, p, problem, border, want - spread, wanted, report));
        spread = want;
        for (int i = 0; i < AW_RANGES; ++i) {
            zone *z = &p->zone[i];
            judge(p, z, i, problem);
            if (z->nodes == z->panels.n) /* more points have come in */
                z->before = again ? fmax(z->before, z->rate_error) : z->rate_error;
        }
        const zone *near = &p->zone[AW_NEAR], *far = &p->zone[AW_FAR];
        const double rates = counted_rates(near) + counted_rates(far);
        for (size_t i = 0; i < points; ++i)
            for (unsigned k = 0; k < AW_RESULTS; ++k)
                result[i * AW_RESULTS + k] = near->sum[i][k] + far->sum[i][k];
        report->sampled = estimate(p, problem, result, pool);
        const double limit = AW_SHARE * problem->tolerance;
        if (report->sampled <= limit && rates <= limit) break;
        if (isnan(report->sampled + rates)) goto done;
        const int worse = to_refine(near, far);
        wanted[worse] = tighten(&p->zone[worse], p->dear);
        wanted[!worse] = !wanted[worse] && tighten(&p->zone[!worse], p->dear);
        if (!wanted[AW_NEAR] && !wanted[AW_FAR]) goto done;
        again = 1;
        memset(p->pool, 0, sizeof p->pool);
        look_at_rates = !look_at_rates;
    }
    memcpy(p->pool, pool, sizeof pool);
    for (int i = 0; i < AW_RANGES; ++i) relax(&p->zone[i], report->sampled, problem->tolerance);
    *converged = 1;
done:
    report->evaluate += aw_now() - start - report->sample;
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
    report->sampled = report->samples > 0 ? seen_error(p, problem, result, NULL) : 0.0;
    return status;
}

/* Whether the next steps are tried: what was out of reach now, or too dear twice, will hardly be
 * better then. */
static void plan_ahead(projection *p, int converged)
{
    const int dear = p->zone[AW_NEAR].cost > p->dear || p->zone[AW_FAR].cost > p->dear;
    p->dears = dear ? p->dears + 1 : 0;
    if (!converged || p->dears > 1) {
        if (p->pause < AW_PAUSE_MOST) p->pause = 2 * p->pause + 1;
    } else {
        p->pause = 0;
    }
    p->left = p->pause;
    if (converged && !dear) return;
    p->back = 1;
    for (int i = 0; i < AW_RANGES; ++i)
        p->zone[i].level = p->zone[i].level > AW_BACK ? p->zone[i].level - AW_BACK : 0;
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
