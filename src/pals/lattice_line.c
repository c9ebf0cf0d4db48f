/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/pals/lattice_line.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

#define LINE_DEPTH_MAX 32
#define STEPS_MAX 1000000 /* items looked at, also those that give no element */

typedef enum item_kind { BAD, PASSED_OVER, ELEMENT, BEGINNING, LINE } item_kind;

/* An item of a line, looked up and checked once, however often its line is repeated. */
struct aw_line_item {
    const aw_yaml_node *node; /* key of the table; NULL: free */
    item_kind kind;
    long count;                /* of `repeat`; negative: in reverse order */
    const aw_yaml_node *place; /* where problems of the whole item are reported */
    const aw_yaml_node *line;  /* of a LINE: its list */
    aw_element *element;       /* of an ELEMENT; owned */
};

/* ----------------------------------------------------------------------------- names */

static int by_name(const void *a, const void *b)
{
    const aw_definition *x = a, *y = b;
    int order = strcmp(x->node->key, y->node->key);
    if (order) return order;
    if (x->in_line != y->in_line) return x->in_line - y->in_line;
    return x->node->key_line < y->node->key_line ? -1 : x->node->key_line > y->node->key_line;
}

static void define(aw_lattice_reader *l, const aw_yaml_node *node, int in_line)
{
    aw_status status =
        aw_grow((void **)&l->define, &l->define_capacity, l->n_define + 1, sizeof *l->define);
    if (status)
        l->status = status;
    else
        l->define[l->n_define++] = (aw_definition){node, in_line};
}

/* The items of a list that are defined in place: '- name: {kind: ...}'. */
static void define_items(aw_lattice_reader *l, const aw_yaml_node *list)
{
    if (!list || list->kind != AW_YAML_LIST) return;
    for (const aw_yaml_node *c = list->first; c; c = c->next) {
        const aw_yaml_node *body = c->kind == AW_YAML_MAP && c->n == 1 ? c->first : NULL;
        if (!body || (!aw_yaml_get(body, "kind") && !aw_yaml_get(body, "inherit"))) continue;
        define(l, body, 1);
        define_items(l, aw_yaml_get(body, "line"));
    }
}

void aw_lattice_define(aw_lattice_reader *l, const aw_yaml_node *entry)
{
    define(l, entry, 0);
    define_items(l, aw_yaml_get(entry, "line"));
    define_items(l, aw_yaml_get(entry, "branches"));
}

void aw_lattice_defined(aw_lattice_reader *l)
{
    if (l->n_define) qsort(l->define, l->n_define, sizeof *l->define, by_name);
    for (size_t i = 1; i < l->n_define; ++i) {
        const aw_definition *a = &l->define[i - 1], *b = &l->define[i];
        if (!a->in_line && !b->in_line && strcmp(a->node->key, b->node->key) == 0)
            aw_yaml_key_error(l->element_reader.errors, b->node,
                              "this name was defined before, at line %d (expected once)",
                              a->node->key_line);
    }
}

/* The first definition of a name; NULL: none. */
static const aw_definition *first_of(const aw_lattice_reader *l, const char *name)
{
    size_t low = 0, high = l->n_define;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(l->define[middle].node->key, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->n_define && strcmp(l->define[low].node->key, name) == 0 ? &l->define[low]
                                                                            : NULL;
}

static void not_found(aw_lattice_reader *l, const aw_yaml_node *node, const char *name)
{
    char shown[AW_YAML_SHOW];
    aw_input_errors *errors = l->element_reader.errors;
    if (aw_input_full(errors)) {
        ++errors->more;
        return;
    }
    const char **words = malloc((l->n_define + 1) * sizeof *words);
    if (!words) {
        l->status = AW_ERR_NOMEM;
        return;
    }
    for (size_t i = 0; i < l->n_define; ++i) words[i] = l->define[i].node->key;
    const char *meant = aw_yaml_nearest(name, words, l->n_define);
    aw_yaml_node named = {.kind = AW_YAML_SCALAR, .text = name, .length = strlen(name)};
    aw_yaml_error(errors, node, "%s is not defined in PALS.facility (expected %s%s)",
                  aw_yaml_show(&named, shown), meant ? meant : "the name of an element or line",
                  meant ? "?" : "");
    free(words);
}

/* 1 unless the name stands for several elements; the problem is noted at `node`. */
static int unique(aw_lattice_reader *l, const aw_definition *d, const aw_yaml_node *node)
{
    const aw_definition *next = d + 1;
    if (!d->in_line || next == l->define + l->n_define ||
        strcmp(next->node->key, d->node->key) != 0)
        return 1;
    aw_yaml_error(l->element_reader.errors, node,
                  "'%.64s' is defined in more than one place, at lines %d and %d (expected "
                  "different names, or one definition in PALS.facility)",
                  d->node->key, d->node->key_line, next->node->key_line);
    return 0;
}

const aw_yaml_node *aw_lattice_find(aw_lattice_reader *l, const aw_yaml_node *node,
                                    const char *name)
{
    const aw_definition *d = first_of(l, name);
    if (!d)
        not_found(l, node, name);
    else if (unique(l, d, node))
        return d->node;
    return NULL;
}

/* Follow `inherit` from the spec's last node on. @return 1, or 0 with the problem noted */
static int follow(aw_lattice_reader *l, aw_spec *spec)
{
    aw_input_errors *errors = l->element_reader.errors;
    for (;;) {
        const aw_yaml_node *node = aw_yaml_get(spec->node[spec->n - 1], "inherit");
        if (!node) return 1;
        const char *name = aw_yaml_text(errors, node, "the name of an element or line");
        const aw_yaml_node *next = name ? aw_lattice_find(l, node, name) : NULL;
        if (!next) return 0;
        if (spec->n >= AW_INHERIT_MAX) {
            aw_yaml_error(errors, node,
                          "inherits in a circle or more than 16 times (expected a "
                          "shorter chain)");
            return 0;
        }
        spec->node[spec->n++] = next;
    }
}

/* The mapping of a name to changes that an item may be; NULL for a name alone. */
static const aw_yaml_node *body_of(const aw_yaml_node *item)
{
    return item->kind == AW_YAML_MAP && item->n == 1 ? item->first : NULL;
}

/* An item of a line, or a branch: a name, or a mapping of a name to changes. */
static int spec_of(aw_lattice_reader *l, const aw_yaml_node *item, aw_spec *spec)
{
    char shown[AW_YAML_SHOW];
    aw_input_errors *errors = l->element_reader.errors;
    *spec = (aw_spec){.place = item};
    const aw_yaml_node *body = body_of(item);
    if (!body && item->kind != AW_YAML_SCALAR) {
        aw_yaml_error(errors, item,
                      "%s of several entries (expected one name, or '- name: "
                      "{...}')",
                      aw_yaml_show(item, shown));
        return 0;
    }
    spec->name = body ? body->key : aw_yaml_text(errors, item, "the name of an element or line");
    if (!spec->name) return 0;
    if (body) {
        spec->place = body;
        if (body->kind == AW_YAML_MAP)
            spec->node[spec->n++] = body;
        else if (!aw_yaml_is_null(body)) {
            aw_yaml_error(errors, body, "%s is not a mapping (expected parameters, or no ':')",
                          aw_yaml_show(body, shown));
            return 0;
        }
    }
    int own = spec->n && (aw_yaml_get(body, "kind") || aw_yaml_get(body, "inherit"));
    if (!own) { /* a name that is defined elsewhere, perhaps with changes */
        if (spec->n && !first_of(l, spec->name)) {
            aw_yaml_key_error(errors, body,
                              "has no kind and is not defined in "
                              "PALS.facility (expected kind: Drift, ...)");
            return 0;
        }
        const aw_yaml_node *definition = aw_lattice_find(l, spec->place, spec->name);
        if (!definition) return 0;
        spec->node[spec->n++] = definition;
    }
    return follow(l, spec);
}

static const char *kind_of(aw_lattice_reader *l, const aw_spec *spec)
{
    const aw_yaml_node *node = aw_spec_get(spec, NULL, "kind");
    char expected[160];
    snprintf(expected, sizeof expected, "%s or BeamLine", aw_element_kinds);
    if (node) return aw_yaml_text(l->element_reader.errors, node, expected);
    aw_yaml_key_error(l->element_reader.errors, spec->place,
                      "kind is missing (expected kind: Drift, Bend, ...)");
    return NULL;
}

/* ----------------------------------------------------------------------------- items, once each */

/* `repeat` of the item itself, or of the entry of the facility that it names. It is not inherited,
 * nor taken over from the line in which the element is defined. */
static int repeat_of(aw_lattice_reader *l, const aw_yaml_node *item, const aw_spec *spec,
                     long *count)
{
    const aw_yaml_node *first = spec->node[0], *body = body_of(item);
    const aw_yaml_node *node = aw_yaml_get(first, "repeat");
    double value = 1.0;
    *count = 1;
    if (!node || (first != body && first->parent->parent != l->facility)) return 1;
    if (!aw_yaml_number(l->element_reader.errors, node, "a whole number, e.g. 3", &value)) return 0;
    if (value == 0.0 || value < -STEPS_MAX || value > STEPS_MAX || value != (double)(long)value) {
        aw_yaml_error(l->element_reader.errors, node,
                      "is not a count (expected a whole number other than 0, "
                      "e.g. 3; negative: in reverse order)");
        return 0;
    }
    *count = (long)value;
    return 1;
}

static void check_line(aw_lattice_reader *l, const aw_spec *spec)
{
    static const char *const words[] = {"kind",      "line",     "inherit",   "repeat",
                                        "direction", "periodic", "multipass", "MetaP"};
    static const char *const off[] = {"periodic", "multipass"};
    const aw_yaml_node *direction = aw_spec_get(spec, NULL, "direction");
    double value = 1.0;
    int flag = 0;
    for (int i = 0; i < spec->n; ++i)
        if (spec->node[i]->kind == AW_YAML_MAP)
            aw_pals_known(l->element_reader.errors, &l->element_reader.extensions, spec->node[i],
                          words, sizeof words / sizeof words[0]);
    for (int i = 0; i < 2; ++i) {
        const aw_yaml_node *node = aw_spec_get(spec, NULL, off[i]);
        if (node && aw_yaml_bool(l->element_reader.errors, node, &flag) && flag)
            aw_yaml_error(l->element_reader.errors, node,
                          "is not supported (expected false: a single pass)");
    }
    if (direction && aw_yaml_number(l->element_reader.errors, direction, "1", &value) &&
        value != 1.0)
        aw_yaml_error(l->element_reader.errors, direction,
                      "reversed lines are not supported (expected 1; repeat: "
                      "-1 reverses the order)");
}

/* The list of a line, checked; NULL with the problem noted. */
static const aw_yaml_node *list_of(aw_lattice_reader *l, const aw_spec *spec)
{
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *line = aw_spec_get(spec, NULL, "line");
    check_line(l, spec);
    if (!line)
        aw_yaml_key_error(l->element_reader.errors, spec->place,
                          "line is missing (expected a list of items)");
    else if (line->kind != AW_YAML_LIST)
        aw_yaml_error(l->element_reader.errors, line, "%s is not a list (expected '- ' items)",
                      aw_yaml_show(line, shown));
    else
        return line;
    return NULL;
}

static void need_beginning(aw_lattice_reader *l, const aw_yaml_node *place)
{
    if (l->begun) return;
    l->begun = 1;
    aw_yaml_key_error(l->element_reader.errors, place,
                      "the line does not begin with a BeginningEle "
                      "(expected one with ReferenceP.E_tot_ref)");
}

static void read_element(aw_lattice_reader *l, const aw_spec *spec, const char *kind,
                         aw_line_item *out)
{
    aw_element element;
    need_beginning(l, spec->place); /* its momentum is needed */
    if (!aw_element_kind_known(kind)) {
        aw_yaml_error(l->element_reader.errors, aw_spec_get(spec, NULL, "kind"),
                      "kind '%.40s' of '%.64s' is not supported (expected BeginningEle, %s or "
                      "BeamLine)",
                      kind, spec->name, aw_element_kinds);
        return;
    }
    if (!aw_element_read(&l->element_reader, spec, kind, &element)) return;
    out->element = malloc(sizeof element);
    if (!out->element) {
        l->status = AW_ERR_NOMEM;
        return;
    }
    *out->element = element;
    out->kind = ELEMENT;
}

/* Look an item up and read it; its kind is BAD if that noted a problem. */
static void read_item(aw_lattice_reader *l, const aw_yaml_node *node, aw_line_item *out)
{
    aw_spec spec;
    const aw_yaml_node *body = body_of(node);
    *out = (aw_line_item){.node = node, .kind = BAD, .place = node};
    if (aw_is_extension(&l->element_reader.extensions, body ? body : node)) {
        out->kind = PASSED_OVER;
        return;
    }
    if (!spec_of(l, node, &spec) || !repeat_of(l, node, &spec, &out->count)) return;
    out->place = spec.place;
    const char *kind = kind_of(l, &spec);
    if (!kind) return;
    if (strcmp(kind, "BeamLine") == 0) {
        out->line = list_of(l, &spec);
        if (out->line) out->kind = LINE;
    } else if (strcmp(kind, "BeginningEle") == 0) {
        out->kind = BEGINNING;
    } else {
        read_element(l, &spec, kind, out);
    }
}

static size_t slot_of(const aw_line_item *table, size_t capacity, const aw_yaml_node *node)
{
    size_t i = (size_t)(((uint64_t)(uintptr_t)node >> 4) * 0x9e3779b97f4a7c15u >> 20);
    for (i &= capacity - 1; table[i].node && table[i].node != node;) i = (i + 1) & (capacity - 1);
    return i;
}

/* Keep at least half of the table free; its size is a power of two. */
static aw_status grow_table(aw_lattice_reader *l)
{
    if (2 * (l->n_item + 1) <= l->item_capacity) return AW_OK;
    size_t capacity = l->item_capacity ? 2 * l->item_capacity : 256;
    aw_line_item *table = calloc(capacity, sizeof *table);
    if (!table) return AW_ERR_NOMEM;
    for (size_t i = 0; i < l->item_capacity; ++i)
        if (l->item[i].node) table[slot_of(table, capacity, l->item[i].node)] = l->item[i];
    free(l->item);
    l->item = table;
    l->item_capacity = capacity;
    return AW_OK;
}

/* The item of a node, read when it is met first. */
static aw_line_item item_of(aw_lattice_reader *l, const aw_yaml_node *node)
{
    aw_status status = grow_table(l);
    if (status) {
        l->status = status;
        return (aw_line_item){.kind = BAD};
    }
    aw_line_item *item = &l->item[slot_of(l->item, l->item_capacity, node)];
    if (!item->node) {
        read_item(l, node, item);
        ++l->n_item;
    }
    return *item;
}

/* ----------------------------------------------------------------------------- expansion */

/* 1 while the expansion is within its limits. */
static int within(aw_lattice_reader *l, const aw_yaml_node *place)
{
    if (l->stopped || l->status) return 0;
    if (++l->steps <= STEPS_MAX && l->n < AW_LATTICE_ELEMENTS_MAX) return 1;
    aw_yaml_key_error(l->element_reader.errors, place,
                      "the line is too long (expected at most %d elements)",
                      AW_LATTICE_ELEMENTS_MAX);
    l->stopped = 1;
    return 0;
}

/* PALS: the root line begins with it, and those of sublines are dropped. */
static void on_beginning(aw_lattice_reader *l, const aw_line_item *item)
{
    aw_spec spec;
    double pc = 0.0, energy = 0.0;
    if (l->depth > 1) return;
    if (l->n || l->begun) {
        aw_yaml_key_error(l->element_reader.errors, item->place,
                          "a BeginningEle within the line (expected one, as the first element)");
        return;
    }
    l->begun = 1;
    if (!spec_of(l, item->node, &spec)) return;
    if (!aw_beginning_read(&l->element_reader, &spec, &pc, &energy)) return;
    l->element_reader.pc = pc;
    l->energy = energy;
}

static void add_element(aw_lattice_reader *l, const aw_line_item *item)
{
    const aw_yaml_node *at = item->place;
    aw_status status =
        aw_grow((void **)&l->element, &l->element_capacity, l->n + 1, sizeof *l->element);
    if (!status)
        status = aw_grow((void **)&l->place, &l->place_capacity, l->n + 1, sizeof *l->place);
    if (status) {
        l->status = status;
        return;
    }
    l->element[l->n] = *item->element;
    l->place[l->n++] =
        at->key ? (aw_place){at->key_line, at->key_column} : (aw_place){at->line, at->column};
}

static void expand_line(aw_lattice_reader *l, const aw_line_item *item, int reversed);

static void expand_once(aw_lattice_reader *l, const aw_line_item *item, int reversed)
{
    if (!within(l, item->place)) return;
    if (item->kind == LINE)
        expand_line(l, item, reversed);
    else if (item->kind == BEGINNING)
        on_beginning(l, item);
    else if (item->kind == ELEMENT)
        add_element(l, item);
}

static void expand_item(aw_lattice_reader *l, const aw_yaml_node *node, int reversed)
{
    const aw_line_item item = item_of(l, node);
    if (item.kind == BAD || item.kind == PASSED_OVER) return;
    int backwards = item.count < 0 ? !reversed : reversed;
    for (long i = labs(item.count); i > 0 && !l->stopped && !l->status; --i) {
        expand_once(l, &item, backwards);
        if (aw_input_count(l->element_reader.errors)) return; /* refused: once shows all problems */
    }
}

static void expand_line(aw_lattice_reader *l, const aw_line_item *item, int reversed)
{
    const aw_yaml_node *line = item->line;
    if (++l->depth > LINE_DEPTH_MAX) {
        aw_yaml_key_error(l->element_reader.errors, item->place,
                          "lines within lines in a circle or more than 32 "
                          "deep (expected fewer)");
        l->stopped = 1;
    }
    for (const aw_yaml_node *c = reversed ? line->last : line->first; c && within(l, c);
         c = reversed ? c->prev : c->next)
        expand_item(l, c, reversed);
    --l->depth;
}

void aw_lattice_expand(aw_lattice_reader *l, const aw_yaml_node *branch)
{
    const aw_line_item item = item_of(l, branch);
    if (item.kind == LINE)
        expand_once(l, &item, 0);
    else if (item.kind != BAD)
        aw_yaml_error(l->element_reader.errors, branch, "'%.64s' is not a BeamLine (expected one)",
                      item.place->key ? item.place->key : item.place->text);
}

void aw_lattice_reader_free(aw_lattice_reader *l)
{
    for (size_t i = 0; i < l->item_capacity; ++i) free(l->item[i].element);
    free(l->item);
    aw_free(l->define);
    aw_free(l->element);
    aw_free(l->place);
}
