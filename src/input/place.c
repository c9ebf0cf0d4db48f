/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/input/place.h"

#include <stdarg.h>
#include <stdio.h>

#include "src/base/memory.h"
#include "src/input/fields.h"

#define TEXT_LENGTH 1000

typedef struct aw_place {
    int line, column; /* 0, 0: on the command line */
} aw_place;

aw_status aw_places_new(const aw_yaml_node *root, aw_place **out)
{
    size_t n = 0;
    const aw_field *field = aw_fields(&n);
    *out = aw_alloc(n, sizeof **out);
    if (!*out) return AW_ERR_NOMEM;
    for (size_t i = 0; i < n; ++i) {
        const aw_yaml_node *node = aw_field_node(root, &field[i]);
        if (node)
            (*out)[i] = (aw_place){node->line, node->line ? node->column : 0};
        else
            aw_field_section(root, &field[i], &(*out)[i].line, &(*out)[i].column);
    }
    return AW_OK;
}

/* "file:line:column: key: text"; without a run file "key: text". */
static void place_text(const aw_config *config, const char *key, const char *format, va_list args,
                       char text[TEXT_LENGTH])
{
    size_t n = 0;
    int used = 0;
    const aw_field *first = aw_fields(&n), *field = aw_field_find(key);
    const aw_place *place = config->place && field ? &config->place[field - first] : NULL;
    if (place && place->line)
        used = snprintf(text, TEXT_LENGTH, "%.600s:%d:%d: %s: ", config->path, place->line,
                        place->column, key);
    else
        used = snprintf(text, TEXT_LENGTH, "%s%s: ", place ? AW_INPUT_SET " " : "", key);
    if (used > 0 && used < TEXT_LENGTH)
        vsnprintf(text + used, TEXT_LENGTH - (size_t)used, format, args);
}

aw_status aw_config_error(const aw_config *config, aw_status status, const char *key,
                          const char *format, ...)
{
    char text[TEXT_LENGTH];
    va_list args;
    va_start(args, format);
    place_text(config, key, format, args, text);
    va_end(args);
    return aw_error(status, "%s", text);
}

void aw_config_warn(const aw_config *config, const char *key, const char *format, ...)
{
    char text[TEXT_LENGTH];
    va_list args;
    va_start(args, format);
    place_text(config, key, format, args, text);
    va_end(args);
    aw_warn("%s", text);
}
