/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/solvers/projection/examine.h"

#include <math.h>
#include <string.h>

#include "kernels/math/retarded.h"
#include "src/base/memory.h"
#include "src/solvers/projection/budget.h"
#include "src/solvers/projection/sample.h"
#include "src/solvers/projection/velocities.h"

/* Error of a panel at a point: its rule less Simpson's rule between its nodes.
 * region[order + 1]: from the panel's beginning to its first node, from there to the next, ... */
static void panel_error(const aw_region *region, const aw_common_node *node, int order,
                        double error[AW_RESULTS])
{
    for (unsigned k = 0; k < AW_RESULTS; ++k) {
        error[k] = -region[order].I[k];
        for (int i = 0; i < order; ++i) {
            const double weight = k < AW_DPHI ? node[i].weight : node[i].rate;
            error[k] += weight * region[i].f[4][k] - region[i].I[k];
        }
    }
}

/* Beginning and end of a panel with the nodes node[order], which are symmetric in ln r'. */
static void panel_range(const aw_common_node *node, int order, double *a, double *b)
{
    double length = 0.0;
    for (int i = 0; i < order; ++i) length += node[i].weight / node[i].r;
    const double middle = sqrt(node[0].r * node[order - 1].r);
    *a = middle * exp(-0.5 * length);
    *b = middle * exp(0.5 * length);
}

/* Number of regions in which a panel is integrated to find its error: between its nodes; in a
 * passage about a cell each. */
static size_t regions_of(const aw_problem *problem, const aw_common_node *node, int order)
{
    if (!aw_is_passage(node)) return (size_t)order + 1;
    const aw_view_geometry g = aw_view_geometry_at(problem->history, &problem->centre, node->to);
    return (size_t)order + 1 + (size_t)ceil(order * node->step / g.cell);
}

/* List the regions of a panel for one point. @return the end of the list */
static aw_region *fill_regions(const aw_problem *problem, const aw_common_node *node, int order,
                               uint32_t point, aw_region *region)
{
    const size_t n = regions_of(problem, node, order);
    double a, b;
    panel_range(node, order, &a, &b);
    for (size_t i = 0; i < n; ++i) {
        region[i] = (aw_region){.point = point, .a = a, .b = b};
        const double to =
            aw_is_passage(node) ? a * pow(b / a, (double)(i + 1) / (double)n) : node[i].r;
        if (i + 1 < n) region[i].b = to;
        if (i > 0) region[i].a = region[i - 1].b;
    }
    return region + n;
}

/* Cap the length of a panel whose error is `excess` times too large. */
static void cap_panel(aw_panel_caps *caps, const aw_common_node *node, int order, double excess)
{
    double a, b;
    panel_range(node, order, &a, &b);
    const double wanted = log(excess) / log(AW_HALVING_GAIN);
    const double halvings = fmin(fmax(wanted, AW_HALVINGS_MIN), AW_HALVINGS_MAX),
                 margin = AW_CAP_MARGIN * (b - a);
    const aw_panel_cap cap = {a - margin, b + margin, (b - a) * exp2(-halvings)};
    aw_panel_caps_add(caps, &cap);
}

/* Errors of all panels at one point.
 * @param[in] region  as fill_regions lists them, swept
 * @param[in] passage  [panels]: what the rule gives for those that are passages
 * @param[out] error  [panels], scaled
 * @return the scaled error of all of them together */
static double panel_errors(const aw_problem *problem, const aw_panels *panels, int order,
                           const aw_region *region, const double (*passage)[AW_RESULTS],
                           double *error)
{
    double total[AW_RESULTS] = {0.0};
    for (size_t j = 0; j < panels->panels; ++j) {
        double one[AW_RESULTS];
        const aw_common_node *node = &panels->node[j * (size_t)order];
        const size_t n = regions_of(problem, node, order);
        if (aw_is_passage(node)) {
            memcpy(one, passage[j], sizeof one);
            for (size_t i = 0; i < n; ++i)
                for (unsigned k = 0; k < AW_RESULTS; ++k) one[k] -= region[i].I[k];
        } else {
            panel_error(region, node, order, one);
        }
        region += n;
        for (unsigned k = 0; k < AW_RESULTS; ++k) total[k] += one[k];
        error[j] = aw_sample_scaled_error(one, &problem->scales);
    }
    return aw_sample_scaled_error(total, &problem->scales);
}

/* By what factor errors of panels at a point are too large. Those of all panels that are not may
 * make up a budget, and so may those that are, when they are smaller by that factor.
 * @param[in] error  [n] of the panels
 * @param[out] scratch  [n]
 * @param[in,out] excess  [n]: raised to the factors of this point */
static void raise_excess(const aw_problem *problem, const double *error, size_t n, double *scratch,
                         double *excess)
{
    const int images = problem->history->images_only;
    const double power = images ? 2.0 : 1.0;
    const double budget = problem->tolerance * (images ? AW_PANEL_BUDGET : AW_PANEL_SUM);
    memcpy(scratch, error, n * sizeof *scratch);
    const double left = aw_budget_largest(scratch, n, budget, power);
    size_t large = 0;
    for (size_t j = 0; j < n; ++j) large += error[j] > left;
    for (size_t j = 0; j < n; ++j)
        if (error[j] > left)
            excess[j] = fmax(excess[j], error[j] * pow((double)large, 1.0 / power) / budget);
}

/* What is examined. */
typedef struct examination {
    aw_solver *solver;
    const aw_problem *problem;
    aw_zone *z;
    const aw_panel_test *test;
    aw_work *work;
    aw_panels panels;
} examination;

/* What the rule gives for the panels that are passages, at some points.
 * @param[out] sum  [test->points][panels] */
static aw_status passage_sums(const examination *e, double (*sum)[AW_RESULTS])
{
    const aw_problem *problem = e->problem;
    const aw_device *device = e->solver->device;
    const size_t n = e->panels.panels, order = n > 0 ? e->panels.n / n : 0;
    aw_status status = AW_OK;
    double(*all)[AW_RESULTS] = aw_alloc(2 * problem->points, sizeof *all); /* and scratch */
    AW_TRY(all ? AW_OK : AW_ERR_NOMEM);
    for (size_t j = 0; j < n; ++j) {
        const aw_common_node *node = &e->panels.node[j * order];
        if (!aw_is_passage(node)) continue;
        aw_common_rule rule = aw_zone_common_rule(problem, e->z, node, order, e->panels.n);
        rule.I = all;
        memset(all, 0, problem->points * sizeof *all);
        AW_TRY(device->ops->integrate(device->state, &rule, &problem->scales, e->work));
        AW_TRY(device->ops->wait(device->state));
        aw_convert_velocities(problem, all, all + problem->points);
        for (size_t i = 0; i < e->test->points; ++i)
            memcpy(sum[i * n + j], all[e->test->point[i]], sizeof *sum);
    }
done:
    aw_free(all);
    return status;
}

/* Integrate the regions of all panels at one point, into solver->region. (Those of all points
 * together took as much memory as the rest of a small grid.) */
static aw_status sweep_regions(const examination *e, int order, size_t point)
{
    aw_solver *solver = e->solver;
    const aw_device *device = solver->device;
    const size_t n = e->panels.panels;
    size_t regions = 0;
    aw_status status = AW_OK;
    for (size_t j = 0; j < n; ++j)
        regions += regions_of(e->problem, &e->panels.node[j * (size_t)order], order);
    AW_TRY(aw_grow((void **)&solver->region, &solver->region_capacity, regions,
                   sizeof *solver->region));
    aw_region *next = solver->region;
    for (size_t j = 0; j < n; ++j)
        next = fill_regions(e->problem, &e->panels.node[j * (size_t)order], order, (uint32_t)point,
                            next);
    AW_TRY(
        device->ops->sweep(device->state, solver->region, regions, &e->problem->scales, e->work));
    AW_TRY(device->ops->wait(device->state));
done:
    return status;
}

aw_status aw_zone_examine(aw_solver *solver, const aw_problem *problem, aw_zone *z,
                          aw_panel_test *test, aw_work *work)
{
    const int order = z->rules.rule[z->rules.level].order;
    examination e = {solver, problem, z, test, work, {.node = NULL}};
    aw_status status = AW_OK;
    double *error = NULL, (*passage)[AW_RESULTS] = NULL;
    test->capped = 0;
    test->error = 0.0;
    AW_TRY(aw_zone_panels(solver, problem, z, z->rules.level, &e.panels));
    const aw_panels *panels = &e.panels;
    const size_t n = panels->panels, points = test->points;
    error = aw_alloc(3 * n, sizeof *error);
    passage = aw_alloc(points * n, sizeof *passage);
    AW_TRY(error && passage ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(passage_sums(&e, passage));
    double *excess = error + 2 * n;
    for (size_t i = 0; i < points; ++i) {
        AW_TRY(sweep_regions(&e, order, test->point[i]));
        const double all = panel_errors(problem, panels, order, solver->region,
                                        (const double(*)[AW_RESULTS])passage[i * n], error);
        if (i == 0) test->error = all;
        raise_excess(problem, error, n, error + n, excess);
    }
    for (size_t j = 0; j < n; ++j) {
        if (excess[j] == 0.0) continue;
        cap_panel(&z->caps, &panels->node[j * (size_t)order], order, excess[j]);
        test->capped = 1;
    }
done:
    aw_free(error);
    aw_free(passage);
    aw_panels_free(&e.panels);
    return status;
}
