/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/simulation/wake_kicks.h"

#include <math.h>

#include "src/base/log.h"
#include "src/input/wakes.h"

/* Whether the table reaches from the head of the bunch to its tail. The error is that of all
 * ranks. */
static aw_status check_reach(const aw_simulation *sim, size_t i)
{
    const double reach = aw_wake_reach(&sim->config->wake[i]);
    const double length = aw_line_length(sim->wakes->line);
    if (length <= reach) return AW_OK;
    return aw_error(AW_ERR_RANGE,
                    "%s: the table reaches %.4g m behind the source, and the bunch is %.4g m long "
                    "at S = %.6g m (extend %s, with zeros where the wake has decayed)",
                    sim->config->wake_item[i].place, reach, length, sim->S_ref,
                    sim->config->wake_item[i].file);
}

/* The bunch as it is now: at the end of a step, and at the start of the next one. */
static aw_status deposit(aw_simulation *sim)
{
    const aw_orbit_view *orbit = &sim->config->lattice->orbit;
    if (sim->wakes_step == sim->step) {
        aw_wake_reset(sim->wakes);
        return AW_OK;
    }
    const aw_status status = aw_wake_deposit(sim->wakes, sim->particles, orbit, sim->S_ref);
    if (status == AW_OK) sim->wakes_step = sim->step;
    return status;
}

aw_status aw_wake_kicks(aw_simulation *sim, double from, double to)
{
    const aw_config *config = sim->config;
    int acts = 0;
    aw_status status = AW_OK;
    for (size_t i = 0; i < config->wakes; ++i) {
        const double amount = aw_wake_amount(&config->wake[i], from, to);
        if (amount == 0.0) continue;
        if (!acts++) AW_TRY(deposit(sim));
        AW_TRY(check_reach(sim, i));
        aw_wake_add(sim->wakes, &config->wake[i], amount);
    }
    if (!acts) return AW_OK;
    status = aw_wake_kick(sim->wakes, sim->particles, &config->lattice->orbit, sim->schedule->beta,
                          &sim->wake_loss);
done:
    return status;
}
