/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Current profiles: moments, extremes and bunching of drawn beams against closed forms. */
#include <math.h>
#include <string.h>

#include "pic/distribution.h"
#include "pic/particles.h"
#include "src/base/units.h"
#include "tests/assert_close.h"

enum { N = 65536 };
#define SIGMA 50e-6

/* A quiet beam of so many points has errors of the order log(N)/N of its range, 2e-4; moments of
 * the fourth order several times that. */
#define QUIET 2e-4
/* 1/sqrt(N), times the 4 standard deviations that a test may see. */
#define RANDOM 0.016

static aw_beam_params beam_of(const char *name, int quiet)
{
    aw_beam_params b = {.charge = 1e-9,
                        .gamma = 1e3,
                        .particles = N,
                        .seed = 5,
                        .quiet = quiet,
                        .cutoff_sigma = 5.0,
                        .edge = 0.1,
                        .separation = 4.0,
                        .ahead = 0.5,
                        .sigma_s = SIGMA,
                        .sigma_x = 2.0 * SIGMA};
    while (strcmp(aw_distribution_list(b.distribution)->name, name) != 0) ++b.distribution;
    return b;
}

/* Mean, rms, fourth moment over rms^4, and largest |s|, in units of SIGMA. */
static void moments_of(const aw_beam_params *b, double out[4])
{
    aw_particles *p = NULL;
    double sum[3] = {0.0};
    assert_ok(aw_particles_draw(b, &p));
    out[3] = 0.0;
    for (size_t i = 0; i < p->n; ++i) {
        const double s = p->s0[i] / SIGMA;
        sum[0] += s / N;
        sum[1] += s * s / N;
        sum[2] += s * s * s * s / N;
        out[3] = fmax(out[3], fabs(s));
    }
    out[0] = sum[0];
    out[1] = sqrt(sum[1]);
    out[2] = sum[2] / (sum[1] * sum[1]);
    aw_particles_free(p);
}

/* Fourth moments: of a box 9/5, of a parabola 15/7; with a Gaussian of variance e that is added to
 * a box of variance v, (9/5 v^2 + 6 v e + 3 e^2)/(v + e)^2; of two points at +-a likewise. */
static void profiles_have_the_moments_of_their_closed_forms(void **state)
{
    const double v = 1.0 / 12.0, e = 0.01;
    const double box = (1.8 * v * v + 6.0 * v * e + 3.0 * e * e) / ((v + e) * (v + e));
    const struct {
        const char *name;
        double fourth, largest, slack;
    } row[] = {{"gaussian", 3.0, 5.0, 0.01}, /* a cut at 5 takes 7e-4 of it */
               {"uniform", 1.8, sqrt(3.0), 2e-3},
               {"parabolic", 15.0 / 7.0, sqrt(5.0), 2e-3},
               {"flat-top", box, 1.0 / sqrt(v + e), 2e-3},
               {"double-gaussian", (16.0 + 24.0 + 3.0) / 25.0, 7.0 / sqrt(5.0), 2e-3}};
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof row[0]; ++k)
        for (int quiet = 0; quiet < 2; ++quiet) {
            const aw_beam_params b = beam_of(row[k].name, quiet);
            double m[4];
            moments_of(&b, m);
            assert_close(m[0], 0.0, 0.0, quiet ? QUIET : RANDOM);
            assert_close(m[1], 1.0, quiet ? QUIET : RANDOM, 0.0);
            assert_close(m[2], row[k].fourth, quiet ? row[k].slack : 5.0 * RANDOM, 0.0);
            assert_true(m[3] <= row[k].largest * (1.0 + 1e-3));
            assert_true(m[3] <= aw_beam_reach(&b));
        }
}

static void two_bunches_of_unequal_charge_keep_mean_and_rms(void **state)
{
    aw_beam_params b = beam_of("double-gaussian", 1);
    double m[4], in_front = 0.0;
    aw_particles *p = NULL;
    (void)state;
    b.ahead = 0.2;
    b.separation = 8.0;
    moments_of(&b, m);
    assert_close(m[0], 0.0, 0.0, QUIET);
    assert_close(m[1], 1.0, QUIET, 0.0);
    assert_ok(aw_particles_draw(&b, &p));
    /* the gap lies 4 of 8 behind the bunch ahead, whose mean is at 0.8 of 8 */
    const double rms = sqrt(1.0 + 64.0 * 0.2 * 0.8);
    for (size_t i = 0; i < p->n; ++i) in_front += p->s0[i] > 2.4 / rms * SIGMA ? 1.0 / N : 0.0;
    assert_close(in_front, 0.2, 1e-3, 0.0);
    aw_particles_free(p);
}

/* <cos k s> of a density times 1 + A cos k s is A/2, but for exp(-(k sigma)^2/2). */
static void modulation_gives_the_bunching_of_its_depth(void **state)
{
    static const char *const name[] = {"gaussian", "parabolic"};
    (void)state;
    for (int k = 0; k < 2; ++k)
        for (int quiet = 0; quiet < 2; ++quiet) {
            aw_beam_params b = beam_of(name[k], quiet);
            aw_particles *p = NULL;
            double c = 0.0, s = 0.0;
            b.modulation_wavelength = SIGMA / 10.0;
            b.modulation_depth = 0.2;
            assert_ok(aw_particles_draw(&b, &p));
            for (size_t i = 0; i < p->n; ++i) {
                const double phase = 2.0 * AW_PI * p->s0[i] / b.modulation_wavelength;
                c += cos(phase) / N;
                s += sin(phase) / N;
            }
            /* 100 periods: a hundred times fewer quiet points each; the parabola's own part of this
             * wave is 3/(k a)^2, 1.5e-4 */
            assert_close(c, 0.1, 0.0, quiet ? 2e-3 : RANDOM);
            assert_close(s, 0.0, 0.0, quiet ? 2e-3 : RANDOM);
            aw_particles_free(p);
        }
}

static void part_of_a_table_is_the_charge_below(void **state)
{
    const aw_beam_params b = beam_of("parabolic", 1);
    aw_profile *p = NULL;
    (void)state;
    assert_ok(aw_profile_new(&b, &p));
    for (int i = 1; i < 100; ++i) {
        const double u = 0.01 * i, t = aw_profile_at(p, u) / (sqrt(5.0) * SIGMA);
        /* rounding of the sums, and the chords of 16384 nodes: 1e-9 */
        assert_close(0.5 + 0.75 * t - 0.25 * t * t * t, u, 0.0, 1e-8);
    }
    aw_profile_free(p);
}

/* A triangle from -2 to 0 to 1 in some length: mean -1/3, variance (4 + 1 + 2)/18. */
static void a_table_is_followed_with_its_own_mean_and_length(void **state)
{
    const double s[] = {3e-4 - 2e-5, 3e-4, 3e-4 + 1e-5}, current[] = {0.0, 7.0, 0.0};
    aw_beam_params b = beam_of("tabulated", 1);
    aw_profile *p = NULL;
    (void)state;
    b.table_n = 3;
    b.table_s = s;
    b.table_current = current;
    b.sigma_s = aw_profile_table_rms(&b);
    assert_close(b.sigma_s, 1e-5 * sqrt(7.0 / 18.0), 1e-6, 0.0); /* a kink between 4096 nodes */
    assert_ok(aw_profile_new(&b, &p));
    /* two thirds of the charge lie behind the top, a quarter of that behind the half way there */
    assert_close(aw_profile_at(p, 2.0 / 3.0), 1e-5 / 3.0, 1e-4, 0.0);
    assert_close(aw_profile_at(p, 1.0 / 6.0), -2e-5 / 3.0, 1e-4, 0.0);
    aw_profile_free(p);
    b.table_n = 1;
    aw_particles *none = NULL;
    assert_int_equal(aw_particles_draw(&b, &none), AW_ERR_ARG);
}

static void bad_modulations_are_refused(void **state)
{
    aw_particles *p = NULL;
    (void)state;
    for (int k = 0; k < 4; ++k) {
        aw_beam_params b = beam_of("gaussian", 1);
        b.modulation_depth = (const double[]){1.5, -0.1, NAN, 0.1}[k];
        b.modulation_wavelength = k == 3 ? 0.0 : 1e-6;
        assert_int_equal(aw_particles_draw(&b, &p), AW_ERR_ARG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_have_the_moments_of_their_closed_forms),
        cmocka_unit_test(two_bunches_of_unequal_charge_keep_mean_and_rms),
        cmocka_unit_test(modulation_gives_the_bunching_of_its_depth),
        cmocka_unit_test(part_of_a_table_is_the_charge_below),
        cmocka_unit_test(a_table_is_followed_with_its_own_mean_and_length),
        cmocka_unit_test(bad_modulations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
