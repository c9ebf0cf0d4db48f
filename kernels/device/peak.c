/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/device/peak.h"

size_t aw_peak_bytes(int array)
{
    static const size_t bytes[AW_PEAK_ARRAYS] = {16 << 10, 256 << 10, 4 << 20, 128 << 20};
    return bytes[array];
}
