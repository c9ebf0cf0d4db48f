/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kind of device that a test runs on. */
#ifndef AW_TESTS_DEVICE_FIXTURE_H
#define AW_TESTS_DEVICE_FIXTURE_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device/device.h"

/* The kind that the command line names. Says why and leaves with exit status 77, a visible skip,
 * where there is none of it. */
static inline char *unit_of(int argc, char **argv)
{
    char *kind = argc > 1 ? argv[1] : "emulated";
    char why[200] = "this program was built without CUDA";
    for (int i = 0; aw_device_kind(i); ++i) {
        const aw_device_ops *ops = aw_device_kind(i);
        if (strcmp(ops->kind, kind) != 0 || !ops->count || ops->count(why, sizeof why) > 0)
            continue;
        printf("skipped: unit %s: %s\n", kind, why);
        exit(77);
    }
    return kind;
}

#endif
