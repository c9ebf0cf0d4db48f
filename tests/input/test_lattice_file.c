/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lattice file: lines, repeat, inherit, use, quadrupoles, extensions, and every refusal. */
#include "src/pals/lattice_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/units.h"
#include "src/pals/element_file.h"
#include "tests/assert_close.h"
#include "tests/input/files.h"

#define START "s: {kind: BeginningEle, ReferenceP: {species_ref: electron, E_tot_ref: 1.0e9}}"

typedef aw_lattice_input machine;

static machine read_good(const char *text)
{
    machine m = {0};
    aw_input_errors errors = {0};
    file_write(LATTICE, text, strlen(text));
    capture_begin();
    aw_status status = aw_lattice_file_read(LATTICE, NULL, &errors, &m);
    aw_input_report(&errors);
    capture_end();
    aw_input_errors_free(&errors);
    if (status) print_error("%s", messages());
    assert_ok(status);
    return m;
}

/* A facility of `entries`, then a line "main" of `items`, then its lattice. */
static const char *facility(const char *entries, const char *items)
{
    static char text[8192];
    snprintf(text, sizeof text,
             "PALS:\n  facility:\n%s    - main:\n        kind: BeamLine\n        line:\n          "
             "- " START "\n%s    - m: {kind: Lattice, branches: [main]}\n",
             entries, items);
    return text;
}

static void refused(const char *text, const char *message)
{
    machine m = {0};
    aw_input_errors errors = {0};
    char line[1024];
    file_write(LATTICE, text, strlen(text));
    capture_begin();
    aw_status status = aw_lattice_file_read(LATTICE, NULL, &errors, &m);
    aw_input_report(&errors);
    capture_end();
    aw_input_errors_free(&errors);
    snprintf(line, sizeof line, "arcwake: error: bend.pals.yaml:%s", message);
    assert_message(line);
    assert_status(status, AW_ERR_INPUT);
    assert_null(m.element);
}

static void assert_names(const machine *m, const char *names)
{
    char all[1024] = "";
    for (size_t i = 0; i < m->n; ++i) {
        if (i) strcat(all, " ");
        strcat(all, m->element[i].name);
    }
    assert_string_equal(all, names);
}

static void the_example_of_the_manual_loads(void **state)
{
    (void)state;
    machine m = read_good(good_lattice);
    assert_string_equal(messages(), "");
    assert_names(&m, "bend after");
    assert_true(m.gamma_ref == 5.1099895e9 / AW_ME_EV);
    assert_int_equal(m.element[0].kind, AW_BEND);
    assert_close(m.element[0].length, 0.198968 * 25.13, 1e-15, 0.0); /* one rounding */
    assert_true(m.element[0].angle == 0.198968);
    assert_int_equal(m.element[1].kind, AW_DRIFT);
    assert_true(m.element[1].length == 1.0);
    aw_lattice_input_free(&m);
}

static void lines_repeat_nest_and_reverse(void **state)
{
    (void)state;
    const char *entries = "    - d1: {kind: Drift, length: 2.0}\n"
                          "    - q1: {kind: Quadrupole, length: 0.4}\n"
                          "    - inner: {kind: BeamLine, line: [q1, e: {kind: Marker}]}\n"
                          "    - cell:\n        kind: BeamLine\n        line: [d1, inner]\n";
    machine m = read_good(facility(entries, "          - cell: {repeat: 2}\n"
                                            "          - d1\n          - inner: {repeat: -2}\n"
                                            "          - q1: {repeat: 2}\n"));
    assert_names(&m, "d1 q1 e d1 q1 e d1 e q1 e q1 q1 q1");
    aw_lattice_input_free(&m);
    m = read_good(facility(entries, "          - cell: {repeat: -1}\n"));
    assert_names(&m, "e q1 d1"); /* a reversed line reverses the lines within it */
    aw_lattice_input_free(&m);
    const char *twice =
        "    - a: {kind: BeamLine, line: [" START ", d: {kind: Drift, length: 1}]}\n";
    m = read_good(facility(twice, "          - a\n")); /* the subline's BeginningEle is dropped */
    assert_names(&m, "d");
    aw_lattice_input_free(&m);
}

static void what_is_inherited_may_be_changed(void **state)
{
    (void)state;
    const char *entries =
        "    - q1: {kind: Quadrupole, length: 0.5, MagneticMultipoleP: {Kn1: 1.0}}\n"
        "    - q2: {inherit: q1, length: 0.7}\n"
        "    - b1: {kind: Bend, length: 1, BendP: {angle_ref: 0.1, e1: 0.05}}\n"
        "    - ring: {kind: BeamLine, line: [q1]}\n"
        "    - alias: {inherit: ring}\n";
    machine m = read_good(facility(entries, "          - q2\n"
                                            "          - q3: {inherit: q2, MagneticMultipoleP: "
                                            "{Kn1: -1.0}}\n"
                                            "          - q1: {length: 0.9}\n"
                                            "          - b2: {inherit: b1, BendP: {angle_ref: "
                                            "-0.1}}\n"
                                            "          - alias\n"));
    assert_names(&m, "q2 q3 q1 b2 q1");
    assert_true(m.element[0].length == 0.7 && m.element[0].strength[1] == 1.0);
    assert_true(m.element[1].length == 0.7 && m.element[1].strength[1] == -1.0);
    assert_true(m.element[2].length == 0.9 && m.element[2].strength[1] == 1.0);
    assert_true(m.element[3].angle == -0.1 && m.element[3].e1 == 0.05);
    assert_true(m.element[4].length == 0.5);
    aw_lattice_input_free(&m);
}

static void quadrupoles_take_every_form_of_strength(void **state)
{
    /* (q/p) B for electrons of E = 1 GeV: -c/pc with pc = sqrt(E^2 - m^2) */
    const double factor = -AW_C / sqrt(1.0e18 - AW_ME_EV * AW_ME_EV);
    (void)state;
    machine m = read_good(facility("", "          - a: {kind: Quadrupole, length: 0.5, "
                                       "MagneticMultipoleP: {Kn1: 1.2, tilt1: 0, Ks1: 0.0}}\n"
                                       "          - b: {kind: Quadrupole, length: 0.5, "
                                       "MagneticMultipoleP: {Bn1: 1.2}}\n"
                                       "          - c: {kind: Quadrupole, length: 0.5, "
                                       "MagneticMultipoleP: {Kn1L: 0.6}}\n"
                                       "          - d: {kind: Quadrupole, length: 0.5, "
                                       "MagneticMultipoleP: {Bn1L: 0.6}}\n"
                                       "          - e: {kind: Quadrupole, length: 0.5}\n"));
    assert_true(m.element[0].strength[1] == 1.2);
    assert_close(m.element[1].strength[1], factor * 1.2, 1e-14, 0.0); /* a few roundings */
    assert_close(m.element[2].strength[1], 1.2, 1e-15, 0.0);
    assert_close(m.element[3].strength[1], factor * 1.2, 1e-14, 0.0);
    assert_true(m.element[4].strength[1] == 0.0);
    aw_lattice_input_free(&m);
}

/* Every component of a straight magnet, of any kind and order, per length or as an integral. */
static void multipoles_take_every_component(void **state)
{
    const double factor = -AW_C / sqrt(1.0e18 - AW_ME_EV * AW_ME_EV);
    (void)state;
    machine m = read_good(facility(
        "",
        "          - s: {kind: Sextupole, length: 0.5, MagneticMultipoleP: {Kn2: 12, Ks2: 0}}\n"
        "          - o: {kind: Octupole, length: 0.5, MagneticMultipoleP: {Bn3L: 7.0}}\n"
        "          - m: {kind: Multipole, length: 0.5, MagneticMultipoleP: {Kn0: 1e-3, Bn1: "
        "0.5, Kn2L: 4, Kn21: 1e30, tilt5: 0.3}}\n"
        "          - q: {kind: Quadrupole, length: 0.5, MagneticMultipoleP: {Kn1: 1, Kn5: -7}}\n"
        "          - t: {kind: Multipole, MagneticMultipoleP: {Kn2L: 4, Bn1L: 0.5, Kn7: 3}}\n"
        "          - n: {kind: Sextupole, MagneticMultipoleP: {Kn2L: 0, Kn3: 5}}\n"
        "          - z: {kind: Octupole, length: 0.5, MagneticMultipoleP: {Ks1L: 0, tilt3: 1}}\n"
        "          - c: {kind: RFCavity, length: 1, RFP: {frequency: 2.856e9, voltage: 0, "
        "phase: 0.25, cavity_type: TRAVELING_WAVE}}\n"));
    static const aw_element_kind kinds[] = {AW_SEXTUPOLE, AW_OCTUPOLE, AW_MULTIPOLE, AW_QUADRUPOLE,
                                            AW_MULTIPOLE, AW_MARKER,   AW_OCTUPOLE,  AW_DRIFT};
    assert_string_equal(messages(), "");
    assert_int_equal(m.n, 8);
    for (size_t i = 0; i < m.n; ++i) assert_int_equal(m.element[i].kind, kinds[i]);
    assert_true(m.element[0].strength[2] == 12.0);
    assert_close(m.element[1].strength[3], factor * 14.0, 1e-14, 0.0); /* a few roundings */
    assert_true(m.element[2].strength[0] == 1e-3 && m.element[2].strength[21] == 1e30);
    assert_close(m.element[2].strength[1], factor * 0.5, 1e-14, 0.0);
    assert_true(m.element[2].strength[2] == 8.0);
    assert_true(m.element[3].strength[1] == 1.0 && m.element[3].strength[5] == -7.0);
    assert_true(m.element[4].length == 0.0 && m.element[4].strength[2] == 4.0);
    assert_close(m.element[4].strength[1], factor * 0.5, 1e-14, 0.0);
    assert_true(m.element[4].strength[7] == 0.0); /* times a length of 0 */
    assert_false(aw_element_acts(&m.element[5]) || aw_element_acts(&m.element[6]));
    aw_lattice_input_free(&m);
}

/* One entry of the line, as the only problem. */
static void refused_item(const char *item, const char *message)
{
    char line[256];
    snprintf(line, sizeof line, "          - q: %s\n          - d: {kind: Drift, length: 1}\n",
             item);
    refused(facility("", line), message);
}

static void wrong_multipoles_are_refused(void **state)
{
    (void)state;
    refused_item("{kind: Sextupole, length: 1, MagneticMultipoleP: {Ks2: 1}}",
                 "7:71: main.line.q.MagneticMultipoleP.Ks2: a skew component would bend the beam "
                 "out of the horizontal plane, which is not supported (expected 0, or the normal "
                 "component KnN or BnN)");
    refused_item("{kind: Multipole, MagneticMultipoleP: {Bs1L: 1}}",
                 "7:61: main.line.q.MagneticMultipoleP.Bs1L: a skew component would bend the beam "
                 "out of the horizontal plane, which is not supported (expected 0, or the normal "
                 "component KnN or BnN)");
    refused_item("{kind: Octupole, length: 1, MagneticMultipoleP: {tilt3: 0.1, Kn3: 1}}",
                 "7:72: main.line.q.MagneticMultipoleP.tilt3: a tilted component would bend the "
                 "beam out of the horizontal plane, which is not supported (expected 0)");
    refused_item("{kind: Octupole, length: 1, MagneticMultipoleP: {Kn3: 1, Bn3L: 2}}",
                 "7:73: main.line.q.MagneticMultipoleP.Bn3L: 'Kn3' is given as well, at line 7 "
                 "(expected one of the two)");
    refused_item("{kind: Multipole, length: 1, MagneticMultipoleP: {Kn22: 1}}",
                 "7:66: main.line.q.MagneticMultipoleP.Kn22: unknown key (expected KnN, BnN, KnNL "
                 "or BnNL, N from 0 to 21)");
    refused_item(
        "{kind: Sextupole, length: 1, MagneticMultipoleP: {Kn2: 1 m}}",
        "7:71: main.line.q.MagneticMultipoleP.Kn2: '1 m' is not a plain number (expected a "
        "strength in 1/m^(N+1))");
    refused_item("{kind: Sextupole, length: 1, MagneticMultipoleP: 3}",
                 "7:65: main.line.q.MagneticMultipoleP: '3' is not a mapping (expected parameters "
                 "below it)");
}

static void a_cavity_that_accelerates_is_refused(void **state)
{
    (void)state;
    refused_item(
        "{kind: RFCavity, length: 1, RFP: {voltage: 1e6, frequency: 1.3e9}}",
        "7:59: main.line.q.RFP.voltage: '1e6' at phase 0 changes the reference energy by "
        "1e+06 eV, and a lattice has one (expected a zero crossing, phase +-0.25; or start "
        "behind the cavity, with beam.file)");
    refused_item("{kind: RFCavity, length: 2, RFP: {gradient: 1e6, frequency: 1.3e9, phase: 0.2}}",
                 "7:60: main.line.q.RFP.gradient: '1e6' at phase 0.2 changes the reference energy "
                 "by 618034 eV, and a lattice has one (expected a zero crossing, phase +-0.25; or "
                 "start behind the cavity, with beam.file)");
    refused_item("{kind: RFCavity, length: 1, RFP: {voltag: 1e6}}",
                 "7:50: main.line.q.RFP.voltag: unknown key (expected voltage?)");
    refused_item("{kind: Solenoid, length: 1, SolenoidP: {Ksol: 0.1}}",
                 "7:62: main.line.q.SolenoidP.Ksol: '0.1' is not supported here (expected 0, or "
                 "none)");
}

static void a_cavity_that_is_not_described_is_refused(void **state)
{
#define RF(keys) "{kind: RFCavity, length: 1, RFP: {voltage: 1e6, " keys "}}"
    (void)state;
    refused_item(RF("phase: 0.25"), "7:13: main.line.q: RFP.frequency is missing (expected a "
                                    "frequency in Hz, e.g. 1.3e9)");
    refused_item(RF("phase: 0.25, frequency: 0"),
                 "7:88: main.line.q.RFP.frequency: '0' is not positive (expected a frequency in "
                 "Hz, e.g. 1.3e9)");
    refused_item(RF("phase: 0.25, frequency: 1e9, harmon: 3"),
                 "7:101: main.line.q.RFP.harmon: '3' is not supported: a line has no revolution "
                 "frequency (expected frequency)");
    refused_item(RF("phase: 0.25, frequency: 1e9, multipass_phase: 0.5"),
                 "7:110: main.line.q.RFP.multipass_phase: '0.5' is not supported: a line is passed "
                 "once (expected 0)");
    refused_item(RF("frequency: 1e9, zero_phase: ABOVE_TRANSITION"),
                 "7:92: main.line.q.RFP.zero_phase: 'ABOVE_TRANSITION' is not supported (expected "
                 "ACCELERATING, and a phase from the crest)");
    refused_item(RF("frequency: 1e9, phase: 90 deg"),
                 "7:87: main.line.q.RFP.phase: '90 deg' is not a plain number (expected a phase in "
                 "rad/2pi, e.g. -0.25)");
    refused_item(RF("frequency: 1e9, phase: 0.25, gradient: 2e6"),
                 "7:103: main.line.q.RFP.gradient: times the length is 2000000 V, but voltage, at "
                 "line 7, is 1000000 V (expected one of the two)");
    refused_item("{kind: RFCavity, RFP: {gradient: 1e6, frequency: 1e9, phase: 0.25}}",
                 "7:49: main.line.q.RFP.gradient: a gradient needs a length (expected one, or "
                 "RFP.voltage instead)");
    refused_item("{kind: CrabCavity, length: 1, RFP: {voltage: 1e6, frequency: 1e9, phase: 0.25}}",
                 "7:61: main.line.q.RFP.voltage: '1e6' deflects, which is not supported (expected "
                 "0; or start behind the cavity, with beam.file)");
#undef RF
}

/* Voltage or gradient, or both if they agree; the default of zero_phase; a small gain. */
static void a_cavity_at_a_zero_crossing_is_read(void **state)
{
    (void)state;
    machine m = read_good(facility(
        "", "          - a: {kind: RFCavity, length: 2, RFP: {voltage: 2e7, frequency: 1.3e9, "
            "phase: 0.25}}\n"
            "          - b: {kind: RFCavity, length: 2, RFP: {gradient: 1e7, frequency: 1.3e9, "
            "phase: -0.75, zero_phase: ACCELERATING, harmon: 0, num_cells: 9}}\n"
            "          - c: {kind: RFCavity, RFP: {voltage: -2e7, gradient: 0, frequency: 1.3e9, "
            "phase: 0.250007}}\n"
            "          - d: {kind: RFCavity, length: 2, RFP: {voltage: 2e7, gradient: 1e7, "
            "frequency: 1.3e9, phase: 0.25}}\n"));
    assert_string_equal(messages(), "");
    assert_int_equal(m.n, 4);
    for (size_t i = 0; i < m.n; ++i) {
        const aw_element *e = &m.element[i];
        assert_int_equal(e->kind, AW_CAVITY);
        assert_true(e->rf.voltage == (i == 2 ? -2e7 : 2e7) && e->rf.frequency == 1.3e9);
        assert_true(e->length == (i == 2 ? 0.0 : 2.0));
    }
    assert_true(m.element[1].rf.phase == -0.75); /* its gain, 880 eV, is below 1e-6 of 1 GeV */
    aw_lattice_input_free(&m);
}

static void the_reference_is_energy_or_momentum(void **state)
{
    (void)state;
    machine m = read_good(replaced(good_lattice, "E_tot_ref: 5.1099895e9", "pc_ref: 3.0e6"));
    assert_close(m.gamma_ref, sqrt(3.0e6 * 3.0e6 + AW_ME_EV * AW_ME_EV) / AW_ME_EV, 1e-15, 0.0);
    aw_lattice_input_free(&m);
}

static void a_split_bend_is_the_same_machine(void **state)
{
    aw_config *whole = NULL, *split = NULL;
    (void)state;
    write_good();
    assert_ok(read_run(NULL, 0, &whole));
    const char *text = replaced(good_lattice,
                                "          - bend: {kind: Bend, BendP: {angle_ref: 0.198968, "
                                "radius_ref: 25.13, e1: 0.0, e2: 0.0}}\n",
                                "          - bend: {kind: Bend, BendP: {angle_ref: 0.049742, "
                                "radius_ref: 25.13}, repeat: 4}\n          - m: {kind: Marker}\n"
                                "          - no: {kind: Drift}\n");
    file_write(LATTICE, text, strlen(text));
    assert_ok(read_run(NULL, 0, &split));
    assert_int_equal(split->lattice->n, 7);
    assert_int_equal(split->lattice->orbit.n, whole->lattice->orbit.n);
    for (double S = -1.0; S < 7.0; S += 0.37) { /* rounding of sums of 25 m x 0.2 rad */
        aw_orbit_point a = aw_orbit_at(&whole->lattice->orbit, S);
        aw_orbit_point b = aw_orbit_at(&split->lattice->orbit, S);
        assert_close(b.z, a.z, 0.0, 1e-13);
        assert_close(b.x, a.x, 0.0, 1e-13);
        assert_close(b.theta, a.theta, 0.0, 1e-14);
    }
    aw_config_free(whole);
    aw_config_free(split);
}

static void a_bend_to_the_left_mirrors_the_orbit(void **state)
{
    aw_config *right = NULL, *left = NULL;
    (void)state;
    write_good();
    assert_ok(read_run(NULL, 0, &right));
    const char *text = replaced(good_lattice, "angle_ref: 0.198968, radius_ref: 25.13",
                                "angle_ref: -0.198968, radius_ref: -25.13");
    file_write(LATTICE, text, strlen(text));
    assert_ok(read_run(NULL, 0, &left));
    aw_orbit_point a = aw_orbit_at(&right->lattice->orbit, 5.5);
    aw_orbit_point b = aw_orbit_at(&left->lattice->orbit, 5.5);
    assert_true(a.x < 0.0); /* a positive angle bends towards -x */
    assert_close(b.x, -a.x, 1e-15, 0.0);
    assert_close(b.z, a.z, 1e-15, 0.0);
    aw_config_free(right);
    aw_config_free(left);
}

static void data_of_other_programs_is_passed_over(void **state)
{
    (void)state;
    machine m = read_good("PALS:\n  authors: [someone]\n"
                          "  extension_labels: {names: {Bmad: x}, prefixes: {Sci_: y}}\n"
                          "  crew: {extension: shifts, who: [a, b]}\n"
                          "  facility:\n"
                          "    - crates: {extension: controls, kind_of: many}\n"
                          "    - Bmad: 3\n"
                          "    - l:\n        kind: BeamLine\n        Sci_x: 1\n        line:\n"
                          "          - " START "\n"
                          "          - d: {kind: Drift, length: 1, Bmad: {a: b}, extension: {c: "
                          "d}, MetaP: {alias: x}}\n"
                          "    - unused: {kind: Sextupole, length: 1}\n"
                          "    - m: {kind: Lattice, branches: [l]}\n");
    assert_string_equal(messages(), "");
    assert_names(&m, "d");
    aw_lattice_input_free(&m);
}

static void use_and_branches_choose_the_line(void **state)
{
    (void)state;
    const char *entries =
        "    - a: {kind: BeamLine, line: [" START ", x: {kind: Drift, length: 1}]}\n"
        "    - one: {kind: Lattice, branches: [a]}\n";
    machine m = read_good(facility(entries, "          - y: {kind: Drift, length: 1}\n"));
    assert_names(&m, "y"); /* without use: the last lattice */
    aw_lattice_input_free(&m);
    char used[2048];
    snprintf(used, sizeof used, "%s    - use: one\n", entries);
    m = read_good(facility(used, "          - y: {kind: Drift, length: 1}\n"));
    assert_names(&m, "x");
    aw_lattice_input_free(&m);
    snprintf(used, sizeof used,
             "%s    - two: {kind: Lattice, branches: [b: {inherit: a, periodic: "
             "false}]}\n    - use: two\n",
             entries);
    m = read_good(facility(used, "          - y: {kind: Drift, length: 1}\n"));
    assert_names(&m, "x");
    aw_lattice_input_free(&m);
}

static void a_name_defined_in_a_line_may_be_used_again(void **state)
{
    (void)state;
    const char *entries = "    - cell: {kind: BeamLine, line: [b, in: {kind: BeamLine, line: [d: "
                          "{kind: Drift, length: 0.3}]}]}\n";
    machine m = read_good(facility(entries, "          - b: {kind: Bend, length: 1, BendP: "
                                            "{angle_ref: 0.1}, repeat: 2}\n"
                                            "          - d\n          - b\n          - in\n"
                                            "          - cell\n          - b: {length: 2}\n"
                                            "          - c: {inherit: b}\n"));
    assert_names(&m, "b b d b d b d b c"); /* `repeat` belongs to the item that has it */
    assert_true(m.element[2].length == 0.3 && m.element[3].angle == 0.1);
    assert_true(m.element[7].length == 2.0 && m.element[8].length == 1.0);
    aw_lattice_input_free(&m);
    refused(facility("", "          - d: {kind: Drift, length: 1}\n"
                         "          - d: {kind: Drift, length: 2}\n          - d\n"),
            "9:13: main.line[4]: 'd' is defined in more than one place, at lines 7 and 8 (expected "
            "different names, or one definition in PALS.facility)");
    /* the facility's definition comes first */
    m = read_good(facility("    - d: {kind: Drift, length: 3}\n",
                           "          - d: {kind: Drift, length: 1}\n          - d\n"));
    assert_true(m.element[0].length == 1.0 && m.element[1].length == 3.0);
    aw_lattice_input_free(&m);
}

static void what_has_no_field_is_a_drift(void **state)
{
    static const char *const kinds[] = {"Instrument", "Monitor",    "Kicker",   "ACKicker",
                                        "Mask",       "Collimator", "RFCavity", "CrabCavity",
                                        "Solenoid",   "Patch"};
    static const char *const points[] = {"Fork", "Fiducial", "NullEle", "Marker"};
    char line[256];
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
        snprintf(line, sizeof line, "          - q: {kind: %s, length: 0.2}\n", kinds[i]);
        machine m = read_good(facility("", line));
        assert_int_equal(m.element[0].kind, AW_DRIFT);
        assert_true(m.element[0].length == 0.2);
        aw_lattice_input_free(&m);
    }
    for (size_t i = 0; i < sizeof points / sizeof points[0]; ++i) {
        snprintf(
            line, sizeof line,
            "          - q: {kind: %s, length: 0.0}\n          - d: {kind: Drift, length: 1}\n",
            points[i]);
        machine m = read_good(facility("", line));
        assert_int_equal(m.element[0].kind, AW_MARKER);
        aw_lattice_input_free(&m);
    }
    machine m = read_good(facility(
        "    - k: {kind: Kicker, length: 0.1, MagneticMultipoleP: {Kn0L: 1.0e-3, Ks0L: 0.0, tilt0: "
        "0.5}}\n",
        "          - k0: {inherit: k, MagneticMultipoleP: {Kn0L: 0.0}}\n"
        "          - p: {kind: Patch, length: 0.0, PatchP: {x_offset: 0.0, flexible: false, "
        "ref_coords: exit_end}}\n"
        "          - d: {kind: Drift, length: 0.1, BodyShiftP: {x_offset: 0.0}, ApertureP: "
        "{x_limits: [null, null], shape: RECTANGULAR, aperture_active: true}}\n"));
    assert_string_equal(messages(), "");
    assert_true(m.element[0].kind == AW_DRIFT && m.element[1].kind == AW_MARKER);
    aw_lattice_input_free(&m);
    refused(facility("", "          - k: {kind: Kicker, length: 0.1, MagneticMultipoleP: {Kn0L: "
                         "1.0e-3}}\n"),
            "7:71: main.line.k.MagneticMultipoleP.Kn0L: '1.0e-3' is not supported here (expected "
            "0, or none)");
    refused(facility("", "          - p: {kind: Patch, PatchP: {x_offset: 0.01}}\n"),
            "7:49: main.line.p.PatchP.x_offset: '0.01' is not supported here (expected 0, or "
            "none)");
    refused(facility("", "          - d: {kind: Drift, length: 1, ApertureP: {x_limits: [-0.01, "
                         "0.01]}}\n"),
            "7:63: main.line.d.ApertureP.x_limits: a list is not supported here (expected 0, or "
            "none)");
}

/* pals_schema writes `- use: name` as `- name`, and both energies. */
static void a_name_in_the_facility_chooses_the_lattice(void **state)
{
    (void)state;
    machine m = read_good(replaced(good_lattice, "- use: lcls", "- lcls"));
    assert_string_equal(m.name, "lcls");
    aw_lattice_input_free(&m);
    refused(replaced(good_lattice, "- use: lcls", "- lcl"),
            "11:7: PALS.facility[3]: 'lcl' is not defined in PALS.facility (expected lcls?)");
    m = read_good(replaced(good_lattice, "E_tot_ref:",
                           "time_ref: 0.0, pc_ref: 0.0, location: UPSTREAM_END, E_tot_ref:"));
    assert_true(m.gamma_ref == 5.1099895e9 / AW_ME_EV);
    aw_lattice_input_free(&m);
    refused(replaced(good_lattice, "E_tot_ref:", "time_ref: 1.0, E_tot_ref:"),
            "7:87: lcls_line.line.start.ReferenceP.time_ref: is not supported (expected 0: runs "
            "start at time 0)");
}

/* Repeating a wrong item says it once, and looks its name up once. */
static void a_wrong_item_that_is_repeated_is_told_once(void **state)
{
    static char entries[200000];
    size_t used = 0;
    (void)state;
    for (int i = 0; i < 2000; ++i)
        used += (size_t)snprintf(entries + used, sizeof entries - used,
                                 "    - element_%d: {kind: Drift, length: 0.1}\n", i);
    char *text = malloc(sizeof entries + 1000);
    assert_non_null(text);
    sprintf(text,
            "PALS:\n  facility:\n%s    - cell: {kind: BeamLine, line: [element_1x]}\n    - main: "
            "{kind: BeamLine, line: [" START
            ", cell: {repeat: 100000}]}\n    - m: {kind: Lattice, branches: [main]}\n",
            entries);
    refused(text, "2003:37: cell.line[1]: 'element_1x' is not defined in PALS.facility (expected "
                  "element_1?)");
    assert_int_equal(message_count(), 1);
    free(text);
}

/* What is refused only when the orbit is built has the place of its element. */
static void what_the_orbit_refuses_is_told_by_place(void **state)
{
    (void)state;
    refused_lattice("radius_ref: 25.13", "radius_ref: 1.0e-3",
                    "bend.pals.yaml:8:13: bend: the edges at S = 0 m and 0.000198968 m cross 0.001 "
                    "m from the orbit, inside the beam pipe (expected > 0.01 m: smaller edge "
                    "angles or more distance)");
    refused_lattice(
        "- after:",
        "- kink: {kind: Bend, length: 1, BendP: {g_ref: 0.1, e1: 0.2}}\n          - "
        "after:",
        "bend.pals.yaml:9:13: kink: bends bend and kink touch, but their edges cross on "
        "the orbit (e2 = 0, e1 = 0.2; expected e1 = -e2, or a drift between)");
    refused_lattice("- after: {kind: Drift, length: 1.0}",
                    "- after: {kind: Quadrupole, length: 1.0, MagneticMultipoleP: {Bn1: 1e308}}",
                    "bend.pals.yaml:9:78: lcls_line.line.after.MagneticMultipoleP.Bn1: '1e308' is "
                    "too strong for a double (expected e.g. 1.5)");
    refused_lattice("- after: {kind: Drift, length: 1.0}",
                    "- after: {kind: Sextupole, length: 1.0, MagneticMultipoleP: {Kn2: 1e10}}",
                    "bend.pals.yaml:9:13: after: its strengths would let a particle 1 cm off its "
                    "axis oscillate 1.59e+03 times (expected at most 159)");
    refused_lattice(
        "- after:",
        "- thin: {kind: Sextupole, MagneticMultipoleP: {Kn2L: 1e6}}\n          - after:",
        "bend.pals.yaml:9:13: thin: its strengths turn a particle 1 cm off its axis by "
        "50 rad (expected at most 1)");
}

static void a_beginning_is_no_element(void **state)
{
    aw_input_errors errors = {0};
    aw_yaml *doc = NULL;
    aw_element element;
    (void)state;
    const char *text = "s: {kind: BeginningEle}";
    assert_ok(aw_yaml_parse("f.yaml", text, strlen(text), &errors, &doc));
    const aw_yaml_node *node = aw_yaml_get(aw_yaml_root(doc), "s");
    const aw_spec spec = {.name = "s", .place = node, .node = {node}, .n = 1};
    const aw_element_reader reader = {.errors = &errors};
    assert_int_equal(aw_element_read(&reader, &spec, "BeginningEle", &element), 0);
    assert_int_equal(aw_element_read(&reader, &spec, "Wormhole", &element), 0);
    assert_int_equal(aw_input_count(&errors), 2);
    assert_string_equal(
        errors.item[0].text,
        "f.yaml:1:1: s: kind 'BeginningEle' is not that of an element (expected "
        "Drift, Bend, Quadrupole, Sextupole, Octupole, Multipole, RFCavity, Marker)");
    aw_input_errors_free(&errors);
    aw_yaml_free(doc);
}

static void what_is_no_lattice_is_refused(void **state)
{
    (void)state;
    refused("a: 1\n", "1:1: has no key 'PALS' (expected a PALS lattice: a mapping 'PALS' with "
                      "'facility' below)");
    refused("PALS: {version: null}\n", "1:1: PALS: facility is missing (expected 'facility' with a "
                                       "list of elements, lines and a Lattice)");
    refused("PALS:\n  facility: []\n", "2:3: PALS.facility: has no Lattice (expected '- name: "
                                       "{kind: Lattice, branches: [...]}')");
    refused(replaced(good_lattice, "use: lcls", "use: lcl"),
            "11:12: use: 'lcl' is not defined in PALS.facility (expected lcls?)");
    refused(replaced(good_lattice, "use: lcls", "use: lcls_line"),
            "11:12: use: 'lcls_line' is not a Lattice (expected the name of one)");
    refused(replaced(good_lattice, "[lcls_line]", "[lcls_line, lcls_line]"),
            "10:39: lcls.branches: a list with 2 entries (expected a list of one line)");
    refused(replaced(good_lattice, "facility:", "constants: {a: 1}\n  facility:"),
            "3:3: PALS.constants: not in the PALS subset that arcwake reads (expected one of: "
            "version, facility, authors, notes, reminders, extension_labels)");
    refused(replaced(good_lattice, "    - use: lcls", "    - lcls: {kind: Lattice}"),
            "11:7: lcls: this name was defined before, at line 10 (expected once)");
    refused(replaced(good_lattice, "    - use: lcls", "    - constants: [a: 1]"),
            "11:7: constants: not in the PALS subset that arcwake reads (expected a mapping with "
            "kind or inherit, or use)");
    refused(replaced(good_lattice, "length: 1.0", "lenght: 1.0"),
            "9:34: lcls_line.line.after.lenght: unknown key (expected length?)");
}

static void what_is_no_line_is_refused(void **state)
{
    (void)state;
    refused(facility("", "          - q: {kind: Wiggler, length: 1}\n"),
            "7:23: main.line.q.kind: kind 'Wiggler' of 'q' is not supported (expected "
            "BeginningEle, Drift, Bend, Quadrupole, Sextupole, Octupole, Multipole, RFCavity, "
            "Marker or BeamLine)");
    refused(facility("    - d1: {kind: Drift}\n", "          - dl\n"),
            "8:13: main.line[2]: 'dl' is not defined in PALS.facility (expected d1?)");
    refused(facility("", "          - q: {length: 1}\n"),
            "7:13: main.line.q: has no kind and is not defined in PALS.facility (expected kind: "
            "Drift, ...)");
    refused(facility("", "          - q: {inherit: zz}\n"),
            "7:26: main.line.q.inherit: 'zz' is not defined in PALS.facility (expected the name of "
            "an element or line)");
    refused(facility("    - a: {inherit: b}\n    - b: {inherit: a}\n", "          - a\n"),
            "4:20: b.inherit: inherits in a circle or more than 16 times (expected a shorter "
            "chain)");
    refused(
        facility("    - a: {kind: BeamLine, line: [b]}\n    - b: {kind: BeamLine, line: [a]}\n",
                 "          - a\n"),
        "3:34: a.line[1]: lines within lines in a circle or more than 32 deep (expected fewer)");
    refused(facility("    - d: {kind: Drift, length: 1}\n", "          - d: {repeat: 200000}\n"),
            "8:13: main.line.d: the line is too long (expected at most 100000 elements)");
    refused(facility("    - d: {kind: Drift, length: 1}\n", "          - d: {repeat: 1.5}\n"),
            "8:25: main.line.d.repeat: is not a count (expected a whole number other than 0, e.g. "
            "3; negative: in reverse order)");
    refused(facility("", "          - d: {kind: Drift, length: 1, direction: -1}\n"),
            "7:52: main.line.d.direction: reversed elements are not supported (expected 1)");
    refused(facility("", "          - d: {kind: Drift, length: 1, is_on: false}\n"),
            "7:48: main.line.d.is_on: elements switched off are not supported (expected true; use "
            "kind: Drift)");
    refused(facility("", "          - d: {kind: Drift, length: 0.5 m}\n"),
            "7:38: main.line.d.length: '0.5 m' is not a plain number (expected a length in m, e.g. "
            "0.5)");
    refused(facility("", "          - d: {kind: Drift, length: -0.5}\n"),
            "7:38: main.line.d.length: '-0.5' is negative (expected a length in m, e.g. 0.5)");
    refused(facility("", "          - d: {kind: Marker, length: 0.5}\n"),
            "7:39: main.line.d.length: a marker has no length (expected 0, or kind: Drift)");
    refused(facility("", "          - d: {kind: Marker}\n"),
            "8:26: m.branches: the line has no length (expected at least one element of some "
            "length)");
    refused(facility("", "          - " START "\n          - d: {kind: Drift, length: 1}\n"),
            "7:13: main.line.s: a BeginningEle within the line (expected one, as the first "
            "element)");
}

static void wrong_references_and_strengths_are_refused(void **state)
{
    (void)state;
    refused(
        replaced(good_lattice,
                 "- start: {kind: BeginningEle, ReferenceP: {species_ref: "
                 "electron, E_tot_ref: 5.1099895e9}}",
                 "- x: {kind: Marker}"),
        "7:13: lcls_line.line.x: the line does not begin with a BeginningEle (expected one with "
        "ReferenceP.E_tot_ref)");
    refused(
        replaced(good_lattice, "species_ref: electron", "species_ref: proton"),
        "7:67: lcls_line.line.start.ReferenceP.species_ref: 'proton' is not supported (expected "
        "electron)");
    refused(replaced(good_lattice, "E_tot_ref: 5.1099895e9", "E_tot_ref: 5e5"),
            "7:88: lcls_line.line.start.ReferenceP.E_tot_ref: '5e5' is not above the rest energy, "
            "510998.95 eV (expected the total energy in eV, e.g. 5.0e9)");
    refused(replaced(good_lattice, "E_tot_ref: 5.1099895e9", "E_tot_ref: 5.2e13"),
            "7:88: lcls_line.line.start.ReferenceP.E_tot_ref: '5.2e13' is above 51 TeV (expected "
            "the total energy in eV, e.g. 5.0e9)");
    refused(replaced(good_lattice, "E_tot_ref: 5.1099895e9", "pc_ref: 1e-5"),
            "7:85: lcls_line.line.start.ReferenceP.pc_ref: '1e-5' is too small for any motion "
            "(expected the momentum times c in eV, e.g. 5.0e9)");
    refused(replaced(good_lattice, "E_tot_ref: 5.1099895e9", "E_tot_ref: 5e9, pc_ref: 5e9"),
            "7:93: lcls_line.line.start.ReferenceP.pc_ref: E_tot_ref is given as well, at line 7 "
            "(expected one of the two)");
    refused(
        replaced(good_lattice, ", E_tot_ref: 5.1099895e9", ""),
        "7:13: lcls_line.line.start: ReferenceP.E_tot_ref is missing (expected the total energy "
        "in eV, or pc_ref)");
    refused(facility("",
                     "          - q: {kind: Quadrupole, length: 1, MagneticMultipoleP: {Kn1: 1, "
                     "Bn1: 1}}\n"),
            "7:75: main.line.q.MagneticMultipoleP.Bn1: 'Kn1' is given as well, at line 7 (expected "
            "one of the two)");
    refused(facility("", "          - q: {kind: Quadrupole, length: 1, MagneticMultipoleP: {k1: "
                         "1}}\n"),
            "7:67: main.line.q.MagneticMultipoleP.k1: unknown key (expected KnN, BnN, KnNL or "
            "BnNL, N from 0 to 21)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_manual_loads),
        cmocka_unit_test(lines_repeat_nest_and_reverse),
        cmocka_unit_test(what_is_inherited_may_be_changed),
        cmocka_unit_test(quadrupoles_take_every_form_of_strength),
        cmocka_unit_test(multipoles_take_every_component),
        cmocka_unit_test(wrong_multipoles_are_refused),
        cmocka_unit_test(a_cavity_that_accelerates_is_refused),
        cmocka_unit_test(a_cavity_that_is_not_described_is_refused),
        cmocka_unit_test(a_cavity_at_a_zero_crossing_is_read),
        cmocka_unit_test(the_reference_is_energy_or_momentum),
        cmocka_unit_test(a_split_bend_is_the_same_machine),
        cmocka_unit_test(a_bend_to_the_left_mirrors_the_orbit),
        cmocka_unit_test(data_of_other_programs_is_passed_over),
        cmocka_unit_test(use_and_branches_choose_the_line),
        cmocka_unit_test(a_name_defined_in_a_line_may_be_used_again),
        cmocka_unit_test(what_has_no_field_is_a_drift),
        cmocka_unit_test(a_name_in_the_facility_chooses_the_lattice),
        cmocka_unit_test(a_wrong_item_that_is_repeated_is_told_once),
        cmocka_unit_test(what_the_orbit_refuses_is_told_by_place),
        cmocka_unit_test(a_beginning_is_no_element),
        cmocka_unit_test(what_is_no_lattice_is_refused),
        cmocka_unit_test(what_is_no_line_is_refused),
        cmocka_unit_test(wrong_references_and_strengths_are_refused),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
