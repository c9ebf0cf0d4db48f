/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/input/lcls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

aw_status aw_line_config(const char *title, const aw_element *element, size_t n, double gamma,
                         aw_upstream upstream, aw_config **out)
{
    aw_status status = AW_OK;
    aw_config *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c) return AW_ERR_NOMEM;
    c->title = strdup(title);
    c->path = strdup(title);
    c->lattice_name = strdup(title);
    c->directory = strdup("");
    AW_TRY(c->title && c->path && c->lattice_name && c->directory ? AW_OK : AW_ERR_NOMEM);
    c->beam = (aw_beam_params){.charge = 1e-9,
                               .gamma = gamma,
                               .particles = 1000000,
                               .seed = 1,
                               .quiet = 1,
                               .cutoff_sigma = 5.0,
                               .sigma_s = AW_LCLS_SIGMA,
                               .sigma_x = AW_LCLS_SIGMA,
                               .beta_x = 1.0};
    c->motion = AW_MOTION_RIGID;
    c->grid[0] = c->grid[1] = 128;
    c->step_m = 0.02;
    c->step_scale = 1.0;
    c->tolerance = 1e-6;
    snprintf(c->solver, sizeof c->solver, "%s", AW_DEFAULT_SOLVER);
    snprintf(c->device, sizeof c->device, "auto");
    c->upstream = upstream;
    c->history_MiB = 16384.0;
    c->upstream_m = 1e4;
    c->inner_density = 1;
    AW_TRY(aw_lattice_new(element, n, gamma, upstream, &c->lattice));
    *out = c;
    return AW_OK;
done:
    aw_config_free(c);
    return status;
}

aw_status aw_lcls_config(int n, size_t particles, aw_upstream upstream, aw_config **out)
{
    const aw_element line[] = {{.kind = AW_BEND,
                                .name = "bend",
                                .length = AW_LCLS_RADIUS * AW_LCLS_ANGLE,
                                .angle = AW_LCLS_ANGLE},
                               {.kind = AW_DRIFT, .name = "after", .length = 1.0}};
    aw_status status =
        aw_line_config("LCLS bend", line, sizeof line / sizeof line[0], 1e4, upstream, out);
    if (status != AW_OK) return status;
    (*out)->grid[0] = (*out)->grid[1] = n;
    (*out)->beam.particles = particles;
    return AW_OK;
}
