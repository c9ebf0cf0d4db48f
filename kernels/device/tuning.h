/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the CPU device cuts its work into pieces: what suits a machine, and changes no answer. */
#ifndef AW_KERNELS_DEVICE_TUNING_H
#define AW_KERNELS_DEVICE_TUNING_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** Most tiles of a cluster: a device has room for so many at a time. */
#define AW_CLUSTER_TILES 64
/** Most points of a group of a sweep (strategies hand over no more), and most of its pieces. */
#define AW_GROUP_MAX 256
#define AW_CHUNKS_MAX 128
/** Most nodes of an arc that are summed in the precision of the moments. */
#define AW_BATCH_MAX 256

/** Run-time parameters of the CPU device; of each, 0 stands for the default. Ranges and defaults
 *  are in the table below.
 *
 *  Results depend on them by rounding only: they say which points share the combination of slices
 *  and which node is computed again, never which nodes there are. (A region whose error is within
 *  rounding of what is allowed may then be split, or not; both are right.) `cluster_tiles` changes
 *  not one bit; `cluster_batch` changes the rounding of single precision, some 1e-8. None may be
 *  chosen by the number of threads: results would depend on it.
 *  Source: A. Sarje et al., "Tuning HipGISAXS on Multi and Many Core Supercomputers" (2013),
 *  III-A4: sizes of blocks depend on the machine and hardly on the problem, so that they are
 *  searched once per machine. Differs: one coordinate after the other, not exhaustively. */
typedef struct aw_tuning {
    int sweep_group;  /* points of a sweep that share frames and combined slices */
    int sweep_pieces; /* of r' into which a group is cut, so that threads share it; a piece costs
                        * each point a node at its beginning */
    int blend_points; /* points at one r' from which on slices are combined first (kernels/math/interpolated_cells.h);
                        * more than a group has: never */
    int cluster_tiles; /* most tiles of a cluster; a cluster is one thread's, and its tiles share
                        * combined slices */
    int cluster_batch; /* nodes of an arc after which a tile's sums are handed over to double: in
                        * single precision more of them are a little less exact */
} aw_tuning;

/** Table of the parameters. */
typedef struct aw_tuning_field {
    const char *name; /* as in the struct */
    size_t offset;    /* of an int in the struct */
    int least, most, initial;
} aw_tuning_field;

/** The i-th parameter; NULL past the last. */
const aw_tuning_field *aw_tuning_list(int i);

/** Parameter by name; NULL if there is none. */
const aw_tuning_field *aw_tuning_find(const char *name);

/** Value of a parameter. */
int aw_tuning_get(const aw_tuning *tuning, const aw_tuning_field *field);
void aw_tuning_set(aw_tuning *tuning, const aw_tuning_field *field, int value);

/** Defaults in place of zeros; NULL stands for all zeros.
 *  @return AW_OK; AW_ERR_ARG: a value is out of its range (message), `out` holds the defaults. */
aw_status aw_tuning_resolve(const aw_tuning *asked, aw_tuning *out);

AW_END_DECLS
#endif
