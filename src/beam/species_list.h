/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which groups of an openPMD file are bunches. */
#ifndef AW_BEAM_SPECIES_LIST_H
#define AW_BEAM_SPECIES_LIST_H
#include "src/beam/hdf5_file.h"

AW_BEGIN_DECLS

enum { AW_SPECIES_PATH = 4 * AW_HDF5_NAME, AW_SPECIES_MAX = 64 };

/** Groups with the records of particles, each a bunch of electrons. */
typedef struct aw_species_list {
    size_t n;
    char path[AW_SPECIES_MAX][AW_SPECIES_PATH];
} aw_species_list;

/** Find the species of an iteration, or of all of them (AW_ITERATION_ALL: Bmad numbers the bunches
 *  of a beam so): those in particlesPath in alphabetical order, or that group itself. A species of
 *  another type than `electron` is refused by name, as is one whose constant records charge or mass
 *  are not those of an electron.
 *  @return AW_OK with at least one, AW_ERR_INPUT (columns->why), AW_ERR_NOMEM */
aw_status aw_species_list_read(aw_columns *columns, hid_t file, long iteration,
                               aw_species_list *list);

AW_END_DECLS
#endif
