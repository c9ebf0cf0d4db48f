/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step of a tracking code in C, for tests/python/overhead.py: what `Field` is compared with. */
#include "src/api/arcwake.h"

int overhead_step(aw_field *field, double t, const aw_bunch *bunch, double *Fs, double *Fx);

/** Observe the bunch and ask for the forces on it. @return as aw_field_force */
int overhead_step(aw_field *field, double t, const aw_bunch *bunch, double *Fs, double *Fx)
{
    const int status = aw_field_observe(field, t, bunch);
    if (status != AW_DONE) return status;
    return aw_field_force(field, bunch->n, bunch->s, bunch->x, Fs, Fx);
}
