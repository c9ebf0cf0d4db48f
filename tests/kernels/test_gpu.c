/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A GPU device against the CPU device, node by node. The GPU device is one of: `emulated`, whose
 * threads are loops on the host; `backwards`, the same with the threads of a block in the opposite
 * order, so that results that depend on the order differ; `apart`, with memory of its own
 * (gpu_apart.h); `cuda`, a GPU. */
#include <string.h>

#include "kernels/gpu/device.h"
#include "kernels/math/tile.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/device_fixture.h"
#include "tests/kernels/gpu_apart.h"
#include "tests/slice_fixture.h"

enum { NS = 40, NX = 24, ROWS = 3, POINTS = ROWS * NS, SLICES = 6, REGIONS = 12, CELLS = 9 };
/* Regions of a job in the first launch (kernels/gpu/lists.c). */
enum { FIRST_CAPACITY = 512 };
#define H SLICES_CELL
#define CDT 2e-4
#define GAMMA 100.0
/* The devices sum some hundred terms in different orders, at positions of some 1e2 cells. */
#define ROUNDING 1e-11
/* The CPU interpolates moments in time before it rounds them to single precision, the GPU rounds
 * first: differences of 4e-8 were seen. A rate is the difference of terms two hundred times larger:
 * 8e-6 were seen. */
#define SINGLE 4e-7
#define SINGLE_RATES 2e-5

extern const aw_gpu_runtime aw_backwards_runtime; /* kernels/gpu/emulated.c, compiled for it */
extern const aw_device_ops aw_emulated_ops;

static const aw_orbit_piece arc = {.kappa = 1.0};
static const aw_scales scales = {1.0, 1.0, 1.0};

/* A beam in an arc of 1 m radius, points on rows of its grid, and both devices. */
typedef struct bench {
    slices s;
    aw_history_view h;
    aw_field_point point[POINTS];
    aw_device device[2]; /* the CPU device, and the device under test */
} bench;

static void open_bench(bench *b, const char *kind, int mixed, int single)
{
    slices_new(&b->s, SLICES, NS, NX, single, H, H);
    for (int i = 0; i < SLICES; ++i) {
        b->s.slice[i].S = -beta_of(GAMMA) * CDT * i;
        b->s.slice[i].tilt = 0.05 + 0.01 * i;
        b->s.slice[i].id = 100 + (uint64_t)i;
        if (mixed && i % 2) b->s.slice[i].hs = 1.19 * H;
        slices_fill(&b->s, i, 0, slices_gaussian, NULL);
    }
    b->h = slices_view(&b->s, (aw_orbit_view){&arc, 1}, CDT, GAMMA, 1e3);
    const double tilt = b->h.slice[0].tilt;
    for (int j = 0; j < ROWS; ++j)
        for (int i = 0; i < NS; ++i) {
            const double u = (i - 0.5 * (NS - 1)) * H, w = (4 + 8 * j - 0.5 * (NX - 1)) * H;
            b->point[j * NS + i] = point_on(&b->h.orbit, u * cos(tilt) - w * sin(tilt),
                                            u * sin(tilt) + w * cos(tilt), GAMMA);
        }
    const aw_device_params params = {.variant = "scalar", .threads = 2, .inner_density = 1.0};
    assert_ok(aw_device_open("cpu", &params, &b->device[0]));
    if (strcmp(kind, "backwards") == 0) {
        b->device[1].ops = &aw_emulated_ops;
        assert_ok(aw_gpu_open(&aw_backwards_runtime, kind, 1, &params, &b->device[1].state));
    } else if (strcmp(kind, "apart") == 0) {
        static aw_gpu_runtime apart;
        apart = gpu_apart((size_t)1 << 30);
        b->device[1].ops = &aw_emulated_ops;
        assert_ok(aw_gpu_open(&apart, kind, 1, &params, &b->device[1].state));
    } else {
        assert_ok(aw_device_open(kind, &params, &b->device[1]));
    }
    for (int i = 0; i < 2; ++i)
        assert_ok(b->device[i].ops->upload(b->device[i].state, &b->h, b->point, POINTS));
}

static void close_bench(bench *b)
{
    for (int i = 0; i < 2; ++i) aw_device_close(&b->device[i]);
    slices_free(&b->s);
}

/* Regions from the point itself far beyond the slices' box, closer where the beam is near. */
static double edge_of(int k) { return 1.2 * SLICES * CDT * k * k / (REGIONS * REGIONS); }

static void fill_regions(aw_region *region, uint32_t point)
{
    for (int k = 0; k < REGIONS; ++k)
        region[k] = (aw_region){.a = edge_of(k), .b = edge_of(k + 1), .point = point};
}

/* Numbers relative to the largest of their kind. */
static void assert_alike(const double *a, const double *b, size_t n, size_t stride, double allowed)
{
    double largest = 0.0;
    for (size_t i = 0; i < n; ++i) largest = fmax(largest, fabs(b[i * stride]));
    assert_true(largest > 0.0);
    for (size_t i = 0; i < n; ++i)
        assert_close(a[i * stride], b[i * stride], 0.0, allowed * largest);
}

/* --------------------------------------------------------------------------------------- sweep */

static void sweep_both(bench *b, aw_region *region[2], size_t n)
{
    aw_work work[2] = {{0}};
    for (int i = 0; i < 2; ++i) {
        const aw_device *d = &b->device[i];
        assert_ok(d->ops->sweep(d->state, region[i], n, &scales, &work[i]));
        assert_ok(d->ops->wait(d->state));
    }
    assert_int_equal(work[1].regions, work[0].regions);
    assert_in_range(work[1].nodes, 4 * n - 1,
                    5 * n); /* some regions compute their first node themselves */
    assert_int_equal(work[1].rated, work[1].evaluations);
}

static void check_sweep(const char *kind, int mixed, int single)
{
    const size_t n = (size_t)POINTS * REGIONS;
    aw_region *region[2];
    bench b;
    open_bench(&b, kind, mixed, single);
    for (int i = 0; i < 2; ++i) {
        region[i] = aw_alloc(n, sizeof *region[i]);
        for (uint32_t p = 0; p < POINTS; ++p) fill_regions(&region[i][p * REGIONS], p);
        region[i][5].known = 1u | 8u; /* known nodes are not computed again */
        for (unsigned k = 0; k < AW_RESULTS; ++k) {
            region[i][5].f[0][k] = 1.0;
            region[i][5].f[3][k] = 2.0;
        }
    }
    sweep_both(&b, region, n);
    assert_true(region[1][5].f[0][AW_PSI] == 1.0 && region[1][5].f[3][AW_PHI] == 2.0);
    for (int m = 0; m < 5; ++m)
        for (unsigned k = 0; k < AW_RESULTS; ++k)
            assert_alike(&region[1]->f[m][k], &region[0]->f[m][k], n,
                         sizeof(aw_region) / sizeof(double), ROUNDING);
    for (unsigned k = 0; k < AW_RESULTS; ++k)
        assert_alike(&region[1]->I[k], &region[0]->I[k], n, sizeof(aw_region) / sizeof(double),
                     ROUNDING);
    for (size_t i = 0; i < n; ++i) assert_int_equal(region[1][i].known, 31u);
    close_bench(&b);
    aw_free(region[0]);
    aw_free(region[1]);
}

static void a_sweep_agrees_with_the_cpu(void **state) { check_sweep(*state, 0, 0); }
static void a_sweep_agrees_where_spacings_change(void **state) { check_sweep(*state, 1, 0); }
static void a_sweep_agrees_on_single_precision_slices(void **state) { check_sweep(*state, 0, 1); }

/* ---------------------------------------------------------------------------------- refinement */

/* @param[in] least   regions that the largest job has at least
 * @param[in] differ  permitted relative difference of the numbers of regions: at a tolerance near
 *                    rounding the two devices split slightly different regions.
 * What a job did until its first allocation was full is done again. */
static void check_refine(const char *kind, uint32_t jobs, double tolerance, size_t least,
                         double differ)
{
    aw_region *region = aw_alloc((size_t)POINTS * REGIONS, sizeof *region);
    float *leaves = aw_alloc((size_t)2 * POINTS * CELLS, sizeof *leaves);
    aw_job(*job)[POINTS] = aw_alloc(2, sizeof *job);
    double edge[CELLS + 1];
    aw_work work[2] = {{0}};
    size_t most = 0, redone = 0;
    bench b;
    open_bench(&b, kind, 0, 0);
    for (int k = 0; k <= CELLS; ++k) edge[k] = edge_of(REGIONS) * k / CELLS;
    for (int i = 0; i < 2; ++i) {
        const aw_device *d = &b.device[i];
        for (uint32_t p = 0; p < POINTS; ++p) fill_regions(&region[p * REGIONS], p);
        for (uint32_t p = 0; p < jobs; ++p)
            job[i][p] = (aw_job){.first = p * REGIONS,
                                 .count = REGIONS,
                                 .tolerance = tolerance,
                                 .density = p % 2 ? 2.0 : 0.0,
                                 .edge = edge,
                                 .cells = CELLS,
                                 .leaves = &leaves[((size_t)i * POINTS + p) * CELLS]};
        leaves[(size_t)i * POINTS * CELLS] = 7.0F; /* leaves are added to */
        assert_ok(d->ops->refine(d->state, region, job[i], jobs, &scales, &work[i]));
        assert_ok(d->ops->wait(d->state));
    }
    for (uint32_t p = 0; p < jobs; ++p) {
        assert_int_equal(job[0][p].status, AW_OK);
        assert_int_equal(job[1][p].status, AW_OK);
        assert_close((double)job[1][p].regions, (double)job[0][p].regions, differ, 0.0);
        assert_close(job[1][p].error, job[0][p].error, 1e-6 + differ, 0.0);
        most = job[1][p].regions > most ? job[1][p].regions : most;
        redone += job[1][p].regions > FIRST_CAPACITY ? 2 * FIRST_CAPACITY : 0;
    }
    assert_close((double)work[1].regions, (double)work[0].regions, differ, (double)redone);
    assert_true(most >= least);
    for (unsigned k = 0; k < AW_RESULTS; ++k)
        assert_alike(&job[1]->I[k], &job[0]->I[k], jobs, sizeof(aw_job) / sizeof(double), ROUNDING);
    for (size_t i = 0; i < (size_t)jobs * CELLS; ++i)
        assert_close((double)leaves[(size_t)POINTS * CELLS + i], (double)leaves[i],
                     1e-6 + 2.0 * differ, 0.0);
    close_bench(&b);
    aw_free(region);
    aw_free(leaves);
    aw_free(job);
}

static void refinement_agrees_with_the_cpu(void **state)
{
    check_refine(*state, POINTS, 3e-8, REGIONS + 4, 0.0);
}

/* Jobs of more regions than their first allocation holds. */
static void refinement_grows_its_heap(void **state) { check_refine(*state, 3, 8e-10, 600, 0.1); }

/* Threads of the CPU share the regions of few jobs, and the jobs where there are many. A region
 * begins behind the end of the one before, and some nodes are known. */
static void few_jobs_have_the_bits_of_many(void **state)
{
    enum { FEW = 3 };
    static aw_region region[2][POINTS * REGIONS];
    static aw_job job[2][POINTS];
    aw_work work[2] = {{0}};
    bench b;
    open_bench(&b, *state, 0, 0);
    const aw_device *cpu = &b.device[0];
    for (int i = 0; i < 2; ++i) {
        for (uint32_t p = 0; p < POINTS; ++p) {
            fill_regions(&region[i][p * REGIONS], p);
            region[i][p * REGIONS + 2].a += 0.25 * (edge_of(3) - edge_of(2));
            region[i][p * REGIONS + 5].known = 1u | 8u;
            job[i][p] = (aw_job){.first = p * REGIONS,
                                 .count = REGIONS,
                                 .tolerance = 3e-8,
                                 .density = p % 2 ? 2.0 : 0.0};
        }
        job[i][1].count = 1;
        assert_ok(cpu->ops->upload(cpu->state, &b.h, b.point, POINTS));
    }
    assert_ok(cpu->ops->refine(cpu->state, region[0], job[0], POINTS, &scales, &work[0]));
    assert_int_equal(region[0][REGIONS - 1].known, 0);
    assert_ok(cpu->ops->refine(cpu->state, region[1], job[1], FEW, &scales, &work[1]));
    assert_int_equal(region[1][REGIONS - 1].known, 30);
    assert_int_equal(region[1][REGIONS + 1].known, 0); /* of no job */
    for (int p = 0; p < FEW; ++p) {
        assert_memory_equal(job[1][p].I, job[0][p].I, sizeof job[0][p].I);
        assert_true(job[1][p].error == job[0][p].error);
        assert_int_equal(job[1][p].regions, job[0][p].regions);
    }
    close_bench(&b);
}

/* ------------------------------------------------------------------------------------ clusters */

enum { TILES = 3 * ROWS, CLUSTERS = 2 };

/* Results of an evaluation. */
typedef struct results {
    double I[POINTS][AW_RESULTS], error[POINTS], rest[POINTS][AW_RESULTS], rest_error[POINTS];
    float worst[TILES * REGIONS], coarse[TILES];
    uint8_t refused[TILES * REGIONS];
} results;

typedef struct options {
    int mixed;    /* 1: slices of two spacings */
    int single;   /* 1: moments in single precision */
    int fine;     /* 1: rates at all nodes */
    double limit; /* of aw_cluster; HUGE_VAL: no region is refused */
} options;

static void evaluate(const aw_device *d, double (*region)[2], const options *o, int begin,
                     results *f, aw_work *work)
{
    aw_tile_ref tile[TILES];
    aw_cluster cluster[CLUSTERS];
    const aw_cluster_call call = {
        cluster, CLUSTERS, &scales, o->single, {f->I, f->error, f->rest, f->rest_error}};
    const size_t first[CLUSTERS + 1] = {0, 4, TILES};
    for (uint32_t j = 0; j < TILES; ++j)
        tile[j] =
            (aw_tile_ref){j / 3 * NS + j % 3 * AW_TILE, j % 3 < 2 ? AW_TILE : NS - 2 * AW_TILE};
    for (size_t c = 0; c < CLUSTERS; ++c)
        cluster[c] = (aw_cluster){.tile = &tile[first[c]],
                                  .tiles = first[c + 1] - first[c],
                                  .region = (const double(*)[2])region,
                                  .regions = REGIONS - c, /* two different partitions */
                                  .limit = o->limit,
                                  .part = begin ? 0.5 : 1.0,
                                  .fine = o->fine,
                                  .begin = begin,
                                  .worst = &f->worst[first[c] * REGIONS],
                                  .coarse = &f->coarse[first[c]],
                                  .refused = &f->refused[first[c] * REGIONS]};
    assert_ok(d->ops->evaluate(d->state, &call, work));
    assert_ok(d->ops->wait(d->state));
}

static void compare(const results *a, const results *b, int refuses, double allowed)
{
    const double errors = 100.0 * (allowed == SINGLE ? SINGLE_RATES : allowed); /* differences */
    size_t refused = 0;
    for (unsigned k = 0; k < AW_RESULTS; ++k) {
        const double mine = allowed == SINGLE && k >= AW_DPHI ? SINGLE_RATES : allowed;
        assert_alike(&a->I[0][k], &b->I[0][k], POINTS, AW_RESULTS, mine);
        if (refuses) assert_alike(&a->rest[0][k], &b->rest[0][k], POINTS, AW_RESULTS, mine);
    }
    assert_alike(a->error, b->error, POINTS, 1, errors);
    if (refuses) assert_alike(a->rest_error, b->rest_error, POINTS, 1, errors);
    for (int i = 0; i < TILES * REGIONS; ++i) {
        assert_int_equal(a->refused[i], b->refused[i]);
        assert_close((double)a->worst[i], (double)b->worst[i], 1e-4, errors);
        refused += a->refused[i];
    }
    for (int i = 0; i < TILES; ++i)
        assert_close((double)a->coarse[i], (double)b->coarse[i], 1e-4, errors);
    assert_int_equal(refused > 0, refuses);
}

/* Evaluate all regions, and then again with the sums of the first evaluation added to. */
static void check_clusters(const char *kind, const options *o)
{
    results *f = aw_alloc(2, sizeof *f);
    double region[REGIONS][2];
    aw_work work[2] = {{0}};
    bench b;
    open_bench(&b, kind, o->mixed, 0);
    for (int k = 0; k < REGIONS; ++k) {
        region[k][0] = edge_of(k);
        region[k][1] = edge_of(k + 1);
    }
    region[6][0] += 0.1 * (region[6][1] - region[6][0]); /* a gap */
    for (int begin = 1; begin >= 0; --begin) {
        for (int i = 0; i < 2; ++i) evaluate(&b.device[i], region, o, begin, &f[i], &work[i]);
        compare(&f[1], &f[0], o->limit < HUGE_VAL, o->single ? SINGLE : ROUNDING);
    }
    assert_int_equal(work[1].regions, work[0].regions);
    assert_true(work[1].evaluations >= work[0].evaluations && work[1].rated >= work[0].rated);
    assert_true(o->fine ? work[1].rated == work[1].evaluations
                        : work[1].rated < work[1].evaluations);
    close_bench(&b);
    aw_free(f);
}

static void clusters_agree_with_the_cpu(void **state)
{
    check_clusters(*state, &(options){.fine = 1, .limit = HUGE_VAL});
}
static void clusters_agree_with_rates_at_every_other_node(void **state)
{
    check_clusters(*state, &(options){.fine = 0, .limit = HUGE_VAL});
}
static void clusters_agree_where_spacings_change(void **state)
{
    check_clusters(*state, &(options){.mixed = 1, .fine = 1, .limit = HUGE_VAL});
}
static void clusters_agree_in_single_precision(void **state)
{
    check_clusters(*state, &(options){.single = 1, .fine = 1, .limit = HUGE_VAL});
}
static void clusters_refuse_the_regions_that_the_cpu_refuses(void **state)
{
    check_clusters(*state, &(options){.fine = 1, .limit = 3e-7});
}

/* ------------------------------------------------------------------------------- common nodes */

static void check_common(const char *kind, int one_velocity, int check_rates)
{
    enum { NODES = 21 }; /* more than one run, and not a multiple of the warps of a block */
    double(*I)[POINTS][AW_RESULTS] = aw_alloc(2, sizeof *I);
    double(*check)[POINTS] = aw_alloc(2, sizeof *check);
    aw_common_node node[NODES];
    bench b;
    open_bench(&b, kind, 0, 0);
    for (int i = 0; i < NODES; ++i)
        node[i] = (aw_common_node){.r = edge_of(REGIONS) * (i + 0.5) / NODES,
                                   .weight = 1.0 + i,
                                   .rate = i % 2 ? 0.0 : 2.0,
                                   .check = 1.0,
                                   .check_rate = i % 2 ? 0.0 : 1.0,
                                   .density = 1.0 + i % 2};
    for (int i = 0; i < 2; ++i) {
        aw_work work = {0};
        aw_common_rule rule = {.node = node,
                               .nodes = NODES,
                               .columns = NS,
                               .moves_as = one_velocity ? &b.point[7] : NULL,
                               .I = I[i],
                               .check = check[i],
                               .check_rates = check_rates};
        const aw_device *d = &b.device[i];
        assert_ok(d->ops->integrate(d->state, &rule, &scales, &work));
        assert_ok(d->ops->wait(d->state));
        assert_int_equal(rule.tables, 0);
        assert_true(work.evaluations > 0);
    }
    for (unsigned k = 0; k < AW_RESULTS; ++k)
        assert_alike(&I[1][0][k], &I[0][0][k], POINTS, AW_RESULTS,
                     k < AW_DPHI ? SINGLE : SINGLE_RATES);
    assert_alike(check[1], check[0], POINTS, 1, check_rates ? SINGLE_RATES : SINGLE);
    close_bench(&b);
    aw_free(I);
    aw_free(check);
}

static void common_nodes_agree_with_the_cpu(void **state)
{
    check_common(*state, 0, 0);
    check_common(*state, 1, 1);
}

/* --------------------------------------------------------------------------------- bad numbers */

static void a_nan_never_counts_as_converged(void **state)
{
    aw_region region[REGIONS];
    aw_work work = {0};
    bench b;
    open_bench(&b, *state, 0, 0);
    slices_set(&b.s, 0, NS / 2, NX / 2, 0, (double)NAN);
    b.s.slice[0].id = 999;
    const aw_device *d = &b.device[1];
    assert_ok(d->ops->upload(d->state, &b.h, b.point, POINTS));
    fill_regions(region, NS + NS / 2);
    aw_job job = {.count = REGIONS, .tolerance = 1e-3};
    assert_ok(d->ops->refine(d->state, region, &job, 1, &scales, &work));
    assert_ok(d->ops->wait(d->state));
    assert_int_equal(job.status, AW_ERR_NONFINITE);
    assert_true(isnan(job.error));
    assert_ok(d->ops->sweep(d->state, region, REGIONS, &scales, &work));
    assert_ok(d->ops->wait(d->state));
    assert_true(isnan(region[0].error) && isnan(region[0].I[AW_PHI]));
    close_bench(&b);
}

int main(int argc, char **argv)
{
    char *kind = kind_of(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(a_sweep_agrees_with_the_cpu, kind),
        cmocka_unit_test_prestate(a_sweep_agrees_where_spacings_change, kind),
        cmocka_unit_test_prestate(a_sweep_agrees_on_single_precision_slices, kind),
        cmocka_unit_test_prestate(refinement_agrees_with_the_cpu, kind),
        cmocka_unit_test_prestate(refinement_grows_its_heap, kind),
        cmocka_unit_test_prestate(few_jobs_have_the_bits_of_many, kind),
        cmocka_unit_test_prestate(clusters_agree_with_the_cpu, kind),
        cmocka_unit_test_prestate(clusters_agree_with_rates_at_every_other_node, kind),
        cmocka_unit_test_prestate(clusters_agree_where_spacings_change, kind),
        cmocka_unit_test_prestate(clusters_agree_in_single_precision, kind),
        cmocka_unit_test_prestate(clusters_refuse_the_regions_that_the_cpu_refuses, kind),
        cmocka_unit_test_prestate(common_nodes_agree_with_the_cpu, kind),
        cmocka_unit_test_prestate(a_nan_never_counts_as_converged, kind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
