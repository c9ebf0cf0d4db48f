/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bends: every way to define one gives the same; edges; bends to the left; what is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/units.h"
#include "src/pals/lattice_file.h"
#include "tests/assert_close.h"
#include "tests/input/files.h"

/* Reference electron of pc = 5 GeV: the rigidity p/e is pc/c [T m]. */
#define PC 5.0e9

/* The first element of a line of `text` after a BeginningEle; stderr captured. */
static aw_status read_one(const char *text, aw_element *out)
{
    char file[2048];
    aw_input_errors errors = {0};
    aw_lattice_input input;
    snprintf(file, sizeof file,
             "PALS:\n  facility:\n    - l:\n        kind: BeamLine\n        line:\n"
             "          - s: {kind: BeginningEle, ReferenceP: {species_ref: electron, pc_ref: "
             "5.0e9}}\n          - b: %s\n    - m: {kind: Lattice, branches: [l]}\n",
             text);
    file_write(LATTICE, file, strlen(file));
    capture_begin();
    aw_status status = aw_lattice_file_read(LATTICE, NULL, &errors, &input);
    aw_input_report(&errors);
    capture_end();
    aw_input_errors_free(&errors);
    if (status == AW_OK) *out = input.element[0];
    aw_lattice_input_free(&input);
    return status;
}

static aw_element good(const char *text)
{
    aw_element e = {0};
    aw_status status = read_one(text, &e);
    if (status) print_error("%s\n%s", text, messages());
    assert_ok(status);
    return e;
}

static void refused(const char *text, const char *message)
{
    aw_element e;
    char line[1024];
    assert_status(read_one(text, &e), AW_ERR_INPUT);
    snprintf(line, sizeof line, "arcwake: error: bend.pals.yaml:%s", message);
    assert_message(line);
}

/* 1e-12: a few roundings of sin, asin and the printed 17 digits, at angles where none cancels. */
static void assert_bend(const char *text, double length, double angle, double e1, double e2)
{
    aw_element e = good(text);
    assert_int_equal(e.kind, AW_BEND);
    assert_close(e.length, length, 1e-12, 0.0);
    assert_close(e.angle, angle, 1e-12, 0.0);
    assert_close(e.e1, e1, 1e-12, 1e-15);
    assert_close(e.e2, e2, 1e-12, 1e-15);
}

static void every_definition_gives_the_same_bend(void **state)
{
    static const double angles[] = {0.198968, -0.198968, 1e-3, 1.2, -1e-7};
    const double R = 25.13;
    (void)state;
    for (size_t i = 0; i < sizeof angles / sizeof angles[0]; ++i) {
        double angle = angles[i], radius = angle > 0.0 ? R : -R, arc = fabs(R * angle);
        double chord = 2.0 * R * fabs(sin(0.5 * angle)), rect = R * fabs(sin(angle));
        double field = -PC / AW_C / radius; /* g = (q/p) B with q = -e */
        const char *const curvature[] = {"radius_ref", "g_ref", "Bn0_ref", "rho_ref",
                                         "bend_field_ref"};
        const double strength[] = {radius, 1.0 / radius, field, radius, field};
        const char *const length[] = {"length", "L_chord", "L_rectangle"};
        const double metres[] = {arc, chord, rect};
        char text[512], of_length[128];
        for (int l = 0; l < 3; ++l) {
            snprintf(of_length, sizeof of_length, "%.17g", metres[l]);
            const char *own = l == 0 ? of_length : NULL;
            snprintf(text, sizeof text, "{kind: Bend%s%s, BendP: {angle_ref: %.17g%s%s%s%s}}",
                     own ? ", length: " : "", own ? own : "", angle, own ? "" : ", ",
                     own ? "" : length[l], own ? "" : ": ", own ? "" : of_length);
            assert_bend(text, arc, angle, 0.0, 0.0);
            for (int c = 0; c < 5; ++c) {
                snprintf(text, sizeof text, "{kind: Bend%s%s, BendP: {%s: %.17g%s%s%s%s}}",
                         own ? ", length: " : "", own ? own : "", curvature[c], strength[c],
                         own ? "" : ", ", own ? "" : length[l], own ? "" : ": ",
                         own ? "" : of_length);
                assert_bend(text, arc, angle, 0.0, 0.0);
            }
        }
        for (int c = 0; c < 5; ++c) {
            snprintf(text, sizeof text, "{kind: Bend, BendP: {angle_ref: %.17g, %s: %.17g}}", angle,
                     curvature[c], strength[c]);
            assert_bend(text, arc, angle, 0.0, 0.0);
        }
        snprintf(text, sizeof text,
                 "{kind: Bend, length: %.17g, BendP: {angle_ref: %.17g, "
                 "radius_ref: %.17g, g_ref: %.17g}}",
                 arc, angle, radius, 1.0 / radius);
        assert_bend(text, arc, angle, 0.0, 0.0); /* more than needed, in agreement */
    }
}

static void closed_forms_of_pals_hold(void **state)
{
    (void)state;
    /* examples/unit_tests/elements of the standard: bend_chord and bend_angle_radius */
    double angle = 2.0 * asin(0.25 * 1.9 / 2.0);
    assert_bend("{kind: Bend, BendP: {g_ref: 0.25, L_chord: 1.9}}", angle / 0.25, angle, 0.0, 0.0);
    assert_bend("{kind: Bend, BendP: {angle_ref: 0.2, radius_ref: 5.0}}", 1.0, 0.2, 0.0, 0.0);
    /* bend_straight: no curvature given */
    aw_element e = good("{kind: Bend, length: 0.8, BendP: {e1: 0.01}}");
    assert_int_equal(e.kind, AW_DRIFT);
    assert_true(e.length == 0.8 && e.angle == 0.0);
    /* an integral of the field, as other programs write it beside g_ref */
    assert_bend("{kind: Bend, length: 2, BendP: {g_ref: 0.1}, MagneticMultipoleP: {Kn0: 0.1}}", 2.0,
                0.2, 0.0, 0.0);
    assert_bend("{kind: Bend, length: 2, BendP: {g_ref: 0.1}, MagneticMultipoleP: {Kn0L: 0.2, Kn1: "
                "0.0}}",
                2.0, 0.2, 0.0, 0.0);
}

static void faces_follow_the_reference_geometry(void **state)
{
    (void)state;
    assert_bend("{kind: SBend, length: 1, BendP: {angle_ref: 0.2, e1: 0.03, e2: -0.04}}", 1.0, 0.2,
                0.03, -0.04);
    assert_bend("{kind: Bend, length: 1, BendP: {angle_ref: 0.2, e1_rect: 0.03}}", 1.0, 0.2, 0.13,
                0.0);
    assert_bend("{kind: RBend, length: 1, BendP: {angle_ref: 0.2}}", 1.0, 0.2, 0.1, 0.1);
    assert_bend("{kind: RBend, length: 1, BendP: {angle_ref: -0.2}}", 1.0, -0.2, -0.1, -0.1);
    assert_bend("{kind: RBend, length: 1, BendP: {angle_ref: 0.2, e1_rect: 0.03, e2_rect: -0.01}}",
                1.0, 0.2, 0.13, 0.09);
    assert_bend("{kind: RBend, length: 1, BendP: {angle_ref: 0.2, e1: 0.03}}", 1.0, 0.2, 0.03, 0.1);
    assert_bend("{kind: Bend, length: 1, BendP: {angle_ref: 0.2, ref_geometry: chord}}", 1.0, 0.2,
                0.1, 0.1);
    assert_bend("{kind: Bend, length: 1, BendP: {angle_ref: 0.2, ref_geometry: entrance_coords}}",
                1.0, 0.2, 0.0, 0.2);
    assert_bend("{kind: Bend, length: 1, BendP: {angle_ref: 0.2, ref_geometry: EXIT_COORDS, "
                "e2_rect: 0.01}}",
                1.0, 0.2, 0.2, 0.01);
    assert_bend("{kind: RBend, length: 1, BendP: {angle_ref: 0.2, ref_geometry: arc}}", 1.0, 0.2,
                0.0, 0.0);
}

/* pals_schema 0.3 writes every parameter that it knows, with 0 for what was not given. */
static void zeros_beside_other_values_are_not_given(void **state)
{
#define NEUTRAL "edge_int1: 0.0, edge_int2: 0.0, h1: 0.0, h2: 0.0, L_sagitta: 0.0, tilt_ref: 0.0"
    (void)state;
    assert_bend("{kind: SBend, length: 2, BendP: {rho_ref: 0.0, bend_field_ref: 0.0, e1: 0.01, e2: "
                "0.0, e1_rect: 0.0, e2_rect: 0.0, g_ref: 0.1, L_chord: 0.0, " NEUTRAL "}}",
                2.0, 0.2, 0.01, 0.0);
    assert_bend("{kind: SBend, length: 2, BendP: {rho_ref: 10.0, bend_field_ref: 0.0, e1: 0.0, e2: "
                "0.0, e1_rect: 0.01, e2_rect: 0.0, g_ref: 0.0, L_chord: 0.0, " NEUTRAL "}}",
                2.0, 0.2, 0.11, 0.0);
    assert_bend("{kind: SBend, length: 0.0, BendP: {rho_ref: 4.0, g_ref: 0.0, L_chord: 1.9}}",
                8.0 * asin(0.25 * 1.9 / 2.0), 2.0 * asin(0.25 * 1.9 / 2.0), 0.0, 0.0);
    assert_bend("{kind: RBend, length: 2, BendP: {g_ref: 0.1, e1: 0.0, e2: 0.0, e1_rect: 0.0, "
                "e2_rect: 0.0}}",
                2.0, 0.2, 0.1, 0.1); /* no face is given: parallel ones */
    aw_element e =
        good("{kind: SBend, length: 2, BendP: {rho_ref: 0.0, bend_field_ref: 0.0, g_ref: "
             "0.0, L_chord: 0.0, " NEUTRAL "}}");
    assert_int_equal(e.kind, AW_DRIFT);
    refused("{kind: SBend, length: 2, BendP: {g_ref: 0.1, edge_int1: 0.3}}",
            "7:72: l.line.b.BendP.edge_int1: is not supported (expected 0: hard, flat edges in the "
            "horizontal plane)");
    refused("{kind: SBend, length: 2, BendP: {g_ref: 0.1, L_sagitta: 0.05}}",
            "7:72: l.line.b.BendP.L_sagitta: is not supported (expected 0: hard, flat edges in the "
            "horizontal plane)");
    refused("{kind: SBend, length: 2, BendP: {g_ref: 0.1, e1: 0.1, e1_rect: 0.05}}",
            "7:70: l.line.b.BendP.e1_rect: 'e1' is given as well, at line 7 (expected one of the "
            "two)");
#undef NEUTRAL
}

static void what_defines_no_bend_is_refused(void **state)
{
    (void)state;
    refused("{kind: Bend, BendP: {angle_ref: 0.1}}",
            "7:13: l.line.b: the bend is not defined (expected two of: g_ref or radius_ref; length "
            "or L_chord; angle_ref)");
    refused("{kind: Bend, length: 1, BendP: {angle_ref: 0.1, g_ref: 0.2}}",
            "7:59: l.line.b.BendP.angle_ref: disagrees with 'g_ref' and 'length', which give 0.2 "
            "rad (expected any two of curvature, length and angle)");
    refused("{kind: Bend, length: 1, BendP: {g_ref: 0.1, radius_ref: 9}}",
            "7:72: l.line.b.BendP.radius_ref: disagrees with 'g_ref' at line 7: 0.1111111111 and "
            "0.1 (expected one of the two)");
    refused("{kind: Bend, length: 1, BendP: {g_ref: 0.1, L_chord: 1}}",
            "7:69: l.line.b.BendP.L_chord: 'length' is given as well, at line 7 (expected one "
            "length)");
    refused("{kind: Bend, BendP: {angle_ref: 0.1, radius_ref: -5}}",
            "7:13: l.line.b: no bend has this 'angle_ref' and this 'radius_ref' (expected the same "
            "sign of angle and radius, and a length that fits the circle)");
    refused("{kind: Bend, BendP: {L_chord: 11, radius_ref: 5}}",
            "7:13: l.line.b: no bend has this 'L_chord' and this 'radius_ref' (expected the same "
            "sign of angle and radius, and a length that fits the circle)");
    refused("{kind: Bend, length: -1, BendP: {angle_ref: 0.1}}",
            "7:37: l.line.b.length: '-1' is negative (expected a length in m, e.g. 0.5)");
    refused("{kind: Bend, BendP: {angle_ref: 0.1, L_chord: -1}}",
            "7:62: l.line.b.BendP.L_chord: '-1' is not positive (expected a length in m, e.g. 0.5; "
            "a bend to the left has a negative angle and radius)");
    refused("{kind: Bend, length: 1, BendP: {radius_ref: 0}}",
            "7:60: l.line.b.BendP.radius_ref: a radius of zero (expected a radius in m, e.g. "
            "25.13)");
    refused("{kind: Bend, length: 1, BendP: {angle_ref: 7}}",
            "7:13: l.line.b: turns by 7 rad, more than a full circle (expected an angle in rad, "
            "e.g. 0.1)");
    refused("{kind: Bend, length: 1, BendP: {angle_ref: 0.1, e1: 0.1, e1_rect: 0.2}}",
            "7:73: l.line.b.BendP.e1_rect: 'e1' is given as well, at line 7 (expected one of the "
            "two)");
    refused(
        "{kind: Bend, length: 1, BendP: {angle_ref: 0.1, e1: 1.1}}",
        "7:68: l.line.b.BendP.e1: '1.1' turns the face by more than 1 rad (expected an angle in "
        "rad, e.g. 0.05)");
    refused("{kind: Bend, length: 1, BendP: {angle_ref: 0.1, ref_geometry: round}}",
            "7:78: l.line.b.BendP.ref_geometry: 'round' is not known (expected arc, chord, "
            "entrance_coords or exit_coords)");
}

/* Gradients of a bend, and what they are the gradients of. */
static void a_bend_may_have_gradients(void **state)
{
    static const struct {
        const char *text;
        double k1, k2;
        aw_multipole_geometry geometry;
    } cases[] = {
        {"{kind: Bend, length: 2, BendP: {g_ref: 0.1}, MagneticMultipoleP: {Kn1: 0.3, Kn2L: 5}}",
         0.3, 2.5, AW_VERTICALLY_PURE},
        {"{kind: Bend, length: 2, BendP: {g_ref: 0.1, multipole_geometry: HORIZONTALLY_PURE}, "
         "MagneticMultipoleP: {Kn0: 0.1, Kn1L: -0.3}}",
         -0.15, 0.0, AW_HORIZONTALLY_PURE},
        {"{kind: RBend, length: 2, BendP: {g_ref: 0.1, multipole_geometry: vertically_pure}, "
         "MagneticMultipoleP: {Kn1: 0.3}}",
         0.3, 0.0, AW_VERTICALLY_PURE},
        {"{kind: RBend, length: 2, BendP: {g_ref: 0.1, multipole_geometry: chord}}", 0.0, 0.0,
         AW_VERTICALLY_PURE},
        {"{kind: Bend, length: 2, BendP: {g_ref: 0, e1: 0.1}, MagneticMultipoleP: {Kn1: 0.3}}", 0.3,
         0.0, AW_VERTICALLY_PURE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const aw_element e = good(cases[i].text);
        assert_int_equal(e.kind, AW_BEND);
        assert_true(e.length == 2.0 && e.strength[0] == 0.0);
        assert_close(e.strength[1], cases[i].k1, 1e-15, 0.0);
        assert_close(e.strength[2], cases[i].k2, 1e-15, 0.0);
        assert_int_equal(e.geometry, cases[i].geometry);
    }
}

static void wrong_gradients_of_a_bend_are_refused(void **state)
{
    (void)state;
    refused(
        "{kind: RBend, length: 1, BendP: {angle_ref: 0.1}, MagneticMultipoleP: {Kn2: 0.2}}",
        "7:92: l.line.b.MagneticMultipoleP.Kn2: in a bend, multipoles along a straight axis are "
        "not supported (expected multipole_geometry: vertically_pure or horizontally_pure in "
        "BendP, which follow the arc)");
    refused(
        "{kind: Bend, length: 1, BendP: {angle_ref: 0.1, multipole_geometry: chord}, "
        "MagneticMultipoleP: {Kn1: 0.2}}",
        "7:118: l.line.b.MagneticMultipoleP.Kn1: in a bend, multipoles along a straight axis are "
        "not supported (expected multipole_geometry: vertically_pure or horizontally_pure in "
        "BendP, which follow the arc)");
    refused("{kind: Bend, length: 1, BendP: {angle_ref: 0.1, multipole_geometry: pure}}",
            "7:84: l.line.b.BendP.multipole_geometry: 'pure' is not known (expected "
            "follows_ref_geometry, vertically_pure, horizontally_pure, chord, entrance_coords or "
            "exit_coords)");
    refused(
        "{kind: Bend, length: 1, BendP: {angle_ref: 0.1}, MagneticMultipoleP: {Ks1: 0.2}}",
        "7:91: l.line.b.MagneticMultipoleP.Ks1: a skew component would bend the beam out of the "
        "horizontal plane, which is not supported (expected 0, or the normal component KnN or "
        "BnN)");
    refused(
        "{kind: Bend, length: 1, BendP: {angle_ref: 0.1}, MagneticMultipoleP: {Kn10: 0.2}}",
        "7:92: l.line.b.MagneticMultipoleP.Kn10: this component is not supported here (expected "
        "0, or orders up to 9)");
}

static void what_the_bend_cannot_do_is_refused(void **state)
{
    (void)state;
    refused("{kind: Bend, length: 1, BendP: {angle_ref: 0.1, tilt_ref: 1.5}}",
            "7:74: l.line.b.BendP.tilt_ref: is not supported (expected 0: hard, flat edges in the "
            "horizontal plane)");
    refused("{kind: Bend, length: 1, BendP: {angle_ref: 0.1, Kn0_from_g_ref: false}}",
            "7:80: l.line.b.BendP.Kn0_from_g_ref: a field other than the reference field is not "
            "supported (expected true)");
    refused("{kind: Bend, length: 1, BendP: {angle_ref: 0.1}, MagneticMultipoleP: {Kn0: 0.2}}",
            "7:91: l.line.b.MagneticMultipoleP.Kn0: a field other than the reference field is not "
            "supported (expected Kn0 = g_ref = 0.1 1/m)");
    refused("{kind: Bend, length: 1, BendP: {angel_ref: 0.1}}",
            "7:48: l.line.b.BendP.angel_ref: unknown key (expected angle_ref?)");
    refused("{kind: Bend, length: 1, BendP: 3}",
            "7:47: l.line.b.BendP: '3' is not a mapping (expected parameters below it)");
    refused("{kind: Bend, length: 1, ApertureP: {x_min: 1}}",
            "7:59: l.line.b.ApertureP.x_min: '1' is not supported here (expected 0, or none)");
    refused("{kind: Bend, length: 1, RFP: {voltage: 1}}",
            "7:40: l.line.b.RFP: not in the PALS subset that arcwake reads (expected one of: "
            "kind, inherit, length, repeat, direction, is_on, field_master, MetaP, ApertureP, "
            "BodyShiftP, FloorP, ReferenceChangeP, TrackingP, ElectricMultipoleP, BendP, "
            "MagneticMultipoleP)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_definition_gives_the_same_bend),
        cmocka_unit_test(closed_forms_of_pals_hold),
        cmocka_unit_test(faces_follow_the_reference_geometry),
        cmocka_unit_test(zeros_beside_other_values_are_not_given),
        cmocka_unit_test(what_defines_no_bend_is_refused),
        cmocka_unit_test(a_bend_may_have_gradients),
        cmocka_unit_test(wrong_gradients_of_a_bend_are_refused),
        cmocka_unit_test(what_the_bend_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
