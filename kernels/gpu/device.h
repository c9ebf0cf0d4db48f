/* SPDX-License-Identifier: GPL-3.0-or-later */
/* State of a GPU unit, and what its files share: the host's side of the kernels. */
#ifndef AW_KERNELS_GPU_DEVICE_H
#define AW_KERNELS_GPU_DEVICE_H
#include "kernels/device/device.h"
#include "kernels/gpu/runtime.h"

AW_BEGIN_DECLS

/** Room on the device, and as much on the host for what goes there and comes from there. */
typedef struct aw_gpu_array {
    void *host, *device; /* owned */
    size_t bytes;
} aw_gpu_array;

/** A slice that the device reads. */
typedef struct aw_gpu_slice {
    uint64_t id;        /* 0: none, or one that is not known again */
    void *room;         /* on the device, owned; or NULL */
    void *host, *seen;  /* instead of it on the host, owned; and where the device sees that */
    void *narrow;       /* cells in single precision, on the device, owned; or NULL */
    uint64_t narrow_id; /* of which slice; 0: of none */
} aw_gpu_slice;

/** What a queue works on: arrays that kernels of its operations use. */
typedef struct aw_gpu_workspace {
    aw_gpu_array region, work;                                      /* lists, and clusters */
    aw_gpu_array job, leaves, pool, heap;                           /* refinement */
    aw_gpu_array tile, piece, result, sums, worst, refused, coarse; /* clusters */
    struct aw_gpu_origin *origin; /* [tiles]: where a tile comes from */
    size_t origins;
    size_t first, n, pieces; /* what is under way, if n > 0 */
} aw_gpu_workspace;

typedef struct aw_gpu_resident aw_gpu_resident; /* particles (kernels/gpu/particles.c) */

typedef struct aw_gpu_state {
    const aw_gpu_runtime *runtime;
    void *context;
    aw_gpu_info info;
    char text[160];
    double density;
    aw_history_view exact, narrow; /* as the device sees it: as given, and in single precision */
    const aw_field_point *point;   /* borrowed */
    size_t points;
    aw_gpu_slice *cached; /* [helds]: item i is slice i of the history */
    size_t cached_slices, slice_bytes;
    size_t on_host;  /* slices for which the device has no room */
    size_t resident; /* bytes of those on the device */
    int narrowed;    /* 1: the view in single precision is there */
    aw_gpu_array at, orbit, slices, narrows, staging;
    aw_gpu_array node, edge; /* shared nodes; cells of refinement */
    aw_gpu_workspace workspace[AW_GPU_STREAMS];
    aw_gpu_resident *resident_particles; /* owned; or NULL */
} aw_gpu_state;

/** Open device `index` of a runtime as a device that is called `kind` ("cuda"). With `tried`, it has
 *  to show first that it can be believed. @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND (message) */
aw_status aw_gpu_open(const aw_gpu_runtime *runtime, const char *kind, int tried,
                      const aw_device_params *params, void **state);

/** Let a device show that it finds what the host finds, which is an emulated one; both of them are
 *  as they were opened, and hold something after it that no history is about. @return AW_OK,
 *  AW_ERR_BACKEND (message), AW_ERR_NOMEM */
aw_status aw_gpu_self_test(aw_gpu_state *g, aw_gpu_state *host);

/** Room for so many bytes; contents are lost when it grows. @return AW_OK, AW_ERR_NOMEM (message),
 *  AW_ERR_BACKEND */
aw_status aw_gpu_grow(aw_gpu_state *g, aw_gpu_array *array, size_t bytes);

/** The same on the device alone. */
aw_status aw_gpu_grow_device(aw_gpu_state *g, aw_gpu_array *array, size_t bytes);
void aw_gpu_array_free(aw_gpu_state *g, aw_gpu_array *array);

/** Put copies of an array's first bytes into a queue. */
aw_status aw_gpu_to_device(aw_gpu_state *g, int stream, const aw_gpu_array *array, size_t bytes);
aw_status aw_gpu_to_host(aw_gpu_state *g, int stream, const aw_gpu_array *array, size_t bytes);

/** Make room for what is at `from`, and put it into the first queue. Nothing of the array may be on
 *  its way. @return as aw_gpu_grow */
aw_status aw_gpu_send(aw_gpu_state *g, aw_gpu_array *array, const void *from, size_t bytes);
aw_status aw_gpu_launch(aw_gpu_state *g, int stream, aw_gpu_kernel kernel, size_t blocks,
                        const void *arguments);
aw_status aw_gpu_wait(aw_gpu_state *g, int stream);

/** Add what blocks have done. */
void aw_gpu_work_sum(const aw_gpu_array *done, size_t blocks, aw_work *work);

/** The history in single precision, if the device has room for it; else as it is. @return AW_OK,
 *  AW_ERR_BACKEND */
aw_status aw_gpu_narrow_view(aw_gpu_state *g, aw_history_view *view);

/** Slices and points onto the device (device.h). */
aw_status aw_gpu_upload(void *state, const aw_history_view *history, const aw_field_point *point,
                        size_t points);
void aw_gpu_upload_free(aw_gpu_state *g);

/** Operations on particles (kernels/device/particle_ops.h). */
extern const aw_particle_ops aw_cuda_particles, aw_emulated_particles;
void aw_gpu_particles_free(aw_gpu_state *g);

/* Operations with files of their own (device.h). */
aw_status aw_gpu_device_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                              aw_work *work);
aw_status aw_gpu_device_refine(void *state, aw_region *region, aw_job *job, size_t jobs,
                               const aw_scales *scales, aw_work *work);
aw_status aw_gpu_device_evaluate(void *state, const aw_cluster_call *call, aw_work *work);
aw_status aw_gpu_device_integrate(void *state, aw_common_rule *shared, const aw_scales *scales,
                                  aw_work *work);
aw_status aw_gpu_device_cuhre_apply(void *state, const aw_cuhre_rule *rule, const aw_genz *f,
                                    aw_cuhre_region *region, size_t n);
aw_status aw_gpu_device_cuhre_cut(void *state, const aw_cuhre_rule *rule, const aw_genz *f,
                                  aw_cuhre_queue *queue, size_t n);
aw_status aw_gpu_device_peak(void *state, aw_peak *out);

AW_END_DECLS
#endif
