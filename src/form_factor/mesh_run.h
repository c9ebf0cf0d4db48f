/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a mesh does not say of its bunch, from other files of the run. */
#ifndef AW_FORM_FACTOR_MESH_RUN_H
#define AW_FORM_FACTOR_MESH_RUN_H
#include <stddef.h>

#include "src/base/status.h"

AW_BEGIN_DECLS

/** The rms height of the bunch at a step [m]: sigma_y_m in monitor.csv of a run's directory.
 *  @return NaN: there is no such file or row, the cell is empty, or it is no such table
 *  (message) */
double aw_mesh_run_height(const char *directory, long step);

/** The number of macro-particles: beam.particles in resolved.yaml.
 *  @return 0: there is no such file or number */
size_t aw_mesh_run_particles(const char *directory);

AW_END_DECLS
#endif
