/* SPDX-License-Identifier: GPL-3.0-or-later */
/* State of a GPU device, shared by the files of the kernels' host side. */
#ifndef AW_KERNELS_GPU_DEVICE_H
#define AW_KERNELS_GPU_DEVICE_H
#include "kernels/device/device.h"
#include "kernels/gpu/runtime.h"

AW_BEGIN_DECLS

/** A buffer on the device and, for transfers, a pinned buffer of the same size on the host. */
typedef struct aw_gpu_array {
    void *host, *device; /* owned */
    size_t bytes;
} aw_gpu_array;

/** A cached slice. */
typedef struct aw_gpu_slice {
    uint64_t id;         /* of the slice; 0: the cache entry is empty */
    void *device;        /* cells on the device, owned; or NULL */
    void *host, *mapped; /* where `device` is NULL: cells on the host, owned, and their address on
                          * the device */
    void *narrow;        /* cells in single precision on the device, owned; or NULL */
    uint64_t narrow_id;  /* id of the slice in `narrow`; 0: none */
} aw_gpu_slice;

/** Arrays that the kernels of one stream use. */
typedef struct aw_gpu_workspace {
    aw_gpu_array region, work;                                      /* lists, and clusters */
    aw_gpu_array job, leaves, pool, heap;                           /* refinement */
    aw_gpu_array tile, chunk, result, sums, worst, refused, coarse; /* clusters */
    aw_gpu_array points, waves, form;                               /* form factors */
    struct aw_gpu_origin *origin; /* [tiles]: the caller's tile of each tile of the batch */
    size_t origins;
    size_t first, n, chunks; /* the list or batch in progress, if n > 0 */
} aw_gpu_workspace;

typedef struct aw_gpu_resident aw_gpu_resident; /* resident particles (kernels/gpu/particles.c) */

typedef struct aw_gpu_state {
    const aw_gpu_runtime *runtime;
    void *context;
    aw_gpu_info info;
    char text[160];
    double density;
    aw_history_view exact, narrow; /* views with pointers of the device: slices as uploaded, and
                                    * slices in single precision */
    const aw_field_point *point;   /* borrowed */
    size_t points;
    aw_gpu_slice *cached; /* [cached_slices]: entry i is slice i of the history */
    size_t cached_slices, slice_bytes;
    size_t on_host;  /* number of slices that did not fit into the device's memory */
    size_t resident; /* bytes of the slices on the device */
    int narrowed;    /* 1: the view `narrow` is valid */
    aw_gpu_array at, orbit, slices, narrows, staging;
    aw_gpu_array node, edge; /* common nodes; edges of the cells of a refinement */
    aw_gpu_workspace workspace[AW_GPU_STREAMS];
    aw_gpu_resident *resident_particles; /* owned; or NULL */
} aw_gpu_state;

/** Open device `index` of a runtime as a device of kind `kind` ("cuda").
 *  @param[in] self_test  1: run aw_gpu_self_test on it against an emulated device
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND (message) */
aw_status aw_gpu_open(const aw_gpu_runtime *runtime, const char *kind, int self_test,
                      const aw_device_params *params, void **state);

/** Check that a device computes the same numbers as an emulated one. Both must have just been
 *  opened; afterwards they hold data of the test.
 *  @return AW_OK, AW_ERR_BACKEND (message), AW_ERR_NOMEM */
aw_status aw_gpu_self_test(aw_gpu_state *g, aw_gpu_state *emulated);

/** Grow an array to at least `bytes`; its contents are lost when it is reallocated.
 *  @return AW_OK, AW_ERR_NOMEM (message), AW_ERR_BACKEND */
aw_status aw_gpu_grow(aw_gpu_state *g, aw_gpu_array *array, size_t bytes);

/** The same without a buffer on the host. */
aw_status aw_gpu_grow_device(aw_gpu_state *g, aw_gpu_array *array, size_t bytes);
void aw_gpu_array_free(aw_gpu_state *g, aw_gpu_array *array);

/** Enqueue a copy of the first `bytes` of an array on a stream. */
aw_status aw_gpu_to_device(aw_gpu_state *g, int stream, const aw_gpu_array *array, size_t bytes);
aw_status aw_gpu_to_host(aw_gpu_state *g, int stream, const aw_gpu_array *array, size_t bytes);

/** Grow an array and enqueue the copy of `from` into it on the first stream. No transfer of the
 *  array may be in progress. @return as aw_gpu_grow */
aw_status aw_gpu_send(aw_gpu_state *g, aw_gpu_array *array, const void *from, size_t bytes);
aw_status aw_gpu_launch(aw_gpu_state *g, int stream, aw_gpu_kernel kernel, size_t blocks,
                        const void *arguments);
aw_status aw_gpu_wait(aw_gpu_state *g, int stream);

/** Add the work counts of all blocks, in the host buffer of `done`, to `work`. */
void aw_gpu_work_sum(const aw_gpu_array *done, size_t blocks, aw_work *work);

/** View of the history in single precision; where the device lacks the memory for it, as uploaded.
 *  @return AW_OK, AW_ERR_BACKEND */
aw_status aw_gpu_narrow_view(aw_gpu_state *g, aw_history_view *view);

/** The operation `upload` (device.h). */
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
aw_status aw_gpu_device_integrate(void *state, aw_common_rule *rule, const aw_scales *scales,
                                  aw_work *work);
aw_status aw_gpu_device_cuhre_apply(void *state, const aw_cuhre_rule *rule, const aw_genz *f,
                                    aw_cuhre_region *region, size_t n);
aw_status aw_gpu_device_cuhre_cut(void *state, const aw_cuhre_rule *rule, const aw_genz *f,
                                  aw_cuhre_queue *queue, size_t n);
aw_status aw_gpu_device_form_factor(void *state, const aw_form_call *call);
aw_status aw_gpu_device_peak(void *state, aw_peak *out);

AW_END_DECLS
#endif
