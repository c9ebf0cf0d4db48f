/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where each key of the run file was given, for messages about a resolved input. */
#ifndef AW_INPUT_PLACE_H
#define AW_INPUT_PLACE_H
#include "src/input/config.h"
#include "src/yaml/yaml.h"

AW_BEGIN_DECLS

/** Find where each key of aw_fields is given; for a key that is not given, where its section
 *  begins, or the file.
 *  @param[out] out  for config->place; free with aw_free
 *  @return AW_OK or AW_ERR_NOMEM. */
aw_status aw_places_new(const aw_yaml_node *root, struct aw_place **out);

/** Print an error `file:line:column: key: text` about a value of a resolved input, or `--set key:
 *  text` if it is from the command line.
 *  @param[in] key  full name of a key, e.g. "beam.charge_C"
 *  @return status, for `return aw_config_error(...)` */
aw_status aw_config_error(const aw_config *config, aw_status status, const char *key,
                          const char *format, ...) AW_PRINTF(4, 5);

/** Print a warning in the same form. */
void aw_config_warn(const aw_config *config, const char *key, const char *format, ...)
    AW_PRINTF(3, 4);

AW_END_DECLS
#endif
