/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A device: the small table of operations on which every strategy runs.
 * A new device is one file with such a table, and one line in device.c; it inherits every test. */
#ifndef AW_KERNELS_DEVICE_DEVICE_H
#define AW_KERNELS_DEVICE_DEVICE_H
#include <stddef.h>

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
    int threads;          /* 0: as many as OpenMP gives */
    int index;            /* of a GPU, from 0 on */
    double inner_density; /* nodes of the inner rule per cell crossed */
    aw_tuning tuning;     /* of a CPU device; zeros: the defaults */
    const char *slow;     /* devices that are made slower, "cpu:1=2.0,manycore=1.5"; or NULL */
} aw_device_params;

/** Neighbouring points of a row of the grid: points first .. first + count - 1 of the upload. */
typedef struct aw_tile_ref {
    uint32_t first, count; /* count is at most AW_TILE (kernels/math/tile.h) */
} aw_tile_ref;

/** Points whose regions or jobs a list has: as many as share frames and combined slices on a CPU
 *  (kernels/cpu/sweep.c). */
#define AW_LIST_POINTS 256

/** And a list for a GPU. */
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

/** A node of the outer integral that all points share. */
typedef struct aw_common_node {
    double r, weight;  /* [m]; the weight is that of f_in(r) in the sums of phi, A and psi */
    double rate;       /* the same in the sums of the rates; 0: they are not wanted here */
    double check;      /* weight of f_in(r) in the check of phi and psi, */
    double check_rate; /* and in that of the rates */
    double density;    /* of the inner rule's nodes, times the device's (aw_arc_rate) */
    double step; /* how much further ahead of the beam than at the node before the circle is [m] */
} aw_common_node;

/** A rule on nodes that all points of a grid share. Everything is borrowed. */
typedef struct aw_common_rule {
    const aw_common_node *node; /* [nodes], in any order */
    size_t nodes;
    size_t columns;                 /* points per row of the grid */
    const aw_field_point *moves_as; /* whose velocity all points take, or NULL: each its own. What
                                    * the beam looks like from a node is tabulated only with one */
    double table_error;             /* of one node's table in the sums, in scales; 0: no tables */
    double (*I)[AW_RESULTS];        /* [points]: to which the sums are added */
    double
        *check; /* [points] or NULL: to which sums with the nodes' weights `check`, in scales, are
                      * added: where they are large the nodes may be too few */
    int check_rates;           /* 1: a check of the rate of phi, 0: of phi and psi */
    size_t tables, directions; /* out: nodes that were tabulated, and directions in all */
    size_t offsets;            /* out: offsets in all of the tables */
} aw_common_rule;

/** What a node adds to the check of a point, of its f_in of phi, psi and the rate of phi. */
AW_FN double aw_common_check(int check_rates, const aw_common_node *node, const aw_scales *scales,
                             double phi, double psi, double rate)
{
    return check_rates ? node->check_rate * rate / scales->rate
                       : node->check * (phi / scales->phi + psi / scales->psi);
}

/** Operations of a kind of device. Optional ones may be NULL. A call may return before the work is
 *  done; what it fills is valid after `wait`, which also reports errors of the calls before it. */
typedef struct aw_device_ops {
    const char *kind; /* "cpu", ... */
    int heavy;        /* 1: an accelerator: of work in bins it takes the heaviest first */
    int on_host;      /* 1: it works with threads of this processor, which such devices share */
    int interpolates; /* 1: of clusters it combines slices in time, and reads those */

    /** How many there are: a number after the kind ("cuda:1") says which. If none, `why` says why
     *  [n], unless the kind is not built in. NULL: as many as one likes, on the same processor. */
    int (*count)(char *why, size_t n);

    /** Make a device's state. @return AW_OK, AW_ERR_BACKEND (not built in, no such device or
     *  variant: message), AW_ERR_ARG (tuning: message), AW_ERR_NOMEM. */
    aw_status (*open)(const aw_device_params *params, void **state);
    void (*close)(void *state);

    /** What the device runs on, for a line in the log, e.g. "2 threads, avx512". Borrowed. */
    const char *(*describe)(const void *state);

    /** Bring the history and the points to the device; borrowed until the next upload. A slice's id
     *  tells whether the device holds it already. */
    aw_status (*upload)(void *state, const aw_history_view *history, const aw_field_point *point,
                        size_t points);

    /** How many tiles a cluster should have at most, 1 .. AW_CLUSTER_TILES. NULL: that many. How
     *  tiles are shared out among clusters changes no result. */
    size_t (*cluster_tiles)(const void *state);

    /** How many points a list of regions or jobs should have, so that all of the unit has work.
     *  NULL: AW_LIST_POINTS. Lists of that many take memory in proportion. */
    size_t (*list_points)(const void *state);

    /** Apply the rule to every region: fills the nodes that are not known, estimate and error.
     *  A region that begins where the one before it (of the same point) ends shares its node. */
    aw_status (*sweep)(void *state, aw_region *region, size_t n, const aw_scales *scales,
                       aw_work *work);

    /** Globally adaptive refinement (RP-QUADRATURE, dissertation 3.1.2) of every job: split the
     *  region with the largest error until the sum of the errors is within the job's tolerance.
     *  All jobs have the same cells, or none. */
    aw_status (*refine)(void *state, aw_region *region, aw_job *job, size_t jobs,
                        const aw_scales *scales, aw_work *work);

    /** Apply the rule to every region of every cluster at every point of its tiles. The points of a
     *  cluster share the nodes in r'; the points of a tile share the nodes in angle, too.
     *  @param[in,out] work  the evaluations done, added to
     *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND. */
    aw_status (*evaluate)(void *state, const aw_cluster_call *call, aw_work *work);

    /** Sum over shared nodes at every point. Where all points see the beam from outside, its
     *  projections are tabulated (kernels/math/projection.h), with as many directions and offsets
     *  as their error needs; other nodes are evaluated at every point. Moments are rounded to
     *  single precision. May be NULL.
     *  @return AW_OK, AW_ERR_NOMEM. */
    aw_status (*integrate)(void *state, aw_common_rule *shared, const aw_scales *scales,
                           aw_work *work);

    /** The same where the points are the nodes of the newest slice, and the slices lie as it does
     *  but for a small turn (kernels/math/convolution.h, aw_convolution_fits and _reach), for
     *  points that move as `common`: a convolution. Nodes take their weight for the rates, too;
     *  moments are not rounded. May be NULL. Nodes and sums must stay until `wait`: several devices
     *  begins with it when it has nodes to integrate, too.
     *  @return AW_OK, AW_ERR_NOMEM. */
    aw_status (*convolve)(void *state, const aw_common_rule *shared);

    /** Whether it can, where that depends on the state: several devices can if one of them can, on
     *  every rank. NULL: if there is the operation. */
    int (*convolves)(const void *state);

    /** For integrals in several dimensions (quadrature/cuhre.h), of integrands that devices know:
     *  apply the rule to every region, of which value, error and axis are filled (aw_cuhre_judge).
     *  All of it is done on return. Both may be NULL.
     *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND */
    aw_status (*cuhre_apply)(void *state, const aw_cuhre_rule *rule, const aw_genz *f,
                             aw_cuhre_region *region, size_t n);

    /** And cut the worst regions of queues until each has what it wants (aw_cuhre_queue_wants) or
     *  has no room left; those that want nothing stay as they are. Likewise. */
    aw_status (*cuhre_cut)(void *state, const aw_cuhre_rule *rule, const aw_genz *f,
                           aw_cuhre_queue *queue, size_t n);

    aw_status (*wait)(void *state);

    /** Particles that stay with the device (kernels/device/particle_ops.h). NULL: it keeps none. */
    const aw_particle_ops *particles;

    /** The device itself where the device is a set of one; else NULL, as the whole may be. */
    const struct aw_device *(*alone)(const void *state);

    /** What the device could do at best, as if it were one core with one thread. NULL for units of
     *  the host (aw_peak_measure). @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND */
    aw_status (*peak)(void *state, aw_peak *out);
} aw_device_ops;

/** An open device. */
typedef struct aw_device {
    const aw_device_ops *ops;
    void *state;
} aw_device;

/** Open what `spec` names: "auto", a kind of device ("cpu"), or a list of devices, each with a
 *  number where there are several of a kind ("cpu:0,cpu:1,manycore"), as one device
 *  (kernels/multi/devices.h). Units of the host share its threads evenly.
 *  @return as open; AW_ERR_BACKEND (not known, or given twice: message); AW_ERR_ARG (slow). */
aw_status aw_device_open(const char *spec, const aw_device_params *params, aw_device *out);
void aw_device_close(aw_device *device);

/** The part of aw_device_open for lists; a list of one is a set of one. */
aw_status aw_device_list_open(const char *spec, const aw_device_params *params, aw_device *out);

/** What the device wants as most tiles of a cluster. */
size_t aw_device_cluster_tiles(const aw_device *device);

/** What the device wants as points of a list. */
size_t aw_device_list_points(const aw_device *device);

/** Whether the device has aw_device_ops.convolve now. */
int aw_device_convolves(const aw_device *device);

/** The unit that may keep particles: a device that is one unit, which has operations for it. Where
 *  there are several, one may be lost, and the particles must not be lost with it. NULL: none. */
const aw_device *aw_device_for_particles(const aw_device *device);

/** Table of the i-th kind of device; NULL past the last. */
const aw_device_ops *aw_device_kind(int i);

AW_END_DECLS
#endif
