/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a list of elements: the design orbit's pieces and the field regions between planes. */
#include "pic/lattice.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"

/* Neighbours whose curvature (or k1, or edge) differs by less are one magnet cut in two: the parts'
 * lengths and angles carry rounding of decimal input. */
#define AW_SAME 1e-12
/* Bends are cut into regions of at most this angle [rad], so that a particle's circle meets the
 * plane ahead first, and not the same plane on the far side of the ring. */
#define AW_REGION_ANGLE 0.5
/* Planes of one region must not meet nearer to the orbit than this [m], a generous beam pipe. */
#define AW_CLEARANCE 0.01
#define AW_EDGE_MAX 1.0
/* Arc lengths that are summed differently agree to this [m]. */
#define AW_SAME_PLACE 1e-9

/* A stretch of one field: adjacent elements merged, those of zero length left out. */
typedef struct aw_span {
    aw_element e; /* length, angle and e2 are those of the merged elements together */
    size_t first; /* index of the first of them */
    double S;
} aw_span;

static double span_kappa(const aw_span *s)
{
    return s->e.kind == AW_BEND ? s->e.angle / s->e.length : 0.0;
}

static int same(double a, double b) { return fabs(a - b) <= AW_SAME * fmax(fabs(a), fabs(b)); }

/* Note what is wrong with element i. @return AW_ERR_ARG */
AW_PRINTF(3, 4)
static aw_status refuse(aw_lattice_problem *problem, size_t i, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(problem->text, sizeof problem->text, format, args);
    va_end(args);
    problem->element = i;
    return AW_ERR_ARG;
}

static aw_status check_bend(const aw_element *e, size_t i, aw_lattice_problem *problem)
{
    if (!(e->length > 0.0)) return refuse(problem, i, "a bend of zero length");
    if (fabs(e->angle) > 2.0 * AW_PI)
        return refuse(problem, i, "angle %g is more than a full turn (expected radians)", e->angle);
    if (fabs(e->e1) > AW_EDGE_MAX || fabs(e->e2) > AW_EDGE_MAX)
        return refuse(problem, i, "edge angles %g, %g (expected radians, at most %g)", e->e1, e->e2,
                      AW_EDGE_MAX);
    return AW_OK;
}

static aw_status check_marker(const aw_element *e, size_t i, aw_lattice_problem *problem)
{
    if (!(e->length > 0.0)) return AW_OK;
    return refuse(problem, i, "a marker has no length (got %g m)", e->length);
}

static int bends(const aw_element *e) { return e->angle != 0.0; }
static int focuses(const aw_element *e) { return e->k1 != 0.0; }

static int bend_continues(const aw_span *a, const aw_span *b)
{
    return same(span_kappa(a), span_kappa(b)) && fabs(a->e.e2 + b->e.e1) <= AW_SAME;
}

static int quadrupole_continues(const aw_span *a, const aw_span *b)
{
    return same(a->e.k1, b->e.k1);
}

/* How the lattice treats each kind of element; its field is in pic/particle/track.h. NULL: nothing
 * to check, no field, always merged. */
static const struct {
    /* besides what holds for all kinds */
    aw_status (*check)(const aw_element *e, size_t i, aw_lattice_problem *problem);
    int (*acts)(const aw_element *e);                     /* 0: it has no field, and is a drift */
    int (*continues)(const aw_span *a, const aw_span *b); /* whether b only continues a */
} kinds[] = {[AW_DRIFT] = {NULL, NULL, NULL},
             [AW_BEND] = {check_bend, bends, bend_continues},
             [AW_QUADRUPOLE] = {NULL, focuses, quadrupole_continues},
             [AW_MARKER] = {check_marker, NULL, NULL}};

static aw_status check_element(const aw_element *e, size_t i, aw_lattice_problem *problem)
{
    if (!isfinite(e->length) || !isfinite(e->angle) || !isfinite(e->e1) || !isfinite(e->e2) ||
        !isfinite(e->k1))
        return refuse(problem, i, "a number is not finite");
    if (e->length < 0.0) return refuse(problem, i, "length %g m (expected >= 0)", e->length);
    return kinds[e->kind].check ? kinds[e->kind].check(e, i, problem) : AW_OK;
}

/* An element without a field becomes a drift of its length. */
static aw_span span_of(const aw_element *e)
{
    aw_span s = {.e = {.kind = AW_DRIFT, .length = e->length}};
    if (kinds[e->kind].acts && kinds[e->kind].acts(e)) s.e = *e;
    memcpy(s.e.name, e->name, sizeof s.e.name);
    return s;
}

/* 1 if `b` continues `a`: the same field, and no edge between them. */
static int continues(const aw_span *a, const aw_span *b)
{
    if (a->e.kind != b->e.kind) return 0;
    return !kinds[a->e.kind].continues || kinds[a->e.kind].continues(a, b);
}

/* Two bends that touch share one plane, which is possible only if their edges agree. */
static aw_status append(aw_span *span, size_t *n, const aw_span *s, aw_lattice_problem *problem)
{
    aw_span *last = *n ? &span[*n - 1] : NULL;
    if (last && continues(last, s)) {
        last->e.length += s->e.length;
        last->e.angle += s->e.angle;
        last->e.e2 = s->e.e2;
        return AW_OK;
    }
    if (last && last->e.kind == AW_BEND && s->e.kind == AW_BEND &&
        fabs(last->e.e2 + s->e.e1) > AW_SAME)
        return refuse(problem, s->first,
                      "bends %s and %s touch, but their edges cross on the orbit (e2 = %g, e1 = "
                      "%g; expected e1 = -e2, or a drift between)",
                      last->e.name, s->e.name, last->e.e2, s->e.e1);
    span[(*n)++] = *s;
    return AW_OK;
}

/* What of an element that ends at `end` is ahead of the start of the bunch. *length: of that, 0 if
 * nothing is */
static aw_status cut_at(const aw_element *e, size_t i, double begin, double end, double *length,
                        aw_lattice_problem *problem)
{
    *length = end - begin <= AW_SAME_PLACE ? 0.0 : fmin(e->length, end - begin);
    if (e->length - *length <= AW_SAME_PLACE && *length > 0.0) *length = e->length;
    if (*length == 0.0 || *length == e->length) return AW_OK;
    if (!kinds[e->kind].acts || !kinds[e->kind].acts(e)) return AW_OK;
    return refuse(problem, i,
                  "the beam starts within it, at S = %g m (expected in a drift, or at most %g m or "
                  "from %g m on)",
                  begin, end - e->length, end);
}

/* Merge the elements into spans, with a drift upstream (unless steady) and downstream; fill S. */
static aw_status make_spans(const aw_element *element, size_t n, const aw_lattice_start *start,
                            aw_span *span, size_t *count, aw_lattice_problem *problem)
{
    aw_status status = AW_OK;
    const aw_span drift = {.e = {.kind = AW_DRIFT, .name = "the outside"}, .first = n};
    double S = start->S, end = 0.0, length = 0.0;
    size_t first = start->upstream == AW_UPSTREAM_STEADY ? 0 : 1;
    *count = 0;
    if (first) span[(*count)++] = drift;
    for (size_t i = 0; i < n; ++i) {
        AW_TRY(check_element(&element[i], i, problem));
        end += element[i].length;
        AW_TRY(cut_at(&element[i], i, start->S, end, &length, problem));
        if (length == 0.0) continue;
        aw_span s = span_of(&element[i]);
        s.first = i;
        s.e.length = length;
        AW_TRY(append(span, count, &s, problem));
    }
    if (!first && (*count == 0 || span[0].e.kind != AW_BEND))
        return refuse(problem, n,
                      "upstream 'steady' continues a leading bend backwards, but the first element "
                      "is no bend (use upstream 'drift')");
    AW_TRY(append(span, count, &drift, problem));
    for (size_t i = 0; i < *count; ++i) {
        span[i].S = S;
        S += span[i].e.length;
    }
    if (!(end > 0.0)) return refuse(problem, n, "no element has a length");
    if (!(S > start->S))
        return refuse(problem, n, "the beam starts at S = %g m, its end (expected less than %g m)",
                      start->S, end);
done:
    return status;
}

/* Point of the orbit at a distance `d` further along an arc. */
static aw_orbit_piece advance(const aw_orbit_piece *p, double kappa, double d)
{
    aw_orbit_piece q = *p;
    double half = 0.5 * kappa * d, chord = d * aw_sinc(half);
    q.S = p->S + d;
    q.z = p->z + chord * cos(p->theta - half);
    q.x = p->x + chord * sin(p->theta - half);
    q.theta = p->theta - kappa * d;
    q.kappa = kappa;
    return q;
}

static void make_pieces(const aw_span *span, size_t n, aw_lattice *lat)
{
    aw_orbit_piece at = {0.0, 0.0, 0.0, 0.0, 0.0};
    int count = 0;
    for (size_t i = 0; i < n; ++i) {
        double kappa = span_kappa(&span[i]), end = span[i].S + span[i].e.length;
        if (count == 0 || kappa != lat->piece[count - 1].kappa) {
            at.S = span[i].S;
            at.kappa = kappa;
            lat->piece[count++] = at;
        }
        /* from the piece's own start, as aw_orbit_at does: the orbit is continuous to rounding */
        at = advance(&lat->piece[count - 1], kappa, end - lat->piece[count - 1].S);
    }
    lat->orbit.piece = lat->piece;
    lat->orbit.n = count;
}

static int parts_of(const aw_span *s)
{
    return s->e.kind == AW_BEND ? (int)ceil(fabs(s->e.angle) / AW_REGION_ANGLE) : 1;
}

/* Direction of the normal of the plane between two spans: that of the bend's edge, if one bends. */
static double plane_direction(const aw_span *a, const aw_span *b, double theta)
{
    if (a->e.kind == AW_BEND) return theta + a->e.e2;
    if (b->e.kind == AW_BEND) return theta - b->e.e1;
    return theta;
}

static void make_regions(const aw_span *span, size_t n, aw_lattice *lat)
{
    int count = 0;
    for (size_t i = 0; i < n; ++i) {
        const aw_span *s = &span[i];
        int parts = parts_of(s);
        for (int k = 0; k < parts; ++k) {
            aw_field_region *r = &lat->region[count++];
            double begin = s->S + s->e.length * k / parts,
                   end = s->S + s->e.length * (k + 1) / parts;
            aw_orbit_point a = aw_orbit_at(&lat->orbit, begin), b = aw_orbit_at(&lat->orbit, end);
            double direction = b.theta;
            *r = (aw_field_region){.kind = s->e.kind,
                                   .S = begin,
                                   .length = end - begin,
                                   .kappa = span_kappa(s),
                                   .k1 = s->e.k1,
                                   .axis_z = a.z,
                                   .axis_x = a.x,
                                   .ct = a.ct,
                                   .st = a.st,
                                   .exit_z = b.z,
                                   .exit_x = b.x};
            if (k + 1 == parts && i + 1 < n) direction = plane_direction(s, s + 1, b.theta);
            r->exit_nz = cos(direction);
            r->exit_nx = sin(direction);
        }
    }
    lat->region[count - 1].exit_nz = 0.0; /* never crossed */
    lat->region[count - 1].exit_nx = 0.0;
    lat->regions = count;
}

/* Distance from the orbit at which the planes through two points with normals m and n meet. */
static double meeting_distance(const aw_field_region *m, const aw_field_region *n)
{
    double cross = m->exit_nz * n->exit_nx - m->exit_nx * n->exit_nz;
    double dz = n->exit_z - m->exit_z, dx = n->exit_x - m->exit_x;
    double from_m, from_n;
    if (fabs(cross) < 1e-15) return INFINITY;
    from_m = fabs((dz * n->exit_nz + dx * n->exit_nx) / cross);
    from_n = fabs((dz * m->exit_nz + dx * m->exit_nx) / cross);
    return fmin(from_m, from_n);
}

/* Index of the first element of the span that region r is a part of. */
static size_t element_of(const aw_span *span, int r)
{
    while (r >= parts_of(span)) r -= parts_of(span++);
    return span->first;
}

static aw_status check_planes(const aw_lattice *lat, const aw_span *span,
                              aw_lattice_problem *problem)
{
    for (int r = 1; r + 1 < lat->regions; ++r) {
        const aw_field_region *a = &lat->region[r - 1], *b = &lat->region[r];
        double distance = meeting_distance(a, b);
        if (!(distance > AW_CLEARANCE))
            return refuse(problem, element_of(span, r),
                          "the edges at S = %g m and %g m cross %.3g m from the orbit, inside the "
                          "beam pipe (expected > %g m: smaller edge angles or more distance)",
                          b->S, b->S + b->length, distance, AW_CLEARANCE);
    }
    return AW_OK;
}

/* Arrays for `n` elements in `count` spans. */
static aw_status make_arrays(aw_lattice *lat, size_t n, const aw_span *span, size_t count)
{
    size_t regions = 0;
    for (size_t i = 0; i < count; ++i) regions += (size_t)parts_of(&span[i]);
    lat->element = aw_alloc(n, sizeof *lat->element);
    lat->region = aw_alloc(regions, sizeof *lat->region);
    lat->piece = aw_alloc(count, sizeof *lat->piece);
    if (lat->element && lat->region && lat->piece) return AW_OK;
    return aw_error(AW_ERR_NOMEM, "lattice: no memory for %zu elements", n);
}

aw_status aw_lattice_try(const aw_element *element, size_t n, double gamma_ref,
                         const aw_lattice_start *start, aw_lattice_problem *problem,
                         aw_lattice **out)
{
    aw_status status = AW_OK;
    aw_lattice *lat = NULL;
    aw_span *span = NULL;
    size_t count = 0;

    *out = NULL;
    if (!(gamma_ref > 1.0) || !isfinite(gamma_ref))
        return refuse(problem, n, "reference gamma %g (expected > 1)", gamma_ref);
    lat = aw_alloc(1, sizeof *lat);
    span = aw_alloc(n + 2, sizeof *span);
    if (!lat || !span) {
        status = aw_error(AW_ERR_NOMEM, "lattice: no memory for %zu elements", n);
        goto done;
    }
    AW_TRY(make_spans(element, n, start, span, &count, problem));
    AW_TRY(make_arrays(lat, n, span, count));
    memcpy(lat->element, element, n * sizeof *element);
    lat->n = n;
    lat->gamma_ref = gamma_ref;
    lat->p_ref = sqrt((gamma_ref - 1.0) * (gamma_ref + 1.0));
    lat->begin = start->S;
    lat->length = span[count - 1].S + span[count - 1].e.length;
    make_pieces(span, count, lat);
    make_regions(span, count, lat);
    AW_TRY(check_planes(lat, span, problem));
    *out = lat;
    lat = NULL;
done:
    aw_free(span);
    aw_lattice_free(lat);
    return status;
}

aw_status aw_lattice_new(const aw_element *element, size_t n, double gamma_ref,
                         aw_upstream upstream, aw_lattice **out)
{
    aw_lattice_problem problem = {0};
    const aw_lattice_start start = {0.0, upstream};
    aw_status status = aw_lattice_try(element, n, gamma_ref, &start, &problem, out);
    if (status != AW_ERR_ARG) return status;
    if (problem.element == n) return aw_error(AW_ERR_ARG, "lattice: %s", problem.text);
    return aw_error(AW_ERR_ARG, "lattice element %zu (%s): %s", problem.element,
                    element[problem.element].name, problem.text);
}

void aw_lattice_free(aw_lattice *lattice)
{
    if (!lattice) return;
    aw_free(lattice->element);
    aw_free(lattice->region);
    aw_free(lattice->piece);
    aw_free(lattice);
}
