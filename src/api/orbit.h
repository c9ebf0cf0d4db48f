/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections of arcwake.h as a lattice. */
#ifndef AW_API_ORBIT_H
#define AW_API_ORBIT_H
#include "pic/lattice.h"
#include "src/api/arcwake.h"

AW_BEGIN_DECLS

/** The lattice of n sections, S = 0 at its beginning. Free with aw_lattice_free.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_ARG (message) */
aw_status aw_orbit_lattice(const aw_section *orbit, size_t n, double gamma_ref,
                           aw_upstream upstream, aw_lattice **out);

AW_END_DECLS
#endif
