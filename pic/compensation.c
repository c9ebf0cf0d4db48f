/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/compensation.h"

#include <string.h>

#include "src/base/windows.h"

/* Coefficients a and b of the filter 1 - a d^2 + a b d^4. The quadratic B-spline multiplies a wave
 * by sinc^3(kh/2); with s = sin^2(kh/2), which is -d^2/4 of the wave, 1/sinc^3 = 1 + s/2 +
 * 37/120 s^2 .. (for a field that is gathered), and 1/sinc^6 = 1 + s + 13/15 s^2 .. (for moments,
 * which are deposited and read). */
typedef struct coefficients {
    double a, b;
} coefficients;
static const coefficients for_moments = {1.0 / 4.0, 13.0 / 60.0};
static const coefficients for_field = {1.0 / 8.0, 37.0 / 240.0};

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

/* to -= c d^2 from along an axis, whose neighbours are `step` apart in memory. */
static void subtract(const aw_quad_grid *g, const quad *from, quad *to, double c, int along_x,
                     three (*nodes)(int i, int n))
{
    const ptrdiff_t step = along_x ? g->row : 1;
    const int n = along_x ? g->nx : g->ns;
#pragma omp parallel for schedule(static)
    for (int j = 0; j < g->nx; ++j)
        for (int i = 0; i < g->ns; ++i) {
            const three k = nodes(along_x ? j : i, n);
            const quad *at = from + j * g->row + i, *middle = at + k.middle * step;
            const quad d = (at[k.below * step] - *middle) + (at[k.above * step] - *middle);
            to[j * g->row + i] -= c * d;
        }
}

static void copy_rows(const aw_quad_grid *g, const quad *from, quad *to)
{
    for (int j = 0; j < g->nx; ++j)
        memcpy(to + j * g->row, from + j * g->row, (size_t)g->ns * sizeof *from);
}

/* The filter along both axes, s first. */
static void filter(const aw_quad_grid *g, quad *field, quad *scratch, const coefficients *c,
                   three (*nodes)(int i, int n))
{
    for (int along_x = 0; along_x < 2; ++along_x) {
        copy_rows(g, field, scratch);
        subtract(g, field, scratch, c->b, along_x, nodes);
        subtract(g, scratch, field, c->a, along_x, nodes);
    }
}

/* The middle weight of -d^10/1024 and those on either side of it: of the tenth row of Pascal's
 * triangle. */
enum { ROLL_OFF_REACH = 5 };
static const double roll_off_weight[ROLL_OFF_REACH + 1] = {
    252.0 / 1024.0, -210.0 / 1024.0, 120.0 / 1024.0, -45.0 / 1024.0, 10.0 / 1024.0, -1.0 / 1024.0};

/* Node i of n as the edges reflect it, which is d^2 of kept_nodes, applied again and again. */
static int reflected(int i, int n) { return i < 0 ? -1 - i : i < n ? i : 2 * n - 1 - i; }

/* Subtract from *to -d^10/1024 at node `at` of n along an axis, whose neighbours are `step`
 * apart. */
static void subtract_tenth(const quad *node, quad *to, ptrdiff_t step, int at, int n)
{
    const int is_inside = at >= ROLL_OFF_REACH && at < n - ROLL_OFF_REACH;
    quad sum = roll_off_weight[0] * *node;
    for (int k = 1; k <= ROLL_OFF_REACH; ++k) {
        const int below = is_inside ? -k : reflected(at - k, n) - at;
        const int above = is_inside ? k : reflected(at + k, n) - at;
        sum += roll_off_weight[k] * (node[below * step] + node[above * step]);
    }
    *to -= sum;
}

/* 1 + d^10/1024 along both axes. */
static void roll_off(const aw_quad_grid *g, quad *cells, quad *scratch)
{
    for (int along_x = 0; along_x < 2; ++along_x) {
        const ptrdiff_t step = along_x ? g->row : 1;
        copy_rows(g, cells, scratch);
#pragma omp parallel for schedule(static)
        for (int j = 0; j < g->nx; ++j)
            for (int i = 0; i < g->ns; ++i) {
                const ptrdiff_t at = j * g->row + i;
                subtract_tenth(scratch + at, cells + at, step, along_x ? j : i,
                               along_x ? g->nx : g->ns);
            }
    }
}

void aw_compensate_moments(const aw_quad_grid *grid, double *cells, double *scratch)
{
    filter(grid, (quad *)cells, (quad *)scratch, &for_moments, kept_nodes);
    roll_off(grid, (quad *)cells, (quad *)scratch);
}

void aw_compensate_field(const aw_quad_grid *grid, double *field, double *scratch)
{
    filter(grid, (quad *)field, (quad *)scratch, &for_field, field_nodes);
}

/* Weights of the nodes i - REACH .. i + REACH of n in the filtered field at node i. */
enum { REACH = 3 };
typedef struct weights {
    double of[2 * REACH + 1];
} weights;

static void add_second_difference(weights *w, int i, int at, int n, double c)
{
    const three k = field_nodes(at, n);
    double *to = &w->of[at - i + REACH];
    to[k.below] += c;
    to[k.middle] -= 2.0 * c;
    to[k.above] += c;
}

static weights weights_at(int i, int n)
{
    weights w = {{[REACH] = 1.0}};
    const three k = field_nodes(i, n);
    const ptrdiff_t node[3] = {k.below, k.middle, k.above};
    for (int m = 0; m < 3; ++m) {
        const double outer = -for_field.a * (m == 1 ? -2.0 : 1.0);
        w.of[node[m] + REACH] += outer;
        add_second_difference(&w, i, i + (int)node[m], n, -for_field.b * outer);
    }
    return w;
}

double aw_compensated_at(const double *field, int ns, int nx, int i, int j)
{
    const weights ws = weights_at(i, ns), wx = weights_at(j, nx);
    double sum = 0.0;
    for (int q = -REACH; q <= REACH; ++q)
        for (int p = -REACH; p <= REACH; ++p) {
            const double w = wx.of[q + REACH] * ws.of[p + REACH];
            if (w != 0.0) sum += w * field[(ptrdiff_t)(j + q) * ns + i + p];
        }
    return sum;
}

/* Its windows along each axis, the edges included. */
enum { READS = 5 };

void aw_compensation_reads(int ns, int nx, unsigned char *set, unsigned char *reads)
{
    const size_t nodes = (size_t)ns * (size_t)nx;
    memset(reads, 0, nodes);
    aw_windows_add(set, ns, nx, READS, 0, reads);
    memcpy(set, reads, nodes);
    aw_windows_add(set, ns, nx, READS, 1, reads);
}
