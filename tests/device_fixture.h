/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kind of device that a test runs on, from its command line. */
#ifndef AW_TESTS_DEVICE_FIXTURE_H
#define AW_TESTS_DEVICE_FIXTURE_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device/device.h"

/* The kind of device that the command line names. If there is no such device, prints the reason and
 * exits with status 77, a visible skip. */
static inline char *kind_of(int argc, char **argv)
{
    char *kind = argc > 1 ? argv[1] : "emulated";
    char why[200] = "this program was built without CUDA";
    for (int i = 0; aw_device_kind(i); ++i) {
        const aw_device_ops *ops = aw_device_kind(i);
        if (strcmp(ops->kind, kind) != 0 || !ops->count || ops->count(why, sizeof why) > 0)
            continue;
        printf("skipped: device %s: %s\n", kind, why);
        exit(77);
    }
    return kind;
}

#endif
