/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/wake/wake.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "pic/chunks.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"

/* Particles per node of the line: the noise of quiet ones is then far below their density. */
enum { PER_NODE = 20, NODES_LEAST = 64, NODES_MOST = 1024 };

double aw_wake_amount(const aw_wake *wake, double from, double to)
{
    double amount = 0.0;
    for (size_t i = 0; i < wake->ranges; ++i) {
        const aw_wake_range *r = &wake->range[i];
        if (r->from == r->to)
            amount += r->from > from && r->from <= to ? r->per : 0.0;
        else
            amount += r->per * fmax(fmin(r->to, to) - fmax(r->from, from), 0.0);
    }
    return amount;
}

double aw_wake_reach(const aw_wake *wake)
{
    double reach = INFINITY;
    for (int k = 0; k < AW_WAKE_TERMS; ++k)
        if (!aw_wake_function_is_zero(&wake->term[k])) reach = fmin(reach, wake->term[k].reach);
    return reach;
}

void aw_wake_clear(aw_wake *wake)
{
    for (int k = 0; k < AW_WAKE_TERMS; ++k) aw_wake_function_free(&wake->term[k]);
    aw_free(wake->range);
    wake->range = NULL;
    wake->ranges = 0;
}

int aw_wake_nodes(size_t particles)
{
    const size_t n = particles / PER_NODE;
    return n < NODES_LEAST ? NODES_LEAST : n > NODES_MOST ? NODES_MOST : (int)n;
}

/* Arrays of a bunch besides its line: of nodes, and of particles. */
enum { NODE_ARRAYS = 7, PARTICLE_ARRAYS = 2 };

size_t aw_wake_bunch_bytes(int n, size_t particles)
{
    return aw_line_bytes(n, particles) +
           (NODE_ARRAYS * (size_t)n + PARTICLE_ARRAYS * particles) * sizeof(double);
}

static void node_arrays(aw_wake_bunch *b, double **array[NODE_ARRAYS])
{
    double **const all[NODE_ARRAYS] = {
        &b->moment[0],       &b->moment[1],        &b->forces.along[0], &b->forces.along[1],
        &b->forces.along[2], &b->forces.across[0], &b->forces.across[1]};
    memcpy(array, all, sizeof all);
}

aw_status aw_wake_bunch_new(int n, size_t particles, aw_wake_bunch **out)
{
    double **array[NODE_ARRAYS];
    aw_wake_bunch *b = aw_alloc(1, sizeof *b);
    aw_status status = AW_OK;
    *out = NULL;
    AW_TRY(b ? AW_OK : AW_ERR_NOMEM);
    node_arrays(b, array);
    for (int k = 0; k < NODE_ARRAYS; ++k)
        AW_TRY((*array[k] = aw_alloc((size_t)n, sizeof(double))) ? AW_OK : AW_ERR_NOMEM);
    b->x = aw_alloc(particles, sizeof(double));
    b->square = aw_alloc(particles, sizeof(double));
    AW_TRY(b->x && b->square ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(aw_line_new(n, particles, &b->line));
    *out = b;
    return AW_OK;
done:
    aw_wake_bunch_free(b);
    return status;
}

void aw_wake_bunch_free(aw_wake_bunch *b)
{
    double **array[NODE_ARRAYS];
    if (!b) return;
    node_arrays(b, array);
    for (int k = 0; k < NODE_ARRAYS; ++k) aw_free(*array[k]);
    aw_free(b->x);
    aw_free(b->square);
    aw_line_free(b->line);
    aw_free(b);
}

aw_status aw_wake_deposit(aw_wake_bunch *b, const aw_particles *p, const aw_orbit_view *orbit,
                          double S)
{
    aw_status status = AW_OK;
    AW_TRY(aw_line_deposit(b->line, p, orbit, S));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->n; ++i) {
        const aw_orbit_point at = aw_orbit_at(orbit, S + b->line->s[i]);
        b->x[i] = (p->x[i] - at.x) * at.ct - (p->z[i] - at.z) * at.st;
        b->square[i] = b->x[i] * b->x[i];
    }
    aw_line_moment(b->line, p, b->x, b->moment[0]);
    aw_line_moment(b->line, p, b->square, b->moment[1]);
    aw_wake_reset(b);
done:
    return status;
}

void aw_wake_reset(aw_wake_bunch *b)
{
    const size_t bytes = (size_t)b->line->n * sizeof(double);
    for (int k = 0; k < 3; ++k) memset(b->forces.along[k], 0, bytes);
    for (int k = 0; k < 2; ++k) memset(b->forces.across[k], 0, bytes);
    b->forces.offsets = 0;
}

/* Add `factor` times the convolution of a function with a density. */
static void convolve(aw_wake_bunch *b, const aw_wake_function *f, aw_wake_order order,
                     const double *density, double factor, double *out)
{
    const aw_line *line = b->line;
    const double *weight = line->weight;
    const int n = line->n;
    aw_wake_weights(f, order, line->h, n, line->weight);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int j = i > 0 ? i - 1 : 0; j < n; ++j) sum += weight[j - i + 1] * density[j];
        out[i] += factor * sum;
    }
}

void aw_wake_add(aw_wake_bunch *b, const aw_wake *wake, double amount)
{
    double *const *along = b->forces.along, *const *across = b->forces.across;
    const double *const moment[3] = {b->line->density, b->moment[0], b->moment[1]};
    const double loss = -amount * b->line->charge; /* a force per function that takes energy */
    /* Which moment makes which force along the motion, and, with what follows from it, across. */
    const struct {
        double factor;
        const double *density;
        double *along, *across;
        double across_factor; /* of dF/dx */
    } term[AW_WAKE_TERMS] = {[AW_WAKE_00] = {1.0, moment[0], along[0], NULL, 0.0},
                             [AW_WAKE_01] = {1.0, moment[1], along[0], NULL, 0.0},
                             [AW_WAKE_11] = {1.0, moment[2], along[0], NULL, 0.0},
                             [AW_WAKE_03] = {1.0, moment[0], along[1], across[0], 1.0},
                             [AW_WAKE_13] = {2.0, moment[1], along[1], across[0], 1.0},
                             [AW_WAKE_33] = {1.0, moment[0], along[2], across[1], 2.0}};
    for (int k = 0; k < AW_WAKE_TERMS; ++k) {
        const aw_wake_function *f = &wake->term[k];
        const double factor = loss * term[k].factor;
        if (aw_wake_function_is_zero(f)) continue;
        convolve(b, f, AW_WAKE_ITSELF, term[k].density, factor, term[k].along);
        if (!term[k].across) continue;
        convolve(b, f, AW_WAKE_INTEGRAL, term[k].density, -factor * term[k].across_factor,
                 term[k].across);
        b->forces.offsets = 1;
    }
}

/* Integrated force on particle i, along the design tangent and normal [eV]. */
static void force_on(const aw_wake_bunch *b, size_t i, double F[2])
{
    const aw_line *line = b->line;
    const aw_wake_forces *f = &b->forces;
    const double s = line->s[i], x = b->x[i];
    F[0] = aw_line_at(line, f->along[0], s);
    F[1] = 0.0;
    if (!f->offsets) return;
    F[0] += x * (aw_line_at(line, f->along[1], s) + x * aw_line_at(line, f->along[2], s));
    F[1] = aw_line_at(line, f->across[0], s) + x * aw_line_at(line, f->across[1], s);
}

/* Kick particle i by a momentum. @return what it gains [rest energies] */
static double kick_one(aw_particles *p, size_t i, double dz, double dx)
{
    const double pz = p->pz[i], px = p->px[i];
    const double before = pz * pz + px * px;
    const double more = dz * (2.0 * pz + dz) + dx * (2.0 * px + dx);
    const double gained = more / (sqrt(1.0 + before) + sqrt(1.0 + before + more));
    p->pz[i] = pz + dz;
    p->px[i] = px + dx;
    p->gamma0[i] += gained;
    return gained;
}

aw_status aw_wake_kick(const aw_wake_bunch *b, aw_particles *p, const aw_orbit_view *orbit,
                       double beta, double *loss)
{
    const double unit = 1.0 / (beta * AW_ME_EV); /* of gamma beta per integrated force */
    double part[AW_CHUNKS], gained = 0.0;
    size_t bad = SIZE_MAX;
    aw_status status = AW_OK;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int k = 0; k < AW_CHUNKS; ++k) {
        const size_t end = aw_chunk_begin(p->n, AW_CHUNKS, k + 1);
        part[k] = 0.0;
        for (size_t i = aw_chunk_begin(p->n, AW_CHUNKS, k); i < end; ++i) {
            const double theta = aw_orbit_direction(orbit, b->line->S + b->line->s[i]);
            const double ct = cos(theta), st = sin(theta);
            double F[2];
            force_on(b, i, F);
            const double more =
                kick_one(p, i, unit * (F[0] * ct - F[1] * st), unit * (F[0] * st + F[1] * ct));
            part[k] += aw_particles_weight(p, i) * more;
            if (!isfinite(more) && i < bad) bad = i;
        }
    }
    if (bad != SIZE_MAX)
        status = aw_error(AW_ERR_NONFINITE,
                          "wakes: the kick of particle %zu at z = %g m, x = %g m is not finite, or "
                          "takes more than its energy",
                          p->first + bad, p->z[bad], p->x[bad]);
    AW_TRY(aw_particles_agree(p, status));
    for (int k = 0; k < AW_CHUNKS; ++k) gained += part[k];
    aw_particles_sum(p, &gained, 1);
    *loss -= AW_ME_EV * gained / (double)aw_particles_all(p);
done:
    return status;
}
