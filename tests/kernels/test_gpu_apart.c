/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPU code runs on a device with separate memory and deferred streams (gpu_apart.h). */
#include <stdlib.h>

#include "kernels/gpu/blocks/upload.h"
#include "kernels/gpu/self_test.h"
#include "tests/assert_close.h"
#include "tests/kernels/gpu_apart.h"

extern const aw_device_ops aw_emulated_ops;

/* The self-test of a device runs every operation (kernels/gpu/self_test.c). */
static void every_operation_works_with_separate_memories(void **state)
{
    /* Memory for all slices; and for three of five, so that the others are read from the host's
     * memory (resident particles need twice their own size). */
    const size_t particles = 2 * AW_GPU_TEST * (12 * sizeof(double) + sizeof(int32_t));
    const size_t memory[] = {(size_t)1 << 30, particles + particles / 16};
    const aw_device_params params = {.threads = 1, .inner_density = 1.0};
    (void)state;
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; ++i) {
        const aw_gpu_runtime runtime = gpu_apart(memory[i]);
        void *device = NULL;
        assert_ok(aw_gpu_open(&runtime, "apart", 1, &params, &device));
        aw_emulated_ops.close(device);
    }
}

/* The test above can fail: kernels with pointers to the host's heap or stack. */
static void a_kernel_that_reads_host_memory_fails(void **state)
{
    double stack[AW_GPU_NARROW] = {1.0}, *heap = calloc(AW_GPU_NARROW, sizeof *heap);
    const double *const from[] = {heap, stack};
    const aw_gpu_runtime r = gpu_apart((size_t)1 << 30);
    void *memory;
    (void)state;
    assert_non_null(heap);
    for (int i = 0; i < 2; ++i) {
        assert_ok(r.alloc(NULL, sizeof stack, &memory));
        const aw_gpu_narrow call = {.from = from[i], .to = memory, .n = AW_GPU_NARROW};
        assert_ok(r.launch(NULL, 0, AW_GPU_narrow, 1, &call));
        assert_status(r.wait(NULL, 0), AW_ERR_BACKEND);
    }
    assert_ok(r.alloc(NULL, sizeof stack, &memory));
    const aw_gpu_narrow call = {.from = memory, .to = memory, .n = 1};
    assert_ok(r.launch(NULL, 0, AW_GPU_narrow, 1, &call));
    assert_ok(r.wait(NULL, 0));
    free(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_works_with_separate_memories),
        cmocka_unit_test(a_kernel_that_reads_host_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
