/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/slice_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "tests/assert_close.h"

void slices_gaussian(const void *context, double age, double u, double w, double m[3])
{
    const double a = u / (4.0 * SLICES_CELL), b = w / (3.0 * SLICES_CELL);
    (void)context;
    m[0] = exp(-0.5 * (a * a + b * b + (0.4 + 0.05 * age) * a * b)) * (1.0 + 0.03 * age);
    m[1] = m[0] * (1e-4 + 0.3 * u);
    m[2] = m[0] * (2e-3 - 5.0 * w);
}

void slices_new(slices *s, int n, int ns, int nx, int single, double hs, double hx)
{
    size_t cells = (size_t)(ns + 2 * AW_PAD) * (size_t)(nx + 2 * AW_PAD);
    assert_true(n <= SLICES_MAX);
    memset(s, 0, sizeof *s);
    s->n = n;
    s->ns = ns;
    s->nx = nx;
    s->single = single;
    for (int i = 0; i < n; ++i) {
        s->cells[i] = aw_alloc(cells * AW_COMPONENTS, single ? sizeof(float) : sizeof(double));
        assert_non_null(s->cells[i]);
        s->slice[i] = (aw_slice){.cells = s->cells[i], .hs = hs, .hx = hx, .id = (uint64_t)i};
    }
}

void slices_free(slices *s)
{
    for (int i = 0; i < s->n; ++i) aw_free(s->cells[i]);
}

static size_t cell_of(const slices *s, int i, int j, int k)
{
    size_t row = (size_t)s->ns + 2 * AW_PAD;
    return ((size_t)(j + AW_PAD) * row + (size_t)(i + AW_PAD)) * AW_COMPONENTS + (size_t)k;
}

double slices_get(const slices *s, int age, int i, int j, int k)
{
    size_t at = cell_of(s, i, j, k);
    return s->single ? (double)((const float *)s->cells[age])[at]
                     : ((const double *)s->cells[age])[at];
}

void slices_set(slices *s, int age, int i, int j, int k, double value)
{
    size_t at = cell_of(s, i, j, k);
    if (s->single)
        ((float *)s->cells[age])[at] = (float)value;
    else
        ((double *)s->cells[age])[at] = value;
}

void slices_fill(slices *s, int age, int padding, moments_fn f, const void *context)
{
    const aw_slice *slice = &s->slice[age];
    const int pad = padding ? AW_PAD : 0;
    for (int j = -pad; j < s->nx + pad; ++j)
        for (int i = -pad; i < s->ns + pad; ++i) {
            double m[3];
            f(context, age, (i - 0.5 * (s->ns - 1)) * slice->hs,
              (j - 0.5 * (s->nx - 1)) * slice->hx, m);
            for (int k = 0; k < 3; ++k) slices_set(s, age, i, j, k, m[k]);
        }
}

double beta_of(double gamma) { return sqrt((1.0 - 1.0 / gamma) * (1.0 + 1.0 / gamma)); }

aw_history_view slices_view(slices *s, aw_orbit_view orbit, double cdt, double gamma, double r_cut)
{
    for (int i = 0; i < s->n; ++i) s->slice[i].ct = -i * cdt;
    return (aw_history_view){.orbit = orbit,
                             .slice = s->slice,
                             .n = s->n,
                             .ns = s->ns,
                             .nx = s->nx,
                             .single = s->single,
                             .upstream = 1,
                             .cdt = cdt,
                             .beta = beta_of(gamma),
                             .r_cut = r_cut};
}

aw_field_point point_on(const aw_orbit_view *orbit, double S, double offset, double gamma)
{
    aw_orbit_point at = aw_orbit_at(orbit, S);
    double beta = beta_of(gamma);
    return (aw_field_point){.z = at.z - offset * at.st,
                            .x = at.x + offset * at.ct,
                            .S = S,
                            .offset = offset,
                            .theta = at.theta,
                            .ct = at.ct,
                            .st = at.st,
                            .kappa = at.kappa,
                            .beta = beta,
                            .one_minus_beta = 1.0 / (gamma * gamma * (1.0 + beta))};
}

/* splitmix64 (S. Vigna, public domain). */
double uniform(uint64_t *state, double lo, double hi)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return lo + (hi - lo) * (double)(z >> 11) * 0x1p-53;
}

const aw_variant *variant_of(int argc, char **argv)
{
    const aw_variant *variant = aw_variant_find(argc > 1 ? argv[1] : NULL);
    if (variant) return variant;
    printf("skipped: SIMD variant %s was not built, or this processor cannot run it\n", argv[1]);
    exit(77);
}

void *variant_state(int argc, char **argv)
{
    const aw_variant *variant = variant_of(argc, argv);
    void *state;
    memcpy(&state, &variant, sizeof state);
    return state;
}
