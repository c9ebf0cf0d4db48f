/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/schedule.h"

#include <math.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/plan/echoes.h"
#include "src/plan/optics.h"

/* Steps behind an edge, beyond its overtaking length: the distance from the edge over this. There
 * the forces fall as the inverse distance: a trapezium errs by 1/(6 k^2) of what they do there. */
#define AW_STEPS_PER_DISTANCE 6.0
/* A step ahead of a shorter one: longer by this part of the distance, so that each step is at least
 * half as long as the last. */
#define AW_SHORTENING 0.5
/* Largest relative change of the bunch's long rms axis in a step where the bunch is shortest, since
 * the error of the rates is of second order in it (0.15 costs 0.6 % of the emittance growth in the
 * Zeuthen chicane, 0.1 a fifth of that); where sigma_s is larger, and the force smaller as
 * sigma_s^(-4/3), as much more as makes the same error, up to the largest for both axes ... */
#define AW_LENGTH_CHANGE 0.08
#define AW_MOST_CHANGE 0.25
/* ... and turn of the bunch's long axis [rad], times 1 - 1/aspect^2, since the turn of a round
 * bunch changes nothing. The grid follows by as much (pic/frame.h). */
#define AW_TURN 0.05
/* Steps over the rms length of an echo where the bunch was shortest: a trapezium of a Gaussian is
 * right to exp(-2 pi^2 0.6^2), 8e-4. An echo of a longer bunch is weaker, and its steps are longer
 * by the same power of sigma_s as above. */
#define AW_STEPS_PER_ECHO 0.6
/* Steps in a magnet, in a drift, and in the lattice, at least. */
#define AW_STEPS_PER_MAGNET 6.0
#define AW_STEPS_PER_DRIFT 4.0
#define AW_STEPS_PER_LATTICE 20.0
/* Places at which the bunch is looked at, per section of the lattice. */
enum { PLACES = 32 };
/* Largest number of cells: shorter steps than that of the lattice are not planned. */
#define AW_CELLS 1e7
/* Rungs of the ladder, at most; and ladders between which the one with the fewest steps is
 * chosen. */
enum { RUNGS = 60, TRIALS = 8 };

/* Neighbouring regions of the same field. */
typedef struct section {
    const aw_field_region *field; /* the first of them, borrowed */
    double begin, end;            /* [m] */
    double kappa;
} section;

/* The bunch at the ends of PLACES parts of each section. */
typedef struct bunch {
    double sigma_s; /* [m] */
    aw_optics_axes axes;
} bunch;

typedef struct planner {
    const aw_config *config;
    section *section; /* owned, [sections] */
    size_t sections;
    bunch *bunch;    /* owned, [sections][PLACES + 1] */
    double shortest; /* smallest sigma_s [m] */
    double *limit;   /* owned, [sections][PLACES]: longest step [m] */
} planner;

double aw_schedule_ct(const aw_schedule *s, int64_t tick) { return (double)tick * s->tick; }

double aw_schedule_S(const aw_schedule *s, int64_t tick)
{
    return s->begin + (double)tick * s->beta * s->tick;
}

void aw_schedule_free(aw_schedule *schedule)
{
    if (!schedule) return;
    aw_free(schedule->rung);
    aw_free(schedule);
}

static int same_field(const aw_field_region *a, const aw_field_region *b)
{
    for (int n = 0; n < AW_ORDERS; ++n)
        if (a->strength[n] != b->strength[n]) return 0;
    return a->kind == b->kind && a->kappa == b->kappa;
}

static aw_status find_sections(planner *p)
{
    const aw_lattice *lat = p->config->lattice;
    p->section = aw_alloc((size_t)lat->regions, sizeof *p->section);
    if (!p->section) return AW_ERR_NOMEM;
    for (int i = 0; i < lat->regions; ++i) {
        const aw_field_region *r = &lat->region[i];
        const double begin = fmax(r->S, lat->begin);
        const double end = i + 1 < lat->regions ? lat->region[i + 1].S : lat->length;
        section *last = p->sections ? &p->section[p->sections - 1] : NULL;
        if (!(end > begin)) continue;
        if (last && same_field(last->field, r))
            last->end = end;
        else
            p->section[p->sections++] = (section){r, begin, end, r->kappa};
    }
    return AW_OK;
}

/* Place j of a section [m]. */
static double place_of(const section *s, int j)
{
    return s->begin + (s->end - s->begin) * j / PLACES;
}

/* Sizes and tilt from the map from the start, to first order but for the energy. */
static bunch bunch_of(const aw_beam_params *b, const aw_optics_point *p)
{
    const aw_optics_shape shape = aw_optics_shape_of(b, p);
    const double ss = p->sigma_s * p->sigma_s, ww = p->sigma_x * p->sigma_x;
    const double sx = shape.sx + 2.0 * shape.bend_s * shape.bend_x;
    return (bunch){.sigma_s = p->sigma_s, .axes = aw_optics_axes_of(ss, sx, ww)};
}

/* The bunch without self-force; where the optics are not known (the run will say why), as at the
 * start. */
static aw_status find_bunch(planner *p)
{
    const aw_beam_params *beam = &p->config->beam;
    const int rigid = p->config->motion == AW_MOTION_RIGID;
    const size_t n = p->sections * (PLACES + 1);
    aw_optics_point *point = aw_alloc(n, sizeof *point);
    double *S = aw_alloc(n, sizeof *S);
    aw_status status = AW_OK;
    p->bunch = aw_alloc(n, sizeof *p->bunch);
    AW_TRY(point && S && p->bunch ? AW_OK : AW_ERR_NOMEM);
    for (size_t i = 0; i < n; ++i)
        S[i] = place_of(&p->section[i / (PLACES + 1)], (int)(i % (PLACES + 1)));
    status = aw_optics_at(p->config->lattice, beam, rigid, S, n, point);
    const int known = status == AW_OK && !rigid;
    for (size_t i = 0; i < n; ++i)
        p->bunch[i] = known ? bunch_of(beam, &point[i])
                            : (bunch){beam->sigma_s, {beam->sigma_s, beam->sigma_s, 0.0}};
    p->shortest = HUGE_VAL;
    for (size_t i = 0; i < n; ++i) p->shortest = fmin(p->shortest, p->bunch[i].sigma_s);
    if (status == AW_ERR_RANGE) status = AW_OK;
done:
    aw_free(point);
    aw_free(S);
    return status;
}

/* The longest step over which a quantity that changes by `change` between two places that are
 * `length` apart changes by `most`. */
static double limit_of(double most, double change, double length)
{
    return change != 0.0 && isfinite(change) ? most * length / fabs(change) : HUGE_VAL;
}

/* By how much a step may be longer for an error of second order to do what it does where the bunch
 * is shortest: the force goes as sigma_s^(-4/3). */
static double longer_by(const planner *p, double sigma_s)
{
    return pow(sigma_s / p->shortest, 2.0 / 3.0);
}

/* The longest step by the changes of the bunch between two places. */
static double limit_by_bunch(const planner *p, const bunch *a, const bunch *b, double length)
{
    const double more = longer_by(p, fmin(a->sigma_s, b->sigma_s));
    const double change = fmin(AW_LENGTH_CHANGE * more, AW_MOST_CHANGE);
    double limit = limit_of(change, log(b->axes.longer / a->axes.longer), length);
    limit = fmin(limit, limit_of(AW_MOST_CHANGE, log(b->axes.shorter / a->axes.shorter), length));
    const double round = fmin(a->axes.shorter / a->axes.longer, b->axes.shorter / b->axes.longer);
    const double part = 1.0 - round * round, turn = b->axes.tilt - a->axes.tilt;
    return fmin(limit, limit_of(AW_TURN, part * (turn - AW_PI * rint(turn / AW_PI)), length));
}

/* Curvature before section i. */
static double kappa_before(const planner *p, size_t i)
{
    return i > 0 ? p->section[i - 1].kappa : p->config->lattice->orbit.piece[0].kappa;
}

/* Whether the curvature changes at the beginning of section i. */
static int bends_otherwise(const planner *p, size_t i)
{
    return kappa_before(p, i) != p->section[i].kappa;
}

/* Place j of section i. */
static aw_bunch_place bunch_place(const planner *p, size_t i, int j)
{
    return (aw_bunch_place){.S = place_of(&p->section[i], j),
                            .axes = p->bunch[i * (PLACES + 1) + (size_t)j].axes};
}

/* The longest step by the echoes of edges upstream in part j of section i. */
static double limit_by_echoes(const planner *p, size_t i, int j)
{
    const aw_orbit_view *orbit = &p->config->lattice->orbit;
    const double gap = p->config->plates_gap;
    const aw_bunch_place here[2] = {bunch_place(p, i, j), bunch_place(p, i, j + 1)};
    double limit = HUGE_VAL;
    if (!(gap > 0.0)) return limit;
    for (size_t k = 0; k <= i; ++k) {
        if (!bends_otherwise(p, k)) continue;
        const aw_bunch_place edge = bunch_place(p, k, 0);
        const double length = aw_echo_length(orbit, gap, &edge, here);
        const double more = longer_by(p, p->bunch[k * (PLACES + 1)].sigma_s);
        if (length > 0.0) limit = fmin(limit, length * more / AW_STEPS_PER_ECHO);
    }
    return limit;
}

/* The longest step in part j of section i. */
static double limit_at(const planner *p, size_t i, int j)
{
    const section *s = &p->section[i];
    const bunch *a = &p->bunch[i * (PLACES + 1) + (size_t)j], *b = a + 1;
    const double length = (s->end - s->begin) / PLACES;
    const double most = aw_lattice_way(p->config->lattice) / AW_STEPS_PER_LATTICE;
    const int drift = s->field->kind == AW_REGION_DRIFT;
    double limit = fmin(most, PLACES * length / (drift ? AW_STEPS_PER_DRIFT : AW_STEPS_PER_MAGNET));
    limit = fmin(limit, limit_by_bunch(p, a, b, length));
    limit = fmin(limit, limit_by_echoes(p, i, j));
    if (s->kappa != 0.0)
        limit = fmin(limit, aw_overtaking_length(fmin(a->sigma_s, b->sigma_s), s->kappa) /
                                AW_STEPS_PER_OVERTAKING);
    return limit;
}

/* Distance behind the last change of curvature at part j of section i, and the overtaking length
 * there; infinite where there was none. */
static double behind_edge(const planner *p, size_t i, int j, double *overtaking)
{
    const double here = place_of(&p->section[i], j);
    for (size_t k = i + 1; k-- > 0;) {
        const section *b = &p->section[k];
        const double kappa = fmax(fabs(kappa_before(p, k)), fabs(b->kappa));
        if (!bends_otherwise(p, k)) continue;
        *overtaking = aw_overtaking_length(p->bunch[k * (PLACES + 1)].sigma_s, kappa);
        return here - b->begin;
    }
    return HUGE_VAL;
}

static aw_status find_limits(planner *p)
{
    p->limit = aw_alloc(p->sections * PLACES, sizeof *p->limit);
    if (!p->limit) return AW_ERR_NOMEM;
    for (size_t i = 0; i < p->sections; ++i)
        for (int j = 0; j < PLACES; ++j) {
            double overtaking = 0.0, limit = limit_at(p, i, j);
            const double behind = behind_edge(p, i, j, &overtaking);
            if (isfinite(behind)) {
                const double far = behind <= overtaking ? 0.0 : behind / AW_STEPS_PER_DISTANCE;
                limit = fmin(limit, fmax(overtaking / AW_STEPS_PER_OVERTAKING, far));
            }
            p->limit[i * PLACES + (size_t)j] = p->config->step_scale * limit;
        }
    return AW_OK;
}

/* Mean loss of energy in steady state, in all bends and for an overtaking length behind them, by
 * one-dimensional theory (docs/theory.md, "Closed forms") [eV]. */
static double expected_energy(const planner *p)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->sections; ++i) {
        const section *s = &p->section[i];
        const bunch *b = &p->bunch[i * (PLACES + 1)];
        if (s->kappa == 0.0) continue;
        const double by_R = AW_K_COULOMB * p->config->beam.charge * pow(fabs(s->kappa), 2.0 / 3.0);
        for (int j = 0; j <= PLACES; ++j) {
            double length = (s->end - s->begin) / PLACES;
            if (j == PLACES) length = aw_overtaking_length(b[j].sigma_s, s->kappa);
            sum += 0.350472 * by_R * pow(b[j].sigma_s, -4.0 / 3.0) * length;
        }
    }
    return sum;
}

/* A length cut to two digits. */
static double cut(double length)
{
    const double unit = pow(10.0, floor(log10(length)) - 1.0);
    return floor(length / unit * (1.0 + 1e-12)) * unit;
}

/* The longest step at an edge itself, and two steps before and behind it [m]. */
static double edge_step(const planner *p, double overtaking)
{
    return p->config->step_scale * overtaking / AW_STEPS_PER_OVERTAKING;
}

/* The longest step in each cell [m]. */
static void fill_cells(const planner *p, const aw_schedule *s, double cell, double *limit)
{
    for (size_t i = 0; i < s->cells; ++i) limit[i] = HUGE_VAL;
    for (size_t i = 0; i < p->sections * PLACES; ++i) {
        const section *at = &p->section[i / PLACES];
        const double from = (place_of(at, (int)(i % PLACES)) - s->begin) / cell;
        const double to = (place_of(at, (int)(i % PLACES) + 1) - s->begin) / cell;
        for (size_t k = (size_t)(from + 1e-9); k < s->cells && (double)k < to - 1e-9; ++k)
            limit[k] = fmin(limit[k], p->limit[i]);
    }
    for (size_t i = 0; i < p->sections; ++i) {
        double overtaking = 0.0;
        const double behind = behind_edge(p, i, 0, &overtaking);
        if (behind != 0.0) continue; /* the field changes, but not the curvature */
        const double step = edge_step(p, overtaking), edge = p->section[i].begin - s->begin;
        const size_t from = (size_t)fmax((edge - 2.0 * step) / cell, 0.0);
        for (size_t k = from; k < s->cells && (double)k * cell < edge + 2.0 * step; ++k)
            limit[k] = fmin(limit[k], step);
    }
    for (size_t k = s->cells - 1; k > 0; --k)
        limit[k - 1] = fmin(limit[k - 1], limit[k] + AW_SHORTENING * cell);
}

/* Whether all cells that a step covers permit this rung. */
static int permits(const aw_schedule *s, int64_t now, int64_t step, int rung)
{
    const size_t end = (size_t)((now + step + AW_CELL_TICKS - 1) / AW_CELL_TICKS);
    for (size_t k = (size_t)(now / AW_CELL_TICKS); k < end && k < s->cells; ++k)
        if (s->rung[k] < rung) return 0;
    return 1;
}

/* A rung of the ladder: steps of 1, 1.5, 2, 3, 4, 6 .. cells [ticks]. */
static int64_t rung_step(int rung, int halved)
{
    const int64_t cells = AW_CELL_TICKS << (rung / 2);
    return (rung % 2 ? cells + cells / 2 : cells) >> halved;
}

/* The highest rung that is not longer than `limit` cells. */
static int rung_below(double limit)
{
    int rung = 0;
    while (rung + 1 < RUNGS &&
           (double)rung_step(rung + 1, 0) <= limit * (1.0 + 1e-9) * (double)AW_CELL_TICKS)
        ++rung;
    return rung;
}

int64_t aw_schedule_step(const aw_schedule *s, int64_t now, int64_t last, int halved)
{
    if (!s->rung) return 1;
    const int64_t most = last > 0 && 2 * last < s->end - now ? 2 * last : s->end - now;
    int rung = 0;
    while (rung + 1 < RUNGS && rung_step(rung + 1, halved) <= most &&
           permits(s, now, rung_step(rung + 1, halved), rung + 1))
        ++rung;
    int64_t step = rung_step(rung, halved);
    while (step > most) step /= 2;
    return step > 1 ? step : 1;
}

/* Count the planned steps. */
static void count_steps(aw_schedule *s)
{
    int64_t now = 0, step = 0;
    s->shortest = s->end;
    while (now < s->end) {
        step = aw_schedule_step(s, now, step, 0);
        if (step < s->shortest) s->shortest = step;
        if (step > s->longest) s->longest = step;
        now += step;
        s->steps++;
    }
}

/* Set up a ladder whose shortest step is `base` [m]. */
static aw_status make_ladder(const planner *p, double base, aw_schedule *s)
{
    const double length = aw_lattice_way(p->config->lattice);
    aw_status status = AW_OK;
    double *limit = NULL;
    s->tick = base / AW_CELL_TICKS;
    const double cell = s->beta * base;
    s->end = (int64_t)floor(length / cell + 1e-9) * AW_CELL_TICKS;
    s->cells = (size_t)ceil(length / cell);
    limit = aw_alloc(s->cells, sizeof *limit);
    s->rung = aw_alloc(s->cells, 1);
    AW_TRY(limit && s->rung ? AW_OK : AW_ERR_NOMEM);
    fill_cells(p, s, cell, limit);
    for (size_t k = 0; k < s->cells; ++k) s->rung[k] = (unsigned char)rung_below(limit[k] / base);
    count_steps(s);
done:
    aw_free(limit);
    return status;
}

/* The ladder with the fewest steps: its shortest step is at most the shortest that is permitted
 * anywhere, so that a little less may fit a rung to a longer stretch elsewhere. */
static aw_status choose_ladder(planner *p, aw_schedule *best)
{
    aw_status status = AW_OK;
    double most = HUGE_VAL, last = 0.0;
    AW_TRY(find_sections(p));
    AW_TRY(find_bunch(p));
    AW_TRY(find_limits(p));
    for (size_t i = 0; i < p->sections * PLACES; ++i) most = fmin(most, p->limit[i]);
    for (size_t i = 0; i < p->sections; ++i) {
        double overtaking = 0.0;
        if (behind_edge(p, i, 0, &overtaking) == 0.0) most = fmin(most, edge_step(p, overtaking));
    }
    most = fmax(most, aw_lattice_way(p->config->lattice) / AW_CELLS);
    const double energy = expected_energy(p);
    for (int i = 0; i < TRIALS; ++i) {
        aw_schedule trial = {.begin = best->begin, .beta = best->beta, .energy = energy};
        const double base = cut(most * exp2(-(double)i / TRIALS));
        if (base == last) continue;
        last = base;
        status = make_ladder(p, base, &trial);
        if (status == AW_OK && (!best->rung || trial.steps < best->steps)) {
            aw_free(best->rung);
            *best = trial;
            continue;
        }
        aw_free(trial.rung);
        AW_TRY(status);
    }
done:
    return status;
}

aw_status aw_schedule_new(const aw_config *config, aw_schedule **out)
{
    const double gamma = config->beam.gamma;
    aw_status status = AW_OK;
    planner p = {.config = config};
    aw_schedule *s = aw_alloc(1, sizeof *s);
    *out = NULL;
    AW_TRY(s ? AW_OK : AW_ERR_NOMEM);
    s->beta = sqrt((1.0 - 1.0 / gamma) * (1.0 + 1.0 / gamma));
    s->begin = config->lattice->begin;
    if (config->step_m > 0.0) {
        s->tick = config->step_m;
        s->shortest = s->longest = 1;
        /* A step that ends at the end of the lattice to rounding counts. */
        s->end = s->steps =
            (long)floor(aw_lattice_way(config->lattice) / (s->beta * config->step_m) + 1e-9);
    } else {
        AW_TRY(choose_ladder(&p, s));
    }
    *out = s;
done:
    if (status != AW_OK) {
        aw_error(status, "out of memory for the schedule of steps");
        aw_schedule_free(s);
    }
    aw_free(p.section);
    aw_free(p.bunch);
    aw_free(p.limit);
    return status;
}
