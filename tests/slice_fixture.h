/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices written by a function, not by particles, and the SIMD variant that a test runs on. */
#ifndef AW_TESTS_SLICE_FIXTURE_H
#define AW_TESTS_SLICE_FIXTURE_H
#include "kernels/cpu/simd/simd.h"
#include "kernels/math/view.h"

enum { SLICES_MAX = 32 };

/* sigma, D and K_perp (kernels/math/view.h) at (u, w) [m] in the grid's frame, at an age in
 * slices. */
typedef void (*moments_fn)(const void *context, double age, double u, double w, double m[3]);

/* Cell of the slices for which there are moments here [m]. */
#define SLICES_CELL 1e-5

/* A Gaussian of 4 by 3 cells, turned and breathing; the numbers are what must not be mixed up. */
void slices_gaussian(const void *context, double age, double u, double w, double m[3]);

typedef struct slices {
    int n, ns, nx, single;
    aw_slice slice[SLICES_MAX]; /* newest first; S, x, tilt are 0 until the test says otherwise */
    void *cells[SLICES_MAX];    /* owned */
} slices;

/* Empty slices of spacing hs, hx. */
void slices_new(slices *s, int n, int ns, int nx, int single, double hs, double hx);
void slices_free(slices *s);

/* Write slice `age` node by node; with `padding`, the cells around the nodes too. */
void slices_fill(slices *s, int age, int padding, moments_fn f, const void *context);

/* Component k of the padded cell (i, j), of which (0, 0) is the first node. */
double slices_get(const slices *s, int age, int i, int j, int k);
void slices_set(slices *s, int age, int i, int j, int k, double value);

/* View of all slices, with a rigid upstream. */
aw_history_view slices_view(const slices *s, aw_orbit_view orbit, double cdt, double gamma,
                            double r_cut);

/* Speed, and 1 - speed, of a gamma, as everywhere in the program. */
double beta_of(double gamma);

/* A field point on the orbit at arc length S, moving with the design velocity of gamma. */
aw_field_point point_on(const aw_orbit_view *orbit, double S, double offset, double gamma);

/* Uniform random number in [lo, hi) from a state of the test's own. */
double uniform(uint64_t *state, double lo, double hi);

/* The variant that the command line names (the fastest if none). Says why and leaves with exit
 * status 77, a visible skip, where this processor cannot run it. */
const aw_variant *variant_of(int argc, char **argv);

/* The same as a cmocka prestate. */
void *variant_state(int argc, char **argv);

#endif
