/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: when a device is opened it runs every operation on a small problem, and an emulated device
 * does the same from the same source: drivers, compilers and memories have been wrong before. */
#include <math.h>
#include <string.h>

#include "kernels/gpu/self_test.h"
#include "kernels/math/tile.h"
#include "src/base/log.h"
#include "src/base/memory.h"

enum {
    NS = AW_GPU_TEST_NS,
    NX = AW_GPU_TEST_NX,
    SLICES = 5,
    POINTS = NS,
    REGIONS = 4,
    JOBS = 3,
    NODES = 6
};
enum { PARTICLES = 700, OUTERS = 40, INNERS = 35 }; /* of the form factor */
enum { BOXES = 5, CUTS = 6, AXES = 5 };             /* of the integral: boxes, cuts, dimensions */
#define H AW_GPU_TEST_H
#define CDT AW_GPU_TEST_CDT
#define BETA AW_GPU_TEST_BETA
/* Permitted differences at common nodes, which are summed in single precision; a rate is the small
 * difference of large terms. */
#define ROUNDED 1e-6
#define ROUNDED_RATES 1e-4

/* A beam in an arc of 1 m radius, and points on it. */
typedef struct test_case {
    double cells[SLICES][(NX + 2 * AW_PAD) * (NS + 2 * AW_PAD)][AW_COMPONENTS];
    aw_slice slice[SLICES];
    aw_orbit_piece piece;
    aw_history_view history;
    aw_field_point point[POINTS];
} test_case;

/* Results of a device. */
typedef struct results {
    aw_region region[POINTS * REGIONS];
    aw_job job[JOBS];
    double I[POINTS][AW_RESULTS], error[POINTS], rest[POINTS][AW_RESULTS], rest_error[POINTS];
    double common[POINTS][AW_RESULTS];
    aw_cuhre_region box[BOXES + CUTS];
    double integral;
    double form[2][OUTERS * INNERS][4], listed[2][OUTERS][2]; /* in double, and in single */
    aw_gpu_test_beam beam;
} results;

static void fill_slice(test_case *t, int i)
{
    for (int b = 0; b < NX; ++b)
        for (int a = 0; a < NS; ++a) {
            double *cell = t->cells[i][(b + AW_PAD) * (NS + 2 * AW_PAD) + a + AW_PAD];
            const double u = (a - 0.5 * (NS - 1)) / 4.0, w = (b - 0.5 * (NX - 1)) / 2.5;
            cell[0] = exp(-0.5 * (u * u + w * w));
            cell[1] = 0.01 * cell[0] * (1.0 + 0.1 * i);
            cell[2] = 0.02 * u * cell[0];
        }
    t->slice[i] =
        (aw_slice){.cells = t->cells[i],
                   .ct = -CDT * i,
                   .S = -BETA * CDT * i,
                   .tilt = 0.01 * i,
                   .hs = i == 3 ? 1.19 * H : H, /* slices of equal and of different spacings */
                   .hx = H};
}

static void fill(test_case *t)
{
    t->piece = (aw_orbit_piece){.kappa = 1.0};
    for (int i = 0; i < SLICES; ++i) fill_slice(t, i);
    t->history = (aw_history_view){.orbit = {&t->piece, 1},
                                   .slice = t->slice,
                                   .n = SLICES,
                                   .ns = NS,
                                   .nx = NX,
                                   .upstream = 1,
                                   .cdt = CDT,
                                   .beta = BETA,
                                   .r_cut = 1e3};
    for (int i = 0; i < POINTS; ++i) {
        const aw_orbit_point at = aw_orbit_at(&t->history.orbit, (i - 0.5 * (NS - 1)) * H);
        t->point[i] = (aw_field_point){.z = at.z,
                                       .x = at.x,
                                       .S = at.S,
                                       .theta = at.theta,
                                       .ct = at.ct,
                                       .st = at.st,
                                       .kappa = at.kappa,
                                       .beta = BETA,
                                       .one_minus_beta = 1.0 - BETA};
    }
}

/* An integral over a cube. The weights belong to no quadrature rule: only the arithmetic is
 * tested. */
static aw_status run_boxes(aw_gpu_state *g, results *f)
{
    const aw_genz gaussian = {.family = AW_GENZ_GAUSSIAN,
                              .n = AXES,
                              .a = {1.0, 2.0, 3.0, 4.0, 5.0},
                              .u = {0.5, 0.4, 0.3, 0.2, 0.1}};
    aw_cuhre_rule rule = {.n = AXES, .points = 1 + 6 * AXES + 2 * AXES * (AXES - 1) + (2 << AXES)};
    uint32_t heap[BOXES + CUTS];
    aw_cuhre_queue queue = {
        .region = f->box, .heap = heap, .capacity = BOXES + CUTS, .quota = CUTS, .error = HUGE_VAL};
    aw_status status = AW_OK;
    for (int k = 0; k < AW_CUHRE_ORBITS; ++k) {
        rule.degree7[k] = 1.0 + k;
        for (int j = 0; j < AW_CUHRE_NULLS; ++j) rule.null[j][k] = j + k % 2 ? 1.0 : -1.0;
    }
    for (int j = 0; j < 3; ++j) rule.axis[j][0] = rule.axis[j][3] = 1.0 + j;
    for (int i = 0; i < BOXES; ++i)
        for (int k = 0; k < AXES; ++k) {
            f->box[i].h[k] = 0.1;
            f->box[i].c[k] = 0.1 + 0.2 * i;
        }
    AW_TRY(aw_gpu_device_cuhre_apply(g, &rule, &gaussian, f->box, BOXES));
    for (int i = 0; i < BOXES; ++i) {
        const aw_cuhre_region box = f->box[i];
        aw_cuhre_queue_push(&queue, &box);
    }
    AW_TRY(aw_gpu_device_cuhre_cut(g, &rule, &gaussian, &queue, 1));
    f->integral = 0.0;
    for (uint32_t i = 0; i < queue.n; ++i) f->integral += f->box[i].value;
done:
    return status;
}

/* Form factors of particles on a line, at pairs of waves and at single ones. */
static aw_status run_form(aw_gpu_state *g, results *f)
{
    double at[3][PARTICLES], weight[PARTICLES];
    aw_wave outer[OUTERS], inner[INNERS];
    aw_form_call call = {.at = {at[0], at[1], at[2]},
                         .weight = weight,
                         .particles = PARTICLES,
                         .outer = outer,
                         .inner = inner,
                         .outers = OUTERS};
    aw_status status = AW_OK;
    for (int j = 0; j < PARTICLES; ++j) {
        for (int c = 0; c < 3; ++c) at[c][j] = cos(0.7 * j + c);
        weight[j] = 1.0 + 0.5 * sin(j);
    }
    for (int k = 0; k < OUTERS; ++k) outer[k] = (aw_wave){{10.0 * k, 3.0, -k}, {0.0}};
    for (int k = 0; k < INNERS; ++k) inner[k] = (aw_wave){{0.1 * k, 0.2, 0.3}, {0.0}};
    memset(f->form, 0, sizeof f->form);
    memset(f->listed, 0, sizeof f->listed);
    for (call.single = 0; call.single < 2; ++call.single) {
        call.inners = INNERS;
        call.sum = f->form[call.single][0];
        AW_TRY(aw_gpu_device_form_factor(g, &call));
        call.inners = 0;
        call.sum = f->listed[call.single][0];
        AW_TRY(aw_gpu_device_form_factor(g, &call));
    }
done:
    return status;
}

static int forms_agree(const results *a, const results *b)
{
    int yes = 1;
    for (int single = 0; single < 2; ++single) {
        const double allowed = single ? ROUNDED : AW_GPU_AGREEMENT;
        yes = yes &&
              aw_gpu_agree_within(allowed, a->form[single][0], b->form[single][0],
                                  (size_t)4 * OUTERS * INNERS, 1) &&
              aw_gpu_agree_within(allowed, a->listed[single][0], b->listed[single][0],
                                  (size_t)2 * OUTERS, 1);
    }
    return yes;
}

static aw_status run(aw_gpu_state *g, const test_case *t, results *f)
{
    const aw_scales scales = {1.0, 1.0, 1.0};
    const aw_tile_ref tile[2] = {{0, AW_TILE}, {AW_TILE, POINTS - AW_TILE}};
    aw_common_node node[NODES];
    aw_common_rule rule = {.node = node, .nodes = NODES, .columns = POINTS, .I = f->common};
    double region[REGIONS][2];
    float worst[2 * REGIONS], coarse[2];
    uint8_t refused[2 * REGIONS];
    aw_work work = {0};
    aw_status status = AW_OK;
    const aw_cluster cluster = {.tile = tile,
                                .tiles = 2,
                                .region = (const double(*)[2])region,
                                .regions = REGIONS,
                                .limit = HUGE_VAL,
                                .part = 1.0,
                                .fine = 1,
                                .begin = 1,
                                .worst = worst,
                                .refused = refused,
                                .coarse = coarse};
    const aw_cluster_call call = {
        &cluster, 1, &scales, 0, {f->I, f->error, f->rest, f->rest_error}};
    for (int i = 0; i < NODES; ++i)
        node[i] = (aw_common_node){.r = 1.2 * SLICES * CDT * (i + 0.5) / NODES,
                                   .weight = 1.0 + i,
                                   .rate = i % 2,
                                   .density = 1.0};
    for (int k = 0; k < REGIONS; ++k) {
        region[k][0] = 1.2 * SLICES * CDT * k / REGIONS;
        region[k][1] = 1.2 * SLICES * CDT * (k + 1) / REGIONS;
    }
    for (uint32_t i = 0; i < POINTS * REGIONS; ++i)
        f->region[i] = (aw_region){
            .a = region[i % REGIONS][0], .b = region[i % REGIONS][1], .point = i / REGIONS};
    for (size_t i = 0; i < JOBS; ++i)
        f->job[i] = (aw_job){.first = i * REGIONS, .count = REGIONS, .tolerance = 1e-7};
    AW_TRY(aw_gpu_upload(g, &t->history, t->point, POINTS));
    AW_TRY(aw_gpu_device_refine(g, f->region, f->job, JOBS, &scales, &work));
    AW_TRY(aw_gpu_device_sweep(g, f->region, (size_t)POINTS * REGIONS, &scales, &work));
    AW_TRY(aw_gpu_device_evaluate(g, &call, &work));
    AW_TRY(aw_gpu_device_integrate(g, &rule, &scales, &work));
    AW_TRY(run_boxes(g, f));
    AW_TRY(run_form(g, f));
    AW_TRY(aw_gpu_self_test_particles(g, &t->history.orbit, &f->beam));
done:
    return status;
}

static int agree(const results *a, const results *b)
{
    int yes = aw_gpu_agree(&a->integral, &b->integral, 1, 1) && forms_agree(a, b) &&
              aw_gpu_test_beams_agree(&a->beam, &b->beam);
    yes = yes && aw_gpu_agree(&a->box->error, &b->box->error, BOXES + CUTS,
                              sizeof(aw_cuhre_region) / sizeof(double));
    for (unsigned k = 0; k < AW_RESULTS; ++k) {
        for (int m = 0; m < 5; ++m)
            yes = yes && aw_gpu_agree(&a->region->f[m][k], &b->region->f[m][k],
                                      (size_t)POINTS * REGIONS, sizeof(aw_region) / sizeof(double));
        yes = yes &&
              aw_gpu_agree(&a->job->I[k], &b->job->I[k], JOBS, sizeof(aw_job) / sizeof(double));
        yes = yes && aw_gpu_agree(&a->I[0][k], &b->I[0][k], POINTS, AW_RESULTS);
        yes = yes && aw_gpu_agree_within(k < AW_DPHI ? ROUNDED : ROUNDED_RATES, &a->common[0][k],
                                         &b->common[0][k], POINTS, AW_RESULTS);
    }
    return yes;
}

aw_status aw_gpu_self_test(aw_gpu_state *g, aw_gpu_state *emulated)
{
    test_case *t = aw_alloc(1, sizeof *t);
    results *f = aw_alloc(2, sizeof *f);
    aw_status status = AW_OK;
    AW_TRY(t && f ? AW_OK : AW_ERR_NOMEM);
    fill(t);
    AW_TRY(run(g, t, &f[0]));
    AW_TRY(run(emulated, t, &f[1]));
    if (!agree(&f[0], &f[1]))
        status = aw_error(AW_ERR_BACKEND,
                          "%s: its results differ from the processor's in the self-test; it is not "
                          "used (is its driver up to date? --device cpu)",
                          g->text);
done:
    aw_free(t);
    aw_free(f);
    return status;
}
