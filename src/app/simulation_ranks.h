/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rank 0 tells the others to do with it, before it does so itself. */
#ifndef AW_APP_SIMULATION_RANKS_H
#define AW_APP_SIMULATION_RANKS_H
#include "src/app/simulation.h"

AW_BEGIN_DECLS

/** Functions of the simulation in which the ranks exchange something. */
typedef enum aw_order {
    AW_LET_GO,
    AW_LEND,
    AW_DEPOSIT,
    AW_SOLVE,
    AW_SYNCHRONISE,
    AW_ADVANCE,
    AW_STATS,
    AW_COLLECT
} aw_order;

/** Let the ranks that follow do this; where none do, nothing. */
void aw_simulation_tell(const aw_simulation *simulation, aw_order order);

AW_END_DECLS
#endif
