/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quadrature/rules/refine.h"

#include "src/base/memory.h"

aw_status aw_refine_space_make(aw_refine_space *space)
{
    space->region = aw_alloc(AW_REFINE_MAX, sizeof *space->region);
    space->heap = aw_alloc(AW_REFINE_MAX, sizeof *space->heap);
    space->capacity = AW_REFINE_MAX;
    return space->region && space->heap ? AW_OK : AW_ERR_NOMEM;
}

void aw_refine_space_free(aw_refine_space *space)
{
    aw_free(space->region);
    aw_free(space->heap);
    space->region = NULL;
    space->heap = NULL;
}
