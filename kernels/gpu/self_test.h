/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The self-test of a device when it is opened (kernels/gpu/self_test.c). */
#ifndef AW_KERNELS_GPU_SELF_TEST_H
#define AW_KERNELS_GPU_SELF_TEST_H
#include <math.h>

#include "kernels/gpu/device.h"

AW_BEGIN_DECLS

/* Permitted relative difference of two devices. They do the same operations except for the last
 * digit of cosines and for fused multiply-adds, and the nodes of an arc lie some hundred cells from
 * its centre, which amplifies rounding errors. */
#define AW_GPU_AGREEMENT 1e-9

/** Whether a and b, n numbers each, `stride` apart, agree to within `allowed` times the largest
 *  |b|. */
AW_FN int aw_gpu_agree_within(double allowed, const double *a, const double *b, size_t n,
                              size_t stride)
{
    double largest = 0.0, difference = 0.0;
    for (size_t i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(b[i * stride]));
        const double here = fabs(a[i * stride] - b[i * stride]);
        if (!(here <= difference) && !isnan(difference)) difference = here; /* a NaN stays */
    }
    return difference <= allowed * largest;
}

AW_FN int aw_gpu_agree(const double *a, const double *b, size_t n, size_t stride)
{
    return aw_gpu_agree_within(AW_GPU_AGREEMENT, a, b, n, stride);
}

/** The test beam in an arc of 1 m radius: spacing of its grid [m], c times the time step [m], speed
 *  v/c, number of particles, nodes of the grid along s and x. */
#define AW_GPU_TEST_H 1e-5
#define AW_GPU_TEST_CDT 2e-4
#define AW_GPU_TEST_BETA 0.99995
enum { AW_GPU_TEST = 700, AW_GPU_TEST_NS = 24, AW_GPU_TEST_NX = 12 };
enum { AW_GPU_TEST_CELLS = (AW_GPU_TEST_NS + 2 * AW_PAD) * (AW_GPU_TEST_NX + 2 * AW_PAD) };

/** The test particles, and the results of one device. */
typedef struct aw_gpu_test_beam {
    double z[AW_GPU_TEST], x[AW_GPU_TEST], pz[AW_GPU_TEST], px[AW_GPU_TEST];
    double gamma0[AW_GPU_TEST], radiated[AW_GPU_TEST];
    int32_t element[AW_GPU_TEST];
    double sums[5], reach[2], cells[AW_GPU_TEST_CELLS][AW_COMPONENTS], force_stats[2][3];
    aw_beam_sums stats;
    int lost; /* 1: a particle left the grid or has coordinates that are not finite: an error */
} aw_gpu_test_beam;

/** Track the particles about an orbit for one step. @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND */
aw_status aw_gpu_self_test_particles(aw_gpu_state *g, const aw_orbit_view *orbit,
                                     aw_gpu_test_beam *f);

/** Whether the results of two devices agree. */
int aw_gpu_test_beams_agree(const aw_gpu_test_beam *a, const aw_gpu_test_beam *b);

AW_END_DECLS
#endif
