/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/wake/function.h"

#include <math.h>
#include <string.h>

#include "pic/line/kernel.h"
#include "src/base/memory.h"
#include "src/base/units.h"

/* Gauss and Legendre's rule of three nodes on [-1, 1]. */
enum { GAUSS = 3 };
static const double gauss_node[GAUSS] = {-0.77459666924148337704, 0.0, 0.77459666924148337704};
static const double gauss_weight[GAUSS] = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};

aw_status aw_wake_points_add(aw_wake_points *p, double at, double value)
{
    if (aw_grow((void **)&p->at, &p->room[0], p->n + 1, sizeof(double)) != AW_OK ||
        aw_grow((void **)&p->value, &p->room[1], p->n + 1, sizeof(double)) != AW_OK)
        return AW_ERR_NOMEM;
    p->at[p->n] = at;
    p->value[p->n++] = value;
    return AW_OK;
}

/* Integrals up to each point; that of the source itself is `start`. */
static aw_status integrate(aw_wake_points *p, double start)
{
    if (p->n == 0) return AW_OK;
    if (!(p->integral = aw_alloc(p->n, sizeof(double)))) return AW_ERR_NOMEM;
    p->integral[0] = start;
    for (size_t k = 1; k < p->n; ++k)
        p->integral[k] =
            p->integral[k - 1] + 0.5 * (p->at[k] - p->at[k - 1]) * (p->value[k] + p->value[k - 1]);
    return AW_OK;
}

aw_status aw_wake_function_finish(aw_wake_function *f)
{
    aw_status status = AW_OK;
    f->reach = INFINITY;
    if (f->w.n > 0) f->reach = f->w.at[f->w.n - 1];
    if (f->w1.n > 0) f->reach = fmin(f->reach, f->w1.at[f->w1.n - 1]);
    /* the constant is part of w, and so, in the integral, is the resistance */
    if (f->w.n == 0 && (f->per_C != 0.0 || f->R != 0.0))
        AW_TRY(aw_wake_points_add(&f->w, 0.0, 0.0));
    for (size_t k = 0; k < f->w.n; ++k) f->w.value[k] += f->per_C;
    AW_TRY(integrate(&f->w, f->R * AW_C));
    AW_TRY(integrate(&f->w1, 0.0));
done:
    return status;
}

static void free_points(aw_wake_points *p)
{
    aw_free(p->at);
    aw_free(p->value);
    aw_free(p->integral);
}

void aw_wake_function_free(aw_wake_function *f)
{
    free_points(&f->w);
    free_points(&f->w1);
    *f = (aw_wake_function){.reach = 0.0};
}

int aw_wake_function_is_zero(const aw_wake_function *f)
{
    return f->w.n == 0 && f->w1.n == 0 && f->L == 0.0;
}

/* What of a table meets what of the density. */
typedef enum part { VALUE, INTEGRAL, VALUE_ON_SLOPE } part;

/* Parameters of a walk along a table. */
typedef struct walk {
    const aw_wake_points *points;
    part part;
    double factor, h;
    int n;
    double *weight;
} walk;

/* The function beyond its point k. */
static double function_at(const walk *w, size_t k, double y)
{
    const aw_wake_points *p = w->points;
    const double d = y - p->at[k];
    const double slope =
        k + 1 < p->n ? (p->value[k + 1] - p->value[k]) / (p->at[k + 1] - p->at[k]) : 0.0;
    return w->part == INTEGRAL ? p->integral[k] + d * (p->value[k] + 0.5 * slope * d)
                               : p->value[k] + slope * d;
}

/* Add `amount` times the splines, or their slopes, a part f of a cell beyond its begin. */
static void add(const walk *w, int cell, double f, double amount)
{
    double spline[AW_LINE_NODES];
    if (w->part == VALUE_ON_SLOPE)
        aw_line_spline_slope(f, spline);
    else
        aw_line_spline(f, spline);
    for (int q = 0; q < AW_LINE_NODES && cell + q <= w->n; ++q)
        w->weight[cell + q] += amount * spline[q];
}

/* Add the table from `from` to `to` in a cell, behind its point k. */
static void add_panel(const walk *w, int cell, size_t k, const double range[2])
{
    const double middle = 0.5 * (range[0] + range[1]), half = 0.5 * (range[1] - range[0]);
    for (int g = 0; g < GAUSS; ++g) {
        const double y = middle + half * gauss_node[g];
        add(w, cell, y / w->h - cell, w->factor * half * gauss_weight[g] * function_at(w, k, y));
    }
}

static void add_table(const walk *w)
{
    const aw_wake_points *p = w->points;
    size_t k = 0;
    double from = 0.0;
    if (p->n == 0) return;
    for (int cell = 0; cell <= w->n; ++cell) {
        const double end = (cell + 1) * w->h;
        while (from < end) {
            while (k + 1 < p->n && p->at[k + 1] <= from) ++k;
            const double to = k + 1 < p->n ? fmin(end, p->at[k + 1]) : end;
            add_panel(w, cell, k, (const double[2]){from, to});
            from = to;
        }
    }
}

void aw_wake_weights(const aw_wake_function *f, aw_wake_order order, double h, int n,
                     double *weight)
{
    walk w = {.points = &f->w, .part = VALUE, .factor = 1.0, .h = h, .n = n, .weight = weight};
    memset(weight, 0, (size_t)(n + 1) * sizeof *weight);
    if (order == AW_WAKE_INTEGRAL) {
        w.part = INTEGRAL;
        add_table(&w);
        w.part = VALUE;
        add(&w, 0, 0.0, -f->L * AW_C * AW_C); /* delta */
        w.points = &f->w1;
        w.factor = -AW_C;
        add_table(&w);
        return;
    }
    add_table(&w);
    add(&w, 0, 0.0, f->R * AW_C);
    /* by parts: the derivative of delta and of w1 is that of the density, with the other sign */
    w.part = VALUE_ON_SLOPE;
    w.factor = AW_C / h;
    add(&w, 0, 0.0, w.factor * f->L * AW_C);
    w.points = &f->w1;
    add_table(&w);
}
