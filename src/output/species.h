/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of an openPMD file that openpmd.c is made of. */
#ifndef AW_OUTPUT_SPECIES_H
#define AW_OUTPUT_SPECIES_H
#include "src/io/h5.h"
#include "src/output/openpmd.h"

AW_BEGIN_DECLS

/** Attribute unitDimension: powers of L, M, T, I. */
void aw_attr_dimension(aw_h5 *h5, hid_t object, double length, double mass, double time,
                       double current);

/** frameOrigin, frameRotation, designRotation, s_ref, t_ref, gamma_ref, kappa_ref.
 *  @param[in] axes    of the positions in `object`
 *  @param[in] design  direction of the design tangent at their origin [rad] */
void aw_attr_frame(aw_h5 *h5, hid_t object, const aw_snapshot *snapshot, const aw_axes *axes,
                   double design);

/** The group `electron` under `parent` (particlesPath): ED-PIC and beamphysics records.
 *  Errors are kept in h5->status. */
void aw_species_write(aw_h5 *h5, hid_t parent, const aw_snapshot *snapshot);

AW_END_DECLS
#endif
