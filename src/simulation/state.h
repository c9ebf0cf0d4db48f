/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a run between two steps, in an archive: from there a run goes on with the same bits,
 * on any number of threads and ranks. */
#ifndef AW_SIMULATION_STATE_H
#define AW_SIMULATION_STATE_H
#include "src/archive/archive.h"
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** Save the state, right after aw_simulation_advance; or load it into a new simulation of the same
 *  input, before aw_simulation_ranks_begin and aw_simulation_offload. On several ranks the root
 *  saves, and each rank loads with an archive of its own. Errors are in archive->status
 *  (AW_ERR_INPUT: it is of another input). Of particles that were offloaded the vector potentials
 *  are not saved (aw_gather_archive): such a run goes on within the error of a step, not with the
 *  same bits. */
void aw_simulation_archive(aw_simulation *simulation, aw_archive *archive);

AW_END_DECLS
#endif
