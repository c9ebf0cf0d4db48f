/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quadrature/panels.h"

#include <gsl/gsl_integration.h>
#include <gsl/gsl_sf_legendre.h>
#include <math.h>
#include <string.h>

#include "kernels/math/projection.h"
#include "quadrature/partition.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Distance from the line of sight up to which the curvature of the arc matters: this fraction of
 * the beam's half width across (1.5 sigma, since the box is 5 sigma wide) ... */
#define AW_BENT 0.3
/* ... and at most this fraction of the circle's radius. */
#define AW_ASIDE 0.6
/* Fraction of the beam's box; a circle that sweeps through less of it is nearly at rest. */
#define AW_STILL 0.01

/* Largest number of times that a panel is halved: 1e-6 m out of a kilometre. */
enum { AW_HALVINGS = 30 };

void aw_panels_free(aw_panels *panels)
{
    aw_free(panels->node);
    memset(panels, 0, sizeof *panels);
}

/* How circles about the centre move over the beam in a panel. */
typedef struct sweep {
    double part; /* of the beam: of the box along the line of sight, plus of the box's chord beside
                  * it, by the straightening of the arc, and by circles of images where they touch
                  * its long side */
    double gain; /* by which the circle gains on the beam [m] */
    int passes;  /* 1: it is a passage, and `part` is by how much the beam looks different */
    int across;  /* of a passage (aw_common_node) */
} sweep;

/* A rule whose nodes may lie this many cells of the beam apart has passages, wherever its nodes do
 * lie more than AW_ALIASED_CELLS apart: they would alias what the beam has from cell to cell. With
 * passages at 2 or 3 cells, too, 64 x 64 points in the LCLS bend (1e-5) and the Zeuthen chicane
 * (48 x 48, 1e-4) had fewer nodes, but steps failed, and took longer. */
#define AW_PASSAGE_CELLS 4.0
#define AW_ALIASED_CELLS 1.0

/* The beam's grid as seen from the middle of the points, at one r'. */
typedef struct looks {
    double c,
        s; /* cosine and sine of the angle from the axis along its rows to the line of sight */
    double flat; /* half extent of the box across the rows over that along them */
    double cell; /* the longer projection of a cell on the line of sight [m] */
    double box;  /* extent of the box along the line of sight [m] */
} looks;

/* @return 0: not all points see the beam from outside, or circles of other heights do, too */
static int looks_at(const aw_history_view *h, const aw_field_point corner[4], double r, looks *out)
{
    const aw_retarded f = aw_retarded_at(h, r);
    aw_projection view;
    if (f.height2 > 0.0 || f.gap > 0.0 || !aw_projection_view(&f, corner, 1, &view)) return 0;
    out->c = view.cz * f.cg + view.cx * f.sg;
    out->s = view.cx * f.cg - view.cz * f.sg;
    out->flat = f.half_x / f.half_s;
    out->cell = fmax(fabs(out->c) * f.hs, fabs(out->s) * f.hx);
    out->box = 2.0 * (fabs(out->c) * f.half_s + fabs(out->s) * f.half_x);
    return 1;
}

/* By how much the beam looks different in parts of its box, from one r' to another. With offsets in
 * parts of the extent of one axis along the line of sight, its turn shifts what lies beside that
 * axis along it. HUGE_VAL: the axis is across the line of sight in between. */
static double change_of_looks(const looks *from, const looks *to, int across)
{
    if (across)
        return from->s * to->s > 0.0 ? fabs(to->c / to->s - from->c / from->s) / to->flat
                                     : HUGE_VAL;
    return from->c * to->c > 0.0 ? fabs(to->s / to->c - from->s / from->c) * to->flat : HUGE_VAL;
}

/* Make a panel from a to b a passage, if nodes that are as close as its rule wants them would be
 * more than a cell apart, and the beam looks the same in it but for as little as circles would
 * sweep otherwise.
 * @param[in] straighter  part of the box by which arcs become straighter */
static void try_passage(const aw_history_view *h, double a, double b, double straighter,
                        const aw_panels_options *options, sweep *swept)
{
    const double r[3] = {a, sqrt(a * b), b};
    looks at[3];
    if (!options->corner || options->few_rates || !(a > 0.0)) return;
    for (int i = 0; i < 3; ++i)
        if (!looks_at(h, options->corner, r[i], &at[i])) return;
    const double nodes = options->order * at[2].cell,
                 fewer = fmax(swept->part / options->sweep, 1.0);
    if (!(options->sweep * at[2].box >= AW_PASSAGE_CELLS * nodes)) return;
    if (!(swept->gain > AW_ALIASED_CELLS * nodes * fewer)) return;
    double part[2];
    for (int across = 0; across < 2; ++across)
        part[across] = straighter + change_of_looks(&at[0], &at[1], across) +
                       change_of_looks(&at[1], &at[2], across);
    const int across = part[1] < part[0];
    if (!(part[across] <= options->sweep)) return;
    swept->part = part[across];
    swept->across = across;
    swept->passes = 1;
}

static sweep sweep_of(const aw_history_view *h, const aw_field_point *centre, double a, double b,
                      const aw_panels_options *options)
{
    const aw_view_geometry from = aw_view_geometry_at(h, centre, a),
                           to = aw_view_geometry_at(h, centre, b);
    int tangent = 0;
    const double images = a > 0.0 ? aw_images_sweep(h, a, b, &tangent) : 0.0;
    const double gain = fabs(to.lead - from.lead), y = fmin(AW_BENT * to.across, AW_ASIDE * a);
    const double straighter = a > 0.0 ? 0.5 * y * y * (1.0 / a - 1.0 / b) : 0.0;
    const double passed = tangent ? options->tangent * images / (2.0 * to.chord)
                                  : options->images * images / (2.0 * to.extent);
    sweep s = {.part = gain / (2.0 * to.extent) + straighter / (2.0 * to.chord) + passed,
               .gain = gain};
    try_passage(h, a, b, straighter / (2.0 * to.chord), options, &s);
    return s;
}

/* Weights for three of a panel's nodes on [-1, 1], the middle and a pair at +-x, exact to third
 * order. The pair is the one nearest to 0.8, between Gauss's (0.77) and Simpson's (1). */
static void rate_weights(const gsl_integration_glfixed_table *rule, int order, double *weight)
{
    double best = HUGE_VAL, x, w;
    int pair = order - 1;
    for (int i = order / 2 + 1; i < order; ++i) {
        gsl_integration_glfixed_point(-1.0, 1.0, (size_t)i, &x, &w, rule);
        if (!(fabs(x - 0.8) < fabs(best - 0.8))) continue;
        best = x;
        pair = i;
    }
    for (int i = 0; i < order; ++i) weight[i] = 0.0;
    weight[pair] = weight[order - 1 - pair] = 1.0 / (3.0 * best * best);
    weight[order / 2] = 2.0 - 2.0 * weight[pair];
}

/* Weights of null rules, which give the finest component of a function that the nodes resolve. With
 * all n nodes that is the coefficient of the Legendre polynomial of degree n - 1 (such rules:
 * Berntsen and Espelid, ACM TOMS 17 (1991) 233); with the three of `rate`, a second difference. */
static void null_weights(const gsl_integration_glfixed_table *rule, int order, const double *rate,
                         double *null, double *null_rate)
{
    for (int i = 0; i < order; ++i) {
        double x, w;
        gsl_integration_glfixed_point(-1.0, 1.0, (size_t)i, &x, &w, rule);
        null[i] = w * gsl_sf_legendre_Pl(order - 1, x);
        null_rate[i] = i == order / 2 ? rate[i] - 2.0 : rate[i];
    }
}

static aw_status add_panel(aw_panels *panels, double a, double b, const sweep *swept,
                           const aw_panels_options *options,
                           const gsl_integration_glfixed_table *rule)
{
    aw_status status = AW_OK;
    double rate[AW_PANEL_ORDER], null[AW_PANEL_ORDER], null_rate[AW_PANEL_ORDER];
    rate_weights(rule, options->order, rate);
    null_weights(rule, options->order, rate, null, null_rate);
    AW_TRY(aw_grow((void **)&panels->node, &panels->capacity, panels->n + (size_t)options->order,
                   sizeof *panels->node));
    for (int i = 0; i < options->order; ++i) {
        aw_common_node *node = &panels->node[panels->n++];
        node->density = options->density;
        node->from = swept->passes ? a : 0.0;
        node->to = swept->passes ? b : 0.0;
        node->nodes = swept->passes ? options->order : 0;
        node->across = swept->across;
        node->step = swept->gain / options->order;
        node->stretch = a > 0.0 ? log(b / a) / options->order : 0.0;
        /* Nodes in ln r', except in a panel that begins at 0. */
        if (a > 0.0) {
            gsl_integration_glfixed_point(log(a), log(b), (size_t)i, &node->r, &node->weight, rule);
            node->r = exp(node->r);
            node->weight *= node->r;
        } else {
            gsl_integration_glfixed_point(a, b, (size_t)i, &node->r, &node->weight, rule);
        }
        const double scale = (a > 0.0 ? log(b / a) * node->r : b - a) / 2.0;
        node->rate = options->few_rates ? rate[i] * scale : node->weight;
        node->check = null[i] * scale;
        node->check_rate = (options->few_rates ? null_rate[i] : null[i]) * scale;
    }
    panels->panels++;
done:
    return status;
}

/* Largest spacing of nodes at r' [m]. A circle that has left a long bunch across its short axis
 * still passes through what it has along the other. */
static double largest_spacing(const aw_panels_options *options, double r)
{
    double least = HUGE_VAL;
    for (int i = 0; i < 2; ++i) {
        const double ratio = r / options->bunch[i];
        least = fmin(least, options->spacing[i] * fmax(1.0, ratio * ratio));
    }
    return least;
}

aw_status aw_panels_add(aw_panels *panels, const aw_history_view *history,
                        const aw_field_point *centre, double from, double to,
                        const aw_panels_options *options)
{
    aw_status status = AW_OK;
    if (options->order < 3 || options->order > AW_PANEL_ORDER || options->order % 2 == 0)
        return aw_error(AW_ERR_ARG, "a panel cannot have %d nodes (expected odd, 3 to %d)",
                        options->order, AW_PANEL_ORDER);
    gsl_integration_glfixed_table *rule =
        gsl_integration_glfixed_table_alloc((size_t)options->order);
    if (!rule)
        return aw_error(AW_ERR_NOMEM, "out of memory for a rule of %d nodes", options->order);
    for (double a = from; a < to;) {
        const double edge = fmin(aw_next_edge(history, a), to);
        const double spaced = a + options->order * largest_spacing(options, a);
        double b = fmin(fmin(fmax(options->ratio * a, a + options->first), edge), spaced);
        /* Two panels of equal ratio rather than a short remainder. */
        if (b < edge && a > 0.0 && b * sqrt(options->ratio) > edge) b = sqrt(a * edge);
        sweep swept = sweep_of(history, centre, a, b, options);
        const double longer = fmin(fmin(options->still * a, edge), spaced);
        if (longer > b && longer < edge) { /* a panel up to an edge gains nothing */
            const sweep longer_swept = sweep_of(history, centre, a, longer, options);
            if (longer_swept.part <= AW_STILL) {
                b = longer;
                swept = longer_swept;
            }
        }
        for (int i = 0; i < AW_HALVINGS && a > 0.0 && swept.part > options->sweep; ++i) {
            b = sqrt(a * b);
            swept = sweep_of(history, centre, a, b, options);
        }
        if (options->caps && a > 0.0) {
            const double end = aw_panel_caps_end(options->caps, a, b);
            if (end < b) swept = sweep_of(history, centre, a, b = end, options);
        }
        AW_TRY(add_panel(panels, a, b, &swept, options, rule));
        a = b;
    }
done:
    gsl_integration_glfixed_table_free(rule);
    return status;
}

/* Whether the circle of no point of a rectangle meets the beam. */
static int is_unseen(const aw_retarded *f, const aw_field_point corner[4])
{
    aw_projection view;
    if (f->images_only) {
        const aw_span span = aw_projection_span(f, corner);
        double near, far;
        aw_span_distances(f, &span, &near, &far);
        return !aw_images_seen(f, near, far);
    }
    return aw_projection_view(f, corner, 0, &view) && !(view.to > view.from);
}

int aw_panels_have_passages(const aw_panels *panels)
{
    for (size_t i = 0; i < panels->n; ++i)
        if (aw_is_passage(&panels->node[i])) return 1;
    return 0;
}

void aw_panels_drop_unseen(aw_panels *panels, const aw_history_view *history,
                           const aw_field_point corner[4])
{
    size_t kept = 0;
    for (size_t i = 0; i < panels->n; ++i) {
        const aw_retarded f = aw_retarded_at(history, panels->node[i].r);
        if (!aw_is_passage(&panels->node[i]) && is_unseen(&f, corner)) continue;
        panels->node[kept++] = panels->node[i];
    }
    panels->n = kept;
}
