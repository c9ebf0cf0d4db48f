/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wakes: kicks of a Gaussian bunch against the convolution in closed form, along the motion and
 * across it. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "pic/wake/wake.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

enum { PARTICLES = 20480 };
#define SIGMA 50e-6
#define CHARGE 1e-9
#define GAMMA 1e4
/* Largest error over the largest force. The line has 1024 nodes on 12 sigma: of waves as short as
 * those of a Gaussian its filter leaves 1e-8; what is cut off at 6 sigma is 2e-9. */
#define ALLOWED 1e-6

static double density(double s)
{
    return exp(-0.5 * s * s / (SIGMA * SIGMA)) / SIGMA * 0.3989422804;
}

/* Part of the charge that is ahead of s. */
static double ahead(double s) { return 0.5 * erfc(s / (SIGMA * sqrt(2.0))); }

/* A Gaussian bunch about S of particles at regular distances, x = offset + tilt s. */
static aw_particles *bunch_at(const aw_lattice *lattice, double S, double offset, double tilt)
{
    aw_particles *p = NULL;
    double sum = 0.0;
    assert_ok(aw_particles_new(PARTICLES, CHARGE / PARTICLES, &p));
    assert_ok(aw_particles_extend(p, AW_WITH_WEIGHT));
    for (size_t i = 0; i < p->n; ++i) {
        const double s = 12.0 * SIGMA * (((double)i + 0.5) / PARTICLES - 0.5);
        const aw_orbit_point at = aw_orbit_at(&lattice->orbit, S + s);
        const double x = offset + tilt * s;
        p->s0[i] = s;
        p->x0[i] = x;
        p->z[i] = at.z - x * at.st;
        p->x[i] = at.x + x * at.ct;
        p->pz[i] = GAMMA * at.ct;
        p->px[i] = GAMMA * at.st;
        p->weight[i] = density(s);
        sum += p->weight[i];
    }
    for (size_t i = 0; i < p->n; ++i) p->weight[i] *= PARTICLES / sum;
    return p;
}

static aw_lattice *straight(void)
{
    const aw_element element = drift_of(10.0);
    return machine_of(&element, 1, GAMMA, AW_UPSTREAM_DRIFT);
}

static void add_point(aw_wake_points *points, double at, double value)
{
    assert_ok(aw_wake_points_add(points, at, value));
}

/* h(y) = a + b y, beyond the length of any bunch here. */
static void set_line(aw_wake *wake, aw_wake_term term, double a, double b)
{
    const double end = 20.0 * SIGMA;
    add_point(&wake->term[term].w, 0.0, a);
    add_point(&wake->term[term].w, end, a + b * end);
}

/* Kick a bunch, with beta = 1. @return mean loss [eV] */
static double kick(const aw_lattice *lattice, double S, aw_wake *wake, aw_particles *p)
{
    aw_wake_bunch *b = NULL;
    double loss = 0.0;
    for (int k = 0; k < AW_WAKE_TERMS; ++k) assert_ok(aw_wake_function_finish(&wake->term[k]));
    assert_ok(aw_wake_bunch_new(aw_wake_nodes(p->n), p->n, &b));
    assert_ok(aw_wake_deposit(b, p, &lattice->orbit, S));
    aw_wake_add(b, wake, 1.0);
    assert_ok(aw_wake_kick(b, p, &lattice->orbit, 1.0, &loss));
    aw_wake_bunch_free(b);
    return loss;
}

/* Forces of the closed form on a particle [eV]. */
typedef struct expected {
    double along, across;
} expected;

/* Kick a bunch in a drift and compare each 97th particle with a closed form of s and x. */
static void compare(aw_wake *wake, double offset, double tilt, expected (*form)(double s, double x))
{
    aw_lattice *lattice = straight();
    aw_particles *p = bunch_at(lattice, 3.0, offset, tilt);
    double most[2] = {0.0, 0.0};
    kick(lattice, 3.0, wake, p);
    for (size_t i = 0; i < p->n; ++i) {
        const expected want = form(p->s0[i], p->x0[i]);
        most[0] = fmax(most[0], fabs(want.along));
        most[1] = fmax(most[1], fabs(want.across));
    }
    for (size_t i = 0; i < p->n; i += 97) {
        const expected want = form(p->s0[i], p->x0[i]);
        /* of gamma beta = 1e4 the difference has 1e-12, far below */
        assert_close((p->pz[i] - GAMMA) * AW_ME_EV, want.along, 0.0, ALLOWED * most[0]);
        assert_close(p->px[i] * AW_ME_EV, want.across, 0.0, ALLOWED * most[1] + 1e-20);
    }
    aw_wake_clear(wake);
    aw_particles_free(p);
    aw_lattice_free(lattice);
}

/* ------------------------------------------------------------------------------ along the bunch */

/* A table of a few points, one of which is far beyond the bunch; W(0) is not zero. */
enum { POINTS = 5 };
static const double table_y[POINTS] = {0.0, 0.3 * SIGMA, 1.1 * SIGMA, 4.0 * SIGMA, 15.0 * SIGMA};
static const double table_w[POINTS] = {9e14, 2e14, 5e14, -1e14, 0.0};

/* The integral of (a + b (y - from)) density(s + y) over a part of the table, u = s + y. */
static expected of_table(double s, double x)
{
    double sum = 0.0;
    (void)x;
    for (int k = 0; k + 1 < POINTS; ++k) {
        const double u[2] = {s + table_y[k], s + table_y[k + 1]};
        const double b = (table_w[k + 1] - table_w[k]) / (table_y[k + 1] - table_y[k]);
        sum += (table_w[k] - b * u[0]) * (ahead(u[0]) - ahead(u[1])) -
               b * SIGMA * SIGMA * (density(u[1]) - density(u[0]));
    }
    return (expected){-CHARGE * sum, 0.0};
}

static void a_gaussian_meets_the_convolution_with_the_table(void **state)
{
    aw_wake wake = {.range = NULL};
    (void)state;
    for (int k = 0; k < POINTS; ++k) add_point(&wake.term[AW_WAKE_00].w, table_y[k], table_w[k]);
    compare(&wake, 0.0, 0.0, of_table);
}

#define OHM 150.0
#define HENRY -3e-12
#define PER_FARAD 4e13

static expected of_circuit(double s, double x)
{
    (void)x;
    return (expected){-CHARGE * (PER_FARAD * ahead(s) + OHM * AW_C * density(s) -
                                 HENRY * AW_C * AW_C * s / (SIGMA * SIGMA) * density(s)),
                      0.0};
}

/* Capacitance, resistance and inductance: the charge ahead, the current and its slope. */
static void resistance_inductance_and_capacitance_act_as_such(void **state)
{
    aw_wake wake = {.range = NULL};
    (void)state;
    wake.term[AW_WAKE_00].R = OHM;
    wake.term[AW_WAKE_00].L = HENRY;
    wake.term[AW_WAKE_00].per_C = PER_FARAD;
    compare(&wake, 0.0, 0.0, of_circuit);
}

static expected of_derivative(double s, double x)
{
    (void)x;
    return (expected){-CHARGE * AW_C * (7e5 * ahead(s) + 20.0 * density(s)), 0.0};
}

/* -c d/dy of -20 - 7e5 y, which begins with a jump, is a constant wake and a resistance. */
static void the_derivative_of_a_table_acts(void **state)
{
    aw_wake wake = {.range = NULL};
    (void)state;
    add_point(&wake.term[AW_WAKE_00].w1, 0.0, -20.0);
    add_point(&wake.term[AW_WAKE_00].w1, 20.0 * SIGMA, -20.0 - 7e5 * 20.0 * SIGMA);
    compare(&wake, 0.0, 0.0, of_derivative);
}

/* ----------------------------------------------------------------------------- across the bunch */

#define A 3e20
#define B 5e23

/* Integrals of (A + B y) and of its own integral times the density, ahead of s. */
static double of_line(double s)
{
    return A * ahead(s) + B * (SIGMA * SIGMA * density(s) - s * ahead(s));
}

static double of_integrated_line(double s)
{
    const double square = SIGMA * SIGMA;
    return A * (square * density(s) - s * ahead(s)) +
           0.5 * B * ((square + s * s) * ahead(s) - s * square * density(s));
}

static expected of_offset(double s, double x)
{
    const double along = x + 3.0 * x + 5e3 * (x * x + 4.0 * x * x + 3.0 * x * x);
    const double across = 3.0 + 5e3 * (4.0 * x + 6.0 * x);
    return (expected){-CHARGE * along * of_line(s), CHARGE * across * of_integrated_line(s)};
}

/* All terms, for a bunch that is off the axis as a whole. */
static void all_terms_act_on_a_bunch_off_the_axis(void **state)
{
    aw_wake wake = {.range = NULL};
    (void)state;
    set_line(&wake, AW_WAKE_01, A, B);
    set_line(&wake, AW_WAKE_11, 5e3 * A, 5e3 * B);
    set_line(&wake, AW_WAKE_03, 3.0 * A, 3.0 * B);
    set_line(&wake, AW_WAKE_13, 5e3 * 2.0 * A, 5e3 * 2.0 * B);
    set_line(&wake, AW_WAKE_33, 5e3 * 3.0 * A, 5e3 * 3.0 * B);
    compare(&wake, 2e-4, 0.0, of_offset);
}

#define TILT 0.4

/* x1 = TILT s': the moment is TILT s' lambda(s'), and s' density(s') integrates to the density. */
static expected of_tilt(double s, double x)
{
    const double dipole = 2.0 * CHARGE * A * TILT * SIGMA * SIGMA;
    return (expected){-dipole * x * density(s), dipole * ahead(s)};
}

/* The dipole term of a tilted bunch: what is behind is driven further to the side of what is
 * ahead. */
static void a_tilted_bunch_meets_its_dipole_moment(void **state)
{
    aw_wake wake = {.range = NULL};
    (void)state;
    set_line(&wake, AW_WAKE_13, A, 0.0);
    compare(&wake, 0.0, TILT, of_tilt);
}

/* ---------------------------------------------------------------------------- what always holds */

/* Fundamental theorem of beam loading: of a wake that is constant over the bunch each particle
 * meets half of its own, and so does a lone one; on average the bunch loses half of Q W(0). */
static void a_charge_meets_half_of_its_own_wake(void **state)
{
    aw_lattice *lattice = straight();
    aw_particles *p = bunch_at(lattice, 3.0, 0.0, 0.0), *one = NULL;
    aw_wake wake = {.range = NULL};
    (void)state;
    set_line(&wake, AW_WAKE_00, 4e14, 0.0);
    /* rounding of 1e4 times 0.2 / 511 */
    assert_close(kick(lattice, 3.0, &wake, p), 0.5 * CHARGE * 4e14, 1e-8, 0.0);
    aw_wake_clear(&wake);
    assert_ok(aw_particles_new(1, CHARGE, &one));
    one->z[0] = 3.0;
    one->pz[0] = GAMMA;
    set_line(&wake, AW_WAKE_00, 4e14, 0.0);
    assert_close(kick(lattice, 3.0, &wake, one), 0.5 * CHARGE * 4e14, 1e-8, 0.0);
    /* all of it is on the account of wakes */
    assert_close(one->gamma0[0], -0.5 * CHARGE * 4e14 / AW_ME_EV, 1e-8, 0.0);
    aw_wake_clear(&wake);
    aw_particles_free(one);
    aw_particles_free(p);
    aw_lattice_free(lattice);
}

/* In a bend the force is along the tangent at the particle's own place, and offsets are normal. */
static void in_a_bend_the_kick_follows_the_orbit(void **state)
{
    const aw_element element[2] = {bend_of(5.0, 0.2, 0.0, 0.0), drift_of(1.0)};
    aw_lattice *lattice = machine_of(element, 2, GAMMA, AW_UPSTREAM_DRIFT);
    aw_particles *p = bunch_at(lattice, 2.5, 2e-4, 0.0);
    aw_wake wake = {.range = NULL};
    (void)state;
    set_line(&wake, AW_WAKE_03, A, 0.0);
    kick(lattice, 2.5, &wake, p);
    for (size_t i = 0; i < p->n; i += 97) {
        const double s = p->s0[i];
        const aw_orbit_point at = aw_orbit_at(&lattice->orbit, 2.5 + s);
        const double dz = p->pz[i] - GAMMA * at.ct, dx = p->px[i] - GAMMA * at.st;
        const double along = -CHARGE * 2e-4 * A * ahead(s);
        const double across = CHARGE * A * (SIGMA * SIGMA * density(s) - s * ahead(s));
        assert_close((dz * at.ct + dx * at.st) * AW_ME_EV, along, 0.0, ALLOWED * CHARGE * 2e-4 * A);
        assert_close((dx * at.ct - dz * at.st) * AW_ME_EV, across, 0.0,
                     ALLOWED * CHARGE * A * 6.0 * SIGMA);
    }
    aw_wake_clear(&wake);
    aw_particles_free(p);
    aw_lattice_free(lattice);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    static double first[PARTICLES];
    aw_lattice *lattice = straight();
    const int threads = omp_get_max_threads();
    double loss = 0.0;
    (void)state;
    for (int n = 1; n <= 3; ++n) {
        aw_particles *p = bunch_at(lattice, 3.0, 1e-4, TILT);
        aw_wake wake = {.range = NULL};
        omp_set_num_threads(n);
        set_line(&wake, AW_WAKE_00, 4e14, 1e18);
        set_line(&wake, AW_WAKE_13, A, 0.0);
        const double now = kick(lattice, 3.0, &wake, p);
        if (n == 1) memcpy(first, p->pz, sizeof first);
        if (n == 1) loss = now;
        assert_memory_equal(first, p->pz, sizeof first);
        assert_memory_equal(&loss, &now, sizeof now);
        aw_wake_clear(&wake);
        aw_particles_free(p);
    }
    omp_set_num_threads(threads);
    aw_lattice_free(lattice);
}

/* Parts of a range add up to it, wherever they are cut; what acts at a place acts once. */
static void the_parts_of_a_range_add_up(void **state)
{
    aw_wake_range range[] = {{1.0, 3.0, 0.5}, {4.0, 4.0, 1.0}, {4.5, 4.75, 4.0}};
    const aw_wake wake = {.range = range, .ranges = 3};
    double sum = 0.0;
    (void)state;
    assert_close(aw_wake_amount(&wake, 0.0, 1.0), 0.0, 0.0, 0.0);
    assert_close(aw_wake_amount(&wake, 1.5, 2.0), 0.25, 1e-15, 0.0);
    assert_close(aw_wake_amount(&wake, 3.5, 4.0), 1.0, 0.0, 0.0);
    assert_close(aw_wake_amount(&wake, 4.0, 4.5), 0.0, 0.0, 0.0);
    for (int i = 0; i < 70; ++i) sum += aw_wake_amount(&wake, 0.1 * i, 0.1 * (i + 1));
    assert_close(sum, 3.0, 1e-14, 0.0); /* of 70 terms */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gaussian_meets_the_convolution_with_the_table),
        cmocka_unit_test(resistance_inductance_and_capacitance_act_as_such),
        cmocka_unit_test(the_derivative_of_a_table_acts),
        cmocka_unit_test(all_terms_act_on_a_bunch_off_the_axis),
        cmocka_unit_test(a_tilted_bunch_meets_its_dipole_moment),
        cmocka_unit_test(a_charge_meets_half_of_its_own_wake),
        cmocka_unit_test(in_a_bend_the_kick_follows_the_orbit),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(the_parts_of_a_range_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
