/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Incoherent synchrotron radiation: loss and spread against closed forms, the order of the step,
 * and random numbers that depend on particle and step alone. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "pic/push.h"
#include "pic/stats.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

#define GAMMA (5e9 / AW_ME_EV)

/* The constants of the two laws, from the elementary ones: r_e = e^2/(4 pi eps0 m c^2),
 * lambda_C = hbar/(m c); they agree with those of units.h to the digits of CODATA, 1e-9. */
#define RE (AW_K_COULOMB * AW_E / AW_ME_EV)
#define COMPTON (6.62607015e-34 / (2.0 * AW_PI) / (AW_ME * AW_C))
#define CONSTANTS 2e-9

/* Particles of one place and momentum, which radiate. */
static aw_particles *beam_of(const aw_lattice *lattice, size_t n, double x, double p, aw_isr isr)
{
    aw_particles *all = NULL;
    assert_ok(aw_particles_new(n, 1e-15, &all));
    assert_ok(aw_particles_extend(all, AW_WITH_RADIATED));
    for (size_t i = 0; i < n; ++i) {
        all->x[i] = x;
        all->pz[i] = p;
        all->gamma0[i] = hypot(1.0, p);
    }
    all->radiation = (aw_radiation){.isr = isr, .seed = 11};
    assert_ok(aw_push_locate(lattice, all));
    return all;
}

static void transport(const aw_lattice *lattice, aw_particles *p, double cdt, int steps)
{
    for (int k = 0; k < steps; ++k) {
        assert_ok(aw_push_transport(lattice, p, cdt / steps));
        p->radiation.step++;
    }
}

static double gamma_of(const aw_particles *p, size_t i) { return hypot(1.0, momentum_of(p, i)); }

/* In a uniform field dgamma/ds = -(2/3) r_e kappa^2 gamma^4 (gamma_0/gamma)^2 but for 1/gamma^2:
 * gamma_0/(1 + loss/gamma_0) with the loss at constant energy. */
static void a_bend_takes_what_the_formula_says(void **state)
{
    const double length = 0.5, radius = 10.0;
    const aw_element e[] = {drift_of(0.2), bend_of(length, length / radius, 0.0, 0.0),
                            drift_of(1.0)};
    aw_lattice *lat = machine_of(e, 3, GAMMA, AW_UPSTREAM_DRIFT);
    (void)state;
    for (int steps = 1; steps <= 100; steps *= 10) {
        aw_particles *p = beam_of(lat, 1, 0.0, lat->p_ref, AW_ISR_MEAN);
        const double loss = 2.0 / 3.0 * RE * pow(GAMMA, 4) * length / (radius * radius);
        transport(lat, p, 1.0, steps);
        /* 1/gamma^2, 1e-8, and a path that the loss, 1e-5, makes longer or shorter by its part of
         * the angle's square, 2.5e-3/6 */
        assert_close(p->radiated[0], loss / (1.0 + loss / GAMMA), CONSTANTS + 3e-8, 0.0);
        /* rounding of gamma at each step */
        assert_close(GAMMA - gamma_of(p, 0), p->radiated[0], 0.0, 100 * 2e-12);
        assert_close(p->gamma0[0], gamma_of(p, 0), 0.0, 100 * 2e-12);
        aw_particles_free(p);
    }
    aw_lattice_free(lat);
}

/* Behind a path in a bend in which a fiftieth of the energy is lost: half the step, a quarter of
 * the error of the place. In a uniform field 1/gamma is linear in the path, and so is the
 * curvature: its integral, the angle, has no error. */
static void the_step_is_of_second_order(void **state)
{
    const aw_element e[] = {bend_of(1.5, 0.15, 0.0, 0.0)};
    aw_lattice *lat = machine_of(e, 1, 1e5, AW_UPSTREAM_DRIFT);
    double x[4], angle[4], gamma[4];
    (void)state;
    for (int k = 0; k < 4; ++k) {
        aw_particles *p = beam_of(lat, 1, 0.0, lat->p_ref, AW_ISR_MEAN);
        transport(lat, p, 1.0, k < 3 ? 4 << k : 1024);
        x[k] = p->x[0];
        angle[k] = atan2(p->px[0], p->pz[0]);
        gamma[k] = gamma_of(p, 0);
        aw_particles_free(p);
    }
    assert_true(gamma[3] < 0.985e5);
    for (int k = 0; k < 2; ++k) {
        /* the next order is a step's share of the loss, 5e-3 */
        assert_close((x[k] - x[3]) / (x[k + 1] - x[3]), 4.0, 0.02, 0.0);
    }
    assert_close(angle[0], angle[3], 0.0, 1e-13); /* roundings of 1024 steps */
    /* the loss is solved for: what is left is 1/gamma^2 of it */
    assert_close(gamma[0], gamma[3], 1e-11, 0.0);
    aw_lattice_free(lat);
}

static void a_drift_takes_nothing(void **state)
{
    const aw_element e[] = {drift_of(3.0)};
    aw_lattice *lat = machine_of(e, 1, GAMMA, AW_UPSTREAM_DRIFT);
    aw_particles *p = beam_of(lat, 7, 1e-3, lat->p_ref, AW_ISR_FULL);
    (void)state;
    transport(lat, p, 2.0, 5);
    for (size_t i = 0; i < p->n; ++i) {
        assert_true(p->radiated[i] == 0.0);
        assert_true(p->pz[i] == lat->p_ref);
    }
    aw_particles_free(p);
    aw_lattice_free(lat);
}

/* x = x0 cos(ks) with the curvature k^2 x in it. */
static void a_quadrupole_bends_off_its_axis(void **state)
{
    const double k1 = 4.0, k = 2.0, x0 = 1e-3, length = 0.3;
    const aw_element e[] = {drift_of(0.1), quadrupole_of(length, k1), drift_of(1.0)};
    aw_lattice *lat = machine_of(e, 3, GAMMA, AW_UPSTREAM_DRIFT);
    const double square = k1 * k1 * x0 * x0 * (0.5 * length + sin(2.0 * k * length) / (4.0 * k));
    const double loss = 2.0 / 3.0 * RE * pow(GAMMA, 4) * square;
    (void)state;
    for (int steps = 1; steps <= 64; steps *= 8) {
        aw_particles *p = beam_of(lat, 1, x0, lat->p_ref, AW_ISR_MEAN);
        transport(lat, p, 0.8, steps);
        /* slopes up to 2e-3 k: their squares, 1.3e-6 at the exit, count a sixth in the mean */
        assert_close(p->radiated[0], loss, 3e-7, 0.0);
        aw_particles_free(p);
    }
    aw_lattice_free(lat);
}

/* A gradient in a bend adds to its curvature. */
static void a_gradient_adds_to_the_bend(void **state)
{
    const double radius = 8.0, length = 1e-2, k1 = -30.0, x0 = 1e-3;
    aw_element e[] = {bend_of(length, length / radius, 0.0, 0.0), drift_of(1.0)};
    e[0].strength[1] = k1;
    aw_lattice *lat = machine_of(e, 2, GAMMA, AW_UPSTREAM_DRIFT);
    aw_particles *p = beam_of(lat, 1, x0, lat->p_ref, AW_ISR_MEAN);
    const double curvature = 1.0 / radius + k1 * x0;
    (void)state;
    transport(lat, p, 0.1, 1);
    const double loss =
        2.0 / 3.0 * RE * pow(GAMMA, 4) * curvature * curvature * length * (1.0 + x0 / radius);
    /* x changes by (k1 x0 + ..) length^2/2, 1.5e-6 of 1e-3, a third of that in the mean, of which
     * twice k1 x0/curvature, 0.6, counts */
    assert_close(p->radiated[0], loss, 1e-3, 0.0);
    aw_particles_free(p);
    aw_lattice_free(lat);
}

/* Mean and variance of many particles in a few steps. */
static void the_spread_is_that_of_the_formula(void **state)
{
    enum { N = 40000 };
    const double length = 0.5, radius = 10.0;
    const aw_element e[] = {bend_of(length, length / radius, 0.0, 0.0), drift_of(1.0)};
    aw_lattice *lat = machine_of(e, 2, GAMMA, AW_UPSTREAM_DRIFT);
    aw_particles *p = beam_of(lat, N, 0.0, lat->p_ref, AW_ISR_FULL);
    const double mean = 2.0 / 3.0 * RE * pow(GAMMA, 4) * length / (radius * radius);
    const double rms =
        sqrt(55.0 / (24.0 * sqrt(3.0)) * RE * COMPTON * pow(GAMMA, 7) * length / pow(radius, 3));
    double first = 0.0, second = 0.0, third = 0.0, fourth = 0.0;
    aw_beam_stats stats;
    (void)state;
    transport(lat, p, 1.0, 20);
    for (size_t i = 0; i < N; ++i) first += p->radiated[i] / N;
    for (size_t i = 0; i < N; ++i) {
        const double d = (p->radiated[i] - first) / rms, square = d * d;
        second += square / N;
        third += d * square / N;
        fourth += square * square / N;
    }
    /* four standard deviations of each estimate from N numbers of a normal distribution */
    assert_close(first, mean, 0.0, 4.0 * rms / sqrt(N));
    assert_close(second, 1.0, 0.0, 4.0 * sqrt(2.0 / N));
    assert_close(third, 0.0, 0.0, 4.0 * sqrt(15.0 / N));
    assert_close(fourth, 3.0, 0.0, 4.0 * sqrt(96.0 / N));
    assert_ok(aw_beam_stats_of(p, &lat->orbit, 1.0, GAMMA, &stats));
    assert_close(stats.isr_mean, AW_ME_EV * first, 1e-12, 0.0); /* sums of another order */
    assert_close(stats.isr_rms, AW_ME_EV * rms * sqrt(second), 1e-9, 0.0);
    assert_close(stats.energy_mean, 0.0, 0.0, 20 * 1e-6); /* rounding of gamma, 2e-12 me */
    aw_particles_free(p);
    aw_lattice_free(lat);
}

/* One step over drift, bends and quadrupole, against many: the integral along the path is that of
 * each region. What differs is the place of the loss. */
static void one_long_step_takes_as_much_as_many_short_ones(void **state)
{
    const aw_element e[] = {
        drift_of(0.11),          bend_of(0.2, 0.02, 0.0, 0.02),   drift_of(0.13),
        quadrupole_of(0.1, 3.0), bend_of(0.3, -0.04, -0.04, 0.0), drift_of(1.0)};
    aw_lattice *lat = machine_of(e, 6, GAMMA, AW_UPSTREAM_DRIFT);
    aw_particles *one = beam_of(lat, 1, 1e-3, lat->p_ref, AW_ISR_MEAN);
    aw_particles *many = beam_of(lat, 1, 1e-3, lat->p_ref, AW_ISR_MEAN);
    (void)state;
    transport(lat, one, 1.2, 1);
    transport(lat, many, 1.2, 977);
    /* the loss of energy, 1e-5, in the loss itself */
    assert_close(one->radiated[0], many->radiated[0], 2e-5, 0.0);
    assert_true(many->radiated[0] > 1e-3);
    aw_particles_free(one);
    aw_particles_free(many);
    aw_lattice_free(lat);
}

static aw_lattice *winding(void)
{
    const aw_element e[] = {drift_of(0.1), bend_of(0.3, 0.05, 0.02, 0.03), quadrupole_of(0.1, 2.0),
                            bend_of(0.3, -0.05, 0.0, 0.0), drift_of(1.0)};
    return machine_of(e, 5, GAMMA, AW_UPSTREAM_DRIFT);
}

static void assert_same_particle(const aw_particles *a, size_t i, const aw_particles *b, size_t k)
{
    const double x[] = {a->z[i], a->x[i], a->pz[i], a->px[i], a->gamma0[i], a->radiated[i]};
    const double y[] = {b->z[k], b->x[k], b->pz[k], b->px[k], b->gamma0[k], b->radiated[k]};
    assert_memory_equal(x, y, sizeof x);
}

/* Any number of threads, a part of the beam on its own, and a run that goes on from a step give the
 * same bits; another seed does not. */
static void numbers_depend_on_particle_and_step_alone(void **state)
{
    enum { N = 5000, FIRST = 1234, PART = 77 };
    aw_lattice *lat = winding();
    aw_particles *all[2], *part = beam_of(lat, PART, 1e-4, lat->p_ref, AW_ISR_FULL);
    aw_particles *other = beam_of(lat, PART, 1e-4, lat->p_ref, AW_ISR_FULL);
    const int threads = omp_get_max_threads();
    int same = 0;
    (void)state;
    for (int k = 0; k < 2; ++k) {
        omp_set_num_threads(k + 1);
        all[k] = beam_of(lat, N, 1e-4, lat->p_ref, AW_ISR_FULL);
        transport(lat, all[k], 1.0, 25);
    }
    omp_set_num_threads(threads);
    part->radiation.first = FIRST;
    other->radiation.seed = 12;
    transport(lat, part, 1.0, 25);
    transport(lat, other, 1.0, 25);
    for (size_t i = 0; i < N; ++i) assert_same_particle(all[0], i, all[1], i);
    for (size_t i = 0; i < PART; ++i) {
        assert_same_particle(part, i, all[0], FIRST + i);
        same += other->radiated[i] == all[0]->radiated[i];
    }
    assert_int_equal(same, 0);
    aw_particles_free(all[0]);
    aw_particles_free(all[1]);
    aw_particles_free(part);
    aw_particles_free(other);
    aw_lattice_free(lat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bend_takes_what_the_formula_says),
        cmocka_unit_test(the_step_is_of_second_order),
        cmocka_unit_test(a_drift_takes_nothing),
        cmocka_unit_test(a_quadrupole_bends_off_its_axis),
        cmocka_unit_test(a_gradient_adds_to_the_bend),
        cmocka_unit_test(the_spread_is_that_of_the_formula),
        cmocka_unit_test(one_long_step_takes_as_much_as_many_short_ones),
        cmocka_unit_test(numbers_depend_on_particle_and_step_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
