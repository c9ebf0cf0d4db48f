/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of a session, from the caller's arrays and to them. */
#ifndef AW_SESSION_BEAM_H
#define AW_SESSION_BEAM_H
#include "src/session/session.h"
#include "src/simulation/simulation.h"

/** Particles for the start of a run. @return AW_OK, AW_ERR_NOMEM, AW_ERR_INPUT (message). Free with
 *  aw_particles_free. */
aw_status aw_session_beam_read(const aw_session_beam *beam, aw_particles **out);

/** Copy the particles of this step. @return AW_OK, AW_ERR_BACKEND (message) */
aw_status aw_session_beam_copy(aw_simulation *sim, const aw_session_beam *out);

/** Take the momenta, and no other change. @return AW_OK, AW_ERR_ARG, AW_ERR_NONFINITE, AW_ERR_NOMEM
 *  (messages; no particle has changed) */
aw_status aw_session_beam_kick(aw_simulation *sim, const aw_session_beam *beam);

#endif
