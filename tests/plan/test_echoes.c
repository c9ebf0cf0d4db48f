/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Echoes of an edge between plates, on an arc and the straight line behind it: where they are, and
 * how long they last. */
#include "src/plan/echoes.h"

#include <math.h>

#include "tests/assert_close.h"

#define RADIUS 10.0
#define ANGLE 0.05
#define GAP 8e-3
#define SIGMA 0.2e-6

/* The straight lines before and behind an arc that begins at S = 0. */
static aw_orbit_view arc(aw_orbit_piece piece[3])
{
    const double c = cos(ANGLE), s = sin(ANGLE);
    const aw_orbit_view orbit = {piece, 3};
    piece[0] = (aw_orbit_piece){0};
    piece[1] = (aw_orbit_piece){.kappa = 1.0 / RADIUS};
    piece[2] = (aw_orbit_piece){
        .S = RADIUS * ANGLE, .z = RADIUS * s, .x = -RADIUS * (1.0 - c), .theta = -ANGLE};
    return orbit;
}

/* Y^2 of the beginning of the arc, as seen from b behind its end. */
static double height2_of_arc(double b)
{
    const double D = RADIUS * ANGLE + b;
    const double z = RADIUS * sin(ANGLE) + b * cos(ANGLE);
    const double x = RADIUS * (1.0 - cos(ANGLE)) + b * sin(ANGLE);
    return D * D - z * z - x * x;
}

/* Where an image at the height Y shows the beginning of the arc: b of height2_of_arc. */
static double place_of_image(double Y)
{
    double low = 0.0, high = 10.0;
    while (high - low > 1e-9) {
        const double b = 0.5 * (low + high);
        if (height2_of_arc(b) < Y * Y)
            low = b;
        else
            high = b;
    }
    return low;
}

static aw_bunch_place round_bunch(double S)
{
    return (aw_bunch_place){.S = S, .axes = {.longer = SIGMA, .shorter = SIGMA}};
}

static double echo_between(double from, double to)
{
    aw_orbit_piece piece[3];
    const aw_orbit_view orbit = arc(piece);
    const aw_bunch_place edge = round_bunch(0.0);
    const double end = RADIUS * ANGLE;
    const aw_bunch_place here[2] = {round_bunch(end + from), round_bunch(end + to)};
    return aw_echo_length(&orbit, GAP, &edge, here);
}

static void an_edge_passes_where_its_path_is_that_by_an_image(void **state)
{
    (void)state;
    for (int n = 2; n <= 3; ++n) {
        const double b = place_of_image(n * GAP), h = 1e-4;
        const double D = RADIUS * ANGLE + b;
        const double slope = (height2_of_arc(b + h) - height2_of_arc(b - h)) / (4.0 * h * D);
        const double length = sqrt(2.0) * SIGMA / slope; /* of two bunches */
        assert_close(echo_between(b - h, b + h), length, 1e-3, 0.0);
        /* It reaches two rms lengths to either side, and no further; the slope falls with b. */
        assert_true(echo_between(b - 1.7 * length - h, b - 1.7 * length) > 0.0);
        assert_true(echo_between(b + 1.7 * length, b + 1.7 * length + h) > 0.0);
        assert_close(echo_between(b - 2.5 * length, b - 2.5 * length + h), 0.0, 0.0, 0.0);
        assert_close(echo_between(b + 2.5 * length, b + 2.5 * length + h), 0.0, 0.0, 0.0);
    }
}

static void on_a_straight_line_there_are_none(void **state)
{
    const aw_orbit_piece piece[1] = {{0}};
    const aw_orbit_view orbit = {piece, 1};
    const aw_bunch_place edge = round_bunch(0.0);
    (void)state;
    for (int i = -3; i < 4; ++i) {
        const aw_bunch_place here[2] = {round_bunch(ldexp(1.0, i)), round_bunch(ldexp(2.0, i))};
        assert_close(aw_echo_length(&orbit, GAP, &edge, here), 0.0, 0.0, 0.0);
    }
}

/* A thin, tilted bunch is as long as what of it lies along the line of sight. */
static void a_tilted_bunch_has_the_length_that_is_seen(void **state)
{
    aw_orbit_piece piece[3];
    const aw_orbit_view orbit = arc(piece);
    const double b = place_of_image(2.0 * GAP), h = 1e-4, end = RADIUS * ANGLE;
    const double tilt = 0.3, size = 10e-6, thin = 1e-7;
    aw_bunch_place edge = round_bunch(0.0);
    const aw_bunch_place here[2] = {round_bunch(end + b - h), round_bunch(end + b + h)};
    const double z = RADIUS * sin(ANGLE) + b * cos(ANGLE);
    const double x = -RADIUS * (1.0 - cos(ANGLE)) - b * sin(ANGLE);
    const double a = tilt - atan2(x, z);
    const double seen = hypot(size * cos(a), thin * sin(a));
    const double round = aw_echo_length(&orbit, GAP, &edge, here) / (sqrt(2.0) * SIGMA);
    (void)state;
    edge.axes = (aw_optics_axes){.longer = size, .shorter = thin, .tilt = tilt};
    assert_close(aw_echo_length(&orbit, GAP, &edge, here), hypot(seen, SIGMA) * round, 1e-3, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edge_passes_where_its_path_is_that_by_an_image),
        cmocka_unit_test(on_a_straight_line_there_are_none),
        cmocka_unit_test(a_tilted_bunch_has_the_length_that_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
