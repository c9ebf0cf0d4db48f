/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The YAML tree: memory, look-up, paths for messages, and the values of scalars. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/yaml/yaml_tree.h"

#define CHUNK_BYTES 16384
#define PATH_BYTES 300
#define WORD_MAX 48

void *aw_yaml_alloc(aw_yaml *doc, size_t bytes)
{
    bytes = (bytes + 15) / 16 * 16;
    if (!doc->chunk || doc->chunk->capacity - doc->chunk->used < bytes) {
        size_t capacity = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        aw_yaml_chunk *chunk = calloc(1, sizeof *chunk + capacity);
        if (!chunk) return NULL;
        chunk->capacity = capacity;
        chunk->next = doc->chunk;
        doc->chunk = chunk;
    }
    void *block = doc->chunk->bytes + doc->chunk->used;
    doc->chunk->used += bytes;
    return block;
}

char *aw_yaml_copy(aw_yaml *doc, const char *text, size_t length)
{
    char *copy = aw_yaml_alloc(doc, length + 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

void aw_yaml_free(aw_yaml *doc)
{
    if (!doc) return;
    for (aw_yaml_chunk *chunk = doc->chunk, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(doc);
}

aw_yaml_node *aw_yaml_root(aw_yaml *doc) { return doc->root; }

void aw_yaml_append(aw_yaml_node *parent, aw_yaml_node *node)
{
    node->parent = parent;
    node->next = NULL;
    node->prev = parent->last;
    if (parent->last)
        parent->last->next = node;
    else
        parent->first = node;
    parent->last = node;
    ++parent->n;
}

static void detach(aw_yaml_node *node)
{
    aw_yaml_node *parent = node->parent;
    if (node->prev)
        node->prev->next = node->next;
    else
        parent->first = node->next;
    if (node->next)
        node->next->prev = node->prev;
    else
        parent->last = node->prev;
    --parent->n;
}

static aw_yaml_node *child(const aw_yaml_node *map, const char *key)
{
    if (!map || map->kind != AW_YAML_MAP) return NULL;
    for (aw_yaml_node *c = map->first; c; c = c->next)
        if (strcmp(c->key, key) == 0) return c;
    return NULL;
}

const aw_yaml_node *aw_yaml_get(const aw_yaml_node *map, const char *key)
{
    return child(map, key);
}

aw_status aw_yaml_put(aw_yaml *doc, aw_yaml_node *map, const char *key, aw_yaml_node *value)
{
    aw_yaml_node *old = child(map, key);
    if (old) detach(old);
    if (!value) return AW_OK;
    value->key = aw_yaml_copy(doc, key, strlen(key));
    if (!value->key) return AW_ERR_NOMEM;
    aw_yaml_append(map, value);
    return AW_OK;
}

aw_yaml_node *aw_yaml_new_map(aw_yaml *doc)
{
    aw_yaml_node *node = aw_yaml_alloc(doc, sizeof *node);
    if (!node) return NULL;
    node->kind = AW_YAML_MAP;
    node->file = AW_INPUT_SET;
    return node;
}

int aw_yaml_is_null(const aw_yaml_node *node)
{
    return node->kind == AW_YAML_SCALAR && !node->quoted &&
           (node->length == 0 || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0 ||
            strcmp(node->text, "Null") == 0 || strcmp(node->text, "NULL") == 0);
}

int aw_yaml_is_zero(const aw_yaml_node *node)
{
    char *end = NULL;
    if (node->kind != AW_YAML_SCALAR || node->quoted || node->length == 0 ||
        node->text[strspn(node->text, "0123456789+-.eE")] != '\0')
        return 0;
    return strtod(node->text, &end) == 0.0 && *end == '\0';
}

/* Keys from the root joined by dots, list positions (1-based) in brackets. Leaves out everything up
 * to `facility` before a name, and the position of a list item with one key, which is its name. A
 * long path keeps its end. */
static void path_of(const aw_yaml_node *node, char path[PATH_BYTES])
{
    size_t at = PATH_BYTES - 1;
    path[at] = '\0';
    for (const aw_yaml_node *n = node; n && n->parent; n = n->parent) {
        char part[280];
        int index = 1;
        if (n->key && strcmp(n->key, "facility") == 0 && path[at] && path[at] != '[') break;
        if (!n->key && n != node && n->kind == AW_YAML_MAP && n->n == 1) continue;
        for (const aw_yaml_node *p = n->prev; p; p = p->prev) ++index;
        if (n->key)
            snprintf(part, sizeof part, "%s%s", n->key, path[at] && path[at] != '[' ? "." : "");
        else
            snprintf(part, sizeof part, "[%d]%s", index, path[at] && path[at] != '[' ? "." : "");
        size_t length = strlen(part);
        if (length > at) break;
        at -= length;
        memcpy(path + at, part, length);
    }
    memmove(path, path + at, PATH_BYTES - at);
}

static void note(aw_input_errors *errors, const aw_yaml_node *node, int line, int column,
                 const char *format, va_list args)
{
    char path[PATH_BYTES], text[600];
    if (aw_input_full(errors)) { /* finding a path is too slow for 10^5 wrong values */
        ++errors->more;
        return;
    }
    path_of(node, path);
    vsnprintf(text, sizeof text, format, args);
    aw_input_add(errors, node->file, line, column, "%s%s%s", path, path[0] ? ": " : "", text);
}

void aw_yaml_error(aw_input_errors *errors, const aw_yaml_node *node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note(errors, node, node->line, node->column, format, args);
    va_end(args);
}

void aw_yaml_key_error(aw_input_errors *errors, const aw_yaml_node *node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (node->key)
        note(errors, node, node->key_line, node->key_column, format, args);
    else
        note(errors, node, node->line, node->column, format, args);
    va_end(args);
}

const char *aw_yaml_show(const aw_yaml_node *node, char buffer[AW_YAML_SHOW])
{
    const size_t longest = 40;
    if (node->kind == AW_YAML_LIST) return strcpy(buffer, "a list");
    if (node->kind == AW_YAML_MAP) return strcpy(buffer, "a mapping");
    if (node->length == 0 && !node->quoted) return strcpy(buffer, "no value");
    size_t n = node->length;
    if (n > longest)
        for (n = longest; n > 0 && ((unsigned char)node->text[n] & 0xc0) == 0x80;) --n;
    snprintf(buffer, AW_YAML_SHOW, "'%.*s'%s", (int)n, node->text, n < node->length ? "..." : "");
    return buffer;
}

static int bad_number(aw_input_errors *errors, const aw_yaml_node *node, const char *why,
                      const char *expected)
{
    char shown[AW_YAML_SHOW];
    aw_yaml_error(errors, node, "%s %s (expected %s)", aw_yaml_show(node, shown), why, expected);
    return 0;
}

int aw_yaml_number(aw_input_errors *errors, const aw_yaml_node *node, const char *expected,
                   double *out)
{
    char *end = NULL;
    if (node->kind != AW_YAML_SCALAR) return bad_number(errors, node, "is not a number", expected);
    if (node->quoted) return bad_number(errors, node, "is text in quotes, not a number", expected);
    /* These characters exclude NaN, Inf, hexadecimal and units, which strtod would accept or stop
     * at. Program and tests run in the C locale. */
    if (node->length == 0 || node->text[strspn(node->text, "0123456789+-.eE")] != '\0')
        return bad_number(errors, node, node->length ? "is not a plain number" : "is given",
                          expected);
    errno = 0;
    double value = strtod(node->text, &end);
    if (end == node->text || *end) return bad_number(errors, node, "is not a number", expected);
    if (!isfinite(value) || (value == 0.0 && errno == ERANGE))
        return bad_number(errors, node, "is outside the range of a double", expected);
    *out = value;
    return 1;
}

int aw_yaml_whole(aw_input_errors *errors, const aw_yaml_node *node, const char *expected,
                  uint64_t low, uint64_t high, uint64_t *out)
{
    const double exact = 9007199254740992.0; /* 2^53; not every larger whole number is a double */
    double value = 0.0;
    uint64_t whole = 0;
    if (!aw_yaml_number(errors, node, expected, &value)) return 0;
    if (node->text[strspn(node->text, "0123456789")] == '\0') {
        errno = 0;
        whole = strtoull(node->text, NULL, 10);
        if (errno == ERANGE) return bad_number(errors, node, "is too large", expected);
    } else {
        if (value != floor(value)) return bad_number(errors, node, "is not whole", expected);
        if (value < 0.0) return bad_number(errors, node, "is negative", expected);
        if (value > exact) return bad_number(errors, node, "is too large", expected);
        whole = (uint64_t)value;
    }
    if (whole < low) return bad_number(errors, node, "is too small", expected);
    if (whole > high) return bad_number(errors, node, "is too large", expected);
    *out = whole;
    return 1;
}

int aw_yaml_bool(aw_input_errors *errors, const aw_yaml_node *node, int *out)
{
    static const char *const words[] = {"false", "False", "FALSE", "true", "True", "TRUE"};
    for (int i = 0; i < 6; ++i)
        if (node->kind == AW_YAML_SCALAR && !node->quoted && strcmp(node->text, words[i]) == 0) {
            *out = i >= 3;
            return 1;
        }
    return bad_number(errors, node, "is neither true nor false", "true or false");
}

const char *aw_yaml_text(aw_input_errors *errors, const aw_yaml_node *node, const char *expected)
{
    if (node->kind == AW_YAML_SCALAR && !aw_yaml_is_null(node)) return node->text;
    bad_number(errors, node, node->kind == AW_YAML_SCALAR ? "is given" : "is not a text", expected);
    return NULL;
}

/* Levenshtein distance of the first WORD_MAX bytes, ignoring case. */
static size_t distance(const char *a, const char *b)
{
    size_t row[WORD_MAX + 1], n = strlen(b);
    if (n > WORD_MAX) n = WORD_MAX;
    for (size_t j = 0; j <= n; ++j) row[j] = j;
    for (size_t i = 0; a[i] && i < WORD_MAX; ++i) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; ++j) {
            size_t cost = tolower((unsigned char)a[i]) == tolower((unsigned char)b[j]) ? 0 : 1;
            size_t best = diagonal + cost;
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j + 1] + 1 < best) best = row[j + 1] + 1;
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[n];
}

const char *aw_yaml_nearest(const char *word, const char *const *words, size_t n)
{
    const char *nearest = NULL;
    size_t least =
        strlen(word) / 3 + 2; /* with more than a third of its letters changed it is another word */
    for (size_t i = 0; i < n; ++i) {
        size_t d = distance(word, words[i]);
        /* "sigma_s" means "sigma_s_m": a forgotten unit counts as one letter */
        if (strncmp(word, words[i], strlen(word)) == 0 && words[i][strlen(word)] == '_') d = 1;
        if (d < least) {
            least = d;
            nearest = words[i];
        }
    }
    return nearest;
}
