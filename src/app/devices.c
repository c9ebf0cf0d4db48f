/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake devices`: the devices and SIMD variants that this program has on this machine. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "kernels/cpu/peak.h"
#include "kernels/cpu/simd/simd.h"
#include "kernels/device/device.h"
#include "src/base/command.h"
#include "src/base/log.h"

static void print_peak(const aw_peak *peak, const char *name)
{
    aw_info("  %s: %.1f GF/s in double, %.1f in single precision (multiply-adds)", name,
            peak->arithmetic[0], peak->arithmetic[1]);
    for (int i = 0; i < AW_PEAK_ARRAYS; ++i)
        aw_info("  it reads %.1f GB/s from %zu KiB", peak->read[i], aw_peak_bytes(i) >> 10);
}

static aw_status print_device(const aw_device_ops *ops, int index)
{
    const aw_device_params params = {.inner_density = 1.0, .index = index};
    aw_device device = {ops, NULL};
    aw_status status = AW_OK;
    AW_TRY(ops->open(&params, &device.state));
    aw_info("%s", ops->describe(device.state));
    if (!ops->on_host && ops->peak) {
        aw_peak peak;
        AW_TRY(ops->peak(device.state, &peak));
        print_peak(&peak, "it");
    }
done:
    if (device.state) aw_device_close(&device);
    return status;
}

static aw_status run_command(int argc, char **argv)
{
    const int threads = omp_get_max_threads();
    aw_status status = AW_OK;
    aw_peak peak;
    char cores[40];
    if (argc > 1) return aw_error(AW_ERR_ARG, "devices: takes no arguments, got '%s'", argv[1]);
    /* The devices of the host share one processor, so its peak is printed once, at the end. */
    for (int i = 0; aw_device_kind(i); ++i) {
        const aw_device_ops *ops = aw_device_kind(i);
        char why[200] = "";
        const int n = ops->count ? ops->count(why, sizeof why) : 1;
        if (n == 0) aw_info("%s: none%s%s", ops->kind, why[0] ? ", since " : " built in", why);
        for (int index = 0; index < n; ++index) AW_TRY(print_device(ops, index));
    }
    for (int i = 0; aw_variant_list(i); ++i)
        aw_info("  SIMD variant %s%s", aw_variant_list(i)->name,
                aw_variant_list(i + 1) ? "" : " (in use)");
    AW_TRY(aw_peak_measure(NULL, threads, &peak));
    snprintf(cores, sizeof cores, "a core of %d at work", threads);
    print_peak(&peak, cores);
done:
    return status;
}

static const char help[] =
    "arcwake devices\n"
    "Lists the devices and SIMD variants of this machine, and what they can do at best.\n";

const aw_command aw_devices_command = {
    .name = "devices",
    .usage = "devices",
    .summary = "devices and SIMD variants",
    .help = help,
    .run = run_command,
};
