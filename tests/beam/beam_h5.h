/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small openPMD files of particles, for the tests of their readers. */
#ifndef AW_TESTS_BEAM_BEAM_H5_H
#define AW_TESTS_BEAM_BEAM_H5_H
#include <hdf5.h>

/** Begin a file as openPMD-beamphysics writes it. */
hid_t beam_h5_create(const char *path, const char *particles_path);

/** Add a bunch of n particles of a species, with weights and ids; `seed` tells bunches apart. */
void beam_h5_species(hid_t file, const char *group, const char *species, int n, int seed);

#endif
