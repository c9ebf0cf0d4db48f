/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Form factors on several devices have the bits of one, whichever does what, also where one fails
 * or computes nonsense. With the argument `ranks` the program prints the bits that the ranks of
 * mpirun get together (ranks.sh). */
#include <stdio.h>
#include <string.h>

#include "kernels/multi/devices.h"
#include "src/base/comm.h"
#include "src/base/memory.h"
#include "tests/assert_close.h"
#include "tests/form_factor/cloud.h"

/* Seven bins, of which the last block is not whole; waves with and without pairs. */
enum { PARTICLES = 100001, WAVES = 1003, LISTED = 7 };

typedef struct result {
    double lattice[2][WAVES][2], list[LISTED][2]; /* of each precision */
} result;

static cloud all;

static aw_status read_again(void *context, size_t first, size_t n, double *const at[3],
                            double *charge)
{
    const cloud *c = context;
    for (size_t j = 0; j < n; ++j) {
        for (int i = 0; i < 3; ++i) at[i][j] = c->at[i][(first + j) % CLOUD];
        charge[j] = c->charge[(first + j) % CLOUD] - 0.7; /* of both signs */
    }
    return AW_OK;
}

static aw_status compute(const aw_device *device, result *out)
{
    const double k[LISTED][3] = {{1.0, 2.0, 3.0}, {40.0, -5.0}, {6.0, 6.0, 6.0}, {0.1}};
    const aw_waves lattice = {.n = {1, 17, 59}, .step = {{0}, {0.0, 3.0, 0.1}, {5.0, 0.0, 0.0}}};
    const aw_waves list = {.n = {1, 1, LISTED}, .list = k};
    const aw_form_source source = {.n = PARTICLES, .read = read_again, .context = &all};
    aw_form_bunch bunch;
    aw_status status = AW_OK;
    for (int single = 0; single < 2; ++single) {
        const aw_form_sink sink = aw_form_sink_of(out->lattice[single]);
        AW_TRY(aw_form_factor(device, &source, &lattice, &(aw_form_options){.single = single},
                              &sink, &bunch));
    }
    const aw_form_sink sink = aw_form_sink_of(out->list);
    AW_TRY(aw_form_factor(device, &source, &list, &(aw_form_options){0}, &sink, &bunch));
done:
    return status;
}

static result *result_of(const char *spec, const char *slow, int threads)
{
    result *out = aw_alloc(1, sizeof *out);
    aw_device device;
    assert_non_null(out);
    assert_ok(aw_device_open(spec, &(aw_device_params){.threads = threads, .slow = slow}, &device));
    assert_ok(compute(&device, out));
    aw_device_close(&device);
    return out;
}

static void several_devices_have_the_bits_of_one(void **state)
{
    static const char *const spec[][2] = {{"cpu:0,cpu:1", NULL},
                                          {"cpu:0,cpu:1", "cpu:1=3"},
                                          {"cpu:0,cpu:1,cpu:2", NULL},
                                          {"cpu:0,cpu:1,cpu:2,cpu:3,cpu:4", "cpu:2=2"}};
    result *one = result_of("cpu", NULL, 1);
    (void)state;
    for (size_t i = 0; i < sizeof spec / sizeof spec[0]; ++i) {
        result *other = result_of(spec[i][0], spec[i][1], 5);
        assert_memory_equal(one, other, sizeof *one);
        aw_free(other);
    }
    aw_free(one);
}

/* A CPU device whose sums are NaN from its third call on, or that then fails. */
typedef struct faulty {
    aw_device cpu;
    int calls, nonsense;
} faulty;

static aw_status faulty_form_factor(void *state, const aw_form_call *call)
{
    faulty *f = state;
    const aw_status status = f->cpu.ops->form_factor(f->cpu.state, call);
    if (++f->calls < 3) return status;
    if (!f->nonsense) return AW_ERR_BACKEND;
    call->sum[aw_form_numbers(call) - 1] = NAN;
    return status;
}

static aw_status faulty_wait(void *state)
{
    (void)state;
    return AW_OK;
}

static const char *faulty_describe(const void *state)
{
    (void)state;
    return "faulty";
}

static void faulty_close(void *state)
{
    faulty *f = state;
    aw_device_close(&f->cpu);
    aw_free(f);
}

static const aw_device_ops faulty_ops = {.kind = "faulty",
                                         .close = faulty_close,
                                         .describe = faulty_describe,
                                         .form_factor = faulty_form_factor,
                                         .wait = faulty_wait};

/* `good` CPU devices and a faulty one. */
static aw_device with_faulty(int good, int nonsense)
{
    const aw_device_params params = {.threads = 1};
    aw_named_device named[AW_DEVICES_MAX] = {{.name = "faulty"}};
    aw_device device;
    faulty *f = aw_alloc(1, sizeof *f);
    assert_non_null(f);
    f->nonsense = nonsense;
    assert_ok(aw_device_open("cpu", &params, &f->cpu));
    named[0].device = (aw_device){&faulty_ops, f};
    for (int i = 1; i <= good; ++i) {
        snprintf(named[i].name, sizeof named[i].name, "cpu:%d", i);
        assert_ok(aw_device_open("cpu", &params, &named[i].device));
    }
    assert_ok(aw_multi_open(named, 1 + good, &device));
    return device;
}

static void a_device_that_fails_leaves_no_trace(void **state)
{
    result *one = result_of("cpu", NULL, 1), *other = aw_alloc(1, sizeof *other);
    (void)state;
    for (int nonsense = 0; nonsense < 2; ++nonsense) {
        aw_device device = with_faulty(2, nonsense);
        assert_ok(compute(&device, other));
        assert_memory_equal(one, other, sizeof *one);
        aw_device_close(&device);
        device = with_faulty(0, nonsense);
        assert_status(compute(&device, other), nonsense ? AW_ERR_NONFINITE : AW_ERR_BACKEND);
        aw_device_close(&device);
    }
    aw_free(one);
    aw_free(other);
}

/* FNV-1a of the bits, which all ranks have. */
static int print_ranks(void)
{
    result *out = aw_alloc(1, sizeof *out);
    uint64_t hash = 14695981039346656037u;
    aw_device device = {NULL, NULL};
    aw_status status = aw_comm_begin();
    if (status == AW_OK) status = aw_device_open("cpu", &(aw_device_params){.threads = 1}, &device);
    if (status == AW_OK && out) status = compute(&device, out);
    for (size_t i = 0; out && i < sizeof *out; ++i)
        hash = (hash ^ ((const unsigned char *)out)[i]) * 1099511628211u;
    if (status == AW_OK) printf("%016llx\n", (unsigned long long)hash);
    aw_device_close(&device);
    aw_free(out);
    aw_comm_end();
    return status != AW_OK;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_devices_have_the_bits_of_one),
        cmocka_unit_test(a_device_that_fails_leaves_no_trace),
    };
    cloud_fill(&all);
    if (argc > 1 && strcmp(argv[1], "ranks") == 0) return print_ranks();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
