/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the CPU device divides its work: depends on the machine and changes no result. */
#ifndef AW_KERNELS_DEVICE_TUNING_H
#define AW_KERNELS_DEVICE_TUNING_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Largest number of tiles of a cluster: the capacity of a device's workspace. */
#define AW_CLUSTER_TILES 64
/** Largest numbers of points of a group in a sweep (lists of strategies are no longer), and of the
 *  chunks of a group. */
#define AW_GROUP_MAX 256
#define AW_CHUNKS_MAX 128
/** Largest number of nodes of an arc that are summed in the precision of the moments. */
#define AW_BATCH_MAX 256

/** Run-time parameters of the CPU device; 0 stands for the default of a parameter. Ranges and
 *  defaults are in a table (aw_tuning_list).
 *
 *  Results depend on them by rounding only: they determine which points share interpolated slices
 *  and which nodes are computed twice, never where the nodes lie. (A region whose error is within
 *  rounding of its limit may or may not be split; both are correct.) `cluster_tiles` changes no bit
 *  of a result; `cluster_batch` changes the rounding of single precision, 1e-7 of the
 *  potentials; `form_sums` the order of a form factor's sums in double precision. None may be
 *  chosen by the number of threads, or results would depend on it.
 *  Source: A. Sarje et al., "Tuning HipGISAXS on Multi and Many Core Supercomputers" (2013),
 *  III-A4: block sizes depend on the machine and hardly on the problem, so they are searched for
 *  once per machine. Differs: one coordinate after the other, not exhaustively. */
typedef struct aw_tuning {
    int sweep_group;   /* points of a sweep that share frames and interpolated slices */
    int sweep_pieces;  /* chunks in r' of a group, which threads work on in parallel; each chunk
                        * costs one more node per point */
    int blend_points;  /* smallest number of points at one r' for which slices are interpolated
                        * first (kernels/math/interpolated_cells.h), if there are not too many
                        * cells (kernels/cpu/sweep.c); above AW_GROUP_MAX: never */
    int cluster_tiles; /* largest number of tiles of a cluster, which one thread evaluates and
                        * whose tiles share interpolated slices */
    int cluster_batch; /* nodes of an arc after which sums in single precision are added to double
                        * sums; the more nodes, the less accurate */
    int form_sums;     /* sums of a form factor that are made between two barriers
                        * (docs/form-factor.md, "Block sizes") */
} aw_tuning;

/** One parameter. */
typedef struct aw_tuning_field {
    const char *name; /* as in the struct */
    size_t offset;    /* of an int in the struct */
    int least, most;  /* range */
    int initial;      /* default */
} aw_tuning_field;

/** The i-th parameter, static; NULL past the last. */
const aw_tuning_field *aw_tuning_list(int i);

/** Parameter by name, static; NULL if there is none of that name. */
const aw_tuning_field *aw_tuning_find(const char *name);

/** Get or set the value of a parameter; the range is not checked. */
int aw_tuning_get(const aw_tuning *tuning, const aw_tuning_field *field);
void aw_tuning_set(aw_tuning *tuning, const aw_tuning_field *field, int value);

/** Replace zeros by the defaults.
 *  @param[in] requested  NULL stands for all zeros
 *  @return AW_OK; AW_ERR_ARG: a value is out of its range (message); `out` has all defaults then */
aw_status aw_tuning_resolve(const aw_tuning *requested, aw_tuning *out);

AW_END_DECLS
#endif
