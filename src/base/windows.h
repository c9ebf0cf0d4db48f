/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of nodes of a grid, and which nodes a stencil reads at all nodes of a set. */
#ifndef AW_BASE_WINDOWS_H
#define AW_BASE_WINDOWS_H
#include "src/base/port.h"

AW_BEGIN_DECLS

/** Add to a set the windows of all nodes of another along one axis: `width` nodes about each, which
 *  near an end of a line are shifted inward.
 *  @param[in] set     [nx][ns], s fastest; not 0: the node belongs to it
 *  @param[in] width   odd, at most the number of nodes along the axis
 *  @param[in,out] out  [nx][ns], may not overlap `set` */
void aw_windows_add(const unsigned char *set, int ns, int nx, int width, int along_x,
                    unsigned char *out);

AW_END_DECLS
#endif
