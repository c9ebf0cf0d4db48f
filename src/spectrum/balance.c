/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/spectrum/balance.h"

#include <math.h>

#include "kernels/math/integrand.h"

/* Rms of the directions of a bunch about their mean, from the moments of its cells [rad]. */
static double spread(const aw_bound_params *p)
{
    double charge = 0.0, mean = 0.0, square = 0.0;
    for (int j = 0; j < p->nx; ++j)
        for (int i = 0; i < p->ns; ++i) {
            const ptrdiff_t cell =
                ((ptrdiff_t)(j + AW_PAD) * (p->ns + 2 * AW_PAD) + i + AW_PAD) * AW_COMPONENTS;
            const double sigma = aw_cell_get(p->slice->cells, p->single, cell);
            const double across = aw_cell_get(p->slice->cells, p->single, cell + 2);
            /* compensation leaves cells of either sign at the rim, which have hardly any charge */
            if (!(sigma > 0.0)) continue;
            charge += sigma;
            mean += across;
            square += across * across / sigma;
        }
    mean /= charge;
    return sqrt(fmax(square / charge - mean * mean, 0.0));
}

/* Why the field of a slice is not known; NULL: it is. */
static const char *open_at(const aw_orbit_view *orbit, const aw_bound_params *p)
{
    if (aw_orbit_at(orbit, p->slice->S).kappa != 0.0) return "it ends within a bend";
    if (!(p->gamma * spread(p) <= AW_BALANCE_SPREAD))
        return "its directions spread over more than 1/gamma at an end, as behind one bend alone, "
               "and its field does not go on as it is";
    return NULL;
}

static aw_status add(aw_balance *balance, const aw_orbit_view *orbit, const aw_bound_params *p,
                     aw_bound *bound)
{
    const char *open = open_at(orbit, p);
    *bound = (aw_bound){.whole = 0.0};
    if (open && !balance->open) balance->open = open;
    return open ? AW_OK : aw_bound_of(p, bound);
}

aw_status aw_balance_begin(aw_balance *balance, const aw_orbit_view *orbit, aw_bound_params p)
{
    aw_bound bound;
    p.distance = 0.0;
    const aw_status status = add(balance, orbit, &p, &bound);
    balance->bound[0] = bound.whole;
    return status;
}

aw_status aw_balance_end(aw_balance *balance, const aw_orbit_view *orbit, aw_bound_params p)
{
    aw_bound bound;
    const int piece = aw_orbit_find(orbit, p.slice->S);
    p.distance = p.radius = p.angle = 0.0;
    if (piece > 0) { /* there is a bend before this straight */
        const aw_orbit_piece *bend = &orbit->piece[piece - 1];
        p.distance = p.slice->S - orbit->piece[piece].S;
        p.radius = 1.0 / fabs(bend->kappa);
        p.angle = fabs(bend->kappa) * (orbit->piece[piece].S - bend->S);
    }
    const aw_status status = add(balance, orbit, &p, &bound);
    balance->bound[1] = bound.whole;
    balance->missing = bound.missing;
    return status;
}

double aw_balance_gap(const aw_balance *b)
{
    return (b->radiated + b->bound[1] - b->bound[0]) / (b->lost + b->missing) - 1.0;
}
