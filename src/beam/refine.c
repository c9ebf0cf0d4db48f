/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/beam/refine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pic/particle/philox.h"
#include "src/base/memory.h"
#include "src/base/units.h"

/* Stream of random numbers; columns.c has 64. */
#define REFINE_STREAM 65
/* Particles on each side of a gap whose extent it must exceed to part two bunches. */
enum { NEIGHBOURS = 32 };
/* Knots of the local means in a window, and particles that half of one must have. */
enum { KNOTS = 4, HALF_LEAST = 16 };
/* Nodes of the density in an rms of the Gaussian that smooths it; it ends after REACH rms. */
enum { PER_RMS = 8, REACH = 5 };

/* Coordinates in which moments are kept: those of accelerators. */
enum { S, GAMMA, X, SLOPE_X, Y, SLOPE_Y, ALL };
/* Of a local mean: all but S. */
enum { MEANS = ALL - 1, DEGREE = 2 };

/* Means of a window as polynomials of (s - middle)/size, orthogonal for its particles: p0 = 1, p1 =
 * u - a, p2 = (u - b) p1 - c. */
typedef struct knot {
    double middle, size, a, b, c, coefficient[MEANS][DEGREE + 1];
} knot;

/* Particles between two gaps, by their places in the order of s. */
typedef struct bunch {
    size_t first, end; /* places */
    double from, to;   /* charge before it, and with it */
    double window;     /* part of its charge */
    size_t knots;
    knot *knot;          /* [knots], owned */
    double mean, shrink; /* of s; from the smoothed density to one of the old rms length */
    double low, spacing; /* of the nodes of the smoothed density */
    size_t nodes;
    double *density, *before; /* [nodes], owned: charge in a spacing; charge up to a node */
} bunch;

typedef struct refiner {
    const aw_columns *c;
    size_t n;
    size_t *order;        /* [n]: particles by s */
    double (*value)[ALL]; /* [n] of particles, in the order of s */
    double *charge;       /* [n + 1]: of the particles before */
    size_t bunches;
    bunch *bunch; /* [bunches] */
} refiner;

/* --------------------------------------------------------------------------------- coordinates */

static void to_value(const aw_columns *c, size_t i, double v[ALL])
{
    const double px = c->column[AW_COLUMN_PX][i], py = c->column[AW_COLUMN_PY][i];
    const double pz = c->column[AW_COLUMN_PZ][i];
    v[S] = c->column[AW_COLUMN_Z][i];
    v[GAMMA] = sqrt(1.0 + px * px + py * py + pz * pz);
    v[X] = c->column[AW_COLUMN_X][i];
    v[SLOPE_X] = px / pz;
    v[Y] = c->column[AW_COLUMN_Y][i];
    v[SLOPE_Y] = py / pz;
}

static void from_value(const double v[ALL], aw_columns *c, size_t i)
{
    const double slopes = 1.0 + v[SLOPE_X] * v[SLOPE_X] + v[SLOPE_Y] * v[SLOPE_Y];
    const double pz = sqrt((v[GAMMA] - 1.0) * (v[GAMMA] + 1.0) / slopes);
    c->column[AW_COLUMN_Z][i] = v[S];
    c->column[AW_COLUMN_X][i] = v[X];
    c->column[AW_COLUMN_Y][i] = v[Y];
    c->column[AW_COLUMN_PX][i] = v[SLOPE_X] * pz;
    c->column[AW_COLUMN_PY][i] = v[SLOPE_Y] * pz;
    c->column[AW_COLUMN_PZ][i] = pz;
}

/* ----------------------------------------------------------------------------- the line density */

typedef struct placed {
    double s;
    size_t i;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *p = a, *q = b;
    if (p->s != q->s) return p->s < q->s ? -1 : 1;
    return (p->i > q->i) - (p->i < q->i);
}

static aw_status sort(refiner *r)
{
    placed *list = aw_alloc(r->n, sizeof *list);
    if (!list) return AW_ERR_NOMEM;
    for (size_t i = 0; i < r->n; ++i) list[i] = (placed){r->c->column[AW_COLUMN_Z][i], i};
    qsort(list, r->n, sizeof *list, by_place);
    for (size_t k = 0; k < r->n; ++k) r->order[k] = list[k].i;
    aw_free(list);
    return AW_OK;
}

/* Middle of a particle on the axis of charge. */
static double middle(const refiner *r, size_t k) { return 0.5 * (r->charge[k] + r->charge[k + 1]); }

/* The particle at a charge, in a bunch. */
static size_t place_of(const refiner *r, const bunch *b, double charge)
{
    size_t low = b->first, high = b->end;
    while (high - low > 1) {
        const size_t at = low + (high - low) / 2;
        if (r->charge[at] <= charge)
            low = at;
        else
            high = at;
    }
    return low;
}

/* Mean and variance of s of a bunch. */
static void length_of(const refiner *r, const bunch *b, double *mean, double *variance)
{
    const double from = r->value[b->first][S], all = b->to - b->from;
    double sum = 0.0, squares = 0.0;
    for (size_t k = b->first; k < b->end; ++k)
        sum += (r->charge[k + 1] - r->charge[k]) * (r->value[k][S] - from);
    *mean = from + sum / all;
    for (size_t k = b->first; k < b->end; ++k)
        squares += (r->charge[k + 1] - r->charge[k]) * pow(r->value[k][S] - *mean, 2);
    *variance = squares / all;
}

/* Silverman's rule of thumb: 0.9 of the rms, or of the middle half where that is shorter. */
static double bandwidth(const refiner *r, const bunch *b, double variance, double effective)
{
    const double all = b->to - b->from;
    const double half = r->value[place_of(r, b, b->from + 0.75 * all)][S] -
                        r->value[place_of(r, b, b->from + 0.25 * all)][S];
    const double size = half > 0.0 ? fmin(sqrt(variance), half / 1.34) : sqrt(variance);
    return 0.9 * size * pow(effective, -0.2);
}

/* Charge at the nodes, each particle's shared by its two. */
static void share_charge(const refiner *r, const bunch *b, double *node)
{
    for (size_t k = b->first; k < b->end; ++k) {
        const double at = (r->value[k][S] - b->low) / b->spacing,
                     charge = r->charge[k + 1] - r->charge[k];
        const size_t i = (size_t)at;
        node[i] += charge * (1.0 - (at - (double)i));
        node[i + 1] += charge * (at - (double)i);
    }
}

/* Smooth the line density of a bunch with a Gaussian. */
static aw_status smooth(const refiner *r, bunch *b, double effective)
{
    enum { SIDE = PER_RMS * REACH };
    static const double nodes_most = 1e6;
    double variance, weight[2 * SIDE + 1], all = 0.0;
    const double range = r->value[b->end - 1][S] - r->value[b->first][S];
    aw_status status = AW_OK;
    length_of(r, b, &b->mean, &variance);
    double rms = fmax(bandwidth(r, b, variance, effective), range * PER_RMS / nodes_most);
    if (!(rms > 0.0)) rms = 1e-12; /* all at one place: stretched to nothing below */
    b->shrink = sqrt(variance / (variance + rms * rms));
    b->spacing = rms / PER_RMS;
    b->low = r->value[b->first][S] - (REACH + 1) * rms;
    b->nodes = (size_t)(range / b->spacing) + 2 * SIDE + 2 * PER_RMS + 2;
    double *node = aw_alloc(b->nodes, sizeof *node);
    b->density = aw_alloc(b->nodes, sizeof *b->density);
    b->before = aw_alloc(b->nodes, sizeof *b->before);
    AW_TRY(node && b->density && b->before ? AW_OK : AW_ERR_NOMEM);
    share_charge(r, b, node);
    for (int k = -SIDE; k <= SIDE; ++k) {
        weight[k + SIDE] = exp(-0.5 * pow((double)k / PER_RMS, 2));
        all += weight[k + SIDE];
    }
    for (size_t i = SIDE; i + SIDE < b->nodes; ++i) /* the nodes beyond have no charge */
        for (size_t k = 0; node[i] > 0.0 && k <= 2 * SIDE; ++k)
            b->density[i + k - SIDE] += node[i] * weight[k] / all;
    for (size_t i = 1; i < b->nodes; ++i)
        b->before[i] = b->before[i - 1] + 0.5 * (b->density[i] + b->density[i - 1]);
done:
    aw_free(node);
    return status;
}

/* Place at which `part` of the smoothed charge is behind; `cell` goes up with it from 0. */
static double s_at(const bunch *b, double part, size_t *cell)
{
    const double charge = part * b->before[b->nodes - 1];
    while (*cell + 2 < b->nodes && b->before[*cell + 1] < charge) ++*cell;
    const double left = charge - b->before[*cell], from = b->density[*cell];
    const double slope = b->density[*cell + 1] - from;
    /* of left = from x + slope x^2/2, without cancellation */
    const double root = from + sqrt(fmax(from * from + 2.0 * slope * left, 0.0));
    const double x = root > 0.0 ? fmin(fmax(2.0 * left / root, 0.0), 1.0) : 0.0;
    const double s = b->low + b->spacing * ((double)*cell + x);
    return b->mean + b->shrink * (s - b->mean);
}

/* --------------------------------------------------------------------------------- local means */

/* The orthogonal polynomials of a knot. */
static void polynomials(const knot *q, double s, double p[DEGREE + 1])
{
    const double u = (s - q->middle) / q->size;
    p[0] = 1.0;
    p[1] = u - q->a;
    p[2] = (u - q->b) * p[1] - q->c;
}

/* Weighted sum over the particles first .. end - 1 of u^power p[i] p[j]. */
static double product(const refiner *r, const knot *q, const size_t range[2], int power, int i,
                      int j)
{
    double sum = 0.0, p[DEGREE + 1];
    for (size_t k = range[0]; k < range[1]; ++k) {
        polynomials(q, r->value[k][S], p);
        const double u = (r->value[k][S] - q->middle) / q->size;
        sum += (r->charge[k + 1] - r->charge[k]) * (power ? u : 1.0) * p[i] * p[j];
    }
    return sum;
}

/* Fit the means of the particles of a range: least squares, weighted with the charge. */
static void fit(const refiner *r, const size_t range[2], knot *q)
{
    double norm[DEGREE + 1], p[DEGREE + 1];
    *q = (knot){.middle = r->value[range[0]][S]};
    q->size = r->value[range[1] - 1][S] - q->middle;
    if (!(q->size > 0.0)) q->size = 1.0;
    norm[0] = product(r, q, range, 0, 0, 0);
    q->a = product(r, q, range, 1, 0, 0) / norm[0];
    norm[1] = product(r, q, range, 0, 1, 1);
    if (norm[1] > 0.0) {
        q->b = product(r, q, range, 1, 1, 1) / norm[1];
        q->c = norm[1] / norm[0];
    }
    norm[2] = product(r, q, range, 0, 2, 2);
    for (size_t k = range[0]; k < range[1]; ++k) {
        polynomials(q, r->value[k][S], p);
        const double charge = r->charge[k + 1] - r->charge[k];
        for (int m = 0; m < MEANS; ++m)
            for (int d = 0; d <= DEGREE; ++d)
                q->coefficient[m][d] +=
                    charge * p[d] * (r->value[k][1 + m] - r->value[range[0]][1 + m]);
    }
    for (int m = 0; m < MEANS; ++m) {
        for (int d = 0; d <= DEGREE; ++d)
            q->coefficient[m][d] *= norm[d] > 1e-12 * norm[0] ? 1.0 / norm[d] : 0.0;
        q->coefficient[m][0] += r->value[range[0]][1 + m];
    }
}

/* Means at s; `part` of the bunch's charge is behind it, which chooses the knots. */
static void means_at(const bunch *b, double part, double s, double mean[MEANS])
{
    const double at = fmin(fmax(part, 0.0), 1.0) * (double)(b->knots - 1);
    const size_t k = at < (double)(b->knots - 2) ? (size_t)at : b->knots - 2;
    const double share[2] = {1.0 - (at - (double)k), at - (double)k};
    for (int m = 0; m < MEANS; ++m) mean[m] = 0.0;
    for (size_t j = 0; j < 2; ++j) {
        const knot *q = &b->knot[k + j];
        double p[DEGREE + 1];
        polynomials(q, s, p);
        for (int m = 0; m < MEANS; ++m)
            for (int d = 0; d <= DEGREE; ++d) mean[m] += share[j] * q->coefficient[m][d] * p[d];
    }
}

/* ------------------------------------------------------------------------------------- bunches */

/* Whether the gap before place k is larger than the neighbourhoods on both sides. */
static int is_gap(const refiner *r, size_t first, size_t k)
{
    if (k < first + NEIGHBOURS || k + NEIGHBOURS > r->n) return 0;
    const double gap = r->value[k][S] - r->value[k - 1][S];
    return gap > r->value[k - 1][S] - r->value[k - NEIGHBOURS][S] +
                     (r->value[k + NEIGHBOURS - 1][S] - r->value[k][S]);
}

/* Choose the window, and fit the means at its knots. */
static aw_status begin_bunch(refiner *r, bunch *b)
{
    double all = 0.0, squares = 0.0;
    b->from = r->charge[b->first];
    b->to = r->charge[b->end];
    for (size_t k = b->first; k < b->end; ++k) {
        const double charge = r->charge[k + 1] - r->charge[k];
        all += charge;
        squares += charge * charge;
    }
    const double effective = all * all / squares;
    b->window = fmin(1.0, fmax(0.5 * pow(effective, -0.2), 2.0 * HALF_LEAST / effective));
    b->knots = (size_t)ceil(KNOTS / b->window) + 1;
    b->knot = aw_alloc(b->knots, sizeof *b->knot);
    if (!b->knot) return AW_ERR_NOMEM;
    for (size_t k = 0; k < b->knots; ++k) {
        const double at = (double)k / (double)(b->knots - 1), half = 0.5 * b->window;
        const double from = b->from + fmax(at - half, 0.0) * (b->to - b->from);
        const double to = b->from + fmin(at + half, 1.0) * (b->to - b->from);
        const size_t range[2] = {place_of(r, b, from), place_of(r, b, to) + 1};
        fit(r, range, &b->knot[k]);
    }
    return smooth(r, b, effective);
}

/* Part the particles at gaps. Those without charge have no part. */
static aw_status find_bunches(refiner *r)
{
    size_t capacity = 0, first = 0;
    aw_status status = AW_OK;
    for (size_t k = 1; k <= r->n; ++k) {
        if (k < r->n && !is_gap(r, first, k)) continue;
        AW_TRY(aw_grow((void **)&r->bunch, &capacity, r->bunches + 1, sizeof *r->bunch));
        bunch *b = &r->bunch[r->bunches];
        *b = (bunch){.first = first, .end = k};
        first = k;
        if (!(r->charge[k] > r->charge[b->first])) continue;
        ++r->bunches;
        AW_TRY(begin_bunch(r, b));
    }
done:
    return status;
}

static aw_status begin(refiner *r, const aw_columns *c)
{
    aw_status status = AW_OK;
    r->c = c;
    r->n = c->n;
    r->order = aw_alloc(r->n, sizeof *r->order);
    r->value = aw_alloc(r->n, sizeof *r->value);
    r->charge = aw_alloc(r->n + 1, sizeof *r->charge);
    AW_TRY(r->order && r->value && r->charge ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(sort(r));
    for (size_t k = 0; k < r->n; ++k) {
        to_value(c, r->order[k], r->value[k]);
        r->charge[k + 1] = r->charge[k] + c->column[AW_COLUMN_CHARGE][r->order[k]];
    }
    AW_TRY(find_bunches(r));
done:
    return status;
}

static void end(refiner *r)
{
    for (size_t k = 0; k < r->bunches; ++k) {
        aw_free(r->bunch[k].knot);
        aw_free(r->bunch[k].density);
        aw_free(r->bunch[k].before);
    }
    aw_free(r->bunch);
    aw_free(r->order);
    aw_free(r->value);
    aw_free(r->charge);
}

/* ------------------------------------------------------------------------------- new particles */

/* A new particle at s, behind which there is `part` of the bunch; `random`, from 0 to 1, chooses
 * the old one. */
static void draw(const refiner *r, const bunch *b, double part, double random, double v[ALL])
{
    const double size = b->to - b->from;
    double at = part + (random - 0.5) * b->window, here[MEANS], there[MEANS];
    if (at < 0.0) at = -at; /* reflected: each old one is chosen as often as its charge says */
    if (at > 1.0) at = 2.0 - at;
    const size_t old = place_of(r, b, b->from + at * size);
    means_at(b, part, v[S], here);
    means_at(b, (middle(r, old) - b->from) / size, r->value[old][S], there);
    for (int m = 0; m < MEANS; ++m) v[1 + m] = r->value[old][1 + m] + (here[m] - there[m]);
}

static void draw_all(const refiner *r, size_t wanted, uint64_t seed, double (*value)[ALL])
{
    static const double golden = 0.61803398874989484820;
    const double all = r->charge[r->n];
    const bunch *b = r->bunch;
    double u[4];
    size_t cell = 0;
    aw_philox_units(seed, 0, REFINE_STREAM, u);
    for (size_t i = 0; i < wanted; ++i) {
        const double charge = ((double)i + 0.5) / (double)wanted * all;
        while (charge >= b->to && b + 1 < r->bunch + r->bunches) {
            ++b;
            cell = 0;
        }
        const double part = (charge - b->from) / (b->to - b->from);
        const double random = u[0] + golden * (double)i;
        value[i][S] = s_at(b, part, &cell);
        draw(r, b, part, random - floor(random), value[i]);
    }
}

/* ------------------------------------------------------------------------------------- moments */

typedef struct moments {
    double mean[ALL], root[ALL][ALL]; /* Cholesky factor of the covariance */
} moments;

/* A pivot below this part of its variance is rounding: the coordinate follows from those before. */
#define PIVOT 1e-13

/* `charge` NULL: equal ones; else cumulative. */
static moments moments_of(const double (*value)[ALL], const double *charge, size_t n)
{
    moments m = {{0.0}, {{0.0}}};
    const double all = charge ? charge[n] : (double)n;
    double product[ALL][ALL] = {{0.0}};
    for (size_t i = 0; i < n; ++i)
        for (int a = 0; a < ALL; ++a)
            m.mean[a] += (charge ? charge[i + 1] - charge[i] : 1.0) * (value[i][a] - value[0][a]);
    for (int a = 0; a < ALL; ++a) m.mean[a] = value[0][a] + m.mean[a] / all;
    for (size_t i = 0; i < n; ++i) {
        const double w = (charge ? charge[i + 1] - charge[i] : 1.0) / all;
        for (int a = 0; a < ALL; ++a)
            for (int b = 0; b <= a; ++b)
                product[a][b] += w * (value[i][a] - m.mean[a]) * (value[i][b] - m.mean[b]);
    }
    for (int a = 0; a < ALL; ++a)
        for (int b = 0; b <= a; ++b) {
            double rest = product[a][b];
            for (int k = 0; k < b; ++k) rest -= m.root[a][k] * m.root[b][k];
            if (b < a)
                m.root[a][b] = m.root[b][b] > 0.0 ? rest / m.root[b][b] : 0.0;
            else
                m.root[a][a] = rest > PIVOT * product[a][a] ? sqrt(rest) : 0.0;
        }
    return m;
}

/* Map values with the moments `from` to those with the moments `to`: through the coordinates in
 * which the first are uncorrelated, of variance 1. */
static void map_value(const moments *from, const moments *to, double v[ALL])
{
    double unit[ALL];
    for (int a = 0; a < ALL; ++a) {
        const int flat = !(from->root[a][a] > 0.0) || !(to->root[a][a] > 0.0);
        double rest = v[a] - from->mean[a], image = to->mean[a];
        for (int k = 0; k < a; ++k) rest -= from->root[a][k] * unit[k];
        for (int k = 0; k < a; ++k) image += to->root[a][k] * unit[k];
        unit[a] = flat ? 0.0 : rest / from->root[a][a];
        v[a] = image + (flat ? rest : to->root[a][a] * unit[a]);
    }
}

/* Twice: the second time removes the rounding of the first. */
static void keep_moments(const refiner *r, size_t n, double (*value)[ALL])
{
    const moments to = moments_of((const double(*)[ALL])r->value, r->charge, r->n);
    for (int pass = 0; pass < 2; ++pass) {
        const moments from = moments_of((const double(*)[ALL])value, NULL, n);
        for (size_t i = 0; i < n; ++i) map_value(&from, &to, value[i]);
    }
}

/* What local means and moments have made of the energies must be energies. */
static aw_status check_energies(size_t n, const double (*value)[ALL], aw_columns *c)
{
    for (size_t i = 0; i < n; ++i)
        if (!(value[i][GAMMA] > 1.0))
            return aw_columns_refuse(c,
                                     "the energies are too far apart to make particles with the "
                                     "same moments (expected a beam without slow particles, or no "
                                     "beam.resample)");
    return AW_OK;
}

aw_status aw_columns_refine(aw_columns *c, size_t wanted, uint64_t seed, aw_refined *how)
{
    refiner r = {.c = c};
    aw_columns finer = *c;
    double(*value)[ALL] = NULL;
    aw_status status = AW_OK;
    for (int k = 0; k < AW_COLUMNS; ++k) finer.column[k] = NULL;
    finer.id = NULL;
    finer.shared = NULL;
    if (c->n < AW_REFINE_LEAST)
        AW_TRY(aw_columns_refuse(&finer,
                                 "has %zu live particles, too few to make %zu of them "
                                 "(beam.resample; expected %d or more)",
                                 c->n, wanted, AW_REFINE_LEAST));
    AW_TRY(aw_columns_new(wanted, &finer));
    AW_TRY(begin(&r, c));
    if (r.bunches == 0)
        AW_TRY(aw_columns_refuse(&finer, "the particles have no charge (expected > 0)"));
    value = aw_alloc(wanted, sizeof *value);
    AW_TRY(value ? AW_OK : AW_ERR_NOMEM);
    draw_all(&r, wanted, seed, value);
    keep_moments(&r, wanted, value);
    AW_TRY(check_energies(wanted, (const double(*)[ALL])value, &finer));
    *how = (aw_refined){.from = c->n, .bunches = r.bunches};
    for (size_t k = 0; k < r.bunches; ++k)
        how->smooth = fmax(how->smooth, PER_RMS * r.bunch[k].spacing);
    for (size_t i = 0; i < wanted; ++i) {
        from_value(value[i], &finer, i);
        finer.column[AW_COLUMN_T][i] = c->column[AW_COLUMN_T][0];
        finer.column[AW_COLUMN_CHARGE][i] = r.charge[r.n] / (double)wanted;
    }
done:
    end(&r);
    aw_free(value);
    aw_columns_free(status == AW_OK ? c : &finer);
    if (status == AW_OK)
        *c = finer;
    else
        memcpy(c->why, finer.why, AW_WHY_MAX);
    return status;
}
