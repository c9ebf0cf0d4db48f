/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cavities that leave the energy of the reference: the kick, its time, its symplecticity, and what
 * a chicane behind one does to a bunch. */
#include <math.h>
#include <string.h>

#include "pic/push.h"
#include "pic/stats.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

#define GAMMA 978.0
#define ENERGY (GAMMA * AW_ME_EV)
#define FREQUENCY 2.856e9
#define WAVE (2.0 * AW_PI * FREQUENCY / AW_C)

static aw_element cavity_of(double length, double voltage, double phase)
{
    return (aw_element){
        .kind = AW_CAVITY, .name = "cavity", .length = length, .rf = {voltage, FREQUENCY, phase}};
}

static double gamma_of(const aw_particles *p) { return hypot(1.0, momentum_of(p, 0)); }

/* A particle that starts at -z ahead of a cavity arrives at its centre by a time that its speed and
 * its straight line give; the reference, by its own. */
static void a_particle_gains_V_cos(void **state)
{
    const double voltage = 7e6, length = 0.6, before = 0.4;
    (void)state;
    for (int k = 0; k < 24; ++k) {
        const double phase = 0.25 * (k % 4) + 0.01 * k, z = 3e-3 * (k - 12), slope = 1e-3 * (k % 5);
        const aw_element e[] = {drift_of(before), cavity_of(k % 3 ? length : 0.0, voltage, phase),
                                drift_of(2.0)};
        const double centre = before + 0.5 * e[1].length;
        aw_lattice *lat = machine_of(e, 3, GAMMA, AW_UPSTREAM_DRIFT);
        const double p0 = lat->p_ref * (1.0 + 0.003 * (k % 7));
        aw_particles *p = particle_at(lat, z, 1e-3, slope, p0);
        const double path = (centre - z) * sqrt(1.0 + slope * slope);
        const double late = path * hypot(1.0, p0) / p0 - centre * GAMMA / lat->p_ref;
        const double gain = voltage * cos(WAVE * late + 2.0 * AW_PI * phase) / AW_ME_EV;
        const double gamma = hypot(1.0, p0), px = p->px[0], pz = p->pz[0];
        assert_ok(aw_push_transport(lat, p, 1.3));
        /* rounding of gamma, 1e-13, and of 1 m in the phase: 60e-16 of 14 */
        assert_close(gamma_of(p), gamma + gain, 0.0, 3e-12);
        assert_close(p->gamma0[0], gain, 0.0, 1e-12); /* it was 0: the gain alone */
        assert_close(p->px[0], px, 1e-15, 0.0);       /* across there is no field */
        /* |p| becomes that of the energy, and the rest of the time is spent at the new speed */
        const double onward = sqrt(pz * pz + gain * (2.0 * gamma + gain));
        const double left = 1.3 - path * gamma / p0;
        assert_close(p->pz[0], onward, 1e-14, 0.0);
        assert_close(p->z[0], centre + left * onward / (gamma + gain), 0.0, 3e-15);
        aw_particles_free(p);
        aw_lattice_free(lat);
    }
}

/* Phase -0.25: the head has the lower energy, +0.25: the higher, by 2 pi f V/(c E) per length. */
static void the_sign_of_the_phase_is_that_of_the_chirp(void **state)
{
    const double voltage = 50e6, s = 1e-6;
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        const aw_element e[] = {drift_of(0.3), cavity_of(0.2, voltage, 0.25 * sign), drift_of(1.0)};
        aw_lattice *lat = machine_of(e, 3, GAMMA, AW_UPSTREAM_DRIFT);
        double delta[2];
        for (int k = 0; k < 2; ++k) {
            aw_particles *p = particle_at(lat, k ? s : -s, 0.0, 0.0, lat->p_ref);
            assert_ok(aw_push_transport(lat, p, 1.0));
            delta[k] = gamma_of(p) / GAMMA - 1.0;
            aw_particles_free(p);
        }
        /* s/c ahead in time is s/beta: 5e-7; the sine 6e-10; rounding of delta, 1e-15 over 1e-5 */
        assert_close((delta[1] - delta[0]) / (2.0 * s), sign * WAVE * voltage / ENERGY, 1e-6, 0.0);
        assert_close(delta[0] + delta[1], 0.0, 0.0, 1e-12);
        aw_lattice_free(lat);
    }
}

/* The time comes from the particles' clock, so that steps of any length meet the same phase, and a
 * cavity cut in two equal drifts about it is the same as one with a length. */
static void one_long_step_equals_many_short_ones(void **state)
{
    const aw_element e[] = {
        drift_of(0.3),           cavity_of(0.2, 40e6, -0.25), bend_of(0.2, 0.1, 0.0, 0.0),
        quadrupole_of(0.1, 2.0), cavity_of(0.0, 30e6, 0.25),  drift_of(1.0)};
    const aw_element cut[] = {drift_of(0.4),
                              cavity_of(0.0, 40e6, -0.25),
                              drift_of(0.1),
                              bend_of(0.2, 0.1, 0.0, 0.0),
                              quadrupole_of(0.1, 2.0),
                              cavity_of(0.0, 30e6, 0.25),
                              drift_of(1.0)};
    aw_lattice *lat = machine_of(e, 6, GAMMA, AW_UPSTREAM_DRIFT);
    aw_lattice *other = machine_of(cut, 7, GAMMA, AW_UPSTREAM_DRIFT);
    (void)state;
    for (int k = -2; k <= 2; ++k) {
        const double p0 = lat->p_ref * (1.0 + 0.01 * k), z = 2e-3 * k - 5e-3;
        aw_particles *one = particle_at(lat, z, 1e-3 * k, 1e-3, p0);
        aw_particles *many = particle_at(lat, z, 1e-3 * k, 1e-3, p0);
        aw_particles *same = particle_at(other, z, 1e-3 * k, 1e-3, p0);
        assert_ok(aw_push_transport(lat, one, 1.4));
        assert_ok(aw_push_transport(other, same, 1.4));
        for (int i = 0; i < 700; ++i) assert_ok(aw_push_transport(lat, many, 2e-3));
        /* 700 roundings of 1 m and of the momentum, and substeps in the quadrupole */
        assert_close(many->z[0], one->z[0], 0.0, 1e-12);
        assert_close(many->x[0], one->x[0], 0.0, 1e-12);
        assert_close(many->pz[0], one->pz[0], 1e-12, 0.0);
        assert_close(many->ct, 1.4, 1e-13, 0.0);
        assert_close(same->z[0], one->z[0], 0.0, 3e-15); /* a few roundings */
        assert_close(same->pz[0], one->pz[0], 1e-14, 0.0);
        aw_particles_free(one);
        aw_particles_free(many);
        aw_particles_free(same);
    }
    aw_lattice_free(lat);
    aw_lattice_free(other);
}

/* Canonical coordinates z, pz, x, px at a time behind the cavity, from those at time 0. */
static void map_of(const aw_lattice *lat, const double from[4], double to[4])
{
    aw_particles *p = particle_at(lat, 0.0, 0.0, 0.0, 1.0);
    p->z[0] = from[0];
    p->pz[0] = from[1];
    p->x[0] = from[2];
    p->px[0] = from[3];
    assert_ok(aw_push_transport(lat, p, 1.0));
    to[0] = p->z[0];
    to[1] = p->pz[0];
    to[2] = p->x[0];
    to[3] = p->px[0];
    aw_particles_free(p);
}

/* The field depends on time and z alone: M^T J M = J for the Jacobian M of the map in time. */
static void the_map_is_symplectic(void **state)
{
    const aw_element e[] = {drift_of(0.3), cavity_of(0.2, 40e6, -0.2), drift_of(2.0)};
    /* pz and px are of order GAMMA: steps that balance rounding and the third derivative */
    const double step[4] = {1e-5, 1e-3, 1e-5, 1e-3};
    aw_lattice *lat = machine_of(e, 3, 30.0, AW_UPSTREAM_DRIFT);
    const double start[4] = {-4e-3, 30.0, 1e-3, 0.3};
    double M[4][4];
    (void)state;
    for (int j = 0; j < 4; ++j) {
        double up[4], down[4], to[2][4];
        memcpy(up, start, sizeof up);
        memcpy(down, start, sizeof down);
        up[j] += step[j];
        down[j] -= step[j];
        map_of(lat, up, to[0]);
        map_of(lat, down, to[1]);
        for (int i = 0; i < 4; ++i) M[i][j] = (to[0][i] - to[1][i]) / (2.0 * step[j]);
    }
    assert_true(fabs(M[1][0]) > 100.0); /* the cavity is there: 2 pi f V/(m c^3) is 4700 /m */
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) {
            double form = 0.0;
            for (int k = 0; k < 4; k += 2) form += M[k][a] * M[k + 1][b] - M[k + 1][a] * M[k][b];
            const double want = a % 2 == 0 && b == a + 1   ? 1.0
                                : b % 2 == 0 && a == b + 1 ? -1.0
                                                           : 0.0;
            /* (WAVE step)^2/6 = 6e-8 of entries of 1e3 whose products cancel */
            assert_close(form, want, 0.0, 2e-4);
        }
    aw_lattice_free(lat);
}

/* A chicane behind a thin cavity at the start of the bunch, and the same with that chirp in the
 * beam. The bunch crosses the cavity within its own length, so that only the sine, (WAVE s)^2/6,
 * and the R56 of that length, 1e-10, differ. */
static void a_chicane_compresses_as_with_the_chirp_of_the_beam(void **state)
{
    const aw_beam_params plain = {.charge = 1e-9,
                                  .gamma = GAMMA,
                                  .particles = 4000,
                                  .seed = 1,
                                  .quiet = 1,
                                  .cutoff_sigma = 4.0,
                                  .sigma_s = 200e-6,
                                  .sigma_x = 50e-6,
                                  .energy_spread = 1e-5};
    const double voltage = 83.5e6, angle = 0.1, h = -WAVE * voltage / ENERGY;
    const aw_element e[] = {cavity_of(0.0, voltage, -0.25),
                            bend_of(0.5, angle, 0.0, angle),
                            drift_of(1.0),
                            bend_of(0.5, -angle, -angle, 0.0),
                            drift_of(0.5),
                            bend_of(0.5, -angle, 0.0, -angle),
                            drift_of(1.0),
                            bend_of(0.5, angle, angle, 0.0),
                            drift_of(0.5)};
    aw_lattice *with = machine_of(e, 9, GAMMA, AW_UPSTREAM_DRIFT);
    aw_lattice *without = machine_of(e + 1, 8, GAMMA, AW_UPSTREAM_DRIFT);
    const aw_lattice *const lattice[] = {with, without};
    aw_beam_stats stats[2];
    (void)state;
    for (int k = 0; k < 2; ++k) {
        aw_beam_params beam = plain;
        aw_particles *p = NULL;
        if (k) beam.chirp = h;
        assert_ok(aw_particles_draw(&beam, &p));
        assert_ok(aw_push_place(lattice[k], p));
        const double cdt = with->length * GAMMA / with->p_ref;
        for (int i = 0; i < 10; ++i) assert_ok(aw_push_transport(lattice[k], p, 0.1 * cdt));
        assert_ok(aw_beam_stats_of(p, &lattice[k]->orbit, with->length, GAMMA, &stats[k]));
        aw_particles_free(p);
    }
    assert_true(stats[0].sigma_s < 0.8 * plain.sigma_s);
    /* the sine takes (WAVE sigma_s)^2/2 = 7e-5 off the chirp, a third of which is compression */
    assert_close(stats[0].sigma_s, stats[1].sigma_s, 1e-4, 0.0);
    /* the change of the energy that a run reports is not the cavity's; rounding of gamma */
    assert_close(stats[0].energy_rms, 0.0, 0.0, 1e-13 * ENERGY);
    assert_close(stats[0].energy_mean, 0.0, 0.0, 1e-13 * ENERGY);
    aw_lattice_free(with);
    aw_lattice_free(without);
}

/* A start behind the centre leaves the cavity out, one at it does not; none within it. */
static void a_bunch_starts_before_or_behind_a_cavity(void **state)
{
    const aw_element e[] = {drift_of(0.3), cavity_of(0.2, 40e6, -0.25), drift_of(1.0)};
    const aw_element thin[] = {drift_of(0.4), cavity_of(0.0, 40e6, -0.25), drift_of(1.1)};
    const struct {
        const aw_element *e;
        double S;
        int rf; /* -1: refused */
    } start[] = {{e, 0.0, 1}, {e, 0.3, 1},    {e, 0.35, -1},    {e, 0.4, -1},    {e, 0.45, -1},
                 {e, 0.5, 0}, {thin, 0.4, 1}, {thin, 0.399, 1}, {thin, 0.401, 0}};
    (void)state;
    for (size_t k = 0; k < sizeof start / sizeof start[0]; ++k) {
        const aw_lattice_start at = {start[k].S, AW_UPSTREAM_DRIFT};
        aw_lattice_problem problem;
        aw_lattice *lat = NULL;
        const aw_status status = aw_lattice_try(start[k].e, 3, GAMMA, &at, &problem, &lat);
        int rf = 0;
        assert_int_equal(status, start[k].rf < 0 ? AW_ERR_ARG : AW_OK);
        if (status != AW_OK) {
            assert_non_null(strstr(problem.text, "the beam starts within it"));
            continue;
        }
        for (int i = 0; i < lat->regions; ++i) {
            const aw_field_region *r = &lat->region[i];
            if (r->kind != AW_REGION_RF) continue;
            rf++;
            /* the reference is at the start at time 0 */
            assert_close(r->passed, (0.4 - at.S) * GAMMA / lat->p_ref, 0.0, 1e-15);
        }
        assert_int_equal(rf, start[k].rf);
        aw_lattice_free(lat);
    }
}

static void a_cavity_that_stops_the_beam_is_an_error(void **state)
{
    (void)state;
    /* a quarter of a wave ahead, at the trough; the square of the energy would do with twice it */
    for (int k = 1; k <= 2; ++k) {
        const aw_element e[] = {drift_of(0.3), cavity_of(0.2, k * ENERGY, -0.25), drift_of(1.0)};
        aw_lattice *lat = machine_of(e, 3, GAMMA, AW_UPSTREAM_DRIFT);
        aw_particles *p = particle_at(lat, 0.5 * AW_PI / WAVE, 0.0, 0.0, lat->p_ref);
        assert_status(aw_push_transport(lat, p, 1.0), AW_ERR_RANGE);
        aw_particles_free(p);
        aw_lattice_free(lat);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_particle_gains_V_cos),
        cmocka_unit_test(the_sign_of_the_phase_is_that_of_the_chirp),
        cmocka_unit_test(one_long_step_equals_many_short_ones),
        cmocka_unit_test(the_map_is_symplectic),
        cmocka_unit_test(a_chicane_compresses_as_with_the_chirp_of_the_beam),
        cmocka_unit_test(a_bunch_starts_before_or_behind_a_cavity),
        cmocka_unit_test(a_cavity_that_stops_the_beam_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
