/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Optics with cavities: the longitudinal map against closed forms, and the expected sizes of a
 * bunch against those of a tracked one. */
#include <math.h>

#include "pic/push.h"
#include "pic/stats.h"
#include "src/base/units.h"
#include "src/plan/optics.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

#define GAMMA 978.0
#define ENERGY (GAMMA * AW_ME_EV)
#define FREQUENCY 2.856e9
#define WAVE (2.0 * AW_PI * FREQUENCY / AW_C)
#define VOLTAGE 83.5e6
#define ANGLE 0.1
/* Index of the cavity, of the last bend of the chicane, and of the last cavity. */
enum { CAVITY = 1, CHICANE_END = 9, LAST = 10, ELEMENTS = 12 };

static aw_element cavity_of(double voltage, double phase)
{
    return (aw_element){
        .kind = AW_CAVITY, .name = "cavity", .length = 0.6, .rf = {voltage, FREQUENCY, phase}};
}

/* A cavity at a zero crossing, a chicane, and another cavity. */
static aw_lattice *machine(double voltage, double behind)
{
    const aw_element e[ELEMENTS] = {drift_of(0.2),           cavity_of(voltage, -0.25),
                                    drift_of(0.3),           bend_of(0.5, ANGLE, 0.0, ANGLE),
                                    drift_of(1.0),           bend_of(0.5, -ANGLE, -ANGLE, 0.0),
                                    drift_of(0.5),           bend_of(0.5, -ANGLE, 0.0, -ANGLE),
                                    drift_of(1.0),           bend_of(0.5, ANGLE, ANGLE, 0.0),
                                    cavity_of(behind, 0.25), drift_of(0.5)};
    return machine_of(e, ELEMENTS, GAMMA, AW_UPSTREAM_DRIFT);
}

static aw_beam_params beam_of(double chirp, double spread)
{
    return (aw_beam_params){.charge = 1e-9,
                            .gamma = GAMMA,
                            .particles = 20000,
                            .seed = 1,
                            .quiet = 1,
                            .cutoff_sigma = 5.0,
                            .sigma_s = 200e-6,
                            .sigma_x = 100e-6,
                            .emittance = 1e-9,
                            .beta_x = 10.0,
                            .alpha_x = 1.0,
                            .energy_spread = spread,
                            .chirp = chirp};
}

static aw_optics *optics_of(const aw_lattice *lattice, const aw_beam_params *beam)
{
    aw_optics *optics = NULL;
    assert_ok(aw_optics_new(lattice, beam, 0, &optics));
    return optics;
}

/* The point at the end of an element. */
static const aw_optics_point *end_of(const aw_optics *optics, size_t element)
{
    for (size_t i = 0; i < optics->n; ++i)
        if (optics->point[i].end && optics->point[i].element == element) return &optics->point[i];
    fail();
    return NULL;
}

/* Linear part of a cavity and a chicane one behind the other, each of which is known: R56 of the
 * chicane from the same machine without voltage. */
static void maps_compose(void **state)
{
    const double h = 7.0, R65 = -WAVE * VOLTAGE / ENERGY;
    const aw_beam_params beam = beam_of(h, 1e-5);
    aw_lattice *with = machine(VOLTAGE, 0.0), *without = machine(0.0, 0.0);
    aw_optics *a = optics_of(with, &beam), *b = optics_of(without, &beam);
    const aw_optics_point *cavity = end_of(a, CAVITY), *end = end_of(a, CHICANE_END);
    const aw_optics_point *plain = end_of(b, CHICANE_END);
    const double to_cavity = -0.5 / (GAMMA * GAMMA - 1.0); /* R56 of the way to its centre */
    const double R56 = plain->R56 - to_cavity, T566 = plain->T566;
    (void)state;
    /* a hundredth of (WAVE sigma_s)^2/6 = 2.4e-5; s is the distance, t = s/(beta c): 5e-7 */
    assert_close(cavity->R65, R65, 2e-6, 0.0);
    assert_close(cavity->R55, 1.0, 0.0, 1e-5); /* R56 R65 of half the cavity */
    /* R56 of 0.6 m of drift, 8e-7, times the squares of h and R65 */
    assert_close(aw_optics_chirp(cavity, &beam), h + R65, 0.0, 1e-4);
    /* to first order R56 R65 of the way to the cavity, 5e-6 */
    assert_close(end->R66, 1.0 - to_cavity * R65, 1e-7, 0.0);
    assert_close(end->R55, 1.0 - R56 * R65, 2e-6, 0.0);
    assert_close(end->R56, to_cavity + R56 * end->R66, 2e-6, 0.0);
    assert_close(end->compression, end->R55 - h * end->R56, 1e-15, 0.0);
    /* the kick is odd in s; T566 R65^2 by differences of 20 um: rounding 1e-15/4e-10 */
    assert_close(end->T555, T566 * R65 * R65, 1e-4, 1e-5);
    assert_close(end->T556, 2.0 * T566 * R65, 1e-4, 1e-6);
    assert_close(end->R15, 0.0, 0.0, 1e-7); /* no dispersion behind the chicane */
    assert_close(end_of(a, CHICANE_END - 4)->R15, R65 * end_of(b, CHICANE_END - 4)->R16, 1e-5, 0.0);
    /* without voltage only s depends on s */
    assert_true(plain->R55 == 1.0 && plain->R65 == 0.0 && plain->T555 == 0.0);
    aw_optics_free(a);
    aw_optics_free(b);
    aw_lattice_free(with);
    aw_lattice_free(without);
}

/* A cavity behind the chicane takes the chirp away that the first one gave. */
static void a_dechirper_leaves_no_chirp(void **state)
{
    const aw_beam_params beam = beam_of(0.0, 1e-5);
    aw_lattice *first = machine(VOLTAGE, 0.0);
    aw_optics *one = optics_of(first, &beam);
    const double left = aw_optics_chirp(end_of(one, CHICANE_END), &beam);
    aw_lattice *both = machine(VOLTAGE, -left * ENERGY / WAVE);
    aw_optics *two = optics_of(both, &beam);
    (void)state;
    assert_true(left < -10.0);
    /* the bunch's phase in a cavity as above, and R56 of the drift between them and the point */
    assert_close(aw_optics_chirp(end_of(two, LAST), &beam) / left, 0.0, 0.0, 1e-5);
    assert_close(end_of(two, LAST)->sigma_s, end_of(two, CHICANE_END)->sigma_s, 1e-4, 0.0);
    aw_optics_free(one);
    aw_optics_free(two);
    aw_lattice_free(first);
    aw_lattice_free(both);
}

static void sizes_are_those_of_a_tracked_bunch(void **state)
{
    static const double chirp[] = {0.0, 5.0, -6.0};
    (void)state;
    for (int k = 0; k < 3; ++k) {
        const aw_beam_params beam = beam_of(chirp[k], k == 1 ? 3e-4 : 1e-5);
        aw_lattice *lattice = machine(VOLTAGE, 50e6);
        aw_optics *optics = optics_of(lattice, &beam);
        for (size_t i = 0; i < optics->n; ++i) {
            const aw_optics_point *p = &optics->point[i];
            aw_particles *tracked = NULL;
            aw_beam_stats stats;
            assert_ok(aw_particles_draw(&beam, &tracked));
            assert_ok(aw_push_place(lattice, tracked));
            assert_ok(aw_push_transport(lattice, tracked, p->S * GAMMA / lattice->p_ref));
            assert_ok(aw_beam_stats_of(tracked, &lattice->orbit, p->S, GAMMA, &stats));
            /* third order, 1e-4, and sampling of 20000 quiet particles, 1e-3; in the bends the
             * planes of the particles are not that of the point: x delta of 1e-2 */
            assert_close(p->sigma_s, stats.sigma_s, 2e-3, 0.0);
            assert_close(p->sigma_x, stats.sigma_x, 1e-2, 0.0);
            aw_particles_free(tracked);
        }
        assert_true(optics->point[optics->n - 1].compression < 0.9 * beam.sigma_s / 200e-6);
        aw_optics_free(optics);
        aw_lattice_free(lattice);
    }
}

/* A beam of another energy than the reference slips: the phase is that of the reference. */
static void a_slow_beam_meets_a_later_phase(void **state)
{
    aw_beam_params beam = beam_of(0.0, 1e-5);
    const aw_element e[] = {drift_of(50.0), cavity_of(1e5, -0.25), drift_of(1.0)};
    aw_lattice *lattice = machine_of(e, 3, 20.0, AW_UPSTREAM_DRIFT);
    (void)state;
    beam.gamma = 19.0;
    aw_optics *optics = optics_of(lattice, &beam);
    aw_particles *p = particle_at(lattice, 0.0, 0.0, 0.0, sqrt(19.0 * 19.0 - 1.0));
    const double late = 50.3 * (19.0 / sqrt(360.0) - 20.0 / sqrt(399.0));
    const double R65 = -WAVE * 1e5 * cos(WAVE * late) / (19.0 * AW_ME_EV) / sqrt(360.0) * 19.0;
    assert_ok(aw_push_transport(lattice, p, 51.0));
    assert_close(hypot(1.0, momentum_of(p, 0)), 19.0 + 1e5 / AW_ME_EV * sin(WAVE * late), 1e-12,
                 0.0); /* rounding of 50 m in the phase */
    assert_close(optics->point[optics->n - 1].R65, R65, 1e-6, 0.0);
    aw_particles_free(p);
    aw_optics_free(optics);
    aw_lattice_free(lattice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_compose),
        cmocka_unit_test(a_dechirper_leaves_no_chirp),
        cmocka_unit_test(sizes_are_those_of_a_tracked_bunch),
        cmocka_unit_test(a_slow_beam_meets_a_later_phase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
