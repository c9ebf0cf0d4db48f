/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulation's present step as an openPMD file. */
#ifndef AW_SIMULATION_DIAG_H
#define AW_SIMULATION_DIAG_H
#include "src/simulation/simulation.h"

AW_BEGIN_DECLS

typedef struct aw_diag aw_diag; /* workspace, made once */

/** @param[in] input  the resolved input, borrowed. @return AW_OK, AW_ERR_NOMEM. */
aw_status aw_diag_new(const aw_simulation *simulation, const char *input, aw_diag **out);
void aw_diag_free(aw_diag *diag);

/** Write DIRECTORY/diag/arcwake_<step>.h5 with the meshes of a solved step, and with the particles
 *  if asked. @return AW_OK, AW_ERR_IO, AW_ERR_NOMEM, AW_ERR_NONFINITE. */
aw_status aw_diag_write(aw_diag *diag, aw_simulation *simulation, const char *directory,
                        int particles);

/** The same to a file of any name. */
aw_status aw_diag_write_file(aw_diag *diag, aw_simulation *simulation, const char *path,
                             int particles);

AW_END_DECLS
#endif
