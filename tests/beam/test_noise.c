/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The noise of a beam, by which one from a file counts as quiet or not: 1 for particles drawn by
 * chance, as Poisson's law has it, and far less for a quiet start, wherever it has got to. */
#include <math.h>

#include "pic/particles.h"
#include "src/beam/beam_file.h"
#include "tests/assert_close.h"

static aw_particles *draw(int quiet, size_t n, double chirp, uint64_t seed)
{
    const aw_beam_params beam = {.charge = 1e-9,
                                 .gamma = 1000.0,
                                 .particles = n,
                                 .seed = seed,
                                 .quiet = quiet,
                                 .cutoff_sigma = 5.0,
                                 .sigma_s = 1e-4,
                                 .sigma_x = 1e-4,
                                 .emittance = 1e-9,
                                 .beta_x = 10.0,
                                 .energy_spread = 1e-4,
                                 .chirp = chirp};
    aw_particles *p;
    assert_int_equal(aw_particles_draw(&beam, &p), AW_OK);
    return p;
}

static void assert_between(double value, double least, double most)
{
    if (!(value >= least && value <= most))
        fail_msg("%g is not between %g and %g", value, least, most);
}

static double noise_of(const aw_particles *p)
{
    aw_beam_params beam = {.charge = 0.0};
    aw_beam_moments(p, &beam);
    return aw_beam_noise(p, &beam);
}

/* The median of 77 squares of Gaussian numbers, of which neighbours are correlated, over that of
 * many: 0.57 to 1.95 in these 48 cases. */
static void drawn_by_chance_is_one(void **state)
{
    (void)state;
    static const size_t number[] = {1000, 20000, 300000};
    for (int k = 0; k < 3; ++k)
        for (uint64_t seed = 1; seed < 9; ++seed) {
            aw_particles *p = draw(0, number[k], 0.0, seed);
            assert_between(noise_of(p), 0.4, 2.5);
            assert_int_equal(aw_particles_extend(p, AW_WITH_WEIGHT), AW_OK);
            for (size_t i = 0; i < p->n; ++i) p->weight[i] = i % 3 ? 0.25 : 2.5;
            assert_between(noise_of(p), 0.4, 2.5);
            aw_particles_free(p);
        }
}

/* A quiet start, 0.013 to 0.0001; and behind an R56 that compresses it five times and mixes its
 * slices by a fifth of its length, where many particles are still quieter than chance. */
static void quiet_is_little(void **state)
{
    (void)state;
    static const size_t number[] = {5000, 200000, 1000000};
    for (int k = 0; k < 3; ++k) {
        aw_particles *p = draw(1, number[k], -20.0, 3);
        assert_between(noise_of(p), 0.0, 0.05);
        for (size_t i = 0; i < p->n; ++i) p->s0[i] += 0.04 * (p->gamma0[i] - 1000.0) / 1000.0;
        assert_between(noise_of(p), 0.0, k ? 0.25 : 1.0);
        aw_particles_free(p);
    }
}

static void bunching_is_more_and_few_are_chance(void **state)
{
    (void)state;
    aw_particles *p = draw(1, 20000, 0.0, 3);
    for (size_t i = 0; i < p->n; ++i) p->s0[i] = 3e-6 * rint(p->s0[i] / 3e-6);
    assert_true(noise_of(p) > 5.0);
    aw_particles_free(p);
    p = draw(1, 190, 0.0, 3);
    assert_true(noise_of(p) == 1.0);
    aw_particles_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drawn_by_chance_is_one),
                                       cmocka_unit_test(quiet_is_little),
                                       cmocka_unit_test(bunching_is_more_and_few_are_chance)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
