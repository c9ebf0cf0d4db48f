/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lienard-Wiechert potentials of electrons on straight lines and arcs; their differences. */
#include "validation/referee.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_qrng.h>
#include <math.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "validation/track.h"

/* ----------------------------------------------------------------------------------- potentials */

/* What the potentials at an event need of the retarded electron. */
typedef struct seen {
    double weight; /* 1/(r (1 - n.beta)) [1/m] */
    double theta;  /* direction of its velocity */
} seen;

/* On a straight line, in closed form: r (1 - n.beta) = sqrt(X^2 + b^2/gamma^2), with X and b the
 * distances along and across the motion from where the line would have it now. */
static seen see_line(const aw_piece *p, const aw_referee_event *e, double height)
{
    const double from = isfinite(p->ct) ? p->ct : 0.0, length = p->beta * (e->ct - from);
    const double dz = e->z - p->from.z, dx = e->x - p->from.x;
    const double X = dz * p->cosine + dx * p->sine - length;
    const double side = dx * p->cosine - dz * p->sine;
    const double b2 = side * side + height * height;
    return (seen){1.0 / sqrt(X * X + b2 * p->rest), p->from.theta};
}

/* On an arc, by Newton's method between bounds. The electron's distance less that of light grows
 * with the length on the arc, at the rate (1 - n.beta)/beta, which is formed without cancellation:
 * 1 - n.beta = (1 - beta) + beta sin^2/(1 + cos). */
static seen see_arc(const aw_piece *p, double ends[2], const aw_referee_event *e, double height)
{
    double low = 0.0, high = ends[0], length = ends[1] > 0.0 ? fmin(ends[1], high) : high;
    seen out = {0.0, 0.0};
    for (int i = 0; i < 80; ++i) {
        const aw_arc at = aw_arc_after(&p->from, length);
        const double c = cos(at.theta), s = sin(at.theta);
        const double dz = e->z - at.z, dx = e->x - at.x;
        const double r = sqrt(dz * dz + dx * dx + height * height);
        const double cosine = (dz * c + dx * s) / r, side = (dx * c - dz * s) / r;
        const double sine2 = side * side + height * height / (r * r);
        const double less = cosine > 0.0 ? sine2 / (1.0 + cosine) : 1.0 - cosine;
        const double rate = p->slow + p->beta * less;
        const double late = r - (e->ct - p->ct - length / p->beta);
        double next = length - late * p->beta / rate;
        out = (seen){1.0 / (r * rate), at.theta};
        if (late > 0.0)
            high = length;
        else
            low = length;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        /* The rounding of places; the slippage along the bunch is 1e9 times that. */
        if (fabs(late) < 1e-15 * (r + fabs(e->z) + fabs(e->x))) break;
        if (!(next > low && next < high)) break;
        length = next;
    }
    ends[1] = length;
    return out;
}

static seen see(aw_track *path, const aw_referee_event *e, double height)
{
    int k = path->n - 1;
    for (; k > 0; --k) {
        const aw_piece *p = &path->piece[k];
        const double dz = e->z - p->from.z, dx = e->x - p->from.x, t = e->ct - p->ct;
        if (t > 0.0 && dz * dz + dx * dx + height * height <= t * t) break;
    }
    const aw_piece *p = &path->piece[k];
    if (p->from.kappa == 0.0) return see_line(p, e, height);
    const double until = k + 1 < path->n ? fmin(path->piece[k + 1].ct, e->ct) : e->ct;
    double ends[2] = {p->beta * (until - p->ct), path->last};
    const seen it = see_arc(p, ends, e, height);
    path->last = ends[1];
    return it;
}

/* Add those of an electron, in units of its charge over 4 pi eps0. */
static void add(const aw_referee_beam *b, aw_track *path, const aw_referee_event *e,
                aw_referee_potential *out)
{
    const aw_piece own = path->piece[1];
    const seen it = see(path, e, b->height);
    out->phi += it.weight;
    out->cAz += it.weight * own.beta * cos(it.theta);
    out->cAx += it.weight * own.beta * sin(it.theta);
    out->psi += it.weight * aw_track_slowness(b, e->theta, own.beta, own.slow, it.theta);
}

/* ---------------------------------------------------------------------------------------- bunch */

enum { DIMENSIONS = 4, CHUNKS = 256 };

/* The deviate of a uniform number, cut at +-cut and with rms 1. */
static double deviate(double u, double cut)
{
    const double tail = gsl_cdf_ugaussian_P(-cut), body = 1.0 - 2.0 * tail;
    const double peak = exp(-0.5 * cut * cut) / sqrt(2.0 * AW_PI);
    return gsl_cdf_ugaussian_Pinv(tail + body * u) / sqrt(1.0 - 2.0 * cut * peak / body);
}

static aw_electron electron_of(const aw_referee_beam *b, const double u[DIMENSIONS])
{
    aw_electron e;
    e.s = b->sigma_s * deviate(u[0], b->cutoff);
    e.x = b->sigma_x * deviate(u[1], b->cutoff);
    e.slope = b->slope * e.x + b->divergence * deviate(u[2], b->cutoff);
    e.delta = b->chirp * e.s + b->spread * deviate(u[3], b->cutoff);
    return e;
}

/* Uniform in (0, 1), by splitmix64 (S. Vigna). */
static double uniform(uint64_t *state)
{
    uint64_t v = *state += 0x9e3779b97f4a7c15u;
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
    v ^= v >> 31;
    return ((double)(v >> 12) + 0.5) * 0x1p-52;
}

/* u [electrons][DIMENSIONS] */
static aw_status sobol(const aw_referee_beam *b, uint64_t seed, double *u)
{
    double shift[DIMENSIONS];
    uint64_t state = seed;
    gsl_qrng *points = gsl_qrng_alloc(gsl_qrng_sobol, DIMENSIONS);
    if (!points) return aw_error(AW_ERR_NOMEM, "no memory for the referee's electrons");
    for (int k = 0; k < DIMENSIONS; ++k) shift[k] = uniform(&state);
    for (size_t i = 0; i < b->electrons; ++i, u += DIMENSIONS) {
        gsl_qrng_get(points, u);
        for (int k = 0; k < DIMENSIONS; ++k) {
            u[k] += shift[k];
            if (u[k] >= 1.0) u[k] -= 1.0;
            u[k] = fmax(u[k], 0x1p-53);
        }
    }
    gsl_qrng_free(points);
    return AW_OK;
}

aw_status aw_referee_potentials(const aw_referee_beam *b, uint64_t seed,
                                const aw_referee_event *event, size_t n, aw_referee_potential *out)
{
    aw_status status = AW_OK;
    const double unit = AW_K_COULOMB * b->charge / (double)b->electrons;
    int missed = 0;
    double *u = aw_alloc(b->electrons * DIMENSIONS, sizeof *u);
    aw_referee_potential *part = aw_alloc(CHUNKS * n, sizeof *part);
    if (!u || !part) {
        status = aw_error(AW_ERR_NOMEM, "no memory for the referee's electrons");
        goto done;
    }
    AW_TRY(sobol(b, seed, u));
    memset(part, 0, CHUNKS * n * sizeof *part);
#pragma omp parallel for schedule(dynamic) reduction(+ : missed)
    for (size_t chunk = 0; chunk < CHUNKS; ++chunk) {
        const size_t end = b->electrons * (chunk + 1) / CHUNKS;
        for (size_t i = b->electrons * chunk / CHUNKS; i < end; ++i) {
            aw_track way;
            const aw_electron one = electron_of(b, &u[i * DIMENSIONS]);
            if (!aw_track_trace(b, &one, &way)) {
                ++missed;
                continue;
            }
            for (size_t k = 0; k < n; ++k) add(b, &way, &event[k], &part[chunk * n + k]);
        }
    }
    if (missed > 0) {
        status = aw_error(AW_ERR_ARG, "referee: %d electrons miss a magnet", missed);
        goto done;
    }
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < CHUNKS * n; ++i) {
        out[i % n].phi += unit * part[i].phi;
        out[i % n].cAz += unit * part[i].cAz;
        out[i % n].cAx += unit * part[i].cAx;
        out[i % n].psi += unit * part[i].psi;
    }
done:
    aw_free(part);
    aw_free(u);
    return status;
}

/* --------------------------------------------------------------------------------------- forces */

enum { STENCIL = 5 }; /* the point itself; then at four other times */

static void stencil(const aw_referee_beam *b, const aw_referee_place *p, aw_referee_event *e)
{
    static const double offset[STENCIL] = {0.0, -2.0, -1.0, 1.0, 2.0};
    const aw_arc on = aw_track_orbit(b, p->S);
    const double c = cos(on.theta), s = sin(on.theta);
    for (int i = 0; i < STENCIL; ++i)
        e[i] = (aw_referee_event){p->ct + offset[i] * p->along, on.z - p->x * s, on.x + p->x * c,
                                  on.theta};
}

static aw_referee_force difference(const aw_referee_beam *b, const aw_referee_place *p,
                                   const aw_referee_potential *q)
{
    aw_piece v;
    aw_piece_speed(&v, b->gamma);
    const double rate = (8.0 * (q[3].psi - q[2].psi) - (q[4].psi - q[1].psi)) / (12.0 * p->along);
    return (aw_referee_force){q[0].phi, q[0].psi, rate / v.beta};
}

aw_status aw_referee_forces(const aw_referee_beam *b, uint64_t seed, const aw_referee_place *place,
                            size_t n, aw_referee_force *out)
{
    aw_status status = AW_OK;
    aw_referee_event *event = aw_alloc(n * STENCIL, sizeof *event);
    aw_referee_potential *q = aw_alloc(n * STENCIL, sizeof *q);
    if (!event || !q) {
        status = aw_error(AW_ERR_NOMEM, "no memory for the referee's field points");
        goto done;
    }
    for (size_t i = 0; i < n; ++i) stencil(b, &place[i], &event[i * STENCIL]);
    AW_TRY(aw_referee_potentials(b, seed, event, n * STENCIL, q));
    for (size_t i = 0; i < n; ++i) out[i] = difference(b, &place[i], &q[i * STENCIL]);
done:
    aw_free(q);
    aw_free(event);
    return status;
}

aw_status aw_referee_mean(const aw_referee_beam *b, int bunches, const aw_referee_place *place,
                          size_t n, aw_referee_force *mean, aw_referee_force *error)
{
    aw_status status = AW_OK;
    const size_t numbers = (n + 1) * AW_REFEREE_NUMBERS;
    double *m = &mean[0].phi, *e = &error[0].phi;
    double *f = aw_alloc(numbers, sizeof *f);
    if (!f) return aw_error(AW_ERR_NOMEM, "no memory for the referee's forces");
    memset(m, 0, numbers * sizeof *m);
    memset(e, 0, numbers * sizeof *e);
    for (int k = 0; k < bunches; ++k) {
        double *all = &f[n * AW_REFEREE_NUMBERS];
        AW_TRY(aw_referee_forces(b, (uint64_t)k + 1, place, n, (aw_referee_force *)(void *)f));
        for (int j = 0; j < AW_REFEREE_NUMBERS; ++j) all[j] = 0.0;
        for (size_t i = 0; i < n * AW_REFEREE_NUMBERS; ++i)
            all[i % AW_REFEREE_NUMBERS] += f[i] / (double)n;
        for (size_t i = 0; i < numbers; ++i) { /* Welford's running mean and sum of squares */
            const double from = f[i] - m[i];
            m[i] += from / (k + 1);
            e[i] += from * (f[i] - m[i]);
        }
    }
    for (size_t i = 0; i < numbers; ++i) e[i] = sqrt(e[i] / ((double)bunches * (bunches - 1)));
done:
    aw_free(f);
    return status;
}
