/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several devices as one. */
#ifndef AW_KERNELS_MULTI_DEVICES_H
#define AW_KERNELS_MULTI_DEVICES_H
#include "kernels/device/device.h"

AW_BEGIN_DECLS

/** Most devices that can work as one, per rank. */
enum { AW_DEVICES_MAX = 16 };

/** One of several devices. */
typedef struct aw_named_device {
    aw_device device;
    char name[32]; /* as in messages, e.g. "cpu:1" */
    int heavy;     /* 1: an accelerator, which begins with the heaviest bins */
    double slow;   /* factor by which it is slowed down, for studies; at most 1: it is not */
} aw_named_device;

/** Work of a device since the last aw_multi_records_clear. */
typedef struct aw_device_record {
    const char *name; /* borrowed from the device */
    double busy;      /* [s] */
    size_t bins;
    int lost; /* 1: it has failed and is not used any more */
} aw_device_record;

/** Open n devices (1 .. AW_DEVICES_MAX) as one. Its operations cut their work into bins, which the
 *  devices take from a pool (scheduler.h): the regions of a sweep and the jobs of a refinement in
 *  the order of points, clusters by data blocks (tasks.h). Sums over bins run in the order of bins,
 *  so that with devices that compute alike, results do not depend on which device did what. A
 *  convolution is one bin, for a device that convolves, beside the bins of the next integration of
 *  common nodes; it is done with them, or by `wait`. A device with a failing operation is not used
 *  any more, with a warning, and the others do its work; an operation fails when no device is left.
 *  Therefore a failing operation must leave its inputs (regions, jobs) unchanged.
 *  @param[in] named  [n]: owned by the new device on AW_OK
 *  @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_multi_open(const aw_named_device *named, int n, aw_device *out);

/** Memory for the sums of several devices at `points` points [bytes]. */
size_t aw_multi_bytes(int devices, size_t points);

/** Add the sums of a form factor. Bits depend neither on the number of ranks and devices, as long
 *  as all of them compute alike, nor on their threads: a lone device of the host does the same bins
 *  as several would. A lone accelerator has no bins, which would cost it transfers.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_NONFINITE (a weight, or a sum), AW_ERR_BACKEND */
aw_status aw_multi_form_sum(const aw_device *device, const aw_form_call *call);

/** Memory that this takes on this rank [bytes per wave vector], beside `sum` of the call and what a
 *  lone device takes inside. */
size_t aw_multi_form_bytes(const aw_device *device);

/** Work of device i of several since the last aw_multi_records_clear. */
aw_device_record aw_multi_record(const aw_device *device, int i);
void aw_multi_records_clear(aw_device *device);

/** Use only some of several devices: device i is used if bit i of `mask` is set. */
void aw_multi_only(aw_device *device, unsigned mask);

/** Number of devices that work as this one; 1 if it is a single device. */
int aw_multi_count(const aw_device *device);

AW_END_DECLS
#endif
