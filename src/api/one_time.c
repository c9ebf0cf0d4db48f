/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of a tracking code that goes by s, from a plane across the design orbit to one time and
 * back: each along its own straight line or circle. */
#include <math.h>

#include "src/api/field.h"
#include "src/base/memory.h"
#include "src/base/units.h"

/* Newton steps to the plane, and how far from it a particle may end, over its distance from the
 * lab's origin: some hundred roundings. The first steps gain a factor kappa times the path. */
enum { STEPS = 20 };
#define AW_ON_PLANE 1e-13

/* The machine in both directions of motion, and the plane. */
typedef struct machine {
    const aw_plane *given;
    aw_lattice *lattice;
    aw_field_region *region; /* owned: those of the lattice for motion backwards */
    aw_fields_view ahead, back;
    aw_orbit_point plane;
} machine;

/* A particle that moves, the arc length near which it began, and its speed over c. */
typedef struct mover {
    aw_track track;
    double S, beta;
} mover;

/* Seen backwards, the regions come in reverse order, each ends where it began, and a circle is
 * run through the other way. */
static void reverse(const aw_lattice *lattice, aw_field_region *out)
{
    const int n = lattice->regions;
    for (int i = 0; i < n; ++i) {
        const aw_field_region *r = &lattice->region[n - 1 - i], *before = r - 1;
        out[i] = *r;
        out[i].kappa = -r->kappa;
        out[i].ct = -r->ct;
        out[i].st = -r->st;
        if (i + 1 == n) continue; /* never left */
        out[i].exit_z = before->exit_z;
        out[i].exit_x = before->exit_x;
        out[i].exit_nz = -before->exit_nz;
        out[i].exit_nx = -before->exit_nx;
    }
}

static aw_status make_machine(const aw_plane *plane, machine *m)
{
    aw_status status = AW_OK;
    if (!plane) return aw_error(AW_ERR_ARG, "there is no plane");
    if (!(plane->p0 > 0.0 && isfinite(plane->p0)))
        return aw_error(AW_ERR_ARG, "p0: %g (expected a momentum in m c)", plane->p0);
    if (!isfinite(plane->s)) return aw_error(AW_ERR_ARG, "s: %g (expected a place)", plane->s);
    AW_TRY(aw_orbit_lattice(plane->orbit, plane->sections, sqrt(1.0 + plane->p0 * plane->p0),
                            AW_UPSTREAM_DRIFT, &m->lattice));
    m->region = aw_alloc((size_t)m->lattice->regions, sizeof *m->region);
    AW_TRY(m->region ? AW_OK : AW_ERR_NOMEM);
    reverse(m->lattice, m->region);
    m->given = plane;
    m->ahead = aw_lattice_fields(m->lattice, 0.0);
    m->back = (aw_fields_view){m->region, m->lattice->regions, m->lattice->p_ref, 0.0};
    m->plane = aw_orbit_at(&m->lattice->orbit, plane->s);
done:
    return status;
}

static void free_machine(machine *m)
{
    aw_lattice_free(m->lattice);
    aw_free(m->region);
}

/* The region that a particle near the arc length S is in: faces of magnets are tilted. */
static int32_t region_of(const machine *m, double S, const aw_track *f)
{
    const aw_field_region *r = m->ahead.region;
    int32_t i = 0;
    while (i + 1 < m->ahead.n && S >= r[i + 1].S) ++i;
    while (i > 0 && aw_track_beyond(&r[i - 1], f->z, f->x) < 0.0) --i;
    while (i + 1 < m->ahead.n && aw_track_beyond(&r[i], f->z, f->x) >= 0.0) ++i;
    return i;
}

/* Move a particle along its path, backwards if it is negative. */
static aw_track_status travel(const machine *m, double S, double path, aw_track *f)
{
    int32_t region = region_of(m, S, f);
    if (path >= 0.0) return aw_track_along(&m->ahead, f, &region, path);
    region = m->back.n - 1 - region;
    f->uz = -f->uz;
    f->ux = -f->ux;
    const aw_track_status status = aw_track_along(&m->back, f, &region, -path);
    f->uz = -f->uz;
    f->ux = -f->ux;
    return status;
}

/* A particle at (s, x) with its momentum along the design tangent and normal there.
 * @return AW_TRACK_TURNED: it does not move ahead, or is beyond the centre of the circle */
static aw_track_status begin(const machine *m, double s, const aw_passage *p, size_t i, mover *out)
{
    const aw_orbit_point at = aw_orbit_at(&m->lattice->orbit, s);
    const double x = p->x[i], ps = p->ps[i], px = p->px[i];
    const aw_particle lab = {.z = at.z - x * at.st,
                             .x = at.x + x * at.ct,
                             .pz = ps * at.ct - px * at.st,
                             .px = ps * at.st + px * at.ct};
    if (!aw_particle_finite(&lab) || !isfinite(p->t[i])) return AW_TRACK_NONFINITE;
    if (!(ps > 0.0 && 1.0 + at.kappa * x > 0.0)) return AW_TRACK_TURNED;
    out->track = aw_track_begin(&lab);
    out->S = s;
    out->beta = out->track.p / sqrt(1.0 + out->track.p * out->track.p);
    return AW_TRACK_OK;
}

/* Write a particle as seen from the design orbit at s. */
static void end(const machine *m, const aw_track *f, double s, const aw_passage *p, size_t i)
{
    const aw_orbit_point at = aw_orbit_at(&m->lattice->orbit, s);
    p->x[i] = (f->x - at.x) * at.ct - (f->z - at.z) * at.st;
    p->ps[i] = f->p * (f->uz * at.ct + f->ux * at.st);
    p->px[i] = f->p * (f->ux * at.ct - f->uz * at.st);
}

static aw_track_status to_time(const machine *m, double t, const aw_passage *p, size_t i)
{
    mover v;
    double x;
    aw_track_status status = begin(m, m->given->s, p, i, &v);
    if (status != AW_TRACK_OK) return status;
    const double path = v.beta * AW_C * (t - p->t[i]);
    status = travel(m, v.S, path, &v.track);
    if (status != AW_TRACK_OK) return status;
    p->s[i] = aw_orbit_project(&m->lattice->orbit, v.track.z, v.track.x, v.S + path, &x);
    end(m, &v.track, p->s[i], p, i);
    return isfinite(p->s[i]) && p->ps[i] > 0.0 ? AW_TRACK_OK : AW_TRACK_TURNED;
}

static aw_track_status to_place(const machine *m, double t, const aw_passage *p, size_t i)
{
    const aw_orbit_point *at = &m->plane;
    mover v;
    aw_track_status status = begin(m, p->s[i], p, i, &v);
    double path = at->S - p->s[i], gap = INFINITY, scale = 1.0;
    if (status != AW_TRACK_OK) return status;
    aw_track f = v.track;
    for (int k = 0; k < STEPS && fabs(gap) > 0.0; ++k) {
        f = v.track;
        status = travel(m, v.S, path, &f);
        if (status != AW_TRACK_OK) return status;
        const double last = gap, slope = f.uz * at->ct + f.ux * at->st;
        gap = (at->z - f.z) * at->ct + (at->x - f.x) * at->st;
        scale = 1.0 + fabs(f.z) + fabs(f.x);
        if (fabs(gap) <= AW_ON_PLANE * scale && fabs(gap) >= fabs(last)) break; /* all roundings */
        if (!(slope > AW_GRAZING)) return AW_TRACK_TURNED;
        path += gap / slope;
    }
    if (!(fabs(gap) <= AW_ON_PLANE * scale)) return AW_TRACK_TURNED;
    p->t[i] = t + path / (v.beta * AW_C);
    end(m, &f, at->S, p, i);
    return AW_TRACK_OK;
}

/* What stands in the way of particle i. */
static aw_status refuse(const aw_passage *p, size_t i, int to_plane)
{
    const double s = p->s[i], x = p->x[i], ps = p->ps[i], px = p->px[i];
    if (!isfinite(p->t[i]) || !isfinite(x) || !isfinite(ps) || !isfinite(px) ||
        (to_plane && !isfinite(s)))
        return aw_error(AW_ERR_NONFINITE, "particle %zu is not finite: t %g, x %g, ps %g, px %g", i,
                        p->t[i], x, ps, px);
    return aw_error(AW_ERR_RANGE,
                    "particle %zu: cannot be followed to %s: x %g m, ps %g, px %g (expected a "
                    "motion ahead, near the orbit, that meets each face of a magnet)",
                    i, to_plane ? "the plane" : "one time", x, ps, px);
}

/* Move all particles to the time t, or from it to the plane; without threads, which a process after
 * fork() has not. */
static aw_status move_all(const machine *m, double t, const aw_passage *p, int to_plane)
{
    for (size_t i = 0; i < p->n; ++i) {
        double one[5] = {p->t[i], p->s[i], p->x[i], p->ps[i], p->px[i]};
        const aw_passage copy = {1, one, one + 1, one + 2, one + 3, one + 4};
        const aw_track_status status =
            to_plane ? to_place(m, t, &copy, 0) : to_time(m, t, &copy, 0);
        if (status != AW_TRACK_OK) return refuse(p, i, to_plane);
        if (to_plane)
            p->t[i] = one[0];
        else
            p->s[i] = one[1];
        p->x[i] = one[2];
        p->ps[i] = one[3];
        p->px[i] = one[4];
    }
    return AW_OK;
}

static int move(const aw_plane *plane, double t, const aw_passage *p, int to_plane, aw_text *text)
{
    aw_text unused;
    machine m = {.lattice = NULL};
    aw_status status = AW_OK;
    if (!text) text = &unused;
    text->line[0] = '\0';
    const aw_log_sink sink = {aw_message_take, text->line};
    const aw_log_sink *before = aw_log_capture(&sink);
    AW_TRY(make_machine(plane, &m));
    if (!isfinite(t)) AW_TRY(aw_error(AW_ERR_ARG, "t: %g (expected a time in s)", t));
    if (!p || (p->n > 0 && !(p->t && p->s && p->x && p->ps && p->px)))
        AW_TRY(aw_error(AW_ERR_ARG, "an array of the particles is missing"));
    AW_TRY(move_all(&m, t, p, to_plane));
done:
    if (status != AW_OK && !text->line[0]) aw_error(status, "%s", aw_status_text(status));
    aw_log_capture(before);
    free_machine(&m);
    return (int)status;
}

int aw_at_one_time(const aw_plane *plane, double t, const aw_passage *particles, aw_text *text)
{
    return move(plane, t, particles, 0, text);
}

int aw_at_one_place(const aw_plane *plane, double t, const aw_passage *particles, aw_text *text)
{
    return move(plane, t, particles, 1, text);
}
