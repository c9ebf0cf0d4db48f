/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a device has to show before it is believed (kernels/gpu/trial.c). */
#ifndef AW_KERNELS_GPU_TRIAL_H
#define AW_KERNELS_GPU_TRIAL_H
#include <math.h>

#include "kernels/gpu/unit.h"

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
#define AW_GPU_TRIED_H 1e-5
#define AW_GPU_TRIED_CDT 2e-4
#define AW_GPU_TRIED_BETA 0.99995
enum { AW_GPU_TRIED = 700, AW_GPU_TRIED_NS = 24, AW_GPU_TRIED_NX = 12 };
enum { AW_GPU_TRIED_CELLS = (AW_GPU_TRIED_NS + 2 * AW_PAD) * (AW_GPU_TRIED_NX + 2 * AW_PAD) };

/** What a unit does to them. */
typedef struct aw_gpu_tried_beam {
    double z[AW_GPU_TRIED], x[AW_GPU_TRIED], pz[AW_GPU_TRIED], px[AW_GPU_TRIED];
    double gamma0[AW_GPU_TRIED];
    int32_t element[AW_GPU_TRIED];
    double sums[5], reach[2], cells[AW_GPU_TRIED_CELLS][AW_COMPONENTS], felt[2][3];
    aw_beam_sums stats;
    int lost; /* 1: one of them was in trouble, and none should be */
} aw_gpu_tried_beam;

/** Take a step with particles about an orbit. @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND */
aw_status aw_gpu_try_beam(aw_gpu_state *g, const aw_orbit_view *orbit, aw_gpu_tried_beam *out);

/** Whether two units have done alike. */
int aw_gpu_beams_agree(const aw_gpu_tried_beam *a, const aw_gpu_tried_beam *b);

AW_END_DECLS
#endif
