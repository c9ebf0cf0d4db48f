/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Genz's integrals against Gauss-Legendre rules on many panels; the difficulty of the
 * integrands. */
#include <gsl/gsl_integration.h>
#include <math.h>

#include "tests/assert_close.h"
#include "validation/genz.h"

enum { ORDER = 20, NODES_MAX = 33 * ORDER };

/* Nodes and weights on [0, 1]: equal panels, one of them cut at `at`, where a kink or jump may be.
 * @return the number of nodes. */
static int panel_rule(int panels, double at, double *x, double *w)
{
    gsl_integration_glfixed_table *table = gsl_integration_glfixed_table_alloc(ORDER);
    int n = 0;
    assert_non_null(table);
    for (int k = 0; k < panels; ++k) {
        double end[3] = {(double)k / panels, at, (k + 1.0) / panels};
        int inside = at > end[0] && at < end[2];
        if (!inside) end[1] = end[2];
        for (int part = 0; part <= inside; ++part)
            for (size_t i = 0; i < ORDER; ++i, ++n)
                gsl_integration_glfixed_point(end[part], end[part + 1], i, &x[n], &w[n], table);
    }
    gsl_integration_glfixed_table_free(table);
    return n;
}

/* The integral over axes axis, axis + 1, ..., by the product of one-dimensional rules. */
static double product_rule(aw_genz *g, int axis, int panels, double *at)
{
    double x[NODES_MAX], w[NODES_MAX], sum = 0.0;
    if (axis == g->n) return aw_genz_value(g, g->n, at);
    int n = panel_rule(panels, g->u[axis], x, w);
    for (int i = 0; i < n; ++i) {
        at[axis] = x[i];
        sum += w[i] * product_rule(g, axis + 1, panels, at);
    }
    return sum;
}

static void integrals_agree_with_a_product_rule(void **state)
{
    uint64_t random = 1;
    double at[AW_GENZ_DIMENSIONS];
    (void)state;
    for (int family = 0; family < AW_GENZ_FAMILIES; ++family)
        for (int i = 0; i < 4; ++i) {
            aw_genz g = aw_genz_draw((aw_genz_family)family, 2, &random);
            /* rules of order 20 on panels of 1/32: 1e-12 for the sharpest peak (1/150), whose poles
             * are nearest; the oscillatory family cancels to about 1e-4 of its amplitude */
            assert_close(product_rule(&g, 0, 32, at), aw_genz_integral(&g), 1e-11, 1e-14);
        }
    for (int family = 0; family < AW_GENZ_FAMILIES; ++family) {
        aw_genz g = aw_genz_draw((aw_genz_family)family, 3, &random);
        /* more axes, fewer panels: a < 67 */
        assert_close(product_rule(&g, 0, 4, at), aw_genz_integral(&g), 1e-6, 1e-14);
    }
}

/* By inclusion and exclusion: 1/(n! prod a) sum over v of (-1)^|v|/(1 + v.a). */
static long double corner_sum(const aw_genz *g, long double *largest)
{
    long double sum = 0.0L, factor = 1.0L;
    for (int i = 0; i < g->n; ++i) factor *= (i + 1) * (long double)g->a[i];
    *largest = 0.0L;
    for (unsigned v = 0; v < 1u << g->n; ++v) {
        long double term = 1.0L;
        int sign = 1;
        for (int i = 0; i < g->n; ++i)
            if (v >> i & 1u) {
                term += g->a[i];
                sign = -sign;
            }
        sum += sign / term;
        *largest += 1.0L / (term * factor);
    }
    return sum / factor;
}

static void corner_peak_agrees_with_the_sum_over_corners(void **state)
{
    uint64_t random = 2;
    double worst = 0.0;
    (void)state;
    for (int n = 2; n <= AW_GENZ_DIMENSIONS; ++n)
        for (int i = 0; i < 100; ++i) {
            aw_genz g = aw_genz_draw(AW_GENZ_CORNER, n, &random);
            long double terms, sum = corner_sum(&g, &terms);
            /* rounding of double, where that is the longest type there is */
            double rounding = 3e-16 * (double)(terms / sum);
            assert_close(aw_genz_integral(&g), (double)sum, 1e-13 + rounding, 0.0);
            worst = fmax(worst, rounding);
        }
    assert_true(worst > 1e-11 && worst < 1e-9); /* why the program does not use this sum */
}

static void parameters_have_the_difficulties_of_genz_s_package(void **state)
{
    static const double h[AW_GENZ_FAMILIES] = {110.0, 600.0, 600.0, 100.0, 150.0, 100.0};
    static const double e[AW_GENZ_FAMILIES] = {1.5, 2.0, 2.0, 1.0, 2.0, 2.0};
    uint64_t random = 3, again = 3;
    (void)state;
    for (int family = 0; family < AW_GENZ_FAMILIES; ++family)
        for (int n = 2; n <= AW_GENZ_DIMENSIONS; ++n) {
            aw_genz g = aw_genz_draw((aw_genz_family)family, n, &random);
            aw_genz same = aw_genz_draw((aw_genz_family)family, n, &again);
            double sum = 0.0;
            for (int i = 0; i < n; ++i) {
                assert_true(g.a[i] > 0.0 && g.u[i] > 0.0 && g.u[i] < 1.0);
                assert_true(g.a[i] == same.a[i] && g.u[i] == same.u[i]);
                sum += g.a[i];
            }
            assert_close(sum, h[family] / pow(n, e[family]), 1e-14, 0.0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integrals_agree_with_a_product_rule),
        cmocka_unit_test(corner_peak_agrees_with_the_sum_over_corners),
        cmocka_unit_test(parameters_have_the_difficulties_of_genz_s_package),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
