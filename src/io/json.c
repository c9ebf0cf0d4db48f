/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/io/json.h"

#include <math.h>

void aw_json_free(aw_json *json)
{
    aw_text_free(&json->text);
    *json = (aw_json){.depth = 0};
}

static void add_quoted(aw_text *text, const char *string)
{
    aw_text_add(text, "\"");
    for (const char *c = string; *c; ++c) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\')
            aw_text_add(text, "\\%c", byte);
        else if (byte < 0x20)
            aw_text_add(text, "\\u%04x", byte);
        else
            aw_text_add(text, "%c", byte);
    }
    aw_text_add(text, "\"");
}

/* What precedes a value: comma, white space, key. */
static void begin_item(aw_json *json, const char *key, int on_new_line)
{
    aw_text *text = &json->text;
    if (json->has_item) aw_text_add(text, ",");
    if (json->depth == 1 || (json->depth > 1 && on_new_line))
        aw_text_add(text, "\n%*s", json->depth, "");
    else if (json->has_item)
        aw_text_add(text, " ");
    json->has_item = 1;
    if (!key) return;
    add_quoted(text, key);
    aw_text_add(text, ": ");
}

static void begin(aw_json *json, const char *key, char bracket)
{
    begin_item(json, key, !key);
    aw_text_add(&json->text, "%c", bracket);
    json->depth++;
    json->has_item = 0;
}

static void end(aw_json *json, char bracket)
{
    json->depth--;
    json->has_item = 1;
    aw_text_add(&json->text, json->depth > 0 ? "%c" : "\n%c\n", bracket);
}

void aw_json_begin_object(aw_json *json, const char *key) { begin(json, key, '{'); }
void aw_json_end_object(aw_json *json) { end(json, '}'); }
void aw_json_begin_array(aw_json *json, const char *key) { begin(json, key, '['); }
void aw_json_end_array(aw_json *json) { end(json, ']'); }

void aw_json_string(aw_json *json, const char *key, const char *value)
{
    begin_item(json, key, 0);
    add_quoted(&json->text, value);
}

void aw_json_integer(aw_json *json, const char *key, long long value)
{
    begin_item(json, key, 0);
    aw_text_add(&json->text, "%lld", value);
}

void aw_json_boolean(aw_json *json, const char *key, int value)
{
    begin_item(json, key, 0);
    aw_text_add(&json->text, value ? "true" : "false");
}

void aw_json_number(aw_json *json, const char *key, double value, int digits)
{
    begin_item(json, key, 0);
    if (isfinite(value))
        aw_text_add(&json->text, "%.*g", digits, value);
    else
        aw_text_add(&json->text, "null");
}

aw_status aw_json_save(const aw_json *json, const char *path)
{
    return aw_text_save(&json->text, path);
}
