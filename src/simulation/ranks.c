/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulation on several ranks: the particles are distributed, the history is on every rank. */
#include "src/simulation/ranks.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/archive/hash.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/simulation/force_error.h"
#include "src/simulation/state.h"

void aw_simulation_command(const aw_simulation *sim, aw_rank_command command)
{
    int code = (int)command;
    if (sim->is_root) aw_comm_broadcast(&code, sizeof code);
}

/* The first rank with a number that differs from rank 0's, or -1. */
static int first_other(const double (*all)[2])
{
    for (int r = 1; r < aw_comm_size(); ++r)
        if (all[r][0] != all[0][0] || all[r][1] != all[0][1]) return r;
    return -1;
}

/* Print the errors of the first rank that has some; rank 0 has printed its own. */
static void show_errors(const double (*all)[2])
{
    int first = 0;
    while (first < aw_comm_size() - 1 && all[first][1] == 0.0) ++first;
    if (first == 0 || aw_comm_rank() != first) return;
    aw_log_show_muted();
    fprintf(stderr, "arcwake: error: the error above is of rank %d of %d\n", first, aw_comm_size());
}

aw_status aw_ranks_agree(const char *text, aw_status own)
{
    const size_t ranks = (size_t)aw_comm_size();
    if (ranks == 1) return own;
    double(*all)[2] = malloc(ranks * sizeof *all);
    /* Without these few bytes this rank can tell the others nothing. */
    if (!all) {
        aw_comm_abort(aw_error(AW_ERR_NOMEM, "out of memory at the start"));
        return AW_ERR_NOMEM;
    }
    const double state[2] = {(double)own, (double)aw_log_errors()};
    aw_comm_allgather(state, 2, all[0]);
    aw_status status = AW_OK;
    for (size_t r = 0; r < ranks; ++r)
        if (all[r][0] > (double)status) status = (aw_status)all[r][0];
    if (status != AW_OK) {
        show_errors((const double(*)[2])all);
        goto done;
    }
    const uint64_t hash = aw_hash(text, strlen(text), 0);
    const double halves[2] = {(double)(uint32_t)hash, (double)(hash >> 32)};
    aw_comm_allgather(halves, 2, all[0]);
    const int other = first_other((const double(*)[2])all);
    if (other > 0)
        status = aw_error(AW_ERR_INPUT,
                          "rank %d has another input than rank 0 (give all ranks the same files "
                          "and options)",
                          other);
done:
    free(all);
    return status;
}

aw_status aw_simulation_ranks_begin(aw_simulation *sim, aw_status own)
{
    const aw_status status = aw_ranks_agree("", own);
    if (status == AW_OK) sim->is_root = aw_comm_size() > 1 && aw_comm_rank() == 0;
    return status;
}

void aw_simulation_worker(aw_simulation *sim)
{
    const aw_particles *particles;
    aw_archive archive;
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
        case AW_COMMAND_SOLVE_FELT: aw_simulation_solve_felt(sim); break;
        case AW_COMMAND_FORCE_ERROR: aw_simulation_force_error(sim); break;
        case AW_COMMAND_SYNCHRONISE: aw_simulation_synchronise(sim); break;
        case AW_COMMAND_ADVANCE: aw_simulation_advance(sim); break;
        case AW_COMMAND_STATS: aw_simulation_stats(sim, &stats); break;
        case AW_COMMAND_GATHER: aw_simulation_particles(sim, &particles); break;
        case AW_COMMAND_SAVE:
            aw_archive_take_part(&archive);
            aw_simulation_archive(sim, &archive);
            break;
        }
    } while (code != AW_COMMAND_STOP);
}
