/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integration of a zone of the strategy `projection` (zone.h): how a rule becomes panels
 * (rule_panels, zone_panels), and the pass. */
#include "src/solvers/projection/zone.h"

#include <math.h>
#include <string.h>

#include "kernels/math/retarded.h"
#include "src/base/memory.h"
#include "src/solvers/projection/constants.h"
#include "src/solvers/projection/velocities.h"

void aw_zone_free(aw_zone *zone)
{
    aw_panels_free(&zone->panels);
    aw_free(zone->cut);
    zone->cut = NULL;
    zone->cuts = zone->cut_capacity = 0;
}

/* Factor by which nodes of a convolution are further apart at a tolerance. */
static double wider_by(double tolerance) { return fmax(aw_blocks_spread(tolerance), 1.0); }

static int is_far(const aw_zone *z) { return z->from > 0.0; }

/* Parameters of the panels of a rule. */
static aw_panels_options rule_panels(const aw_history_view *h, const aw_rule *r)
{
    const aw_retarded now = aw_retarded_at(h, 0.0);
    const double size = fmin(now.half_s, now.half_x);
    return (aw_panels_options){.order = r->order,
                               .ratio = AW_PANEL_RATIO,
                               .sweep = r->sweep,
                               .images = AW_IMAGES_COUNTED,
                               .tangent = AW_IMAGES_TANGENT,
                               .first = AW_FIRST_PANEL * size,
                               .spacing = {r->spacing * now.hs, r->spacing * now.hx},
                               .bunch = {AW_BUNCH_SIZE * now.half_s, AW_BUNCH_SIZE * now.half_x},
                               .density = r->density,
                               .few_rates = r->few_rates};
}

/* Parameters of the panels of a zone: those of one of its rules, its density level, and in the far
 * zone caps. */
static aw_panels_options zone_panels(const aw_history_view *h, const aw_zone *z, int level)
{
    aw_panels_options params = rule_panels(h, &z->rules.rule[level]);
    if (is_far(z)) {
        if (z->rules.density_level == 1) params.density = fmin(1.0, AW_DENSER * params.density);
        /* Not in between 1 and 2: nodes at fractions of the inner rule's spacing alias with the
         * cells. */
        if (z->rules.density_level > 1) params.density = AW_SAMPLE_DENSITY;
        params.still = AW_PANEL_RATIO_STILL;
        params.caps = &z->caps;
    }
    return params;
}

/* The rule of a convolution for a tolerance: nodes further apart for a larger one. */
static aw_rule convolution_rule(const aw_problem *problem, const aw_rules *rules)
{
    aw_rule rule = aw_convolution_rule;
    const double wider = wider_by(problem->tolerance);
    rule.spacing *= fmin(wider, AW_CONVOLUTION_WIDER);
    rule.sweep *= fmin(wider, AW_CONVOLUTION_WIDER);
    rule.density /= fmin(wider, AW_CONVOLUTION_SPARSER);
    if (rules->density_level > 0) {
        const double first = AW_FIRST_SWEEP * aw_blocks_spread(problem->tolerance);
        rule.sweep *= fmin(fmax(first, 1.0), AW_FIRST_SWEEP);
    }
    if (rules->density_level > 1) rule.density = AW_SAMPLE_DENSITY;
    return rule;
}

/* Start the convolution of the zone's blocks. */
static aw_status convolve(aw_solver *solver, const aw_problem *problem, aw_zone *z)
{
    const aw_history_view *h = problem->history;
    aw_status status = AW_OK;
    const aw_rule rule = convolution_rule(problem, &z->rules);
    aw_panels_options params = rule_panels(h, &rule);
    const aw_retarded now = aw_retarded_at(h, 0.0);
    const double least = AW_FINE_FROM * (hypot(now.half_s, now.half_x) + problem->half);
    for (size_t i = 0; i < z->blocks.n; ++i) {
        const double from = i > 0 ? z->blocks.end[i - 1] : 0.0, sweep = params.sweep;
        if (from > least && z->rules.density_level > 0)
            params.sweep *= z->rules.density_level > 1 ? AW_FINEST_SWEEP : AW_FINE_SWEEP;
        AW_TRY(aw_panels_add(&z->panels, h, &problem->centre, from, z->blocks.end[i], &params));
        params.sweep = sweep;
    }
    AW_TRY(aw_grow((void **)&z->cut, &z->cut_capacity, z->panels.panels, sizeof *z->cut));
    /* Slices that do not turn show all points the same at all radii of one block. */
    for (size_t i = 0; z->blocks.n > 1 && i < z->panels.n; i += (size_t)params.order)
        z->cut[z->cuts++] = z->panels.node[i].r;
    const aw_common_rule call = {.node = z->panels.node,
                                 .nodes = z->panels.n,
                                 .block_end = z->blocks.end,
                                 .block_joins = z->blocks.joins,
                                 .blocks = z->blocks.n,
                                 .halves = z->rules.density_level > 0,
                                 .columns = problem->columns,
                                 .moves_as = &problem->centre,
                                 .I = z->sum};
    status = solver->device->ops->convolve(solver->device->state, &call);
done:
    return status;
}

aw_status aw_zone_begin(aw_solver *solver, const aw_problem *problem, aw_zone *z,
                        const aw_blocks *blocks)
{
    aw_rules *rules = &z->rules;
    memset(z->sum, 0, problem->points * sizeof *z->sum);
    memset(z->check, 0, problem->points * sizeof *z->check);
    z->panels.n = z->panels.panels = 0;
    z->blocks = (aw_blocks){.n = 0};
    z->cuts = 0;
    if (blocks && !rules->tiles_only) z->blocks = *blocks;
    rules->has_convolution = z->blocks.n > 0;
    rules->all_convolution = 0;
    rules->cost = AW_CONVOLUTION_COST * z->blocks.lattices;
    if (rules->density_level > 0) rules->cost *= AW_FINE_COST;
    return rules->has_convolution ? convolve(solver, problem, z) : AW_OK;
}

/* Part of the rates' error that counts. Nodes of a convolution that are further apart leave rates
 * worse, but tiles leave them worse still; and those of images stay 5 to 15 % of the largest force
 * off whatever the rule (S = 6.3 and 7.0 m of the Zeuthen chicane, plates 30 mm apart). */
static double part_of_rates(const aw_problem *problem, const aw_rules *rules)
{
    const int counts = !rules->all_convolution && !problem->history->images_only;
    return counts ? 1.0 : pow(wider_by(problem->tolerance), -2.0);
}

/* Largest error of a table of one of the zone's nodes, in scales: such errors have the same sign
 * from node to node where circles are at rest. There are many nodes where they are not. 0: the rule
 * makes no tables, as in the near zone. */
static double table_error(const aw_problem *problem, const aw_rules *rules, size_t nodes)
{
    const int images = problem->history->images_only;
    const double most = images ? AW_IMAGES_TABLES : HUGE_VAL;
    const double fine = rules->density_level ? AW_FINE_TABLES / rules->density_level : HUGE_VAL;
    const double all = fmin(rules->rule[rules->level].tables, fmin(fine, most));
    if (!(all > 0.0)) return 0.0;
    return problem->tolerance * fmax(all / (double)nodes, images ? AW_IMAGES_TABLE : 0.0);
}

aw_common_rule aw_zone_common_rule(const aw_problem *problem, const aw_zone *z,
                                   const aw_common_node *node, size_t nodes, size_t all)
{
    const int images = problem->history->images_only;
    return (aw_common_rule){.node = node,
                            .nodes = nodes,
                            .columns = problem->columns,
                            .needed = z->needed,
                            .moves_as = is_far(z) ? &problem->centre : NULL, /* no tables near */
                            .table_error = table_error(problem, &z->rules, all),
                            .passage_error = AW_PASSAGE_TABLES * problem->tolerance / (double)all,
                            .apart_error = images ? AW_IMAGES_APART * problem->tolerance : 0.0,
                            .kink_error = AW_KINK_SHARE * problem->tolerance};
}

static double panels_begin(const aw_zone *z)
{
    return z->rules.has_convolution ? aw_blocks_reach(&z->blocks) : z->from;
}

aw_status aw_zone_panels(const aw_solver *solver, const aw_problem *problem, const aw_zone *z,
                         int level, aw_panels *panels)
{
    aw_panels_options params = zone_panels(problem->history, z, level);
    const double from = panels_begin(z);
    aw_field_point corner[4];
    aw_grid_corners(problem->point, problem->columns, problem->points, corner);
    if (is_far(z) && solver->device->ops->passes) params.corner = corner;
    panels->n = panels->panels = 0;
    if (!(from < z->to)) return AW_OK;
    return aw_panels_add(panels, problem->history, &problem->centre, from, z->to, &params);
}

/* The panels of a rule without those that no point of the grid sees. */
static aw_status seen_panels(const aw_solver *solver, const aw_problem *problem, const aw_zone *z,
                             int level, aw_panels *panels)
{
    aw_field_point corner[4];
    aw_status status = AW_OK;
    AW_TRY(aw_zone_panels(solver, problem, z, level, panels));
    aw_grid_corners(problem->point, problem->columns, problem->points, corner);
    aw_panels_drop_unseen(panels, problem->history, corner);
done:
    return status;
}

aw_status aw_zone_coarser_saving(const aw_solver *solver, const aw_problem *problem,
                                 const aw_zone *z, double *saving)
{
    const aw_rules *r = &z->rules;
    aw_panels panels = {.node = NULL};
    aw_status status = AW_OK;
    *saving = r->tiles_only || r->density_level > r->density_least ? AW_COARSER_GAIN : 0.0;
    if (r->tiles_only || r->level == 0 || r->nodes == 0) return AW_OK;
    AW_TRY(seen_panels(solver, problem, z, r->level - 1, &panels));
    *saving = fmax(*saving, 1.0 - (double)panels.n / (double)r->nodes);
done:
    aw_panels_free(&panels);
    return status;
}

aw_status aw_zone_integrate(aw_solver *solver, const aw_problem *problem, aw_zone *z,
                            aw_report *report)
{
    aw_rules *rules = &z->rules;
    const aw_rule *r = &rules->rule[rules->level];
    const int far = is_far(z);
    const aw_panels_options params = zone_panels(problem->history, z, rules->level);
    const aw_device_ops *ops = solver->device->ops;
    const double from = panels_begin(z);
    aw_status status = AW_OK;
    if (rules->has_convolution) {
        rules->all_convolution = from == z->to;
        AW_TRY(ops->wait(solver->device->state));
        aw_convert_velocities(problem, z->sum, z->workspace);
    }
    rules->rate_part = part_of_rates(problem, rules);
    AW_TRY(seen_panels(solver, problem, z, rules->level, &z->panels));
    rules->nodes = z->panels.n;
    if (z->panels.n == 0) return AW_OK;
    aw_common_rule rule = aw_zone_common_rule(problem, z, z->panels.node, z->panels.n, z->panels.n);
    rule.I = z->sum;
    rule.check = z->check;
    rule.check_rates = z->check_rates;
    if (params.density > r->density)
        AW_TRY(
            aw_density_choose(solver, problem, &z->probes, r->density, &z->panels, &report->work));
    const uint64_t before = report->work.evaluations;
    AW_TRY(ops->integrate(solver->device->state, &rule, &problem->scales, &report->work));
    AW_TRY(ops->wait(solver->device->state));
    rules->cost += (double)(report->work.evaluations - before) / (double)problem->points +
                   AW_LOOKUP_COST * (double)rule.tables;
    if (far) aw_convert_velocities(problem, z->sum, z->workspace);
done:
    return status;
}
