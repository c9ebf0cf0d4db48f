/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/line/kernel.h"

#include <math.h>
#include <string.h>

/* A panel of the integral is so short that the slippage grows by this many cells, and at most as
 * long as its distance from the field point. With 8 Gauss nodes forces in the Zeuthen chicane
 * change by 4e-8 of the largest when it is ten times smaller. */
#define PANEL_CELLS 0.5

/* Gauss and Legendre's rule of 8 nodes on [-1, 1]: the positive nodes and their weights. */
enum { GAUSS_HALF = 4 };
static const double gauss_node[GAUSS_HALF] = {0.18343464249564980494, 0.52553240991632898582,
                                              0.79666647741362673959, 0.96028985649753623168};
static const double gauss_weight[GAUSS_HALF] = {0.36268378337836198297, 0.31370664587788728734,
                                                0.22238103445337447054, 0.10122853629037625915};

typedef struct builder {
    const aw_line_place *place;
    double *weight;
    double beta, one_minus_beta;
    double reach; /* slippage beyond which nothing acts on any node [m] */

    /* The piece of the orbit that is being integrated, in the frame of the field point, whose
     * tangent is the first axis: its nearest point, at a distance y along the orbit. */
    int piece;
    double y, along, across, angle;
} builder;

/* A source: its distance along the orbit and in space [m], and cosines between directions. */
typedef struct source {
    double y, rho;
    double n_t; /* from the source to the field point, and the tangent there */
    double t_t; /* the tangents of both */
} source;

/* Add a lambda'(s - D) + b lambda(s - D). */
static void add(builder *b, double slippage, double on_slope, double on_density)
{
    const double u = slippage / b->place->h, below = floor(u), f = u - below;
    double w[AW_LINE_NODES], slope[AW_LINE_NODES];
    if (!(u < b->place->n + 1)) return;
    aw_line_spline(f, w);
    aw_line_spline_slope(f, slope);
    const int first = (int)below + AW_LINE_FIRST;
    for (int k = 0; k < AW_LINE_NODES; ++k)
        if (first + k < b->place->n)
            b->weight[first + k + 1] += on_density * w[k] - on_slope / b->place->h * slope[k];
}

static double curvature(const builder *b) { return b->place->orbit->piece[b->piece].kappa; }

/* The source on the current piece at a distance y, at least that of its nearest point. */
static source source_at(const builder *b, double y)
{
    const double e = y - b->y, half = 0.5 * curvature(b) * e, chord = e * aw_sinc(half);
    const double along = b->along + chord * cos(b->angle + half);
    const double across = b->across + chord * sin(b->angle + half);
    const double rho = hypot(along, across);
    return (source){y, rho, along / rho, cos(b->angle + 2.0 * half)};
}

static double slippage(const builder *b, const source *at)
{
    return at->y - at->rho + b->one_minus_beta * at->rho;
}

static void add_curved(builder *b, const source *at, double weight)
{
    const double beta = b->beta;
    add(b, slippage(b, at), weight * beta * (beta * at->t_t - at->n_t) / at->rho,
        weight * at->n_t / (at->rho * at->rho));
}

static void add_straight(builder *b, double y, double weight)
{
    add(b, b->one_minus_beta * y, -weight * b->beta * b->one_minus_beta / y, weight / (y * y));
}

/* Add the panel [from, to] of the current piece, and subtract the straight line. */
static void add_panel(builder *b, double from, double to, int curved)
{
    const double middle = 0.5 * (from + to), half = 0.5 * (to - from);
    for (int k = -GAUSS_HALF; k < GAUSS_HALF; ++k) {
        const int i = k < 0 ? -1 - k : k;
        const double y = middle + (k < 0 ? -half : half) * gauss_node[i];
        const double weight = half * gauss_weight[i];
        const source at = source_at(b, y);
        if (curved) add_curved(b, &at, weight);
        add_straight(b, y, -weight);
    }
}

/* Slippage at a distance y: of the current piece, or of the straight line. */
static double slippage_at(const builder *b, double y, int curved)
{
    const source at = source_at(b, y);
    return curved ? slippage(b, &at) : b->one_minus_beta * y;
}

/* Add the current piece up to a distance `end`, which may be infinite.
 * @return 0 when nothing further away acts any more */
static int add_piece(builder *b, double end)
{
    const double R = 1.0 / fmax(fabs(curvature(b)), 1e-30), h = PANEL_CELLS * b->place->h;
    double from = b->y, width = from > 0.0 ? from : cbrt(24.0 * R * R * h);
    while (from < end) {
        const int curved = slippage_at(b, from, 1) < b->reach;
        const double now = slippage_at(b, from, curved);
        if (!curved && now >= b->reach) return 0;
        width = fmin(fmin(2.0 * width, end - from), from > 0.0 ? from : width);
        while (slippage_at(b, from + width, curved) - now > h) width *= 0.5;
        const double to = end - from <= width ? end : from + width;
        if (!(to > from)) return 0; /* never: the slippage is continuous */
        add_panel(b, from, to, curved);
        from = to;
    }
    return 1;
}

/* Distance from the field point at which piece i begins. */
static double begin_of(const builder *b, int i)
{
    return i > 0 ? b->place->S - b->place->orbit->piece[i].S : INFINITY;
}

/* Go on to the piece before the current one. */
static void step_back(builder *b)
{
    const double begin = begin_of(b, b->piece), e = begin - b->y, half = 0.5 * curvature(b) * e;
    const double chord = e * aw_sinc(half);
    b->along += chord * cos(b->angle + half);
    b->across += chord * sin(b->angle + half);
    b->angle += 2.0 * half;
    b->y = begin;
    b->piece--;
}

static void add_orbit(builder *b)
{
    b->piece = aw_orbit_find(b->place->orbit, b->place->S);
    /* The line on which the field point is has the field that is subtracted. */
    if (curvature(b) == 0.0) {
        if (b->piece == 0) return;
        step_back(b);
    }
    while (add_piece(b, begin_of(b, b->piece)) && b->piece > 0) step_back(b);
}

/* u^(-1/3) lambda'(s-u) du with u = w^3, which is smooth; a panel is a cell of u. */
static void add_steady(builder *b, double kappa)
{
    const double front = -2.0 * cbrt(kappa * kappa / 3.0);
    for (int cell = 0; cell <= b->place->n; ++cell) {
        const double from = cbrt(cell * b->place->h), to = cbrt((cell + 1) * b->place->h);
        const double middle = 0.5 * (from + to), half = 0.5 * (to - from);
        for (int k = -GAUSS_HALF; k < GAUSS_HALF; ++k) {
            const int i = k < 0 ? -1 - k : k;
            const double w = middle + (k < 0 ? -half : half) * gauss_node[i];
            add(b, w * w * w, front * half * gauss_weight[i] * 3.0 * w, 0.0);
        }
    }
}

void aw_line_kernel(const aw_line_place *place, double *weight)
{
    const double g = place->gamma, beta = sqrt((1.0 - 1.0 / g) * (1.0 + 1.0 / g));
    const double kappa = aw_orbit_at(place->orbit, place->S).kappa;
    builder b = {.place = place,
                 .weight = weight,
                 .beta = beta,
                 .one_minus_beta = 1.0 / (g * g * (1.0 + beta)),
                 .reach = (place->n + 1) * place->h};
    memset(weight, 0, (size_t)(place->n + 1) * sizeof *weight);
    if (place->model == AW_LINE_TRANSIENT)
        add_orbit(&b);
    else if (kappa != 0.0)
        add_steady(&b, kappa);
}
