/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of the kinds of devices. */
#include "kernels/device/device.h"

extern const aw_device_ops aw_cpu_ops, aw_manycore_ops, aw_cuda_ops, aw_emulated_ops;

static const aw_device_ops *const kinds[] = {&aw_cpu_ops, &aw_manycore_ops, &aw_cuda_ops,
                                             &aw_emulated_ops, NULL};

const aw_device_ops *aw_device_kind(int i)
{
    int n = (int)(sizeof kinds / sizeof kinds[0]) - 1;
    return i >= 0 && i < n ? kinds[i] : NULL;
}

void aw_device_close(aw_device *device)
{
    if (device->ops) device->ops->close(device->state);
    device->ops = NULL;
    device->state = NULL;
}

size_t aw_device_list_points(const aw_device *device)
{
    return device->ops->list_points ? device->ops->list_points(device->state) : AW_LIST_POINTS;
}

int aw_device_convolves(const aw_device *device)
{
    if (!device->ops->convolve) return 0;
    return device->ops->convolves ? device->ops->convolves(device->state) : 1;
}

const aw_device *aw_device_for_particles(const aw_device *device)
{
    const aw_device *one = device->ops->alone ? device->ops->alone(device->state) : device;
    return one && one->ops->particles ? one : NULL;
}

size_t aw_device_cluster_tiles(const aw_device *device)
{
    return device->ops->cluster_tiles ? device->ops->cluster_tiles(device->state)
                                      : AW_CLUSTER_TILES;
}
