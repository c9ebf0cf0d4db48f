/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulation on several ranks: the particles are distributed, the history is on every rank. */
#include "src/simulation/ranks.h"

#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/simulation/force_error.h"

void aw_simulation_command(const aw_simulation *sim, aw_rank_command command)
{
    int code = (int)command;
    if (sim->is_root) aw_comm_broadcast(&code, sizeof code);
}

aw_status aw_simulation_ranks_begin(aw_simulation *sim, aw_status own)
{
    const aw_status status = aw_comm_agree(own);
    if (status != AW_OK && own == AW_OK && aw_comm_rank() == 0)
        aw_error(status, "another rank could not be set up: %s", aw_status_text(status));
    if (status == AW_OK) sim->is_root = aw_comm_size() > 1 && aw_comm_rank() == 0;
    return status;
}

void aw_simulation_worker(aw_simulation *sim)
{
    const aw_particles *particles;
    aw_beam_stats stats;
    int code;
    do { /* a function that fails here fails on the root too, which then ends the run */
        code = AW_COMMAND_STOP;
        aw_comm_broadcast(&code, sizeof code);
        switch ((aw_rank_command)code) {
        case AW_COMMAND_STOP: break;
        case AW_COMMAND_OFFLOAD: aw_simulation_offload(sim); break;
        case AW_COMMAND_DEPOSIT: aw_simulation_deposit(sim); break;
        case AW_COMMAND_SOLVE: aw_simulation_solve(sim); break;
        case AW_COMMAND_FORCE_ERROR: aw_simulation_force_error(sim); break;
        case AW_COMMAND_SYNCHRONISE: aw_simulation_synchronise(sim); break;
        case AW_COMMAND_ADVANCE: aw_simulation_advance(sim); break;
        case AW_COMMAND_STATS: aw_simulation_stats(sim, &stats); break;
        case AW_COMMAND_GATHER: aw_simulation_particles(sim, &particles); break;
        }
    } while (code != AW_COMMAND_STOP);
}
