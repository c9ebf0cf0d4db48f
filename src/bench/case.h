/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The case that the bench measures: the LCLS bend in steady state. */
#ifndef AW_BENCH_CASE_H
#define AW_BENCH_CASE_H
#include "src/bench/bench.h"
#include "src/input/lcls.h"
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** Number of points at which a solution is verified. */
enum { AW_BENCH_VERIFIED = 200 };

/** A simulation at step 0 with the options of the bench, and enough steps for its solves and one
 *  more. Free both with aw_config_free and aw_simulation_free, whatever is returned.
 *  @return as aw_lcls_config and aw_simulation_new */
aw_status aw_bench_case_new(const aw_bench *bench, const char *solver, long grid, long particles,
                            aw_config **config, aw_simulation **simulation);

/** Set the rms sizes of a beam (AW_BENCH_ROUND, ...), before its particles are drawn. */
void aw_bench_beam_size(int beam, aw_beam_params *params);

/** Give the particles that were drawn the shape of the beam. @return as aw_push_rigid */
aw_status aw_bench_beam_shape(int beam, aw_simulation *simulation);

/** After aw_simulation_deposit: solve with a record of the subregions used (aw_problem.record),
 *  without computing forces. @return as aw_solver_solve */
aw_status aw_bench_case_record(aw_simulation *simulation, aw_patterns *record, aw_report *report);

/** Fill in what a row was measured on: strategy, device, grid, particles, threads, tolerance. */
void aw_bench_case_label(const aw_simulation *simulation, long particles, const char *solver,
                         const char *device, aw_bench_row *row);

AW_END_DECLS
#endif
