/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charge density in a mesh file of a run. */
#ifndef AW_FORM_FACTOR_MESH_FILE_H
#define AW_FORM_FACTOR_MESH_FILE_H
#include "src/beam/columns.h"

AW_BEGIN_DECLS

/** The mesh `rho` of a file. Node (i, j) of nx by ns lies at ((j - (ns-1)/2) h[0],
 *  (i - (nx-1)/2) h[1]) along the axes of the grid, of which the first is turned by `tilt` from the
 *  design tangent towards its normal. */
typedef struct aw_mesh_rho {
    long step;
    size_t ns, nx;
    double h[2];          /* spacing [m] */
    double tilt;          /* [rad] */
    double *rho;          /* [nx][ns], s fastest [C/m^2]; owned, in memory of aw_guard_alloc */
    char why[AW_WHY_MAX]; /* after AW_ERR_INPUT: what is wrong with the file, and the remedy */
} aw_mesh_rho;

/** Read a mesh file (docs/output.md), in a child process: it may be damaged.
 *  @param[out] mesh  free with aw_mesh_rho_free, also after an error
 *  @return AW_OK, AW_ERR_INPUT (mesh->why, not printed), AW_ERR_NOMEM */
aw_status aw_mesh_rho_read(const char *path, aw_mesh_rho *mesh);
void aw_mesh_rho_free(aw_mesh_rho *mesh);

AW_END_DECLS
#endif
