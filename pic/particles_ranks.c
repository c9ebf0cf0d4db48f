/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A beam that is distributed over the ranks of a run: each rank has some of its particles. */
#include "pic/particles.h"
#include "src/base/comm.h"

/* The arrays of a beam, and the size of their items in bytes. */
enum { ARRAYS = 8 };

static void arrays_of(const aw_particles *p, char *array[ARRAYS], size_t bytes[ARRAYS])
{
    double *const number[ARRAYS - 1] = {p->z, p->x, p->pz, p->px, p->s0, p->x0, p->gamma0};
    for (int k = 0; k < ARRAYS - 1; ++k) {
        array[k] = (char *)number[k];
        bytes[k] = sizeof(double);
    }
    array[ARRAYS - 1] = (char *)p->element;
    bytes[ARRAYS - 1] = sizeof *p->element;
}

aw_status aw_particles_gather_root(const aw_particles *share, aw_particles **all)
{
    char *from[ARRAYS], *to[ARRAYS] = {NULL};
    size_t bytes[ARRAYS];
    aw_status status = AW_OK;
    *all = NULL;
    if (aw_comm_rank() == 0) status = aw_particles_new(share->all, share->charge, all);
    AW_TRY(aw_comm_agree(status));
    arrays_of(share, from, bytes);
    if (*all) arrays_of(*all, to, bytes);
    for (int k = 0; k < ARRAYS; ++k) aw_comm_gather(from[k], share->n * bytes[k], to[k]);
done:
    return status;
}

void aw_particles_sum(const aw_particles *p, double *x, size_t n)
{
    if (p->distributed) aw_comm_sum(x, n);
}

void aw_particles_max(const aw_particles *p, double *x, size_t n)
{
    if (p->distributed) aw_comm_max(x, n);
}

aw_status aw_particles_agree(const aw_particles *p, aw_status mine)
{
    return p->distributed ? aw_comm_agree(mine) : mine;
}
