/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/spectrum/spectrum.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/spectrum/panel.h"
#include "src/spectrum/transform.h"

/* Of panels in the length: largest phase that is not linear along one; a parabola through
 * exp(0.05 i) is off by 1e-4 of its bow. Of panels in the phase: largest turn of the orbit over its
 * angle to the direction, or the 1/gamma that stands for it. */
#define BOW 0.05
#define TURN 0.1
/* Error of the interpolation over heights. */
#define HEIGHT_ERROR 1e-7
/* Slices through which the waves of a bunch run in time, as a parabola, and one more, by which its
 * error is seen. */
enum { SLICES = 3, KEPT };
/* Wave numbers, of the upper half of those that a slice resolves, at which it is asked whether the
 * bunch has any waves there. */
enum { EDGE = 16 };
/* Wave numbers of a thread at a time: a line of the cache. */
enum { STRIP = 8 };

struct aw_spectrum {
    aw_spectrum_params params;
    size_t theta, psi;  /* directions */
    size_t rank, ranks; /* of the angles in the plane every ranks-th is this rank's */
    double beta, one_minus_beta;
    aw_transform *transform;
    size_t heights;     /* cos psi at which slices are transformed */
    double *cosine;     /* [heights] */
    double *to_psi;     /* [psi][heights]: weights of the interpolation from those */
    double *wave[KEPT]; /* [theta][heights][AW_WAVES][waves], the newest first */
    double *factor[2];  /* [psi][waves]: of the height, of the last slice and of this one */
    double height2[2];  /* for which they were made [m^2] */
    double S[KEPT];     /* of the slices [m] */
    int slices;         /* so far */
    double *sum;        /* [theta][psi][AW_SUMS][waves] */
    double *square;     /* [2][waves]: of the waves so far, and of the errors between slices */
    double resolved;
};

/* ------------------------------------------------------------------------------ set up */

/* Waves of a slice change with cos psi by phases of up to `turn` from the middle of its range:
 * nodes for which Chebyshev's interpolation of exp(i turn x) has the error, 2 (turn/2)^n / n!. */
static size_t heights_for(double turn, size_t most)
{
    double error = 2.0;
    for (size_t n = 1; n < most; ++n) {
        error *= 0.5 * turn / (double)n;
        if (error < HEIGHT_ERROR && 0.5 * turn < (double)n) return n;
    }
    return most;
}

/* Lagrange's weights of the nodes at x. */
static void lagrange(const double *node, size_t n, double x, double *weight)
{
    for (size_t i = 0; i < n; ++i) {
        weight[i] = 1.0;
        for (size_t j = 0; j < n; ++j)
            if (j != i) weight[i] *= (x - node[j]) / (node[i] - node[j]);
    }
}

/* The heights at which slices are transformed, and how others follow from them. */
static aw_status choose_heights(aw_spectrum *s)
{
    const aw_angles *psi = &s->params.directions->psi;
    const double low = cos(psi->at[psi->n - 1]), high = cos(psi->at[0]);
    /* from the middle of a grid to its corner, in phases that it can hold */
    const double reach = 0.5 * AW_TRANSFORM_PHASE * (s->params.ns + s->params.nx);
    s->heights = heights_for(0.5 * (high - low) * reach, psi->n);
    s->cosine = aw_alloc(s->heights, sizeof *s->cosine);
    s->to_psi = aw_alloc(psi->n * s->heights, sizeof *s->to_psi);
    if (!s->cosine || !s->to_psi) return AW_ERR_NOMEM;
    for (size_t m = 0; m < s->heights; ++m)
        s->cosine[m] =
            s->heights == psi->n
                ? cos(psi->at[m])
                : 0.5 * (high + low) +
                      0.5 * (high - low) * cos(AW_PI * ((double)m + 0.5) / (double)s->heights);
    for (size_t i = 0; i < psi->n; ++i) {
        double *weight = s->to_psi + i * s->heights;
        if (s->heights == psi->n)
            weight[i] = 1.0;
        else
            lagrange(s->cosine, s->heights, cos(psi->at[i]), weight);
    }
    return AW_OK;
}

static aw_status allocate(aw_spectrum *s)
{
    const size_t waves = s->params.waves;
    s->sum = aw_alloc(s->theta * s->psi * AW_SUMS, waves * sizeof *s->sum);
    if (!s->sum) return AW_ERR_NOMEM;
    if (s->params.ns == 0) return AW_OK;
    aw_status status = choose_heights(s);
    if (status != AW_OK) return status;
    s->square = aw_alloc(2 * waves, sizeof *s->square);
    if (!s->square) return AW_ERR_NOMEM;
    for (int i = 0; i < KEPT; ++i) {
        s->wave[i] = aw_alloc(s->theta * s->heights * AW_WAVES, waves * sizeof *s->wave[i]);
        if (!s->wave[i]) return AW_ERR_NOMEM;
    }
    for (int i = 0; i < 2; ++i) {
        s->factor[i] = aw_alloc(s->psi, waves * sizeof *s->factor[i]);
        if (!s->factor[i]) return AW_ERR_NOMEM;
        for (size_t k = 0; k < s->psi * waves; ++k) s->factor[i][k] = 1.0;
    }
    return aw_transform_new(s->params.ns, s->params.nx, &s->transform);
}

static aw_status check(const aw_spectrum_params *p)
{
    if (p->waves == 0 || p->directions->theta.n == 0 || p->directions->psi.n == 0)
        return aw_error(AW_ERR_ARG, "a spectrum needs at least one frequency and one direction");
    for (size_t i = 0; i < p->waves; ++i)
        if (!(p->k[i] > (i == 0 ? 0.0 : p->k[i - 1]) && isfinite(p->k[i])))
            return aw_error(AW_ERR_ARG, "frequencies of a spectrum must be above 0, and rise");
    return AW_OK;
}

aw_status aw_spectrum_new(const aw_spectrum_params *params, aw_spectrum **out)
{
    aw_status status = AW_OK;
    aw_spectrum *s = NULL;
    *out = NULL;
    AW_TRY(check(params));
    s = aw_alloc(1, sizeof *s);
    if (!s) return AW_ERR_NOMEM;
    const double gamma2 = params->gamma * params->gamma;
    s->params = *params;
    s->theta = params->directions->theta.n;
    s->psi = params->directions->psi.n;
    s->rank = (size_t)aw_comm_rank();
    s->ranks = (size_t)aw_comm_size();
    s->beta = sqrt(1.0 - 1.0 / gamma2);
    s->one_minus_beta = 1.0 / (gamma2 * (1.0 + s->beta));
    s->resolved = (double)INFINITY;
    AW_TRY(allocate(s));
    *out = s;
done:
    if (status != AW_OK) aw_spectrum_free(s);
    return status;
}

void aw_spectrum_free(aw_spectrum *s)
{
    if (!s) return;
    aw_transform_free(s->transform);
    aw_free(s->cosine);
    aw_free(s->to_psi);
    for (int i = 0; i < KEPT; ++i) aw_free(s->wave[i]);
    for (int i = 0; i < 2; ++i) aw_free(s->factor[i]);
    aw_free(s->sum);
    aw_free(s->square);
    aw_free(s);
}

/* -------------------------------------------------------------------------------- slices */

/* The place of a slice against the reference, for all directions. */
typedef struct setting {
    double dz, dx;    /* its centre from the point of the design orbit [m] */
    double grid;      /* direction of its long axis, */
    double axes;      /* of its parallel moments, */
    double reference; /* and of the design velocity at the reference [rad] */
} setting;

static setting setting_of(const aw_spectrum *s, const aw_slice *slice, double S)
{
    const aw_orbit_point foot = aw_orbit_at(s->params.orbit, slice->S);
    const aw_orbit_point reference = aw_orbit_at(s->params.orbit, S);
    return (setting){.dz = foot.z - slice->x * foot.st - reference.z,
                     .dx = foot.x + slice->x * foot.ct - reference.x,
                     .grid = foot.theta + slice->tilt,
                     .axes = foot.theta,
                     .reference = reference.theta};
}

/* Waves of the slice that is loaded, into one direction. */
static void transform_wave(const aw_spectrum *s, const setting *at, double theta, double cosine,
                           double *wave)
{
    const size_t n = s->params.waves;
    const double along = cos(at->grid - theta), over = -sin(at->grid - theta);
    const double par = sin(at->axes - theta), perp = cos(at->axes - theta);
    const double excess = par - s->beta * sin(at->reference - theta);
    const double path = at->dz * cos(theta) + at->dx * sin(theta);
    for (size_t i = 0; i < n; ++i) {
        const double k = s->params.k[i] * cosine;
        double m[AW_TRANSFORMED][2];
        aw_transform_at(s->transform, k * along, k * over, m);
        const double c = cos(k * path), sn = -sin(k * path);
        for (int j = 0; j < 2; ++j) {
            /* real part, then imaginary part, of the moment times exp(-i k path) */
            double turned[AW_TRANSFORMED];
            for (int l = 0; l < AW_TRANSFORMED; ++l)
                turned[l] = j == 0 ? m[l][0] * c - m[l][1] * sn : m[l][0] * sn + m[l][1] * c;
            wave[(size_t)(AW_WAVE_CHARGE + j) * n + i] = turned[0];
            wave[(size_t)(AW_WAVE_CURRENT + j) * n + i] =
                excess * turned[0] - par * turned[1] + perp * turned[2];
        }
    }
}

/* Largest wave number along the motion that a slice resolves: half of what it can hold [1/m]. */
static double resolved_by(const aw_slice *slice)
{
    return 0.5 * AW_TRANSFORM_PHASE /
           fmax(slice->hs * fabs(cos(slice->tilt)), slice->hx * fabs(sin(slice->tilt)));
}

/* Whether the bunch of the slice that is loaded has waves that it does not resolve: a |F|^2 above
 * the floor where it barely does. A long bunch on a wide grid has none, and what it lacks there
 * does not count. */
static int has_waves(const aw_spectrum *s, const aw_slice *slice, double limit)
{
    const double c = cos(slice->tilt), sn = sin(slice->tilt);
    double m[AW_TRANSFORMED][2], sum = 0.0;
    aw_transform_at(s->transform, 0.0, 0.0, m);
    const double charge = m[0][0];
    for (int i = 0; i < EDGE; ++i) {
        const double k = limit * (0.5 + 0.5 * (i + 1) / EDGE);
        aw_transform_at(s->transform, k * c, -k * sn, m);
        sum += m[0][0] * m[0][0] + m[0][1] * m[0][1];
    }
    return !(sum <= EDGE * s->params.floor * charge * charge);
}

static void transform_slice(aw_spectrum *s, const aw_slice *slice, double S)
{
    const setting at = setting_of(s, slice, S);
    const size_t stride = AW_WAVES * s->params.waves;
    aw_transform_load(s->transform, slice, s->params.single);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = s->rank; i < s->theta; i += s->ranks)
        for (size_t m = 0; m < s->heights; ++m)
            transform_wave(s, &at, s->params.directions->theta.at[i], s->cosine[m],
                           s->wave[0] + (i * s->heights + m) * stride);
    const double limit = resolved_by(slice);
    if (limit < s->resolved && has_waves(s, slice, limit)) s->resolved = limit;
}

/* The factor exp(-(k_y sigma_y)^2/2) of a bunch with a height. */
static void make_factor(aw_spectrum *s, double height2)
{
    if (height2 == s->height2[1]) return;
    const aw_angles *psi = &s->params.directions->psi;
    for (size_t i = 0; i < s->psi; ++i)
        for (size_t k = 0; k < s->params.waves; ++k) {
            const double ky = s->params.k[k] * sin(psi->at[i]);
            s->factor[1][i * s->params.waves + k] = exp(-0.5 * ky * ky * height2);
        }
    s->height2[1] = height2;
}

/* Put the new slice first; the last one's factor is kept. */
static void take_slice(aw_spectrum *s, const aw_slice *slice, double S)
{
    double *oldest = s->wave[KEPT - 1];
    for (int i = KEPT - 1; i > 0; --i) s->wave[i] = s->wave[i - 1];
    s->wave[0] = oldest;
    double *factor = s->factor[0];
    s->factor[0] = s->factor[1];
    s->factor[1] = factor;
    const double known = s->height2[0];
    s->height2[0] = s->height2[1];
    s->height2[1] = known;
    transform_slice(s, slice, S);
    make_factor(s, slice->height2);
}

/* ---------------------------------------------------------------------------------- path */

/** A point of the path as one direction in the plane sees it. */
typedef struct node {
    double S, ct;
    double along;     /* of the orbit on the direction [m] */
    double direction; /* of the design velocity [rad] */
    double across;    /* sine of the angle to the other, times beta */
    double share;     /* of the step behind it, 0 .. 1 */
} node;

static node node_at(const aw_spectrum *s, double theta, double S)
{
    const aw_orbit_point p = aw_orbit_at(s->params.orbit, S);
    node at = {.S = S,
               .ct = S / s->beta,
               .along = p.z * cos(theta) + p.x * sin(theta),
               .direction = p.theta,
               .across = s->beta * sin(p.theta - theta)};
    const double step = s->S[0] - s->S[1];
    at.share = step > 0.0 ? (S - s->S[1]) / step : 1.0;
    return at;
}

/* 1 - beta cos psi cos(direction - theta), without cancellation. */
static double slope_at(const aw_spectrum *s, double direction, double theta, double psi)
{
    const double a = sin(0.5 * (direction - theta)), b = sin(0.5 * psi);
    return s->one_minus_beta + s->beta * 2.0 * (a * a + b * b * cos(direction - theta));
}

/* How a part of the path is cut. */
typedef struct cut {
    int panels, by_phase;
} cut;

/* Panels of equal length from S a to b, within one piece of the orbit: in the length, so many that
 * the phase of the shortest wave is nearly linear, or in the phase, whatever is less. */
static cut cut_of(const aw_spectrum *s, double theta, double a, double b)
{
    const double k = s->params.k[s->params.waves - 1], length = b - a;
    const double kappa = fabs(aw_orbit_at(s->params.orbit, a).kappa), turn = kappa * length;
    const double middle = aw_orbit_direction(s->params.orbit, 0.5 * (a + b)) - theta;
    const double most = sin(fmin(fabs(middle) + 0.5 * turn, 0.5 * AW_PI));
    const double psi = s->params.directions->psi.at[0];
    const double least = fmax(fabs(sin(middle)) - 0.5 * turn, 0.0);
    const double angle = sqrt(least * least + psi * psi + 2.0 * s->one_minus_beta);
    const double bow = k * kappa * most * length * length / 8.0,
                 twist = k * turn * turn * length / 48.0;
    const double in_phase = ceil(turn / (TURN * angle));
    const double in_length = ceil(fmax(sqrt(bow / BOW), cbrt(twist / BOW)));
    const double n = fmax(1.0, fmin(in_phase, in_length));
    return (cut){.panels = (int)fmin(n, INT_MAX), .by_phase = in_phase < in_length};
}

/* What the parabola through the last three slices errs by half way to the new one, from how far it
 * is off there: both are f'''/6 times a product of three distances. Summed up over directions. */
static void note_error(aw_spectrum *s)
{
    const double a = s->S[0] - s->S[1], b = s->S[0] - s->S[2], c = s->S[0] - s->S[3];
    const double share = 0.25 * a * (b - 0.5 * a) / (b * c);
    const size_t waves = s->params.waves, blocks = s->heights * AW_WAVES;
    double weight[SLICES];
    lagrange(s->S + 1, SLICES, s->S[0], weight);
#pragma omp parallel for schedule(static)
    for (size_t first = 0; first < waves; first += STRIP)
        for (size_t theta = s->rank; theta < s->theta; theta += s->ranks)
            for (size_t j = theta * blocks; j < (theta + 1) * blocks; ++j)
                for (size_t k = first; k < first + STRIP && k < waves; ++k) {
                    const size_t i = j * waves + k;
                    const double now = s->wave[0][i];
                    const double expected = weight[0] * s->wave[1][i] + weight[1] * s->wave[2][i] +
                                            weight[2] * s->wave[3][i];
                    const double error = share * (now - expected);
                    s->square[k] += now * now * a;
                    s->square[waves + k] += error * error * a;
                }
}

/* Waves at a node of the path, on a parabola through the slices; [heights][AW_WAVES][waves]. */
static void waves_at(const aw_spectrum *s, size_t theta, const node *at, double *out)
{
    const size_t n = s->heights * AW_WAVES * s->params.waves;
    const double *w[SLICES];
    double weight[SLICES];
    lagrange(s->S, SLICES, at->S, weight);
    for (int i = 0; i < SLICES; ++i) w[i] = s->wave[i] + theta * n;
    for (size_t i = 0; i < n; ++i)
        out[i] = weight[0] * w[0][i] + weight[1] * w[1][i] + weight[2] * w[2][i];
}

/* From the heights of the transforms to one of the directions, with the factor of the height. */
static void waves_to(const aw_spectrum *s, size_t psi, double share, const double *from,
                     double *out)
{
    const size_t waves = s->params.waves, n = AW_WAVES * waves;
    const double *weight = s->to_psi + psi * s->heights;
    memset(out, 0, n * sizeof *out);
    for (size_t m = 0; m < s->heights; ++m) {
        if (weight[m] == 0.0) continue;
        for (size_t i = 0; i < n; ++i) out[i] += weight[m] * from[m * n + i];
    }
    if (s->height2[0] == 0.0 && s->height2[1] == 0.0) return;
    const double *a = s->factor[0] + psi * waves, *b = s->factor[1] + psi * waves;
    for (size_t j = 0; j < AW_WAVES; ++j)
        for (size_t i = 0; i < waves; ++i) out[j * waves + i] *= a[i] + share * (b[i] - a[i]);
}

/** What a thread works with. */
typedef struct work {
    double *at[3];   /* waves at the nodes of a panel, [heights][AW_WAVES][waves] */
    double *here[3]; /* and in one direction, [AW_WAVES][waves] */
} work;

static void work_free(work *w)
{
    for (int i = 0; i < 3; ++i) {
        aw_free(w->at[i]);
        aw_free(w->here[i]);
    }
}

static int work_new(const aw_spectrum *s, work *w)
{
    const size_t n = AW_WAVES * s->params.waves;
    int complete = 1;
    for (int i = 0; i < 3; ++i) {
        complete &= !!(w->at[i] = aw_alloc(s->heights * n, sizeof(double)));
        complete &= !!(w->here[i] = aw_alloc(n, sizeof(double)));
    }
    return complete;
}

static double *sum_of(const aw_spectrum *s, size_t theta, size_t psi)
{
    return s->sum + (theta * s->psi + psi) * AW_SUMS * s->params.waves;
}

/* A panel in all directions of one angle in the plane. */
static void add_panel(aw_spectrum *s, size_t theta, const node at[3], int by_phase, const work *w)
{
    const aw_angles *psi = &s->params.directions->psi;
    const double *const here[3] = {w->here[0], w->here[1], w->here[2]};
    const double direction = s->params.directions->theta.at[theta];
    aw_panel panel = {.half = 0.5 * (at[2].ct - at[0].ct), .by_phase = by_phase};
    for (int j = 0; j < 3; ++j) panel.across[j] = at[j].across;
    for (size_t i = 0; i < s->psi; ++i) {
        const double cosine = cos(psi->at[i]);
        for (int j = 0; j < 3; ++j) {
            panel.q[j] = at[j].ct - cosine * at[j].along;
            panel.slope[j] = slope_at(s, at[j].direction, direction, psi->at[i]);
        }
        for (int j = 0; s->transform && j < 3; ++j)
            waves_to(s, i, at[j].share, w->at[j], w->here[j]);
        aw_panel_add(&panel, s->params.k, s->params.waves, s->transform ? here : NULL,
                     sum_of(s, theta, i));
    }
}

/* The path from S a to b, within one piece of the orbit. */
static void add_piece(aw_spectrum *s, size_t theta, double a, double b, work *w)
{
    const double direction = s->params.directions->theta.at[theta];
    const cut parts = cut_of(s, direction, a, b);
    node at[3];
    at[2] = node_at(s, direction, a);
    if (s->transform) waves_at(s, theta, &at[2], w->at[2]);
    for (int i = 0; i < parts.panels; ++i) {
        double *first = w->at[0]; /* the end of the last panel begins this one */
        w->at[0] = w->at[2];
        w->at[2] = first;
        at[0] = at[2];
        at[1] = node_at(s, direction, a + (b - a) * (i + 0.5) / parts.panels);
        at[2] = node_at(s, direction, a + (b - a) * (i + 1.0) / parts.panels);
        for (int j = 1; s->transform && j < 3; ++j) waves_at(s, theta, &at[j], w->at[j]);
        add_panel(s, theta, at, parts.by_phase, w);
    }
}

/* The path since the last slice, cut where the orbit's curvature changes. */
static aw_status add_step(aw_spectrum *s)
{
    const aw_orbit_view *orbit = s->params.orbit;
    int complete = 1;
#pragma omp parallel
    {
        work w = {0};
        const int mine = !s->transform || work_new(s, &w);
#pragma omp atomic
        complete &= mine;
#pragma omp for schedule(dynamic)
        for (size_t i = s->rank; i < s->theta; i += s->ranks) {
            double a = s->S[1];
            for (int j = aw_orbit_find(orbit, a); mine && a < s->S[0]; ++j) {
                const double b = j + 1 < orbit->n ? fmin(orbit->piece[j + 1].S, s->S[0]) : s->S[0];
                if (b > a) add_piece(s, i, a, b, &w);
                a = b;
            }
        }
        work_free(&w);
    }
    return complete ? AW_OK : AW_ERR_NOMEM;
}

/* The straight line before the first slice (sign -1), or behind the last one (1). */
static aw_status add_tails(aw_spectrum *s, double sign)
{
    const aw_directions *d = s->params.directions;
    work w = {0};
    aw_status status = AW_OK;
    if (s->transform && !work_new(s, &w)) status = AW_ERR_NOMEM;
    for (size_t i = s->rank; status == AW_OK && i < s->theta; i += s->ranks) {
        const double theta = d->theta.at[i];
        node at = node_at(s, theta, s->S[0]);
        at.share = 1.0;
        const size_t slice = i * s->heights * AW_WAVES * s->params.waves;
        for (size_t j = 0; j < s->psi; ++j) {
            const double psi = d->psi.at[j];
            if (s->transform) waves_to(s, j, 1.0, s->wave[0] + slice, w.here[0]);
            const aw_panel end = {.q = {at.ct - cos(psi) * at.along},
                                  .slope = {slope_at(s, at.direction, theta, psi)},
                                  .across = {at.across}};
            aw_tail_add(&end, sign, s->params.k, s->params.waves, w.here[0], sum_of(s, i, j));
        }
    }
    work_free(&w);
    return status;
}

/* The bunch came to the first slice as it is: slices like it before. */
static void repeat_first(aw_spectrum *s, double step)
{
    const size_t n = s->theta * s->heights * AW_WAVES * s->params.waves;
    for (int i = 1; i < KEPT; ++i) {
        if (s->transform) memcpy(s->wave[i], s->wave[0], n * sizeof *s->wave[i]);
        s->S[i] = s->S[0] - i * step;
    }
}

aw_status aw_spectrum_add(aw_spectrum *s, const aw_slice *slice, double S)
{
    if (s->slices > 0 && !(S > s->S[0]))
        return aw_error(AW_ERR_ARG, "a spectrum's slices must follow one another (S = %g m)", S);
    if (!isfinite(S)) return aw_error(AW_ERR_NONFINITE, "S = %g m of a slice", S);
    if (s->transform && !slice)
        return aw_error(AW_ERR_ARG, "a spectrum lacks the slice at S = %g m", S);
    if (s->slices == 1) repeat_first(s, S - s->S[0]);
    for (int i = KEPT - 1; i > 0; --i) s->S[i] = s->S[i - 1];
    s->S[0] = S;
    if (s->transform) take_slice(s, slice, S);
    if (s->slices++ == 0) return add_tails(s, -1.0);
    if (s->transform) note_error(s);
    return add_step(s);
}

aw_status aw_spectrum_end(aw_spectrum *s) { return add_tails(s, 1.0); }

aw_status aw_spectrum_reopen(aw_spectrum *s) { return add_tails(s, -1.0); }

void aw_spectrum_gather(aw_spectrum *s)
{
    aw_comm_sum(s->sum, s->theta * s->psi * AW_SUMS * s->params.waves);
    if (s->transform) aw_comm_sum(s->square, 2 * s->params.waves);
}

/* ------------------------------------------------------------------------------- results */

const aw_spectrum_params *aw_spectrum_params_of(const aw_spectrum *s) { return &s->params; }

double aw_spectrum_resolved(const aw_spectrum *s) { return s->resolved; }

double aw_spectrum_slice_error(const aw_spectrum *s, size_t wave)
{
    if (!s->transform || !(s->square[wave] > 0.0)) return 0.0;
    return sqrt(s->square[s->params.waves + wave] / s->square[wave]);
}

/* d2W/(domega dOmega) = k^2/(4 pi^2 c) (|I_h|^2 + tan^2 psi |I|^2)/(4 pi eps0). */
static double density(const aw_spectrum *s, size_t theta, size_t psi, size_t wave, int first)
{
    const size_t n = s->params.waves;
    const double *sum = sum_of(s, theta, psi) + (size_t)first * n + wave;
    const double k = s->params.k[wave], tangent = tan(s->params.directions->psi.at[psi]);
    const double h = sum[0] * sum[0] + sum[n] * sum[n];
    const double v = sum[2 * n] * sum[2 * n] + sum[3 * n] * sum[3 * n];
    return AW_K_COULOMB * k * k / (4.0 * AW_PI * AW_PI * AW_C) * (h + tangent * tangent * v);
}

double aw_spectrum_coherent(const aw_spectrum *s, size_t theta, size_t psi, size_t wave)
{
    return density(s, theta, psi, wave, AW_SUM_H);
}

double aw_spectrum_single(const aw_spectrum *s, size_t theta, size_t psi, size_t wave)
{
    return density(s, theta, psi, wave, AW_SUM_ONE_H);
}

double aw_spectrum_total(const aw_spectrum *s,
                         double (*of)(const aw_spectrum *, size_t, size_t, size_t), size_t wave)
{
    const aw_directions *d = s->params.directions;
    double sum = 0.0;
    for (size_t i = 0; i < s->theta; ++i)
        for (size_t j = 0; j < s->psi; ++j)
            sum += aw_directions_weight(d, i, j) * of(s, i, j, wave);
    return sum;
}
