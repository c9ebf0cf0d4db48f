/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rank 0 tells the others to do with it, before it does so itself. */
#ifndef AW_SIMULATION_RANKS_H
#define AW_SIMULATION_RANKS_H
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** Functions of the simulation in which the ranks exchange something. */
typedef enum aw_rank_command {
    AW_COMMAND_STOP,
    AW_COMMAND_OFFLOAD,
    AW_COMMAND_DEPOSIT,
    AW_COMMAND_SOLVE,
    AW_COMMAND_SYNCHRONISE,
    AW_COMMAND_ADVANCE,
    AW_COMMAND_STATS,
    AW_COMMAND_GATHER
} aw_rank_command;

/** Let the ranks that follow do this; where none do, nothing. */
void aw_simulation_command(const aw_simulation *simulation, aw_rank_command order);

AW_END_DECLS
#endif
