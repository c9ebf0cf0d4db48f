/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bunch as a line: its density along the design orbit, the force of the one-dimensional model,
 * and that force on the particles. */
#ifndef AW_PIC_LINE_LINE_H
#define AW_PIC_LINE_LINE_H
#include "pic/gather.h"
#include "pic/lattice.h"
#include "pic/line/kernel.h"
#include "pic/particles.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** A line bunch on n nodes, and its workspace. Read the members freely, but change them only
 *  through the functions below. */
typedef struct aw_line {
    int n;
    double S;        /* arc length from which s is counted [m] */
    double first, h; /* s of node 0, and the spacing [m] */
    double charge;   /* of the bunch [C] */
    double *density; /* [n] coefficients of cubic B-splines, line density normalised to 1 [1/m] */
    double *force;   /* [n] coefficients of cubic B-splines, F_s [eV/m] */
    double *weight;  /* [n + 1] of the convolution (kernel.h) */
    double *s;       /* [particles] of this rank, along the orbit ahead of S [m] */
    double *part;    /* private densities */
} aw_line;

/** Allocate a line of n >= 8 nodes for so many particles. @return AW_OK, AW_ERR_NOMEM. Free with
 *  aw_line_free. */
aw_status aw_line_new(int n, size_t particles, aw_line **out);
void aw_line_free(aw_line *line);

/** Spacings of a line of n nodes in the length of the bunch over `length`. */
double aw_line_resolution(int n, double length);

/** Bytes of a line. */
size_t aw_line_bytes(int n, size_t particles);

/** Project the particles on the design orbit and deposit them, with cubic B-splines, on nodes that
 *  reach three spacings beyond the first and the last particle. The density is sharpened by one
 *  three-point filter for the three splines through which a force passes (deposit, density between
 *  the nodes, gather), each of which adds h^2/3 to the variance: the force is smooth over some two
 *  cells and exact to fourth order in h. The same bits for any number of threads.
 *  @param S  arc length from which s is counted, near the bunch [m]
 *  @return AW_OK, AW_ERR_NONFINITE (message); the same on all ranks of a distributed beam */
aw_status aw_line_deposit(aw_line *line, const aw_particles *particles, const aw_orbit_view *orbit,
                          double S);

/** Deposit the same particles once more, each times a number of its own.
 *  @param[in]  value  [particles->n]; NULL: all are 1
 *  @param[out] out    [n] coefficients, as those of the density; all ranks must call this */
void aw_line_moment(aw_line *line, const aw_particles *particles, const double *value, double *out);

/** Length of the deposited bunch, from its first to its last particle [m]; at least that which arc
 *  lengths resolve. */
double aw_line_length(const aw_line *line);

/** The force of the deposited line on itself, at its nodes. */
void aw_line_solve(aw_line *line, aw_line_model model, const aw_orbit_view *orbit, double gamma);

/** Force on each particle, along the design tangent at its own arc length; none across.
 *  @param[out] Fz, Fx  [particles->n], lab axes [eV/m]
 *  @param[out] stats   over all particles */
void aw_line_gather(const aw_line *line, const aw_particles *particles, const aw_orbit_view *orbit,
                    double *Fz, double *Fx, aw_gather_stats *stats);

/** Density or force, an array of the line, at a distance s ahead of line->S; beyond the nodes that
 *  of the outermost ones. */
double aw_line_at(const aw_line *line, const double *field, double s);

AW_END_DECLS
#endif
