/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/input/wakes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/input/fields.h"
#include "src/input/path.h"

enum { WAKES_MAX = 1000, NAMES_MAX = 1000 };

static const char *const keys[] = {"file",     "kind",   "unit", "element",
                                   "elements", "from_m", "to_m", "factor"};
enum { KEYS = sizeof keys / sizeof keys[0] };

/* What a key should be. */
static const char kind_text[] = "longitudinal or taylor";
static const char unit_text[] = "V/C, of the whole, or V/C/m, per length";
static const char name_text[] = "the name of an element of the lattice";
static const char place_text[] = "an arc length of the lattice in m";

/* An item that is being read. */
typedef struct reader {
    aw_input_errors *errors;
    const aw_yaml_node *node;
    const aw_config *config;
    aw_wake_item *item;
    aw_wake *wake;
    size_t room; /* for ranges */
} reader;

static const aw_yaml_node *node_of(const reader *r, const char *key)
{
    return aw_yaml_get(r->node, key);
}

/* A required key. @return NULL: it is missing, which is noted */
static const aw_yaml_node *required(const reader *r, const char *key, const char *expected)
{
    const aw_yaml_node *node = node_of(r, key);
    if (!node) aw_yaml_error(r->errors, r->node, "has no %s (expected %s)", key, expected);
    return node;
}

static void check_keys(const reader *r)
{
    for (const aw_yaml_node *c = r->node->first; c; c = c->next) {
        int known = 0;
        for (int k = 0; k < KEYS; ++k) known |= strcmp(c->key, keys[k]) == 0;
        if (known) continue;
        const char *meant = aw_yaml_nearest(c->key, keys, KEYS);
        aw_yaml_key_error(r->errors, c, "unknown key (expected %s%s)",
                          meant ? meant
                                : "file, kind, unit, factor, and element, elements or from_m, to_m",
                          meant ? "?" : "");
    }
}

/* Position of a word of "a|b", as a required key has it; 0 with the problem noted. */
static int read_word(const reader *r, const char *key, const char *words, const char *expected)
{
    const aw_yaml_node *node = required(r, key, expected);
    const char *text = node ? aw_yaml_text(r->errors, node, expected) : NULL;
    char shown[AW_YAML_SHOW];
    int position = 0;
    if (!text) return 0;
    for (const char *w = words; w; ++position) {
        const size_t n = strcspn(w, "|");
        if (strlen(text) == n && strncmp(text, w, n) == 0) return position;
        w = w[n] ? w + n + 1 : NULL;
    }
    aw_yaml_error(r->errors, node, "%s is not known (expected %s)", aw_yaml_show(node, shown),
                  expected);
    return 0;
}

static aw_status read_table(const reader *r)
{
    static const char expected[] = "a path beside this file, e.g. wake.txt";
    const aw_yaml_node *node = required(r, "file", expected);
    const char *text = node ? aw_yaml_text(r->errors, node, expected) : NULL;
    char why[AW_WAKE_WHY_MAX];
    if (!text) return AW_OK;
    if (!text[0] || strlen(text) >= AW_PATH_MAX_LEN) {
        aw_yaml_error(r->errors, node, "%s (expected %s)", text[0] ? "is too long" : "is empty",
                      expected);
        return AW_OK;
    }
    if (!(r->item->file = aw_input_path(r->config->path, text))) return AW_ERR_NOMEM;
    const aw_status status =
        aw_wake_file_read(r->item->file, (aw_wake_kind)r->item->kind, r->wake, why);
    if (status != AW_ERR_INPUT) return status;
    aw_yaml_error(r->errors, node, "%.250s: %s", r->item->file, why);
    return AW_OK;
}

/* --------------------------------------------------------------------------------------- places */

static aw_status add_range(reader *r, double from, double to)
{
    aw_wake *wake = r->wake;
    if (aw_grow((void **)&wake->range, &r->room, wake->ranges + 1, sizeof *wake->range) != AW_OK)
        return AW_ERR_NOMEM;
    const double per = r->item->per_m || from == to ? 1.0 : 1.0 / (to - from);
    wake->range[wake->ranges++] = (aw_wake_range){from, to, r->item->factor * per};
    return AW_OK;
}

/* A table per length needs a length. @return 1: noted */
static int lacks_length(const reader *r, const aw_yaml_node *node, double length)
{
    if (!r->item->per_m || length > 0.0) return 0;
    aw_yaml_error(r->errors, node,
                  "has no length, and the table is per metre (expected unit: V/C)");
    return 1;
}

static const char *nearest_element(const aw_lattice *lattice, const char *name)
{
    const char **words = malloc((lattice->n + 1) * sizeof *words);
    if (!words) return NULL;
    for (size_t i = 0; i < lattice->n; ++i) words[i] = lattice->element[i].name;
    const char *nearest = aw_yaml_nearest(name, words, lattice->n);
    free(words);
    return nearest;
}

/* The ranges of all elements of a name. */
static aw_status find_element(reader *r, const aw_yaml_node *node, const char *name)
{
    const aw_lattice *lattice = r->config->lattice;
    char shown[AW_YAML_SHOW];
    double S = 0.0;
    int found = 0;
    aw_status status = AW_OK;
    if (!lattice) return AW_OK;
    for (size_t i = 0; i < lattice->n; ++i) {
        const double length = lattice->element[i].length;
        if (strcmp(lattice->element[i].name, name) == 0) {
            found = 1;
            if (lacks_length(r, node, length)) return AW_OK;
            AW_TRY(add_range(r, S, S + length));
        }
        S += length;
    }
    if (found) return AW_OK;
    const char *nearest = nearest_element(lattice, name);
    aw_yaml_error(r->errors, node, "there is no element %s in the lattice (expected %s%s)",
                  aw_yaml_show(node, shown), nearest ? nearest : name_text, nearest ? "?" : "");
done:
    return status;
}

static aw_status read_name(reader *r, const aw_yaml_node *node)
{
    aw_wake_item *item = r->item;
    const char *name = aw_yaml_text(r->errors, node, name_text);
    if (!name) return AW_OK;
    for (const aw_yaml_node *c = node->key ? NULL : node->prev; c; c = c->prev)
        if (c->kind == AW_YAML_SCALAR && strcmp(c->text, name) == 0) {
            aw_yaml_error(r->errors, node, "is named twice (expected once)");
            return AW_OK;
        }
    char *copy = strdup(name);
    if (!copy) return AW_ERR_NOMEM;
    item->element[item->elements++] = copy;
    return find_element(r, node, name);
}

static aw_status read_names(reader *r, const aw_yaml_node *node)
{
    const int many = strcmp(node->key, "elements") == 0;
    aw_status status = AW_OK;
    char shown[AW_YAML_SHOW];
    if (many && (node->kind != AW_YAML_LIST || node->n == 0 || node->n > NAMES_MAX)) {
        aw_yaml_error(r->errors, node,
                      "%s is not a list of 1 to 1000 names (expected e.g. [d1, "
                      "b1])",
                      aw_yaml_show(node, shown));
        return AW_OK;
    }
    r->item->element = calloc(many ? (size_t)node->n : 1, sizeof *r->item->element);
    if (!r->item->element) return AW_ERR_NOMEM;
    if (!many) return read_name(r, node);
    for (const aw_yaml_node *c = node->first; c; c = c->next) AW_TRY(read_name(r, c));
done:
    return status;
}

/* An arc length. @return 1 and *out, or 0 with the problem noted */
static int read_place(const reader *r, const char *key, double *out)
{
    const aw_yaml_node *node = required(r, key, place_text);
    const double length = r->config->lattice ? r->config->lattice->length : INFINITY;
    char shown[AW_YAML_SHOW];
    if (!node || !aw_yaml_number(r->errors, node, place_text, out)) return 0;
    if (*out >= 0.0 && *out <= length * (1.0 + 1e-12)) return 1;
    aw_yaml_error(r->errors, node, "%s is outside the lattice (expected 0 to %.10g m)",
                  aw_yaml_show(node, shown), length);
    return 0;
}

static aw_status read_range(reader *r)
{
    aw_wake_item *item = r->item;
    const aw_yaml_node *to = node_of(r, "to_m");
    const int good = read_place(r, "from_m", &item->from_m) & read_place(r, "to_m", &item->to_m);
    if (!good || !r->config->lattice) return AW_OK;
    if (item->to_m < item->from_m) {
        aw_yaml_error(r->errors, to, "is before from_m (expected at least %g m)", item->from_m);
        return AW_OK;
    }
    if (lacks_length(r, to, item->to_m - item->from_m)) return AW_OK;
    return add_range(r, item->from_m, item->to_m);
}

/* Where it acts: one of three ways to say it. */
static aw_status read_where(reader *r)
{
    const aw_yaml_node *one = node_of(r, "element"), *many = node_of(r, "elements");
    const aw_yaml_node *from = node_of(r, "from_m"), *to = node_of(r, "to_m");
    const aw_yaml_node *range = from ? from : to;
    const char *remedy = "element, elements, or from_m and to_m";
    if (!one && !many && !range) {
        aw_yaml_error(r->errors, r->node, "acts nowhere (expected %s)", remedy);
        return AW_OK;
    }
    if (!!one + !!many + !!range > 1) {
        aw_yaml_error(r->errors, r->node, "says in two ways where it acts (expected one of %s)",
                      remedy);
        return AW_OK;
    }
    return range ? read_range(r) : read_names(r, one ? one : many);
}

/* ---------------------------------------------------------------------------------------- items */

static void read_factor(const reader *r)
{
    const aw_yaml_node *node = node_of(r, "factor");
    r->item->factor = 1.0;
    if (node)
        aw_yaml_number(r->errors, node, "a number by which the table is multiplied",
                       &r->item->factor);
}

static aw_status read_item(reader *r, size_t number)
{
    const aw_yaml_node *node = r->node;
    char shown[AW_YAML_SHOW];
    if (node->kind != AW_YAML_MAP) {
        aw_yaml_error(r->errors, node,
                      "%s is not a mapping (expected e.g. {file: wake.txt, kind: "
                      "longitudinal, unit: V/C/m, element: pipe})",
                      aw_yaml_show(node, shown));
        return AW_OK;
    }
    if (node->line)
        snprintf(r->item->place, sizeof r->item->place, "%.500s:%d:%d: wakes[%zu]", node->file,
                 node->line, node->column, number);
    else
        snprintf(r->item->place, sizeof r->item->place, AW_INPUT_SET " wakes[%zu]", number);
    check_keys(r);
    r->item->kind = read_word(r, "kind", AW_WAKE_KINDS, kind_text);
    r->item->per_m = read_word(r, "unit", AW_WAKE_UNITS, unit_text);
    read_factor(r);
    const aw_status status = read_where(r);
    /* the kind says how the table is read */
    return status == AW_OK && node_of(r, "kind") ? read_table(r) : status;
}

aw_status aw_wakes_read(aw_input_errors *errors, const aw_yaml_node *root, aw_config *config)
{
    const aw_field *field = aw_field_find("wakes");
    const aw_yaml_node *list = aw_field_node(root, field);
    aw_status status = AW_OK;
    char shown[AW_YAML_SHOW];
    if (!list || aw_yaml_is_null(list)) return AW_OK;
    if (list->kind != AW_YAML_LIST || list->n > WAKES_MAX) {
        aw_yaml_error(errors, list, "%s%s (expected %s)", aw_yaml_show(list, shown),
                      list->kind == AW_YAML_LIST ? " of more than 1000 wakes" : " is not a list",
                      field->expected);
        return AW_OK;
    }
    if (list->n == 0) return AW_OK;
    if (config->motion == AW_MOTION_RIGID)
        aw_yaml_key_error(errors, list,
                          "have no meaning with motion: rigid, which keeps all energies (expected "
                          "none)");
    config->wake = aw_alloc((size_t)list->n, sizeof *config->wake);
    config->wake_item = aw_alloc((size_t)list->n, sizeof *config->wake_item);
    AW_TRY(config->wake && config->wake_item ? AW_OK : AW_ERR_NOMEM);
    for (const aw_yaml_node *c = list->first; c; c = c->next) {
        const size_t i = config->wakes++;
        reader r = {errors, c, config, &config->wake_item[i], &config->wake[i], 0};
        AW_TRY(read_item(&r, i + 1));
    }
done:
    return status;
}

void aw_wakes_free(aw_config *config)
{
    for (size_t i = 0; i < config->wakes; ++i) {
        aw_wake_item *item = &config->wake_item[i];
        for (size_t k = 0; k < item->elements; ++k) free(item->element[k]);
        free(item->element);
        free(item->file);
        aw_wake_clear(&config->wake[i]);
    }
    aw_free(config->wake_item);
    aw_free(config->wake);
}
