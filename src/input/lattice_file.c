/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/input/lattice_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/input/element_file.h"

#define LINE_DEPTH_MAX 32
#define STEPS_MAX 1000000 /* items looked at, also those that give no element */

typedef struct lattice_reader {
    aw_element_reader element_reader;
    aw_input_errors *errors;
    const aw_yaml_node **define; /* named entries of the facility, sorted by name */
    size_t n_define;
    const aw_yaml_node *use, *last_lattice;
    aw_element *element;
    size_t n, capacity;
    size_t steps;
    int depth;
    int begun;        /* a BeginningEle was met */
    int stopped;      /* a limit was passed: noted, nothing more is read */
    double energy;    /* of the BeginningEle [eV]; 0: not known */
    aw_status status; /* AW_ERR_NOMEM once memory ran out */
} lattice_reader;

static int by_name(const void *a, const void *b)
{
    const aw_yaml_node *x = *(const aw_yaml_node *const *)a, *y = *(const aw_yaml_node *const *)b;
    int order = strcmp(x->key, y->key);
    if (order) return order;
    return x->key_line < y->key_line ? -1 : x->key_line > y->key_line;
}

static const aw_yaml_node *find(const lattice_reader *l, const char *name)
{
    aw_yaml_node key = {.key = name, .key_line = 0};
    size_t low = 0, high = l->n_define;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const aw_yaml_node *want = &key;
        if (by_name(&l->define[middle], &want) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->n_define && strcmp(l->define[low]->key, name) == 0 ? l->define[low] : NULL;
}

static void not_found(lattice_reader *l, const aw_yaml_node *node, const char *name)
{
    char shown[AW_YAML_SHOW];
    if (aw_input_full(l->errors)) {
        ++l->errors->more;
        return;
    }
    const char **words = malloc((l->n_define + 1) * sizeof *words);
    if (!words) {
        l->status = AW_ERR_NOMEM;
        return;
    }
    for (size_t i = 0; i < l->n_define; ++i) words[i] = l->define[i]->key;
    const char *meant = aw_yaml_nearest(name, words, l->n_define);
    aw_yaml_node named = {.kind = AW_YAML_SCALAR, .text = name, .length = strlen(name)};
    aw_yaml_error(l->errors, node, "%s is not defined in PALS.facility (expected %s%s)",
                  aw_yaml_show(&named, shown), meant ? meant : "the name of an element or line",
                  meant ? "?" : "");
    free(words);
}

/* Follow `inherit` from the spec's last node on. @return 1, or 0 with the problem noted */
static int follow(lattice_reader *l, aw_spec *spec)
{
    for (;;) {
        const aw_yaml_node *node = aw_yaml_get(spec->node[spec->n - 1], "inherit");
        if (!node) return 1;
        const char *name = aw_yaml_text(l->errors, node, "the name of an element or line");
        if (!name) return 0;
        const aw_yaml_node *next = find(l, name);
        if (!next) {
            not_found(l, node, name);
            return 0;
        }
        if (spec->n >= AW_INHERIT_MAX) {
            aw_yaml_error(l->errors, node,
                          "inherits in a circle or more than 16 times (expected a "
                          "shorter chain)");
            return 0;
        }
        spec->node[spec->n++] = next;
    }
}

/* What an item of a line, or a branch, means: a name, or a mapping of a name to changes. */
static int spec_of(lattice_reader *l, const aw_yaml_node *item, aw_spec *spec)
{
    char shown[AW_YAML_SHOW];
    *spec = (aw_spec){.place = item};
    const aw_yaml_node *body = item->kind == AW_YAML_MAP && item->n == 1 ? item->first : NULL;
    if (!body && item->kind != AW_YAML_SCALAR) {
        aw_yaml_error(l->errors, item,
                      "%s of several entries (expected one name, or '- name: "
                      "{...}')",
                      aw_yaml_show(item, shown));
        return 0;
    }
    spec->name = body ? body->key : aw_yaml_text(l->errors, item, "the name of an element or line");
    if (!spec->name) return 0;
    if (body) {
        spec->place = body;
        if (body->kind == AW_YAML_MAP)
            spec->node[spec->n++] = body;
        else if (!aw_yaml_is_null(body)) {
            aw_yaml_error(l->errors, body, "%s is not a mapping (expected parameters, or no ':')",
                          aw_yaml_show(body, shown));
            return 0;
        }
    }
    int own = spec->n && (aw_yaml_get(body, "kind") || aw_yaml_get(body, "inherit"));
    if (!own) { /* a name that is defined elsewhere, perhaps with changes */
        const aw_yaml_node *definition = find(l, spec->name);
        if (!definition) {
            if (spec->n)
                aw_yaml_key_error(l->errors, body,
                                  "has no kind and is not defined in "
                                  "PALS.facility (expected kind: Drift, ...)");
            else
                not_found(l, spec->place, spec->name);
            return 0;
        }
        spec->node[spec->n++] = definition;
    }
    return follow(l, spec);
}

static const char *kind_of(lattice_reader *l, const aw_spec *spec)
{
    const aw_yaml_node *node = aw_spec_get(spec, NULL, "kind");
    char expected[160];
    snprintf(expected, sizeof expected, "%s or BeamLine", aw_element_kinds);
    if (node) return aw_yaml_text(l->errors, node, expected);
    aw_yaml_key_error(l->errors, spec->place, "kind is missing (expected kind: Drift, Bend, ...)");
    return NULL;
}

/* 1 while the expansion is within its limits. */
static int within(lattice_reader *l, const aw_yaml_node *place)
{
    if (l->stopped || l->status) return 0;
    if (++l->steps <= STEPS_MAX && l->n < AW_LATTICE_ELEMENTS_MAX) return 1;
    aw_yaml_key_error(l->errors, place, "the line is too long (expected at most %d elements)",
                      AW_LATTICE_ELEMENTS_MAX);
    l->stopped = 1;
    return 0;
}

static void add_element(lattice_reader *l, const aw_spec *spec, const char *kind)
{
    aw_element element;
    if (!aw_element_read(&l->element_reader, spec, kind, &element)) return;
    l->status = aw_grow((void **)&l->element, &l->capacity, l->n + 1, sizeof *l->element);
    if (!l->status) l->element[l->n++] = element;
}

/* PALS: the root line begins with it, and those of sublines are dropped. */
static void on_beginning(lattice_reader *l, const aw_spec *spec)
{
    double pc = 0.0, energy = 0.0;
    if (l->depth > 1) return;
    if (l->n || l->begun) {
        aw_yaml_key_error(l->errors, spec->place,
                          "a BeginningEle within the line (expected one, as the first element)");
        return;
    }
    l->begun = 1;
    if (!aw_beginning_read(&l->element_reader, spec, &pc, &energy)) return;
    l->element_reader.pc = pc;
    l->energy = energy;
}

static void need_beginning(lattice_reader *l, const aw_spec *spec)
{
    if (l->begun) return;
    l->begun = 1;
    aw_yaml_key_error(l->errors, spec->place,
                      "the line does not begin with a BeginningEle "
                      "(expected one with ReferenceP.E_tot_ref)");
}

static void expand_line(lattice_reader *l, const aw_spec *spec, int reversed);

static void expand_once(lattice_reader *l, const aw_spec *spec, const char *kind, int reversed)
{
    if (!within(l, spec->place)) return;
    if (strcmp(kind, "BeamLine") == 0) {
        expand_line(l, spec, reversed);
    } else if (strcmp(kind, "BeginningEle") == 0) {
        on_beginning(l, spec);
    } else if (aw_element_kind_known(kind)) {
        need_beginning(l, spec);
        add_element(l, spec, kind);
    } else {
        need_beginning(l, spec);
        aw_yaml_error(l->errors, aw_spec_get(spec, NULL, "kind"),
                      "kind '%.40s' of '%.64s' is not supported (expected BeginningEle, %s or "
                      "BeamLine)",
                      kind, spec->name, aw_element_kinds);
    }
}

/* repeat of this item only: it is not inherited. */
static int repeat_of(lattice_reader *l, const aw_spec *spec, long *count)
{
    const aw_yaml_node *node = aw_yaml_get(spec->node[0], "repeat");
    double value = 1.0;
    *count = 1;
    if (!node) return 1;
    if (!aw_yaml_number(l->errors, node, "a whole number, e.g. 3", &value)) return 0;
    if (value == 0.0 || value < -STEPS_MAX || value > STEPS_MAX || value != (double)(long)value) {
        aw_yaml_error(l->errors, node,
                      "is not a count (expected a whole number other than 0, "
                      "e.g. 3; negative: in reverse order)");
        return 0;
    }
    *count = (long)value;
    return 1;
}

static void expand_item(lattice_reader *l, const aw_yaml_node *item, int reversed)
{
    aw_spec spec;
    long count = 1;
    if (aw_is_extension(&l->element_reader.extensions,
                        item->kind == AW_YAML_MAP && item->n == 1 ? item->first : item))
        return;
    if (!spec_of(l, item, &spec) || !repeat_of(l, &spec, &count)) return;
    const char *kind = kind_of(l, &spec);
    if (!kind) return;
    int backwards = count < 0 ? !reversed : reversed;
    for (long i = labs(count); i > 0 && !l->stopped && !l->status; --i)
        expand_once(l, &spec, kind, backwards);
}

static void check_line(lattice_reader *l, const aw_spec *spec)
{
    static const char *const words[] = {"kind",      "line",     "inherit",   "repeat",
                                        "direction", "periodic", "multipass", "MetaP"};
    static const char *const off[] = {"periodic", "multipass"};
    const aw_yaml_node *direction = aw_spec_get(spec, NULL, "direction");
    double value = 1.0;
    int flag = 0;
    for (int i = 0; i < spec->n; ++i)
        if (spec->node[i]->kind == AW_YAML_MAP)
            aw_pals_known(l->errors, &l->element_reader.extensions, spec->node[i], words,
                          sizeof words / sizeof words[0]);
    for (int i = 0; i < 2; ++i) {
        const aw_yaml_node *node = aw_spec_get(spec, NULL, off[i]);
        if (node && aw_yaml_bool(l->errors, node, &flag) && flag)
            aw_yaml_error(l->errors, node, "is not supported (expected false: a single pass)");
    }
    if (direction && aw_yaml_number(l->errors, direction, "1", &value) && value != 1.0)
        aw_yaml_error(l->errors, direction,
                      "reversed lines are not supported (expected 1; repeat: "
                      "-1 reverses the order)");
}

static void expand_line(lattice_reader *l, const aw_spec *spec, int reversed)
{
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *line = aw_spec_get(spec, NULL, "line");
    check_line(l, spec);
    if (!line || line->kind != AW_YAML_LIST) {
        if (line)
            aw_yaml_error(l->errors, line, "%s is not a list (expected '- ' items)",
                          aw_yaml_show(line, shown));
        else
            aw_yaml_key_error(l->errors, spec->place, "line is missing (expected a list of items)");
        return;
    }
    if (++l->depth > LINE_DEPTH_MAX) {
        aw_yaml_key_error(l->errors, spec->place,
                          "lines within lines in a circle or more than 32 "
                          "deep (expected fewer)");
        l->stopped = 1;
    }
    for (const aw_yaml_node *c = reversed ? line->last : line->first; c && within(l, c);
         c = reversed ? c->prev : c->next)
        expand_item(l, c, reversed);
    --l->depth;
}

/* One entry of the facility: a definition, or `use`. */
static void on_entry(lattice_reader *l, const aw_yaml_node *item)
{
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *entry = item->kind == AW_YAML_MAP && item->n == 1 ? item->first : NULL;
    if (!entry) {
        aw_yaml_error(l->errors, item,
                      "%s is not an entry (expected '- name:' with its parameters "
                      "below)",
                      aw_yaml_show(item, shown));
    } else if (aw_is_extension(&l->element_reader.extensions, entry)) {
        return;
    } else if (strcmp(entry->key, "use") == 0) {
        if (l->use)
            aw_yaml_key_error(l->errors, entry, "was given before, at line %d (expected once)",
                              l->use->key_line);
        l->use = entry;
    } else if (!aw_yaml_get(entry, "kind") && !aw_yaml_get(entry, "inherit")) {
        aw_yaml_key_error(l->errors, entry,
                          "not in the PALS subset that arcwake reads (expected "
                          "a mapping with kind or inherit, or use)");
    } else {
        const aw_yaml_node *kind = aw_yaml_get(entry, "kind");
        l->define[l->n_define++] = entry;
        if (kind && kind->kind == AW_YAML_SCALAR && strcmp(kind->text, "Lattice") == 0)
            l->last_lattice = entry;
    }
}

static aw_status read_facility(lattice_reader *l, const aw_yaml_node *facility)
{
    l->define = malloc((size_t)(facility->n + 1) * sizeof *l->define);
    if (!l->define) return AW_ERR_NOMEM;
    for (const aw_yaml_node *c = facility->first; c; c = c->next) on_entry(l, c);
    qsort(l->define, l->n_define, sizeof *l->define, by_name);
    for (size_t i = 1; i < l->n_define; ++i)
        if (strcmp(l->define[i]->key, l->define[i - 1]->key) == 0)
            aw_yaml_key_error(l->errors, l->define[i],
                              "this name was defined before, at line %d (expected once)",
                              l->define[i - 1]->key_line);
    return AW_OK;
}

/* The mapping of the Lattice that is used: of `use`, else the last one. */
static const aw_yaml_node *chosen_lattice(lattice_reader *l, const aw_yaml_node *facility)
{
    if (!l->use) {
        if (!l->last_lattice)
            aw_yaml_key_error(l->errors, facility,
                              "has no Lattice (expected '- name: {kind: "
                              "Lattice, branches: [...]}')");
        return l->last_lattice;
    }
    const char *name = aw_yaml_text(l->errors, l->use, "the name of a Lattice");
    if (!name) return NULL;
    const aw_yaml_node *node = find(l, name), *kind = aw_yaml_get(node, "kind");
    if (!node)
        not_found(l, l->use, name);
    else if (!kind || kind->kind != AW_YAML_SCALAR || strcmp(kind->text, "Lattice") != 0) {
        aw_yaml_error(l->errors, l->use, "'%.64s' is not a Lattice (expected the name of one)",
                      name);
        return NULL;
    }
    return node;
}

static void read_branch(lattice_reader *l, const aw_yaml_node *lattice)
{
    static const char *const words[] = {"kind", "branches", "MetaP"};
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *branches = aw_yaml_get(lattice, "branches");
    aw_spec spec;
    aw_pals_known(l->errors, &l->element_reader.extensions, lattice, words, 3);
    if (!branches || branches->kind != AW_YAML_LIST || branches->n != 1) {
        if (!branches)
            aw_yaml_key_error(l->errors, lattice,
                              "branches is missing (expected a list "
                              "of one line)");
        else
            aw_yaml_error(l->errors, branches, "%s with %d entries (expected a list of one line)",
                          aw_yaml_show(branches, shown), branches->n);
        return;
    }
    if (!spec_of(l, branches->first, &spec)) return;
    const char *kind = kind_of(l, &spec);
    if (!kind) return;
    if (strcmp(kind, "BeamLine") != 0) {
        aw_yaml_error(l->errors, branches->first, "'%.64s' is not a BeamLine (expected one)",
                      spec.name);
        return;
    }
    expand_once(l, &spec, kind, 0);
    double length = 0.0;
    for (size_t i = 0; i < l->n; ++i) length += l->element[i].length;
    if (aw_input_count(l->errors) == 0 && !(length > 0.0))
        aw_yaml_key_error(l->errors, branches,
                          "the line has no length (expected at least one "
                          "element of some length)");
    if (aw_input_count(l->errors) == 0 && !(length <= 1e9))
        aw_yaml_key_error(l->errors, branches, "the line is %.3g m long (expected less than 1e9)",
                          length);
}

static aw_status read_tree(lattice_reader *l, const aw_yaml_node *root)
{
    static const char *const top[] = {"PALS"};
    static const char *const words[] = {"version", "facility",  "authors",
                                        "notes",   "reminders", "extension_labels"};
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *pals = aw_yaml_get(root, "PALS");
    const aw_yaml_node *facility = aw_yaml_get(pals, "facility");
    const aw_yaml_node *labels = aw_yaml_get(pals, "extension_labels");
    l->element_reader.extensions =
        (aw_extensions){aw_yaml_get(labels, "names"), aw_yaml_get(labels, "prefixes"),
                        aw_yaml_get(labels, "suffixes")};
    if (root->kind == AW_YAML_MAP)
        aw_pals_known(l->errors, &l->element_reader.extensions, root, top, 1);
    if (!pals || pals->kind != AW_YAML_MAP) {
        aw_yaml_error(l->errors, pals ? pals : root,
                      "%s (expected a PALS lattice: a mapping "
                      "'PALS' with 'facility' below)",
                      pals ? aw_yaml_show(pals, shown) : "has no key 'PALS'");
        return AW_OK;
    }
    aw_pals_known(l->errors, &l->element_reader.extensions, pals, words,
                  sizeof words / sizeof words[0]);
    if (!facility || facility->kind != AW_YAML_LIST) {
        aw_yaml_key_error(l->errors, facility ? facility : pals,
                          "%s (expected 'facility' with a list of elements, lines and a Lattice)",
                          facility ? aw_yaml_show(facility, shown) : "facility is missing");
        return AW_OK;
    }
    aw_status status = read_facility(l, facility);
    if (status) return status;
    const aw_yaml_node *lattice = chosen_lattice(l, facility);
    if (lattice) read_branch(l, lattice);
    return l->status;
}

aw_status aw_lattice_file_read(const char *path, const aw_yaml_node *from, aw_input_errors *errors,
                               aw_element **element, size_t *n, double *gamma_ref)
{
    aw_yaml *doc = NULL;
    aw_input_errors own = {0}; /* counts this file's problems alone */
    lattice_reader l = {.errors = &own, .element_reader = {.errors = &own}};
    *element = NULL;
    *n = 0;
    *gamma_ref = 0.0;
    aw_status status = aw_yaml_read(path, from, &own, &doc);
    if (doc && status != AW_ERR_NOMEM) status = read_tree(&l, aw_yaml_root(doc));
    if (status == AW_OK && aw_input_count(&own)) status = AW_ERR_INPUT;
    if (status == AW_OK) {
        *element = l.element;
        *n = l.n;
        *gamma_ref = l.energy / AW_ME_EV;
        l.element = NULL;
    }
    aw_input_move(errors, &own);
    aw_free(l.element);
    free(l.define);
    aw_yaml_free(doc);
    return status;
}
