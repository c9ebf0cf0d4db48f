/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run file: what it means, its defaults, every refusal by place, and the text written back. */
#include "src/input/config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pic/distribution.h"
#include "src/base/units.h"
#include "src/input/fields.h"
#include "tests/assert_close.h"
#include "tests/input/files.h"

static void every_key_arrives(void **state)
{
    (void)state;
    aw_config *c = read_text(good_run);
    assert_string_equal(messages(), "");
    assert_string_equal(c->title, "one bend");
    assert_string_equal(c->path, RUN);
    assert_string_equal(c->lattice_path, LATTICE);
    assert_true(c->beam.charge == 1.0e-9 && c->beam.gamma == 1.0e4);
    assert_int_equal(c->beam.particles, 1000000);
    assert_int_equal(c->beam.seed, 7);
    assert_int_equal(c->beam.quiet, 1);
    assert_true(c->beam.cutoff_sigma == 5.0 && c->beam.sigma_s == 50.0e-6);
    assert_true(c->beam.sigma_x == 40.0e-6 && c->beam.emittance == 0.0);
    assert_true(c->beam.energy_spread == 1.0e-4 && c->beam.chirp == -36.0);
    assert_int_equal(c->motion, AW_MOTION_RIGID);
    assert_int_equal(c->grid[0], 128);
    assert_int_equal(c->grid[1], 96);
    assert_true(c->step_m == 0.01 && c->tolerance == 1.0e-5 && c->inner_density == 1);
    assert_string_equal(c->solver, "adaptive");
    assert_int_equal(c->history_single, 1);
    assert_int_equal(c->upstream, AW_UPSTREAM_DRIFT);
    assert_true(c->history_MiB == 512.0 && c->upstream_m == 2.0e3);
    assert_string_equal(c->device, "cpu");
    assert_string_equal(c->directory, "results");
    assert_int_equal(c->every, 20);
    assert_int_equal(c->particles_every, 40);
    assert_int_equal(c->at_n, 2);
    assert_true(c->at_m[0] == 0.2 && c->at_m[1] == 0.5); /* in order */
    assert_int_equal(c->solve_every, 0);
    assert_int_equal(c->threads, 0);
    assert_int_equal(c->steps, 0);
    assert_true(c->lattice->gamma_ref == 5.1099895e9 / AW_ME_EV);
    aw_config_free(c);
}

static void defaults_are_those_of_the_manual(void **state)
{
    (void)state;
    aw_config *c = read_text("lattice: bend.pals.yaml\n"
                             "beam: {charge_C: 1e-9, sigma_s_m: 1e-5, sigma_x_m: 2e-5}\noutput:\n");
    assert_string_equal(c->title, RUN);
    assert_true(c->beam.gamma == c->lattice->gamma_ref); /* the lattice's energy */
    assert_int_equal(c->beam.particles, 100000);
    assert_int_equal(c->beam.seed, 1);
    assert_int_equal(c->beam.quiet, 1);
    assert_true(c->beam.cutoff_sigma == 5.0 && c->beam.energy_spread == 0.0);
    assert_true(c->beam.chirp == 0.0);
    assert_int_equal(c->motion, AW_MOTION_SELF_CONSISTENT);
    assert_int_equal(c->grid[0], 64);
    assert_int_equal(c->grid[1], 64);
    assert_true(c->step_m == AW_STEP_AUTO && c->tolerance == 1e-6 && c->inner_density == 1);
    assert_string_equal(c->solver, "projection");
    assert_int_equal(c->history_single, 0);
    assert_int_equal(c->upstream, AW_UPSTREAM_DRIFT);
    assert_true(c->history_MiB == 4096.0 && c->upstream_m == 1.0e4);
    assert_string_equal(c->device, "auto");
    assert_string_equal(c->directory, "out");
    assert_int_equal(c->every, 10);
    assert_int_equal(c->particles_every, 0);
    assert_int_equal(c->at_n, 0);
    assert_int_equal(c->particles_at_n, 0);
    aw_config_free(c);
}

static void particles_have_a_list_of_places_of_their_own(void **state)
{
    (void)state;
    aw_config *c =
        read_text(replaced(good_run, "particles_every: 40", "particles_at_m: [6.0, 0.0, 0.3]"));
    assert_int_equal(c->particles_at_n, 3);
    assert_true(c->particles_at_m[0] == 0.0 && c->particles_at_m[1] == 0.3 &&
                c->particles_at_m[2] == 6.0); /* in order */
    assert_int_equal(c->at_n, 2);
    assert_int_equal(c->particles_every, 0);
    aw_config_free(c);
}

static void energy_and_emittance_are_alternatives(void **state)
{
    (void)state;
    const char *text = replaced(good_run, "gamma: 1.0e4", "energy_eV: 5.12e9");
    aw_config *c = read_text(text);
    assert_true(c->beam.gamma == 5.12e9 / AW_ME_EV);
    aw_config_free(c);
    c = read_text(replaced(good_run, "sigma_x_m: 40.0e-6",
                           "emittance_x_m: 1.0e-10\n  beta_x_m: 10.0\n  alpha_x: -1.5"));
    assert_true(c->beam.emittance == 1.0e-10 && c->beam.beta_x == 10.0 && c->beam.alpha_x == -1.5);
    assert_close(c->beam.sigma_x, 3.1622776601683795e-5, 1e-15, 0.0); /* sqrt(1e-9), to rounding */
    aw_config_free(c);
}

static void the_energy_may_differ_with_a_warning(void **state)
{
    (void)state;
    aw_config *c = read_text(replaced(good_run, "gamma: 1.0e4", "gamma: 1.0099e4"));
    assert_string_equal(messages(), "");
    aw_config_free(c);
    c = read_text(replaced(good_run, "gamma: 1.0e4", "gamma: 1.02e4"));
    assert_message(
        "arcwake: warning: run.yaml:5:10: beam.gamma: the beam's mean energy is +2 % from the "
        "lattice's reference energy (gamma 10200 and 10000), which sets the fields");
    aw_config_free(c);
}

static void values_out_of_range_are_refused(void **state)
{
    (void)state;
    refused_run("1.0e-9", "-1e-9",
                "run.yaml:4:13: beam.charge_C: '-1e-9' is not positive (expected a magnitude in C, "
                "e.g. 1.0e-9)");
    refused_run("1.0e-9", "0",
                "run.yaml:4:13: beam.charge_C: '0' is not positive (expected a "
                "magnitude in C, e.g. 1.0e-9)");
    refused_run("gamma: 1.0e4", "gamma: 1",
                "run.yaml:5:10: beam.gamma: '1' is not above 1 (expected the mean energy over the "
                "rest energy, above 1, e.g. 1.0e4)");
    refused_run("gamma: 1.0e4", "energy_eV: 5e5",
                "run.yaml:5:14: beam.energy_eV: '5e5' is not above 510998.95 (expected the mean "
                "total energy in eV, above the rest energy, e.g. 5.0e9)");
    refused_run("1e6", "0",
                "run.yaml:6:14: beam.particles: '0' is too small (expected a whole "
                "number from 1 to 1e10)");
    refused_run("1e6", "1.1e10",
                "run.yaml:6:14: beam.particles: '1.1e10' is too large (expected a "
                "whole number from 1 to 1e10)");
    refused_run("1e6", "1.5",
                "run.yaml:6:14: beam.particles: '1.5' is not whole (expected a whole "
                "number from 1 to 1e10)");
    refused_run("sigma_s_m: 50.0e-6", "sigma_s_m: -1",
                "run.yaml:11:14: beam.sigma_s_m: '-1' is not positive (expected the rms length in "
                "m, e.g. 50.0e-6)");
    refused_run("sigma_x_m: 40.0e-6", "sigma_x_m: 0",
                "run.yaml:12:14: beam.sigma_x_m: '0' is not positive (expected the rms width in m, "
                "e.g. 50.0e-6)");
    refused_run("energy_spread: 1.0e-4", "energy_spread: -1",
                "run.yaml:13:18: beam.energy_spread: '-1' is negative (expected the relative "
                "rms spread, from 0 to 1, e.g. 1.0e-4)");
    refused_run("[128, 96]", "[128, 7]",
                "run.yaml:17:15: numerics.grid[2]: '7' is too small (expected two whole numbers "
                "from 8 to 4096, points along s and x, e.g. [64, 64])");
    refused_run("[128, 96]", "[4097, 96]",
                "run.yaml:17:10: numerics.grid[1]: '4097' is too large (expected two whole numbers "
                "from 8 to 4096, points along s and x, e.g. [64, 64])");
    refused_run("step_m: 0.01", "step_m: 9e-7",
                "run.yaml:18:11: numerics.step_m: '9e-7' is below 1e-06 (expected c dt in m, at "
                "least 1.0e-6, e.g. 0.02, or auto)");
    refused_run("step_m: 0.01", "step_m: -0.01",
                "run.yaml:18:11: numerics.step_m: '-0.01' is not positive (expected c dt in m, at "
                "least 1.0e-6, e.g. 0.02, or auto)");
    refused_run("tolerance: 1.0e-5", "tolerance: 0.0",
                "run.yaml:19:14: numerics.tolerance: '0.0' is not positive (expected a number from "
                "1e-12 to 1, e.g. 1.0e-6)");
    refused_run(
        "solver: adaptive", "inner_density: 0",
        "run.yaml:20:18: numerics.inner_density: '0' is too small (expected a whole number of "
        "nodes per cell from 1 to 16, e.g. 1)");
    refused_run("every: 20", "every: 3e9",
                "run.yaml:28:10: output.every: '3e9' is too large "
                "(expected a whole number of steps, 0 for none)");
    refused_run("[0.5, 0.2]", "[0.5, 6.01]",
                "run.yaml:29:15: output.at_m[2]: '6.01' is outside the lattice (expected 0 to "
                "6.00006584 m)");
    refused_run("[0.5, 0.2]", "[-0.1]",
                "run.yaml:29:10: output.at_m[1]: '-0.1' is outside the lattice (expected 0 to "
                "6.00006584 m)");
    refused_run("particles_every: 40", "particles_at_m: [0.5, 6.01]",
                "run.yaml:30:25: output.particles_at_m[2]: '6.01' is outside the lattice (expected "
                "0 to 6.00006584 m)");
}

static void wrong_types_and_texts_are_refused(void **state)
{
    (void)state;
    refused_run("1.0e-9", "1 nC",
                "run.yaml:4:13: beam.charge_C: '1 nC' is not a plain number "
                "(expected a magnitude in C, e.g. 1.0e-9)");
    refused_run("1.0e-9", "\"1e-9\"",
                "run.yaml:4:13: beam.charge_C: '1e-9' is text in quotes, not "
                "a number (expected a magnitude in C, e.g. 1.0e-9)");
    refused_run("1.0e-9", "",
                "run.yaml:4:12: beam.charge_C: no value is given (expected a "
                "magnitude in C, e.g. 1.0e-9)");
    refused_run("1.0e-9", "[1e-9]",
                "run.yaml:4:13: beam.charge_C: a list is not a number (expected "
                "a magnitude in C, e.g. 1.0e-9)");
    refused_run("1.0e-9", ".nan",
                "run.yaml:4:13: beam.charge_C: '.nan' is not a plain number "
                "(expected a magnitude in C, e.g. 1.0e-9)");
    refused_run("[128, 96]", "128",
                "run.yaml:17:9: numerics.grid: '128' is not a list (expected "
                "two whole numbers from 8 to 4096, points along s and x, e.g. "
                "[64, 64])");
    refused_run("[128, 96]", "[1, 2, 3]",
                "run.yaml:17:9: numerics.grid: a list of another length than 2 (expected two whole "
                "numbers from 8 to 4096, points along s and x, e.g. [64, 64])");
    refused_run("[0.5, 0.2]", "0.5",
                "run.yaml:29:9: output.at_m: '0.5' is not a list (expected a "
                "list of arc lengths in m within the lattice, e.g. [0.2, "
                "0.5])");
    refused_run("particles_every: 40", "particles_at_m: 0.5",
                "run.yaml:30:19: output.particles_at_m: '0.5' is not a list (expected a list of "
                "arc lengths in m within the lattice, e.g. [0.2, 0.5])");
    refused_run("motion: rigid", "motion: frozen",
                "run.yaml:15:9: motion: 'frozen' is not known (expected self-consistent, rigid or "
                "external)");
    refused_run("title: one bend", "title: [a]",
                "run.yaml:1:8: title: a list is not a text (expected a text)");
    refused_run("directory: results", "directory: ''",
                "run.yaml:27:14: output.directory: is empty (expected the path of a directory)");
    refused_run(good_run, "3\n",
                "run.yaml:1:1: '3' is not a mapping (expected lines 'key: value')");
}

static void unknown_choices_and_numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    refused_run("solver: adaptive", "solver: magic",
                "run.yaml:20:11: numerics.solver: 'magic' is not known (expected adaptive, "
                "two-phase, heuristic, predictive, heterogeneous or projection)");
    refused_run("distribution: gaussian", "distribution: wavy",
                "run.yaml:8:17: beam.distribution: 'wavy' is not known (expected gaussian or "
                "uniform or parabolic or flat-top or double-gaussian or tabulated)");
    refused_run("checkpoint_every: 0", "checkpoint_every: -5",
                "run.yaml:31:21: output.checkpoint_every: '-5' is negative (expected a whole "
                "number of steps, 0 for none)");
}

static void profiles_and_modulation_arrive_and_are_written(void **state)
{
    aw_config *config = NULL;
    const char *const set[] = {"beam.distribution=flat-top", "beam.edge=0.2",
                               "beam.modulation={wavelength_m: 2.0e-6, depth: 0.25}"};
    (void)state;
    write_good();
    assert_int_equal(read_run(set, 3, &config), AW_OK);
    assert_string_equal(aw_distribution_list(config->beam.distribution)->name, "flat-top");
    assert_close(config->beam.edge, 0.2, 0.0, 0.0);
    assert_close(config->beam.modulation_wavelength, 2e-6, 0.0, 0.0);
    assert_close(config->beam.modulation_depth, 0.25, 0.0, 0.0);
    char *text = aw_config_text(config);
    assert_non_null(strstr(text, "  distribution: flat-top\n  edge: 0.2\n  modulation: "
                                 "{wavelength_m: 2.0e-06, depth: 0.25}\n"));
    free(text);
    aw_config_free(config);
    refused_set("beam.edge=0.2", "--set beam.edge: has no meaning with this distribution (expected "
                                 "another, or none of this key)");
    refused_set("beam.modulation=3",
                "--set beam.modulation: '3' is not a mapping (expected a mapping, e.g. "
                "{wavelength_m: 1.0e-6, depth: 0.05})");
    refused_set("beam.modulation={depth: 0.1}",
                "--set beam.modulation: has no wavelength_m (expected a wavelength in m, e.g. "
                "1.0e-6)");
}

static void keys_without_a_meaning_are_refused(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } row[] = {
        {"  seed: 7", "  resample: 7",
         "7:3: beam.resample: has no meaning without file (expected both or neither)"},
        {"  history: single", "  plates_gap_m: -0.01",
         "21:17: numerics.plates_gap_m: '-0.01' is negative (expected the distance in m between "
         "two conducting plates above and below, 0 for none, e.g. 10.0e-3)"},
        {"  checkpoint_every: 0", "  spectrum: all",
         "28:10: output.every: a spectrum needs the mesh file of every step (expected 1, the "
         "default with output.spectrum: all)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; ++i) {
        char message[400];
        snprintf(message, sizeof message, "run.yaml:%s", row[i].message);
        refused_run(row[i].from, row[i].to, message);
        assert_int_equal(message_count(), 1);
    }
}

static void both_of_two_alternatives_are_refused(void **state)
{
    (void)state;
    refused_run(
        "  particles: 1e6", "  energy_eV: 5e9",
        "run.yaml:6:3: beam.energy_eV: 'gamma' is given as well, at line 5 (expected one of "
        "the two)");
    refused_run("  energy_spread: 1.0e-4", "  emittance_x_m: 1e-10\n  beta_x_m: 1",
                "run.yaml:13:3: beam.emittance_x_m: 'sigma_x_m' is given as well, at line 12 "
                "(expected one of the two)");
    refused_run("  energy_spread: 1.0e-4", "  beta_x_m: 1",
                "run.yaml:13:3: beam.beta_x_m: has no meaning without emittance_x_m (expected both "
                "or neither)");
    refused_run("sigma_x_m: 40.0e-6", "emittance_x_m: 1e-10",
                "run.yaml:3:1: beam.beta_x_m: is missing (expected the beta function in m, e.g. "
                "10.0)");
}

/* Values that no bunch and no run can have. */
static void absurd_values_are_refused_by_place(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } row[] = {
        {"1.0e-9", "1e-300",
         "4:13: beam.charge_C: '1e-300' is below 1.6021766e-19 (expected a magnitude in C, e.g. "
         "1.0e-9)"},
        {"1.0e-9", "1e12",
         "4:13: beam.charge_C: '1e12' is above 1 (expected a magnitude in C, e.g. 1.0e-9)"},
        {"gamma: 1.0e4", "gamma: 1e20",
         "5:10: beam.gamma: '1e20' is above 1e+08 (expected the mean energy over the rest energy, "
         "above 1, e.g. 1.0e4)"},
        {"gamma: 1.0e4", "gamma: 2",
         "5:10: beam.gamma: is 0.0002 times the lattice's reference, which sets the fields "
         "(expected 5000 to 20000, or another E_tot_ref in the lattice)"},
        {"gamma: 1.0e4", "energy_eV: 1e12",
         "5:14: beam.energy_eV: is 196 times the lattice's reference, which sets the fields "
         "(expected 2.5549948e+09 to 1.0219979e+10, or another E_tot_ref in the lattice)"},
        {"particles: 1e6", "particles: 1e10",
         "6:14: beam.particles: the quiet sequence has no more than 1073741823 points (expected "
         "at most as many, or sampling: random)"},
        {"cutoff_sigma: 5.0", "cutoff_sigma: 1e-300",
         "10:17: beam.cutoff_sigma: '1e-300' is below 0.1 (expected a number from 0.1 to 20, e.g. "
         "5.0)"},
        {"sigma_s_m: 50.0e-6", "sigma_s_m: 1e-300",
         "11:14: beam.sigma_s_m: '1e-300' is below 1e-09 (expected the rms length in m, e.g. "
         "50.0e-6)"},
        {"sigma_s_m: 50.0e-6", "sigma_s_m: 1e20",
         "11:14: beam.sigma_s_m: '1e20' is above 1000 (expected the rms length in m, e.g. "
         "50.0e-6)"},
        {"sigma_x_m: 40.0e-6", "sigma_x_m: 1e-30",
         "12:14: beam.sigma_x_m: '1e-30' is below 1e-09 (expected the rms width in m, e.g. "
         "50.0e-6)"},
        {"sigma_x_m: 40.0e-6", "emittance_x_m: 1e200\n  beta_x_m: 1",
         "12:18: beam.emittance_x_m: '1e200' is above 1 (expected the geometric emittance in m, "
         "e.g. 1.0e-10)"},
        {"sigma_x_m: 40.0e-6", "emittance_x_m: 1e-10\n  beta_x_m: 1e200",
         "13:13: beam.beta_x_m: '1e200' is above 1e+06 (expected the beta function in m, e.g. "
         "10.0)"},
        {"sigma_x_m: 40.0e-6", "emittance_x_m: 1e-10\n  beta_x_m: 1\n  alpha_x: -1e200",
         "14:12: beam.alpha_x: '-1e200' is below -1000000 (expected the Twiss parameter alpha, "
         "e.g. 0.0)"},
        {"sigma_x_m: 40.0e-6", "emittance_x_m: 1e-24\n  beta_x_m: 1",
         "12:18: beam.emittance_x_m: the rms width sqrt(emittance beta) is 1e-12 m "
         "(expected 1e-09 to 1000 m)"},
        {"sigma_x_m: 40.0e-6", "emittance_x_m: 1\n  beta_x_m: 10",
         "12:18: beam.emittance_x_m: slopes dx/dz reach 1.58 at the cutoff (expected at most 0.5)"},
        {"energy_spread: 1.0e-4", "energy_spread: 0.3",
         "13:18: beam.energy_spread: delta reaches -1.51 at the cutoff, where a particle has "
         "no kinetic energy (expected below 0.198)"},
        {"chirp_per_m: -36.0", "chirp_per_m: -1e4",
         "14:16: beam.chirp_per_m: delta reaches -2.5 at the cutoff, where a particle has no "
         "kinetic energy (expected at most 4e+03 1/m)"},
        {"chirp_per_m: -36.0", "chirp_per_m: 1e308",
         "14:16: beam.chirp_per_m: '1e308' is above 1e+12 (expected d(delta)/ds in 1/m, e.g. "
         "-36.0)"},
        {"tolerance: 1.0e-5", "tolerance: 1e-300",
         "19:14: numerics.tolerance: '1e-300' is below 1e-12 (expected a number from 1e-12 to 1, "
         "e.g. 1.0e-6)"},
        {"step_m: 0.01", "step_m: 6.1",
         "18:11: numerics.step_m: a step of 6.1 m ends beyond the lattice (expected at most "
         "6.00007 m)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; ++i) {
        char message[400];
        snprintf(message, sizeof message, "run.yaml:%s", row[i].message);
        refused_run(row[i].from, row[i].to, message);
        assert_int_equal(message_count(), 1);
    }
}

/* A misspelt or misplaced key is not reported as missing as well, nor is each key of a misspelt
 * section. */
static void one_cause_makes_one_line(void **state)
{
    (void)state;
    refused_run("charge_C", "chrage_C",
                "run.yaml:4:3: beam.chrage_C: unknown key (expected charge_C?)");
    assert_int_equal(message_count(), 1);
    refused_run("beam:", "baem:", "run.yaml:3:1: baem: unknown key (expected beam?)");
    assert_int_equal(message_count(), 1);
    refused_run("  grid:", "  charge_C: 1e-9\n  grid:",
                "run.yaml:17:3: numerics.charge_C: unknown key (expected beam.charge_C?)");
    assert_int_equal(message_count(), 1);
    refused_run("lattice:", "latice:", "run.yaml:2:1: latice: unknown key (expected lattice?)");
    assert_int_equal(message_count(), 1);
    refused_run("  charge_C: 1.0e-9\n", "",
                "run.yaml:3:1: beam.charge_C: is missing (expected a magnitude in C, e.g. 1.0e-9)");
    assert_int_equal(message_count(), 1);
    refused_set("beam=3", "--set beam: '3' is not a mapping (expected lines 'key: value' indented "
                          "below it)");
    assert_int_equal(message_count(), 1);
}

static void missing_and_unknown_keys_are_named(void **state)
{
    (void)state;
    refused_run("lattice: bend.pals.yaml\n", "",
                "run.yaml:1:1: lattice: is missing (expected a path beside this file, e.g. "
                "bend.pals.yaml, or PALS: {...})");
    refused_run("  charge_C: 1.0e-9\n", "",
                "run.yaml:3:1: beam.charge_C: is missing (expected a "
                "magnitude in C, e.g. 1.0e-9)");
    refused_run("  sigma_s_m: 50.0e-6\n", "",
                "run.yaml:3:1: beam.sigma_s_m: is missing (expected "
                "the rms length in m, e.g. 50.0e-6)");
    refused_run("  sigma_x_m: 40.0e-6\n", "",
                "run.yaml:3:1: beam.sigma_x_m: is missing (expected "
                "the rms width in m, e.g. 50.0e-6)");
    refused_run("charge_C", "chrage_C",
                "run.yaml:4:3: beam.chrage_C: unknown key (expected "
                "charge_C?)");
    refused_run(
        "numerics:", "numeric:", "run.yaml:16:1: numeric: unknown key (expected numerics?)");
    refused_run("device: cpu", "step_m: 1",
                "run.yaml:25:1: step_m: unknown key (expected "
                "numerics.step_m?)");
    refused_run("every: 20", "colour: red",
                "run.yaml:28:3: output.colour: unknown key (expected one of: directory, every, "
                "at_m, particles_every, particles_at_m, spectrum, checkpoint_every)");
    refused_run("  seed: 7", "  gamma: 7",
                "run.yaml:7:3: beam.gamma: this key was given before, at "
                "line 5, column 3 (expected once)");
    refused_run("bend.pals.yaml", "nowhere.yaml",
                "run.yaml:2:10: lattice: nowhere.yaml: No such file or directory (expected a file "
                "in YAML)");
    refused_run("bend.pals.yaml", "/",
                "run.yaml:2:10: lattice: /: is a directory (expected a file "
                "in YAML)");
}

static void steady_needs_a_leading_bend(void **state)
{
    (void)state;
    aw_config *c = read_text(replaced(good_run, "upstream: drift", "upstream: steady"));
    assert_int_equal(c->upstream, AW_UPSTREAM_STEADY);
    aw_config_free(c);
    const char *lattice = replaced(good_lattice, "          - bend",
                                   "          - first: {kind: Drift, length: 1}\n          - bend");
    char copy[4096];
    snprintf(copy, sizeof copy, "%s", lattice);
    const char *run = replaced(good_run, "upstream: drift", "upstream: steady");
    file_write(LATTICE, copy, strlen(copy));
    file_write(RUN, run, strlen(run));
    assert_status(read_run(NULL, 0, &c), AW_ERR_INPUT);
    assert_message("arcwake: error: run.yaml:22:13: numerics.upstream: 'steady' needs a lattice "
                   "that begins with a bend; this one begins with 'first' (expected drift)");
}

static void all_problems_are_told_at_once(void **state)
{
    static const char *const text = "lattice: bend.pals.yaml\nbeam:\n  charge_C: x\n  gama: 3\n"
                                    "  sigma_s_m: -1\nnumerics:\n  grid: [7, 64]\n";
    static const char *const lattice =
        "PALS:\n  facility:\n    - l: {kind: BeamLine, line: [a: {kind: Drift, length: -1}]}\n"
        "    - m: {kind: Lattice, branches: [l]}\n";
    aw_config *config = NULL;
    const char *set = "motion=still";
    (void)state;
    file_write(RUN, text, strlen(text));
    file_write(LATTICE, lattice, strlen(lattice));
    assert_status(read_run(&set, 1, &config), AW_ERR_INPUT);
    const char *want[] = {
        "run.yaml:2:1: beam.sigma_x_m: ",    "run.yaml:3:13: beam.charge_C: ",
        "run.yaml:4:3: beam.gama: ",         "run.yaml:5:14: beam.sigma_s_m: ",
        "run.yaml:7:10: numerics.grid[1]: ", "--set motion: ",
        "bend.pals.yaml:3:34: l.line.a: ",   "bend.pals.yaml:3:59: l.line.a.length: "};
    const char *at = messages();
    for (size_t i = 0; i < sizeof want / sizeof want[0]; ++i) { /* in order of file and line */
        at = strstr(at, want[i]);
        if (!at) fail_msg("missing: %s\n%s", want[i], messages());
    }
    assert_int_equal(message_count(), 8);
}

static void set_overrides_the_file(void **state)
{
    const char *const set[] = {"beam.charge_C=2e-9",    "numerics.grid=[64,32]", "beam.gamma=null",
                               "beam.energy_eV=5.11e9", "output.directory=a b",  "beam.seed=1",
                               "beam.seed=2",           "output.at_m=[]"};
    aw_config *c = NULL;
    (void)state;
    write_good();
    assert_ok(read_run(set, sizeof set / sizeof set[0], &c));
    assert_true(c->beam.charge == 2e-9 && c->beam.gamma == 5.11e9 / AW_ME_EV);
    assert_int_equal(c->grid[0], 64);
    assert_int_equal(c->grid[1], 32);
    assert_string_equal(c->directory, "a b");
    assert_int_equal(c->beam.seed, 2); /* the last one */
    assert_int_equal(c->at_n, 0);
    aw_config_free(c);
    file_write(RUN, "lattice: bend.pals.yaml\n", 24);
    const char *const all[] = {"beam.charge_C=1e-9", "beam.sigma_s_m=1e-5", "beam.sigma_x_m=1e-5"};
    assert_ok(read_run(all, 3, &c)); /* makes the section */
    assert_true(c->beam.charge == 1e-9);
    aw_config_free(c);
}

static void set_is_refused_by_its_key(void **state)
{
    (void)state;
    refused_set("beam.charge_C=-1", "--set beam.charge_C: '-1' is not positive (expected a "
                                    "magnitude in C, e.g. 1.0e-9)");
    refused_set("beam.chrge_C=1", "--set beam.chrge_C: unknown key (expected charge_C?)");
    refused_set("numerics.grid=[64]", "--set numerics.grid: a list of another length than 2 "
                                      "(expected two whole numbers from 8 to 4096, points along s "
                                      "and x, e.g. [64, 64])");
    refused_set("numerics.grid=[64", "--set numerics.grid: YAML: did not find expected ',' or ']' "
                                     "while parsing a flow sequence (expected valid YAML; see the "
                                     "brackets and quotes)");
    refused_set("beam.energy_eV=5e9", "--set beam.energy_eV: 'gamma' is given as well, at line 5 "
                                      "(expected one of the two)");
    refused_set("beam.charge_C", "--set beam.charge_C: is not key.path=value (expected e.g. "
                                 "beam.charge_C=1.0e-9)");
    refused_set("=1", "--set =1: is not key.path=value (expected e.g. beam.charge_C=1.0e-9)");
    refused_set("motion.x=1", "--set motion.x: 'motion' is not a section");
    refused_set("beam.charge_C=", "--set beam.charge_C: no value is given (expected a magnitude in "
                                  "C, e.g. 1.0e-9)");
    refused_set("beam.charge_C=\xff",
                "--set beam.charge_C: byte 0xff is not UTF-8 (expected a text "
                "file in UTF-8)");
}

/* Bits of every number, and every text, of two configurations. */
static void assert_same(const aw_config *a, const aw_config *b)
{
    assert_memory_equal(&a->beam, &b->beam, sizeof a->beam);
    assert_string_equal(a->title, b->title);
    assert_string_equal(a->directory, b->directory);
    assert_string_equal(a->device, b->device);
    assert_string_equal(a->solver, b->solver);
    assert_int_equal(a->motion, b->motion);
    assert_int_equal(a->upstream, b->upstream);
    assert_int_equal(a->history_single, b->history_single);
    assert_memory_equal(a->grid, b->grid, sizeof a->grid);
    const double x[] = {a->step_m, a->tolerance, a->history_MiB, a->upstream_m, a->inner_density};
    const double y[] = {b->step_m, b->tolerance, b->history_MiB, b->upstream_m, b->inner_density};
    assert_memory_equal(x, y, sizeof x);
    assert_int_equal(a->every, b->every);
    assert_int_equal(a->particles_every, b->particles_every);
    assert_int_equal(a->at_n, b->at_n);
    if (a->at_n) assert_memory_equal(a->at_m, b->at_m, a->at_n * sizeof *a->at_m);
    assert_int_equal(a->particles_at_n, b->particles_at_n);
    if (a->particles_at_n)
        assert_memory_equal(a->particles_at_m, b->particles_at_m,
                            a->particles_at_n * sizeof *a->particles_at_m);
    assert_true(a->lattice->gamma_ref == b->lattice->gamma_ref);
    assert_int_equal(a->lattice->n, b->lattice->n);
    assert_string_equal(a->lattice_name, b->lattice_name);
    for (size_t i = 0; i < a->lattice->n; ++i) {
        const aw_element *e = &a->lattice->element[i], *f = &b->lattice->element[i];
        const double p[] = {e->length, e->angle, e->e1, e->e2};
        const double q[] = {f->length, f->angle, f->e1, f->e2};
        assert_string_equal(e->name, f->name);
        assert_int_equal(e->kind, f->kind);
        assert_int_equal(e->geometry, f->geometry);
        assert_memory_equal(p, q, sizeof p);
        assert_memory_equal(e->strength, f->strength, sizeof e->strength);
    }
}

/* The resolved text of `config`, read where neither its run file nor its lattice is. */
static aw_config *read_alone(const aw_config *config)
{
    aw_config *again = NULL;
    char *text = aw_config_text(config);
    assert_non_null(text);
    unlink(RUN);
    unlink(LATTICE);
    file_write("again.yaml", text, strlen(text));
    capture_begin();
    aw_status status = aw_config_read("again.yaml", NULL, 0, &again);
    capture_end();
    if (status) print_error("%s", messages());
    assert_ok(status);
    char *text_again = aw_config_text(again);
    assert_string_equal(text, text_again);
    free(text_again);
    free(text);
    return again;
}

static void the_text_reads_back_to_the_same_bits(void **state)
{
    static const char *const variant[][2] = {
        {"1.0e-9", "3.3333333333333333e-10"},
        {"gamma: 1.0e4", "energy_eV: 5.123456789012345e9"},
        {"  gamma: 1.0e4\n", ""},
        {"sigma_x_m: 40.0e-6", "emittance_x_m: 1.1e-10\n  beta_x_m: 7.3\n  alpha_x: -0.7"},
        {"seed: 7", "seed: 18446744073709551615"},
        {"seed: 7", "seed: 7\n  sigma_y_m: 3.3e-5"},
        {"seed: 7", "seed: 7\n  emittance_y_m: 1.1e-10\n  beta_y_m: 7.3\n  alpha_y: -0.7"},
        {"seed: 7", "seed: 7\n  emittance_y_m: 0\n  beta_y_m: 7.3\n  alpha_y: -0.7"},
        {"title: one bend", "title: \"a \\\"b\\\" \\\\ # : \\u00e9 \\t {x}, ~\""},
        {"directory: results", "directory: 'true'"},
        {"motion: rigid", "motion: external"},
        {"motion: rigid", "motion: rigid\naccuracy: 0.003"},
        {"[0.5, 0.2]", "[0.1, 0.2, 0.3, 0.7, 1e-300, 0, 1.1, 2.2, 3.3, 4.4, 5.0000000000000009]"},
        {"upstream: drift", "upstream: steady"},
        {"particles_every: 40",
         "particles_at_m: [0.1, 0.2, 0.3, 0.7, 1e-300, 0, 1.1, 2.2, 3.3, 5.0000000000000009]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof variant / sizeof variant[0]; ++i) {
        aw_config *c = read_text(replaced(good_run, variant[i][0], variant[i][1]));
        aw_config *again = read_alone(c);
        assert_same(c, again);
        aw_config_free(again);
        aw_config_free(c);
    }
}

/* `good_run` with the elements `items` after the start of its lattice. */
static aw_config *read_items(const char *items)
{
    aw_config *config = NULL;
    size_t size = strlen(items) + 1000;
    char *text = malloc(size);
    assert_non_null(text);
    snprintf(text, size,
             "PALS:\n  facility:\n    - main:\n        kind: BeamLine\n        line:\n"
             "          - s: {kind: BeginningEle, ReferenceP: {species_ref: electron, pc_ref: "
             "3.1e9}}\n%s    - use: line\n    - line: {kind: Lattice, branches: [main]}\n",
             items);
    write_good();
    file_write(LATTICE, text, strlen(text));
    free(text);
    aw_status status = read_run(NULL, 0, &config);
    if (status) print_error("%s", messages());
    assert_ok(status);
    return config;
}

/* Names that repeat with and without changes, that are those of the text's own line, or that are
 * cut within a character; values that are not decimal. */
static void the_lattice_reads_back_from_the_text(void **state)
{
    (void)state;
    char items[4096];
    snprintf(
        items, sizeof items, "%s%s",
        "          - b: {kind: RBend, BendP: {L_chord: 0.7, g_ref: 0.3, e1_rect: 0.1}}\n"
        "          - q: {kind: Quadrupole, length: 0.7, MagneticMultipoleP: {Bn1L: 0.3}}\n"
        "          - q\n          - q: {length: 0.3}\n          - q\n"
        "          - line: {kind: Drift, length: 0.1, repeat: 2}\n"
        "          - start: {kind: Monitor, length: 0.1, repeat: 2}\n"
        "          - main: {kind: Marker}\n          - \"use\": {kind: Drift, length: 1e-300}\n"
        "          - b\n          - \"a \\\"quoted\\\" name: {x}\": {kind: Drift, length: 1.1}\n"
        "          - \u00e9ab\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
        "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
        "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9: {kind: Drift, length: 1}\n",
        magnet_items);
    aw_config *c = read_items(items);
    aw_config *again = read_alone(c);
    assert_same(c, again);
    assert_int_equal(c->lattice->n, 23);
    assert_string_equal(again->lattice_name, "line");
    assert_null(again->lattice_path);
    aw_config_free(again);
    aw_config_free(c);
}

/* The longest lattice, of which no two elements are the same, is within the limits of a file. */
static void the_longest_lattice_reads_back(void **state)
{
    enum { N = 100000, WIDTH = 64 };
    (void)state;
    char *items = malloc((size_t)N * WIDTH + 200);
    assert_non_null(items);
    size_t used = (size_t)sprintf(items, "          - b: {kind: SBend, length: 0.1, BendP: {g_ref: "
                                         "0.0001}}\n");
    for (int i = 1; i < N; ++i)
        used += (size_t)snprintf(items + used, WIDTH,
                                 "          - b%d: {inherit: b, length: 0.1%06d}\n", i, i);
    aw_config *c = read_items(items);
    free(items);
    aw_config *again = read_alone(c);
    assert_int_equal(again->lattice->n, N);
    assert_same(c, again);
    aw_config_free(again);
    aw_config_free(c);
}

static void the_lattice_may_stand_in_the_run_file(void **state)
{
    static const char in_line[] =
        "lattice:\n  PALS:\n    facility:\n      - l: {kind: BeamLine, line: [s: {kind: "
        "BeginningEle, ReferenceP: {species_ref: electron, E_tot_ref: 5.1e9}}, d: {kind: Drift, "
        "length: 1.0}]}\n      - m: {kind: Lattice, branches: [l]}\n";
    static const char *const set[] = {"beam.seed=9", "lattice=bend.pals.yaml"};
    aw_config *c = NULL;
    char text[4096];
    (void)state;
    c = read_text(replaced(good_run, "lattice: bend.pals.yaml\n", in_line));
    assert_string_equal(messages(), "");
    assert_true(c->lattice->length == 1.0);
    assert_null(c->lattice_path);
    aw_config_free(c);
    assert_ok(read_run(set, 1, &c)); /* --set changes the rest of such a file */
    assert_true(c->beam.seed == 9 && c->lattice->length == 1.0);
    aw_config_free(c);
    assert_ok(read_run(set, 2, &c)); /* or the lattice */
    assert_string_equal(c->lattice_path, LATTICE);
    aw_config_free(c);
    snprintf(text, sizeof text, "%s", replaced(in_line, "length: 1.0", "lenght: 1.0"));
    refused_run("lattice: bend.pals.yaml\n", text,
                "run.yaml:5:133: l.line.d.lenght: unknown key (expected length?)");
    snprintf(text, sizeof text, "%s",
             replaced(in_line, "d: {kind: Drift, length: 1.0}",
                      "d: {kind: Bend, length: 1e-4, BendP: {angle_ref: "
                      "0.1}}"));
    refused_run(
        "lattice: bend.pals.yaml\n", text,
        "run.yaml:5:116: d: the edges at S = 0 m and 0.0001 m cross 0.001 m from the orbit, "
        "inside the beam pipe (expected > 0.01 m: smaller edge angles or more distance)");
    assert_int_equal(message_count(), 4); /* and the step and both positions of at_m, beyond it */
    refused_run("lattice: bend.pals.yaml\n", "lattice: {a: 1}\n",
                "run.yaml:2:10: lattice: has no key 'PALS' (expected a PALS lattice: a mapping "
                "'PALS' with 'facility' below)");
    refused_run("lattice: bend.pals.yaml\n", "lattice: [1]\n",
                "run.yaml:2:10: lattice: a list is not a text (expected a path beside this file, "
                "e.g. bend.pals.yaml, or PALS: {...})");
}

/* docs/input.md has a row of its table for each key of the program's table. */
static void the_manual_names_every_key(void **state)
{
    static char manual[65536];
    size_t n = 0;
    (void)state;
    const aw_field *fields = aw_fields(&n);
    FILE *file = fopen(AW_SOURCE_DIR "/docs/input.md", "r");
    assert_non_null(file);
    manual[fread(manual, 1, sizeof manual - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; i < n; ++i) {
        char row[128];
        snprintf(row, sizeof row, "\n| `%s` |", aw_field_leaf(&fields[i]));
        if (!strstr(manual, row)) fail_msg("docs/input.md does not name %s", fields[i].key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_arrives),
        cmocka_unit_test(defaults_are_those_of_the_manual),
        cmocka_unit_test(particles_have_a_list_of_places_of_their_own),
        cmocka_unit_test(energy_and_emittance_are_alternatives),
        cmocka_unit_test(the_energy_may_differ_with_a_warning),
        cmocka_unit_test(values_out_of_range_are_refused),
        cmocka_unit_test(wrong_types_and_texts_are_refused),
        cmocka_unit_test(unknown_choices_and_numbers_out_of_range_are_refused),
        cmocka_unit_test(profiles_and_modulation_arrive_and_are_written),
        cmocka_unit_test(keys_without_a_meaning_are_refused),
        cmocka_unit_test(both_of_two_alternatives_are_refused),
        cmocka_unit_test(absurd_values_are_refused_by_place),
        cmocka_unit_test(one_cause_makes_one_line),
        cmocka_unit_test(missing_and_unknown_keys_are_named),
        cmocka_unit_test(steady_needs_a_leading_bend),
        cmocka_unit_test(all_problems_are_told_at_once),
        cmocka_unit_test(set_overrides_the_file),
        cmocka_unit_test(set_is_refused_by_its_key),
        cmocka_unit_test(the_text_reads_back_to_the_same_bits),
        cmocka_unit_test(the_lattice_reads_back_from_the_text),
        cmocka_unit_test(the_longest_lattice_reads_back),
        cmocka_unit_test(the_lattice_may_stand_in_the_run_file),
        cmocka_unit_test(the_manual_names_every_key),
    };
    return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
