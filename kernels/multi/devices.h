/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several devices as one. */
#ifndef AW_KERNELS_MULTI_DEVICES_H
#define AW_KERNELS_MULTI_DEVICES_H
#include "kernels/device/device.h"

AW_BEGIN_DECLS

/** Most units of a set. */
enum { AW_DEVICES_MAX = 16 };

/** A device of a set. */
typedef struct aw_named_device {
    aw_device device;
    char name[32]; /* as in messages, e.g. "cpu:1" */
    int heavy;     /* 1: an accelerator, it begins with the heaviest bins */
    double slow;   /* it is made that many times slower; at most 1: it is not */
} aw_named_device;

/** What a device has done since aw_multi_records_clear. */
typedef struct aw_device_record {
    const char *name;
    double busy; /* seconds */
    size_t bins;
    int lost; /* 1: it failed, and is left out */
} aw_device_record;

/** Make one device of n units (1 .. AW_DEVICES_MAX). Its operations cut their work into bins which
 *  the devices share (scheduler.h): regions of a sweep and jobs of a refinement in the order
 *  of points, clusters by data blocks (tasks.h). Sums over bins run in the order of bins, so that
 *  with devices that compute alike results do not depend on who did what. A convolution is one bin,
 *  of a device that can do it, beside those of the nodes that are integrated next; it is done with
 *  them, or by `wait`.
 *  A device whose operation fails is left out from then on, with a warning, and its work goes to
 *  the others; an operation fails when no unit is left. For that a unit that fails must have left
 *  what it reads (regions, jobs) as it was.
 *  @param[in] unit  [n]: taken over on AW_OK
 *  @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_multi_open(const aw_named_device *unit, int n, aw_device *out);

/** Bytes that the sums of a set take for so many points. */
size_t aw_multi_bytes(int units, size_t points);

/** What unit i of a set has done since the last call of aw_multi_records_clear. */
aw_device_record aw_multi_record(const aw_device *device, int i);
void aw_multi_records_clear(aw_device *device);

/** Let some devices of a set work as if there were no others: unit i if bit i of `who` is set. */
void aw_multi_only(aw_device *device, unsigned who);

/** Number of devices of a device: 1 if it is no set. */
int aw_multi_count(const aw_device *device);

AW_END_DECLS
#endif
