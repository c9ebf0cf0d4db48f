/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deposition of charge and current on the moving grid. */
#ifndef AW_PIC_DEPOSIT_H
#define AW_PIC_DEPOSIT_H
#include "pic/frame.h"
#include "pic/particles.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/* Private grids of the workspace; fewer when the grid is very large, and half of them are used when
 * there are less than four particles a node for each. */
enum { AW_DEPOSIT_GRIDS = 16 };

typedef struct aw_deposit aw_deposit; /* workspace: private grids, made once */

/** @return AW_OK, AW_ERR_NOMEM. Free with aw_deposit_free. */
aw_status aw_deposit_new(int ns, int nx, aw_deposit **out);
void aw_deposit_free(aw_deposit *deposit);

/** Bytes of the workspace. */
size_t aw_deposit_bytes(const aw_deposit *deposit);

/** Deposit all particles with the quadratic B-spline (TSC): cells of kernels/math/view.h,
 *  overwritten, padding zero. D = sigma (1 - beta_par) is formed particle by particle, without
 *  cancellation.
 *  @param[out] cells  aw_slice_bytes(), double or float; 32-byte aligned, as aw_alloc gives it
 *  @param[out] charge deposited [C]
 *  @return AW_OK; AW_ERR_RANGE (a particle off the grid, named); AW_ERR_NONFINITE (named); of lent
 *  particles also AW_ERR_NOMEM, AW_ERR_BACKEND */
aw_status aw_deposit_run(aw_deposit *deposit, const aw_particles *particles, const aw_frame *frame,
                         int single, void *cells, double *charge);

AW_END_DECLS
#endif
