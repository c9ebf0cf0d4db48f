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
} sweep;

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
    return (sweep){.part = gain / (2.0 * to.extent) + straighter / (2.0 * to.chord) + passed,
                   .gain = gain};
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
    return aw_projection_view(f, corner, &view) && !(view.to > view.from);
}

void aw_panels_drop_unseen(aw_panels *panels, const aw_history_view *history,
                           const aw_field_point corner[4])
{
    size_t kept = 0;
    for (size_t i = 0; i < panels->n; ++i) {
        const aw_retarded f = aw_retarded_at(history, panels->node[i].r);
        if (is_unseen(&f, corner)) continue;
        panels->node[kept++] = panels->node[i];
    }
    panels->n = kept;
}
