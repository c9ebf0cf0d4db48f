/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The form factor of a bunch by the direct sum over its particles, within a budget of memory:
 *
 *     F(k) = 1/Q sum_j q_j exp(i k.r_j).
 *
 * Particles are read, and results written, in parts that fit the budget; each pair of parts is
 * one call of a device. */
#ifndef AW_FORM_FACTOR_FORM_FACTOR_H
#define AW_FORM_FACTOR_FORM_FACTOR_H
#include "kernels/device/device.h"
#include "src/form_factor/waves.h"

AW_BEGIN_DECLS

/** Where particles come from. `read` fills positions [m] and charges (any unit) of particles first
 *  .. first + n - 1, and may be asked for them again. */
typedef struct aw_form_source {
    size_t n;
    aw_status (*read)(void *context, size_t first, size_t n, double *const at[3], double *charge);
    void *context;
} aw_form_source;

/** Where results go: F of waves first .. first + n - 1, real and imaginary part. */
typedef struct aw_form_sink {
    aw_status (*write)(void *context, size_t first, size_t n, const double (*F)[2]);
    void *context;
} aw_form_sink;

typedef struct aw_form_options {
    int single;    /* 1: terms in single precision: errors below 1e-6; 0: in double: 1e-13 */
    size_t memory; /* budget [bytes]; 0: AW_FORM_MEMORY */
} aw_form_options;

/** Budget by default, and the least that a budget may be [bytes]. */
#define AW_FORM_MEMORY ((size_t)1 << 28)
#define AW_FORM_MEMORY_LEAST ((size_t)1 << 23)

/** What the particles alone say. */
typedef struct aw_form_bunch {
    double charge; /* sum of the charges */
    double floor;  /* sum of q^2 / Q^2, or 1/N for equal charges: the mean of |F|^2 of particles
                    * drawn by chance, below which a |F|^2 says nothing of the bunch */
} aw_form_bunch;

/** A source of arrays, which are borrowed. */
typedef struct aw_form_arrays {
    const double *at[3];  /* NULL: zero */
    const double *charge; /* NULL: equal charges */
} aw_form_arrays;
aw_form_source aw_form_source_of(const aw_form_arrays *arrays, size_t n);

/** A sink that fills an array F[waves], which is borrowed. */
aw_form_sink aw_form_sink_of(double (*F)[2]);

/** F at all waves.
 *  @param[in] device  one without the operation leaves the work to the CPU device
 *  @return AW_OK; AW_ERR_ARG: no particles, no charge, no waves, or a number that is not finite
 *          (message); AW_ERR_NONFINITE: a phase is too large (message); AW_ERR_NOMEM;
 *          AW_ERR_BACKEND; or what the source or the sink returns */
aw_status aw_form_factor(const aw_device *device, const aw_form_source *source,
                         const aw_waves *waves, const aw_form_options *options,
                         const aw_form_sink *sink, aw_form_bunch *bunch);

AW_END_DECLS
#endif
