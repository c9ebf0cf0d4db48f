/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The current step of a simulation as an openPMD file. */
#ifndef AW_SIMULATION_DIAG_H
#define AW_SIMULATION_DIAG_H
#include "src/output/openpmd.h"
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

/** Workspace of the output, allocated once; opaque. */
typedef struct aw_diag aw_diag;

/** The mesh record of that name: rho [C/m^2], J [A/m], phi [V], A [V s/m], psi [V], F and F_eff
 *  [eV/m]. @return static storage; NULL: unknown name. */
const aw_mesh_record *aw_diag_record(const char *name);

/** Free with aw_diag_free. @param[in] input  the resolved input, borrowed
 *  @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_diag_new(const aw_simulation *simulation, const char *input, aw_diag **out);
void aw_diag_free(aw_diag *diag);

/** Write DIRECTORY/diag/arcwake_<step>.h5 with the meshes of a solved step.
 *  @param[in] particles  1: with the particles of all ranks
 *  @return AW_OK, AW_ERR_ARG (path too long), AW_ERR_IO, AW_ERR_NOMEM, AW_ERR_NONFINITE. */
aw_status aw_diag_write(aw_diag *diag, aw_simulation *simulation, const char *directory,
                        int particles);

AW_END_DECLS
#endif
