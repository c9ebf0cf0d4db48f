/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a run and the stages of a step: deposit, potentials, forces, push. */
#ifndef AW_SIMULATION_SIMULATION_H
#define AW_SIMULATION_SIMULATION_H
#include "pic/gather.h"
#include "pic/line/line.h"
#include "pic/stats.h"
#include "pic/wake/wake.h"
#include "src/field/self_field.h"
#include "src/input/config.h"
#include "src/output/monitor.h"
#include "src/plan/plan.h"
#include "src/plan/schedule.h"
#include "src/simulation/step_check.h"

AW_BEGIN_DECLS

/** The state of a run; it owns everything but the config. Read the members freely, but change them
 *  only through the functions below. */
typedef struct aw_simulation {
    const aw_config *config; /* borrowed */
    aw_plan plan;
    aw_schedule *schedule;
    aw_particles *particles;
    double reach; /* of the beam at the start from its centre, in rms sizes */
    aw_device device;
    aw_self_field field;
    double *bin;          /* [aw_current_bins] */
    double *Fz, *Fx;      /* [particles]: self-force along the lab axes [eV/m] */
    aw_line *line;        /* forces: line (line_forces.h); else NULL */
    aw_wake_bunch *wakes; /* where wakes act (wake_kicks.h); else NULL */
    long wakes_step;      /* step of the particles that it has deposited, */
    double wake_loss;     /* mean energy that they have taken so far [eV] */
    double energy_start;  /* mean total energy of the particles at the start [eV] */
    aw_gather *gather;
    aw_gather_stats
        force_stats;        /* self-force over the particles, along design tangent and normal */
    long step;              /* current step of the particles */
    int64_t tick;           /* the time of that step in ticks of the schedule, */
    int64_t ticks;          /* and the step before it; 0 at the start */
    aw_step_check check;    /* whether steps resolve the force; of a ladder */
    int most_halved;        /* largest number of halvings of a step so far */
    double extra;           /* steps taken beyond the planned ones, since they were halved */
    double *axis;           /* [2][nodes]: charges and forces, for the check */
    double S_ref;           /* arc length of the reference centre [m] */
    int fit_grid;           /* 1: fit the grid to the particles in rigid motion, too */
    int solved;             /* 1: potentials, forces, Fz, Fx, force_stats are of this step */
    int is_root;            /* 1: rank 0 of several; the workers await its commands (ranks.h) */
    aw_particles *gathered; /* of all ranks, from the last aw_simulation_particles; or NULL */
    int half_kick_pending;  /* 1: the half kick that ends the last step is pending */
    double kicked; /* c times the time for which the last forces have acted since the solve [m] */
    aw_force force_error;            /* estimated largest errors of this step's forces [eV/m], */
    int force_error_known;           /* if they were measured (force_error.h), */
    double F_s_largest, F_x_largest; /* and the largest magnitudes on the grid then [eV/m] */
    uint64_t force_places;           /* places taken from the sequence for that, in all steps */
    double seconds[AW_PARTS];        /* of this step */
} aw_simulation;

/** Draw the beam, place it on the design orbit, and allocate all workspaces. The beam is at step 0;
 *  nothing is deposited yet. Free with aw_simulation_free.
 *  @param[in] config       borrowed for the life of the simulation
 *  @param[in] variant      SIMD variant; NULL: the fastest
 *  @param[in] distributed  1: the particles are distributed over ranks (aw_particles_draw_part);
 *                          all ranks call this and then aw_simulation_ranks_begin.
 *                          0: this rank has the whole beam
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND, AW_ERR_ARG, AW_ERR_RANGE (messages). */
aw_status aw_simulation_new(const aw_config *config, const char *variant, int distributed,
                            aw_simulation **out);

/** Free a simulation; on the root, also end the workers. NULL is ignored. */
void aw_simulation_free(aw_simulation *simulation);

/** Make the particles resident on the simulation's device from now on, if the device can do that
 *  and they are numerous enough (aw_particles_offload in pic/particles.h); not in rigid motion, and
 *  not where wakes act, which kick particles of the host.
 *  From then on read the particles through aw_simulation_particles; Fz and Fx are not filled.
 *  @return AW_OK, AW_ERR_BACKEND */
aw_status aw_simulation_offload(aw_simulation *simulation);

/** Place the grid, deposit the particles, and add the slice to the history. Once per step.
 *  @return AW_OK, AW_ERR_NOMEM, or the error of aw_frame_fit or aw_deposit_run (messages) */
aw_status aw_simulation_deposit(aw_simulation *simulation);

/** Compute potentials and forces of this step, after aw_simulation_deposit. Completes a pending
 *  half kick in the same pass over the particles.
 *  @return AW_OK, or the error of aw_solver_solve or aw_gather_step (messages) */
aw_status aw_simulation_solve(aw_simulation *simulation);

/** From now on, if the motion is self-consistent and forces are those of the grid, measure the
 *  solver's error only at nodes whose forces particles feel. Before the first solve, on all ranks.
 *  aw_simulation_solve still computes all nodes, those that nothing feels in a pass of their own.
 *  @param[in] motion  of the run, which an estimate of its time does not have itself */
void aw_simulation_expect_felt(aw_simulation *simulation, aw_motion motion);

/** Like aw_simulation_solve, but after aw_simulation_expect_felt only for nodes that particles
 *  feel: what the grid has elsewhere has no meaning. The particles' forces are the same bits. */
aw_status aw_simulation_solve_felt(aw_simulation *simulation);

/** Like aw_simulation_solve, but with the potentials of the last solve in place of this step's, to
 *  time the particle operations alone. @return as aw_gather_step */
aw_status aw_simulation_reuse_potentials(aw_simulation *simulation);

/** Apply a pending half kick that no solve has completed, so that momenta and positions are of the
 *  same time. @return as aw_push_kick */
aw_status aw_simulation_synchronise(aw_simulation *simulation);

/** Advance the particles to the next step. In self-consistent motion: half a kick with this step's
 *  forces, then transport; the half kick that ends the step needs the next forces and is pending
 *  until aw_simulation_solve or aw_simulation_synchronise. The order within a step is deposit,
 *  solve, synchronise, output, advance. @return as aw_push_rigid or aw_push_kick_transport */
aw_status aw_simulation_advance(aw_simulation *simulation);

/** Whether this step is the last: the end of the lattice, or the number that --steps gave. */
int aw_simulation_is_last(const aw_simulation *simulation);

/** c times the time of this step, and times the step before it (at the start, the first step)
 *  [m]. */
double aw_simulation_ct(const aw_simulation *simulation);
double aw_simulation_cdt(const aw_simulation *simulation);

/** Mean energy that cavities have given the particles since the start [eV]; NaN: there are none, or
 *  the motion is rigid. It is what remains of the change of the mean energy, so that the parts of
 *  the budget add up to that change where cavities act; without them their sum is a check. */
double aw_simulation_cavity_gain(const aw_simulation *sim, const aw_beam_stats *now);

/** Statistics of the beam at the current step. @return as aw_beam_stats_of */
aw_status aw_simulation_stats(const aw_simulation *simulation, aw_beam_stats *out);

/** All particles, downloaded from the device and on the root gathered from all ranks.
 *  @param[out] out  borrowed until the next call
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND */
aw_status aw_simulation_particles(aw_simulation *simulation, const aw_particles **out);

/** Begin the work on several ranks, after aw_simulation_new on all of them: rank 0 becomes the
 *  root, the others become workers and call aw_simulation_worker. aw_simulation_free ends the
 *  workers.
 *  @param[in] own  status of this rank so far
 *  @return the worst status of all ranks, the same on each */
aw_status aw_simulation_ranks_begin(aw_simulation *simulation, aw_status own);

/** On the others, after aw_simulation_ranks_begin: do what rank 0 does, with particles of their
 *  own, until it lets go. */
void aw_simulation_worker(aw_simulation *simulation);

/** Fill a monitor row with the quantities known at this step; the others are NaN.
 *  @return as aw_beam_stats_of */
aw_status aw_simulation_monitor(const aw_simulation *simulation, aw_monitor_row *row);

/** Interpolate a grid quantity ([nodes], e.g. simulation->field.forces.Fs) at bunch coordinates:
 *  `s` along the design orbit ahead of the grid's centre, `x` along the normal [m]. */
double aw_simulation_at(const aw_simulation *simulation, const double *field, double s, double x);

AW_END_DECLS
#endif
