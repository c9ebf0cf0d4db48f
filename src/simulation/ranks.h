/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The protocol of several ranks: before the root executes a function of the simulation that
 * communicates, it broadcasts a command, and the workers call the same function. */
#ifndef AW_SIMULATION_RANKS_H
#define AW_SIMULATION_RANKS_H
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** The functions of a simulation in which ranks communicate; AW_COMMAND_STOP ends the workers. */
typedef enum aw_rank_command {
    AW_COMMAND_STOP,
    AW_COMMAND_OFFLOAD,
    AW_COMMAND_DEPOSIT,
    AW_COMMAND_SOLVE,
    AW_COMMAND_SOLVE_FELT,
    AW_COMMAND_FORCE_ERROR,
    AW_COMMAND_SYNCHRONISE,
    AW_COMMAND_ADVANCE,
    AW_COMMAND_STATS,
    AW_COMMAND_GATHER,
    AW_COMMAND_SAVE
} aw_rank_command;

/** Agree with all other ranks before they share work: on the status so far, and on the text of what
 *  they are to compute. Every rank has to call this, also one that has failed, or the others would
 *  wait for it. Where ranks have errors, the first of them has its messages on the terminal.
 *  @param[in] text  borrowed; not read if `own` is an error
 *  @param[in] own   status of this rank so far
 *  @return the worst status of all ranks, the same on each; AW_ERR_INPUT: the texts differ
 *          (message) */
aw_status aw_ranks_agree(const char *text, aw_status own);

/** On the root, broadcast a command to the workers; on workers and on a single rank, do nothing. */
void aw_simulation_command(const aw_simulation *simulation, aw_rank_command command);

AW_END_DECLS
#endif
