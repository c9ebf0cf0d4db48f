/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small machines and single particles for tests of the beam. */
#ifndef AW_TESTS_PIC_BEAM_MACHINE_H
#define AW_TESTS_PIC_BEAM_MACHINE_H
#include "pic/lattice.h"
#include "pic/particles.h"

/* Berlin-Zeuthen chicane: the exact elements with which other codes run it (rectangular
 * magnets). */
#define ZEUTHEN_RHO 10.3462283686195526
#define ZEUTHEN_ARC 0.500194828041958
#define ZEUTHEN_EDGE 0.048345620280243
#define ZEUTHEN_SLANT 5.0058489435
#define ZEUTHEN_N 8

aw_element drift_of(double length);
aw_element bend_of(double length, double angle, double e1, double e2);
aw_element quadrupole_of(double length, double k1);

/* The eight elements of the chicane: four bends, and drifts of 5, 1, 5 (projected) and 2 m. */
void zeuthen(aw_element element[ZEUTHEN_N]);

/* aw_lattice_new that fails the test. */
aw_lattice *machine_of(const aw_element *element, size_t n, double gamma, aw_upstream upstream);

/* One particle of momentum p [gamma beta] at z [m], upstream of S = 0, on the line through (0, x)
 * with slope dx/dz; free with aw_particles_free. */
aw_particles *particle_at(const aw_lattice *lattice, double z, double x, double slope, double p);

/* Slope, and offset [m], with respect to the design orbit at arc length S, of the straight line on
 * which particle 0 moves (it must be in a drift). */
void line_at(const aw_lattice *lattice, const aw_particles *p, double S, double *x, double *slope);

/* |p| of particle i [gamma beta]. */
double momentum_of(const aw_particles *p, size_t i);

#endif
