/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/api/orbit.h"

#include "src/base/log.h"
#include "src/base/memory.h"

aw_status aw_orbit_lattice(const aw_section *orbit, size_t n, double gamma_ref,
                           aw_upstream upstream, aw_lattice **out)
{
    aw_status status = AW_OK;
    aw_element *element = aw_alloc(n, sizeof *element);
    AW_TRY(element ? AW_OK : AW_ERR_NOMEM);
    if (n == 0 || !orbit) AW_TRY(aw_error(AW_ERR_ARG, "the design orbit has no sections"));
    for (size_t i = 0; i < n; ++i)
        element[i] = (aw_element){.kind = orbit[i].curvature != 0.0 ? AW_BEND : AW_DRIFT,
                                  .name = "section",
                                  .length = orbit[i].length_m,
                                  .angle = orbit[i].curvature * orbit[i].length_m,
                                  .e1 = orbit[i].e1,
                                  .e2 = orbit[i].e2};
    AW_TRY(aw_lattice_new(element, n, gamma_ref, upstream, out));
done:
    aw_free(element);
    return status;
}
