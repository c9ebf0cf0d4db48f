/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particle kernels in the machine against one particle at a time, for every SIMD variant. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "pic/push.h"
#include "pic/simd/simd.h"
#include "pic/stats.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"
#include "tests/slice_fixture.h"

/* Regions: drift before the machine, bend, drift, quadrupole, drift after it. */
enum { DRIFT_REGION = 0, BEND_REGION = 1, LAST_REGION = 4 };
static aw_lattice *machine(double angle)
{
    const aw_element e[] = {bend_of(0.5, angle, 0.0, 0.5 * angle), drift_of(0.2),
                            quadrupole_of(0.2, 3.0)};
    return machine_of(e, 3, 500.0, AW_UPSTREAM_DRIFT);
}

/* n particles about the design orbit within `half` of S, with momenta of 0.8 to 1.2 p_ref. */
static aw_particles *beam_at(const aw_lattice *lat, double S, size_t n, double half, uint64_t seed)
{
    aw_particles *p = NULL;
    uint64_t random = seed;
    assert_ok(aw_particles_new(n, 1e-13, &p));
    for (size_t i = 0; i < n; ++i) {
        const aw_orbit_point at = aw_orbit_at(&lat->orbit, S + uniform(&random, -half, half));
        const double x = uniform(&random, -1e-3, 1e-3), angle = uniform(&random, -1e-2, 1e-2);
        const double m = lat->p_ref * uniform(&random, 0.8, 1.2);
        p->z[i] = at.z - x * at.st;
        p->x[i] = at.x + x * at.ct;
        p->pz[i] = m * cos(at.theta + angle);
        p->px[i] = m * sin(at.theta + angle);
        p->gamma0[i] = 500.0;
    }
    assert_ok(aw_push_locate(lat, p));
    return p;
}

static void copy(aw_particles *to, const aw_particles *from, size_t i, size_t n)
{
    memcpy(to->z, from->z + i, n * sizeof *to->z);
    memcpy(to->x, from->x + i, n * sizeof *to->x);
    memcpy(to->pz, from->pz + i, n * sizeof *to->pz);
    memcpy(to->px, from->px + i, n * sizeof *to->px);
    memcpy(to->element, from->element + i, n * sizeof *to->element);
}

/* Transport the particles one at a time: the kernel is not used for a block whose particles are in
 * different regions, which a second particle in another region achieves. */
static void transport_one_at_a_time(const aw_lattice *lat, aw_particles *p, double cdt)
{
    for (size_t i = 0; i < p->n; ++i) {
        aw_particles *pair = NULL;
        assert_ok(aw_particles_new(2, 1e-13, &pair));
        copy(pair, p, i, 1);
        pair->z[1] = -1.0;
        pair->pz[1] = lat->p_ref;
        pair->element[1] = pair->element[0] == 0 ? 1 : 0;
        if (pair->element[0] == 0) pair->z[1] = 0.1;
        assert_ok(aw_push_transport(lat, pair, cdt));
        p->z[i] = pair->z[0];
        p->x[i] = pair->x[0];
        p->pz[i] = pair->pz[0];
        p->px[i] = pair->px[0];
        p->element[i] = pair->element[0];
        aw_particles_free(pair);
    }
}

static void check_same(const aw_particles *a, const aw_particles *b, size_t i)
{
    /* one or two roundings of positions of 0.2 to 2 m, and of momenta of 500 */
    assert_close(a->z[i], b->z[i], 4.5e-16, 1e-16);
    assert_close(a->x[i], b->x[i], 4.5e-16, 1e-16);
    assert_close(a->pz[i], b->pz[i], 0.0, 4e-13);
    assert_close(a->px[i], b->px[i], 0.0, 4e-13);
    assert_int_equal(a->element[i], b->element[i]);
}

static aw_simd_field region_of(const aw_lattice *lat, int region)
{
    const aw_field_region *r = &lat->region[region];
    return (aw_simd_field){.field = r,
                           .bend = r->kind == AW_REGION_DIPOLE ? r->kappa * lat->p_ref : 0.0,
                           .last = region + 1 == lat->regions};
}

/* Before the machine, in a bend and after the machine; with steps after which all, some or none of
 * the particles are still in the region. */
static void transport_of_a_block_moves_the_particles_that_stay_in_the_region_and_no_others(
    void **state)
{
    static const struct {
        int region;
        double S, half, cdt;
    } leg[] = {{DRIFT_REGION, -0.3, 0.01, 0.02}, {DRIFT_REGION, -0.03, 0.01, 0.03},
               {DRIFT_REGION, -0.03, 0.01, 0.1}, {BEND_REGION, 0.2, 0.01, 0.02},
               {BEND_REGION, 0.46, 0.01, 0.04},  {BEND_REGION, 0.46, 0.01, 0.2},
               {BEND_REGION, 0.2, 0.01, 0.0},    {LAST_REGION, 1.5, 0.01, 0.5}};
    static const double angles[] = {0.05, -0.05, 0.5};
    const aw_particle_kernels *kernels = *state;
    for (int a = 0; a < 3; ++a) {
        aw_lattice *lat = machine(angles[a]);
        for (size_t k = 0; k < sizeof leg / sizeof leg[0]; ++k)
            for (size_t n = 59; n <= AW_BLOCK; n += 5) {
                const aw_simd_field region = region_of(lat, leg[k].region);
                aw_particles *p = beam_at(lat, leg[k].S, n, leg[k].half, 7), *q = NULL, *r = NULL;
                int stayed = 0;
                assert_ok(aw_particles_new(n, 1e-13, &q));
                assert_ok(aw_particles_new(n, 1e-13, &r));
                copy(q, p, 0, n);
                copy(r, p, 0, n);
                for (size_t i = 0; i < n; ++i) assert_int_equal(p->element[i], leg[k].region);
                transport_one_at_a_time(lat, q, leg[k].cdt);
                const uint64_t left = kernels->transport(p, 0, n, &region, leg[k].cdt);
                for (size_t i = 0; i < n; ++i) {
                    check_same(p, left >> i & 1 ? r : q, i);
                    if (!(left >> i & 1)) stayed++;
                    /* a particle that leaves the region must not be moved */
                    if (q->element[i] != leg[k].region) assert_true(left >> i & 1);
                }
                if (n < AW_BLOCK) assert_true(left >> n == 0);
                if (k == 0 || k == 3 || k == 6 || k == 7) assert_int_equal(stayed, n);
                if (k == 1 || k == 4) assert_true(stayed > 0 && stayed < (int)n);
                assert_ok(aw_push_transport(lat, r, leg[k].cdt)); /* all particles */
                for (size_t i = 0; i < n; ++i) check_same(r, q, i);
                aw_particles_free(p);
                aw_particles_free(q);
                aw_particles_free(r);
            }
        aw_lattice_free(lat);
    }
}

/* Turned back, too slow for the bend, at rest, or not finite: left to pic/push.c. */
static void transport_of_a_block_does_not_move_particles_with_errors(void **state)
{
    const aw_particle_kernels *kernels = *state;
    aw_lattice *lat = machine(0.05);
    const aw_simd_field region = region_of(lat, BEND_REGION), end = region_of(lat, LAST_REGION);
    for (size_t i = 0; i < AW_BLOCK; ++i) {
        aw_particles *p = beam_at(lat, 0.2, AW_BLOCK, 0.01, 3);
        const size_t other = (i + 11) % AW_BLOCK;
        p->pz[i] = -p->pz[i];
        p->pz[other] = i % 2 ? (double)NAN : 0.0;
        if (!(i % 2)) p->px[other] = 0.0;
        p->z[(i + 22) % AW_BLOCK] = NAN;
        p->pz[(i + 33) % AW_BLOCK] *= 1e-3; /* a circle of 10 mm */
        p->px[(i + 33) % AW_BLOCK] *= 1e-3;
        const uint64_t want = (uint64_t)1 << i | (uint64_t)1 << other |
                              (uint64_t)1 << (i + 22) % AW_BLOCK |
                              (uint64_t)1 << (i + 33) % AW_BLOCK;
        assert_true(kernels->transport(p, 0, AW_BLOCK, &region, 0.02) == want);
        aw_particles_free(p);
    }
    aw_particles *p = beam_at(lat, 1.5, 3, 0.01, 3); /* beyond the last plane */
    p->pz[1] = -p->pz[1];
    assert_true(kernels->transport(p, 0, 3, &end, 0.02) == 2);
    aw_particles_free(p);
    aw_lattice_free(lat);
}

static void kick_of_a_block_adds_momentum_and_reports_one_that_is_not_finite(void **state)
{
    const aw_particle_kernels *kernels = *state;
    aw_lattice *lat = machine(0.05);
    double Fz[AW_BLOCK], Fx[AW_BLOCK];
    uint64_t random = 8;
    for (size_t n = 1; n <= AW_BLOCK; n += 21) {
        aw_particles *p = beam_at(lat, 0.2, n, 0.01, 3), *q = beam_at(lat, 0.2, n, 0.01, 3);
        for (size_t i = 0; i < n; ++i) Fz[i] = uniform(&random, -3.0, 3.0);
        for (size_t i = 0; i < n; ++i) Fx[i] = uniform(&random, -3.0, 3.0);
        assert_int_equal(kernels->kick(p, 0, n, 0.125, Fz, Fx), 0);
        for (size_t i = 0; i < n; ++i) {
            assert_close(p->pz[i], q->pz[i] + 0.125 * Fz[i], 4e-16, 0.0);
            assert_close(p->px[i], q->px[i] + 0.125 * Fx[i], 4e-16, 1e-16);
        }
        Fx[n - 1] = n % 2 ? (double)NAN : (double)-INFINITY;
        assert_int_equal(kernels->kick(p, 0, n, 0.125, Fz, Fx), 1);
        aw_particles_free(p);
        aw_particles_free(q);
    }
    aw_lattice_free(lat);
}

/* In a drift and in a bend; and at the edges of both, where the kernel must not move the block. */
static void rigid_motion_of_a_block_puts_its_particles_about_the_orbit(void **state)
{
    static const double places[] = {-0.3, 0.25, 0.45, 0.0, 0.5};
    const aw_particle_kernels *kernels = *state;
    aw_lattice *lat = machine(0.3);
    for (int k = 0; k < 5; ++k)
        for (size_t n = 59; n <= AW_BLOCK; n += 5) {
            aw_particles *p = beam_at(lat, -0.3, n, 0.01, 4), *q = beam_at(lat, -0.3, n, 0.01, 4);
            const aw_orbit_point at = aw_orbit_at(&lat->orbit, places[k]);
            const aw_simd_reference ref = {at.z, at.x, at.ct, at.st, at.kappa, -0.011, 0.01, 0.0};
            uint64_t random = 11;
            for (size_t i = 0; i < n; ++i) p->s0[i] = uniform(&random, -0.01, 0.01);
            for (size_t i = 0; i < n; ++i) p->x0[i] = uniform(&random, -1e-3, 1e-3);
            if (k < 3) {
                assert_int_equal(kernels->rigid(p, 0, n, &ref, 500.0), 0);
            } else {
                memcpy(q->s0, p->s0, n * sizeof *p->s0);
                memcpy(q->x0, p->x0, n * sizeof *p->x0);
                assert_ok(aw_push_rigid(lat, p, hypot(1.0, 500.0), places[k]));
            }
            for (size_t i = 0; i < n; ++i) {
                const aw_orbit_point o = aw_orbit_at(&lat->orbit, places[k] + p->s0[i]);
                assert_close(p->z[i], o.z - p->x0[i] * o.st, 0.0, 3e-16);
                assert_close(p->x[i], o.x + p->x0[i] * o.ct, 0.0, 3e-16);
                assert_close(p->pz[i], 500.0 * o.ct, 0.0, 3e-13);
                assert_close(p->px[i], 500.0 * o.st, 0.0, 3e-13);
                if (k >= 3)
                    assert_int_equal(p->element[i], (int)(places[k] + p->s0[i] >= 0.0) +
                                                        (places[k] + p->s0[i] >= 0.5));
            }
            memcpy(q->z, p->z, n * sizeof *p->z);
            p->s0[n / 2] = n % 2 ? (double)NAN : 0.0101;
            assert_int_equal(kernels->rigid(p, 0, n, &ref, 500.0), 1);
            assert_memory_equal(p->z, q->z, n * sizeof *p->z);
            p->s0[n / 2] = 0.0;
            p->x0[n - 1] = NAN;
            assert_int_equal(kernels->rigid(p, 0, n, &ref, 500.0), 1);
            aw_particles_free(p);
            aw_particles_free(q);
        }
    aw_lattice_free(lat);
}

/* Sums of a block, in closed form, against a search for the closest point of the orbit. */
static void statistics_of_a_block_agree_with_the_search_for_the_closest_point(void **state)
{
    static const double places[] = {-0.3, 0.25, 2.0}; /* before the machine, bend, after it */
    /* size of the coordinates, and a rounding of the numbers of which they are the difference */
    static const double size[AW_BEAM_WIDTH] = {0.01, 1e-3, 0.01, 0.2, 100.0};
    static const double error[AW_BEAM_WIDTH] = {4e-16, 4e-16, 4e-16, 4e-16, 2e-13};
    const aw_particle_kernels *kernels = *state;
    aw_lattice *lat = machine(0.3);
    for (int k = 0; k < 3; ++k)
        for (size_t n = 59; n <= AW_BLOCK; n += 5) {
            aw_particles *p = beam_at(lat, places[k], n, 0.01, 4);
            const aw_orbit_point at = aw_orbit_at(&lat->orbit, places[k]);
            const aw_simd_reference ref = {at.z, at.x, at.ct, at.st, at.kappa, -0.2, 0.2, 500.0};
            aw_beam_sums got = {.mean = {0.0}}, want = got;
            assert_int_equal(kernels->stats(p, 0, n, &ref, &got), 0);
            for (size_t i = 0; i < n; ++i) {
                double c[AW_BEAM_WIDTH], offset, g = hypot(1.0, momentum_of(p, i));
                double S = aw_orbit_project(&lat->orbit, p->z[i], p->x[i], places[k], &offset);
                S = aw_orbit_project(&lat->orbit, p->z[i], p->x[i], S, &offset);
                const aw_orbit_point foot = aw_orbit_at(&lat->orbit, S);
                c[AW_BEAM_S] = S - places[k];
                c[AW_BEAM_X] = offset;
                c[AW_BEAM_ANGLE] = (p->px[i] * foot.ct - p->pz[i] * foot.st) /
                                   (p->pz[i] * foot.ct + p->px[i] * foot.st);
                c[AW_BEAM_DELTA] = (g - 500.0) / 500.0;
                c[AW_BEAM_CHANGE] = g - 500.0;
                for (int a = 0; a < AW_BEAM_WIDTH; ++a) {
                    want.mean[a] += c[a];
                    for (int b = 0; b <= a; ++b) want.product[a][b] += c[a] * c[b];
                }
            }
            for (int a = 0; a < AW_BEAM_WIDTH; ++a) {
                assert_close(got.mean[a], want.mean[a], 0.0, AW_BLOCK * error[a]);
                for (int b = 0; b <= a; ++b)
                    assert_close(got.product[a][b], want.product[a][b], 0.0,
                                 AW_BLOCK * (error[a] * size[b] + error[b] * size[a]));
            }
            p->z[n - 1] = NAN; /* reported, whichever particle it is */
            assert_int_equal(kernels->stats(p, 0, n, &ref, &got), 1);
            aw_particles_free(p);
            p = beam_at(lat, places[k], n, 0.01, 4);
            p->z[n / 2] += 0.25 * at.ct; /* beyond the piece of the reference */
            p->x[n / 2] += 0.25 * at.st;
            assert_int_equal(kernels->stats(p, 0, n, &ref, &got), 1);
            aw_particles_free(p);
        }
    aw_lattice_free(lat);
}

/* Whether the bunch is in one piece of the orbit or on the edge between two. */
static void beam_statistics_do_not_depend_on_edges_or_the_number_of_threads(void **state)
{
    const aw_element straight[] = {drift_of(0.5)};
    /* a bend that is straight to 1e-9, with its edge inside the bunch */
    const aw_element edge[] = {drift_of(0.3), bend_of(0.2, 1e-12, 0.0, 0.0)};
    aw_lattice *one = machine_of(straight, 1, 500.0, AW_UPSTREAM_DRIFT);
    aw_lattice *two = machine_of(edge, 2, 500.0, AW_UPSTREAM_DRIFT);
    aw_particles *p = beam_at(one, 0.3, 10007, 0.01, 6);
    int before = omp_get_max_threads();
    aw_beam_stats a, b;
    (void)state;
    omp_set_num_threads(1);
    assert_ok(aw_beam_stats_of(p, &one->orbit, 0.3, 500.0, &a));
    for (int threads = 2; threads <= 3; ++threads) {
        omp_set_num_threads(threads);
        assert_ok(aw_beam_stats_of(p, &one->orbit, 0.3, 500.0, &b));
        assert_memory_equal(&a, &b, sizeof a);
    }
    omp_set_num_threads(before);
    assert_ok(aw_beam_stats_of(p, &two->orbit, 0.3, 500.0, &b));
    assert_close(b.sigma_s, a.sigma_s, 1e-9, 0.0);
    assert_close(b.sigma_x, a.sigma_x, 1e-9, 0.0);
    assert_close(b.emittance, a.emittance, 1e-9, 0.0);
    assert_close(b.emittance_free, a.emittance_free, 1e-9, 0.0);
    assert_close(b.energy_mean, a.energy_mean, 1e-12, 0.0);
    assert_close(b.energy_rms, a.energy_rms, 1e-12, 0.0);
    aw_particles_free(p);
    aw_lattice_free(one);
    aw_lattice_free(two);
}

/* Through all regions; N is not a multiple of AW_BLOCK. */
static void kick_transport_has_the_bits_of_a_kick_and_a_transport(void **state)
{
    enum { N = 9973 };
    const double kick = 1e-3 * AW_ME_EV;
    aw_lattice *lat = machine(0.1);
    aw_particles *p = beam_at(lat, -0.05, N, 0.01, 9), *q = beam_at(lat, -0.05, N, 0.01, 9);
    double *F = aw_alloc(N, sizeof *F);
    uint64_t random = 1;
    int before = omp_get_max_threads();
    (void)state;
    for (size_t i = 0; i < N; ++i) F[i] = uniform(&random, -10.0, 10.0);
    for (int step = 0; step < 60; ++step) {
        omp_set_num_threads(1 + step % 3);
        assert_ok(aw_push_kick_transport(lat, p, F, F, kick, 0.02));
        omp_set_num_threads(1);
        assert_ok(aw_push_kick(q, F, F, kick));
        assert_ok(aw_push_transport(lat, q, 0.02));
    }
    omp_set_num_threads(before);
    assert_memory_equal(p->z, q->z, N * sizeof *p->z);
    assert_memory_equal(p->x, q->x, N * sizeof *p->x);
    assert_memory_equal(p->pz, q->pz, N * sizeof *p->pz);
    assert_memory_equal(p->px, q->px, N * sizeof *p->px);
    assert_memory_equal(p->element, q->element, N * sizeof *p->element);
    assert_int_equal(p->element[0], LAST_REGION);
    F[4321] = NAN;
    assert_status(aw_push_kick_transport(lat, p, F, F, kick, 0.02), AW_ERR_NONFINITE);
    assert_true(isfinite(p->z[4321])); /* the message names its position */
    aw_free(F);
    aw_particles_free(p);
    aw_particles_free(q);
    aw_lattice_free(lat);
}

int main(int argc, char **argv)
{
    void *kernels = NULL;
    const aw_particle_kernels *found = aw_particle_kernels_find(variant_of(argc, argv)->name);
    memcpy(&kernels, &found, sizeof kernels);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(
            transport_of_a_block_moves_the_particles_that_stay_in_the_region_and_no_others,
            kernels),
        cmocka_unit_test_prestate(transport_of_a_block_does_not_move_particles_with_errors,
                                  kernels),
        cmocka_unit_test_prestate(kick_of_a_block_adds_momentum_and_reports_one_that_is_not_finite,
                                  kernels),
        cmocka_unit_test_prestate(rigid_motion_of_a_block_puts_its_particles_about_the_orbit,
                                  kernels),
        cmocka_unit_test_prestate(statistics_of_a_block_agree_with_the_search_for_the_closest_point,
                                  kernels),
        cmocka_unit_test(beam_statistics_do_not_depend_on_edges_or_the_number_of_threads),
        cmocka_unit_test(kick_transport_has_the_bits_of_a_kick_and_a_transport),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
