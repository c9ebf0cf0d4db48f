/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small snapshot with known numbers, for the tests of the output. */
#ifndef AW_TESTS_OUTPUT_SAMPLE_H
#define AW_TESTS_OUTPUT_SAMPLE_H
#include "src/output/openpmd.h"

enum { SAMPLE_NS = 40, SAMPLE_NX = 24, SAMPLE_N = 500, SAMPLE_MESHES = 7 };

/* Estimated error of F_z in the sample [eV/m]. */
#define SAMPLE_F_ERROR 12.5

/** A Gaussian bunch in a bend, and the arrays that its snapshot borrows. */
typedef struct sample {
    double rho[SAMPLE_NX * SAMPLE_NS], Jz[SAMPLE_NX * SAMPLE_NS], Jx[SAMPLE_NX * SAMPLE_NS];
    double phi[SAMPLE_NX * SAMPLE_NS], psi[SAMPLE_NX * SAMPLE_NS];
    double Fz[SAMPLE_NX * SAMPLE_NS], Fx[SAMPLE_NX * SAMPLE_NS];
    double x[SAMPLE_N], z[SAMPLE_N], px[SAMPLE_N], pz[SAMPLE_N];
    uint64_t id[SAMPLE_N];
    aw_mesh mesh[SAMPLE_MESHES];
    aw_species species;
    aw_snapshot snapshot;
} sample;

/** Fill everything for one step; the numbers are closed forms of the indices, see sample.c. */
void sample_fill(sample *s, long step);

#endif
