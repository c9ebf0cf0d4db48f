/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/echoes.h"

#include <math.h>

/* Reach of an echo before and behind its middle, in rms lengths of the bunch. */
#define AW_ECHO_REACH 2.0

/* A line from an edge to a place. */
typedef struct sight {
    double D;       /* path between them [m] */
    double height2; /* Y^2 [m^2] */
    double sigma;   /* rms of the difference of what two bunches are along the line [m] */
} sight;

/* Rms length of a bunch along the direction `angle` against its tangent. */
static double length_along(const aw_optics_axes *axes, double angle)
{
    const double a = angle - axes->tilt;
    return hypot(axes->longer * cos(a), axes->shorter * sin(a));
}

static sight sight_of(const aw_orbit_view *orbit, const aw_bunch_place *edge,
                      const aw_bunch_place *here)
{
    const aw_orbit_point from = aw_orbit_at(orbit, edge->S), to = aw_orbit_at(orbit, here->S);
    const double dz = to.z - from.z, dx = to.x - from.x, D = here->S - edge->S;
    const double d = hypot(dz, dx), direction = atan2(dx, dz);
    return (sight){.D = D,
                   .height2 = (D - d) * (D + d),
                   .sigma = hypot(length_along(&edge->axes, direction - from.theta),
                                  length_along(&here->axes, direction - to.theta))};
}

double aw_echo_length(const aw_orbit_view *orbit, double gap, const aw_bunch_place *edge,
                      const aw_bunch_place here[2])
{
    const sight a = sight_of(orbit, edge, &here[0]), b = sight_of(orbit, edge, &here[1]);
    /* Of Y^2/2D at the same D: the lead of an image at n g falls with D. */
    const double slope = 0.5 * (b.height2 - a.height2) / (here[1].S - here[0].S) / b.D;
    const double before = 2.0 * a.D * AW_ECHO_REACH * a.sigma;
    const double behind = 2.0 * b.D * AW_ECHO_REACH * b.sigma;
    const double first = fmax(ceil(sqrt(fmax(a.height2 - before, 0.0)) / gap), 1.0);
    const double last = floor(sqrt(b.height2 + behind) / gap);
    return slope > 0.0 && first <= last ? fmin(a.sigma, b.sigma) / slope : 0.0;
}
