/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: the slice cache and resident particles, and errors where memory is short or a call fails,
 * on a runtime whose memory and calls are rationed. */
#include <string.h>

#include "kernels/gpu/device.h"
#include "kernels/gpu/self_test.h"
#include "kernels/math/tile.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/slice_fixture.h"

enum { NS = 24, NX = 16, POINTS = NS, SLICES = 8, REGIONS = 6 };
#define H SLICES_CELL
#define CDT 2e-4
#define GAMMA 100.0

extern const aw_gpu_runtime aw_emulated_runtime;
extern const aw_device_ops aw_emulated_ops;

static const aw_orbit_piece arc = {.kappa = 1.0};
static const aw_scales scales = {1.0, 1.0, 1.0};

/* ------------------------------------------------------------------------------- the runtime */

static size_t slices_left,
    others_left;        /* bytes of the device's memory left: for slices, for all else */
static size_t uploaded; /* bytes sent to the device */
static int calls_left;  /* the n-th launch or transfer fails; 0: none does */

static aw_status rationed_alloc(void *context, size_t bytes, void **memory)
{
    const int slice = bytes == aw_slice_bytes(NS, NX, 0) || bytes == aw_slice_bytes(NS, NX, 1);
    size_t *left = slice ? &slices_left : &others_left;
    if (bytes > *left) return AW_ERR_NOMEM;
    *left -= bytes;
    return aw_emulated_runtime.alloc(context, bytes, memory);
}

static aw_status fails(void)
{
    return calls_left > 0 && --calls_left == 0 ? AW_ERR_BACKEND : AW_OK;
}

static aw_status rationed_to_device(void *context, int stream, void *device, const void *host,
                                    size_t n)
{
    const aw_status status = fails();
    uploaded += n;
    return status == AW_OK ? aw_emulated_runtime.to_device(context, stream, device, host, n)
                           : status;
}

static aw_status rationed_launch(void *context, int stream, aw_gpu_kernel kernel, size_t blocks,
                                 const void *arguments)
{
    const aw_status status = fails();
    if (status != AW_OK) return status;
    return aw_emulated_runtime.launch(context, stream, kernel, blocks, arguments);
}

static int one_device(char *why, size_t n)
{
    (void)why;
    (void)n;
    return 1;
}

static aw_gpu_runtime rationed(void)
{
    aw_gpu_runtime r = aw_emulated_runtime;
    r.count = one_device;
    r.alloc = rationed_alloc;
    r.to_device = rationed_to_device;
    r.launch = rationed_launch;
    slices_left = others_left = (size_t)1 << 40;
    calls_left = 0;
    uploaded = 0;
    return r;
}

/* --------------------------------------------------------------------------------- the bench */

typedef struct bench {
    slices s;
    aw_history_view h;
    aw_field_point point[POINTS];
    aw_gpu_runtime runtime;
    aw_device cpu, gpu;
    uint64_t newest;
} bench;

static void upload(bench *b)
{
    assert_ok(b->cpu.ops->upload(b->cpu.state, &b->h, b->point, POINTS));
    assert_ok(b->gpu.ops->upload(b->gpu.state, &b->h, b->point, POINTS));
}

/* Write slices from .. to - 1, and their ids. */
static void write_slices(bench *b, int from, int to)
{
    for (int i = from; i < to; ++i) {
        b->s.slice[i].id = b->newest - (uint64_t)i;
        slices_fill(&b->s, i, 0, slices_gaussian, NULL);
    }
}

static void open_bench(bench *b)
{
    const aw_device_params params = {.variant = "scalar", .threads = 1, .inner_density = 1.0};
    slices_new(&b->s, SLICES, NS, NX, 0, H, H);
    b->newest = 100;
    for (int i = 0; i < SLICES; ++i) b->s.slice[i].S = -beta_of(GAMMA) * CDT * i;
    write_slices(b, 0, SLICES);
    b->h = slices_view(&b->s, (aw_orbit_view){&arc, 1}, CDT, GAMMA, 1e3);
    for (int i = 0; i < POINTS; ++i)
        b->point[i] = point_on(&b->h.orbit, (i - 0.5 * (NS - 1)) * H, 0.3 * H, GAMMA);
    b->runtime = rationed();
    assert_ok(aw_device_open("cpu", &params, &b->cpu));
    b->gpu.ops = &aw_emulated_ops;
    assert_ok(aw_gpu_open(&b->runtime, "rationed", 0, &params, &b->gpu.state));
}

static void close_bench(bench *b)
{
    aw_device_close(&b->cpu);
    aw_device_close(&b->gpu);
    slices_free(&b->s);
}

/* The next step: all slices move by one place; the new slice reuses the memory of the oldest. */
static void step(bench *b)
{
    void *cells = b->s.cells[SLICES - 1];
    b->newest++;
    for (int i = SLICES - 1; i > 0; --i) {
        b->s.cells[i] = b->s.cells[i - 1];
        b->s.slice[i].cells = b->s.cells[i];
    }
    b->s.cells[0] = cells;
    b->s.slice[0].cells = cells;
    for (int i = 0; i < SLICES; ++i) b->s.slice[i].id = b->newest - (uint64_t)i;
    write_slices(b, 0, 1);
    slices_set(&b->s, 0, NS / 2, NX / 2, 0,
               (double)b->newest); /* different from all other slices */
}

static aw_status sweep(const aw_device *d, aw_region *region)
{
    aw_work work = {0};
    aw_status status = AW_OK;
    for (uint32_t p = 0; p < POINTS; ++p)
        for (int k = 0; k < REGIONS; ++k)
            region[p * REGIONS + (uint32_t)k] =
                (aw_region){.a = 1.4 * SLICES * CDT * k / REGIONS,
                            .b = 1.4 * SLICES * CDT * (k + 1) / REGIONS,
                            .point = p};
    AW_TRY(d->ops->sweep(d->state, region, (size_t)POINTS * REGIONS, &scales, &work));
    AW_TRY(d->ops->wait(d->state));
done:
    return status;
}

/* Compare f_in at all nodes of all points, relative to the largest. */
static void compare(const bench *b)
{
    static aw_region ours[POINTS * REGIONS], theirs[POINTS * REGIONS];
    double largest = 0.0;
    assert_ok(sweep(&b->cpu, theirs));
    assert_ok(sweep(&b->gpu, ours));
    for (int i = 0; i < POINTS * REGIONS; ++i)
        largest = fmax(largest, fabs(theirs[i].f[2][AW_PHI]));
    assert_true(largest > 0.0);
    for (int i = 0; i < POINTS * REGIONS; ++i)
        for (int m = 0; m < 5; ++m)
            assert_close(ours[i].f[m][AW_PHI], theirs[i].f[m][AW_PHI], 0.0, 1e-11 * largest);
}

/* Compare sums over a partition of three regions at the two tiles, with moments in single
 * precision. */
static void compare_single(const bench *b)
{
    const aw_tile_ref tile[2] = {{0, AW_TILE}, {AW_TILE, POINTS - AW_TILE}};
    const double region[3][2] = {{0.0, CDT}, {CDT, 3.0 * CDT}, {3.0 * CDT, 6.0 * CDT}};
    double I[2][POINTS][AW_RESULTS], rest[POINTS][AW_RESULTS], error[POINTS], left[POINTS];
    float worst[6], coarse[2];
    uint8_t refused[6];
    const aw_cluster cluster = {.tile = tile,
                                .tiles = 2,
                                .region = region,
                                .regions = 3,
                                .limit = HUGE_VAL,
                                .part = 1.0,
                                .fine = 1,
                                .begin = 1,
                                .worst = worst,
                                .refused = refused,
                                .coarse = coarse};
    for (int i = 0; i < 2; ++i) {
        const aw_device *d = i ? &b->gpu : &b->cpu;
        const aw_cluster_call call = {&cluster, 1, &scales, 1, {I[i], error, rest, left}};
        aw_work work = {0};
        assert_ok(d->ops->evaluate(d->state, &call, &work));
    }
    for (int p = 0; p < POINTS; ++p) assert_close(I[1][p][AW_PHI], I[0][p][AW_PHI], 3e-6, 0.0);
}

/* --------------------------------------------------------------------------------- the tests */

/* A step uploads the new slice, the table of slices and the points. */
static void a_step_uploads_only_the_new_slice(void **state)
{
    const size_t slice = aw_slice_bytes(NS, NX, 0);
    const size_t tables =
        SLICES * sizeof(aw_slice) + POINTS * sizeof(aw_field_point) + sizeof(aw_orbit_piece);
    bench b;
    (void)state;
    open_bench(&b);
    upload(&b);
    assert_int_equal(uploaded, SLICES * slice + tables);
    compare(&b);
    for (int k = 0; k < 3; ++k) {
        step(&b);
        uploaded = 0;
        upload(&b);
        assert_int_equal(uploaded, slice + tables);
        compare(&b);
        compare_single(&b);
    }
    close_bench(&b);
}

/* Three slices fit, or none: the newest are on the device, the others are read from the host. */
static void slices_that_do_not_fit_stay_on_the_host(void **state)
{
    (void)state;
    for (size_t fit = 0; fit <= 3; fit += 3) {
        bench b;
        open_bench(&b);
        slices_left = fit * aw_slice_bytes(NS, NX, 0);
        const aw_gpu_state *g = b.gpu.state;
        for (int k = 0; k < 4; ++k) {
            if (k > 0) step(&b);
            upload(&b);
            compare(&b);
            compare_single(&b); /* there is no memory for copies in single precision */
            assert_int_equal(g->on_host, SLICES - fit);
            for (size_t i = 0; i < SLICES; ++i) {
                assert_int_equal(g->cached[i].device != NULL, i < fit);
                assert_null(g->cached[i].narrow);
            }
        }
        close_bench(&b);
    }
}

static void a_step_that_does_not_fit_fails(void **state)
{
    aw_region region[POINTS * REGIONS];
    bench b;
    (void)state;
    open_bench(&b);
    upload(&b);
    others_left = 1000;
    assert_int_equal(sweep(&b.gpu, region), AW_ERR_NOMEM);
    close_bench(&b);
}

/* Whichever launch or transfer fails, the operation returns its error and leaks nothing. */
static void a_failing_call_is_reported(void **state)
{
    aw_region region[POINTS * REGIONS];
    int failed = 0;
    (void)state;
    for (int n = 1;; ++n) {
        bench b;
        open_bench(&b);
        upload(&b);
        calls_left = n;
        const aw_status status = sweep(&b.gpu, region);
        const int done = calls_left > 0; /* there were fewer than n calls */
        close_bench(&b);
        if (done) break;
        assert_int_equal(status, AW_ERR_BACKEND);
        failed++;
    }
    assert_true(failed >= 2); /* a transfer and a launch */
}

static void a_device_beyond_the_last_is_refused(void **state)
{
    const aw_gpu_runtime r = rationed();
    const aw_device_params params = {.inner_density = 1.0, .index = 1};
    void *device = NULL;
    (void)state;
    assert_int_equal(aw_gpu_open(&r, "rationed", 0, &params, &device), AW_ERR_BACKEND);
    assert_null(device);
}

/* A device that computes wrong numbers. */
static aw_status wrong_to_host(void *context, int stream, void *host, const void *device, size_t n)
{
    const aw_status status = aw_emulated_runtime.to_host(context, stream, host, device, n);
    double *number = host;
    for (size_t i = 0; i < n / sizeof *number; ++i) /* values, not counts or pointers */
        if (fabs(number[i]) > 1e-12 && fabs(number[i]) < 1.0) number[i] *= 1.0 + 1e-7;
    return status;
}

static void a_device_with_wrong_results_is_refused(void **state)
{
    aw_gpu_runtime r = rationed();
    const aw_device_params params = {.inner_density = 1.0};
    void *device = NULL;
    (void)state;
    assert_ok(aw_gpu_open(&r, "rationed", 1, &params, &device));
    aw_emulated_ops.close(device);
    r.to_host = wrong_to_host;
    assert_int_equal(aw_gpu_open(&r, "rationed", 1, &params, &device), AW_ERR_BACKEND);
    assert_null(device);
}

/* Resident particles take half of the memory at most, and slices what is left; a failed offload
 * frees all it has allocated. */
static void particles_leave_memory_for_slices(void **state)
{
    enum { N = 1000, BYTES = N * (11 * sizeof(double) + sizeof(int32_t)) };
    static double number[N];
    static int32_t element[N];
    const aw_particles_view beam = {.n = N,
                                    .z = number,
                                    .x = number,
                                    .pz = number,
                                    .px = number,
                                    .gamma0 = number,
                                    .element = element};
    const aw_field_region region = {.kind = AW_REGION_DRIFT, .ct = 1.0};
    const aw_fields_view fields = {&region, 1, 100.0, 0.0};
    const aw_orbit_view orbit = {&arc, 1};
    bench b;
    (void)state;
    open_bench(&b);
    aw_gpu_state *g = b.gpu.state;
    const aw_particle_ops *ops = b.gpu.ops->particles;
    g->info.memory = 2 * BYTES - 1;
    assert_status(ops->offload(g, &beam, &fields, &orbit), AW_ERR_NOMEM);
    assert_true(g->resident_particles == NULL && g->info.memory == 2 * BYTES - 1);
    g->info.memory = 2 * BYTES;
    others_left = BYTES - 1; /* less than the device has reported */
    assert_status(ops->offload(g, &beam, &fields, &orbit), AW_ERR_NOMEM);
    assert_true(g->resident_particles == NULL && g->info.memory == 2 * BYTES);
    others_left = (size_t)1 << 40;
    for (int call = 1; call <= 8; ++call) {
        calls_left = call; /* six arrays, fields and orbit */
        assert_status(ops->offload(g, &beam, &fields, &orbit), AW_ERR_BACKEND);
        assert_true(g->resident_particles == NULL && g->info.memory == 2 * BYTES);
    }
    calls_left = 0;
    assert_ok(ops->offload(g, &beam, &fields, &orbit));
    assert_ok(ops->offload(g, &beam, &fields, &orbit)); /* replaces the first offload */
    assert_true(g->resident_particles != NULL && g->info.memory == BYTES);
    aw_gpu_particles_free(g);
    assert_true(g->resident_particles == NULL && g->info.memory == 2 * BYTES);
    close_bench(&b);
}

static void a_number_that_is_none_fails_the_self_test(void **state)
{
    const double right[3] = {1.0, 2.0, 3.0}, wrong[3] = {1.0, (double)NAN, 3.0};
    (void)state;
    assert_true(aw_gpu_agree(right, right, 3, 1));
    assert_false(aw_gpu_agree(wrong, right, 3, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_number_that_is_none_fails_the_self_test),
                                       cmocka_unit_test(a_step_uploads_only_the_new_slice),
                                       cmocka_unit_test(slices_that_do_not_fit_stay_on_the_host),
                                       cmocka_unit_test(a_step_that_does_not_fit_fails),
                                       cmocka_unit_test(a_failing_call_is_reported),
                                       cmocka_unit_test(a_device_beyond_the_last_is_refused),
                                       cmocka_unit_test(a_device_with_wrong_results_is_refused),
                                       cmocka_unit_test(particles_leave_memory_for_slices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
