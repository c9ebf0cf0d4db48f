/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices filled by a function instead of particles, and the SIMD variant that a test runs on. */
#ifndef AW_TESTS_SLICE_FIXTURE_H
#define AW_TESTS_SLICE_FIXTURE_H
#include "kernels/cpu/simd/simd.h"
#include "kernels/math/view.h"

enum { SLICES_MAX = 32 };

/* sigma, D and K_perp (kernels/math/view.h) at (u, w) [m] in the grid's frame, at an age in
 * slices. */
typedef void (*moments_fn)(const void *context, double age, double u, double w, double m[3]);

/* Spacing of the slices for which slices_gaussian is made [m]. */
#define SLICES_CELL 1e-5

/* A rotated Gaussian of 4 by 3 cells whose size varies in time, with three distinct moments. */
void slices_gaussian(const void *context, double age, double u, double w, double m[3]);

typedef struct slices {
    int n, ns, nx, single;
    aw_slice slice[SLICES_MAX]; /* newest first; S, x, tilt are 0 unless the test sets them */
    void *cells[SLICES_MAX];    /* owned */
} slices;

/* Allocate n empty slices of spacings hs, hx [m]; free with slices_free. */
void slices_new(slices *s, int n, int ns, int nx, int single, double hs, double hx);
void slices_free(slices *s);

/* Fill slice `age` node by node; with `padding`, the cells around the nodes, too. */
void slices_fill(slices *s, int age, int padding, moments_fn f, const void *context);

/* Component k of cell (i, j); (0, 0) is the first node, padding has negative indices. */
double slices_get(const slices *s, int age, int i, int j, int k);
void slices_set(slices *s, int age, int i, int j, int k, double value);

/* View of all slices, with a rigid upstream; gives them times that are cdt [m] apart. */
aw_history_view slices_view(slices *s, aw_orbit_view orbit, double cdt, double gamma, double r_cut);

/* Speed in c from gamma. */
double beta_of(double gamma);

/* A field point on the orbit at arc length S, moving with the design velocity of gamma. */
aw_field_point point_on(const aw_orbit_view *orbit, double S, double offset, double gamma);

/* Uniform random number in [lo, hi); the state belongs to the test. */
double uniform(uint64_t *state, double lo, double hi);

/* The variant named on the command line (by default the fastest). If this processor cannot run it,
 * prints the reason and exits with status 77, a visible skip. */
const aw_variant *variant_of(int argc, char **argv);

/* The same as a cmocka prestate. */
void *variant_state(int argc, char **argv);

#endif
