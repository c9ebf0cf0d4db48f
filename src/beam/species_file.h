/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particles of an openPMD file with the BeamPhysics extension, as openPMD-beamphysics, Bmad and
 * this program write them; and of a BeamMonitor of ImpactX. */
#ifndef AW_BEAM_SPECIES_FILE_H
#define AW_BEAM_SPECIES_FILE_H
#include "src/beam/columns.h"

AW_BEGIN_DECLS

/** Read the only species of an iteration. Records: position and momentum, x, y, z each; time, with
 *  timeOffset; weight [C], or else weighting, or else equal parts of totalCharge; particleStatus,
 *  of which 1 is alive; id. Offsets are added, and a component may be constant. A file of ImpactX
 *  has position/t and momentum/t in place of z, relative to the reference particle of its
 *  attributes p[xyzt]_ref, and weighting. Source: ImpactX, docs, "Coordinates and units".
 *  @param[in] iteration  AW_ITERATION_LAST or a number
 *  @return AW_OK, AW_ERR_INPUT (columns->why), AW_ERR_NOMEM */
aw_status aw_species_file_read(const char *path, long iteration, aw_columns *columns);

AW_END_DECLS
#endif
