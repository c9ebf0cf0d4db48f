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
/* Betatron phase over the length of a magnet, and turn in one without length, for a particle 1 cm
 * off its axis [rad]: beyond, a strength is a typing error. */
#define AW_PHASE_MAX 1e3
#define AW_TURN_MAX 1.0
/* Powers of x/rho kept beyond the order of a vertically pure component in a bend: 1e-15 of it where
 * x is a twentieth of the radius. */
#define AW_POWERS 11

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

/* A multipole or cavity without length. */
static int is_kick(const aw_span *s) { return !(s->e.length > 0.0) && aw_element_acts(&s->e); }

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

/* 1 if the element has a strength of an order from `first` on. */
static int has_strength(const aw_element *e, int first)
{
    for (int n = first; n < AW_ORDERS; ++n)
        if (e->strength[n] != 0.0) return 1;
    return 0;
}

static aw_status check_bend(const aw_element *e, size_t i, aw_lattice_problem *problem)
{
    if (!(e->length > 0.0)) return refuse(problem, i, "a bend of zero length");
    if (fabs(e->angle) > 2.0 * AW_PI)
        return refuse(problem, i, "angle %g is more than a full turn (expected radians)", e->angle);
    if (fabs(e->e1) > AW_EDGE_MAX || fabs(e->e2) > AW_EDGE_MAX)
        return refuse(problem, i, "edge angles %g, %g (expected radians, at most %g)", e->e1, e->e2,
                      AW_EDGE_MAX);
    if (e->strength[0] != 0.0 || has_strength(e, AW_BEND_ORDER + 1))
        return refuse(problem, i,
                      "a bend with a strength of order 0 or above %d (expected Kn1 to "
                      "Kn%d)",
                      AW_BEND_ORDER, AW_BEND_ORDER);
    return AW_OK;
}

static aw_status check_marker(const aw_element *e, size_t i, aw_lattice_problem *problem)
{
    if (!(e->length > 0.0)) return AW_OK;
    return refuse(problem, i, "a marker has no length (got %g m)", e->length);
}

static aw_status check_cavity(const aw_element *e, size_t i, aw_lattice_problem *problem)
{
    if (!isfinite(e->rf.voltage) || !isfinite(e->rf.phase))
        return refuse(problem, i, "a number is not finite");
    if (e->rf.voltage == 0.0 || (isfinite(e->rf.frequency) && e->rf.frequency > 0.0)) return AW_OK;
    return refuse(problem, i, "a cavity of the frequency %g Hz (expected > 0)", e->rf.frequency);
}

static int bends(const aw_element *e) { return e->angle != 0.0 || has_strength(e, 1); }
static int deflects(const aw_element *e) { return has_strength(e, 0); }
static int has_voltage(const aw_element *e) { return e->rf.voltage != 0.0; }

static int same_strengths(const aw_span *a, const aw_span *b)
{
    for (int n = 0; n < AW_ORDERS; ++n)
        if (!same(a->e.strength[n], b->e.strength[n])) return 0;
    return a->e.geometry == b->e.geometry;
}

static int bend_continues(const aw_span *a, const aw_span *b)
{
    return same(span_kappa(a), span_kappa(b)) && fabs(a->e.e2 + b->e.e1) <= AW_SAME &&
           same_strengths(a, b);
}

static int multipole_continues(const aw_span *a, const aw_span *b)
{
    return a->e.length > 0.0 && b->e.length > 0.0 && same_strengths(a, b);
}

static int never_continues(const aw_span *a, const aw_span *b)
{
    (void)a;
    (void)b;
    return 0;
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
             [AW_QUADRUPOLE] = {NULL, deflects, multipole_continues},
             [AW_SEXTUPOLE] = {NULL, deflects, multipole_continues},
             [AW_OCTUPOLE] = {NULL, deflects, multipole_continues},
             [AW_MULTIPOLE] = {NULL, deflects, multipole_continues},
             [AW_CAVITY] = {check_cavity, has_voltage, never_continues},
             [AW_MARKER] = {check_marker, NULL, NULL}};

int aw_element_acts(const aw_element *e) { return kinds[e->kind].acts && kinds[e->kind].acts(e); }

int aw_lattice_has_cavity(const aw_lattice *lattice)
{
    for (size_t i = 0; i < lattice->n; ++i)
        if (lattice->element[i].kind == AW_CAVITY && has_voltage(&lattice->element[i])) return 1;
    return 0;
}

/* Taylor coefficients of F_0 .. F_n in x, those functions of r = 1 + x whose n-th is the field
 * beside the orbit of a component that above it is that of a straight magnet (E. M. McMillan, Nucl.
 * Instrum. Methods 127 (1975) 471): F_0 = 1, F_1 = ln r, (r F_n')' = n (n-1) r F_(n-2). */
static void curved_functions(double F[AW_ORDERS][AW_ORDERS])
{
    memset(F, 0, sizeof(double[AW_ORDERS][AW_ORDERS]));
    F[0][0] = 1.0;
    for (int j = 1; j < AW_ORDERS; ++j) F[1][j] = (j % 2 ? 1.0 : -1.0) / j;
    for (int n = 2; n < AW_ORDERS; ++n) {
        double slope = 0.0; /* coefficient j - 1 of F_n' = (r F_n')/r */
        for (int j = 2; j < AW_ORDERS; ++j) {
            const double right = F[n - 2][j - 2] + (j > 2 ? F[n - 2][j - 3] : 0.0);
            slope = n * (n - 1) * right / (j - 1) - slope;
            F[n][j] = slope / j;
        }
    }
}

/* The field of a span beside its orbit, without that of kappa: coefficients of x^n. */
static void field_of(const aw_span *s, double out[AW_ORDERS])
{
    const double kappa = span_kappa(s);
    const int pure = kappa == 0.0 || s->e.geometry == AW_HORIZONTALLY_PURE;
    double F[AW_ORDERS][AW_ORDERS], factorial = 1.0;
    memset(out, 0, sizeof(double[AW_ORDERS]));
    if (!pure && has_strength(&s->e, 1)) curved_functions(F);
    for (int n = 0; n < AW_ORDERS; ++n, factorial *= n) {
        const double strength = s->e.strength[n] / factorial;
        double power = 1.0;
        if (strength == 0.0) continue;
        if (pure) out[n] = strength;
        for (int m = n; !pure && m < AW_ORDERS && m < n + AW_POWERS; ++m, power *= kappa)
            out[m] += strength * power * F[n][m];
    }
}

static void set_field(const aw_span *s, aw_field_region *r)
{
    r->kappa = span_kappa(s);
    field_of(s, r->strength);
    for (r->order = AW_ORDERS - 1; r->order > 0 && r->strength[r->order] == 0.0;) --r->order;
    if (s->e.kind == AW_CAVITY)
        r->kind = AW_REGION_RF;
    else if (is_kick(s))
        r->kind = AW_REGION_KICK;
    else if (r->order > 0 || r->strength[0] != 0.0)
        r->kind = AW_REGION_MULTIPOLE;
    else
        r->kind = r->kappa != 0.0 ? AW_REGION_DIPOLE : AW_REGION_DRIFT;
}

/* Substeps follow the betatron phase, and would have no end where that has none. */
static aw_status check_strengths(const aw_element *e, size_t i, aw_lattice_problem *problem)
{
    const aw_span s = {.e = *e};
    aw_field_region r = {.kind = AW_REGION_DRIFT};
    for (int n = 0; n < AW_ORDERS; ++n)
        if (!isfinite(e->strength[n])) return refuse(problem, i, "a number is not finite");
    if (!aw_element_acts(e) || e->kind == AW_CAVITY) {
        if (!has_strength(e, 0)) return AW_OK;
        return refuse(problem, i, "a drift, marker or cavity with the strength of a multipole");
    }
    set_field(&s, &r);
    const double phase = sqrt(aw_track_focusing(&r, 0.0)) * e->length;
    double turn = 0.0;
    for (int n = r.order; n >= 0; --n) turn = turn * AW_CLEARANCE + fabs(r.strength[n]);
    if (r.kind == AW_REGION_KICK && !(turn <= AW_TURN_MAX))
        return refuse(problem, i,
                      "its strengths turn a particle 1 cm off its axis by %.3g rad (expected at "
                      "most %g)",
                      turn, AW_TURN_MAX);
    if (phase <= AW_PHASE_MAX) return AW_OK;
    return refuse(problem, i,
                  "its strengths would let a particle 1 cm off its axis oscillate %.3g times "
                  "(expected at most %.3g)",
                  phase / (2.0 * AW_PI), AW_PHASE_MAX / (2.0 * AW_PI));
}

static aw_status check_element(const aw_element *e, size_t i, aw_lattice_problem *problem)
{
    aw_status status = AW_OK;
    if (!isfinite(e->length) || !isfinite(e->angle) || !isfinite(e->e1) || !isfinite(e->e2))
        return refuse(problem, i, "a number is not finite");
    if (e->length < 0.0) return refuse(problem, i, "length %g m (expected >= 0)", e->length);
    if (kinds[e->kind].check) AW_TRY(kinds[e->kind].check(e, i, problem));
    AW_TRY(check_strengths(e, i, problem));
done:
    return status;
}

/* An element without a field becomes a drift of its length. */
static aw_span span_of(const aw_element *e)
{
    aw_span s = {.e = {.kind = AW_DRIFT, .length = e->length}};
    if (aw_element_acts(e)) s.e = *e;
    memcpy(s.e.name, e->name, sizeof s.e.name);
    return s;
}

/* 1 if `b` continues `a`: the same field, and no edge between them. */
static int continues(const aw_span *a, const aw_span *b)
{
    if (a->e.kind != b->e.kind) return 0;
    return !kinds[a->e.kind].continues || kinds[a->e.kind].continues(a, b);
}

/* The nearest span with a length before span[n], or NULL. */
static const aw_span *before(const aw_span *span, size_t n)
{
    while (n > 0 && is_kick(&span[n - 1])) --n;
    return n > 0 ? &span[n - 1] : NULL;
}

/* Two bends that touch share one plane, which is possible only if their edges agree. */
static aw_status append(aw_span *span, size_t *n, const aw_span *s, aw_lattice_problem *problem)
{
    aw_span *last = *n ? &span[*n - 1] : NULL;
    const aw_span *touching = before(span, *n);
    if (last && continues(last, s)) {
        last->e.length += s->e.length;
        last->e.angle += s->e.angle;
        last->e.e2 = s->e.e2;
        return AW_OK;
    }
    if (touching && touching->e.kind == AW_BEND && s->e.kind == AW_BEND &&
        fabs(touching->e.e2 + s->e.e1) > AW_SAME)
        return refuse(problem, s->first,
                      "bends %s and %s touch, but their edges cross on the orbit (e2 = %g, e1 = "
                      "%g; expected e1 = -e2, or a drift between)",
                      touching->e.name, s->e.name, touching->e.e2, s->e.e1);
    span[(*n)++] = *s;
    return AW_OK;
}

/* A cavity: two drifts, and between them its kick. */
static aw_status append_cavity(aw_span *span, size_t *n, const aw_span *s,
                               aw_lattice_problem *problem)
{
    const aw_span half = {.e = {.kind = AW_DRIFT, .length = 0.5 * s->e.length}, .first = s->first};
    aw_span kick = *s;
    aw_status status = AW_OK;
    kick.e.length = 0.0;
    if (s->e.length > 0.0) AW_TRY(append(span, n, &half, problem));
    AW_TRY(append(span, n, &kick, problem));
    if (s->e.length > 0.0) AW_TRY(append(span, n, &half, problem));
done:
    return status;
}

/* What of an element that ends at `end` is ahead of the start of the bunch. *length: of that, 0 if
 * nothing is, or if it has none */
static aw_status cut_at(const aw_element *e, size_t i, double begin, double end, double *length,
                        aw_lattice_problem *problem)
{
    *length = end - begin <= AW_SAME_PLACE ? 0.0 : fmin(e->length, end - begin);
    if (e->length - *length <= AW_SAME_PLACE && *length > 0.0) *length = e->length;
    if (*length == 0.0 || *length == e->length || !aw_element_acts(e)) return AW_OK;
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
        aw_span s = span_of(&element[i]);
        if (length == 0.0 && !(is_kick(&s) && end - start->S > -AW_SAME_PLACE)) continue;
        s.first = i;
        s.e.length = length;
        AW_TRY(s.e.kind == AW_CAVITY ? append_cavity(span, count, &s, problem)
                                     : append(span, count, &s, problem));
    }
    if (!first && (*count == 0 || span_kappa(&span[0]) == 0.0))
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
        if (is_kick(&span[i])) continue;
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
    const double angle = s->e.kind == AW_BEND ? fabs(s->e.angle) : 0.0;
    return angle > AW_REGION_ANGLE ? (int)ceil(angle / AW_REGION_ANGLE) : 1;
}

/* Direction of the normal of the plane behind span i of n: that of the bend's edge, if there is a
 * bend on one side. Kicks stand in it. */
static double plane_direction(const aw_span *span, size_t n, size_t i, double theta)
{
    const aw_span *a = before(span, i + 1), *b = NULL;
    for (size_t k = i + 1; k < n && !b; ++k)
        if (!is_kick(&span[k])) b = &span[k];
    if (a && a->e.kind == AW_BEND) return theta + a->e.e2;
    if (b && b->e.kind == AW_BEND) return theta - b->e.e1;
    return theta;
}

/* The field of a cavity at r, and when the reference gets there. */
static void set_rf(const aw_rf *rf, const aw_lattice *lat, aw_field_region *r)
{
    r->gain = rf->voltage / AW_ME_EV;
    r->wave = 2.0 * AW_PI * rf->frequency / AW_C;
    r->phase = 2.0 * AW_PI * (rf->phase - rint(rf->phase));
    r->passed = (r->S - lat->begin) * (lat->gamma_ref / lat->p_ref);
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
            *r = (aw_field_region){.S = begin,
                                   .length = end - begin,
                                   .axis_z = a.z,
                                   .axis_x = a.x,
                                   .ct = a.ct,
                                   .st = a.st,
                                   .exit_z = b.z,
                                   .exit_x = b.x};
            set_field(s, r);
            if (r->kind == AW_REGION_RF) set_rf(&s->e.rf, lat, r);
            if (k + 1 == parts && i + 1 < n) direction = plane_direction(span, n, i, b.theta);
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
    span = aw_alloc(3 * n + 2, sizeof *span); /* a cavity is three */
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
