/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time loop's state and its four stages: deposit, potentials, forces, push. */
#ifndef AW_SIMULATION_SIMULATION_H
#define AW_SIMULATION_SIMULATION_H
#include "pic/deposit.h"
#include "pic/forces.h"
#include "pic/frame.h"
#include "pic/gather.h"
#include "pic/history.h"
#include "pic/stats.h"
#include "src/input/config.h"
#include "src/output/monitor.h"
#include "src/simulation/plan.h"
#include "src/solvers/solver.h"

AW_BEGIN_DECLS

/** A simulation; own everything but the config. Read freely; change through the functions. */
typedef struct aw_simulation {
    const aw_config *config; /* borrowed */
    aw_plan plan;
    aw_particles *particles;
    aw_frame frame;
    aw_deposit *deposit;
    aw_history *history;
    const aw_history_view *view; /* after aw_simulation_deposit */
    aw_device device;
    aw_solver *solver;
    aw_scales scales;      /* of the last solve */
    size_t nodes;          /* ns * nx */
    aw_field_point *point; /* [nodes] */
    double *result;        /* [nodes][AW_RESULTS] */
    double *error;         /* [nodes] */
    aw_forces forces;      /* [nodes] each */
    double *Fz, *Fx;       /* [particles]: self-force along the lab axes [eV/m] */
    aw_gather *gather;
    aw_gather_stats
        force_stats;          /* of the same over the particles, along design tangent and normal */
    long step;                /* of the particles as they stand */
    double S_ref;             /* arc length of the reference centre [m] */
    double charge;            /* deposited at this step [C] */
    int fit_grid;             /* 1: the grid follows the particles in rigid motion, too */
    int solved;               /* 1: potentials, forces, Fz, Fx and force_stats are of this step */
    int is_root;              /* 1: other ranks follow (aw_simulation_worker) */
    aw_particles *gathered;   /* of all ranks, as last asked for; or NULL */
    int half_kick_pending;    /* 1: half a kick is still to come (aw_simulation_synchronise) */
    aw_report report;         /* of the last solve */
    double seconds[AW_PARTS]; /* of this step */
} aw_simulation;

/** Draw the beam, place it, and make every workspace. The beam stands at step 0, nothing deposited.
 *  @param[in] variant  SIMD variant; NULL: the fastest
 *  @param[in] shared   1: ranks share the beam (aw_particles_draw_part, so that all have to call
 *                      this, and then aw_simulation_ranks_begin); 0: it is this rank's
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_BACKEND, AW_ERR_ARG, AW_ERR_RANGE (messages). */
aw_status aw_simulation_new(const aw_config *config, const char *variant, int shared,
                            aw_simulation **out);
void aw_simulation_free(aw_simulation *simulation);

/** Let the simulation's device keep the particles from now on, where it can and they are many
 *  (pic/particles.h, aw_particles_offload); not in rigid motion. Those who read the particles call
 *  aw_simulation_particles then; Fz and Fx are not filled.
 *  @return AW_OK, AW_ERR_BACKEND */
aw_status aw_simulation_offload(aw_simulation *simulation);

/** Place the grid, deposit, and add the slice to the history. Once per step. */
aw_status aw_simulation_deposit(aw_simulation *simulation);

/** The solver's problem for n points within this step's grid, with the scales of the last solve;
 *  after aw_simulation_deposit. `point` is borrowed. */
aw_problem aw_simulation_problem(const aw_simulation *simulation, const aw_field_point *point,
                                 size_t n, double tolerance);

/** The same for the nodes of this step's grid, with its scales, which are found; they become
 *  those of the simulation. @return as aw_solver_scales */
aw_status aw_simulation_grid_problem(aw_simulation *simulation, aw_problem *out);

/** Potentials and forces at this step; after aw_simulation_deposit. Completes the kick that was
 *  begun with the last step (aw_simulation_advance) while the particles are at hand. */
aw_status aw_simulation_solve(aw_simulation *simulation);

/** As aw_simulation_solve, but with the potentials of the last solve, as if they were those of this
 *  step's grid: to time the particle side alone. */
aw_status aw_simulation_hold(aw_simulation *simulation);

/** To the next step: in self-consistent motion kick by half a step with this step's forces and
 *  transport, which begins the next kick. `aw_simulation_synchronise` completes a begun kick, if
 *  the solve has not done so, so that momenta and positions are of one time; deposit, solve,
 *  synchronise, output, advance is a step. */
aw_status aw_simulation_synchronise(aw_simulation *simulation);
aw_status aw_simulation_advance(aw_simulation *simulation);

/** Of the beam as it stands. @return as aw_beam_stats_of */
aw_status aw_simulation_stats(const aw_simulation *simulation, aw_beam_stats *out);

/** All particles: the simulation's own, or those of all ranks, which are borrowed until the next
 *  call. @return AW_OK, AW_ERR_NOMEM */
aw_status aw_simulation_particles(aw_simulation *simulation, const aw_particles **out);

/** Let the ranks share the work: rank 0 leads from now on, and the others follow
 *  (aw_simulation_worker); aw_simulation_free lets them go.
 *  @param[in] status  of this rank so far
 *  @return the worst that a rank gives; the same on all */
aw_status aw_simulation_ranks_begin(aw_simulation *simulation, aw_status status);

/** On the others, after aw_simulation_ranks_begin: do what rank 0 does, with particles of their
 *  own, until it lets go. */
void aw_simulation_worker(aw_simulation *simulation);

/** Fill a monitor row with what is known at this step. @return as aw_beam_stats_of */
aw_status aw_simulation_monitor(const aw_simulation *simulation, aw_monitor_row *row);

/** A grid quantity ([nodes], e.g. simulation->forces.Fs) at bunch coordinates: `s` along the design
 *  orbit ahead of the grid's centre, `x` along the normal [m]. */
double aw_simulation_at(const aw_simulation *simulation, const double *field, double s, double x);

AW_END_DECLS
#endif
