/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Write a configuration as the text of a run file, which reads back to the same bits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/beam/beam_file.h"
#include "src/input/beam_source.h"
#include "src/input/fields.h"
#include "src/input/wakes.h"
#include "src/io/directory.h"
#include "src/yaml/quote.h"

static void put_key(FILE *out, const aw_field *field)
{
    const char *leaf = aw_field_leaf(field);
    fprintf(out, "%s%s: ", leaf == field->key ? "" : "  ", leaf);
}

/* The fewest digits that read back as the same double, with a point: to YAML 1.1, as PyYAML reads
 * it, 1e-09 is a text and 1.0e-09 a number. */
static void put_double(FILE *out, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    const size_t mantissa = strcspn(text, "e");
    const char *point = strchr(text, '.') ? "" : ".0";
    fprintf(out, "%.*s%s%s", (int)mantissa, text, point, text + mantissa);
}

static void put_number(FILE *out, const aw_field *field, double value)
{
    put_key(out, field);
    put_double(out, value);
    fputc('\n', out);
}

static void put_word(FILE *out, const char *words, int position)
{
    while (position-- > 0) {
        words = strchr(words, '|');
        if (!words) return;
        ++words;
    }
    fprintf(out, "%.*s", (int)strcspn(words, "|"), words);
}

static void put_places(FILE *out, const aw_field *field, const double *at, size_t n)
{
    put_key(out, field);
    fputc('[', out);
    for (size_t i = 0; i < n; ++i) {
        fputs(i == 0 ? "" : i % 8 ? ", " : ",\n         ", out);
        put_double(out, at[i]);
    }
    fputs("]\n", out);
}

/* An element of the lattice, to be sorted by name. */
typedef struct named {
    const aw_element *element;
    size_t first; /* position of the first element of its name; it is defined there */
    int same;     /* 1: all elements of this name are the same */
} named;

static int by_name(const void *a, const void *b)
{
    const named *x = a, *y = b;
    int order = strcmp(x->element->name, y->element->name);
    return order ? order : (x->element > y->element) - (x->element < y->element);
}

static int by_position(const void *a, const void *b)
{
    const named *x = a, *y = b;
    return (x->element > y->element) - (x->element < y->element);
}

static int same_numbers(const double *x, const double *y, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        if (!(x[i] == y[i]) || signbit(x[i]) != signbit(y[i])) return 0;
    return 1;
}

static int same_element(const aw_element *a, const aw_element *b)
{
    const double x[] = {a->length,     a->angle,        a->e1,      a->e2,
                        a->rf.voltage, a->rf.frequency, a->rf.phase};
    const double y[] = {b->length,     b->angle,        b->e1,      b->e2,
                        b->rf.voltage, b->rf.frequency, b->rf.phase};
    return a->kind == b->kind && a->geometry == b->geometry &&
           same_numbers(x, y, sizeof x / sizeof *x) &&
           same_numbers(a->strength, b->strength, AW_ORDERS);
}

/* The elements with `first` and `same`; NULL if out of memory. */
static named *name_elements(const aw_lattice *lattice)
{
    named *list = malloc((lattice->n + 1) * sizeof *list);
    if (!list) return NULL;
    for (size_t i = 0; i < lattice->n; ++i) list[i].element = &lattice->element[i];
    qsort(list, lattice->n, sizeof *list, by_name);
    for (size_t i = 0, end; i < lattice->n; i = end) {
        const aw_element *head = list[i].element;
        int same = 1;
        for (end = i; end < lattice->n && strcmp(list[end].element->name, head->name) == 0; ++end)
            same = same && same_element(list[end].element, head);
        for (size_t k = i; k < end; ++k) {
            list[k].first = (size_t)(head - lattice->element);
            list[k].same = same;
        }
    }
    qsort(list, lattice->n, sizeof *list, by_position);
    return list;
}

static void put_parameter(FILE *out, const char *before, const char *key, double value)
{
    fprintf(out, "%s%s: ", before, key);
    put_double(out, value);
}

/* The components that are not 0, and that which names the kind (-1: none does). */
static void put_strengths(FILE *out, const aw_element *e, int main)
{
    const char *before = ", MagneticMultipoleP: {";
    char key[16];
    for (int n = 0; n < AW_ORDERS; ++n) {
        if (n != main && e->strength[n] == 0.0 && !signbit(e->strength[n])) continue;
        snprintf(key, sizeof key, "Kn%d%s", n, e->length > 0.0 ? "" : "L");
        put_parameter(out, before, key, e->strength[n]);
        before = ", ";
    }
    if (before[2] == '\0') fputc('}', out);
}

static void put_rf(FILE *out, const aw_rf *rf)
{
    put_parameter(out, ", RFP: {", "frequency", rf->frequency);
    put_parameter(out, ", ", "voltage", rf->voltage);
    put_parameter(out, ", ", "phase", rf->phase);
    fputs(", zero_phase: ACCELERATING}", out);
}

/* The parameters of an element. Length and angle define a bend exactly; pals_schema, which does not
 * know the angle, needs the curvature. */
static void put_element(FILE *out, const aw_element *e)
{
    static const struct {
        const char *name;
        int main; /* order of the component that names it */
    } kinds[] = {[AW_DRIFT] = {"Drift", -1},          [AW_BEND] = {"SBend", -1},
                 [AW_QUADRUPOLE] = {"Quadrupole", 1}, [AW_SEXTUPOLE] = {"Sextupole", 2},
                 [AW_OCTUPOLE] = {"Octupole", 3},     [AW_MULTIPOLE] = {"Multipole", -1},
                 [AW_CAVITY] = {"RFCavity", -1},      [AW_MARKER] = {"Marker", -1}};
    double curvature = e->angle / e->length;
    fprintf(out, "{kind: %s", kinds[e->kind].name);
    if (e->kind != AW_MARKER) put_parameter(out, ", ", "length", e->length);
    if (e->kind == AW_BEND) {
        put_parameter(out, ", BendP: {", "angle_ref", e->angle);
        if (isnormal(curvature)) put_parameter(out, ", ", "g_ref", curvature);
        put_parameter(out, ", ", "e1", e->e1);
        put_parameter(out, ", ", "e2", e->e2);
        if (e->geometry == AW_HORIZONTALLY_PURE)
            fputs(", multipole_geometry: horizontally_pure", out);
        fputc('}', out);
    }
    if (e->kind == AW_CAVITY) put_rf(out, &e->rf);
    put_strengths(out, e, kinds[e->kind].main);
    fputc('}', out);
}

/* The lattice itself: its elements in one line, each defined where its name comes first. */
static int put_lattice(FILE *out, const aw_config *config)
{
    const aw_lattice *lattice = config->lattice;
    const char *line = strcmp(config->lattice_name, "line") == 0 ? "beamline" : "line";
    const char *begin = "start", *own[] = {line, begin, config->lattice_name};
    named *list = name_elements(lattice);
    if (!list) return 0;
    fprintf(out,
            "lattice:\n  PALS:\n    version: null\n    facility:\n      - %s:\n"
            "          kind: BeamLine\n          line:\n            - %s: {kind: BeginningEle, "
            "ReferenceP: {species_ref: electron, location: UPSTREAM_END",
            line, begin);
    put_parameter(out, ", ", "E_tot_ref", config->lattice_eV);
    fputs("}}\n", out);
    for (size_t i = 0; i < lattice->n; ++i) {
        const char *name = lattice->element[i].name;
        int taken = 0;
        for (size_t k = 0; k < 3; ++k) taken |= strcmp(name, own[k]) == 0;
        fputs("            - ", out);
        aw_yaml_quote(out, name);
        if (taken || !list[i].same || list[i].first == i) {
            fputs(": ", out);
            put_element(out, &lattice->element[i]);
        }
        fputc('\n', out);
    }
    fputs("      - ", out);
    aw_yaml_quote(out, config->lattice_name);
    fprintf(out, ": {kind: Lattice, branches: [%s]}\n      - use: ", line);
    aw_yaml_quote(out, config->lattice_name);
    fputc('\n', out);
    free(list);
    return 1;
}

static void put_iteration(FILE *out, const aw_field *field, long iteration)
{
    put_key(out, field);
    if (iteration < 0)
        fputs(iteration == AW_ITERATION_ALL ? "all\n" : "last\n", out);
    else
        fprintf(out, "%ld\n", iteration);
}

static void put_modulation(FILE *out, const aw_field *field, const aw_beam_params *beam)
{
    put_key(out, field);
    fputs("{wavelength_m: ", out);
    put_double(out, beam->modulation_wavelength);
    fputs(", depth: ", out);
    put_double(out, beam->modulation_depth);
    fputs("}\n", out);
}

static void put_wake(FILE *out, const aw_wake_item *item)
{
    fputs("  - {file: ", out);
    aw_yaml_quote(out, item->file);
    fputs(", kind: ", out);
    put_word(out, AW_WAKE_KINDS, item->kind);
    fputs(", unit: ", out);
    put_word(out, AW_WAKE_UNITS, item->per_m);
    put_parameter(out, ", ", "factor", item->factor);
    for (size_t i = 0; i < item->elements; ++i) {
        fputs(i ? ", " : ", elements: [", out);
        aw_yaml_quote(out, item->element[i]);
    }
    if (item->elements > 0) {
        fputs("]}\n", out);
        return;
    }
    put_parameter(out, ", ", "from_m", item->from_m);
    put_parameter(out, ", ", "to_m", item->to_m);
    fputs("}\n", out);
}

static void put_wakes(FILE *out, const aw_config *config)
{
    if (config->wakes > 0) fputs("wakes:\n", out);
    for (size_t i = 0; i < config->wakes; ++i) put_wake(out, &config->wake_item[i]);
}

/* Texts are quoted, because a plain one could be read as a number, a null or another type.
 * @return 0 if out of memory */
static int put_special(FILE *out, const aw_field *field, const aw_config *config)
{
    const char *leaf = aw_field_leaf(field);
    const aw_beam_params *beam = &config->beam;
    int by_emittance = beam->emittance > 0.0;
    if (strcmp(leaf, "title") == 0) {
        put_key(out, field);
        aw_yaml_quote(out, config->title);
        fputc('\n', out);
    } else if (strcmp(leaf, "lattice") == 0)
        return put_lattice(out, config);
    else if (strcmp(leaf, "file") == 0) {
        put_key(out, field);
        aw_yaml_quote(out, config->beam_file);
        fputc('\n', out);
    } else if (strcmp(leaf, "profile") == 0) {
        put_key(out, field);
        aw_yaml_quote(out, config->profile);
        fputc('\n', out);
    } else if (strcmp(leaf, "iteration") == 0)
        put_iteration(out, field, config->beam_iteration);
    else if (strcmp(leaf, "resample") == 0 && config->beam_wanted > 0) {
        put_key(out, field);
        fprintf(out, "%zu\n", config->beam_wanted);
    } else if (strcmp(leaf, "modulation") == 0 && beam->modulation_depth > 0.0)
        put_modulation(out, field, beam);
    else if (strcmp(leaf, "gamma") == 0)
        put_number(out, field, beam->gamma);
    else if (strcmp(leaf, "sigma_x_m") == 0 && !by_emittance)
        put_number(out, field, beam->sigma_x);
    else if (strcmp(leaf, "emittance_x_m") == 0 && by_emittance)
        put_number(out, field, beam->emittance);
    else if (strcmp(leaf, "beta_x_m") == 0 && by_emittance)
        put_number(out, field, beam->beta_x);
    else if (strcmp(leaf, "alpha_x") == 0 && by_emittance)
        put_number(out, field, beam->alpha_x);
    else if (strcmp(leaf, "beta_y_m") == 0 && beam->emittance_y > 0.0)
        put_number(out, field, beam->beta_y);
    else if (strcmp(leaf, "alpha_y") == 0 && beam->emittance_y > 0.0)
        put_number(out, field, beam->alpha_y);
    else if (strcmp(leaf, "wakes") == 0)
        put_wakes(out, config);
    else if (strcmp(leaf, "accuracy") == 0 && config->accuracy > 0.0)
        put_number(out, field, config->accuracy);
    else if (strcmp(leaf, "grid") == 0)
        fprintf(out, "  grid: [%d, %d]\n", config->grid[0], config->grid[1]);
    else if (strcmp(leaf, "at_m") == 0)
        put_places(out, field, config->at_m, config->at_n);
    else if (strcmp(leaf, "particles_at_m") == 0)
        put_places(out, field, config->particles_at_m, config->particles_at_n);
    return 1;
}

/* @return 0 if out of memory */
static int put_field(FILE *out, const aw_field *field, const aw_config *config)
{
    const char *from = (const char *)config + field->offset;
    double number = 0.0;
    int integer = 0;
    size_t size = 0;
    uint64_t seed = 0;
    char *text = NULL;
    switch (field->kind) {
    case AW_FIELD_SPECIAL: return put_special(out, field, config);
    case AW_FIELD_NUMBER:
        memcpy(&number, from, sizeof number);
        if (from == (const char *)&config->step_m && number == AW_STEP_AUTO) {
            put_key(out, field);
            fputs("auto\n", out);
            return 1;
        }
        put_number(out, field, number);
        return 1;
    default: put_key(out, field);
    }
    switch (field->kind) {
    case AW_FIELD_INT:
        memcpy(&integer, from, sizeof integer);
        fprintf(out, "%d\n", integer);
        break;
    case AW_FIELD_SIZE:
        memcpy(&size, from, sizeof size);
        fprintf(out, "%zu\n", size);
        break;
    case AW_FIELD_SEED:
        memcpy(&seed, from, sizeof seed);
        fprintf(out, "%llu\n", (unsigned long long)seed);
        break;
    case AW_FIELD_CHOICE:
        memcpy(&integer, from, sizeof integer);
        put_word(out, field->choices, integer);
        fputc('\n', out);
        break;
    case AW_FIELD_NAME: fprintf(out, "%s\n", from); break;
    case AW_FIELD_DEVICE:
        aw_yaml_quote(out, from);
        fputc('\n', out);
        break;
    default:
        memcpy(&text, from, sizeof text);
        aw_yaml_quote(out, text);
        fputc('\n', out);
    }
    return 1;
}

/* Keys that a run with other forces, or another source of particles, refuses are left out. */
static int is_refused(const aw_field *field, const aw_config *config)
{
    if (!config->line && strncmp(field->key, "line.", strlen("line.")) == 0) return 1;
    if (strncmp(field->key, "beam.", strlen("beam.")) != 0) return 0;
    if (strcmp(field->key, "beam.start_m") == 0 || strcmp(field->key, "beam.isr") == 0) return 0;
    const int of_file = strcmp(field->key, "beam.file") == 0 ||
                        strcmp(field->key, "beam.iteration") == 0 ||
                        strcmp(field->key, "beam.resample") == 0;
    if (!config->beam_file) return of_file || aw_beam_shape_unused(field->key, &config->beam);
    if (strcmp(field->key, "beam.charge_C") == 0) return !config->beam_scaled;
    if (strcmp(field->key, "beam.seed") == 0) return config->beam_wanted == 0 && !config->isr;
    if (aw_field_is_height(field)) return !config->beam_height;
    return !of_file;
}

char *aw_config_text(const aw_config *config)
{
    char *text = NULL;
    const char *section = "";
    size_t size = 0, n = 0;
    const aw_field *fields = aw_fields(&n);
    FILE *out = open_memstream(&text, &size);
    int good = 1;
    if (!out) return NULL;
    fputs(AW_DIRECTORY_MARK "\n", out);
    for (size_t i = 0; i < n && good; ++i) {
        size_t length = (size_t)(aw_field_leaf(&fields[i]) - fields[i].key);
        if (is_refused(&fields[i], config)) continue;
        if (length && (i == 0 || strncmp(section, fields[i].key, length) != 0))
            fprintf(out, "%.*s:\n", (int)length - 1, fields[i].key);
        section = fields[i].key;
        good = put_field(out, &fields[i], config);
    }
    good = good && !ferror(out);
    if (fclose(out) == 0 && good) return text;
    free(text);
    return NULL;
}
