/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The particle group of an openPMD file, and attributes that it shares with the meshes. */
#ifndef AW_OUTPUT_SPECIES_H
#define AW_OUTPUT_SPECIES_H
#include "src/io/h5.h"
#include "src/output/openpmd.h"

AW_BEGIN_DECLS

/** Attribute unitDimension: powers of L, M, T, I. */
void aw_attr_dimension(aw_h5 *h5, hid_t object, double length, double mass, double time,
                       double current);

/** Attributes frameOrigin, frameRotation, designRotation, s_ref, t_ref, gamma_ref, kappa_ref. */
void aw_attr_frame(aw_h5 *h5, hid_t object, const aw_snapshot *snapshot);

/** Write the group `electron` into `parent` (particlesPath), with the records of ED-PIC and
 *  openPMD-beamphysics. Errors go to h5->status. */
void aw_species_write(aw_h5 *h5, hid_t parent, const aw_snapshot *snapshot);

AW_END_DECLS
#endif
