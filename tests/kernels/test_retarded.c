/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The beam at a retarded time: weights, position, velocity; in a straight, an arc, across edges. */
#include <float.h>

#include "kernels/math/retarded.h"
#include "src/base/units.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { N = 12 };
#define CDT 0.02
#define GAMMA 50.0

/* Straight to S = 0, an arc to the left of 4 m radius over 0.1 m, and straight again. */
static aw_orbit_view edges(aw_orbit_piece piece[3])
{
    aw_orbit_view orbit = {piece, 1};
    aw_orbit_point at;
    piece[0] = (aw_orbit_piece){.S = 0.0};
    piece[1] = (aw_orbit_piece){.S = 0.0, .kappa = -0.25};
    orbit.n = 2;
    at = aw_orbit_at(&orbit, 0.1);
    piece[2] = (aw_orbit_piece){.S = 0.1, .z = at.z, .x = at.x, .theta = at.theta};
    orbit.n = 3;
    return orbit;
}

/* A history whose centre moves at beta, and whose offset and tilt are quadratic in time. */
static aw_history_view history_of(slices *s, aw_orbit_view orbit, double now)
{
    slices_new(s, N, 8, 8, 0, 1e-5, 2e-5);
    for (int i = 0; i < N; ++i) {
        double t = -i * CDT;
        s->slice[i].S = now + beta_of(GAMMA) * t;
        s->slice[i].x = 1e-4 + 2e-3 * t - 5e-3 * t * t;
        s->slice[i].tilt = 0.2 - 0.7 * t + 1.1 * t * t;
    }
    return slices_view(s, orbit, CDT, GAMMA, 1e3);
}

static void time_weights_reproduce_quadratics_and_their_rates(void **state)
{
    aw_orbit_piece piece[3];
    slices s;
    aw_history_view h = history_of(&s, edges(piece), 0.05);
    (void)state;
    for (int i = 0; i < 500; ++i) {
        double r = (N - 1) * CDT * i / 500.0, age = r / CDT, sum = 0.0, value = 0.0, rate = 0.0;
        aw_retarded f = aw_retarded_at(&h, r);
        assert_int_equal(f.nt, 3);
        for (int k = 0; k < 3; ++k) {
            double a = (int)age + k, q = 3.0 - 2.0 * a + 0.5 * a * a;
            sum += f.w[k];
            value += f.w[k] * q;
            rate += f.wd[k] * q;
        }
        assert_close(sum, 1.0, 0.0, 4e-16);
        /* rounding of terms up to 60 (ages up to 12) */
        assert_close(value, 3.0 - 2.0 * age + 0.5 * age * age, 0.0, 1e-13);
        assert_close(rate, -(-2.0 + age) / CDT, 0.0, 1e-12 / CDT);
    }
    slices_free(&s);
}

/* Slices on a ladder of steps, whose centre, offset and tilt are quadratic in time. */
static aw_history_view ladder_of(slices *s, aw_orbit_view orbit, double scale)
{
    static const double step[N - 1] = {0.5, 0.5, 1.0, 2.0, 2.0, 1.0, 0.5, 0.25, 0.25, 4.0, 1.0};
    aw_history_view h = history_of(s, orbit, 0.05);
    for (int i = 1; i < N; ++i) s->slice[i].ct = s->slice[i - 1].ct - scale * step[i - 1];
    for (int i = 0; i < N; ++i) {
        const double t = s->slice[i].ct;
        s->slice[i].S = 0.05 + 0.9 * t + 0.3 * t * t;
        s->slice[i].x = 1e-4 + 2e-3 * t - 5e-3 * t * t;
        s->slice[i].tilt = 0.2 - 0.7 * t + 1.1 * t * t;
        s->slice[i].ct += 15.0; /* the origin of time does not matter */
    }
    return h;
}

static void a_delay_belongs_to_the_slice_before_it_whatever_the_spacings(void **state)
{
    aw_orbit_piece piece[3];
    slices s;
    aw_history_view h = ladder_of(&s, edges(piece), CDT);
    (void)state;
    for (int k = 0; k < N; ++k) {
        const double age = aw_slice_age(&h, k), next = aw_slice_age(&h, k + 1);
        assert_int_equal(aw_slice_before(&h, age), k); /* at the slice itself: to the bit */
        for (int i = 1; i < 8; ++i)
            assert_int_equal(aw_slice_before(&h, age + i / 8.0 * (next - age)), k);
    }
    assert_int_equal(aw_slice_before(&h, 1e3), N - 1);
    for (h.n = 1; h.n < N; ++h.n) /* of histories of any length */
        for (int k = 0; k < h.n; ++k) assert_int_equal(aw_slice_before(&h, aw_slice_age(&h, k)), k);
    slices_free(&s);
}

static void unequal_slices_reproduce_quadratic_motion(void **state)
{
    aw_orbit_piece piece = {.S = -100.0, .z = -100.0};
    const aw_orbit_view straight = {&piece, 1};
    slices s;
    aw_history_view h = ladder_of(&s, straight, CDT);
    const double stored = aw_slice_age(&h, N - 2); /* earlier, the upstream has a part */
    (void)state;
    for (int i = 0; i < 500; ++i) {
        const double r = stored * i / 500.0, t = -r;
        aw_retarded f = aw_retarded_at(&h, r);
        assert_int_equal(f.nt, 3);
        /* times of 15 m have a rounding of 1.8e-15 m, of ages over steps of 5 mm 4e-13 */
        assert_close(f.w[0] + f.w[1] + f.w[2], 1.0, 0.0, 1e-14);
        assert_close(f.wd[0] + f.wd[1] + f.wd[2], 0.0, 0.0, 1e-12 / CDT);
        assert_close(f.z, 0.05 + 0.9 * t + 0.3 * t * t, 0.0, 1e-13);
        assert_close(f.x, 1e-4 + 2e-3 * t - 5e-3 * t * t, 0.0, 1e-13);
        assert_close(f.vz, 0.9 + 0.6 * t, 0.0, 1e-11);
        assert_close(f.vx, 2e-3 - 1e-2 * t, 0.0, 1e-11);
        assert_close(atan2(f.sg, f.cg), 0.2 - 0.7 * t + 1.1 * t * t, 0.0, 1e-13);
        assert_close(f.dgrid, -0.7 + 2.2 * t, 0.0, 1e-11);
    }
    slices_free(&s);
}

/* Errors of a tilt sin(2 t), and of its rate, on ladders of steps. */
static void ladder_errors(double scale, double error[2])
{
    aw_orbit_piece piece = {.S = -100.0, .z = -100.0};
    slices s;
    aw_history_view h = ladder_of(&s, (aw_orbit_view){&piece, 1}, scale);
    error[0] = error[1] = 0.0;
    for (int i = 0; i < N; ++i) s.slice[i].tilt = sin(2.0 * (s.slice[i].ct - 15.0));
    for (int i = 0; i < 400; ++i) {
        const double r = aw_slice_age(&h, N - 2) * (i + 0.5) / 400.0;
        const aw_retarded f = aw_retarded_at(&h, r);
        error[0] = fmax(error[0], fabs(atan2(f.sg, f.cg) - sin(-2.0 * r)));
        error[1] = fmax(error[1], fabs(f.dgrid - 2.0 * cos(2.0 * r)));
    }
    slices_free(&s);
}

/* Three slices make an error of third order in the steps, and of second order in rates. */
static void a_change_of_the_step_keeps_the_order(void **state)
{
    double coarse[2], fine[2];
    (void)state;
    ladder_errors(0.005, coarse);
    ladder_errors(0.0025, fine);
    /* the next order of sin(2 t) over steps of up to 20 mm: about 2 * 0.02 */
    assert_close(log2(coarse[0] / fine[0]), 3.0, 0.0, 0.06);
    assert_close(log2(coarse[1] / fine[1]), 2.0, 0.0, 0.06);
}

static void centre_is_on_the_orbit_where_it_was_at_the_retarded_time(void **state)
{
    aw_orbit_piece piece[3];
    slices s;
    aw_history_view h = history_of(&s, edges(piece), 0.15);
    (void)state;
    for (int i = 0; i < 1000; ++i) { /* the last interval borders on the rigid upstream */
        double r = (N - 2) * CDT * i / 1000.0, S = 0.15 - beta_of(GAMMA) * r;
        double x = 1e-4 - 2e-3 * r - 5e-3 * r * r, tilt = 0.2 + 0.7 * r + 1.1 * r * r;
        aw_retarded f = aw_retarded_at(&h, r);
        aw_orbit_point at = aw_orbit_at(&h.orbit, S);
        /* rounding of coordinates of 0.2 m, however near an edge: no (c dt)^2/8R */
        assert_close(f.z, at.z - x * at.st, 0.0, 5e-16);
        assert_close(f.x, at.x + x * at.ct, 0.0, 5e-16);
        assert_close(f.theta, at.theta, 0.0, 5e-16);
        assert_close(atan2(f.sg, f.cg), at.theta + tilt, 0.0, 1e-15);
    }
    slices_free(&s);
}

/* Before the first slice the bunch moves rigidly, for 10 km. */
static void upstream_is_the_first_slice_moved_along_the_orbit(void **state)
{
    aw_orbit_piece piece[3];
    slices s;
    aw_history_view h = history_of(&s, edges(piece), 0.15);
    const double stored = (N - 1) * CDT, last = s.slice[N - 1].S, beta = beta_of(GAMMA);
    (void)state;
    for (double r = stored; r < 1e4; r *= 1.3) {
        aw_retarded f = aw_retarded_at(&h, r);
        aw_orbit_point at = aw_orbit_at(&h.orbit, last - beta * (r - stored));
        double x = s.slice[N - 1].x;
        assert_int_equal(f.nt, 1);
        assert_ptr_equal(f.slice[0], &s.slice[N - 1]);
        assert_close(f.w[0], 1.0, 0.0, 0.0);
        assert_close(f.wd[0], 0.0, 0.0, 0.0);
        assert_close(f.z, at.z - x * at.st, 2.0 * DBL_EPSILON, 1e-17);
        assert_close(f.x, at.x + x * at.ct, 2.0 * DBL_EPSILON, 1e-17);
        assert_close(hypot(f.vz, f.vx), beta * (1.0 + at.kappa * x), 1e-15, 0.0);
        assert_close(f.dgrid, -at.kappa * beta, 1e-15, 0.0);
    }
    slices_free(&s);
}

/* Compare velocity and rotation with central differences of position and angle. */
static void check_rates(const aw_history_view *h, double r)
{
    const double d = 1e-5 * CDT;
    aw_retarded f = aw_retarded_at(h, r), a = aw_retarded_at(h, r - d),
                b = aw_retarded_at(h, r + d);
    /* d/d(ct') = -d/dr. Rounding 1e-16/d = 1e-9; truncation d^2 times third derivatives: less */
    assert_close(f.vz, (a.z - b.z) / (2.0 * d), 0.0, 3e-9);
    assert_close(f.vx, (a.x - b.x) / (2.0 * d), 0.0, 3e-9);
    assert_close(f.dtheta, (a.theta - b.theta) / (2.0 * d), 0.0, 3e-9);
    assert_close(f.dgrid, (atan2(a.sg, a.cg) - atan2(b.sg, b.cg)) / (2.0 * d), 0.0, 6e-9);
}

static void velocity_is_the_rate_of_the_centre_in_straight_and_arc_and_across_edges(void **state)
{
    aw_orbit_piece piece[3];
    slices s;
    aw_history_view h = history_of(&s, edges(piece), 0.15);
    int checked = 0, arcs = 0;
    (void)state;
    for (int i = 1; i < 400; ++i) {
        double r = 0.3 * i / 400.0, S = 0.15 - beta_of(GAMMA) * r, age = r / CDT;
        /* the rates jump at edges and slices: keep a distance of 1e-4 of a slice */
        if (fabs(S) < 1e-6 || fabs(S - 0.1) < 1e-6 || fabs(age - rint(age)) < 1e-4) continue;
        check_rates(&h, r);
        checked++;
        arcs += S > 0.0 && S < 0.1;
    }
    assert_true(checked > 300 && arcs > 50 && arcs < checked - 50);
    for (int side = -1; side <= 1; side += 2) { /* very close to each edge */
        check_rates(&h, (0.15 - 0.0) / beta_of(GAMMA) + side * 1e-6);
        check_rates(&h, (0.15 - 0.1) / beta_of(GAMMA) + side * 1e-6);
    }
    slices_free(&s);
}

/* With data that are no quadratic in time, the interpolation is still continuous at every slice. */
static void position_and_weights_are_continuous_at_slices(void **state)
{
    aw_orbit_piece piece[3];
    uint64_t random = 3;
    slices s;
    aw_history_view h = history_of(&s, edges(piece), 0.15);
    (void)state;
    for (int i = 0; i < N; ++i) {
        s.slice[i].S += uniform(&random, -1e-3, 1e-3);
        s.slice[i].x = uniform(&random, -1e-4, 1e-4);
        s.slice[i].tilt = uniform(&random, -0.3, 0.3);
    }
    for (int k = 1; k < N; ++k) {
        double d = 1e-13, r = k * CDT;
        aw_retarded a = aw_retarded_at(&h, r - d), b = aw_retarded_at(&h, r + d);
        aw_orbit_point at = aw_orbit_at(&h.orbit, s.slice[k].S);
        for (int side = 0; side < 2; ++side) {
            const aw_retarded *f = side ? &b : &a;
            /* 2e-13 m apart, at about the speed of light; tilts change by 30 rad/m */
            assert_close(f->z, at.z - s.slice[k].x * at.st, 0.0, 1e-12);
            assert_close(f->x, at.x + s.slice[k].x * at.ct, 0.0, 1e-12);
            assert_close(atan2(f->sg, f->cg), at.theta + s.slice[k].tilt, 0.0, 1e-10);
            double weight = 0.0; /* the last slice also stands for earlier ones */
            for (int i = 0; i < f->nt; ++i)
                if (f->slice[i] == &s.slice[k]) weight += f->w[i];
            assert_close(weight, 1.0, 0.0, 1e-10);
        }
    }
    slices_free(&s);
}

static void a_history_without_upstream_ends_at_its_last_three_slices(void **state)
{
    aw_orbit_piece piece[3];
    slices s;
    aw_history_view h = history_of(&s, edges(piece), 0.15);
    (void)state;
    h.upstream = 0;
    assert_int_equal(aw_retarded_at(&h, (N - 2.01) * CDT).nt, 3);
    assert_int_equal(aw_retarded_at(&h, (N - 1.99) * CDT).nt, 0);
    assert_int_equal(aw_retarded_at(&h, 10.0).nt, 0);
    slices_free(&s);
}

/* A single slice is a whole history: the motion before it was rigid. */
static void one_slice_with_upstream_is_a_complete_history(void **state)
{
    aw_orbit_piece piece[3];
    slices s;
    aw_history_view h = history_of(&s, edges(piece), -0.2);
    aw_retarded f;
    (void)state;
    h.n = 1;
    f = aw_retarded_at(&h, 0.0);
    assert_int_equal(f.nt, 1);
    assert_close(f.z, -0.2, 1e-16, 0.0);
    f = aw_retarded_at(&h, 3.0);
    assert_close(f.z, -0.2 - beta_of(GAMMA) * 3.0, 1e-15, 0.0);
    slices_free(&s);
}

/* Slices of different boxes: nodes follow the finest spacing, limits the widest box. */
static void box_covers_all_contributing_slices(void **state)
{
    aw_orbit_piece piece[3];
    slices s;
    aw_history_view h = history_of(&s, edges(piece), 0.15);
    aw_retarded f = aw_retarded_at(&h, 2.5 * CDT);
    (void)state;
    assert_int_equal(f.same, 1);
    s.slice[3].hs *= 1.5;
    s.slice[4].hx *= 0.5;
    f = aw_retarded_at(&h, 2.5 * CDT);
    assert_int_equal(f.same, 0);
    assert_close(f.hs, 1e-5, 0.0, 0.0);
    assert_close(f.hx, 1e-5, 0.0, 0.0);
    /* 3.5 cells to the outermost of 8 nodes, and AW_SPLINE_REACH = 1.5 beyond it */
    assert_close(f.half_s, 5.0 * 1.5e-5, 1e-15, 0.0);
    assert_close(f.half_x, 5.0 * 2e-5, 1e-15, 0.0);
    slices_free(&s);
}

/* Over the edges of an arc, grids that turn evenly in the lab, or against the tangent: the other
 * angle has a kink. */
static void grids_that_turn_evenly_over_an_edge_are_exact(void **state)
{
    (void)state;
    for (int in_lab = 0; in_lab < 2; ++in_lab) {
        aw_orbit_piece piece[3];
        slices s;
        aw_history_view h = history_of(&s, edges(piece), 0.12);
        for (int i = 0; i < N; ++i) {
            const double tangent = aw_orbit_direction(&h.orbit, s.slice[i].S);
            s.slice[i].tilt = 0.2 + 0.7 * i * CDT - (in_lab ? tangent : 0.0);
        }
        for (int i = 0; i < 200; ++i) {
            const double r = (N - 2) * CDT * (i + 0.5) / 200.0;
            const aw_retarded f = aw_retarded_at(&h, r);
            const double tangent = in_lab ? 0.0 : f.theta, turns = in_lab ? 0.0 : f.dtheta;
            assert_close(atan2(f.sg, f.cg), 0.2 + 0.7 * r + tangent, 0.0, 1e-13);
            assert_close(f.dgrid, -0.7 + turns, 0.0, 1e-11);
        }
        slices_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_weights_reproduce_quadratics_and_their_rates),
        cmocka_unit_test(a_delay_belongs_to_the_slice_before_it_whatever_the_spacings),
        cmocka_unit_test(unequal_slices_reproduce_quadratic_motion),
        cmocka_unit_test(a_change_of_the_step_keeps_the_order),
        cmocka_unit_test(grids_that_turn_evenly_over_an_edge_are_exact),
        cmocka_unit_test(centre_is_on_the_orbit_where_it_was_at_the_retarded_time),
        cmocka_unit_test(upstream_is_the_first_slice_moved_along_the_orbit),
        cmocka_unit_test(velocity_is_the_rate_of_the_centre_in_straight_and_arc_and_across_edges),
        cmocka_unit_test(position_and_weights_are_continuous_at_slices),
        cmocka_unit_test(a_history_without_upstream_ends_at_its_last_three_slices),
        cmocka_unit_test(one_slice_with_upstream_is_a_complete_history),
        cmocka_unit_test(box_covers_all_contributing_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
