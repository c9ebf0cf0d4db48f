/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A GPU needs no more than a GPU gives (gpu_apart.h). */
#include <stdlib.h>

#include "kernels/gpu/blocks/upload.h"
#include "kernels/gpu/self_test.h"
#include "tests/assert_close.h"
#include "tests/kernels/gpu_apart.h"

extern const aw_device_ops aw_emulated_ops;

/* The trial of a device has every operation (kernels/gpu/self_test.c). */
static void a_unit_needs_no_more_than_a_gpu_gives(void **state)
{
    /* Room for all slices; for three of five, the others being read from the host's memory (twice
     * the room of the particles is what these want). */
    const size_t particles = 2 * AW_GPU_TEST * (7 * sizeof(double) + sizeof(int32_t));
    const size_t has[] = {(size_t)1 << 30, particles + particles / 16};
    const aw_device_params params = {.threads = 1, .inner_density = 1.0};
    (void)state;
    for (size_t i = 0; i < sizeof has / sizeof has[0]; ++i) {
        const aw_gpu_runtime runtime = gpu_apart(has[i]);
        void *unit = NULL;
        assert_ok(aw_gpu_open(&runtime, "apart", 1, &params, &unit));
        aw_emulated_ops.close(unit);
    }
}

/* What the test is to find is found: a kernel that is given memory of the heap, or of the stack. */
static void the_hosts_memory_is_out_of_reach(void **state)
{
    double stack[AW_GPU_NARROW] = {1.0}, *heap = calloc(AW_GPU_NARROW, sizeof *heap);
    const double *const from[] = {heap, stack};
    const aw_gpu_runtime r = gpu_apart((size_t)1 << 30);
    void *room;
    (void)state;
    assert_non_null(heap);
    for (int i = 0; i < 2; ++i) {
        assert_ok(r.alloc(NULL, sizeof stack, &room));
        const aw_gpu_narrow call = {.from = from[i], .to = room, .n = AW_GPU_NARROW};
        assert_ok(r.launch(NULL, 0, AW_GPU_narrow, 1, &call));
        assert_status(r.wait(NULL, 0), AW_ERR_BACKEND);
    }
    assert_ok(r.alloc(NULL, sizeof stack, &room));
    const aw_gpu_narrow call = {.from = room, .to = room, .n = 1};
    assert_ok(r.launch(NULL, 0, AW_GPU_narrow, 1, &call));
    assert_ok(r.wait(NULL, 0));
    free(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_needs_no_more_than_a_gpu_gives),
        cmocka_unit_test(the_hosts_memory_is_out_of_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
