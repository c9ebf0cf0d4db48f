/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/simulation/state.h"

#include "src/simulation/ranks.h"

void aw_simulation_archive(aw_simulation *sim, aw_archive *archive)
{
    if (archive->way == AW_ARCHIVE_SAVE) aw_simulation_command(sim, AW_COMMAND_SAVE);
    if (archive->way != AW_ARCHIVE_LOAD) {
        const aw_status status =
            aw_particles_agree(sim->particles, aw_particles_download(sim->particles));
        if (archive->status == AW_OK) archive->status = status;
    }
    aw_particles_archive(sim->particles, archive);
    aw_gather_archive(sim->gather, sim->particles, archive);
    if (archive->way == AW_ARCHIVE_TAKE_PART) return; /* the rest is the same on all ranks */
    aw_self_field_archive(&sim->field, archive);
    AW_ARCHIVE_ITEM(archive, sim->step);
    AW_ARCHIVE_ITEM(archive, sim->tick);
    AW_ARCHIVE_ITEM(archive, sim->ticks);
    AW_ARCHIVE_ITEM(archive, sim->check);
    AW_ARCHIVE_ITEM(archive, sim->most_halved);
    AW_ARCHIVE_ITEM(archive, sim->extra);
    AW_ARCHIVE_ITEM(archive, sim->S_ref);
    AW_ARCHIVE_ITEM(archive, sim->half_kick_pending);
    AW_ARCHIVE_ITEM(archive, sim->kicked);
    AW_ARCHIVE_ITEM(archive, sim->force_places);
    AW_ARCHIVE_ITEM(archive, sim->wake_loss);
}
