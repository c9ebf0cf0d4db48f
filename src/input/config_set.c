/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/input/config_set.h"

#include <string.h>

#define KEY_MAX 128

/* Descend from *map to its mapping `key`, which is created if absent. *map becomes NULL if the
 * value of `key` is not a mapping. */
static aw_status step_into(aw_yaml *file, aw_yaml_node **map, const char *key)
{
    aw_yaml_node *next = (aw_yaml_node *)aw_yaml_get(*map, key);
    if (!next || aw_yaml_is_null(next)) {
        next = aw_yaml_new_map(file);
        if (!next || aw_yaml_put(file, *map, key, next)) return AW_ERR_NOMEM;
    }
    *map = next->kind == AW_YAML_MAP ? next : NULL;
    return AW_OK;
}

static aw_status put_at(aw_yaml *file, char *path, aw_yaml_node *value, aw_input_errors *errors)
{
    aw_yaml_node *map = aw_yaml_root(file);
    char *key = path;
    if (map->kind != AW_YAML_MAP) return AW_OK; /* aw_fields_known reports it */
    for (char *dot = strchr(key, '.'); dot; dot = strchr(key, '.')) {
        *dot = '\0';
        aw_status status = step_into(file, &map, key);
        if (status) return status;
        *dot = '.';
        if (!map) {
            aw_input_add(errors, AW_INPUT_SET, 0, 0, "%s: '%.*s' is not a section", path,
                         (int)(dot - path), path);
            return AW_OK;
        }
        key = dot + 1;
    }
    return aw_yaml_put(file, map, key, aw_yaml_is_null(value) && value->length ? NULL : value);
}

static int bad_key(const char *text, size_t length)
{
    return length == 0 || length >= KEY_MAX || text[0] == '.' || text[length - 1] == '.' ||
           memchr(text, ' ', length) != NULL;
}

static aw_status set_one(aw_yaml *file, const char *text, aw_input_errors *errors, aw_yaml **doc)
{
    char path[KEY_MAX];
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;
    if (bad_key(text, length)) {
        aw_input_add(errors, AW_INPUT_SET, 0, 0,
                     "%.200s: is not key.path=value (expected e.g. beam.charge_C=1.0e-9)", text);
        return AW_OK;
    }
    memcpy(path, text, length);
    path[length] = '\0';
    aw_input_errors own = {0}; /* without the key, which the parser does not know */
    aw_status status = aw_yaml_parse(AW_INPUT_SET, equals + 1, strlen(equals + 1), &own, doc);
    for (size_t i = 0; i < own.n; ++i)
        aw_input_add(errors, AW_INPUT_SET, 0, 0, "%s: %s", path,
                     own.item[i].text + sizeof AW_INPUT_SET);
    int nomem = own.nomem;
    aw_input_errors_free(&own);
    if (status == AW_ERR_NOMEM || nomem) return AW_ERR_NOMEM;
    return status ? AW_OK : put_at(file, path, aw_yaml_root(*doc), errors);
}

aw_status aw_config_set(aw_yaml *file, const char *const *set, size_t n, aw_input_errors *errors,
                        aw_yaml **docs)
{
    for (size_t i = 0; i < n; ++i) {
        aw_status status = set_one(file, set[i], errors, &docs[i]);
        if (status) return status;
    }
    return AW_OK;
}
