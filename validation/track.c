/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines and arcs of electrons without self-force; planes met by Newton's method. */
#include "validation/track.h"

#include <math.h>

/* ------------------------------------------------------------------------------------- lattice */

static double sinc(double a) { return fabs(a) < 1e-4 ? 1.0 - a * a / 6.0 : sin(a) / a; }

aw_arc aw_arc_after(const aw_arc *a, double length)
{
    const double half = 0.5 * a->kappa * length, chord = length * sinc(half);
    return (aw_arc){a->z + chord * cos(a->theta - half), a->x + chord * sin(a->theta - half),
                    a->theta - 2.0 * half, a->kappa};
}

aw_arc aw_track_orbit(const aw_referee_beam *b, double S)
{
    aw_arc a = {0.0, 0.0, 0.0, 0.0};
    for (int k = 0; k < b->elements && S > 0.0; ++k) {
        const aw_referee_element *e = &b->element[k];
        a.kappa = e->angle / e->length;
        if (S < e->length) return aw_arc_after(&a, S);
        a = aw_arc_after(&a, e->length);
        S -= e->length;
        a.kappa = 0.0;
    }
    return aw_arc_after(&a, S);
}

/* -------------------------------------------------------------------------------- one electron */

void aw_piece_speed(aw_piece *p, double gamma)
{
    p->rest = 1.0 / (gamma * gamma);
    p->beta = sqrt(1.0 - p->rest);
    p->slow = p->rest / (1.0 + p->beta);
}

double aw_track_slowness(const aw_referee_beam *b, double theta, double beta, double slow,
                         double own_theta)
{
    const double sine = sin(0.5 * (own_theta - theta));
    aw_piece v;
    aw_piece_speed(&v, b->gamma);
    return v.slow + v.beta * slow + 2.0 * v.beta * beta * sine * sine;
}

static void add_piece(aw_track *path, const aw_piece *p)
{
    aw_piece *q = &path->piece[path->n++];
    *q = *p;
    q->cosine = cos(p->from.theta);
    q->sine = sin(p->from.theta);
}

/* Length along an arc to the plane through `at` whose normal has the direction theta. NaN: none */
static double to_plane(const aw_arc *a, const aw_arc *at, double theta, double guess)
{
    const double c = cos(theta), s = sin(theta);
    double length = guess;
    for (int i = 0; i < 20; ++i) {
        const aw_arc end = aw_arc_after(a, length);
        const double step = ((at->z - end.z) * c + (at->x - end.x) * s) / cos(end.theta - theta);
        length += step;
        if (fabs(step) < 1e-9) return length; /* converges quadratically */
    }
    return NAN;
}

/* Go `length` on; at the end the curvature is kappa. */
static void go(aw_track *path, aw_piece *now, double length, double kappa)
{
    now->from = aw_arc_after(&now->from, length);
    now->from.kappa = kappa;
    now->ct += length / now->beta;
    if (now->ct > 0.0) {
        add_piece(path, now);
    } else { /* an electron that starts ahead of this edge */
        aw_piece begin = *now;
        begin.from = aw_arc_after(&now->from, -now->ct * now->beta);
        begin.ct = 0.0;
        path->n = 1;
        add_piece(path, &begin);
    }
}

int aw_track_trace(const aw_referee_beam *b, const aw_electron *e, aw_track *path)
{
    const double gamma = b->gamma * (1.0 + e->delta);
    const double p_ratio =
        sqrt((b->gamma - 1.0) * (b->gamma + 1.0)) / sqrt((gamma - 1.0) * (gamma + 1.0));
    aw_arc design = {0.0, 0.0, 0.0, 0.0};
    aw_piece now = {.from = {e->s, e->x, 0.0, 0.0}};
    path->n = 0;
    path->last = 0.0;
    aw_piece_speed(&now, b->gamma);
    now.ct = -INFINITY; /* rigidly along the straight line, until ct = 0 */
    add_piece(path, &now);
    now.ct = 0.0;
    aw_piece_speed(&now, gamma);
    now.from.theta = atan(e->slope);
    add_piece(path, &now);
    for (int k = 0; k < b->elements; ++k) {
        const aw_referee_element *m = &b->element[k];
        design.kappa = m->angle / m->length;
        const aw_arc end = aw_arc_after(&design, m->length);
        if (m->angle != 0.0) {
            const double in = to_plane(&now.from, &design, design.theta - m->e1, 0.0);
            go(path, &now, in, design.kappa * p_ratio);
            const double out = to_plane(&now.from, &end, end.theta + m->e2, m->length);
            go(path, &now, out, 0.0);
            if (!isfinite(now.ct)) return 0;
        }
        design = end;
    }
    return 1;
}

aw_arc aw_track_at(const aw_track *path, double ct)
{
    int k = path->n - 1;
    while (k > 0 && ct < path->piece[k].ct) --k;
    const aw_piece *p = &path->piece[k];
    return aw_arc_after(&p->from, p->beta * (k == 0 ? ct : ct - p->ct));
}
