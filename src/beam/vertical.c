/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/beam/vertical.h"

#include <math.h>
#include <string.h>

/* Arc lengths that are summed differently agree to this [m]. */
#define SAME_S 1e-9

/* m = step m */
static void apply(const double step[4], double m[4])
{
    const double out[4] = {step[0] * m[0] + step[1] * m[2], step[0] * m[1] + step[1] * m[3],
                           step[2] * m[0] + step[3] * m[2], step[2] * m[1] + step[3] * m[3]};
    memcpy(m, out, sizeof out);
}

static void drift(double length, double m[4])
{
    if (length != 0.0) apply((const double[4]){1.0, length, 0.0, 1.0}, m);
}

static void kick(double strength, double m[4])
{
    if (strength != 0.0) apply((const double[4]){1.0, 0.0, -strength, 1.0}, m);
}

/* y'' = k1 y; a drift where k1 = 0 */
static void body(double k1, double length, double m[4])
{
    const double k = sqrt(fabs(k1)), a = k * length;
    if (k == 0.0)
        drift(length, m);
    else if (k1 > 0.0)
        apply((const double[4]){cosh(a), sinh(a) / k, k * sinh(a), cosh(a)}, m);
    else
        apply((const double[4]){cos(a), sin(a) / k, -k * sin(a), cos(a)}, m);
}

void aw_vertical_map(const aw_lattice *lattice, double S, double m[4])
{
    double at = lattice->begin, begin = 0.0;
    const double unity[4] = {1.0, 0.0, 0.0, 1.0};
    memcpy(m, unity, sizeof unity);
    for (size_t i = 0; i < lattice->n && at < S; begin += lattice->element[i++].length) {
        const aw_element *e = &lattice->element[i];
        const double end = begin + e->length, length = fmin(S, end) - at;
        const int bend = e->kind == AW_BEND && e->length > 0.0;
        const double kappa = bend ? e->angle / e->length : 0.0;
        if (e->length == 0.0 && begin > lattice->begin - SAME_S) kick(-e->strength[1], m);
        if (!(length > 0.0)) continue; /* behind the start, but for rounding */
        if (bend) kick(kappa * tan(e->e1), m);
        body(e->strength[1], length, m);
        if (bend && S >= end) kick(kappa * tan(e->e2), m);
        at = fmin(S, end);
    }
    if (at != S) drift(S - at, m);
}

void aw_vertical_move(const double m[4], const aw_particles *p, size_t i, double *y, double *py)
{
    *y = m[0] * p->y[i] + m[1] * (p->py[i] / p->p0[i]);
    *py = m[2] * p->y[i] * p->p0[i] + m[3] * p->py[i];
}

double aw_vertical_size2(const aw_lattice *lattice, const aw_beam_params *beam, double S)
{
    double m[4];
    if (!(beam->emittance_y > 0.0)) return beam->sigma_y * beam->sigma_y;
    aw_vertical_map(lattice, S, m);
    const double beta = beam->beta_y, alpha = beam->alpha_y;
    return beam->emittance_y * (m[0] * m[0] * beta - 2.0 * m[0] * m[1] * alpha +
                                m[1] * m[1] * (1.0 + alpha * alpha) / beta);
}
