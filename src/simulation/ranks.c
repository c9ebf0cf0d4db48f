/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several ranks at one simulation: each has some of the particles, and all of them the history. */
#include "src/simulation/ranks.h"

#include "src/base/comm.h"
#include "src/base/log.h"

void aw_simulation_command(const aw_simulation *sim, aw_rank_command order)
{
    int what = (int)order;
    if (sim->is_root) aw_comm_broadcast(&what, sizeof what);
}

aw_status aw_simulation_ranks_begin(aw_simulation *sim, aw_status mine)
{
    const aw_status status = aw_comm_agree(mine);
    if (status != AW_OK && mine == AW_OK && aw_comm_rank() == 0)
        aw_error(status, "another rank could not be set up: %s", aw_status_text(status));
    if (status == AW_OK) sim->is_root = aw_comm_size() > 1 && aw_comm_rank() == 0;
    return status;
}

void aw_simulation_worker(aw_simulation *sim)
{
    const aw_particles *none;
    aw_beam_stats known;
    int what;
    do { /* what fails here fails on rank 0 too, which ends the run */
        what = AW_COMMAND_STOP;
        aw_comm_broadcast(&what, sizeof what);
        switch ((aw_rank_command)what) {
        case AW_COMMAND_STOP: break;
        case AW_COMMAND_OFFLOAD: aw_simulation_offload(sim); break;
        case AW_COMMAND_DEPOSIT: aw_simulation_deposit(sim); break;
        case AW_COMMAND_SOLVE: aw_simulation_solve(sim); break;
        case AW_COMMAND_SYNCHRONISE: aw_simulation_synchronise(sim); break;
        case AW_COMMAND_ADVANCE: aw_simulation_advance(sim); break;
        case AW_COMMAND_STATS: aw_simulation_stats(sim, &known); break;
        case AW_COMMAND_GATHER: aw_simulation_particles(sim, &none); break;
        }
    } while (what != AW_COMMAND_STOP);
}
