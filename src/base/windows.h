/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of nodes of a grid, and which nodes a stencil reads at all nodes of a set. */
#ifndef AW_BASE_WINDOWS_H
#define AW_BASE_WINDOWS_H
#include "src/base/port.h"

/** First node of the window of `width` nodes, an odd number, about node i of n >= width: shifted
 *  inward near an end of the line. */
AW_FN int aw_window_first(int i, int n, int width)
{
    const int first = i - width / 2;
    return first < 0 ? 0 : first + width > n ? n - width : first;
}

AW_BEGIN_DECLS

/** Add to a set the windows of all nodes of another along one axis (aw_window_first).
 *  @param[in] set     [nx][ns], s fastest; not 0: the node belongs to it
 *  @param[in] width   odd, at most the number of nodes along the axis
 *  @param[in,out] out  [nx][ns], may not overlap `set` */
void aw_windows_add(const unsigned char *set, int ns, int nx, int width, int along_x,
                    unsigned char *out);

/** The same along both axes: what a derivative along each reads. */
void aw_windows_add_crosses(const unsigned char *set, int ns, int nx, int width,
                            unsigned char *out);

AW_END_DECLS
#endif
