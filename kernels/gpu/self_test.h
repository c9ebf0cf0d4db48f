/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a device has to show before it is believed (kernels/gpu/self_test.c). */
#ifndef AW_KERNELS_GPU_SELF_TEST_H
#define AW_KERNELS_GPU_SELF_TEST_H
#include <math.h>

#include "kernels/gpu/device.h"

AW_BEGIN_DECLS

/* Both do the same operations, but for cosines in the last digit, and products that are added
 * without being rounded; the nodes of an arc lie some hundred cells from its centre. */
#define AW_GPU_ALIKE 1e-9

/** Numbers `stride` apart, against the largest. */
AW_FN int aw_gpu_alike_within(double allowed, const double *a, const double *b, size_t n,
                              size_t stride)
{
    double largest = 0.0, off = 0.0;
    for (size_t i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(b[i * stride]));
        if (!(fabs(a[i * stride] - b[i * stride]) <= off))
            off = fabs(a[i * stride] - b[i * stride]);
    }
    return off <= allowed * largest;
}

AW_FN int aw_gpu_alike(const double *a, const double *b, size_t n, size_t stride)
{
    return aw_gpu_alike_within(AW_GPU_ALIKE, a, b, n, stride);
}

/** The beam in an arc of 1 m radius: nodes and spacing of its grid, c times the step [m], speed. */
#define AW_GPU_TEST_H 1e-5
#define AW_GPU_TEST_CDT 2e-4
#define AW_GPU_TEST_BETA 0.99995
enum { AW_GPU_TEST = 700, AW_GPU_TEST_NS = 24, AW_GPU_TEST_NX = 12 };
enum { AW_GPU_TEST_CELLS = (AW_GPU_TEST_NS + 2 * AW_PAD) * (AW_GPU_TEST_NX + 2 * AW_PAD) };

/** What a device does to them. */
typedef struct aw_gpu_test_beam {
    double z[AW_GPU_TEST], x[AW_GPU_TEST], pz[AW_GPU_TEST], px[AW_GPU_TEST];
    double gamma0[AW_GPU_TEST];
    int32_t element[AW_GPU_TEST];
    double sums[5], reach[2], cells[AW_GPU_TEST_CELLS][AW_COMPONENTS], force_stats[2][3];
    aw_beam_sums stats;
    int lost; /* 1: one of them was in trouble, and none should be */
} aw_gpu_test_beam;

/** Take a step with particles about an orbit. @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND */
aw_status aw_gpu_self_test_particles(aw_gpu_state *g, const aw_orbit_view *orbit,
                                     aw_gpu_test_beam *out);

/** Whether two devices have done alike. */
int aw_gpu_test_beams_agree(const aw_gpu_test_beam *a, const aw_gpu_test_beam *b);

AW_END_DECLS
#endif
