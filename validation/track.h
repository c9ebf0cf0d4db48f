/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact paths of electrons without self-force: straight lines and circular arcs of their own
 * energy, through drifts and bends with hard edges. For the references that follow electrons. */
#ifndef AW_VALIDATION_TRACK_H
#define AW_VALIDATION_TRACK_H
#include "validation/referee.h"

AW_BEGIN_DECLS

/** A curve of constant curvature from (z, x) in the direction theta; d theta/d length = -kappa. */
typedef struct aw_arc {
    double z, x, theta, kappa;
} aw_arc;

/** A piece of an electron's path, from ct on. The first begins at -infinity; its place is that at
 *  ct = 0. */
typedef struct aw_piece {
    double ct;
    aw_arc from;
    double cosine, sine;     /* of from.theta */
    double beta, slow, rest; /* v/c; 1 - beta; 1/gamma^2 */
} aw_piece;

typedef struct aw_track {
    aw_piece piece[2 * AW_REFEREE_ELEMENTS + 2];
    int n;
    double last; /* length on an arc that was found for the event before: where to begin */
} aw_track;

/** The coordinates of an electron at ct = 0: [m], [m], [rad], relative to the mean energy. */
typedef struct aw_electron {
    double s, x, slope, delta;
} aw_electron;

/** The same curve `length` [m] on. */
aw_arc aw_arc_after(const aw_arc *arc, double length);

/** The design orbit at arc length S [m], and its curvature there. */
aw_arc aw_track_orbit(const aw_referee_beam *beam, double S);

/** Speed without cancellation: sets beta, slow and rest. */
void aw_piece_speed(aw_piece *piece, double gamma);

/** 1 - v.v'/c^2 without cancellation: v of the mean energy in the direction theta, v'/c = beta in
 *  the direction own_theta; slow = 1 - beta. */
double aw_track_slowness(const aw_referee_beam *beam, double theta, double beta, double slow,
                         double own_theta);

/** The path of one electron, which before ct = 0 came rigidly along the straight line.
 *  @return 0: it misses the plane of an edge */
int aw_track_trace(const aw_referee_beam *beam, const aw_electron *electron, aw_track *path);

/** Place and direction at the time ct [m]. */
aw_arc aw_track_at(const aw_track *path, double ct);

AW_END_DECLS
#endif
