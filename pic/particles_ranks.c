/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A beam that is distributed over the ranks of a run: each rank has some of its particles. */
#include <string.h>

#include "pic/chunks.h"
#include "pic/particles.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* The arrays of a beam, and the size of their items in bytes; some may be NULL. */
enum { NUMBERS = 12, ARRAYS = NUMBERS + 2 };

static void arrays_of(const aw_particles *p, char *array[ARRAYS], size_t bytes[ARRAYS])
{
    double *const number[NUMBERS] = {p->z,      p->x,      p->pz, p->px, p->s0, p->x0,
                                     p->gamma0, p->weight, p->y,  p->py, p->p0, p->radiated};
    for (int k = 0; k < NUMBERS; ++k) {
        array[k] = (char *)number[k];
        bytes[k] = sizeof(double);
    }
    array[NUMBERS] = (char *)p->element;
    bytes[NUMBERS] = sizeof *p->element;
    array[NUMBERS + 1] = (char *)p->id;
    bytes[NUMBERS + 1] = sizeof *p->id;
}

aw_status aw_particles_extend(aw_particles *p, int with)
{
    const size_t bytes = sizeof(double);
    const int weights = (with & AW_WITH_WEIGHT) && !p->weight, ids = (with & AW_WITH_ID) && !p->id;
    int complete = 1;
    if (weights) complete = (p->weight = aw_alloc(p->n, bytes)) != NULL;
    if ((with & AW_WITH_HEIGHT) && !p->y)
        complete = complete && (p->y = aw_alloc(p->n, bytes)) && (p->py = aw_alloc(p->n, bytes)) &&
                   (p->p0 = aw_alloc(p->n, bytes));
    if ((with & AW_WITH_RADIATED) && !p->radiated)
        complete = complete && (p->radiated = aw_alloc(p->n, bytes));
    if (ids) complete = complete && (p->id = aw_alloc(p->n, sizeof *p->id));
    if (!complete) return aw_error(AW_ERR_NOMEM, "no memory for %zu particles", p->n);
    for (size_t i = 0; weights && i < p->n; ++i) p->weight[i] = 1.0;
    for (size_t i = 0; ids && i < p->n; ++i) p->id[i] = p->first + i + 1;
    return AW_OK;
}

/* n particles with the arrays that `like` has. */
static aw_status new_like(const aw_particles *like, size_t n, aw_particles **out)
{
    const int with = (like->weight ? AW_WITH_WEIGHT : 0) | (like->y ? AW_WITH_HEIGHT : 0) |
                     (like->id ? AW_WITH_ID : 0) | (like->radiated ? AW_WITH_RADIATED : 0);
    aw_status status = aw_particles_new(n, like->charge, out);
    if (status == AW_OK) status = aw_particles_extend(*out, with);
    if (status == AW_OK) return AW_OK;
    aw_particles_free(*out);
    *out = NULL;
    return status;
}

aw_status aw_particles_share(const aw_particles *whole, int distributed, aw_particles **out)
{
    const int rank = distributed ? aw_comm_rank() : 0, ranks = distributed ? aw_comm_size() : 1;
    const size_t first = aw_chunk_begin(whole->n, ranks, rank);
    const size_t n = aw_chunk_begin(whole->n, ranks, rank + 1) - first;
    char *from[ARRAYS], *to[ARRAYS];
    size_t bytes[ARRAYS];
    aw_status status = new_like(whole, n, out);
    if (distributed) status = aw_comm_agree(status);
    AW_TRY(status == AW_OK && !*out ? AW_ERR_NOMEM : status);
    (*out)->distributed = ranks > 1;
    (*out)->all = whole->n;
    (*out)->first = first;
    arrays_of(whole, from, bytes);
    arrays_of(*out, to, bytes);
    for (int k = 0; k < ARRAYS; ++k)
        if (from[k]) memcpy(to[k], from[k] + first * bytes[k], n * bytes[k]);
    return AW_OK;
done:
    aw_particles_free(*out);
    *out = NULL;
    return status;
}

aw_status aw_particles_gather_root(const aw_particles *share, aw_particles **all)
{
    char *from[ARRAYS], *to[ARRAYS] = {NULL};
    size_t bytes[ARRAYS];
    aw_status status = AW_OK;
    *all = NULL;
    if (aw_comm_rank() == 0) status = new_like(share, share->all, all);
    AW_TRY(aw_comm_agree(status));
    arrays_of(share, from, bytes);
    if (*all) arrays_of(*all, to, bytes);
    for (int k = 0; k < ARRAYS; ++k)
        if (from[k]) aw_comm_gather(from[k], share->n * bytes[k], to[k]);
done:
    return status;
}

aw_archive_part aw_particles_part(const aw_particles *p)
{
    return (aw_archive_part){p->distributed ? p->first : 0, p->n, aw_particles_all(p),
                             p->distributed};
}

void aw_particles_archive(aw_particles *p, aw_archive *archive)
{
    const aw_archive_part part = aw_particles_part(p);
    char *array[ARRAYS];
    size_t bytes[ARRAYS];
    arrays_of(p, array, bytes);
    AW_ARCHIVE_ITEM(archive, p->charge);
    for (int k = 0; k < ARRAYS; ++k) {
        aw_archive_expect(archive, array[k] != NULL);
        if (array[k]) aw_archive_spread(archive, &part, array[k], bytes[k]);
    }
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
