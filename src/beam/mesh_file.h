/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charge and the current of the bunch in a mesh file of a run. */
#ifndef AW_BEAM_MESH_FILE_H
#define AW_BEAM_MESH_FILE_H
#include "src/beam/columns.h"

AW_BEGIN_DECLS

/** Numbers of a node: the mesh `rho` [C/m^2], and `J` along the design tangent and normal at the
 *  node's own arc length [A/m]. */
enum { AW_MESH_RHO, AW_MESH_J, AW_MESH_VALUES = 3 };

/** The meshes of a file. Node (i, j) of nx by ns lies at ((j - (ns-1)/2) h[0],
 *  (i - (nx-1)/2) h[1]) along the axes of the grid, of which the first is turned by `tilt` from the
 *  design tangent towards its normal. */
typedef struct aw_mesh_file {
    long step;
    double S;         /* arc length of the reference [m] */
    double z, x;      /* lab position of the grid's centre [m] */
    double theta;     /* direction of its first axis in the lab [rad] */
    double tilt;      /* [rad] */
    double h[2];      /* spacing [m] */
    size_t ns, nx;    /* nodes */
    int values;       /* 1: only rho was read; AW_MESH_VALUES */
    double *value[3]; /* [nx][ns] each, s fastest, with the sign of an electron; the first is owned,
                       * in memory of aw_guard_alloc, and the others lie behind it */
    char why[AW_WHY_MAX]; /* after AW_ERR_INPUT: what is wrong with the file, and the remedy */
} aw_mesh_file;

/** Read a mesh file (docs/output.md), in a child process: it may be damaged. A process that has
 *  much memory is slow to have children: where the nodes are known it takes one, else two.
 *  @param[in,out] mesh  `values` is what to read: 1: only rho; AW_MESH_VALUES: the current too;
 *                       `ns` and `nx`, if they are known, else 0. Free with aw_mesh_file_free, also
 *                       after an error
 *  @return AW_OK, AW_ERR_INPUT (mesh->why, not printed), AW_ERR_NOMEM */
aw_status aw_mesh_file_read(const char *path, aw_mesh_file *mesh);
void aw_mesh_file_free(aw_mesh_file *mesh);

AW_END_DECLS
#endif
