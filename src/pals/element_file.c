/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/pals/element_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/units.h"
#include "src/pals/bend_file.h"
#include "src/pals/cavity_file.h"
#include "src/pals/multipole_file.h"
#include "src/pals/passive_file.h"

#define COUNT(words) (sizeof(words) / sizeof(words)[0])

/* What every element may have. repeat and direction belong to items of a line. */
#define COMMON                                                                            \
    "kind", "inherit", "length", "repeat", "direction", "is_on", "field_master", "MetaP", \
        AW_NEUTRAL_GROUPS

static int starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static int ends(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);
    return n >= m && strcmp(text + n - m, suffix) == 0;
}

static int registered(const aw_yaml_node *labels, const char *key,
                      int (*match)(const char *, const char *))
{
    if (!labels || labels->kind != AW_YAML_MAP) return 0;
    for (const aw_yaml_node *c = labels->first; c; c = c->next)
        if (match ? match(key, c->key) : strcmp(key, c->key) == 0) return 1;
    return 0;
}

int aw_is_extension(const aw_extensions *extensions, const aw_yaml_node *node)
{
    /* an element that carries an `extension` mapping is still an element */
    if (aw_yaml_get(node, "extension") && !aw_yaml_get(node, "kind") &&
        !aw_yaml_get(node, "inherit"))
        return 1;
    if (!node->key) return 0;
    return strcmp(node->key, "extension") == 0 || registered(extensions->names, node->key, NULL) ||
           registered(extensions->prefixes, node->key, starts) ||
           registered(extensions->suffixes, node->key, ends);
}

void aw_pals_known(aw_input_errors *errors, const aw_extensions *extensions,
                   const aw_yaml_node *map, const char *const *words, size_t n)
{
    char list[600];
    size_t used = 0;
    list[0] = '\0';
    for (const aw_yaml_node *c = map->first; c && !aw_input_full(errors); c = c->next) {
        size_t i = 0;
        while (i < n && strcmp(c->key, words[i]) != 0) ++i;
        if (i < n || aw_is_extension(extensions, c)) continue;
        const char *meant = aw_yaml_nearest(c->key, words, n);
        if (meant) {
            aw_yaml_key_error(errors, c, "unknown key (expected %s?)", meant);
            continue;
        }
        used = 0;
        for (i = 0; i < n && used < sizeof list; ++i)
            used +=
                (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
        aw_yaml_key_error(errors, c,
                          "not in the PALS subset that arcwake reads (expected one of: "
                          "%s)",
                          list);
    }
}

const aw_yaml_node *aw_spec_get(const aw_spec *spec, const char *group, const char *key)
{
    for (int i = 0; i < spec->n; ++i) {
        const aw_yaml_node *map = group ? aw_yaml_get(spec->node[i], group) : spec->node[i];
        const aw_yaml_node *node = aw_yaml_get(map, key);
        if (node) return node;
    }
    return NULL;
}

const aw_yaml_node *aw_spec_group(const aw_element_reader *r, const aw_spec *spec, int i,
                                  const char *group, int *good)
{
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *map = aw_yaml_get(spec->node[i], group);
    if (!map || aw_yaml_is_null(map)) return NULL;
    if (map->kind == AW_YAML_MAP) return map;
    aw_yaml_error(r->errors, map, "%s is not a mapping (expected parameters below it)",
                  aw_yaml_show(map, shown));
    *good = 0;
    return NULL;
}

static void check_keys(const aw_element_reader *r, const aw_spec *spec, const char *const *words,
                       size_t n)
{
    for (int i = 0; i < spec->n; ++i)
        if (spec->node[i]->kind == AW_YAML_MAP)
            aw_pals_known(r->errors, &r->extensions, spec->node[i], words, n);
}

/* Check the keys of a group in the element and in all that it inherits. */
static int check_group(const aw_element_reader *r, const aw_spec *spec, const char *group,
                       const char *const *words, size_t n)
{
    int good = 1;
    for (int i = 0; i < spec->n; ++i) {
        const aw_yaml_node *map = aw_spec_group(r, spec, i, group, &good);
        if (map && words) aw_pals_known(r->errors, &r->extensions, map, words, n);
    }
    return good;
}

static int check_common(const aw_element_reader *r, const aw_spec *spec)
{
    const aw_yaml_node *on = aw_spec_get(spec, NULL, "is_on");
    const aw_yaml_node *direction = aw_spec_get(spec, NULL, "direction");
    double value = 1.0;
    int flag = 1, good = 1;
    if (on && (!aw_yaml_bool(r->errors, on, &flag) || !flag)) {
        if (!flag)
            aw_yaml_error(r->errors, on,
                          "elements switched off are not supported (expected true; "
                          "use kind: Drift)");
        good = 0;
    }
    if (direction && (!aw_yaml_number(r->errors, direction, "1", &value) || value != 1.0)) {
        if (value != 1.0)
            aw_yaml_error(r->errors, direction, "reversed elements are not supported (expected 1)");
        good = 0;
    }
    return aw_neutral_groups(r, spec) && good;
}

static int read_length(const aw_element_reader *r, const aw_spec *spec, double *length)
{
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *node = aw_spec_get(spec, NULL, "length");
    *length = 0.0;
    if (!node) return 1;
    if (!aw_yaml_number(r->errors, node, "a length in m, e.g. 0.5", length)) return 0;
    if (*length >= 0.0) return 1;
    aw_yaml_error(r->errors, node, "%s is negative (expected a length in m, e.g. 0.5)",
                  aw_yaml_show(node, shown));
    return 0;
}

static int read_drift(const aw_element_reader *r, const aw_spec *spec, aw_element *out)
{
    static const char *const words[] = {COMMON};
    check_keys(r, spec, words, COUNT(words));
    return read_length(r, spec, &out->length);
}

static int read_marker(const aw_element_reader *r, const aw_spec *spec, aw_element *out)
{
    static const char *const words[] = {COMMON};
    check_keys(r, spec, words, COUNT(words));
    if (!read_length(r, spec, &out->length)) return 0;
    if (out->length == 0.0) return 1;
    aw_yaml_error(r->errors, aw_spec_get(spec, NULL, "length"),
                  "a marker has no length (expected 0, or kind: Drift)");
    return 0;
}

/* An element without a field, and whatever has none because its strengths are 0: a drift. */
static int read_passive(const aw_element_reader *r, const aw_spec *spec, aw_element *out)
{
    static const char *const words[] = {COMMON,   "MagneticMultipoleP", "SolenoidP",
                                        "PatchP", "FloorShiftP",        "ForkP"};
    static const char *const groups[] = {"MagneticMultipoleP", "SolenoidP", "PatchP",
                                         "FloorShiftP"};
    int good = 1;
    check_keys(r, spec, words, COUNT(words));
    for (size_t i = 0; i < COUNT(groups); ++i) good &= aw_neutral_group(r, spec, groups[i]);
    return read_length(r, spec, &out->length) && good;
}

/* A straight magnet: its kind only says which component is meant to be the largest. */
static int read_multipole(const aw_element_reader *r, const aw_spec *spec, aw_element *out)
{
    static const char *const words[] = {COMMON, "MagneticMultipoleP"};
    aw_multipole field = {.highest = AW_ORDERS - 1};
    check_keys(r, spec, words, COUNT(words));
    int good = read_length(r, spec, &out->length);
    good &= check_group(r, spec, "MagneticMultipoleP", NULL, 0);
    field.length = out->length;
    if (!good || !aw_multipole_read(r, spec, &field)) return 0;
    memcpy(out->strength, field.value, sizeof out->strength);
    return 1;
}

/* The field of either kind of cavity; only one along the axis is modelled. */
static int read_rf(const aw_element_reader *r, const aw_spec *spec, int crab, aw_element *out)
{
    static const char *const words[] = {COMMON, "RFP", "MagneticMultipoleP", "SolenoidP"};
    size_t n = 0;
    const char *const *rf = aw_cavity_words(&n);
    check_keys(r, spec, words, COUNT(words));
    int good = check_group(r, spec, "RFP", rf, n);
    good &= aw_neutral_group(r, spec, "MagneticMultipoleP");
    good &= aw_neutral_group(r, spec, "SolenoidP");
    good &= read_length(r, spec, &out->length);
    if (!good) return 0;
    return crab ? aw_cavity_check_off(r, spec) : aw_cavity_read(r, spec, out);
}

static int read_cavity(const aw_element_reader *r, const aw_spec *spec, aw_element *out)
{
    return read_rf(r, spec, 0, out);
}

static int read_crab_cavity(const aw_element_reader *r, const aw_spec *spec, aw_element *out)
{
    return read_rf(r, spec, 1, out);
}

static int read_any_bend(const aw_element_reader *r, const aw_spec *spec, int rectangular,
                         aw_element *out)
{
    static const char *const words[] = {COMMON, "BendP", "MagneticMultipoleP"};
    size_t n = 0;
    const char *const *bend_words = aw_bend_words(&n);
    double length = 0.0;
    check_keys(r, spec, words, COUNT(words));
    int good = check_group(r, spec, "BendP", bend_words, n);
    good &= check_group(r, spec, "MagneticMultipoleP", NULL, 0);
    good &= read_length(r, spec, &length);
    return good && aw_bend_read(r, spec, rectangular, out);
}

static int read_bend(const aw_element_reader *r, const aw_spec *spec, aw_element *out)
{
    return read_any_bend(r, spec, 0, out);
}

static int read_rectangular_bend(const aw_element_reader *r, const aw_spec *spec, aw_element *out)
{
    return read_any_bend(r, spec, 1, out);
}

const char aw_element_kinds[] =
    "Drift, Bend, Quadrupole, Sextupole, Octupole, Multipole, RFCavity, Marker";

/* The kinds of elements. BeginningEle is read by aw_beginning_read. */
static const struct {
    const char *name;
    aw_element_kind kind;
    int (*read)(const aw_element_reader *r, const aw_spec *spec, aw_element *out);
} kinds[] = {{"BeginningEle", AW_MARKER, NULL},
             {"Drift", AW_DRIFT, read_drift},
             {"Bend", AW_BEND, read_bend},
             {"SBend", AW_BEND, read_bend},
             {"RBend", AW_BEND, read_rectangular_bend},
             {"Quadrupole", AW_QUADRUPOLE, read_multipole},
             {"Sextupole", AW_SEXTUPOLE, read_multipole},
             {"Octupole", AW_OCTUPOLE, read_multipole},
             {"Multipole", AW_MULTIPOLE, read_multipole},
             {"Marker", AW_MARKER, read_marker},
             {"Fiducial", AW_MARKER, read_marker},
             {"NullEle", AW_MARKER, read_marker},
             {"Fork", AW_DRIFT, read_passive},
             {"Instrument", AW_DRIFT, read_passive},
             {"Monitor", AW_DRIFT, read_passive},
             {"Mask", AW_DRIFT, read_passive},
             {"Collimator", AW_DRIFT, read_passive},
             {"Kicker", AW_DRIFT, read_passive},
             {"ACKicker", AW_DRIFT, read_passive},
             {"RFCavity", AW_CAVITY, read_cavity},
             {"CrabCavity", AW_DRIFT, read_crab_cavity},
             {"Solenoid", AW_DRIFT, read_passive},
             {"Patch", AW_DRIFT, read_passive},
             {"FloorShift", AW_DRIFT, read_passive}};

int aw_element_kind_known(const char *kind)
{
    for (size_t i = 0; i < COUNT(kinds); ++i)
        if (strcmp(kind, kinds[i].name) == 0) return 1;
    return 0;
}

/* The name, cut between two characters of UTF-8 where it is too long. */
static void set_name(aw_element *out, const char *name)
{
    size_t n = strlen(name);
    if (n >= sizeof out->name)
        for (n = sizeof out->name - 1; n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80;) --n;
    memcpy(out->name, name, n);
    out->name[n] = '\0';
}

int aw_element_read(const aw_element_reader *r, const aw_spec *spec, const char *kind,
                    aw_element *out)
{
    size_t k = 0;
    *out = (aw_element){0};
    while (k < COUNT(kinds) && strcmp(kind, kinds[k].name) != 0) ++k;
    if (k == COUNT(kinds) || !kinds[k].read) {
        aw_yaml_key_error(r->errors, spec->place,
                          "kind '%.40s' is not that of an element (expected %s)", kind,
                          aw_element_kinds);
        return 0;
    }
    set_name(out, spec->name);
    out->kind = kinds[k].kind;
    int good = kinds[k].read(r, spec, out);
    good &= check_common(r, spec);
    if (!good) return 0;
    /* A drift or magnet of no length and strength is a marker, a bend without a field a drift. */
    if (out->length == 0.0 && !aw_element_acts(out)) {
        out->kind = AW_MARKER;
        memset(out->strength, 0, sizeof out->strength);
    }
    if (out->kind == AW_CAVITY && !aw_element_acts(out)) out->kind = AW_DRIFT;
    if (out->kind == AW_BEND && !aw_element_acts(out)) {
        out->kind = AW_DRIFT;
        out->e1 = out->e2 = 0.0;
    }
    return 1;
}

static int check_species(const aw_element_reader *r, const aw_spec *spec)
{
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *species = aw_spec_get(spec, "ReferenceP", "species_ref");
    if (!species) {
        aw_yaml_key_error(r->errors, spec->place,
                          "ReferenceP.species_ref is missing (expected electron)");
        return 0;
    }
    const char *text = aw_yaml_text(r->errors, species, "electron");
    if (!text) return 0;
    if (strcmp(text, "electron") == 0) return 1;
    aw_yaml_error(r->errors, species, "%s is not supported (expected electron)",
                  aw_yaml_show(species, shown));
    return 0;
}

static int read_energy(const aw_element_reader *r, const aw_spec *spec, double *pc, double *energy)
{
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *total = aw_spec_get(spec, "ReferenceP", "E_tot_ref");
    const aw_yaml_node *momentum = aw_spec_get(spec, "ReferenceP", "pc_ref");
    double value = 0.0;
    if (total && momentum && aw_yaml_is_zero(total)) total = NULL;
    if (total && momentum && aw_yaml_is_zero(momentum)) momentum = NULL;
    const char *expected =
        total ? "the total energy in eV, e.g. 5.0e9" : "the momentum times c in eV, e.g. 5.0e9";
    if (total && momentum) {
        aw_yaml_key_error(r->errors, momentum,
                          "E_tot_ref is given as well, at line %d (expected one of the two)",
                          total->key_line);
        return 0;
    }
    if (!total && !momentum) {
        aw_yaml_key_error(r->errors, spec->place, "ReferenceP.E_tot_ref is missing (expected %s)",
                          "the total energy in eV, or pc_ref");
        return 0;
    }
    const aw_yaml_node *node = total ? total : momentum;
    if (!aw_yaml_number(r->errors, node, expected, &value)) return 0;
    *energy = total ? value : hypot(value, AW_ME_EV);
    const double gamma = *energy / AW_ME_EV;
    if (!(value > 0.0 && gamma > 1.0 && gamma <= AW_GAMMA_MAX)) {
        aw_yaml_error(r->errors, node, "%s is %s (expected %s)", aw_yaml_show(node, shown),
                      gamma > AW_GAMMA_MAX ? "above 51 TeV"
                      : total              ? "not above the rest energy, 510998.95 eV"
                      : value > 0.0        ? "too small for any motion"
                                           : "not positive",
                      expected);
        return 0;
    }
    *pc = total ? sqrt((value - AW_ME_EV) * (value + AW_ME_EV)) : value;
    return 1;
}

int aw_beginning_read(const aw_element_reader *r, const aw_spec *spec, double *pc, double *energy)
{
    static const char *const words[] = {COMMON, "ReferenceP"};
    static const char *const reference[] = {"species_ref", "E_tot_ref", "pc_ref", "time_ref",
                                            "location"};
    const aw_yaml_node *time = aw_spec_get(spec, "ReferenceP", "time_ref");
    check_keys(r, spec, words, COUNT(words));
    int good = check_group(r, spec, "ReferenceP", reference, COUNT(reference));
    if (time && !aw_yaml_is_zero(time)) {
        aw_yaml_error(r->errors, time, "is not supported (expected 0: runs start at time 0)");
        good = 0;
    }
    good &= check_common(r, spec);
    good &= check_species(r, spec);
    return read_energy(r, spec, pc, energy) && good && *energy > AW_ME_EV;
}
