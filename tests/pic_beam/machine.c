/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/pic_beam/machine.h"

#include <math.h>

#include "pic/push.h"
#include "tests/assert_close.h"

aw_element drift_of(double length)
{
    return (aw_element){.kind = AW_DRIFT, .name = "drift", .length = length};
}

aw_element bend_of(double length, double angle, double e1, double e2)
{
    return (aw_element){
        .kind = AW_BEND, .name = "bend", .length = length, .angle = angle, .e1 = e1, .e2 = e2};
}

aw_element quadrupole_of(double length, double k1)
{
    return (aw_element){
        .kind = AW_QUADRUPOLE, .name = "quadrupole", .length = length, .strength = {[1] = k1}};
}

void zeuthen(aw_element e[ZEUTHEN_N])
{
    const double a = ZEUTHEN_EDGE; /* every face is perpendicular to the line of the start */
    e[0] = bend_of(ZEUTHEN_ARC, a, 0.0, a);
    e[1] = drift_of(ZEUTHEN_SLANT);
    e[2] = bend_of(ZEUTHEN_ARC, -a, -a, 0.0);
    e[3] = drift_of(1.0);
    e[4] = bend_of(ZEUTHEN_ARC, -a, 0.0, -a);
    e[5] = drift_of(ZEUTHEN_SLANT);
    e[6] = bend_of(ZEUTHEN_ARC, a, a, 0.0);
    e[7] = drift_of(2.0);
}

aw_lattice *machine_of(const aw_element *element, size_t n, double gamma, aw_upstream upstream)
{
    aw_lattice *lattice = NULL;
    assert_ok(aw_lattice_new(element, n, gamma, upstream, &lattice));
    assert_non_null(lattice);
    return lattice;
}

aw_particles *particle_at(const aw_lattice *lattice, double z, double x, double slope, double p)
{
    aw_particles *one = NULL;
    double norm = sqrt(1.0 + slope * slope);
    assert_ok(aw_particles_new(1, 1e-12, &one));
    one->z[0] = z;
    one->x[0] = x + slope * z;
    one->pz[0] = p / norm;
    one->px[0] = p * slope / norm;
    assert_ok(aw_push_locate(lattice, one));
    return one;
}

void line_at(const aw_lattice *lattice, const aw_particles *p, double S, double *x, double *slope)
{
    aw_orbit_point at = aw_orbit_at(&lattice->orbit, S);
    double along = p->pz[0] * at.ct + p->px[0] * at.st,
           across = p->px[0] * at.ct - p->pz[0] * at.st;
    double dz = p->z[0] - at.z, dx = p->x[0] - at.x;
    *slope = across / along;
    *x = dx * at.ct - dz * at.st - (dz * at.ct + dx * at.st) * *slope;
}

double momentum_of(const aw_particles *p, size_t i)
{
    return sqrt(p->pz[i] * p->pz[i] + p->px[i] * p->px[i]);
}
