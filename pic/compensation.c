/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/compensation.h"

/* Variance of the shape of a particle, and of the spline with which slices are read [cells^2]. A
 * filter 1 - v d^2/2 compensates for the variance v, as d^2 of a wave is -k^2 h^2. */
#define AW_SHAPE_VARIANCE 0.25
#define AW_MOMENTS_FILTER (0.5 * (AW_SHAPE_VARIANCE + AW_SHAPE_VARIANCE))
#define AW_FIELD_FILTER (0.5 * AW_SHAPE_VARIANCE)

typedef double quad __attribute__((vector_size(AW_QUAD * sizeof(double)), may_alias));

/* The three nodes of a second difference at a node, counted from there. */
typedef struct three {
    ptrdiff_t below, middle, above;
} three;

/* Of moments at node i of n: what enters one node leaves its neighbour, and nothing crosses an
 * edge. */
static three kept_nodes(int i, int n) { return (three){-(i > 0), 0, i < n - 1}; }

/* Of a field: at the edges those of the next node inward. */
static three field_nodes(int i, int n)
{
    const int middle = (i == 0) - (i == n - 1);
    return (three){middle - 1, middle, middle + 1};
}

/* 1 - c d^2 along both axes, s first. */
static void filter(const aw_quad_grid *g, quad *field, quad *scratch, double c,
                   three (*nodes)(int i, int n))
{
#pragma omp parallel for schedule(static)
    for (int j = 0; j < g->nx; ++j)
        for (int i = 0; i < g->ns; ++i) {
            const three k = nodes(i, g->ns);
            const quad *at = field + j * g->row + i;
            const quad d = (at[k.below] - at[k.middle]) + (at[k.above] - at[k.middle]);
            scratch[j * g->row + i] = at[0] - c * d;
        }
#pragma omp parallel for schedule(static)
    for (int j = 0; j < g->nx; ++j) {
        const three k = nodes(j, g->nx);
        for (int i = 0; i < g->ns; ++i) {
            const quad *at = scratch + j * g->row + i, *middle = at + k.middle * g->row;
            const quad d = (at[k.below * g->row] - *middle) + (at[k.above * g->row] - *middle);
            field[j * g->row + i] = at[0] - c * d;
        }
    }
}

void aw_compensate_moments(const aw_quad_grid *grid, double *cells, double *scratch)
{
    filter(grid, (quad *)cells, (quad *)scratch, AW_MOMENTS_FILTER, kept_nodes);
}

void aw_compensate_field(const aw_quad_grid *grid, double *field, double *scratch)
{
    filter(grid, (quad *)field, (quad *)scratch, AW_FIELD_FILTER, field_nodes);
}

/* The filter along s alone. */
static double along_s(const double *row, int i, int ns)
{
    const three k = field_nodes(i, ns);
    const double *at = row + i;
    return *at - AW_FIELD_FILTER * ((at[k.below] - at[k.middle]) + (at[k.above] - at[k.middle]));
}

double aw_compensated_at(const double *field, int ns, int nx, int i, int j)
{
    const three k = field_nodes(j, nx);
    const double *row = field + (ptrdiff_t)j * ns;
    const double middle = along_s(row + k.middle * ns, i, ns);
    const double below = along_s(row + k.below * ns, i, ns) - middle;
    const double above = along_s(row + k.above * ns, i, ns) - middle;
    return along_s(row, i, ns) - AW_FIELD_FILTER * (below + above);
}
