/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several ranks at one simulation: each has some of the particles, and all of them the history. */
#include "src/app/simulation_ranks.h"

#include "src/base/comm.h"
#include "src/base/log.h"

void aw_simulation_tell(const aw_simulation *sim, aw_order order)
{
    int what = (int)order;
    if (sim->leads) aw_comm_share(&what, sizeof what);
}

aw_status aw_simulation_lead(aw_simulation *sim, aw_status mine)
{
    const aw_status status = aw_comm_agree(mine);
    if (status != AW_OK && mine == AW_OK && aw_comm_rank() == 0)
        aw_error(status, "another rank could not be set up: %s", aw_status_text(status));
    if (status == AW_OK) sim->leads = aw_comm_size() > 1 && aw_comm_rank() == 0;
    return status;
}

void aw_simulation_follow(aw_simulation *sim)
{
    const aw_particles *none;
    aw_beam_stats known;
    int what;
    do { /* what fails here fails on rank 0 too, which ends the run */
        what = AW_LET_GO;
        aw_comm_share(&what, sizeof what);
        switch ((aw_order)what) {
        case AW_LET_GO: break;
        case AW_LEND: aw_simulation_lend(sim); break;
        case AW_DEPOSIT: aw_simulation_deposit(sim); break;
        case AW_SOLVE: aw_simulation_solve(sim); break;
        case AW_SYNCHRONISE: aw_simulation_synchronise(sim); break;
        case AW_ADVANCE: aw_simulation_advance(sim); break;
        case AW_STATS: aw_simulation_stats(sim, &known); break;
        case AW_COLLECT: aw_simulation_collect(sim, &none); break;
        }
    } while (what != AW_LET_GO);
}
