/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of --set, "key.path=value", replace those of the run file. */
#ifndef AW_INPUT_CONFIG_SET_H
#define AW_INPUT_CONFIG_SET_H
#include <stddef.h>

#include "src/yaml/yaml.h"

AW_BEGIN_DECLS

/** Put the value of each text into the tree of `file`; a value is YAML (numbers, [lists], "text"),
 *  and null removes the key. Invalid texts are noted in `errors`.
 *  @param[in]  set   n texts, borrowed
 *  @param[out] docs  n documents that own the new values; free each after the tree has been read
 *  @return AW_OK or AW_ERR_NOMEM. */
aw_status aw_config_set(aw_yaml *file, const char *const *set, size_t n, aw_input_errors *errors,
                        aw_yaml **docs);

AW_END_DECLS
#endif
