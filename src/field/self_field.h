/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The self-field of a bunch on its moving grid: the slices that it has left behind, and from them
 * potentials and forces at its nodes. */
#ifndef AW_FIELD_SELF_FIELD_H
#define AW_FIELD_SELF_FIELD_H
#include "pic/deposit.h"
#include "pic/forces.h"
#include "pic/frame.h"
#include "pic/history.h"
#include "src/solvers/solver.h"

AW_BEGIN_DECLS

/** What the field of a bunch depends on; everything is borrowed for the life of the field. */
typedef struct aw_self_field_params {
    const aw_orbit_view *orbit; /* design orbit */
    aw_device *device;
    const char *solver; /* name of a strategy */
    aw_forecast forecast;
    aw_history_params history; /* with the nodes of the grid, and the mean energy */
    double tolerance;
    int vectors; /* 1: the forces have the vector potential, too (aw_forces.vector) */
    int felt;    /* 1: potentials and forces are wanted only where particles feel them; may be
                  * changed between solves */
} aw_self_field_params;

/** The field of a bunch, and its workspaces. Read the members freely, but change them only through
 *  the functions below; where to put the grid (`frame`) and how high the bunch is (`height2`) are
 *  the caller's to say. */
typedef struct aw_self_field {
    aw_self_field_params params;
    aw_frame frame;
    aw_deposit *deposit;
    aw_history *history;
    const aw_history_view *view; /* after aw_self_field_deposit */
    double charge;               /* deposited then [C] */
    double height2;              /* square of the bunch's rms height at the next deposit [m^2]; 0,
                                  * as at first: a thin sheet */
    aw_solver *solver;
    aw_scales scales;      /* of the last solve */
    size_t nodes;          /* ns * nx */
    aw_field_point *point; /* [nodes] */
    double *result;        /* [nodes][AW_RESULTS] */
    double *error;         /* [nodes] */
    aw_forces forces;      /* [nodes] each */
    aw_report report;      /* of the last solve */
} aw_self_field;

/** A field without slices. Free with aw_self_field_free, also after an error.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_ARG (no such solver: message); the same on all ranks but for
 *  a lack of memory */
aw_status aw_self_field_init(aw_self_field *field, const aw_self_field_params *params);
void aw_self_field_free(aw_self_field *field);

/** Deposit the particles on the grid of field->frame, at the time ct/c [m], and add the slice to
 *  the history. @return AW_OK, AW_ERR_NOMEM, or the error of aw_deposit_run (messages) */
aw_status aw_self_field_deposit(aw_self_field *field, const aw_particles *particles, double ct);

/** The solver's problem for n points within the grid, with the scales of the last solve; after
 *  aw_self_field_deposit. @param[in] point  [n], borrowed */
aw_problem aw_self_field_problem(const aw_self_field *field, const aw_field_point *point, size_t n,
                                 double tolerance);

/** The problem for all nodes of the grid, after computing the scales of that grid, which are stored
 *  in field->scales. @return as aw_solver_scales */
aw_status aw_self_field_grid_problem(aw_self_field *field, aw_problem *out);

/** The nodes whose forces the gather reads, where potentials are wanted only there.
 *  @return [nodes], 0: nothing reads it; owned by the field; NULL: they are wanted everywhere */
const unsigned char *aw_self_field_felt(const aw_self_field *field);

/** Compute the potentials at all nodes, or where they are wanted, together with all other ranks.
 *  Forces that are felt are the same bits either way.
 *  @param[in] complete  1: at all nodes, wherever they are wanted
 *  @return as aw_solver_scales and aw_solver_solve */
aw_status aw_self_field_solve(aw_self_field *field, int complete);

/** After a solve that was not complete, compute the potentials and the forces at the other nodes,
 *  by a solver that has learned nothing; nothing is learned from them. Forces that are felt stay
 *  the same bits.
 *  @return as aw_self_field_solve; AW_ERR_NOMEM */
aw_status aw_self_field_fill(aw_self_field *field);

/** Compute the forces at all nodes from the potentials; only those that are felt are right if the
 *  potentials are not complete. */
void aw_self_field_forces(aw_self_field *field);

/** Let the solver forget what it has learned from earlier steps, as before the first solve.
 *  @return AW_OK, AW_ERR_ARG, AW_ERR_NOMEM (messages) */
aw_status aw_self_field_forget(aw_self_field *field);

/** Save or load the slices, the place of the grid and what the solver has learned. */
void aw_self_field_archive(aw_self_field *field, aw_archive *archive);

AW_END_DECLS
#endif
