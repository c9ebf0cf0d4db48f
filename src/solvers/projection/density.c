/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/projection/density.h"

#include <math.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/solvers/projection/budget.h"
#include "src/solvers/projection/constants.h"
#include "src/solvers/projection/sample.h"

enum { SPREAD = AW_PROBE_SIDE * AW_PROBE_SIDE };

/* Probe p: one of SPREAD nodes of the grid, in the middle of as many equal parts, or of others. */
static size_t probe_point(const aw_problem *problem, const aw_probes *others, size_t p)
{
    const size_t rows = problem->points / problem->columns, side = AW_PROBE_SIDE;
    if (p >= SPREAD) return others->point[p - SPREAD];
    const size_t i = (2 * (p / side) + 1) * rows / (2 * side);
    const size_t j = (2 * (p % side) + 1) * problem->columns / (2 * side);
    return i * problem->columns + j;
}

/* The integral over r' = r .. 2 r of a function that is 1 at r and 0 at the rule's other nodes. */
static double beginning_weight(double r)
{
    const aw_scales one = {1.0, 1.0, 1.0};
    aw_region region = {.a = r, .b = 2.0 * r};
    region.f[0][AW_PHI] = 1.0;
    aw_region_rule(&region, &one);
    return region.I[AW_PHI];
}

/* Values of f_in at one point, for the r' of one in AW_PROBE_STRIDE nodes. */
typedef struct probe {
    size_t point;
    size_t first;            /* of the nodes */
    double density;          /* of nodes in angle (aw_common_node) */
    double (*f)[AW_RESULTS]; /* [panels->n], owned by the caller */
} probe;

/* Fill a probe. A job of one region of which all nodes but the beginning are known, and 0,
 * evaluates just that one. */
static aw_status evaluate(aw_solver *solver, const aw_problem *problem, const aw_panels *panels,
                          const probe *p, aw_work *work)
{
    const aw_device_ops *ops = solver->device->ops;
    const size_t n = panels->n;
    aw_status status = AW_OK;
    size_t jobs = 0;
    AW_TRY(aw_grow((void **)&solver->region, &solver->region_capacity, n, sizeof *solver->region));
    AW_TRY(aw_grow((void **)&solver->job, &solver->job_capacity, n, sizeof *solver->job));
    for (size_t i = p->first; i < n; i += AW_PROBE_STRIDE, ++jobs) {
        const double r = panels->node[i].r;
        solver->region[jobs] =
            (aw_region){.a = r, .b = 2.0 * r, .point = (uint32_t)p->point, .known = 30u};
        solver->job[jobs] =
            (aw_job){.first = jobs, .count = 1, .tolerance = HUGE_VAL, .density = p->density};
    }
    AW_TRY(ops->refine(solver->device->state, solver->region, solver->job, jobs, &problem->scales,
                       work));
    AW_TRY(ops->wait(solver->device->state));
    jobs = 0;
    for (size_t i = p->first; i < n; i += AW_PROBE_STRIDE, ++jobs) {
        const double weight = beginning_weight(panels->node[i].r);
        for (unsigned k = 0; k < AW_RESULTS; ++k) p->f[i][k] = solver->job[jobs].I[k] / weight;
    }
done:
    return status;
}

/* Scaled error of the sums by node `node` if f_in is `other` instead of f. */
static double node_error(const aw_problem *problem, const aw_common_node *node,
                         const double f[AW_RESULTS], const double other[AW_RESULTS])
{
    double error[AW_RESULTS];
    for (unsigned k = 0; k < AW_RESULTS; ++k)
        error[k] = (k < AW_DPHI ? node->weight : node->rate) * (other[k] - f[k]);
    return aw_sample_scaled_error(error, &problem->scales);
}

/* Which of the panels' nodes need more nodes in angle. */
typedef struct choice {
    const aw_probes *others; /* points beside those of the grid */
    int *needed;             /* [panels->n], owned by the caller, as is: */
    double *error;           /* [2 panels->n], workspace */
} choice;

/* Mark the nodes at which the two densities differ too much at one of the points. */
static aw_status mark_needed(aw_solver *solver, const aw_problem *problem, const aw_panels *panels,
                             probe by[2], const choice *made, aw_work *work)
{
    const size_t n = panels->n;
    const double share = AW_DENSITY_SHARE / sqrt(AW_PROBE_STRIDE) * problem->tolerance;
    double *error = made->error;
    aw_status status = AW_OK;
    for (size_t p = 0; p < SPREAD + made->others->n; ++p) {
        const size_t first = p % AW_PROBE_STRIDE;
        for (int i = 0; i < 2; ++i) {
            by[i].point = probe_point(problem, made->others, p);
            by[i].first = first;
            AW_TRY(evaluate(solver, problem, panels, &by[i], work));
        }
        memset(error, 0, n * sizeof *error);
        for (size_t i = first; i < n; i += AW_PROBE_STRIDE)
            error[i] = node_error(problem, &panels->node[i], by[0].f[i], by[1].f[i]);
        memcpy(error + n, error, n * sizeof *error);
        const double left = aw_budget_largest(error + n, n, share, 2.0);
        for (size_t i = 0; i < n; ++i)
            if (!(error[i] <= left)) made->needed[i] = 1;
    }
done:
    return status;
}

aw_status aw_density_choose(aw_solver *solver, const aw_problem *problem, const aw_probes *others,
                            double sparse, aw_panels *panels, aw_work *work)
{
    const size_t n = panels->n, reach = AW_PROBE_REACH;
    const choice made = {others, aw_alloc(n, sizeof *made.needed),
                         aw_alloc(2 * n, sizeof *made.error)};
    const double dense = fmin(panels->node[0].density, AW_PROBE_DENSITY);
    probe by[2] = {{.density = dense}, {.density = sparse}};
    for (int i = 0; i < 2; ++i) by[i].f = aw_alloc(n, sizeof *by[i].f);
    aw_status status = made.needed && made.error && by[0].f && by[1].f ? AW_OK : AW_ERR_NOMEM;
    if (status != AW_OK) goto done;
    AW_TRY(mark_needed(solver, problem, panels, by, &made, work));
    /* Other points have the same circles over the beam at a neighbouring r'. */
    for (size_t i = 0; i < n; ++i) {
        int near = 0;
        for (size_t k = i > reach ? i - reach : 0; k < n && k <= i + reach; ++k)
            near |= made.needed[k];
        if (!near) panels->node[i].density = sparse;
    }
done:
    aw_free(by[0].f);
    aw_free(by[1].f);
    aw_free(made.error);
    aw_free(made.needed);
    return status;
}
