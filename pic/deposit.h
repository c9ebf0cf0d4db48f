/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deposition of charge and current on the moving grid. */
#ifndef AW_PIC_DEPOSIT_H
#define AW_PIC_DEPOSIT_H
#include "pic/frame.h"
#include "pic/particles.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/* Private grids of the workspace; fewer if the grid is very large. Half of them are used if each
 * would get fewer than four particles per node. */
enum { AW_DEPOSIT_GRIDS = 16 };

typedef struct aw_deposit aw_deposit; /* workspace: private grids, allocated once; opaque */

/** Workspace for grids of ns x nx nodes. @return AW_OK, AW_ERR_NOMEM. Free with aw_deposit_free. */
aw_status aw_deposit_new(int ns, int nx, aw_deposit **out);
void aw_deposit_free(aw_deposit *deposit);

/** Deposit all particles with the shape of kernels/math/spline.h. D = sigma (1 - beta_par) is
 *  summed over the particles' own 1 - beta_par, without cancellation. The sums are compensated for
 *  the smoothing by the shape and by the reading of the slice (pic/compensation.h).
 *  @param[in]  single  1: cells are float; 0: double
 *  @param[out] cells   aw_slice_bytes() bytes as kernels/math/view.h describes them, 32-byte
 *  aligned (aw_alloc); overwritten, padding zero
 *  @param[out] charge  deposited [C]
 *  @return AW_OK; AW_ERR_RANGE (a particle is off the grid) or AW_ERR_NONFINITE, with a message
 *  that names the first such particle; of offloaded particles also AW_ERR_NOMEM, AW_ERR_BACKEND */
aw_status aw_deposit_run(aw_deposit *deposit, const aw_particles *particles, const aw_frame *frame,
                         int single, void *cells, double *charge);

/** The nodes that the gather reads for the particles of the last call of aw_deposit_run, of all
 *  ranks. @return [nx][ns], not 0: it reads the node; owned by the workspace, valid until the next
 *  call */
const unsigned char *aw_deposit_felt(const aw_deposit *deposit);

AW_END_DECLS
#endif
