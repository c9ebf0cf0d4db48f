/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wave of a slice at any wave vector, against the sum over its nodes. */
#include <math.h>

#include "src/base/units.h"
#include "src/spectrum/transform.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NS = 24, NX = 17 };
#define HS 3e-6
#define HX 2e-6

/* Of spline and compensation, docs/theory.md, "Moments". */
static double smoothing(double phase)
{
    const double a = 0.5 * phase, sinc = a == 0.0 ? 1.0 : sin(a) / a, w = sin(a) * sin(a);
    return sinc * sinc * sinc * (1.0 + w + 13.0 / 15.0 * w * w) * (1.0 - w * w * w * w * w);
}

static void direct(const slices *s, int moment, double ku, double kw, double out[2])
{
    out[0] = out[1] = 0.0;
    for (int j = 0; j < NX; ++j)
        for (int i = 0; i < NS; ++i) {
            const double phase = ku * (i - 0.5 * (NS - 1)) * HS + kw * (j - 0.5 * (NX - 1)) * HX;
            const double m = HS * HX * slices_get(s, 0, i, j, moment);
            out[0] += m * cos(phase);
            out[1] -= m * sin(phase);
        }
    const double factor = smoothing(ku * HS) * smoothing(kw * HX);
    for (int i = 0; i < 2; ++i) out[i] /= factor;
}

static void random_cells(slices *s)
{
    uint64_t state = 7;
    for (int j = 0; j < NX; ++j)
        for (int i = 0; i < NS; ++i)
            for (int k = 0; k < 3; ++k) slices_set(s, 0, i, j, k, uniform(&state, -1.0, 1.0));
}

static void waves_are_sums_over_nodes(void **state)
{
    uint64_t random = 3;
    slices s;
    aw_transform *t;
    (void)state;
    slices_new(&s, 1, NS, NX, 0, HS, HX);
    random_cells(&s);
    assert_ok(aw_transform_new(NS, NX, &t));
    aw_transform_load(t, &s.slice[0], 0);
    for (int i = 0; i < 200; ++i) {
        const double most = AW_TRANSFORM_PHASE, ku = uniform(&random, -most, most) / HS;
        const double kw = i % 4 ? uniform(&random, -most, most) / HX : 0.0;
        double got[AW_TRANSFORMED][2];
        aw_transform_at(t, ku, kw, got);
        for (int m = 0; m < AW_TRANSFORMED; ++m) {
            double want[2];
            direct(&s, m, ku, kw, want);
            /* 1e-6 of the sum of all magnitudes, of which each is 1/2 on average, before what
             * deposition has done is undone */
            const double sum = 0.5 * NS * NX * HS * HX / (smoothing(ku * HS) * smoothing(kw * HX));
            for (int p = 0; p < 2; ++p) assert_close(got[m][p], want[p], 0.0, 1e-6 * sum);
        }
    }
    aw_transform_free(t);
    slices_free(&s);
}

static void beyond_the_grid_there_are_no_waves(void **state)
{
    slices s;
    aw_transform *t;
    double got[AW_TRANSFORMED][2];
    (void)state;
    slices_new(&s, 1, NS, NX, 0, HS, HX);
    random_cells(&s);
    assert_ok(aw_transform_new(NS, NX, &t));
    aw_transform_load(t, &s.slice[0], 0);
    aw_transform_at(t, 1.01 * AW_PI / HS, 0.0, got);
    for (int m = 0; m < AW_TRANSFORMED; ++m) assert_true(got[m][0] == 0.0 && got[m][1] == 0.0);
    aw_transform_free(t);
    slices_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waves_are_sums_over_nodes),
                                       cmocka_unit_test(beyond_the_grid_there_are_no_waves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
