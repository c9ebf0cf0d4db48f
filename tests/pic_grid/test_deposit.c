/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deposition against the moments of the quadratic B-spline in closed form. */
#include <math.h>
#include <omp.h>
#include <string.h>
#include <unistd.h>

#include "pic/compensation.h"
#include "pic/deposit.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NS = 28, NX = 22 };
#define CHARGE 3e-13

/* A grid away from the origin of the lab, turned against its axes and tilted against the design
 * tangent. */
static aw_frame frame_of(void)
{
    aw_frame f;
    aw_frame_init(&f, NS, NX);
    f.grid.z = 1.25;
    f.grid.x = -0.5;
    f.grid.hs = 1e-5;
    f.grid.hx = 2.5e-5;
    f.theta_design = 0.4;
    f.grid.tilt = 0.25;
    f.grid.theta = f.theta_design + f.grid.tilt;
    f.placed = 1;
    return f;
}

/* Put particle i at (u, w) of the grid [m]. */
static void put(aw_particles *p, size_t i, const aw_frame *f, double u, double w)
{
    double c = cos(f->grid.theta), s = sin(f->grid.theta);
    p->z[i] = f->grid.z + u * c - w * s;
    p->x[i] = f->grid.x + u * s + w * c;
}

/* Let particle i move at `angle` against the design tangent. */
static void set_momentum(aw_particles *p, size_t i, const aw_frame *f, double gamma, double angle)
{
    double m = sqrt((gamma - 1.0) * (gamma + 1.0));
    p->pz[i] = m * cos(f->theta_design + angle);
    p->px[i] = m * sin(f->theta_design + angle);
}

static aw_particles *cloud(const aw_frame *f, size_t n, double gamma, double spread)
{
    uint64_t random = 42;
    aw_particles *p = NULL;
    assert_ok(aw_particles_new(n, CHARGE, &p));
    for (size_t i = 0; i < n; ++i) {
        double u = uniform(&random, -8.5, 8.5) * f->grid.hs;
        double w = uniform(&random, -5.5, 5.5) * f->grid.hx;
        double energy = gamma * uniform(&random, 0.9, 1.1);
        put(p, i, f, u, w);
        set_momentum(p, i, f, energy, spread * uniform(&random, -1.0, 1.0));
    }
    return p;
}

static void deposit(const aw_particles *p, const aw_frame *f, int single, void *cells,
                    double *charge)
{
    aw_deposit *d = NULL;
    assert_ok(aw_deposit_new(NS, NX, &d));
    assert_ok(aw_deposit_run(d, p, f, single, cells, charge));
    aw_deposit_free(d);
}

/* Sum of component k over the nodes, weighted with u^m w^n, times the area of a cell. */
static double moment(const double *cells, const aw_frame *f, int k, int m, int n)
{
    double sum = 0.0;
    for (int j = 0; j < NX; ++j)
        for (int i = 0; i < NS; ++i) {
            double u = (i - 0.5 * (NS - 1)) * f->grid.hs, w = (j - 0.5 * (NX - 1)) * f->grid.hx;
            size_t at = (size_t)(j + AW_PAD) * (NS + 2 * AW_PAD) + (size_t)(i + AW_PAD);
            sum += cells[at * AW_COMPONENTS + (size_t)k] * pow(u, m) * pow(w, n);
        }
    return sum * f->grid.hs * f->grid.hx;
}

static double *new_cells(void)
{
    double *cells = aw_alloc(1, aw_slice_bytes(NS, NX, 0));
    assert_non_null(cells);
    return cells;
}

static void charge_is_conserved(void **state)
{
    const aw_frame f = frame_of();
    aw_particles *p = cloud(&f, 10007, 100.0, 0.01);
    double *cells = new_cells(), charge = 0.0, total = CHARGE * 10007;
    (void)state;
    deposit(p, &f, 0, cells, &charge);
    assert_close(charge, total, 1e-12, 0.0);
    assert_close(moment(cells, &f, 0, 0, 0), total, 1e-12, 0.0);
    aw_free(cells);
    aw_particles_free(p);
}

/* The spline with which a slice is read adds the variance that the deposit leaves out. Particles
 * keep clear of the edges, where the compensation keeps the charge and gives up the variance. */
static void deposit_of_a_particle_has_its_mean_and_less_variance_by_a_quarter_cell_squared(
    void **state)
{
    const aw_frame f = frame_of();
    uint64_t random = 9;
    aw_particles *p = NULL;
    double *cells = new_cells(), charge;
    (void)state;
    assert_ok(aw_particles_new(1, CHARGE, &p));
    for (int i = 0; i < 200; ++i) {
        double u = uniform(&random, -4.9, 4.9) * f.grid.hs,
               w = uniform(&random, -1.9, 1.9) * f.grid.hx;
        double hs = f.grid.hs, hx = f.grid.hx;
        put(p, 0, &f, u, w);
        set_momentum(p, 0, &f, 50.0, 0.0);
        deposit(p, &f, 0, cells, &charge);
        /* lab coordinates of 1 m are rounded to 1e-16 m, 1e-11 of a cell */
        assert_close(moment(cells, &f, 0, 1, 0) / CHARGE, u, 0.0, 1e-10 * hs);
        assert_close(moment(cells, &f, 0, 0, 1) / CHARGE, w, 0.0, 1e-10 * hx);
        assert_close(moment(cells, &f, 0, 2, 0) / CHARGE, u * u - hs * hs / 4.0, 0.0,
                     1e-9 * hs * hs);
        assert_close(moment(cells, &f, 0, 0, 2) / CHARGE, w * w - hx * hx / 4.0, 0.0,
                     1e-9 * hx * hx);
        assert_close(moment(cells, &f, 0, 1, 1) / CHARGE, u * w, 0.0, 1e-9 * hs * hx);
    }
    aw_free(cells);
    aw_particles_free(p);
}

/* Of a wave along either axis, away from the edges: 1/sinc^6 to sixth order, times what takes the
 * waves of two cells away. Sums are kept up to the edges. */
static void compensation_multiplies_a_wave_as_it_says(void **state)
{
    enum { NODES = NS * NX };
    static _Alignas(32) double cells[NODES][AW_QUAD], scratch[NODES][AW_QUAD];
    const aw_quad_grid grid = {NS, NX, NS};
    (void)state;
    for (int part = 0; part <= 8; ++part)
        for (int along_x = 0; along_x < 2; ++along_x) {
            const double phase = AW_PI * part / 8.0, s = sin(0.5 * phase), w = s * s;
            const double factor = (1.0 + w + 13.0 / 15.0 * w * w) * (1.0 - w * w * w * w * w);
            const int at = NX / 2 * NS + NS / 2;
            double before = 0.0, after = 0.0;
            for (int k = 0; k < NODES; ++k) {
                cells[k][1] = cos(phase * ((along_x ? k / NS : k % NS) - 3) + 0.3);
                before += cells[k][1];
            }
            const double wave = cells[at][1];
            aw_compensate_moments(&grid, cells[0], scratch[0]);
            for (int k = 0; k < NODES; ++k) after += cells[k][1];
            assert_close(cells[at][1], factor * wave, 0.0, 1e-14);
            assert_close(after, before, 0.0, 1e-12);
        }
}

/* D = sigma (1 - beta cos), K_perp = sigma beta sin, about the design tangent, not the grid. */
static void currents_of_an_inclined_particle_are_exact(void **state)
{
    const aw_frame f = frame_of();
    static const double gammas[] = {1.5, 10.0, 1e4, 1e6}, angles[] = {0.0, 1e-6, -3e-3, 0.7, 2.5};
    aw_particles *p = NULL;
    double *cells = new_cells(), charge;
    (void)state;
    assert_ok(aw_particles_new(1, CHARGE, &p));
    for (int g = 0; g < 4; ++g)
        for (int a = 0; a < 5; ++a) {
            long double y = gammas[g], b = sqrtl((1.0L - 1.0L / y) * (1.0L + 1.0L / y));
            put(p, 0, &f, 3.3 * f.grid.hs, 1.2 * f.grid.hx);
            set_momentum(p, 0, &f, gammas[g], angles[a]);
            deposit(p, &f, 0, cells, &charge);
            long double half = sinl(0.5L * (long double)angles[a]);
            double late = (double)(1.0L / (y * y * (1.0L + b)) + 2.0L * b * half * half);
            /* directions in the lab are rounded to 2e-16 rad */
            double rounding = 1e-15 * (fabs(angles[a]) + 1e-15);
            assert_close(moment(cells, &f, 1, 0, 0) / CHARGE, late, 1e-13, rounding);
            assert_close(moment(cells, &f, 2, 0, 0) / CHARGE, (double)b * sin(angles[a]), 1e-13,
                         1e-15);
        }
    aw_free(cells);
    aw_particles_free(p);
}

static void padding_stays_zero_and_old_contents_are_overwritten(void **state)
{
    const aw_frame f = frame_of();
    aw_particles *p = cloud(&f, 3000, 100.0, 0.01);
    double *cells = new_cells(), *again = new_cells(), charge;
    (void)state;
    for (size_t i = 0; i < aw_slice_bytes(NS, NX, 0) / sizeof *cells; ++i) cells[i] = 7.0;
    deposit(p, &f, 0, cells, &charge);
    deposit(p, &f, 0, again, &charge);
    assert_memory_equal(cells, again, aw_slice_bytes(NS, NX, 0));
    for (int j = -AW_PAD; j < NX + AW_PAD; ++j)
        for (int i = -AW_PAD; i < NS + AW_PAD; ++i) {
            size_t at = (size_t)(j + AW_PAD) * (NS + 2 * AW_PAD) + (size_t)(i + AW_PAD);
            if (i >= 0 && i < NS && j >= 0 && j < NX) continue;
            for (size_t k = 0; k < AW_COMPONENTS; ++k)
                assert_close(cells[at * AW_COMPONENTS + k], 0.0, 0.0, 0.0);
        }
    aw_free(cells);
    aw_free(again);
    aw_particles_free(p);
}

static void float_cells_are_the_rounded_double_cells(void **state)
{
    const aw_frame f = frame_of();
    aw_particles *p = cloud(&f, 3000, 1e4, 1e-4);
    size_t n = aw_slice_bytes(NS, NX, 0) / sizeof(double);
    double *cells = new_cells(), charge;
    float *single = aw_alloc(n, sizeof *single);
    (void)state;
    assert_non_null(single);
    assert_int_equal(aw_slice_bytes(NS, NX, 1), n * sizeof *single);
    deposit(p, &f, 0, cells, &charge);
    deposit(p, &f, 1, single, &charge);
    for (size_t i = 0; i < n; ++i) assert_close(single[i], (float)cells[i], 0.0, 0.0);
    aw_free(cells);
    aw_free(single);
    aw_particles_free(p);
}

static void deposit_has_the_same_bits_for_any_number_of_threads(void **state)
{
    const aw_frame f = frame_of();
    aw_particles *p = cloud(&f, 20011, 100.0, 0.01);
    double *one = new_cells(), *more = new_cells(), charge_one, charge;
    int before = omp_get_max_threads();
    (void)state;
    omp_set_num_threads(1);
    deposit(p, &f, 0, one, &charge_one);
    for (int threads = 2; threads <= 3; ++threads) {
        omp_set_num_threads(threads);
        deposit(p, &f, 0, more, &charge);
        assert_memory_equal(one, more, aw_slice_bytes(NS, NX, 0));
        assert_close(charge, charge_one, 0.0, 0.0);
    }
    omp_set_num_threads(before);
    aw_free(one);
    aw_free(more);
    aw_particles_free(p);
}

static aw_status status_of(const aw_particles *p, const aw_frame *f)
{
    aw_deposit *d = NULL;
    double *cells = new_cells(), charge;
    assert_ok(aw_deposit_new(NS, NX, &d));
    aw_status status = aw_deposit_run(d, p, f, 0, cells, &charge);
    aw_deposit_free(d);
    aw_free(cells);
    return status;
}

/* All nodes of a particle must exist, which limits its distance from the centre. Here the particle
 * is a hundredth of a cell on either side of the limit. */
static void a_particle_off_the_grid_is_a_range_error(void **state)
{
    const aw_frame f = frame_of();
    aw_particles *p = cloud(&f, 100, 100.0, 0.01);
    const double margin = AW_SHAPE_REACH - 1.0 + 0.01;
    const double in_s = 0.5 * (NS - 1) - margin, in_x = 0.5 * (NX - 1) - margin;
    (void)state;
    for (int side = -1; side <= 1; side += 2) {
        put(p, 57, &f, side * in_s * f.grid.hs, 0.0);
        assert_ok(status_of(p, &f));
        put(p, 57, &f, side * (in_s + 0.02) * f.grid.hs, 0.0);
        assert_status(status_of(p, &f), AW_ERR_RANGE);
        put(p, 57, &f, 0.0, side * in_x * f.grid.hx);
        assert_ok(status_of(p, &f));
        put(p, 57, &f, 0.0, side * (in_x + 0.02) * f.grid.hx);
        assert_status(status_of(p, &f), AW_ERR_RANGE);
        put(p, 57, &f, side * 1e3, 1e300);
        assert_status(status_of(p, &f), AW_ERR_RANGE);
    }
    aw_particles_free(p);
}

static void a_particle_that_is_not_finite_is_an_error(void **state)
{
    const aw_frame f = frame_of();
    aw_particles *p = cloud(&f, 100, 100.0, 0.01);
    double *const array[] = {p->z, p->x, p->pz, p->px};
    (void)state;
    for (int a = 0; a < 4; ++a)
        for (int kind = 0; kind < 2; ++kind) {
            double finite = array[a][31];
            array[a][31] = kind ? (double)INFINITY : (double)NAN;
            assert_status(status_of(p, &f), AW_ERR_NONFINITE);
            array[a][31] = finite;
        }
    assert_ok(status_of(p, &f));
    aw_particles_free(p);
}

static void message_names_the_first_particle_off_the_grid(void **state)
{
    const aw_frame f = frame_of();
    aw_particles *p = cloud(&f, 2000, 100.0, 0.01);
    char line[256] = "";
    FILE *log = tmpfile();
    int saved = dup(fileno(stderr));
    (void)state;
    assert_true(log && saved >= 0);
    p->z[1203] = 5.0;
    p->x[777] = 5.0;
    fflush(stderr);
    assert_true(dup2(fileno(log), fileno(stderr)) >= 0);
    aw_status status = status_of(p, &f);
    fflush(stderr);
    dup2(saved, fileno(stderr));
    close(saved);
    rewind(log);
    assert_non_null(fgets(line, sizeof line, log));
    fclose(log);
    assert_status(status, AW_ERR_RANGE);
    assert_non_null(strstr(line, "particle 777 "));
    aw_particles_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(charge_is_conserved),
        cmocka_unit_test(
            deposit_of_a_particle_has_its_mean_and_less_variance_by_a_quarter_cell_squared),
        cmocka_unit_test(compensation_multiplies_a_wave_as_it_says),
        cmocka_unit_test(currents_of_an_inclined_particle_are_exact),
        cmocka_unit_test(padding_stays_zero_and_old_contents_are_overwritten),
        cmocka_unit_test(float_cells_are_the_rounded_double_cells),
        cmocka_unit_test(deposit_has_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(a_particle_off_the_grid_is_a_range_error),
        cmocka_unit_test(a_particle_that_is_not_finite_is_an_error),
        cmocka_unit_test(message_names_the_first_particle_off_the_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
