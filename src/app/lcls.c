/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/lcls.h"

#include <stdlib.h>
#include <string.h>

aw_status aw_lcls_config(int n, size_t particles, aw_upstream upstream, aw_config **out)
{
    const aw_element line[] = {{.kind = AW_BEND, .name = "bend",
                                .length = AW_LCLS_RADIUS * AW_LCLS_ANGLE, .angle = AW_LCLS_ANGLE},
                               {.kind = AW_DRIFT, .name = "after", .length = 1.0}};
    aw_status status = AW_OK;
    aw_config *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c) return AW_ERR_NOMEM;
    c->title = strdup("LCLS bend");
    c->path = strdup("(built in)");
    c->lattice_path = strdup("(built in)");
    c->directory = strdup("");
    c->beam = (aw_beam_params){.charge = 1e-9, .gamma = 1e4, .particles = particles, .seed = 1,
                               .quiet = 1, .cutoff_sigma = 5.0, .sigma_s = AW_LCLS_SIGMA,
                               .sigma_x = AW_LCLS_SIGMA, .beta_x = 1.0};
    c->motion = AW_MOTION_RIGID;
    c->grid[0] = c->grid[1] = n;
    c->step_m = 0.02;
    c->tolerance = 1e-6;
    strcpy(c->solver, "two-phase");
    strcpy(c->device, "auto");
    c->upstream = upstream;
    c->history_MiB = 16384.0;
    c->upstream_m = 1e4;
    c->inner_density = 1.0;
    if (!c->title || !c->path || !c->lattice_path || !c->directory) status = AW_ERR_NOMEM;
    if (status == AW_OK)
        status = aw_lattice_new(line, sizeof line / sizeof line[0], c->beam.gamma, upstream,
                                &c->lattice);
    if (status == AW_OK) *out = c;
    else aw_config_free(c);
    return status;
}
