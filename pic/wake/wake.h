/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wakes of the machine: where each acts, and how they kick the particles of a bunch. */
#ifndef AW_PIC_WAKE_WAKE_H
#define AW_PIC_WAKE_WAKE_H
#include "pic/line/line.h"
#include "pic/wake/function.h"

AW_BEGIN_DECLS

/** Terms of a wake: Taylor coefficients h_ab of the longitudinal wake in the offsets of the source
 *  (1) and of the one behind it (3) from the design orbit [V/C/m^order]; 00 alone is a longitudinal
 *  one. With a source at x1, one at x3 loses
 *      W = h00 + x1 h01 + x1^2 h11 + x3 h03 + 2 x1 x3 h13 + x3^2 h33. */
typedef enum aw_wake_term {
    AW_WAKE_00,
    AW_WAKE_01,
    AW_WAKE_11,
    AW_WAKE_03,
    AW_WAKE_13,
    AW_WAKE_33,
    AW_WAKE_TERMS
} aw_wake_term;

/** Arc lengths over which a wake acts; equal ones: it acts where the centre of the bunch passes. */
typedef struct aw_wake_range {
    double from, to; /* [m] */
    double per;      /* how much of the table acts per length [1/m]; at a place: how much [1] */
} aw_wake_range;

/** One wake; everything is owned. */
typedef struct aw_wake {
    aw_wake_function term[AW_WAKE_TERMS];
    aw_wake_range *range;
    size_t ranges;
} aw_wake;

/** How much of a wake acts while the centre of the bunch moves from one arc length to another,
 *  beyond `from` and up to `to` [tables]. */
double aw_wake_amount(const aw_wake *wake, double from, double to);

/** Distance behind a source up to which all terms of a wake are known [m]. */
double aw_wake_reach(const aw_wake *wake);

/** Free what a wake owns. */
void aw_wake_clear(aw_wake *wake);

/** Spline coefficients at the nodes of a line: forces, times the length over which they act, which
 *  are along the motion and across it polynomials in the offset x. */
typedef struct aw_wake_forces {
    double *along[3];  /* [n] of 1, x and x^2 [eV, eV/m, eV/m^2]; owned */
    double *across[2]; /* [n] of 1 and x [eV, eV/m]; owned */
    int offsets;       /* 0: only along[0] is not zero */
} aw_wake_forces;

/** A bunch as a line with moments of its offsets, the kicks of all wakes, and workspaces. Read the
 *  members freely, but change them only through the functions below. */
typedef struct aw_wake_bunch {
    aw_line *line;
    double *x;         /* [particles] offsets from the design orbit [m]; owned */
    double *square;    /* [particles] their squares */
    double *moment[2]; /* [n] densities times x and x^2 */
    aw_wake_forces forces;
} aw_wake_bunch;

/** Nodes of the line of a bunch of so many particles, on all ranks: as many as there are some
 *  twenty particles for, from 64 to 1024. */
int aw_wake_nodes(size_t particles);

/** Bytes of a bunch. */
size_t aw_wake_bunch_bytes(int n, size_t particles);

/** Allocate it. @return AW_OK, AW_ERR_NOMEM. Free with aw_wake_bunch_free. */
aw_status aw_wake_bunch_new(int n, size_t particles, aw_wake_bunch **out);
void aw_wake_bunch_free(aw_wake_bunch *bunch);

/** Deposit the particles as they are now; no force acts on them yet.
 *  @param S  arc length of the centre [m]
 *  @return AW_OK, AW_ERR_NONFINITE (message); the same on all ranks */
aw_status aw_wake_deposit(aw_wake_bunch *bunch, const aw_particles *particles,
                          const aw_orbit_view *orbit, double S);

/** Take all forces away. */
void aw_wake_reset(aw_wake_bunch *bunch);

/** Add those of a wake, `amount` times. Along the motion, with the moments M_k of the density,
 *      F = -Q (h00*M0 + h01*M1 + h11*M2 + x (h03*M0 + 2 h13*M1) + x^2 h33*M0),
 *  and across it the integral of dF/dx over the distance from the head of the bunch, with the other
 *  sign (Panofsky and Wenzel): a wake attracts to the side on which energy is lost. Source: as that
 *  of aw_wake_function, eq. (B2); differs: the bunch is flat, y = 0. */
void aw_wake_add(aw_wake_bunch *bunch, const aw_wake *wake, double amount);

/** Kick the particles by these forces, along the design tangent and normal at their own arc
 *  lengths. gamma0 takes the change of energy, so that it is not that of the self-field.
 *  @param beta  of the bunch
 *  @param[in,out] loss  mean energy that the kicks have taken is added [eV]
 *  @return AW_OK, AW_ERR_NONFINITE (message); the same on all ranks */
aw_status aw_wake_kick(const aw_wake_bunch *bunch, aw_particles *particles,
                       const aw_orbit_view *orbit, double beta, double *loss);

AW_END_DECLS
#endif
