/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers and the drawn beam. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "pic/distribution.h"
#include "pic/particle/philox.h"
#include "pic/particles.h"
#include "tests/assert_close.h"

static void philox_gives_the_published_known_answers(void **state)
{
    /* Random123, kat_vectors: philox4x32 10 rounds: counter, key, result */
    static const uint32_t kat[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
         0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1}};
    (void)state;
    for (int k = 0; k < 3; ++k) {
        aw_philox c = {{kat[k][0], kat[k][1], kat[k][2], kat[k][3]}};
        c = aw_philox4x32(c, kat[k][4], kat[k][5]);
        for (int i = 0; i < 4; ++i) assert_int_equal(c.v[i], kat[k][6 + i]);
    }
    assert_true(aw_philox_unit(0, 0) > 0.0);
    assert_true(aw_philox_unit(UINT32_MAX, UINT32_MAX) < 1.0);
}

static aw_beam_params beam_of(size_t n, int quiet)
{
    return (aw_beam_params){.charge = 1e-9,
                            .gamma = 9784.0,
                            .particles = n,
                            .seed = 7,
                            .quiet = quiet,
                            .cutoff_sigma = 5.0,
                            .sigma_s = 200e-6,
                            .sigma_x = 6.4e-5,
                            .emittance = 1.02e-10,
                            .beta_x = 40.0,
                            .alpha_x = 2.6,
                            .energy_spread = 1e-4,
                            .chirp = -36.0};
}

static aw_particles *draw(const aw_beam_params *beam)
{
    aw_particles *p = NULL;
    assert_ok(aw_particles_draw(beam, &p));
    return p;
}

/* Means, variances and covariance of two columns. */
typedef struct moments {
    double a, b, aa, ab, bb;
} moments;

static moments moments_of(const double *a, const double *b, size_t n)
{
    moments m = {0.0, 0.0, 0.0, 0.0, 0.0};
    double count = (double)n;
    for (size_t i = 0; i < n; ++i) {
        m.a += a[i] / count;
        m.b += b[i] / count;
    }
    for (size_t i = 0; i < n; ++i) {
        m.aa += (a[i] - m.a) * (a[i] - m.a) / count;
        m.ab += (a[i] - m.a) * (b[i] - m.b) / count;
        m.bb += (b[i] - m.b) * (b[i] - m.b) / count;
    }
    return m;
}

/* Every second moment that was asked for, to `tol` relative to its scale. */
static void check_moments(int quiet, double tol, double cutoff)
{
    const size_t n = 100000;
    aw_beam_params beam = beam_of(n, quiet);
    beam.cutoff_sigma = cutoff;
    aw_particles *p = draw(&beam);
    double *slope = test_malloc(n * sizeof *slope), *delta = test_malloc(n * sizeof *delta);
    double spread = beam.energy_spread, emittance = beam.emittance;
    moments sx, xa, sd;
    for (size_t i = 0; i < n; ++i) {
        slope[i] = p->px[i] / p->pz[i];
        delta[i] = p->gamma0[i] / beam.gamma - 1.0;
        /* px, pz carry the energy of gamma0: 1e-12, the square root of p^2 + 1 */
        assert_close(sqrt(1.0 + p->px[i] * p->px[i] + p->pz[i] * p->pz[i]), p->gamma0[i], 1e-12, 0);
        assert_close(p->z[i], p->s0[i], 0.0, 0.0);
        assert_close(p->x[i], p->x0[i], 0.0, 0.0);
    }
    sx = moments_of(p->s0, p->x0, n);
    xa = moments_of(p->x0, slope, n);
    sd = moments_of(p->s0, delta, n);
    assert_close(sx.a, 0.0, 0.0, tol * beam.sigma_s);
    assert_close(sx.b, 0.0, 0.0, tol * sqrt(sx.bb));
    assert_close(sqrt(sx.aa), beam.sigma_s, tol, 0.0);
    assert_close(xa.aa, emittance * 40.0, 2.0 * tol, 0.0);
    assert_close(xa.ab, -2.6 * emittance, 2.0 * tol, 0.0); /* alpha > 0 converges */
    assert_close(xa.bb, emittance * (1.0 + 2.6 * 2.6) / 40.0, 2.0 * tol, 0.0);
    assert_close(sqrt(xa.aa * xa.bb - xa.ab * xa.ab), emittance, 2.0 * tol, 0.0);
    assert_close(sx.ab, 0.0, 0.0, tol * sqrt(sx.aa * sx.bb));
    assert_close(sd.ab / sd.aa, -36.0, 0.0, tol * spread / beam.sigma_s);
    assert_close(sqrt(sd.bb - sd.ab * sd.ab / sd.aa), spread, tol, 0.0);
    assert_close(p->charge * (double)n, beam.charge, 1e-14, 0.0);
    test_free(slope);
    test_free(delta);
    aw_particles_free(p);
}

static void random_beam_has_its_moments(void **state)
{
    (void)state;
    check_moments(0, 0.014, 5.0); /* 4.5 standard errors 1/sqrt(N) = 0.0032 of a mean */
}

static void quiet_beam_has_its_moments_ten_times_closer(void **state)
{
    (void)state;
    /* the sequence errs as log(N)^4/N at worst; a random start would pass with odds of 1e-12 */
    check_moments(1, 1e-3, 5.0);
}

static void the_cut_holds_and_is_reached(void **state)
{
    aw_beam_params beam = beam_of(200000, 0);
    double most = 0.0;
    aw_particles *p;
    (void)state;
    beam.cutoff_sigma = 2.0;
    p = draw(&beam);
    for (size_t i = 0; i < p->n; ++i) most = fmax(most, fabs(p->s0[i]) / beam.sigma_s);
    /* 2/sqrt(1 - 4 phi(2)/erf(sqrt(2))): the rms is that of the cut Gaussian; 1e-15 of rounding */
    assert_close(aw_cut_normal_of(2.0).reach, 2.273694469, 1e-9, 0.0);
    assert_true(most <= aw_cut_normal_of(2.0).reach * (1.0 + 1e-15));
    /* density there is 0.11 a sigma: 23 of 2e5 within 0.001 */
    assert_true(most > 0.9995 * aw_cut_normal_of(2.0).reach);
    aw_particles_free(p);
}

/* Variance of the deviates by the midpoint rule: the slope of g^2 in u reaches 2 reach/phi(c) at a
 * cut c, 7e6 for c = 5, and the error is h^2/12 of that, 6e-7. */
static double deviate_variance(double cutoff)
{
    const aw_cut_normal normal = aw_cut_normal_of(cutoff);
    const int n = 1000000;
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        const double g = aw_cut_normal_deviate(&normal, (i + 0.5) / n);
        sum += g * g / n;
    }
    return sum;
}

static void deviates_have_rms_one_whatever_the_cut(void **state)
{
    static const double cutoff[] = {0.1, 1.0, 2.0, 3.0, 5.0}, scale_of_3 = 1.013604198;
    (void)state;
    /* the cut at 5 takes 1.5e-5 of the variance away */
    for (int k = 0; k < 5; ++k) assert_close(deviate_variance(cutoff[k]), 1.0, 2e-6, 0.0);
    assert_close(aw_cut_normal_of(3.0).scale, scale_of_3, 1e-9, 0.0);
    assert_close(aw_cut_normal_of(20.0).scale, 1.0, 1e-15, 0.0);      /* nothing is cut */
    assert_close(aw_cut_normal_of(1e-4).reach, sqrt(3.0), 1e-8, 0.0); /* uniform, to c^2/15 */
}

static void every_rms_is_that_of_the_run_file_whatever_the_cut(void **state)
{
    static const double cutoff[] = {2.0, 3.0, 5.0};
    (void)state;
    for (int k = 0; k < 3; ++k) check_moments(1, 1e-3, cutoff[k]); /* as below; uncorrected: 0.12 */
}

static void particle_i_depends_on_the_seed_and_i_alone(void **state)
{
    (void)state;
    for (int quiet = 0; quiet < 2; ++quiet) {
        aw_beam_params few = beam_of(100, quiet), many = beam_of(70000, quiet);
        aw_beam_params other = beam_of(100, quiet);
        aw_particles *a, *b, *c;
        other.seed = 8;
        a = draw(&few);
        b = draw(&many);
        c = draw(&other);
        assert_memory_equal(a->z, b->z, 100 * sizeof(double));
        assert_memory_equal(a->px, b->px, 100 * sizeof(double));
        assert_memory_equal(a->gamma0, b->gamma0, 100 * sizeof(double));
        assert_memory_not_equal(a->z, c->z, 100 * sizeof(double));
        aw_particles_free(a);
        aw_particles_free(b);
        aw_particles_free(c);
    }
}

static void the_draw_has_the_same_bits_for_any_number_of_threads(void **state)
{
    const size_t n = 70001; /* more than one chunk, and no multiple of anything */
    (void)state;
    for (int quiet = 0; quiet < 2; ++quiet) {
        aw_beam_params beam = beam_of(n, quiet);
        aw_particles *a, *b;
        omp_set_num_threads(1);
        a = draw(&beam);
        omp_set_num_threads(3);
        b = draw(&beam);
        assert_memory_equal(a->z, b->z, n * sizeof(double));
        assert_memory_equal(a->px, b->px, n * sizeof(double));
        assert_memory_equal(a->pz, b->pz, n * sizeof(double));
        aw_particles_free(a);
        aw_particles_free(b);
    }
}

static void one_particle_is_a_beam(void **state)
{
    (void)state;
    for (int quiet = 0; quiet < 2; ++quiet) {
        aw_beam_params beam = beam_of(1, quiet);
        aw_particles *p = draw(&beam);
        assert_int_equal(p->n, 1);
        assert_close(p->charge, 1e-9, 0.0, 0.0);
        assert_true(fabs(p->s0[0]) <= 5.001 * beam.sigma_s && p->pz[0] > 0.0);
        aw_particles_free(p);
    }
}

static void without_emittance_all_fly_parallel(void **state)
{
    aw_beam_params beam = beam_of(1000, 1);
    aw_particles *p;
    moments m;
    (void)state;
    beam.emittance = 0.0;
    beam.sigma_x = 50e-6;
    p = draw(&beam);
    for (size_t i = 0; i < p->n; ++i) assert_close(p->px[i], 0.0, 0.0, 0.0);
    m = moments_of(p->x0, p->s0, p->n);
    assert_close(sqrt(m.aa), 50e-6, 0.02, 0.0); /* quiet: better than 1/sqrt(2N) = 0.022 */
    aw_particles_free(p);
}

static void impossible_beams_are_refused(void **state)
{
    aw_beam_params bad[8];
    (void)state;
    for (int k = 0; k < 8; ++k) bad[k] = beam_of(100, 1);
    bad[0].charge = 0.0;
    bad[1].gamma = 1.0;
    bad[2].particles = 0;
    bad[3].sigma_s = -1e-6;
    bad[4].cutoff_sigma = NAN;
    bad[5].beta_x = 0.0;
    bad[6].chirp = 1e6;                 /* gamma <= 1 for some */
    bad[7].particles = (size_t)1 << 31; /* longer than the quiet sequence */
    for (int k = 0; k < 8; ++k) {
        aw_particles *p = NULL;
        assert_status(aw_particles_draw(&bad[k], &p), AW_ERR_ARG);
        assert_null(p);
    }
    aw_particles_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_known_answers),
        cmocka_unit_test(random_beam_has_its_moments),
        cmocka_unit_test(quiet_beam_has_its_moments_ten_times_closer),
        cmocka_unit_test(the_cut_holds_and_is_reached),
        cmocka_unit_test(deviates_have_rms_one_whatever_the_cut),
        cmocka_unit_test(every_rms_is_that_of_the_run_file_whatever_the_cut),
        cmocka_unit_test(particle_i_depends_on_the_seed_and_i_alone),
        cmocka_unit_test(the_draw_has_the_same_bits_for_any_number_of_threads),
        cmocka_unit_test(one_particle_is_a_beam),
        cmocka_unit_test(without_emittance_all_fly_parallel),
        cmocka_unit_test(impossible_beams_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
