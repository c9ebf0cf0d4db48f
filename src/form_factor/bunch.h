/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bunch for form factors: the particles of a beam file, those that a run wrote last, or the nodes
 * of a mesh of its charge. */
#ifndef AW_FORM_FACTOR_BUNCH_H
#define AW_FORM_FACTOR_BUNCH_H
#include "src/form_factor/form_factor.h"

AW_BEGIN_DECLS

/** What the charges of nodes, in place of particles, say of the bunch from which they were
 *  deposited. */
typedef struct aw_bunch_grid {
    double h[2]; /* spacing along and across the grid [m]; 0: there is none, but particles */
    double cosine, sine; /* of the angle from s to the grid's long axis, towards x */
    double height;       /* rms of the bunch [m]; NaN: not known */
    size_t particles;    /* from which it was deposited; 0: not known */
    long step;           /* of the run */
} aw_bunch_grid;

/** Positions about the centre of charge: s along the mean momentum in the plane, x across it, y up
 *  [m]; charges, in any unit. All [n], owned; free with aw_bunch_free. */
typedef struct aw_bunch {
    size_t n;
    double *at[3], *charge;
    double rms[3];      /* rms sizes of the bunch [m]; that along y of a grid is 0 */
    aw_bunch_grid grid; /* of which these are the nodes with a charge */
} aw_bunch;

/** @param[in] path  a file of particles (docs/input.md), or the output directory of a run
 *  @return AW_OK, AW_ERR_INPUT (message), AW_ERR_NOMEM */
aw_status aw_bunch_read(const char *path, aw_bunch *bunch);

/** The mesh `rho` of a file of a run, or of the last one in the run's directory. s is along the
 *  design tangent at the centre of the grid. The height comes from the run's monitor.csv, the
 *  number of particles from its resolved.yaml.
 *  @return AW_OK, AW_ERR_INPUT (message: no such file or mesh, it is damaged, or there is no
 *          charge), AW_ERR_NOMEM */
aw_status aw_bunch_read_mesh(const char *path, aw_bunch *bunch);
void aw_bunch_free(aw_bunch *bunch);

/** The factor from a form factor of the nodes of a grid to that of the bunch: what deposition has
 *  done to the wave is undone, and the height adds exp(-(k_y height)^2/2).
 *  @param[in] k  along s, x, y [1/m]; with k[2] the height must be known
 *  @return 1 for particles; NaN: the wave is less than four cells long along an axis of the grid,
 *          which does not resolve it */
double aw_bunch_factor(const aw_bunch *bunch, const double k[3]);

AW_END_DECLS
#endif
