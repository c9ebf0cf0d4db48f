/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/base/windows.h"

#include <stddef.h>

/* First node of the window about node i of n. */
static int first_of(int i, int n, int width)
{
    const int first = i - width / 2;
    return first < 0 ? 0 : first + width > n ? n - width : first;
}

void aw_windows_add(const unsigned char *set, int ns, int nx, int width, int along_x,
                    unsigned char *out)
{
    for (int j = 0; j < nx; ++j)
        for (int i = 0; i < ns; ++i) {
            if (!set[(ptrdiff_t)j * ns + i]) continue;
            const int first = along_x ? first_of(j, nx, width) : first_of(i, ns, width);
            for (int k = first; k < first + width; ++k)
                out[along_x ? (ptrdiff_t)k * ns + i : (ptrdiff_t)j * ns + k] = 1;
        }
}
