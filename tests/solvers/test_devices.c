/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several devices as one: results are right whichever device does what, and whichever devices
 * fail. */
#include <string.h>

#include "kernels/cpu/simd/simd.h"
#include "kernels/multi/devices.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/beam_fixture.h"

#define TOLERANCE 1e-6
#define NONSENSE (UINT64_C(1) << 40) /* a count of regions far above any real one */
enum { EVERY = 7, STEPS = 3, KILLS = 60 };

static aw_device open_list(const char *spec, const char *slow, int threads)
{
    const aw_device_params params = {.threads = threads, .inner_density = 1.0, .slow = slow};
    aw_device device;
    assert_ok(aw_device_open(spec, &params, &device));
    return device;
}

/* Devices agree point by point: a grid of 24 by 24 points is work enough for several. */
static bench_params small_grid(void)
{
    bench_params params = bench_lcls();
    params.ns = params.nx = 24;
    return params;
}

/* Solve STEPS steps from S = 0.3 m on, result [STEPS][points], and close the device. */
static void few_steps(bench *b, const char *strategy, aw_device device, double *result)
{
    aw_solver *solver = NULL;
    aw_report report;
    assert_ok(aw_solver_new(strategy, &device, &solver));
    for (int step = 0; step < STEPS; ++step) {
        bench_run(b, 0.3 + 0.02 * step);
        const aw_problem problem = bench_grid_problem(b, TOLERANCE);
        assert_ok(aw_solver_solve(solver, &problem, result, NULL, &report));
        result += b->points * AW_RESULTS;
    }
    aw_solver_free(solver);
    aw_device_close(&device);
}

static double *steps_of(const char *strategy, const char *spec, const char *slow, int threads)
{
    const bench_params params = small_grid();
    double *result = bench_array(STEPS * (size_t)params.ns * (size_t)params.nx * AW_RESULTS);
    bench b;
    bench_open(&b, &params);
    few_steps(&b, strategy, open_list(spec, slow, threads), result);
    bench_close(&b);
    return result;
}

static int same(const double *a, const double *b)
{
    const bench_params params = small_grid();
    const size_t n = STEPS * (size_t)params.ns * (size_t)params.nx * AW_RESULTS;
    return memcmp(a, b, n * sizeof *a) == 0;
}

/* A list of one device gives the same bits as the device itself. Two devices give the same bits at
 * any speed and number of threads; and they cut the work differently from one device, so that their
 * results agree to within the tolerance. */
static void results_do_not_depend_on_which_device_did_what(void **state)
{
    static const char *const strategy[] = {"two-phase", "heuristic", "predictive", "projection"};
    (void)state;
    for (int i = 0; i < 4; ++i) {
        double *plain = steps_of(strategy[i], "cpu", NULL, 2);
        double *one = steps_of(strategy[i], "cpu:0", NULL, 1);
        double *two = steps_of(strategy[i], "cpu:0,cpu:1", NULL, 2);
        double *slow = steps_of(strategy[i], "cpu:0,cpu:1", "cpu:1=3", 3);
        double *other = steps_of(strategy[i], "manycore,cpu", "manycore=2", 2);
        const size_t points = (size_t)small_grid().ns * (size_t)small_grid().nx;
        assert_true(same(one, plain));
        assert_true(same(slow, two));
        assert_true(same(other, two));
        for (unsigned k = AW_PHI; k <= AW_PSI; ++k)
            assert_true(bench_distance(two, plain, STEPS * points, k) < 2.0 * TOLERANCE);
        aw_free(plain);
        aw_free(one);
        aw_free(two);
        aw_free(slow);
        aw_free(other);
    }
}

/* Compare all strategies on several devices with the adaptive strategy, on a grid of side^2
 * points. */
static void check_answers(const char *devices, int side)
{
    static const char *const strategy[] = {"two-phase", "heuristic", "predictive", "projection"};
    bench_params params = bench_lcls();
    bench b;
    params.ns = params.nx = side;
    bench_open(&b, &params);
    bench_run(&b, 0.3);
    const aw_problem problem = bench_grid_problem(&b, TOLERANCE);
    double *reference = bench_reference(&problem, EVERY);
    double *result = bench_array(problem.points * AW_RESULTS);
    for (int i = 0; i < 4; ++i) {
        aw_device device = open_list(devices, NULL, 3);
        aw_report report;
        assert_ok(bench_solve(strategy[i], &device, &problem, result, &report));
        assert_true(report.error <= TOLERANCE);
        assert_true(bench_error(&problem, EVERY, reference, result, AW_PHI) < TOLERANCE);
        assert_true(bench_error(&problem, EVERY, reference, result, AW_PSI) < TOLERANCE);
        aw_device_close(&device);
    }
    aw_free(result);
    aw_free(reference);
    bench_close(&b);
}

static void results_of_several_cpus_are_within_the_tolerance(void **state)
{
    (void)state;
    check_answers("cpu:0,manycore,cpu:7", 32);
}

/* GPUs compute different bits from CPUs. An emulated one is slow: the grid is smaller. */
static void results_with_gpus_are_within_the_tolerance(void **state)
{
    (void)state;
    check_answers("emulated", 20);
    check_answers("emulated:0,emulated:1", 20); /* neither convolves */
    check_answers("cpu,emulated:0,emulated:1", 20);
}

/* ------------------------------------------------------------------------------ failing devices */

/* A CPU device that fails at its n-th operation, and leaves garbage in the results. */
typedef struct mortal {
    aw_device cpu;
    int left; /* operations until it fails */
    int convolves;
    int convolutions; /* convolutions until it fails; 0: it does not fail by them */
} mortal;

static int died_convolving; /* number of devices; one thread convolves at a time */

static int dies(mortal *m) { return m->left > 0 ? --m->left == 0 : 1; }

static void mortal_close(void *state)
{
    mortal *m = state;
    aw_device_close(&m->cpu);
    aw_free(m);
}

static const char *mortal_describe(const void *state)
{
    (void)state;
    return "mortal";
}

static aw_status mortal_upload(void *state, const aw_history_view *h, const aw_field_point *point,
                               size_t points)
{
    mortal *m = state;
    return dies(m) ? AW_ERR_NOMEM : m->cpu.ops->upload(m->cpu.state, h, point, points);
}

static aw_status mortal_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                              aw_work *work)
{
    mortal *m = state;
    return dies(m) ? AW_ERR_BACKEND : m->cpu.ops->sweep(m->cpu.state, region, n, scales, work);
}

static aw_status mortal_refine(void *state, aw_region *region, aw_job *job, size_t jobs,
                               const aw_scales *scales, aw_work *work)
{
    mortal *m = state;
    if (!dies(m)) return m->cpu.ops->refine(m->cpu.state, region, job, jobs, scales, work);
    for (size_t i = 0; i < jobs; ++i) {
        job[i].status = AW_ERR_NONFINITE;
        for (unsigned k = 0; k < AW_RESULTS; ++k) job[i].I[k] = NAN;
    }
    work->regions += NONSENSE;
    return AW_ERR_BACKEND;
}

static aw_status mortal_evaluate(void *state, const aw_cluster_call *call, aw_work *work)
{
    mortal *m = state;
    const aw_status status = m->cpu.ops->evaluate(m->cpu.state, call, work);
    if (!dies(m)) return status;
    work->regions += NONSENSE;
    for (size_t i = 0; i < call->n; ++i) {
        const aw_cluster *c = &call->cluster[i];
        memset(c->worst, 255, c->tiles * c->regions * sizeof *c->worst);
        memset(c->refused, 1, c->tiles * c->regions);
        for (size_t k = 0; k < c->tiles; ++k)
            call->out.I[c->tile[k].first][AW_PSI] = call->out.rest_error[c->tile[k].first] = NAN;
    }
    return AW_ERR_BACKEND;
}

static aw_status mortal_integrate(void *state, aw_common_rule *rule, const aw_scales *scales,
                                  aw_work *work)
{
    mortal *m = state;
    const aw_status status = m->cpu.ops->integrate(m->cpu.state, rule, scales, work);
    if (!dies(m)) return status;
    work->regions += NONSENSE;
    rule->tables += 7;
    rule->I[0][AW_PHI] = NAN;
    return AW_ERR_BACKEND;
}

static aw_status mortal_convolve(void *state, const aw_common_rule *rule)
{
    mortal *m = state;
    const aw_status status = m->cpu.ops->convolve(m->cpu.state, rule);
    const int last = m->convolutions > 0 && --m->convolutions == 0;
    if (!dies(m) && !last) return status;
    m->left = 0;
    rule->I[3][AW_PSI] = NAN;
    died_convolving++;
    return AW_ERR_BACKEND;
}

static int mortal_convolves(const void *state) { return ((const mortal *)state)->convolves; }

static aw_status mortal_wait(void *state)
{
    (void)state;
    return AW_OK;
}

static const aw_device_ops mortal_ops = {.kind = "mortal",
                                         .close = mortal_close,
                                         .describe = mortal_describe,
                                         .upload = mortal_upload,
                                         .sweep = mortal_sweep,
                                         .refine = mortal_refine,
                                         .evaluate = mortal_evaluate,
                                         .integrate = mortal_integrate,
                                         .convolve = mortal_convolve,
                                         .convolves = mortal_convolves,
                                         .wait = mortal_wait};

/* n devices as one. Device i fails at operation dies_at[i] (0: never); the first `convolve` of them
 * convolve; device 0 fails at its convolution number `convolutions` (0: never). */
static aw_device mortals(const int *dies_at, int n, int convolve, int convolutions)
{
    aw_named_device named[AW_DEVICES_MAX];
    aw_device device;
    for (int i = 0; i < n; ++i) {
        mortal *m = aw_alloc(1, sizeof *m);
        assert_non_null(m);
        m->cpu = bench_device(NULL, 1, 1.0);
        m->left = dies_at[i] > 0 ? dies_at[i] : 1 << 30;
        m->convolves = i < convolve;
        m->convolutions = i == 0 ? convolutions : 0;
        named[i] = (aw_named_device){.device = {&mortal_ops, m}, .heavy = i % 2};
        snprintf(named[i].name, sizeof named[i].name, "mortal:%d", i);
    }
    assert_ok(aw_multi_open(named, n, &device));
    return device;
}

/* A pseudo-random number in 1 .. max (Knuth's multiplicative hash). */
static int random_number(int seed, int max)
{
    return 1 + (int)(((uint32_t)(seed + 1) * 2654435761U >> 8) % (uint32_t)max);
}

static void results_are_right_when_devices_fail(void **state)
{
    static const char *const strategy[] = {"predictive", "projection", "two-phase", "predictive"};
    const bench_params params = small_grid();
    int lost = 0;
    (void)state;
    bench b;
    bench_open(&b, &params);
    bench_run(&b, 0.3);
    const aw_problem problem = bench_grid_problem(&b, 10.0 * TOLERANCE);
    double *reference = bench_reference(&problem, EVERY);
    double *result = bench_array(problem.points * AW_RESULTS);
    for (int kill = 0; kill < KILLS; ++kill) {
        const int when[3] = {random_number(kill, 60), 0,
                             kill % 3 == 0 ? random_number(kill + KILLS, 60) : 0};
        aw_device device = mortals(when, 3, 1 + kill / 2 % 3, kill % 4 == 1 ? 1 + kill / 4 % 2 : 0);
        aw_solver *solver = NULL;
        aw_report report;
        assert_ok(aw_solver_new(strategy[kill % 4], &device, &solver));
        for (int i = 0; i < 2; ++i) {
            assert_ok(aw_solver_solve(solver, &problem, result, NULL, &report));
            assert_true(report.error <= problem.tolerance);
            assert_true(report.work.regions < NONSENSE);
            for (unsigned k = AW_PHI; k <= AW_PSI; k += AW_PSI - AW_PHI)
                assert_true(bench_error(&problem, EVERY, reference, result, k) < problem.tolerance);
        }
        for (int i = 0; i < 3; ++i) lost += aw_multi_record(&device, i).lost;
        assert_int_equal(aw_multi_record(&device, 1).lost, 0);
        aw_solver_free(solver);
        aw_device_close(&device);
    }
    assert_true(lost > KILLS / 2); /* the case is tested */
    assert_true(died_convolving > KILLS / 10);
    aw_free(result);
    aw_free(reference);
    bench_close(&b);
}

static void if_all_devices_fail_the_solve_fails(void **state)
{
    const bench_params params = bench_lcls();
    (void)state;
    bench b;
    bench_open(&b, &params);
    bench_run(&b, 0.1);
    const aw_problem problem = bench_grid_problem(&b, TOLERANCE);
    double *result = bench_array(problem.points * AW_RESULTS);
    for (int i = 1; i < 6; ++i) {
        const int when[2] = {i, i + 1};
        aw_device device = mortals(when, 2, 2, 0);
        aw_report report;
        const aw_status status = bench_solve("predictive", &device, &problem, result, &report);
        assert_true(status == AW_ERR_BACKEND || status == AW_ERR_NOMEM);
        aw_device_close(&device);
    }
    aw_free(result);
    bench_close(&b);
}

/* ------------------------------------------------------------------ lists, the many-core device */

static void invalid_lists_of_devices_are_refused(void **state)
{
    static const char *const bad[] = {"cpu,cpu", "cpu:0,abacus", "cpu:x", "cpu:",    "cpu:1234",
                                      ",",       "cpu,",         ",cpu",  "cpu:0:1", "manycores",
                                      "cpu :0",  "gpu:0"};
    static const char *const slow[] = {"cpu:2=2",   "cpu:0",    "cpu:0=", "cpu:0=0.5",
                                       "cpu:0=nan", "cpu:0=2x", "=2"};
    aw_device device;
    char many[512] = "cpu:0";
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        const aw_device_params params = {.inner_density = 1.0};
        assert_status(aw_device_open(bad[i], &params, &device), AW_ERR_BACKEND);
        assert_null(device.ops);
    }
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; ++i) {
        const aw_device_params params = {.inner_density = 1.0, .slow = slow[i]};
        assert_status(aw_device_open("cpu:0,cpu:1", &params, &device), AW_ERR_ARG);
    }
    for (int i = 1; i <= AW_DEVICES_MAX; ++i)
        snprintf(many + strlen(many), sizeof many - strlen(many), ",cpu:%d", i);
    const aw_device_params params = {.inner_density = 1.0};
    assert_status(aw_device_open(many, &params, &device), AW_ERR_BACKEND);
}

/* The host's cells may change after the upload, and at the next upload of slices that are
 * cached. */
static void manycore_works_on_its_own_copies(void **state)
{
    const bench_params params = bench_lcls();
    bench b;
    aw_report report;
    (void)state;
    bench_open(&b, &params);
    bench_run(&b, 0.3);
    const aw_problem problem = bench_grid_problem(&b, TOLERANCE);
    double *want = bench_array(problem.points * AW_RESULTS);
    double *got = bench_array(problem.points * AW_RESULTS);
    aw_device cpu = bench_device(NULL, 2, 1.0), manycore = open_list("manycore", NULL, 2);
    assert_ok(bench_solve("two-phase", &cpu, &problem, want, &report));
    assert_ok(bench_solve("two-phase", &manycore, &problem, got, &report));
    assert_memory_equal(got, want, problem.points * AW_RESULTS * sizeof *got);
    const aw_history_view *h = problem.history;
    for (int i = 0; i < h->n; ++i) {
        const size_t cells = (size_t)(h->ns + 2 * AW_PAD) * (size_t)(h->nx + 2 * AW_PAD);
        memset((void *)h->slice[i].cells, 0, cells * AW_COMPONENTS * sizeof(double));
    }
    assert_ok(bench_solve("two-phase", &manycore, &problem, got, &report));
    assert_memory_equal(got, want, problem.points * AW_RESULTS * sizeof *got);
    aw_device_close(&cpu);
    aw_device_close(&manycore);
    aw_free(want);
    aw_free(got);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_do_not_depend_on_which_device_did_what),
        cmocka_unit_test(results_of_several_cpus_are_within_the_tolerance),
        cmocka_unit_test(results_with_gpus_are_within_the_tolerance),
        cmocka_unit_test(results_are_right_when_devices_fail),
        cmocka_unit_test(if_all_devices_fail_the_solve_fails),
        cmocka_unit_test(invalid_lists_of_devices_are_refused),
        cmocka_unit_test(manycore_works_on_its_own_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
