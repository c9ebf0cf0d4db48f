/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys beam.file, beam.iteration and beam.charge_C: a beam whose particles are in a file. */
#ifndef AW_INPUT_BEAM_SOURCE_H
#define AW_INPUT_BEAM_SOURCE_H
#include "src/input/config.h"
#include "src/yaml/yaml.h"

AW_BEGIN_DECLS

/* What stands for the file where the particles are given by the caller (aw_config_source). */
#define AW_BEAM_GIVEN "(particles given by a program)"

/** Read the file that `beam.file` names into config->beam_at, and its moments into config->beam.
 *  Keys of a drawn beam are refused. Problems are noted.
 *  @param[in] given  NULL; else particles to be copied in place of the file's
 *  @return AW_OK or AW_ERR_NOMEM. */
aw_status aw_beam_source_read(aw_input_errors *errors, const aw_yaml_node *root,
                              const aw_particles *given, aw_config *config);

/** Read beam.modulation and beam.profile of a drawn beam, and note parameters of other
 *  distributions. @return AW_OK or AW_ERR_NOMEM */
aw_status aw_beam_shape_read(aw_input_errors *errors, const aw_yaml_node *root, aw_config *config);

/** Whether a key is a parameter of another distribution than the beam's. */
int aw_beam_shape_unused(const char *key, const aw_beam_params *beam);

/** Note keys that have no meaning without `beam.file`. @return AW_OK */
aw_status aw_beam_source_absent(aw_input_errors *errors, const aw_yaml_node *root);

AW_END_DECLS
#endif
