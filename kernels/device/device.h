/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A device: the table of operations on which every strategy runs.
 * A new device is one file with such a table and one line in device.c; it inherits every test. */
#ifndef AW_KERNELS_DEVICE_DEVICE_H
#define AW_KERNELS_DEVICE_DEVICE_H
#include <stddef.h>

#include "kernels/device/form_factor.h"
#include "kernels/device/particle_ops.h"
#include "kernels/device/peak.h"
#include "kernels/device/tuning.h"
#include "kernels/math/view.h"
#include "quadrature/rules/accept.h"
#include "quadrature/rules/cuhre.h"
#include "quadrature/rules/genz.h"
#include "quadrature/rules/refine.h"
#include "quadrature/rules/simpson.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

typedef struct aw_device_params {
    const char *variant;  /* SIMD variant of a CPU device; NULL: the fastest */
    int threads;          /* 0: OpenMP's default */
    int index;            /* number of the GPU, from 0 */
    double inner_density; /* nodes of the inner rule per cell crossed */
    aw_tuning tuning;     /* of a CPU device; zeros: the defaults */
    const char *slow;     /* factors by which devices are slowed down, "cpu:1=2.0,manycore=1.5";
                           * or NULL */
} aw_device_params;

/** Neighbouring points of a row of the grid: points first .. first + count - 1 of the upload. */
typedef struct aw_tile_ref {
    uint32_t first, count; /* count is at most AW_TILE (kernels/math/tile.h) */
} aw_tile_ref;

/** Number of points whose regions or jobs form one list: those that share frames and interpolated
 *  slices on a CPU (kernels/cpu/sweep.c). */
#define AW_LIST_POINTS 256

/** The same for a GPU. */
#define AW_GPU_LIST_POINTS 1024

/** Tiles whose points share one partition of r'. All pointers are borrowed. */
typedef struct aw_cluster {
    const aw_tile_ref *tile;   /* [tiles] */
    size_t tiles;              /* at most AW_CLUSTER_TILES */
    const double (*region)[2]; /* [regions]: from, to [m], ascending; there may be gaps */
    size_t regions;
    double limit; /* largest permitted sum of the errors at a point, in scales */
    double part;  /* fraction of `limit` that these regions may use, 0 .. 1: below 1 where other
                   * calls evaluate more regions of the same points */
    int fine;     /* 1: rates at all nodes of a region, 0: at every other node (aw_tile_rule) */
    int begin;    /* 1: start the sums at the cluster's points from zero; 0: add to them */
    /* Results: */
    float *worst;     /* [tiles][regions]: largest error of a region over the points of a tile */
    uint8_t *refused; /* [tiles][regions]: 1: refused, not added at any point of the tile */
    float *coarse;    /* [tiles]: increase of the errors where rates are taken at every other node
                       * (aw_tile_rule), whether they were or not: for each region the largest
                       * increase over the points, summed over the regions */
} aw_cluster;

/** Sums over regions at the points, owned by the caller. All [points]. */
typedef struct aw_clustered {
    double (*I)[AW_RESULTS];    /* integrals over the accepted regions, added to */
    double *error;              /* their errors, added to */
    double (*rest)[AW_RESULTS]; /* integrals over the regions that this call refused, overwritten */
    double *rest_error;         /* their errors, overwritten */
} aw_clustered;

/** Arguments of aw_device_ops.evaluate. All pointers are borrowed. */
typedef struct aw_cluster_call {
    const aw_cluster *cluster; /* [n]; a point may be in one cluster only */
    size_t n;
    const aw_scales *scales;
    int single; /* 1: round moments to single precision (errors of about 1e-7) */
    aw_clustered out;
} aw_cluster_call;

/** A common node: a node of the outer integral that is the same for all points. */
typedef struct aw_common_node {
    double r;          /* r' [m] */
    double weight;     /* of f_in(r) in the sums of phi, A and psi [m] */
    double rate;       /* of f_in(r) in the sums of the rates [m]; 0: no rates at this node */
    double check;      /* of f_in(r) in the check of phi and psi [m] */
    double check_rate; /* of f_in(r) in the check of the rates [m] */
    double density;    /* factor on the device's density of inner nodes (aw_arc_nodes) */
    double step;       /* distance by which the circle gains on the beam from node to node [m] */
    double stretch;    /* distance from node to node over r' */
    /* Of a node of a passage, a panel in which circles pass through many cells of the beam
     * (kernels/cpu/passage.h); else all are 0: */
    double from, to; /* ends of the panel [m] */
    int nodes;       /* of the panel */
    int across; /* 1: offsets are measured in parts of the box across its rows, 0: along them */
} aw_common_node;

/** Largest number of nodes of a passage. */
#define AW_PASSAGE_NODES 31

/** Whether a node belongs to a passage. */
AW_FN int aw_is_passage(const aw_common_node *node) { return node->to > node->from; }

/** A rule on common nodes. All pointers are borrowed. */
typedef struct aw_common_rule {
    const aw_common_node *node; /* [nodes], in any order; for a convolution, by r' */
    size_t nodes;
    const double *block_end; /* [blocks]: of a convolution, ends of its blocks [m]
                              * (aw_block_lattice); the first begins at r' = 0 */
    const int *block_joins;  /* [blocks]: 1: a block has the lattices of the one before it */
    size_t blocks;
    int halves;                  /* of a convolution: 1: its lattices have half the spacing along
                                     * axes along which the points lie between their nodes */
    size_t columns;              /* points per row of the grid */
    const unsigned char *needed; /* NULL, or [points]: 0: the sums at a point are of no use, and may
                                  * be left as they are */
    const aw_field_point *moves_as; /* its velocity is taken for all points; NULL: every point has
                                     * its own, and nothing is tabulated */
    double table_error;   /* permitted error of one node's table in the sums, in scales; 0: no
                              * tables */
    double passage_error; /* the same of nodes of passages */
    double apart_error;   /* the same, if larger, of nodes between which circles sweep so far that
                              * the errors of their tables have nothing in common */
    double kink_error;    /* what kinks of the splines may leave in the sums, in scales, where a
                              * table from which they are filtered is next to a node that has them;
                              * 0: they are filtered only where nodes would alias them */
    double (*I)[AW_RESULTS]; /* [points]: the sums, added to */
    double *check;           /* [points] or NULL: sums with the nodes' weights `check`, in scales,
                              * added to; where they are large, there may be too few nodes */
    int check_rates;         /* 1: check the rate of phi, 0: check phi and psi */
    size_t tables;           /* out: nodes that were tabulated */
    size_t directions;       /* out: directions, summed over the tables */
    size_t offsets;          /* out: offsets, summed over the tables */
} aw_common_rule;

/** Contribution of a node to the check of a point, from f_in of phi, psi and the rate of phi. */
AW_FN double aw_common_check(int check_rates, const aw_common_node *node, const aw_scales *scales,
                             double phi, double psi, double rate)
{
    return check_rates ? node->check_rate * rate / scales->rate
                       : node->check * (phi / scales->phi + psi / scales->psi);
}

/** Operations of a kind of device. Optional operations may be NULL. A call may return before the
 *  work is done; its results are valid after `wait`, which also reports errors of earlier calls. */
typedef struct aw_device_ops {
    const char *kind; /* "cpu", ... */
    int heavy;        /* 1: an accelerator; it takes the heaviest bins of work first */
    int on_host;      /* 1: it runs on threads of the host, which such devices share */
    int interpolates; /* 1: for clusters it interpolates the slices in time before reading them */
    int passes;       /* 1: `integrate` knows the nodes of passages (aw_common_node) */

    /** Number of devices of this kind; a number after the kind ("cuda:1") selects one. If there is
     *  none, the reason is written to why[n], unless the kind is not built in. NULL: any number, on
     *  the same processor. */
    int (*count)(char *why, size_t n);

    /** Open a device; free its state with `close`. @return AW_OK, AW_ERR_BACKEND (not built in, no
     *  such device or variant: message), AW_ERR_ARG (tuning: message), AW_ERR_NOMEM. */
    aw_status (*open)(const aw_device_params *params, void **state);
    void (*close)(void *state);

    /** Description for the log, e.g. "2 threads, avx512". Borrowed. */
    const char *(*describe)(const void *state);

    /** Upload the history and the points, which are borrowed until the next upload. Slices whose id
     *  is in the device's slice cache are not uploaded again. */
    aw_status (*upload)(void *state, const aw_history_view *history, const aw_field_point *point,
                        size_t points);

    /** Largest number of tiles that a cluster should have, 1 .. AW_CLUSTER_TILES. NULL:
     *  AW_CLUSTER_TILES. The division of tiles into clusters changes no result. */
    size_t (*cluster_tiles)(const void *state);

    /** Number of points that a list of regions or jobs should have to occupy the whole device; the
     *  memory of a list is proportional to it. NULL: AW_LIST_POINTS. */
    size_t (*list_points)(const void *state);

    /** Apply the rule to every region: fills the unknown nodes, the estimate and the error. A
     *  region that begins where the previous one of the same point ends takes over that node. */
    aw_status (*sweep)(void *state, aw_region *region, size_t n, const aw_scales *scales,
                       aw_work *work);

    /** Globally adaptive refinement (RP-QUADRATURE, dissertation 3.1.2) of every job: halve the
     *  region with the largest error until the sum of the errors is within the job's tolerance.
     *  All jobs count in the same cells, or none does. Unknown nodes of `region` may have become
     *  known, with the values that the job would have computed. */
    aw_status (*refine)(void *state, aw_region *region, aw_job *job, size_t jobs,
                        const aw_scales *scales, aw_work *work);

    /** Apply the rule to every region of every cluster at every point of its tiles. The points of a
     *  cluster share the nodes in r'; the points of a tile share the nodes in angle, too.
     *  @param[in,out] work  the evaluations done, added to
     *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND. */
    aw_status (*evaluate)(void *state, const aw_cluster_call *call, aw_work *work);

    /** Sum over common nodes at every point. Where all points see the beam from outside, its
     *  projections are tabulated (kernels/math/projection.h), with as many directions and offsets
     *  as the permitted error requires; other nodes are evaluated at every point. All points must
     *  see the beam from outside at the nodes of passages and at the ends of their panels. Moments
     *  are rounded to single precision. May be NULL.
     *  @return AW_OK, AW_ERR_NOMEM. */
    aw_status (*integrate)(void *state, aw_common_rule *rule, const aw_scales *scales,
                           aw_work *work);

    /** The same as a convolution, where the points are the nodes of the newest slice and the other
     *  slices turn little against each other within a block (kernels/math/convolution.h,
     *  aw_convolution_fits and aw_convolution_end). All points have the velocity of
     *  rule->moves_as; the rates use the nodes' `weight`, too; moments are not rounded. May be
     *  NULL. Nodes, blocks and sums must stay valid until `wait`: several devices start the
     *  convolution together with the next `integrate`.
     *  @return AW_OK, AW_ERR_NOMEM. */
    aw_status (*convolve)(void *state, const aw_common_rule *rule);

    /** Whether `convolve` is available, where that depends on the state: several devices need one
     *  device with it on every rank. NULL: it is available unless it is NULL itself. */
    int (*convolves)(const void *state);

    /** For integrals in several dimensions (quadrature/cuhre.h) of integrands that devices know:
     *  apply the rule to every region, which fills value, error and axis (aw_cuhre_judge). The work
     *  is done on return. This and cuhre_cut may be NULL.
     *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND */
    aw_status (*cuhre_apply)(void *state, const aw_cuhre_rule *rule, const aw_genz *f,
                             aw_cuhre_region *region, size_t n);

    /** Cut the worst regions of each queue until it has no more to do (aw_cuhre_queue_wants) or its
     *  capacity is used up. The work is done on return.
     *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND */
    aw_status (*cuhre_cut)(void *state, const aw_cuhre_rule *rule, const aw_genz *f,
                           aw_cuhre_queue *queue, size_t n);

    /** Add the particles' terms to the sums of a form factor. It needs no upload, and the work is
     *  done on return. May be NULL.
     *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND */
    aw_status (*form_factor)(void *state, const aw_form_call *call);

    /** Wait for all earlier calls. @return the first of their errors, or AW_OK */
    aw_status (*wait)(void *state);

    /** Operations on particles that are resident on the device (kernels/device/particle_ops.h).
     *  NULL: particles stay on the host. */
    const aw_particle_ops *particles;

    /** For several devices (kernels/multi): the device, borrowed, if there is only one; else NULL.
     *  The operation may be NULL. */
    const struct aw_device *(*alone)(const void *state);

    /** Peak performance of the device, as if it were one core with one thread. NULL for devices on
     *  the host (aw_peak_measure). @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND */
    aw_status (*peak)(void *state, aw_peak *out);
} aw_device_ops;

/** An open device. */
typedef struct aw_device {
    const aw_device_ops *ops;
    void *state;
} aw_device;

/** Open "auto", a kind of device ("cpu"), or a list of devices, each with a number where there are
 *  several of a kind ("cpu:0,cpu:1,manycore"), as one device (kernels/multi/devices.h). Devices on
 *  the host share its threads evenly. Free with aw_device_close.
 *  @return as aw_device_ops.open; AW_ERR_BACKEND (unknown, or given twice: message); AW_ERR_ARG
 *  (params->slow: message). */
aw_status aw_device_open(const char *spec, const aw_device_params *params, aw_device *out);
void aw_device_close(aw_device *device);

/** Whether aw_device_open knows all names of `spec`, without opening them: they may be devices of
 *  another machine. @return AW_OK, AW_ERR_BACKEND (message) */
aw_status aw_device_check(const char *spec);

/** The part of aw_device_open for lists of devices, also of a single one; errors as there. */
aw_status aw_device_list_open(const char *spec, const aw_device_params *params, aw_device *out);

/** Largest number of tiles that a cluster for this device should have. */
size_t aw_device_cluster_tiles(const aw_device *device);

/** Number of points that a list for this device should have. */
size_t aw_device_list_points(const aw_device *device);

/** Whether aw_device_ops.convolve is available now. */
int aw_device_convolves(const aw_device *device);

/** The device on which particles may be resident: a single device with operations for them.
 *  Several devices have none: one of them may fail, and its particles would be lost. Borrowed;
 *  NULL: none. */
const aw_device *aw_device_for_particles(const aw_device *device);

/** Table of the i-th kind of device, static; NULL past the last. */
const aw_device_ops *aw_device_kind(int i);

AW_END_DECLS
#endif
