/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forces from potentials that are known analytically. */
#include <math.h>
#include <string.h>

#include "pic/forces.h"
#include "pic/frame.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "tests/assert_close.h"

#define GAMMA 3.0

/* Value and gradient of a scalar field at lab coordinates about the grid's centre, in units of
 * stage.unit. */
typedef double (*field_fn)(double z, double x, double *dz, double *dx);

/* Fourth degree: a rule of seven points is exact. */
static double quartic(double z, double x, double *dz, double *dx)
{
    *dz = 1.0 + 0.5 * x - 0.3 * z * x + 0.8 * z * z * z - 0.2 * x * x * x;
    *dx = -2.0 + 0.5 * z - 0.15 * z * z + 0.6 * x * x * x - 0.6 * z * x * x;
    return z - 2.0 * x + 0.5 * z * x - 0.15 * z * z * x + 0.2 * pow(z, 4) + 0.15 * pow(x, 4) -
           0.2 * z * x * x * x;
}

static double cubic(double z, double x, double *dz, double *dx)
{
    *dz = 0.7 - 0.2 * z + 0.3 * x * x;
    *dx = 0.4 + 0.6 * z * x - 0.45 * x * x;
    return 0.7 * z + 0.4 * x - 0.1 * z * z + 0.3 * z * x * x - 0.15 * x * x * x;
}

static double quadratic(double z, double x, double *dz, double *dx)
{
    *dz = -0.3 + 0.5 * z - 0.2 * x;
    *dx = 0.9 - 0.2 * z + 0.8 * x;
    return -0.3 * z + 0.9 * x + 0.25 * z * z - 0.2 * z * x + 0.4 * x * x;
}

static double wavy(double z, double x, double *dz, double *dx)
{
    *dz = cos(z) * cos(2.0 * x);
    *dx = -2.0 * sin(z) * sin(2.0 * x);
    return sin(z) * cos(2.0 * x);
}

typedef struct stage {
    aw_orbit_piece piece;
    aw_orbit_view orbit;
    aw_frame frame;
    int n;
    double unit; /* length unit of the fields [m] */
    field_fn phi, az, ax;
    aw_field_point *point;
    double *result;
    aw_forces forces;
} stage;

/* An n x n grid of half size `half` [m] at S = 1 m of an orbit of curvature kappa, tilted. */
static void stage_open(stage *g, int n, double half, double kappa, double tilt)
{
    size_t points = (size_t)n * (size_t)n;
    g->n = n;
    g->piece = (aw_orbit_piece){.S = 0.0, .theta = 0.3, .kappa = kappa};
    g->orbit = (aw_orbit_view){&g->piece, 1};
    aw_frame_init(&g->frame, n, n);
    aw_frame_rigid(&g->frame, &g->orbit, 1.0, half, 0.7 * half);
    g->frame.grid.tilt = tilt;
    g->frame.grid.theta += tilt;
    g->point = aw_alloc(points, sizeof *g->point);
    g->result = aw_alloc(points * AW_RESULTS, sizeof *g->result);
    assert_true(g->point && g->result);
    assert_ok(aw_forces_new(points, 1, &g->forces));
    aw_frame_points(&g->frame.grid, &g->orbit, GAMMA, g->point);
}

static void stage_close(stage *g)
{
    aw_forces_free(&g->forces);
    aw_free(g->point);
    aw_free(g->result);
}

static double evaluate(const stage *g, field_fn f, const aw_field_point *p, double *dz, double *dx)
{
    double value =
        f((p->z - g->frame.grid.z) / g->unit, (p->x - g->frame.grid.x) / g->unit, dz, dx);
    *dz /= g->unit;
    *dx /= g->unit;
    return value;
}

/* Potentials at all nodes, psi for each node's own design velocity; time derivatives from smooth
 * functions of the index. */
static void fill(stage *g)
{
    for (int i = 0; i < g->n * g->n; ++i) {
        const aw_field_point *p = &g->point[i];
        double *I = &g->result[(size_t)i * AW_RESULTS], dz, dx;
        I[AW_PHI] = evaluate(g, g->phi, p, &dz, &dx);
        I[AW_AZ] = evaluate(g, g->az, p, &dz, &dx);
        I[AW_AX] = evaluate(g, g->ax, p, &dz, &dx);
        I[AW_PSI] = I[AW_PHI] - p->beta * (p->ct * I[AW_AZ] + p->st * I[AW_AX]);
        I[AW_DPHI] = sin(0.1 * i);
        I[AW_DAZ] = cos(0.2 * i);
        I[AW_DAX] = sin(0.3 * i + 1.0);
    }
    aw_forces_from_potentials(&g->frame.grid, g->point, g->result, &g->forces);
}

/* Expected forces at node i: F = -grad(phi - v.A) - dA/dt with v that of node i. */
typedef struct expected {
    double Fz, Fx, Fs, Fn, Fs_eff, Fx_eff, cBy, vector[2][4];
} expected;

static expected expected_at(const stage *g, int i)
{
    const aw_field_point *p = &g->point[i];
    const double *I = &g->result[(size_t)i * AW_RESULTS];
    double gz[3], gx[3], az, ax, bz = p->beta * p->ct, bx = p->beta * p->st;
    expected w;
    evaluate(g, g->phi, p, &gz[0], &gx[0]);
    az = evaluate(g, g->az, p, &gz[1], &gx[1]);
    ax = evaluate(g, g->ax, p, &gz[2], &gx[2]);
    w.Fz = AW_K_COULOMB * (-(gz[0] - bz * gz[1] - bx * gz[2]) - I[AW_DAZ]);
    w.Fx = AW_K_COULOMB * (-(gx[0] - bz * gx[1] - bx * gx[2]) - I[AW_DAX]);
    w.Fs = w.Fz * p->ct + w.Fx * p->st;
    w.Fn = -w.Fz * p->st + w.Fx * p->ct;
    w.Fs_eff = w.Fs + AW_K_COULOMB * I[AW_DPHI] / p->beta;
    w.Fx_eff = w.Fn - AW_K_COULOMB * p->kappa * p->beta * (p->ct * az + p->st * ax);
    w.cBy = AW_K_COULOMB * (gz[2] - gx[1]); /* B_y = dA_x/dz - dA_z/dx */
    const double vector[2][4] = {{az, ax, I[AW_DAZ], I[AW_DAX]}, {gz[1], gx[1], gz[2], gx[2]}};
    for (int k = 0; k < 8; ++k) w.vector[k / 4][k % 4] = AW_K_COULOMB * vector[k / 4][k % 4];
    return w;
}

/* Largest |got - want| over all forces and nodes but for `edge` rows and columns at the border. */
static double worst_error(const stage *g, int edge)
{
    double worst = 0.0;
    for (int j = edge; j < g->n - edge; ++j)
        for (int i = edge; i < g->n - edge; ++i) {
            int k = j * g->n + i;
            const expected w = expected_at(g, k);
            const aw_forces *f = &g->forces;
            const double error[] = {f->Fs[k] - w.Fs,         f->Fx[k] - w.Fn,
                                    f->Fs_eff[k] - w.Fs_eff, f->Fx_eff[k] - w.Fx_eff,
                                    f->Fz_lab[k] - w.Fz,     f->Fx_lab[k] - w.Fx,
                                    f->cBy[k] - w.cBy,       f->theta[k] - g->point[k].theta};
            for (size_t e = 0; e < sizeof error / sizeof error[0]; ++e) {
                assert_true(isfinite(error[e]));
                worst = fmax(worst, fabs(error[e]));
            }
            for (int e = 0; e < 8; ++e)
                worst = fmax(worst, fabs(f->vector[4 * (e / 4 * g->n * g->n + k) + e % 4] -
                                         w.vector[e / 4][e % 4]));
        }
    return worst / AW_K_COULOMB;
}

/* Half size for which aw_frame_rigid makes cells of h: it leaves a margin for the deposit. */
static double half_for(int n, double h) { return h * (0.5 * (n - 1) - AW_SHAPE_REACH); }

static void gradients_of_polynomials_are_exact_up_to_the_border(void **state)
{
    stage g = {.unit = 1e-3, .phi = quartic, .az = cubic, .ax = quadratic};
    (void)state;
    for (int n = 7; n <= 16; n += 9) { /* 7 nodes: every one is within three of a border */
        stage_open(&g, n, half_for(n, 4e-3 / (n - 1)), 0.0, 0.35);
        fill(&g);
        /* Lab positions of 1 m are rounded to 1e-16 m, 1e-13 units, and fields have slopes of 10
         * per unit; over cells of 3e-4 m with weights up to 8: 2.6e-8 of gradients of 1e4. */
        assert_close(worst_error(&g, 0), 0.0, 0.0, 4e-8);
        stage_close(&g);
    }
}

/* In an arc every node has its own velocity; the gradient is for the velocity of its own node. */
static void velocity_is_constant_under_the_gradient_on_a_curved_orbit(void **state)
{
    stage g = {.unit = 1e-3, .phi = quartic, .az = cubic, .ax = quadratic};
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        stage_open(&g, 16, 2e-3, 20.0 * sign, 0.35); /* the tangent turns by 0.08 rad in the grid */
        fill(&g);
        assert_close(worst_error(&g, 0), 0.0, 0.0, 2e-8);
        /* this matters: the gradient of the uncorrected psi differs by kappa A */
        assert_true(fabs(g.point[0].theta - g.point[15].theta) > 0.05);
        stage_close(&g);
    }
}

static void error_of_forces_falls_with_the_sixth_power_of_the_spacing(void **state)
{
    double inner[3], border[3];
    (void)state;
    for (int i = 0; i < 3; ++i) {
        int n = 21 << i;
        stage g = {.unit = 1e-3, .phi = wavy, .az = wavy, .ax = wavy};
        stage_open(&g, n, half_for(n, 4e-4 / (1 << i)), 5.0, 0.2);
        fill(&g);
        inner[i] = worst_error(&g, 3);
        border[i] = worst_error(&g, 0);
        stage_close(&g);
    }
    for (int i = 0; i < 2; ++i) { /* the next term is h^2/unit^2 = 0.16 of it and less */
        assert_close(log2(inner[i] / inner[i + 1]), 6.0, 0.0, 0.25);
        assert_true(log2(border[i] / border[i + 1]) >
                    5.5); /* one-sided: same order, larger error */
    }
}

static void a_charge_at_rest_in_phi_alone_gives_its_electric_field(void **state)
{
    stage g = {.unit = 1e-3, .phi = cubic, .az = quadratic, .ax = quadratic};
    (void)state;
    stage_open(&g, 9, 2e-3, 0.0, 0.0);
    for (int i = 0; i < 81; ++i) {
        double *I = &g.result[(size_t)i * AW_RESULTS], dz, dx;
        memset(I, 0, AW_RESULTS * sizeof *I);
        I[AW_PHI] = I[AW_PSI] = evaluate(&g, cubic, &g.point[i], &dz, &dx);
    }
    aw_forces_from_potentials(&g.frame.grid, g.point, g.result, &g.forces);
    for (int i = 0; i < 81; ++i) {
        double dz, dx;
        evaluate(&g, cubic, &g.point[i], &dz, &dx);
        assert_close(g.forces.Fz_lab[i], -AW_K_COULOMB * dz, 0.0, AW_K_COULOMB * 2e-8);
        assert_close(g.forces.Fx_lab[i], -AW_K_COULOMB * dx, 0.0, AW_K_COULOMB * 2e-8);
        assert_close(g.forces.cBy[i], 0.0, 0.0, 0.0);
        assert_close(g.forces.Fs_eff[i], g.forces.Fs[i], 0.0, 0.0);
    }
    stage_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_polynomials_are_exact_up_to_the_border),
        cmocka_unit_test(velocity_is_constant_under_the_gradient_on_a_curved_orbit),
        cmocka_unit_test(error_of_forces_falls_with_the_sixth_power_of_the_spacing),
        cmocka_unit_test(a_charge_at_rest_in_phi_alone_gives_its_electric_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
