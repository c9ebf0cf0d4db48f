/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ladder of steps as a function of lattice and bunch; and runs on it: kicks of half of each
 * step, and the energy that equal small steps give. */
#include "src/plan/schedule.h"

#include <math.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/input/lcls.h"
#include "src/plan/optics.h"
#include "src/simulation/current.h"
#include "src/simulation/simulation.h"
#include "tests/assert_close.h"
#include "tests/pic_beam/machine.h"

#define GAMMA (5e9 / AW_ME_EV)

enum { STEPS = 4096, PARTS = 3 };

/* The Berlin-Zeuthen chicane with its beam; every element in `parts` unequal pieces. */
static aw_config *chicane(int parts)
{
    aw_element whole[ZEUTHEN_N], e[PARTS * ZEUTHEN_N];
    aw_config *config = NULL;
    size_t n = 0;
    zeuthen(whole);
    for (int i = 0; i < ZEUTHEN_N; ++i)
        for (int k = 0; k < parts; ++k) {
            const double share = parts > 1 ? (k + 1) / (0.5 * parts * (parts + 1)) : 1.0;
            e[n] = whole[i];
            e[n].length *= share;
            e[n].angle *= share;
            if (k > 0) e[n].e1 = 0.0;
            if (k + 1 < parts) e[n].e2 = 0.0;
            snprintf(e[n].name, sizeof e[n].name, "e%d", i);
            n++;
        }
    assert_ok(aw_line_config("chicane", e, n, GAMMA, AW_UPSTREAM_DRIFT, &config));
    config->motion = AW_MOTION_SELF_CONSISTENT;
    config->beam.sigma_s = 200e-6;
    config->beam.emittance = 1e-6 / GAMMA;
    config->beam.beta_x = 40.0;
    config->beam.alpha_x = 2.6;
    config->beam.chirp = -36.0;
    config->beam.energy_spread = 2e-6;
    config->step_m = AW_STEP_AUTO;
    return config;
}

/* The steps from the start to the end [ticks]. @return their number */
static size_t steps_of(const aw_schedule *s, int halved, int64_t step[STEPS])
{
    size_t n = 0;
    int64_t now = 0, last = 0;
    while (now < s->end) {
        assert_true(n < STEPS);
        step[n] = last = aw_schedule_step(s, now, last, halved);
        assert_true(last > 0 && now + last <= s->end);
        now += last;
        n++;
    }
    return n;
}

static void equal_steps_are_numbered(void **state)
{
    aw_config *config = chicane(1);
    aw_schedule *s = NULL;
    (void)state;
    config->step_m = 0.02;
    assert_ok(aw_schedule_new(config, &s));
    assert_int_equal(s->steps, 750);
    assert_int_equal(aw_schedule_step(s, 17, 1, 0), 1);
    for (int k = 0; k <= 750; ++k) { /* to the bit */
        assert_close(aw_schedule_ct(s, k), k * 0.02, 0.0, 0.0);
        assert_close(aw_schedule_S(s, k), k * s->beta * 0.02, 0.0, 0.0);
    }
    aw_schedule_free(s);
    aw_config_free(config);
}

static void steps_change_by_a_factor_of_two_at_most_and_end_with_the_lattice(void **state)
{
    aw_config *config = chicane(1);
    aw_schedule *s = NULL;
    int64_t step[STEPS];
    (void)state;
    assert_ok(aw_schedule_new(config, &s));
    const size_t n = steps_of(s, 0, step);
    assert_int_equal(n, s->steps);
    assert_true(n < 0.5 * (double)s->end / AW_CELL_TICKS); /* of equal ones, of the shortest */
    for (size_t i = 0; i < n; ++i) {
        const int64_t third = step[i] % 3 == 0 ? step[i] / 3 : step[i]; /* 2^k or 3 2^k */
        assert_true((step[i] >= AW_CELL_TICKS || i + 1 == n) && (third & (third - 1)) == 0);
        /* at the end a step only has to fit in */
        if (i > 0 && i + 4 < n) assert_true(step[i] <= 2 * step[i - 1]);
        if (i > 0 && i + 4 < n) assert_true(2 * step[i] >= step[i - 1]);
    }
    const double left = config->lattice->length - aw_schedule_S(s, s->end);
    assert_true(left >= -1e-9 && left < aw_schedule_ct(s, AW_CELL_TICKS));
    aw_schedule_free(s);
    aw_config_free(config);
}

/* The 22nd part of the overtaking length in bends, across their edges, and as far behind them. */
static void steps_resolve_the_forces_of_edges(void **state)
{
    aw_config *config = chicane(1);
    aw_schedule *s = NULL;
    aw_optics *optics = NULL;
    const double cell = 1e-6; /* m: a step may end at the edge itself, to rounding */
    int64_t step[STEPS], now = 0;
    (void)state;
    assert_ok(aw_schedule_new(config, &s));
    assert_ok(aw_optics_new(config->lattice, &config->beam, 0, &optics));
    const size_t n = steps_of(s, 0, step);
    double longest = 0.0;
    for (size_t i = 0; i < n; now += step[i++]) {
        const double from = aw_schedule_S(s, now), to = aw_schedule_S(s, now + step[i]);
        longest = fmax(longest, to - from);
        for (size_t k = 0; k < optics->n; ++k) {
            const aw_optics_point *p = &optics->point[k];
            if (!p->end || p->kappa == 0.0) continue;
            const double length = config->lattice->element[p->element].length;
            const double inside = aw_overtaking_length(p->shortest, p->kappa);
            const double behind = aw_overtaking_length(p->sigma_s, p->kappa);
            if (from < p->S - cell && to > p->shortest_S - 0.02 && to > p->S - length + cell)
                assert_true(to - from <= 1.1 * inside / AW_STEPS_PER_OVERTAKING);
            if (to > p->S && from < p->S + 0.9 * behind)
                assert_true(to - from <= 1.01 * behind / AW_STEPS_PER_OVERTAKING);
        }
    }
    assert_true(longest > 0.2); /* in the drifts of 5 m */
    aw_optics_free(optics);
    aw_schedule_free(s);
    aw_config_free(config);
}

/* Longest step that covers a part of the lattice [m]. */
static double longest_step(const aw_schedule *s, double from, double to)
{
    double longest = 0.0;
    int64_t now = 0, step = 0;
    for (; now < s->end; now += step) {
        step = aw_schedule_step(s, now, step, 0);
        const double begin = aw_schedule_S(s, now), end = aw_schedule_S(s, now + step);
        if (end > from && begin < to) longest = fmax(longest, end - begin);
    }
    return longest;
}

/* Behind the last bend, the end of the third one passes in the third image of plates 30 mm apart at
 * S = 13.52 m, and in the fourth at 14.04 m: in steps of 0.016 m the mean force has a dip and a
 * peak there, 0.03 m rms each, and later 0.05 m. Every third of those steps is within 0.7 keV of
 * the integral of all from 13.4 to 14.7 m, every sixth within 7 keV. */
static void steps_resolve_echoes_between_plates(void **state)
{
    aw_config *config = chicane(1);
    aw_schedule *s[2];
    (void)state;
    for (int i = 0; i < 2; ++i) {
        config->plates_gap = i * 30e-3;
        assert_ok(aw_schedule_new(config, &s[i]));
    }
    assert_true(longest_step(s[0], 13.45, 13.58) > 0.06);
    assert_true(longest_step(s[1], 13.45, 13.58) < 0.05);
    assert_true(longest_step(s[0], 13.95, 14.15) > 0.12);
    assert_true(longest_step(s[1], 13.95, 14.15) < 0.07);
    assert_true(s[1]->steps < s[0]->steps + 15);
    aw_schedule_free(s[0]);
    aw_schedule_free(s[1]);
    aw_config_free(config);
}

static void how_elements_are_split_does_not_matter(void **state)
{
    aw_config *config[2] = {chicane(1), chicane(PARTS)};
    aw_schedule *s[2] = {NULL, NULL};
    int64_t step[2][STEPS];
    size_t n[2];
    (void)state;
    for (int i = 0; i < 2; ++i) {
        assert_ok(aw_schedule_new(config[i], &s[i]));
        n[i] = steps_of(s[i], 0, step[i]);
    }
    assert_close(s[0]->tick, s[1]->tick, 0.0, 0.0);
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(step[0], step[1], n[0] * sizeof step[0][0]);
    for (int i = 0; i < 2; ++i) {
        aw_schedule_free(s[i]);
        aw_config_free(config[i]);
    }
}

static void halved_steps_follow_the_same_ladder(void **state)
{
    aw_config *config = chicane(1);
    aw_schedule *s = NULL;
    int64_t step[STEPS];
    (void)state;
    assert_ok(aw_schedule_new(config, &s));
    const size_t n = steps_of(s, 0, step), half = steps_of(s, 1, step);
    assert_true(half > 1.7 * (double)n && half <= 2 * n + 4);
    for (size_t i = 1; i < half; ++i) assert_true(step[i] <= 2 * step[i - 1]);
    assert_int_equal(aw_schedule_step(s, 0, 0, 3), aw_schedule_step(s, 0, 0, 0) / 8);
    assert_int_equal(aw_schedule_step(s, 0, 0, 60), 1); /* no step is shorter than a tick */
    aw_schedule_free(s);
    aw_config_free(config);
}

/* A short bend and a drift of 1.5 m: the force decays behind the bend, and steps grow. */
static aw_config *short_bend(double step_m)
{
    const aw_element line[] = {
        {.kind = AW_BEND, .name = "bend", .length = 0.3, .angle = 0.03},
        {.kind = AW_DRIFT, .name = "after", .length = 1.5},
    };
    aw_config *config = NULL;
    assert_ok(aw_line_config("short bend", line, 2, 1e4, AW_UPSTREAM_DRIFT, &config));
    config->motion = AW_MOTION_SELF_CONSISTENT;
    config->grid[0] = config->grid[1] = 20;
    config->beam.particles = 10000;
    config->tolerance = 1e-3;
    config->step_m = step_m;
    config->threads = 2;
    snprintf(config->device, sizeof config->device, "cpu");
    return config;
}

/* What a run leaves. */
typedef struct outcome {
    double mean, rms; /* energy change [eV] */
    double work;      /* trapezium rule of the mean effective force over the run's steps [eV], */
    double rebuilt;   /* and of the rest of the force; */
    double potential; /* minus the change of the mean of phi [V] */
    double S, F;      /* at the end [m], [eV/m] */
    long steps;
    int lengths;       /* changes of the step */
    double extra;      /* steps that the check has added */
    long most, halved; /* steps that the plan allows; halvings of a step */
    double worst;      /* error over limit of steps that could not be halved any more */
} outcome;

/* Mean of phi over the charge [V]. */
static double mean_potential(const aw_simulation *sim)
{
    double *phi = aw_alloc(sim->field.nodes, sizeof *phi);
    for (size_t k = 0; k < sim->field.nodes; ++k)
        phi[k] = AW_K_COULOMB * sim->field.result[k * AW_RESULTS + AW_PHI];
    const double mean = aw_charge_mean(sim->field.view, NULL, phi);
    aw_free(phi);
    return mean;
}

/* A run whose check of steps is so many times stricter. */
static outcome run_of(double step_m, int threads, double strict)
{
    aw_config *config = short_bend(step_m);
    aw_simulation *sim = NULL;
    outcome o = {.work = 0.0};
    double force = 0.0, effective = 0.0, other = 0.0, last = 0.0;
    aw_monitor_row row;
    config->threads = threads;
    assert_ok(aw_simulation_new(config, NULL, 0, &sim));
    sim->schedule->energy /= strict;
    for (;;) {
        assert_ok(aw_simulation_deposit(sim));
        assert_ok(aw_simulation_solve(sim));
        assert_ok(aw_simulation_synchronise(sim));
        assert_ok(aw_simulation_monitor(sim, &row));
        assert_close(row.time * AW_C, aw_simulation_ct(sim), 1e-15, 0.0);
        const double cdt = aw_simulation_cdt(sim);
        if (sim->step > 0) o.work += 0.5 * (effective + row.F_s_eff_mean) * cdt;
        const double rest = row.F_s_mean - row.F_s_eff_mean;
        if (sim->step > 0) o.rebuilt += 0.5 * (other + rest) * cdt;
        if (sim->step == 0) o.potential = mean_potential(sim);
        other = rest;
        o.lengths += sim->step > 1 && cdt != last;
        force = row.F_s_mean;
        effective = row.F_s_eff_mean;
        last = cdt;
        if (aw_simulation_is_last(sim)) break;
        assert_ok(aw_simulation_advance(sim));
    }
    o.potential -= mean_potential(sim);
    o.mean = row.energy_change_mean;
    o.rms = row.energy_change_rms;
    o.S = row.s_ref;
    o.F = force;
    o.steps = sim->step;
    o.extra = sim->extra;
    o.halved = sim->most_halved;
    o.worst = sim->check.worst;
    o.most = sim->plan.most_steps;
    assert_true(sim->field.view->n == sim->step + 1); /* the history kept all */
    aw_simulation_free(sim);
    aw_config_free(config);
    return o;
}

static void a_run_on_a_ladder_has_the_energy_of_small_equal_steps(void **state)
{
    const outcome fine = run_of(0.012, 2, 1.0), ladder = run_of(AW_STEP_AUTO, 2, 1.0);
    (void)state;
    assert_true(ladder.lengths >= 3 && 2 * ladder.steps < fine.steps);
    /* The field of a bend shorter than an overtaking length curves behind it more than planned. */
    assert_true(ladder.extra < 0.2 * (double)ladder.steps);
    assert_true(fabs(ladder.S - fine.S) < 0.03);
    /* Each kick lasts half the step before and half the step after: the trapezium rule, of the
     * effective force, since the mean of phi is exchanged by its difference. Sums over a grid of
     * half a sigma are off by 3 % (1 % with 32 nodes, 0.5 % with 48). */
    assert_close(ladder.work + ladder.potential, ladder.mean, 0.035, 0.0);
    assert_close(ladder.mean + ladder.F * (fine.S - ladder.S), fine.mean, 3e-3, 0.0);
    /* What the force does beyond the effective one is minus the change of the mean of phi
     * (docs/theory.md, "Forces"). Gathering smooths F_s by 1/8 of the squared spacing, here half
     * a sigma: 3 % of what curves as much as the bunch. */
    assert_close(fine.rebuilt, fine.potential, 0.03, 0.0);
    assert_close(ladder.rebuilt, ladder.potential, 0.03, 0.0);
    assert_true(fabs(fine.potential) > fabs(fine.mean)); /* no small part */
    /* They end at different places: it still grows by 0.3 of itself in a metre. */
    assert_close(ladder.rms * (1.0 + 0.3 * (fine.S - ladder.S)), fine.rms, 0.01, 0.0);
}

/* Steps, and halvings of them, are decided by numbers that do not depend on the threads. */
static void a_run_that_halves_steps_has_the_same_bits_for_any_number_of_threads(void **state)
{
    const outcome plain = run_of(AW_STEP_AUTO, 2, 1.0), two = run_of(AW_STEP_AUTO, 2, 300.0),
                  one = run_of(AW_STEP_AUTO, 1, 300.0);
    (void)state;
    assert_true(two.halved > 0 && two.steps > plain.steps && two.extra > 0.0);
    assert_true(two.steps <= two.most);                 /* the history has room for all */
    assert_true(plain.worst == 0.0 && two.worst > 1.0); /* but not for all that it needs */
    assert_int_equal(one.steps, two.steps);
    assert_memory_equal(&one.mean, &two.mean, sizeof one.mean);
    assert_memory_equal(&one.rms, &two.rms, sizeof one.rms);
    assert_close(two.work + two.potential, two.mean, 0.035, 0.0);
    /* Each is within 3e-3 of the answer (see above): both within 4.3e-3 of each other. */
    assert_close(two.mean + two.F * (plain.S - two.S), plain.mean, 4.3e-3, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_steps_are_numbered),
        cmocka_unit_test(steps_change_by_a_factor_of_two_at_most_and_end_with_the_lattice),
        cmocka_unit_test(steps_resolve_the_forces_of_edges),
        cmocka_unit_test(steps_resolve_echoes_between_plates),
        cmocka_unit_test(how_elements_are_split_does_not_matter),
        cmocka_unit_test(halved_steps_follow_the_same_ladder),
        cmocka_unit_test(a_run_on_a_ladder_has_the_energy_of_small_equal_steps),
        cmocka_unit_test(a_run_that_halves_steps_has_the_same_bits_for_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
