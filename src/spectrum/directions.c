/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/spectrum/directions.h"

#include <gsl/gsl_integration.h>
#include <math.h>
#include <stdlib.h>

#include "src/base/memory.h"

static aw_status angles_new(size_t n, aw_angles *out)
{
    out->n = n;
    out->at = aw_alloc(n, sizeof *out->at);
    out->weight = aw_alloc(n, sizeof *out->weight);
    return out->at && out->weight ? AW_OK : AW_ERR_NOMEM;
}

void aw_directions_free(aw_directions *d)
{
    aw_angles *axis[] = {&d->theta, &d->psi};
    for (int i = 0; i < 2; ++i) {
        aw_free(axis[i]->at);
        aw_free(axis[i]->weight);
        *axis[i] = (aw_angles){0};
    }
}

double aw_directions_weight(const aw_directions *d, size_t i, size_t j)
{
    if (d->radius > 0.0 && hypot(d->theta.at[i] - d->centre, d->psi.at[j]) > d->radius) return 0.0;
    return d->theta.weight[i] * d->psi.weight[j];
}

/* Both halves, and cos psi. */
static void weigh_heights(aw_angles *psi)
{
    for (size_t i = 0; i < psi->n; ++i) psi->weight[i] *= 2.0 * cos(psi->at[i]);
}

static void even(aw_angles *angles, double a, double b)
{
    const double width = (b - a) / (double)angles->n;
    for (size_t i = 0; i < angles->n; ++i) {
        angles->at[i] = a + ((double)i + 0.5) * width;
        angles->weight[i] = width;
    }
}

aw_status aw_directions_even(const double theta[2], size_t n_theta, double psi_max, size_t n_psi,
                             aw_directions *out)
{
    aw_status status = AW_OK;
    *out = (aw_directions){0};
    AW_TRY(angles_new(n_theta, &out->theta));
    AW_TRY(angles_new(n_psi, &out->psi));
    even(&out->theta, theta[0], theta[1]);
    even(&out->psi, 0.0, psi_max);
    weigh_heights(&out->psi);
done:
    if (status != AW_OK) aw_directions_free(out);
    return status;
}

/* A growing list of the edges of panels. */
typedef struct edges {
    double *at; /* [n], owned */
    size_t n, capacity;
} edges;

static aw_status add_edge(edges *e, double at)
{
    void *block = e->at;
    const aw_status status = aw_grow(&block, &e->capacity, e->n + 1, sizeof *e->at);
    e->at = block;
    if (status == AW_OK) e->at[e->n++] = at;
    return status;
}

/* Edges from a (left out) to b; panels double from the finest at a, and halve towards b if that is
 * an end of the kind, too. */
static aw_status add_panels(edges *e, const aw_grading *g, double a, double b, int both)
{
    aw_status status = AW_OK;
    const double end = both ? 0.5 * (a + b) : b;
    const double widest = both && g->between > 0.0 ? fmin(g->between, g->widest) : g->widest;
    const size_t first = e->n;
    double width = g->finest, at = a + width;
    while (at < end - 0.25 * width) {
        AW_TRY(add_edge(e, at));
        width = fmin(2.0 * width, widest);
        at += width;
    }
    const size_t last = e->n;
    AW_TRY(add_edge(e, end));
    if (!both) return AW_OK;
    for (size_t i = last; i > first; --i) AW_TRY(add_edge(e, a + b - e->at[i - 1]));
    AW_TRY(add_edge(e, b));
done:
    return status;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Directions of the straights, rising, those that are the same once. */
static aw_status straights(const aw_orbit_view *orbit, double same, edges *out)
{
    aw_status status = AW_OK;
    for (int i = 0; i < orbit->n; ++i)
        if (orbit->piece[i].kappa == 0.0) AW_TRY(add_edge(out, orbit->piece[i].theta));
    if (out->n == 0) AW_TRY(add_edge(out, orbit->piece[0].theta)); /* a circle */
    if (!out->at) goto done;                                       /* never: it has one */
    qsort(out->at, out->n, sizeof *out->at, compare);
    size_t n = 0;
    for (size_t i = 0; i < out->n; ++i)
        if (n == 0 || out->at[i] - out->at[n - 1] > same) out->at[n++] = out->at[i];
    out->n = n;
done:
    return status;
}

/* Gauss-Legendre nodes on all panels. */
static aw_status nodes_of(const edges *e, int nodes, aw_angles *out)
{
    aw_status status = angles_new((e->n - 1) * (size_t)nodes, out);
    gsl_integration_glfixed_table *table = gsl_integration_glfixed_table_alloc((size_t)nodes);
    if (!table) status = AW_ERR_NOMEM;
    for (size_t i = 0; status == AW_OK && i + 1 < e->n; ++i)
        for (int j = 0; j < nodes; ++j) {
            const size_t k = i * (size_t)nodes + (size_t)j;
            gsl_integration_glfixed_point(e->at[i], e->at[i + 1], (size_t)j, &out->at[k],
                                          &out->weight[k], table);
        }
    gsl_integration_glfixed_table_free(table);
    return status;
}

aw_status aw_directions_graded(const aw_orbit_view *orbit, const aw_grading *g, aw_directions *out)
{
    aw_status status = AW_OK;
    edges line = {0}, theta = {0}, psi = {0};
    *out = (aw_directions){0};
    AW_TRY(straights(orbit, g->finest, &line));
    AW_TRY(add_panels(&theta, g, 0.0, g->margin, 0));
    for (size_t i = 0, n = theta.n; i < n / 2; ++i) { /* from the far end to the first straight */
        const double swap = theta.at[i];
        theta.at[i] = theta.at[n - 1 - i];
        theta.at[n - 1 - i] = swap;
    }
    for (size_t i = 0; i < theta.n; ++i) theta.at[i] = line.at[0] - theta.at[i];
    AW_TRY(add_edge(&theta, line.at[0]));
    for (size_t i = 0; i + 1 < line.n; ++i)
        AW_TRY(add_panels(&theta, g, line.at[i], line.at[i + 1], 1));
    AW_TRY(add_panels(&theta, g, line.at[line.n - 1], line.at[line.n - 1] + g->margin, 0));
    AW_TRY(add_edge(&psi, 0.0));
    AW_TRY(add_panels(&psi, g, 0.0, g->margin, 0));
    AW_TRY(nodes_of(&theta, g->nodes, &out->theta));
    AW_TRY(nodes_of(&psi, g->nodes, &out->psi));
    weigh_heights(&out->psi);
done:
    aw_free(line.at);
    aw_free(theta.at);
    aw_free(psi.at);
    if (status != AW_OK) aw_directions_free(out);
    return status;
}
