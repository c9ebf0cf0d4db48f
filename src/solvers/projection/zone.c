/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integration of a zone of the strategy `projection` (zone.h): how a rule becomes panels
 * (rule_panels, zone_panels), the pass, and the caps on the lengths of panels. */
#include "src/solvers/projection/zone.h"

#include <math.h>
#include <string.h>

#include "kernels/math/convolution.h"
#include "kernels/math/retarded.h"
#include "quadrature/partition.h"
#include "src/base/memory.h"
#include "src/solvers/projection/budget.h"
#include "src/solvers/projection/constants.h"
#include "src/solvers/projection/sample.h"
#include "src/solvers/projection/velocities.h"

void aw_zone_free(aw_zone *zone)
{
    aw_panels_free(&zone->panels);
    aw_free(zone->cut);
    zone->cut = NULL;
    zone->cuts = zone->cut_capacity = 0;
}

double aw_blocks_reach(const aw_blocks *blocks)
{
    return blocks->n > 0 ? blocks->end[blocks->n - 1] : 0.0;
}

/* Number of the lattices of a block; 0: they do not cover the points with few nodes beyond the
 * slices. */
static int lattices_that_cover(const aw_history_view *h, double from, double to)
{
    const double part =
        aw_retarded_at(h, 0.5 * (from + to)).same ? AW_BLOCK_PAD : AW_BLOCK_PAD_MIXED;
    aw_block_lattice lattice[3];
    const aw_block_range block = {from, to, from, to};
    const int n = aw_lattices_of(h, &block, lattice);
    for (int k = 0; k < n; ++k) {
        double pad[2];
        aw_lattice_pad(h, &lattice[k], pad);
        if (!(pad[0] <= part * h->ns && pad[1] <= part * h->nx)) return 0;
    }
    return n;
}

/* Let blocks that turn little together share their lattices, those in place among themselves.
 * @param[in] turn  largest turn of a block against its middle [cells] */
static void join_blocks(const aw_history_view *h, double turn, aw_blocks *blocks)
{
    const aw_retarded now = aw_retarded_at(h, 0.0);
    aw_retarded begin = now;
    int in_place = 1;
    for (size_t i = 0; i < blocks->n; ++i) {
        const aw_retarded end = aw_retarded_at(h, blocks->end[i]);
        const double allowed = in_place ? AW_IN_PLACE_CELLS : 2.0 * AW_SHARED_TURN * turn;
        blocks->joins[i] = i > 0 && aw_turn_cells(&begin, &end) <= allowed;
        if (blocks->joins[i]) continue;
        in_place = i == 0 && aw_turn_cells(&now, &end) <= AW_IN_PLACE_CELLS;
        begin = aw_retarded_at(h, i > 0 ? blocks->end[i - 1] : 0.0);
    }
}

/* Whether the bunch is at least about as wide across its motion as long along it. If not, tiles
 * need few nodes where slices turn, and blocks cost more. */
static int lies_across(const aw_retarded *now)
{
    const double c = fabs(now->cg * now->ct + now->sg * now->st);
    const double s = fabs(now->sg * now->ct - now->cg * now->st);
    const double along = now->half_s * c + now->half_x * s;
    const double across = now->half_s * s + now->half_x * c;
    return across >= AW_ACROSS_LEAST * along;
}

/* Factor by which the nodes of a convolution may be further apart than at
 * AW_CONVOLUTION_TOLERANCE. */
static double spread_for(double tolerance) { return cbrt(tolerance / AW_CONVOLUTION_TOLERANCE); }

/* The same, but not closer together. */
static double wider_by(double tolerance) { return fmax(spread_for(tolerance), 1.0); }

/* Largest turn of the slices of a block for a tolerance [cells]. */
static double turn_cells(double tolerance)
{
    return AW_TURN_CELLS * fmin(spread_for(tolerance), AW_TURN_WIDER);
}

aw_blocks aw_zone_convolution_blocks(const aw_solver *solver, const aw_problem *problem,
                                     const aw_zone *near, double border, double end)
{
    const aw_history_view *h = problem->history;
    const aw_retarded now = aw_retarded_at(h, 0.0);
    const double aspect = fmax(now.half_s / now.half_x, now.half_x / now.half_s);
    const double limit = fmin(fmax(AW_REACH_FACTOR, AW_REACH_ASPECT * aspect) * border, end);
    const int turns = lies_across(&now);
    const size_t most = turns ? AW_BLOCKS_MAX : 1;
    const double cells = turn_cells(problem->tolerance);
    const double least = AW_BLOCK_LEAST_CELLS * fmin(now.hs, now.hx);
    const double turn = turns ? cells : 0.5 * AW_IN_PLACE_CELLS;
    aw_blocks blocks = {.n = 0};
    double from = 0.0, to = 0.0; /* of the block that is being measured */
    int beyond = 0;              /* number of lattices where the far zone could take over */
    if (near->rules.tiles_only || h->images_only || !aw_device_convolves(solver->device))
        return blocks;
    if (!aw_convolution_fits(h, problem->point, problem->columns, problem->points)) return blocks;
    while (blocks.n < most && from < limit) {
        const double last = to;
        to = aw_convolution_end(h, last, fmin(limit, aw_next_edge(h, last)), turn);
        if (!(to > last)) break;
        /* An edge and a slice may be next to each other, to rounding; the edge of the first magnet
         * is next to the mean of a bunch that starts there, to its noise. */
        if (to - from < fmax(AW_BLOCK_LEAST * to, least) && to < limit) continue;
        const double worth = AW_LATTICES_AT_ONCE + AW_LATTICES_PER_E * log(fmax(to / border, 1.0));
        if (from >= border && !(beyond < worth)) break;
        const int lattices = lattices_that_cover(h, from, to);
        if (lattices == 0) break;
        beyond += from >= border ? lattices : 0;
        blocks.lattices += lattices;
        blocks.end[blocks.n++] = from = to;
    }
    if (aw_blocks_reach(&blocks) < AW_REACH_LEAST * border) blocks = (aw_blocks){.n = 0};
    join_blocks(h, turn, &blocks);
    return blocks;
}

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
        const double first = AW_FIRST_SWEEP * spread_for(problem->tolerance);
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

/* Some of the zone's nodes, of which there are `all`, as a rule without sums. */
static aw_common_rule common_rule(const aw_problem *problem, const aw_zone *z,
                                  const aw_common_node *node, size_t nodes, size_t all)
{
    const int images = problem->history->images_only;
    return (aw_common_rule){.node = node,
                            .nodes = nodes,
                            .columns = problem->columns,
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

/* Replace `panels` by those of the zone at one of its rules, with passages in the far zone if the
 * device knows them. */
static aw_status make_panels(const aw_solver *solver, const aw_problem *problem, const aw_zone *z,
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

/* The same without those that no point of the grid sees. */
static aw_status seen_panels(const aw_solver *solver, const aw_problem *problem, const aw_zone *z,
                             int level, aw_panels *panels)
{
    aw_field_point corner[4];
    aw_status status = AW_OK;
    AW_TRY(make_panels(solver, problem, z, level, panels));
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
    aw_common_rule rule = common_rule(problem, z, z->panels.node, z->panels.n, z->panels.n);
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
        aw_common_rule rule = common_rule(problem, e->z, node, order, e->panels.n);
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

aw_status aw_zone_cap_panels(aw_solver *solver, const aw_problem *problem, aw_zone *z,
                             aw_panel_test *test, aw_work *work)
{
    const int order = z->rules.rule[z->rules.level].order;
    examination e = {solver, problem, z, test, work, {.node = NULL}};
    aw_status status = AW_OK;
    double *error = NULL, (*passage)[AW_RESULTS] = NULL;
    test->capped = 0;
    test->error = 0.0;
    AW_TRY(make_panels(solver, problem, z, z->rules.level, &e.panels));
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
