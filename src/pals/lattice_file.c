/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/pals/lattice_file.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/pals/lattice_line.h"

typedef struct lattice_reader {
    aw_lattice_reader line;
    aw_input_errors *errors;
    const aw_yaml_node *use, *last_lattice;
} lattice_reader;

static int is_lattice(const aw_yaml_node *entry)
{
    const aw_yaml_node *kind = aw_yaml_get(entry, "kind");
    return kind && kind->kind == AW_YAML_SCALAR && strcmp(kind->text, "Lattice") == 0;
}

/* A second `use` is a problem. */
static void on_use(lattice_reader *l, const aw_yaml_node *use)
{
    if (l->use)
        aw_yaml_key_error(l->errors, use, "was given before, at line %d (expected once)",
                          l->use->line);
    l->use = use;
}

/* One entry of the facility: a definition, or `use: name`, which pals_schema writes as `name`. */
static void on_entry(lattice_reader *l, const aw_yaml_node *item)
{
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *entry = item->kind == AW_YAML_MAP && item->n == 1 ? item->first : NULL;
    if (!entry && item->kind == AW_YAML_SCALAR && !aw_yaml_is_null(item)) {
        on_use(l, item);
    } else if (!entry) {
        aw_yaml_error(l->errors, item,
                      "%s is not an entry (expected '- name:' with its parameters "
                      "below)",
                      aw_yaml_show(item, shown));
    } else if (aw_is_extension(&l->line.element_reader.extensions, entry)) {
        return;
    } else if (strcmp(entry->key, "use") == 0) {
        on_use(l, entry);
    } else if (!aw_yaml_get(entry, "kind") && !aw_yaml_get(entry, "inherit")) {
        aw_yaml_key_error(l->errors, entry,
                          "not in the PALS subset that arcwake reads (expected "
                          "a mapping with kind or inherit, or use)");
    } else {
        aw_lattice_define(&l->line, entry);
        if (is_lattice(entry)) l->last_lattice = entry;
    }
}

/* The mapping of the Lattice that is used: of `use`, else the last one. */
static const aw_yaml_node *chosen_lattice(lattice_reader *l)
{
    if (!l->use) {
        if (!l->last_lattice)
            aw_yaml_key_error(l->errors, l->line.facility,
                              "has no Lattice (expected '- name: {kind: "
                              "Lattice, branches: [...]}')");
        return l->last_lattice;
    }
    const char *name = aw_yaml_text(l->errors, l->use, "the name of a Lattice");
    const aw_yaml_node *node = name ? aw_lattice_find(&l->line, l->use, name) : NULL;
    if (!node || is_lattice(node)) return node;
    aw_yaml_error(l->errors, l->use, "'%.64s' is not a Lattice (expected the name of one)", name);
    return NULL;
}

static void read_branch(lattice_reader *l, const aw_yaml_node *lattice)
{
    static const char *const words[] = {"kind", "branches", "MetaP"};
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *branches = aw_yaml_get(lattice, "branches");
    aw_pals_known(l->errors, &l->line.element_reader.extensions, lattice, words, 3);
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
    aw_lattice_expand(&l->line, branches->first);
    double length = 0.0;
    for (size_t i = 0; i < l->line.n; ++i) length += l->line.element[i].length;
    if (aw_input_count(l->errors) == 0 && !(length > 0.0))
        aw_yaml_key_error(l->errors, branches,
                          "the line has no length (expected at least one "
                          "element of some length)");
    if (aw_input_count(l->errors) == 0 && !(length <= 1e9))
        aw_yaml_key_error(l->errors, branches, "the line is %.3g m long (expected less than 1e9)",
                          length);
}

static aw_status read_tree(lattice_reader *l, const aw_yaml_node *root,
                           const aw_yaml_node **lattice)
{
    static const char *const top[] = {"PALS"};
    static const char *const words[] = {"version", "facility",  "authors",
                                        "notes",   "reminders", "extension_labels"};
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *pals = aw_yaml_get(root, "PALS");
    const aw_yaml_node *facility = aw_yaml_get(pals, "facility");
    const aw_yaml_node *labels = aw_yaml_get(pals, "extension_labels");
    l->line.element_reader.extensions =
        (aw_extensions){aw_yaml_get(labels, "names"), aw_yaml_get(labels, "prefixes"),
                        aw_yaml_get(labels, "suffixes")};
    if (root->kind == AW_YAML_MAP)
        aw_pals_known(l->errors, &l->line.element_reader.extensions, root, top, 1);
    if (!pals || pals->kind != AW_YAML_MAP) {
        aw_yaml_error(l->errors, pals ? pals : root,
                      "%s (expected a PALS lattice: a mapping "
                      "'PALS' with 'facility' below)",
                      pals ? aw_yaml_show(pals, shown) : "has no key 'PALS'");
        return AW_OK;
    }
    aw_pals_known(l->errors, &l->line.element_reader.extensions, pals, words,
                  sizeof words / sizeof words[0]);
    if (!facility || facility->kind != AW_YAML_LIST) {
        aw_yaml_key_error(l->errors, facility ? facility : pals,
                          "%s (expected 'facility' with a list of elements, lines and a Lattice)",
                          facility ? aw_yaml_show(facility, shown) : "facility is missing");
        return AW_OK;
    }
    l->line.facility = facility;
    for (const aw_yaml_node *c = facility->first; c; c = c->next) on_entry(l, c);
    aw_lattice_defined(&l->line);
    *lattice = chosen_lattice(l);
    if (*lattice) read_branch(l, *lattice);
    return l->line.status;
}

/* Move what was read to `out`. */
static aw_status hand_over(aw_lattice_reader *line, const aw_yaml_node *lattice,
                           aw_lattice_input *out)
{
    out->name = strdup(lattice->key);
    out->file = strdup(lattice->file);
    out->element = line->element;
    out->place = line->place;
    out->n = line->n;
    out->energy = line->energy;
    out->gamma_ref = line->energy / AW_ME_EV;
    line->element = NULL;
    line->place = NULL;
    if (out->name && out->file) return AW_OK;
    aw_lattice_input_free(out);
    return AW_ERR_NOMEM;
}

aw_status aw_lattice_tree_read(const aw_yaml_node *root, aw_input_errors *errors,
                               aw_lattice_input *out)
{
    aw_input_errors own = {0}; /* counts the lattice's problems alone */
    lattice_reader l = {.errors = &own, .line = {.element_reader = {.errors = &own}}};
    const aw_yaml_node *lattice = NULL;
    *out = (aw_lattice_input){0};
    aw_status status = read_tree(&l, root, &lattice);
    if (status == AW_OK && aw_input_count(&own)) status = AW_ERR_INPUT;
    if (status == AW_OK && lattice) status = hand_over(&l.line, lattice, out);
    aw_input_move(errors, &own);
    aw_lattice_reader_free(&l.line);
    return status;
}

aw_status aw_lattice_file_read(const char *path, const aw_yaml_node *from, aw_input_errors *errors,
                               aw_lattice_input *out)
{
    aw_yaml *doc = NULL;
    *out = (aw_lattice_input){0};
    aw_status read = aw_yaml_read(path, from, errors, &doc);
    aw_status status = read;
    if (doc && read != AW_ERR_NOMEM) status = aw_lattice_tree_read(aw_yaml_root(doc), errors, out);
    if (status == AW_OK && read) { /* duplicate keys: a tree, but a problem */
        aw_lattice_input_free(out);
        status = read;
    }
    aw_yaml_free(doc);
    return status;
}

void aw_lattice_input_free(aw_lattice_input *input)
{
    aw_free(input->element);
    aw_free(input->place);
    free(input->name);
    free(input->file);
    *input = (aw_lattice_input){0};
}
