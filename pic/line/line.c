/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/line/line.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "pic/chunks.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"

/* Private densities of the deposit. Their number is fixed, so that the sums do not depend on the
 * number of threads. */
enum { PARTS = 64 };
/* Nodes beyond the outermost particles: the spline touches two, the filter one more. */
enum { MARGIN = 3 };
/* Of the filter 1 - SHARPEN d^2/di^2: half of the variance of three cubic B-splines, 1/3 each. */
#define SHARPEN 0.5

aw_status aw_line_new(int n, size_t particles, aw_line **out)
{
    aw_line *line = aw_alloc(1, sizeof *line);
    const size_t nodes = (size_t)n;
    *out = NULL;
    if (!line) return AW_ERR_NOMEM;
    line->n = n;
    line->density = aw_alloc(nodes, sizeof(double));
    line->force = aw_alloc(nodes, sizeof(double));
    line->weight = aw_alloc(nodes + 1, sizeof(double));
    line->s = aw_alloc(particles, sizeof(double));
    line->part = aw_alloc(PARTS * nodes, sizeof(double));
    if (!line->density || !line->force || !line->weight || !line->s || !line->part) {
        aw_line_free(line);
        return AW_ERR_NOMEM;
    }
    *out = line;
    return AW_OK;
}

void aw_line_free(aw_line *line)
{
    if (!line) return;
    aw_free(line->density);
    aw_free(line->force);
    aw_free(line->weight);
    aw_free(line->s);
    aw_free(line->part);
    aw_free(line);
}

size_t aw_line_bytes(int n, size_t particles)
{
    return (particles + (PARTS + 3) * (size_t)n) * sizeof(double);
}

double aw_line_resolution(int n, double length) { return (n - 2 * MARGIN) / length; }

double aw_line_length(const aw_line *line) { return (line->n - 2 * MARGIN) * line->h; }

/* A point of the orbit near the bunch, and the piece that it is on. */
typedef struct reference {
    const aw_orbit_view *orbit;
    aw_orbit_point at;
    double begin, end; /* arc lengths of the piece */
} reference;

static reference reference_at(const aw_orbit_view *orbit, double S)
{
    const int i = aw_orbit_find(orbit, S);
    return (reference){.orbit = orbit,
                       .at = aw_orbit_at(orbit, S),
                       .begin = i > 0 ? orbit->piece[i].S : -INFINITY,
                       .end = i + 1 < orbit->n ? orbit->piece[i + 1].S : INFINITY};
}

/* Arc length of the foot point of (z, x): in closed form if it is on the piece of the reference,
 * else by a search. */
static double arc_length(const reference *ref, double z, double x)
{
    const aw_orbit_point *at = &ref->at;
    const double dz = z - at->z, dx = x - at->x;
    const double along = dz * at->ct + dx * at->st, across = dx * at->ct - dz * at->st;
    double offset, S = at->S + along;
    if (at->kappa != 0.0)
        S = at->S + atan2(at->kappa * along, 1.0 + at->kappa * across) / at->kappa;
    if (S >= ref->begin && S < ref->end) return S;
    return aw_orbit_project(ref->orbit, z, x, S, &offset);
}

/* s of all particles of this rank. @param[out] most  largest -s and s */
static aw_status project(aw_line *line, const aw_particles *p, const aw_orbit_view *orbit,
                         double most[2])
{
    const reference ref = reference_at(orbit, line->S);
    double low = INFINITY, high = -INFINITY;
    size_t bad = SIZE_MAX;
#pragma omp parallel for schedule(static) reduction(min : low, bad) reduction(max : high)
    for (size_t i = 0; i < p->n; ++i) {
        const double s = arc_length(&ref, p->z[i], p->x[i]) - line->S;
        line->s[i] = s;
        low = fmin(low, s);
        high = fmax(high, s);
        if (!isfinite(s) && i < bad) bad = i;
    }
    most[0] = -low;
    most[1] = high;
    aw_particles_max(p, most, 2);
    if (bad == SIZE_MAX) return aw_particles_agree(p, AW_OK);
    return aw_particles_agree(p, aw_error(AW_ERR_NONFINITE,
                                          "particle %zu at z = %.9g m, x = %.9g m is not finite",
                                          p->first + bad, p->z[bad], p->x[bad]));
}

/* Nodes from MARGIN spacings before the first particle to as many behind the last. A bunch without
 * a length, of one particle, gets the shortest spacing that arc lengths resolve. */
static void place(aw_line *line, const double most[2])
{
    const double length = most[0] + most[1], least = 1e-9 * fmax(fabs(line->S), 1.0);
    line->h = 1.0 / aw_line_resolution(line->n, fmax(length, least));
    line->first = -most[0] - MARGIN * line->h;
}

/* Node below a coordinate, such that the spline lies on the grid; *f: cells beyond it. */
static int node_below(const aw_line *line, double s, double *f)
{
    const double u = (s - line->first) / line->h;
    const int last = line->n - AW_LINE_NODES - AW_LINE_FIRST;
    int below = u > 1.0 ? (int)fmin(u, last) : 1;
    *f = fmin(fmax(u - below, 0.0), 1.0);
    return below;
}

/* Weights of the particles, times numbers of their own unless that is NULL, at each node. */
static void count(aw_line *line, const aw_particles *p, const double *value)
{
    const size_t n = (size_t)line->n;
#pragma omp parallel for schedule(static)
    for (int k = 0; k < PARTS; ++k) {
        double *part = line->part + (size_t)k * n, w[AW_LINE_NODES], f;
        const size_t end = aw_chunk_begin(p->n, PARTS, k + 1);
        memset(part, 0, n * sizeof *part);
        for (size_t i = aw_chunk_begin(p->n, PARTS, k); i < end; ++i) {
            const int first = node_below(line, line->s[i], &f) + AW_LINE_FIRST;
            const double weight = aw_particles_weight(p, i) * (value ? value[i] : 1.0);
            aw_line_spline(f, w);
            for (int q = 0; q < AW_LINE_NODES; ++q) part[first + q] += weight * w[q];
        }
    }
    for (int k = 1; k < PARTS; ++k)
        for (size_t i = 0; i < n; ++i) line->part[i] += line->part[(size_t)k * n + i];
    aw_particles_sum(p, line->part, n);
}

void aw_line_moment(aw_line *line, const aw_particles *p, const double *value, double *out)
{
    const double all = (double)aw_particles_all(p), *c = line->part;
    count(line, p, value);
    for (int i = 0; i < line->n; ++i) {
        const double before = i > 0 ? c[i - 1] : 0.0, after = i + 1 < line->n ? c[i + 1] : 0.0;
        out[i] = (c[i] - SHARPEN * (after - 2.0 * c[i] + before)) / (all * line->h);
    }
}

aw_status aw_line_deposit(aw_line *line, const aw_particles *p, const aw_orbit_view *orbit,
                          double S)
{
    double most[2];
    aw_status status = AW_OK;
    line->S = S;
    line->charge = (double)aw_particles_all(p) * p->charge;
    AW_TRY(project(line, p, orbit, most));
    place(line, most);
    aw_line_moment(line, p, NULL, line->density);
done:
    return status;
}

void aw_line_solve(aw_line *line, aw_line_model model, const aw_orbit_view *orbit, double gamma)
{
    const aw_line_place at = {model, orbit, line->S, gamma, line->h, line->n};
    const double front = AW_K_COULOMB * line->charge;
    aw_line_kernel(&at, line->weight);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < line->n; ++i) {
        double sum = 0.0;
        for (int j = 0; j < line->n && j <= i + 1; ++j)
            sum += line->weight[i - j + 1] * line->density[j];
        line->force[i] = front * sum;
    }
}

double aw_line_at(const aw_line *line, const double *field, double s)
{
    double w[AW_LINE_NODES], f, sum = 0.0;
    const double *from = field + node_below(line, s, &f) + AW_LINE_FIRST;
    aw_line_spline(f, w);
    for (int k = 0; k < AW_LINE_NODES; ++k) sum += w[k] * from[k];
    return sum;
}

/* Sum, and largest -F_s and F_s, of a part of the particles. */
typedef struct extremes {
    double sum, most[2];
} extremes;

static extremes gather_part(const aw_line *line, const aw_particles *p, const reference *ref,
                            const size_t range[2], double *const force[2])
{
    extremes out = {0.0, {-INFINITY, -INFINITY}};
    for (size_t i = range[0]; i < range[1]; ++i) {
        const double S = line->S + line->s[i], F = aw_line_at(line, line->force, line->s[i]);
        const double theta = S >= ref->begin && S < ref->end
                                 ? ref->at.theta - ref->at.kappa * line->s[i]
                                 : aw_orbit_at(ref->orbit, S).theta;
        force[0][i] = F * cos(theta);
        force[1][i] = F * sin(theta);
        out.sum += aw_particles_weight(p, i) * F;
        out.most[0] = fmax(out.most[0], -F);
        out.most[1] = fmax(out.most[1], F);
    }
    return out;
}

void aw_line_gather(const aw_line *line, const aw_particles *p, const aw_orbit_view *orbit,
                    double *Fz, double *Fx, aw_gather_stats *stats)
{
    const reference ref = reference_at(orbit, line->S);
    extremes part[PARTS];
#pragma omp parallel for schedule(static)
    for (int k = 0; k < PARTS; ++k) {
        const size_t range[2] = {aw_chunk_begin(p->n, PARTS, k),
                                 aw_chunk_begin(p->n, PARTS, k + 1)};
        part[k] = gather_part(line, p, &ref, range, (double *const[2]){Fz, Fx});
    }
    extremes all = part[0];
    for (int k = 1; k < PARTS; ++k) {
        all.sum += part[k].sum;
        for (int m = 0; m < 2; ++m) all.most[m] = fmax(all.most[m], part[k].most[m]);
    }
    aw_particles_sum(p, &all.sum, 1);
    aw_particles_max(p, all.most, 2);
    *stats = (aw_gather_stats){
        .mean_s = all.sum / (double)aw_particles_all(p),
        .peak_s = all.most[0] > all.most[1] ? -all.most[0] : all.most[1],
    };
}
