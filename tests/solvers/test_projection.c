/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strategy `projection`: it meets the tolerance, measures its error, refines if that is too
 * large, and leaves a step that is out of reach to `predictive`; its zones join without a seam. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/math/slope.h"
#include "quadrature/panels.h"
#include "src/base/memory.h"
#include "src/solvers/projection/budget.h"
#include "src/solvers/projection/constants.h"
#include "src/solvers/projection/density.h"
#include "src/solvers/projection/examine.h"
#include "src/solvers/projection/sample.h"
#include "tests/assert_close.h"
#include "tests/beam_fixture.h"
#include "tests/slice_fixture.h"

#define TOLERANCE 1e-4

enum { EVERY = 37, STEPS = 3 };

static int is_fastest(const aw_variant *variant) { return variant == aw_variant_find(NULL); }

static bench_params params_for(const aw_variant *variant, int quiet)
{
    bench_params p = bench_lcls();
    p.quiet = quiet;
    p.ns = is_fastest(variant) ? 48 : 32;
    p.nx = is_fastest(variant) ? 40 : 30;
    return p;
}

static void check_errors(const aw_problem *problem, const double *got)
{
    double *want = bench_reference(problem, EVERY);
    assert_close(bench_error(problem, EVERY, want, got, AW_PHI), 0.0, 0.0, problem->tolerance);
    assert_close(bench_error(problem, EVERY, want, got, AW_PSI), 0.0, 0.0, problem->tolerance);
    /* The rates within the tolerance of their own scale, which is 300 times the largest force. */
    for (unsigned k = AW_DPHI; k <= AW_DAX; ++k)
        assert_close(bench_error(problem, EVERY, want, got, k) *
                         bench_largest(got, problem->points, k),
                     0.0, 0.0, problem->tolerance * problem->scales.rate);
    aw_free(want);
}

/* ----------------------------------------------------------------------------------- accuracy */

/* Some steps, the first at S = from. */
static void check_agreement(const aw_variant *variant, const bench_params *params, double from)
{
    aw_solver *solver = NULL;
    aw_report report;
    bench b;
    bench_open(&b, params);
    bench_run(&b, from - params->cdt);
    double *got = bench_array(b.points * AW_RESULTS);
    aw_device device = bench_device(variant->name, 0, 1.0);
    assert_ok(aw_solver_new("projection", &device, &solver));
    for (int step = 0; step < STEPS; ++step) {
        bench_run(&b, from + params->cdt * step);
        aw_problem problem = bench_grid_problem(&b, TOLERANCE);
        assert_ok(aw_solver_solve(solver, &problem, got, NULL, &report));
        assert_int_equal(report.fell_back, 0);
        assert_true(report.samples >= (step == 0 ? 2 * AW_SAMPLE_NEW_RULE : 1));
        assert_true(report.sampled > 0.0 && report.sampled <= TOLERANCE);
        if (step == STEPS - 1) check_errors(&problem, got);
    }
    aw_solver_free(solver);
    aw_device_close(&device);
    aw_free(got);
    bench_close(&b);
}

/* Through the entrance of a bend. */
static void projection_meets_the_tolerance_on_a_quiet_beam(void **state)
{
    const bench_params params = params_for(*state, 1);
    check_agreement(*state, &params, 0.4);
}

/* 40 particles a node and more: with 20, of which a run warns, columns of nodes that the sample did
 * not meet were 1.003 tolerances off. */
static void projection_meets_the_tolerance_on_a_random_beam(void **state)
{
    bench_params params = params_for(*state, 0);
    params.particles = 40 * (size_t)(params.ns * params.nx);
    check_agreement(*state, &params, 0.4);
}

/* From 25 MeV to 50 GeV; in bends to the left and to the right, and behind a short one. */
static void projection_meets_the_tolerance_at_any_energy_and_in_any_bend(void **state)
{
    if (!is_fastest(*state)) return;
    static const struct {
        double gamma, radius, length, from;
    } at[] = {{50.0, -25.13, 5.0, 0.4},
              {1e5, -25.13, 5.0, 0.4},
              {50.0, 1.5, 5.0, 0.4},
              {1e5, 10.0, 0.2, 0.18}, /* the bunch passes its end */
              {1e3, -10.0, 0.2, 0.4}};
    for (size_t i = 0; i < sizeof at / sizeof *at; ++i) {
        bench_params params = params_for(*state, 1);
        params.gamma = at[i].gamma;
        params.radius = at[i].radius;
        params.piece[0] = at[i].length;
        check_agreement(*state, &params, at[i].from);
    }
}

/* Circles that have left a long bunch across its width still pass through its modulation. */
static void projection_meets_the_tolerance_on_a_long_modulated_beam(void **state)
{
    if (!is_fastest(*state)) return;
    bench_params params = params_for(*state, 1);
    params.ns = 128;
    params.nx = 24;
    params.sigma_s = 1e-3;
    params.wavelength = 0.6e-3; /* 8 cells */
    check_agreement(*state, &params, 0.0);
    check_agreement(*state, &params, 0.4);
}

/* A rule that is not accurate enough is replaced, or its panels are shortened, within the step. */
static void a_tighter_tolerance_takes_more_nodes(void **state)
{
    const bench_params params = params_for(*state, 0);
    const double tolerance[2] = {1e-2, 3e-5};
    size_t nodes[2];
    bench b;
    bench_open(&b, &params);
    bench_run(&b, 1.2);
    double *got = bench_array(b.points * AW_RESULTS);
    aw_device device = bench_device(((const aw_variant *)*state)->name, 0, 1.0);
    for (int i = 0; i < 2; ++i) {
        aw_report report;
        aw_problem problem = bench_grid_problem(&b, tolerance[i]);
        assert_ok(bench_solve("projection", &device, &problem, got, &report));
        assert_int_equal(report.fell_back, 0);
        assert_true(report.sampled <= tolerance[i]);
        nodes[i] = report.common_nodes[0] + report.common_nodes[1];
    }
    assert_true(nodes[1] > nodes[0] + nodes[0] / 2);
    aw_device_close(&device);
    aw_free(got);
    bench_close(&b);
}

/* ------------------------------------------------------------- points that nothing feels */

/* Whether a gradient at a felt node reads node (i, j): one of those in its row or its column. */
static int is_read(const unsigned char *felt, int ns, int nx, int i, int j)
{
    for (int k = 0; k < ns; ++k) {
        int first;
        aw_slope_weights(k, ns, &first);
        if (felt[j * ns + k] && i >= first && i < first + AW_SLOPE_NODES) return 1;
    }
    for (int k = 0; k < nx; ++k) {
        int first;
        aw_slope_weights(k, nx, &first);
        if (felt[k * ns + i] && j >= first && j < first + AW_SLOPE_NODES) return 1;
    }
    return 0;
}

static double difference(const double *a, const double *b, const aw_scales *scales)
{
    return fmax(fabs(a[AW_PHI] - b[AW_PHI]) / scales->phi,
                fabs(a[AW_PSI] - b[AW_PSI]) / scales->psi);
}

/* Where no felt gradient reads, results are left as they are, or are those of all points if the
 * problem is to be complete; the others are the same bits. A felt corner of the grid, where windows
 * are shifted inward, is one of the places. */
static void what_nothing_feels_is_left_out_or_completed(void **state)
{
    const bench_params params = params_for(*state, 1);
    const int ns = params.ns, nx = params.nx;
    enum { ALL, FELT, COMPLETE, KINDS };
    double *got[KINDS];
    uint64_t evaluations[KINDS];
    bench b;
    bench_open(&b, &params);
    bench_run(&b, 1.2);
    unsigned char *felt = aw_alloc(b.points, 1);
    assert_non_null(felt);
    for (int j = 0; j < nx; ++j)
        for (int i = 0; i < ns; ++i)
            felt[j * ns + i] = (abs(i - j) < 2 && i > 8 && j < nx - 8) || (i < 2 && j < 1);
    aw_device device = bench_device(((const aw_variant *)*state)->name, 0, 1.0);
    aw_problem problem = bench_grid_problem(&b, TOLERANCE);
    for (int k = 0; k < KINDS; ++k) {
        aw_report report;
        got[k] = bench_array(b.points * AW_RESULTS);
        for (size_t i = 0; i < b.points * AW_RESULTS; ++i) got[k][i] = -7.0;
        problem.felt = k == ALL ? NULL : felt;
        problem.complete = k == COMPLETE;
        assert_ok(bench_solve("projection", &device, &problem, got[k], &report));
        assert_int_equal(report.fell_back, 0);
        assert_true(report.sampled <= TOLERANCE);
        evaluations[k] = report.work.evaluations;
    }
    assert_true(evaluations[FELT] < evaluations[COMPLETE]);
    size_t read = 0;
    for (size_t i = 0; i < b.points; ++i) {
        const double *of[KINDS] = {got[ALL] + i * AW_RESULTS, got[FELT] + i * AW_RESULTS,
                                   got[COMPLETE] + i * AW_RESULTS};
        assert_true(difference(of[ALL], of[COMPLETE], &problem.scales) <= 2.0 * TOLERANCE);
        if (is_read(felt, ns, nx, (int)i % ns, (int)i / ns)) {
            read++;
            assert_memory_equal(of[FELT], of[COMPLETE], AW_RESULTS * sizeof(double));
        } else {
            for (unsigned k = 0; k < AW_RESULTS; ++k) assert_true(of[FELT][k] == -7.0);
        }
    }
    assert_true(read > 0 && read < b.points / 2);
    aw_device_close(&device);
    for (int k = 0; k < KINDS; ++k) aw_free(got[k]);
    aw_free(felt);
    bench_close(&b);
}

/* Scales of a result serve the next step, which then needs no coarse pass; not a much later one,
 * where psi may be a thousand times larger. */
static void stored_scales_serve_the_next_step_only(void **state)
{
    const bench_params params = params_for(*state, 1);
    const double S[3] = {0.02, 0.04, 0.8};
    aw_solver *solver[2] = {NULL, NULL};
    aw_scales stored, found;
    aw_report report;
    bench b;
    bench_open(&b, &params);
    aw_device device = bench_device(((const aw_variant *)*state)->name, 0, 1.0);
    for (int i = 0; i < 2; ++i) assert_ok(aw_solver_new("projection", &device, &solver[i]));
    bench_run(&b, S[0]);
    double *got = bench_array(b.points * AW_RESULTS);
    aw_problem problem = bench_grid_problem(&b, TOLERANCE);
    assert_ok(aw_solver_solve(solver[0], &problem, got, NULL, &report));
    for (int i = 1; i < 3; ++i) {
        bench_run(&b, S[i]);
        problem = bench_grid_problem(&b, TOLERANCE);
        assert_ok(aw_solver_scales(solver[0], &problem, &stored));
        assert_ok(aw_solver_scales(solver[1], &problem, &found));
        if (i == 1) {
            assert_close(stored.psi, bench_largest(got, b.points, AW_PSI), 0.0, 0.0);
            /* The points of the coarse pass are dense enough for the peak of phi. */
            assert_close(found.phi, stored.phi, 0.0, 0.1 * stored.phi);
        } else {
            assert_close(stored.psi, found.psi, 0.0, 0.0);
        }
    }
    assert_true(found.psi > 10.0 * bench_largest(got, b.points, AW_PSI));
    for (int i = 0; i < 2; ++i) aw_solver_free(solver[i]);
    aw_device_close(&device);
    aw_free(got);
    bench_close(&b);
}

/* Panels that are too long for single points are found, and capped as needed. */
static void panels_are_shortened_where_points_need_it(void **state)
{
    const bench_params params = params_for(*state, 1);
    aw_solver *solver = NULL;
    aw_work work = {0};
    double error[2];
    bench b;
    bench_open(&b, &params);
    bench_run(&b, 1.2);
    aw_problem problem = bench_grid_problem(&b, 1e-6);
    const size_t point[3] = {b.points / 2 + problem.columns / 2, b.points / 2 + 5, b.points / 3};
    aw_device device = bench_device(((const aw_variant *)*state)->name, 0, 1.0);
    aw_zone *zone = aw_alloc(1, sizeof *zone);
    assert_non_null(zone);
    assert_ok(aw_solver_new("projection", &device, &solver));
    assert_ok(device.ops->upload(device.state, problem.history, problem.point, problem.points));
    aw_rules_init(&zone->rules, 1);
    zone->from = 0.01;
    zone->to = 2.0;
    for (int i = 0; i < 2; ++i) {
        aw_panel_test test = {.point = point, .points = 3};
        assert_ok(aw_zone_examine(solver, &problem, zone, &test, &work));
        error[i] = test.error;
        if (i == 0) assert_true(test.capped);
    }
    assert_true(error[0] > 2e-6 && error[1] < 0.2 * error[0]);
    aw_solver_free(solver);
    aw_device_close(&device);
    aw_free(zone);
    bench_close(&b);
}

/* Error of psi of the far range at one point, in scales, by a sample that accepts any error. */
static double careless_error(aw_sampling *options)
{
    const aw_problem *problem = options->problem;
    const size_t point = problem->points / 2 + problem->columns / 2, first = 0;
    const int stratum = AW_CORE;
    const double tolerance[2] = {1e6, 1e-10};
    double psi[2];
    aw_work work = {0};
    for (int i = 0; i < 2; ++i) {
        aw_sample sample = {.entry = NULL};
        options->tolerance = tolerance[i];
        options->work = &work;
        assert_ok(aw_sample_add(&sample, options, &point, &stratum, 1));
        assert_ok(aw_sample_resample(&sample, options, &first, 1));
        assert_int_equal(sample.n, 1);
        psi[i] = sample.entry[0].I[AW_FAR][AW_PSI];
        aw_sample_free(&sample);
    }
    return fabs(psi[0] - psi[1]) / problem->scales.psi;
}

/* The sample evaluates at the common nodes, and between them, before it trusts its error
 * estimate. */
static void the_sample_is_cut_at_the_common_nodes(void **state)
{
    bench_params params = params_for(*state, 1);
    const aw_panels_options fine = {.order = 5,
                                    .ratio = 1.03,
                                    .sweep = 1.0,
                                    .first = 1e-6,
                                    .spacing = {HUGE_VAL, HUGE_VAL},
                                    .bunch = {1.0, 1.0},
                                    .density = 1.0};
    aw_solver *solver = NULL;
    bench b;
    params.ns = 32; /* where the error without the cuts is two hundred times larger */
    params.nx = 30;
    bench_open(&b, &params);
    bench_run(&b, 1.2);
    aw_problem problem = bench_grid_problem(&b, TOLERANCE);
    aw_device device = bench_device(((const aw_variant *)*state)->name, 0, 1.0);
    aw_panels none = {.node = NULL}, panels = none;
    assert_ok(aw_solver_new("projection", &device, &solver));
    assert_ok(device.ops->upload(device.state, problem.history, problem.point, problem.points));
    assert_ok(aw_partition_make(solver->partition, problem.history, &problem.centre, problem.half));
    assert_ok(aw_panels_add(&panels, problem.history, &problem.centre, 0.01, 2.0, &fine));
    aw_sampling options = {.solver = solver,
                           .problem = &problem,
                           .border = 0.01,
                           .panels = {&none, &none},
                           .stride = 1};
    const double without = careless_error(&options);
    options.panels[AW_FAR] = &panels;
    const double with = careless_error(&options);
    assert_true(with < 1e-7 && without > 5.0 * with);
    aw_panels_free(&panels);
    aw_solver_free(solver);
    aw_device_close(&device);
    bench_close(&b);
}

/* ----------------------------------------------------------------------------------- passages */

/* Sums over the panels of a rule from r' = 1.2 to 3 m, [points][AW_RESULTS].
 * @param[in] tables  permitted error of a table
 * @param[out] nodes  number of nodes, and of those that belong to passages */
static double *panel_sums(const aw_device *device, const aw_problem *problem,
                          const aw_panels_options *options, double tables, size_t nodes[2])
{
    double *sum = bench_array(problem->points * AW_RESULTS);
    aw_panels panels = {.node = NULL};
    aw_work work = {0};
    assert_ok(aw_panels_add(&panels, problem->history, &problem->centre, 1.2, 3.0, options));
    aw_common_rule rule = {.node = panels.node,
                           .nodes = panels.n,
                           .columns = problem->columns,
                           .moves_as = &problem->centre,
                           .table_error = tables,
                           .passage_error = tables,
                           .I = (double(*)[AW_RESULTS])sum};
    assert_ok(device->ops->integrate(device->state, &rule, &problem->scales, &work));
    assert_ok(device->ops->wait(device->state));
    nodes[0] = panels.n;
    nodes[1] = 0;
    for (size_t i = 0; i < panels.n; ++i) nodes[1] += (size_t)aw_is_passage(&panels.node[i]);
    aw_panels_free(&panels);
    return sum;
}

/* A passage takes a few nodes where circles sweep through the noise of dozens of cells. More than
 * twice as many that are no passages alias it. What is left of the error in a passage is that of
 * interpolation from node to node. */
static void passages_integrate_what_nodes_would_alias(void **state)
{
    bench_params params = bench_lcls();
    const aw_panels_options coarse = {.order = 5,
                                      .ratio = 1.4,
                                      .sweep = 0.25,
                                      .first = 1e-6,
                                      .spacing = {HUGE_VAL, HUGE_VAL},
                                      .bunch = {1.0, 1.0},
                                      .density = 1.0};
    aw_panels_options fine = coarse, passing = coarse, same = coarse;
    size_t want[2], got[2], without[2];
    aw_field_point corner[4];
    bench b;
    params.quiet = 0;
    params.sigma_s = 4e-4;
    params.sigma_x = 1e-4;
    params.ns = 160;
    params.nx = 20;
    bench_open(&b, &params);
    bench_run(&b, 3.2);
    aw_problem problem = bench_grid_problem(&b, TOLERANCE);
    aw_device device = bench_device(((const aw_variant *)*state)->name, 0, 1.0);
    assert_ok(device.ops->upload(device.state, problem.history, problem.point, problem.points));
    aw_grid_corners(problem.point, problem.columns, problem.points, corner);
    fine.sweep = 0.01;
    passing.corner = corner;
    double *reference = panel_sums(&device, &problem, &fine, 1e-8, want);
    double *passed = panel_sums(&device, &problem, &passing, 1e-6, got);
    assert_true(want[1] == 0 && got[1] == got[0] && 15 * got[0] < want[0]);
    same.sweep = 0.5 * (double)want[0] / (double)got[0] * fine.sweep;
    double *aliased = panel_sums(&device, &problem, &same, 1e-6, without);
    assert_true(without[1] == 0 && without[0] >= got[0]);
    const unsigned compared[2] = {AW_PHI, AW_PSI};
    for (int i = 0; i < 2; ++i) {
        const unsigned k = compared[i];
        const double size = bench_largest(reference, problem.points, k);
        const double error = bench_distance(passed, reference, problem.points, k);
        assert_close(error * size, 0.0, 0.0, 1e-4 * aw_scale_of(&problem.scales, k));
        assert_true(error < 0.25 * bench_distance(aliased, reference, problem.points, k));
    }
    aw_free(reference);
    aw_free(passed);
    aw_free(aliased);
    aw_device_close(&device);
    bench_close(&b);
}

/* ---------------------------------------------------------------------------------- leftovers */

/* Refinements of the CPU device: how many, and how many with jobs of different densities. */
static size_t refinements, mixed;
static aw_status (*cpu_refine)(void *, aw_region *, aw_job *, size_t, const aw_scales *, aw_work *);

static aw_status watched_refine(void *state, aw_region *region, aw_job *job, size_t jobs,
                                const aw_scales *scales, aw_work *work)
{
    int differs = 0;
    for (size_t i = 1; i < jobs; ++i) differs |= job[i].density != job[0].density;
    refinements++;
    mixed += differs != 0;
    return cpu_refine(state, region, job, jobs, scales, work);
}

/* Jobs of leftovers in the array in which those of the sample were, which are denser. */
static void leftovers_are_refined_with_the_same_density_everywhere(void **state)
{
    bench_params params = bench_lcls();
    aw_report report;
    bench b;
    params.quiet = 0;
    params.ns = params.nx = 10;
    bench_open(&b, &params);
    bench_run(&b, 0.4);
    double *got = bench_array(b.points * AW_RESULTS);
    aw_device device = bench_device(((const aw_variant *)*state)->name, 0, 1.0);
    aw_device_ops watched = *device.ops;
    cpu_refine = watched.refine;
    watched.refine = watched_refine;
    device.ops = &watched;
    refinements = mixed = 0;
    aw_problem problem = bench_grid_problem(&b, 1e-8);
    aw_status status = bench_solve("projection", &device, &problem, got, &report);
    assert_true(status == AW_OK || status == AW_ERR_MAXEVAL);
    assert_int_equal(report.fell_back, 1); /* many points have leftovers */
    assert_true(refinements > 1);
    assert_int_equal(mixed, 0);
    aw_device_close(&device);
    aw_free(got);
    bench_close(&b);
}

static void the_smallest_errors_stay_if_they_or_their_squares_fit_into_a_budget(void **state)
{
    double error[] = {0.3, 0.1, 0.5, 0.2};
    (void)state;
    assert_close(aw_budget_largest(error, 4, 0.35, 1.0), 0.2, 1e-15, 0.0);
    assert_close(aw_budget_largest(error, 4, 0.4, 2.0), 0.3, 1e-15, 0.0);
    assert_true(aw_budget_largest(error, 4, 0.05, 1.0) < 0.0);
}

/* --------------------------------------------------------------------------------------- seam */

/* The sum of both zones by rules that are the same on either side of their border. */
static void sum_with_border(aw_device *device, const aw_problem *problem, double border, double end,
                            double (*I)[AW_RESULTS])
{
    const double cell = problem->history->slice[0].hs;
    aw_panels_options options = {.order = 13,
                                 .ratio = 2.0,
                                 .sweep = 0.06,
                                 .first = 4.0 * cell,
                                 .spacing = {HUGE_VAL, HUGE_VAL},
                                 .bunch = {1.0, 1.0},
                                 .density = 1.0};
    memset(I, 0, problem->points * sizeof *I);
    for (int far = 0; far <= 1; ++far) {
        aw_panels panels = {.node = NULL};
        aw_work work = {0};
        assert_ok(aw_panels_add(&panels, problem->history, &problem->centre, far ? border : 0.0,
                                far ? end : border, &options));
        aw_common_rule rule = {.node = panels.node,
                               .nodes = panels.n,
                               .columns = problem->columns,
                               .moves_as = &problem->centre,
                               .table_error = far ? 0.1 * TOLERANCE / (double)panels.n : 0.0,
                               .I = I};
        assert_ok(device->ops->integrate(device->state, &rule, &problem->scales, &work));
        assert_ok(device->ops->wait(device->state));
        if (far) assert_true(rule.tables > 0);
        aw_panels_free(&panels);
    }
}

static void the_zones_join_without_a_seam(void **state)
{
    const bench_params params = params_for(*state, 1);
    bench b;
    bench_open(&b, &params);
    bench_run(&b, 0.4);
    aw_problem problem = bench_grid_problem(&b, TOLERANCE);
    aw_device device = bench_device(((const aw_variant *)*state)->name, 0, 1.0);
    assert_ok(device.ops->upload(device.state, problem.history, problem.point, problem.points));
    double *sum[2];
    for (int i = 0; i < 2; ++i) {
        sum[i] = bench_array(problem.points * AW_RESULTS);
        sum_with_border(&device, &problem, problem.half * (i == 0 ? 2.0 : 5.0), 0.5,
                        (double(*)[AW_RESULTS])sum[i]);
    }
    for (size_t i = 0; i < problem.points; ++i)
        for (unsigned k = 0; k < AW_RESULTS; ++k)
            assert_close(sum[1][i * AW_RESULTS + k], sum[0][i * AW_RESULTS + k], 0.0,
                         0.2 * TOLERANCE * aw_scale_of(&problem.scales, k));
    aw_free(sum[0]);
    aw_free(sum[1]);
    aw_device_close(&device);
    bench_close(&b);
}

/* ------------------------------------------------------------------------------- nodes in angle */

/* Sums over some nodes at all points, without tables. @return evaluations */
static uint64_t sum_of_nodes(const aw_device *device, const aw_problem *problem,
                             const aw_panels *panels, double (*I)[AW_RESULTS])
{
    aw_work work = {0};
    aw_common_rule rule = {.node = panels->node,
                           .nodes = panels->n,
                           .columns = problem->columns,
                           .moves_as = &problem->centre,
                           .I = I};
    assert_ok(device->ops->integrate(device->state, &rule, &problem->scales, &work));
    assert_ok(device->ops->wait(device->state));
    return work.evaluations;
}

/* Largest difference of two sums, in scales. */
static double largest_difference(const aw_problem *problem, double (*a)[AW_RESULTS],
                                 double (*b)[AW_RESULTS])
{
    double largest = 0.0;
    for (size_t i = 0; i < problem->points; ++i) {
        double error[AW_RESULTS];
        for (unsigned k = 0; k < AW_RESULTS; ++k) error[k] = a[i][k] - b[i][k];
        largest = fmax(largest, aw_sample_scaled_error(error, &problem->scales));
    }
    return largest;
}

/* Of all nodes in r' a few get more nodes in angle, and the sums are as if all had them. */
static void nodes_in_angle_are_added_where_they_matter(void **state)
{
    const bench_params params = params_for(*state, 0);
    const aw_panels_options options = {.order = 5,
                                       .ratio = 1.2,
                                       .sweep = 0.05,
                                       .first = 1e-5,
                                       .spacing = {HUGE_VAL, HUGE_VAL},
                                       .bunch = {1.0, 1.0},
                                       .density = 1.0};
    const double sparse = 0.25; /* one node per cell */
    const aw_probes others = {.n = 0};
    aw_solver *solver = NULL;
    aw_panels panels = {.node = NULL};
    aw_work work = {0};
    uint64_t evaluations[3];
    double *sum[3]; /* dense, chosen, sparse */
    size_t dense = 0;
    bench b;
    bench_open(&b, &params);
    bench_run(&b, 1.2);
    const aw_problem problem = bench_grid_problem(&b, 1e-6);
    aw_device device = bench_device(((const aw_variant *)*state)->name, 0, 1.0);
    assert_ok(aw_solver_new("projection", &device, &solver));
    assert_ok(device.ops->upload(device.state, problem.history, problem.point, problem.points));
    assert_ok(aw_panels_add(&panels, problem.history, &problem.centre, 2.0 * problem.half, 2.0,
                            &options));
    for (int i = 0; i < 3; ++i) {
        if (i == 1) assert_ok(aw_density_choose(solver, &problem, &others, sparse, &panels, &work));
        for (size_t k = 0; i == 1 && k < panels.n; ++k) dense += panels.node[k].density > sparse;
        for (size_t k = 0; i == 2 && k < panels.n; ++k) panels.node[k].density = sparse;
        sum[i] = bench_array(problem.points * AW_RESULTS);
        evaluations[i] = sum_of_nodes(&device, &problem, &panels, (double(*)[AW_RESULTS])sum[i]);
    }
    assert_true(work.evaluations > 0);
    assert_true(dense > 0 && dense < panels.n);
    assert_true(evaluations[1] < evaluations[0] && evaluations[1] > evaluations[2]);
    double(*all)[AW_RESULTS] = (double(*)[AW_RESULTS])sum[0];
    const double chosen = largest_difference(&problem, all, (double(*)[AW_RESULTS])sum[1]);
    const double none = largest_difference(&problem, all, (double(*)[AW_RESULTS])sum[2]);
    /* The limit, 0.03 of the tolerance, holds at nine points. The noise of a random start differs
     * from point to point: the worst of 960 had a dozen times as much, 0.37. Without a choice more
     * than the tolerance is left (1.9 of it): the case says something. */
    assert_true(chosen <= 0.5 * problem.tolerance && none > problem.tolerance);
    for (int i = 0; i < 3; ++i) aw_free(sum[i]);
    aw_panels_free(&panels);
    aw_solver_free(solver);
    aw_device_close(&device);
    bench_close(&b);
}

/* ------------------------------------------------------------------------- threads and fallback */

static void few_steps(const aw_variant *variant, int threads, double *result)
{
    const bench_params params = params_for(variant, 0);
    aw_solver *solver = NULL;
    aw_report report;
    bench b;
    omp_set_num_threads(threads);
    bench_open(&b, &params);
    aw_device device = bench_device(variant->name, threads, 1.0);
    assert_ok(aw_solver_new("projection", &device, &solver));
    for (int step = 0; step < STEPS; ++step) {
        bench_run(&b, 0.2 + 0.02 * step);
        const aw_problem problem = bench_grid_problem(&b, TOLERANCE);
        assert_ok(aw_solver_solve(solver, &problem, result, NULL, &report));
        assert_int_equal(report.fell_back, 0);
        result += b.points * AW_RESULTS;
    }
    aw_solver_free(solver);
    aw_device_close(&device);
    bench_close(&b);
}

static void steps_are_bit_identical_for_any_number_of_threads(void **state)
{
    const bench_params p = params_for(*state, 0);
    const int before = omp_get_max_threads();
    const size_t n = STEPS * (size_t)p.ns * (size_t)p.nx * AW_RESULTS;
    double *one = bench_array(n), *more = bench_array(n);
    few_steps(*state, 1, one);
    for (int threads = 2; threads <= 3; ++threads) {
        few_steps(*state, threads, more);
        assert_memory_equal(one, more, n * sizeof *one);
    }
    omp_set_num_threads(before);
    aw_free(one);
    aw_free(more);
}

/* Single precision cannot reach 1e-8: `predictive` does the step. */
static void a_tolerance_out_of_reach_is_left_to_predictive(void **state)
{
    bench_params params = bench_lcls();
    aw_solver *solver = NULL;
    aw_report report;
    bench b;
    if (!is_fastest(*state)) params.ns = params.nx = 10; /* scalar: 20 times as long a point */
    bench_open(&b, &params);
    bench_run(&b, 0.2);
    double *got = bench_array(b.points * AW_RESULTS);
    double *error = bench_array(b.points);
    aw_device device = bench_device(((const aw_variant *)*state)->name, 0, 1.0);
    aw_problem problem = bench_grid_problem(&b, 1e-8);
    assert_ok(aw_solver_new("projection", &device, &solver));
    for (int step = 0; step < 2; ++step) { /* the second is left to it at once */
        assert_ok(aw_solver_solve(solver, &problem, got, error, &report));
        assert_int_equal(report.fell_back, 1);
        for (size_t i = 0; i < b.points; ++i) assert_true(error[i] <= 1e-8);
        assert_true(step == 0 ? report.samples > 0 : report.samples == 0);
    }
    aw_solver_free(solver);
    aw_device_close(&device);
    aw_free(got);
    aw_free(error);
    bench_close(&b);
}

int main(int argc, char **argv)
{
    void *variant = variant_state(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(projection_meets_the_tolerance_on_a_quiet_beam, variant),
        cmocka_unit_test_prestate(projection_meets_the_tolerance_on_a_random_beam, variant),
        cmocka_unit_test_prestate(projection_meets_the_tolerance_at_any_energy_and_in_any_bend,
                                  variant),
        cmocka_unit_test_prestate(projection_meets_the_tolerance_on_a_long_modulated_beam, variant),
        cmocka_unit_test_prestate(a_tighter_tolerance_takes_more_nodes, variant),
        cmocka_unit_test_prestate(what_nothing_feels_is_left_out_or_completed, variant),
        cmocka_unit_test_prestate(stored_scales_serve_the_next_step_only, variant),
        cmocka_unit_test_prestate(panels_are_shortened_where_points_need_it, variant),
        cmocka_unit_test_prestate(the_sample_is_cut_at_the_common_nodes, variant),
        cmocka_unit_test_prestate(passages_integrate_what_nodes_would_alias, variant),
        cmocka_unit_test_prestate(leftovers_are_refined_with_the_same_density_everywhere, variant),
        cmocka_unit_test(the_smallest_errors_stay_if_they_or_their_squares_fit_into_a_budget),
        cmocka_unit_test_prestate(the_zones_join_without_a_seam, variant),
        cmocka_unit_test_prestate(nodes_in_angle_are_added_where_they_matter, variant),
        cmocka_unit_test_prestate(steps_are_bit_identical_for_any_number_of_threads, variant),
        cmocka_unit_test_prestate(a_tolerance_out_of_reach_is_left_to_predictive, variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
