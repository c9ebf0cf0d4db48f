/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/base/windows.h"

#include <stddef.h>

void aw_windows_add(const unsigned char *set, int ns, int nx, int width, int along_x,
                    unsigned char *out)
{
    for (int j = 0; j < nx; ++j)
        for (int i = 0; i < ns; ++i) {
            if (!set[(ptrdiff_t)j * ns + i]) continue;
            const int first =
                along_x ? aw_window_first(j, nx, width) : aw_window_first(i, ns, width);
            for (int k = first; k < first + width; ++k)
                out[along_x ? (ptrdiff_t)k * ns + i : (ptrdiff_t)j * ns + k] = 1;
        }
}

void aw_windows_add_crosses(const unsigned char *set, int ns, int nx, int width, unsigned char *out)
{
    aw_windows_add(set, ns, nx, width, 0, out);
    aw_windows_add(set, ns, nx, width, 1, out);
}
