/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/input/fields.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pic/distribution.h"
#include "src/base/strategies.h"
#include "src/base/units.h"
#include "src/beam/beam_file.h"
#include "src/input/beam_check.h"

_Static_assert(sizeof(aw_motion) == sizeof(int) && sizeof(aw_upstream) == sizeof(int) &&
                   sizeof(aw_isr) == sizeof(int),
               "enums of the configuration are stored as int");

#define AT(member) offsetof(aw_config, member)
#define POSITIVE 0.0, DBL_MAX, 1, NULL
/* From one electron to far more than any machine accelerates in one bunch. */
#define CHARGE AW_E, 1.0, 0, NULL
/* rms sizes from a nanometre, a few attoseconds, to a kilometre. */
#define SIZE AW_SIZE_MIN, AW_SIZE_MAX, 0, NULL
/* Twiss beta, and emittances that go with it and SIZE. */
#define BETA 1e-6, AW_BETA_MOST, 0, NULL
#define EMITTANCE 1e-24, 1.0, 0, NULL
#define ALPHA -1e6, 1e6, 0, NULL
/* Below 1e-12 the tolerance drowns in the rounding of sums. */
#define TOLERANCE 1e-12, 1.0, 0, NULL
/* Below a tenth of a sigma a cut Gaussian is a uniform density. */
#define CUTOFF 0.1, 20.0, 0, NULL
/* Every chirp that leaves a bunch of the shortest SIZE its energy. */
#define CHIRP -1e12, 1e12, 0, NULL
#define ANY -DBL_MAX, DBL_MAX, 0, NULL
#define STEPS 0.0, INT_MAX, 0, NULL
#define WORDS(choices) 0.0, 0.0, 0, choices

static const aw_field table[] = {
    {"title", AW_FIELD_SPECIAL, 0, NULL, ANY, "a text"},
    {"lattice", AW_FIELD_SPECIAL, 0, NULL, ANY,
     "a path beside this file, e.g. bend.pals.yaml, or PALS: {...}"},
    {"beam.file", AW_FIELD_SPECIAL, 0, NULL, ANY,
     "a path beside this file, of openPMD or text, e.g. beam.h5"},
    {"beam.iteration", AW_FIELD_SPECIAL, 0, NULL, ANY, "last, all, or a whole number"},
    {"beam.resample", AW_FIELD_SPECIAL, 0, NULL, ANY,
     "a whole number of particles, from 2 to 1e10"},
    {"beam.start_m", AW_FIELD_NUMBER, AT(start_m), "0.0", 0.0, DBL_MAX, 0, NULL,
     "an arc length in a drift of the lattice, in m"},
    {"beam.charge_C", AW_FIELD_NUMBER, AT(beam.charge), NULL, CHARGE,
     "a magnitude in C, e.g. 1.0e-9"},
    {"beam.gamma", AW_FIELD_SPECIAL, 0, NULL, 1.0, AW_GAMMA_MAX, 1, NULL,
     "the mean energy over the rest energy, above 1, e.g. 1.0e4"},
    {"beam.energy_eV", AW_FIELD_SPECIAL, 0, NULL, AW_ME_EV, AW_GAMMA_MAX *AW_ME_EV, 1, NULL,
     "the mean total energy in eV, above the rest energy, e.g. 5.0e9"},
    {"beam.particles", AW_FIELD_SIZE, AT(beam.particles), "100000", 1.0, 1e10, 0, NULL,
     "a whole number from 1 to 1e10"},
    {"beam.seed", AW_FIELD_SEED, AT(beam.seed), "1", ANY, "a whole number from 0 to 2^64 - 1"},
    {"beam.distribution", AW_FIELD_CHOICE, AT(beam.distribution), "gaussian",
     WORDS(AW_DISTRIBUTION_NAMES), AW_DISTRIBUTION_TEXT},
    {"beam.edge", AW_FIELD_NUMBER, AT(beam.edge), "0.05", 1e-4, 10.0, 0, NULL,
     "rms of an edge of flat-top over the length between the edges, 1.0e-4 to 10, e.g. 0.05"},
    {"beam.separation", AW_FIELD_NUMBER, AT(beam.separation), "4.0", 0.0, 100.0, 0, NULL,
     "distance of the two of double-gaussian over the rms of each, 0 to 100, e.g. 4.0"},
    {"beam.ahead", AW_FIELD_NUMBER, AT(beam.ahead), "0.5", 0.0, 1.0, 0, NULL,
     "part of the charge of double-gaussian in the one ahead, 0 to 1, e.g. 0.5"},
    {"beam.profile", AW_FIELD_SPECIAL, 0, NULL, ANY,
     "a path beside this file, of lines of s in m and the current, e.g. current.txt"},
    {"beam.modulation", AW_FIELD_SPECIAL, 0, NULL, ANY,
     "a mapping, e.g. {wavelength_m: 1.0e-6, depth: 0.05}"},
    {"beam.sampling", AW_FIELD_CHOICE, AT(beam.quiet), "quiet", WORDS("random|quiet"),
     "quiet or random"},
    {"beam.cutoff_sigma", AW_FIELD_NUMBER, AT(beam.cutoff_sigma), "5.0", CUTOFF,
     "a number from 0.1 to 20, e.g. 5.0"},
    {"beam.sigma_s_m", AW_FIELD_NUMBER, AT(beam.sigma_s), NULL, SIZE,
     "the rms length in m, e.g. 50.0e-6"},
    {"beam.sigma_x_m", AW_FIELD_SPECIAL, 0, NULL, SIZE, "the rms width in m, e.g. 50.0e-6"},
    {"beam.emittance_x_m", AW_FIELD_SPECIAL, 0, NULL, EMITTANCE,
     "the geometric emittance in m, e.g. 1.0e-10"},
    {"beam.beta_x_m", AW_FIELD_SPECIAL, 0, NULL, BETA, "the beta function in m, e.g. 10.0"},
    {"beam.alpha_x", AW_FIELD_SPECIAL, 0, NULL, ALPHA, "the Twiss parameter alpha, e.g. 0.0"},
    {"beam.sigma_y_m", AW_FIELD_NUMBER, AT(beam.sigma_y), "0.0", 0.0, AW_SIZE_MAX, 0, NULL,
     "the rms height in m everywhere, 0 for a thin sheet, e.g. 50.0e-6"},
    {"beam.emittance_y_m", AW_FIELD_NUMBER, AT(beam.emittance_y), "0.0", 0.0, 1.0, 0, NULL,
     "the geometric vertical emittance in m, 0 for none, e.g. 1.0e-10"},
    {"beam.beta_y_m", AW_FIELD_SPECIAL, 0, NULL, BETA,
     "the vertical beta function in m, e.g. 10.0"},
    {"beam.alpha_y", AW_FIELD_SPECIAL, 0, NULL, ALPHA,
     "the vertical Twiss parameter alpha, e.g. 0.0"},
    {"beam.energy_spread", AW_FIELD_NUMBER, AT(beam.energy_spread), "0.0", 0.0, 1.0, 0, NULL,
     "the relative rms spread, from 0 to 1, e.g. 1.0e-4"},
    {"beam.chirp_per_m", AW_FIELD_NUMBER, AT(beam.chirp), "0.0", CHIRP,
     "d(delta)/ds in 1/m, e.g. -36.0"},
    /* full in self-consistent runs (read_radiation) */
    {"beam.isr", AW_FIELD_CHOICE, AT(isr), "off", WORDS("off|mean|full"), "off, mean or full"},
    {"motion", AW_FIELD_CHOICE, AT(motion), "self-consistent",
     WORDS("self-consistent|rigid|external"), "self-consistent, rigid or external"},
    {"forces", AW_FIELD_CHOICE, AT(line), "full", WORDS("full|line"), "full or line"},
    {"line.model", AW_FIELD_CHOICE, AT(line_model), "transient", WORDS("transient|steady"),
     "transient or steady"},
    {"wakes", AW_FIELD_SPECIAL, 0, NULL, ANY,
     "a list, e.g. [{file: wake.txt, kind: longitudinal, unit: V/C/m, element: pipe}]"},
    {"accuracy", AW_FIELD_SPECIAL, 0, NULL, 1e-4, 0.1, 0, NULL,
     "a relative error from 1.0e-4 to 0.1, e.g. 0.01"},
    {"numerics.grid", AW_FIELD_SPECIAL, 0, NULL, 8.0, 4096.0, 0, NULL,
     "two whole numbers from 8 to 4096, points along s and x, e.g. [64, 64]"},
    {"numerics.step_m", AW_FIELD_NUMBER, AT(step_m), "auto", 1e-6, DBL_MAX, 0, NULL,
     "c dt in m, at least 1.0e-6, e.g. 0.02, or auto"},
    {"numerics.step_scale", AW_FIELD_NUMBER, AT(step_scale), "1.0", AW_STEP_SCALE_LEAST, 10.0, 0,
     NULL, "a number from 0.1 to 10 by which step_m: auto makes all steps longer, e.g. 1.5"},
    {"numerics.tolerance", AW_FIELD_NUMBER, AT(tolerance), "1.0e-6", TOLERANCE,
     "a number from 1e-12 to 1, e.g. 1.0e-6"},
    {"numerics.inner_density", AW_FIELD_INT, AT(inner_density), "1", 1.0, 16.0, 0, NULL,
     "a whole number of nodes per cell from 1 to 16, e.g. 1"},
    {"numerics.solver", AW_FIELD_NAME, AT(solver), AW_DEFAULT_SOLVER, WORDS(AW_STRATEGY_NAMES),
     AW_STRATEGY_TEXT},
    {"numerics.forecast_neighbours", AW_FIELD_INT, AT(forecast_neighbours), "1", 1.0, 64.0, 0, NULL,
     "a whole number of neighbours from 1 to 64, e.g. 1"},
    {"numerics.forecast_classes", AW_FIELD_INT, AT(forecast_classes), "0", 0.0, 4096.0, 0, NULL,
     "a whole number of classes up to 4096, or 0 for the grid's longer side up to 64"},
    {"numerics.forecast_conversion", AW_FIELD_CHOICE, AT(forecast_conversion), "even",
     WORDS("even|uniform|adaptive"), "even, uniform or adaptive"},
    {"numerics.forecast_merge", AW_FIELD_CHOICE, AT(forecast_merge), "most", WORDS("most|mean"),
     "most or mean"},
    {"numerics.history", AW_FIELD_CHOICE, AT(history_single), "double", WORDS("double|single"),
     "double or single"},
    {"numerics.upstream", AW_FIELD_CHOICE, AT(upstream), "drift", WORDS("drift|steady"),
     "drift or steady"},
    {"numerics.history_MiB", AW_FIELD_NUMBER, AT(history_MiB), "4096", POSITIVE,
     "a memory budget in MiB, e.g. 4096"},
    {"numerics.plates_gap_m", AW_FIELD_NUMBER, AT(plates_gap), "0.0", 0.0, AW_SIZE_MAX, 0, NULL,
     "the distance in m between two conducting plates above and below, 0 for none, e.g. 10.0e-3"},
    {"numerics.upstream_m", AW_FIELD_NUMBER, AT(upstream_m), "1.0e4", POSITIVE,
     "a distance in m, e.g. 1.0e4"},
    {"device", AW_FIELD_DEVICE, AT(device), "auto", ANY,
     "auto, a device, e.g. cpu, or a list, e.g. cpu,cuda:0"},
    {"output.directory", AW_FIELD_TEXT, AT(directory), "out", ANY, "the path of a directory"},
    {"output.every", AW_FIELD_INT, AT(every), "10", STEPS, "a whole number of steps, 0 for none"},
    {"output.at_m", AW_FIELD_SPECIAL, 0, NULL, ANY,
     "a list of arc lengths in m within the lattice, e.g. [0.2, 0.5]"},
    {"output.particles_every", AW_FIELD_INT, AT(particles_every), "0", STEPS,
     "a whole number of steps, 0 for none"},
    {"output.particles_at_m", AW_FIELD_SPECIAL, 0, NULL, ANY,
     "a list of arc lengths in m within the lattice, e.g. [0.2, 0.5]"},
    {"output.spectrum", AW_FIELD_CHOICE, AT(spectrum), "none", WORDS("none|all"),
     "none, or all: of all directions"},
    {"output.checkpoint_every", AW_FIELD_INT, AT(checkpoint_every), "0", STEPS,
     "a whole number of steps, 0 for none"},
};

#define ROWS (sizeof table / sizeof table[0])

static const char *const sections[] = {"beam", "line", "numerics", "output"};
#define SECTIONS (sizeof sections / sizeof sections[0])

const aw_field *aw_fields(size_t *n)
{
    *n = ROWS;
    return table;
}

const aw_field *aw_field_find(const char *key)
{
    for (size_t i = 0; i < ROWS; ++i)
        if (strcmp(table[i].key, key) == 0) return &table[i];
    return NULL;
}

const char *aw_field_leaf(const aw_field *field)
{
    const char *dot = strrchr(field->key, '.');
    return dot ? dot + 1 : field->key;
}

/* Section of a key, "" at the top level. */
static void section_of(const aw_field *field, char section[AW_NAME_MAX])
{
    size_t n = (size_t)(aw_field_leaf(field) - field->key);
    if (n) --n;
    memcpy(section, field->key, n);
    section[n] = '\0';
}

static const aw_yaml_node *section_node(const aw_yaml_node *root, const aw_field *field)
{
    char section[AW_NAME_MAX];
    section_of(field, section);
    return section[0] ? aw_yaml_get(root, section) : root;
}

const aw_yaml_node *aw_field_node(const aw_yaml_node *root, const aw_field *field)
{
    return aw_yaml_get(section_node(root, field), aw_field_leaf(field));
}

int aw_field_from_file(const aw_yaml_node *root, const aw_field *field)
{
    static const char *const also[] = {"beam.file",    "beam.iteration", "beam.resample",
                                       "beam.start_m", "beam.isr",       "beam.seed"};
    if (strncmp(field->key, "beam.", strlen("beam.")) != 0) return 0;
    if (!aw_field_node(root, aw_field_find("beam.file"))) return 0;
    for (size_t i = 0; i < sizeof also / sizeof also[0]; ++i)
        if (strcmp(field->key, also[i]) == 0) return 0;
    return !aw_field_is_height(field);
}

int aw_field_is_height(const aw_field *field)
{
    static const char *const keys[] = {"beam.sigma_y_m", "beam.emittance_y_m", "beam.beta_y_m",
                                       "beam.alpha_y"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i)
        if (strcmp(field->key, keys[i]) == 0) return 1;
    return 0;
}

static int in_range(aw_input_errors *errors, const aw_field *field, const aw_yaml_node *node,
                    double value)
{
    char shown[AW_YAML_SHOW];
    aw_yaml_show(node, shown);
    if (value >= field->low && value <= field->high && !(field->open && value == field->low))
        return 1;
    if (value > field->high)
        aw_yaml_error(errors, node, "%s is above %g (expected %s)", shown, field->high,
                      field->expected);
    else if (value <= 0.0 && field->low >= 0.0)
        aw_yaml_error(errors, node, "%s is %s (expected %s)", shown,
                      field->low > 0.0 || field->open ? "not positive" : "negative",
                      field->expected);
    else
        aw_yaml_error(errors, node, "%s is %s %.8g (expected %s)", shown,
                      field->open ? "not above" : "below", field->low, field->expected);
    return 0;
}

int aw_field_number(aw_input_errors *errors, const aw_field *field, const aw_yaml_node *node,
                    double *out)
{
    double value = 0.0;
    if (strcmp(field->key, "numerics.step_m") == 0 && node->kind == AW_YAML_SCALAR &&
        strcmp(node->text, "auto") == 0) {
        *out = AW_STEP_AUTO;
        return 1;
    }
    if (!aw_yaml_number(errors, node, field->expected, &value)) return 0;
    if (!in_range(errors, field, node, value)) return 0;
    *out = value;
    return 1;
}

/* Position of `word` among "a|b|c", -1 if it is none of them. */
static int word_position(const char *words, const char *word)
{
    size_t length = strlen(word);
    int position = 0;
    for (const char *w = words; w; ++position) {
        const char *bar = strchr(w, '|');
        size_t n = bar ? (size_t)(bar - w) : strlen(w);
        if (n == length && memcmp(w, word, n) == 0) return position;
        w = bar ? bar + 1 : NULL;
    }
    return -1;
}

static int read_word(aw_input_errors *errors, const aw_field *field, const aw_yaml_node *node)
{
    char shown[AW_YAML_SHOW];
    const char *text = aw_yaml_text(errors, node, field->expected);
    if (!text) return -1;
    int position = word_position(field->choices, text);
    if (position >= 0) return position;
    aw_yaml_error(errors, node, "%s is not known (expected %s)", aw_yaml_show(node, shown),
                  field->expected);
    return -1;
}

static aw_status set_text(char **to, const char *text)
{
    char *copy = strdup(text);
    if (!copy) return AW_ERR_NOMEM;
    free(*to);
    *to = copy;
    return AW_OK;
}

static aw_status read_text(aw_input_errors *errors, const aw_field *field, const aw_yaml_node *node,
                           char *to)
{
    size_t room = field->kind == AW_FIELD_DEVICE ? sizeof((aw_config *)0)->device : AW_PATH_MAX_LEN;
    const char *text = aw_yaml_text(errors, node, field->expected);
    if (!text) return AW_OK;
    if (!text[0] || strlen(text) >= room) {
        aw_yaml_error(errors, node, "%s (expected %s)", text[0] ? "is too long" : "is empty",
                      field->expected);
        return AW_OK;
    }
    if (field->kind == AW_FIELD_TEXT) return set_text((char **)(void *)to, text);
    strcpy(to, text);
    return AW_OK;
}

static aw_status read_field(aw_input_errors *errors, const aw_field *field,
                            const aw_yaml_node *node, aw_config *config)
{
    char *to = (char *)config + field->offset;
    double number = 0.0;
    uint64_t whole = 0;
    int position = 0;
    switch (field->kind) {
    case AW_FIELD_NUMBER:
        if (aw_field_number(errors, field, node, &number)) memcpy(to, &number, sizeof number);
        return AW_OK;
    case AW_FIELD_INT:
        if (!aw_yaml_whole(errors, node, field->expected, (uint64_t)field->low,
                           (uint64_t)field->high, &whole))
            return AW_OK;
        position = (int)whole;
        memcpy(to, &position, sizeof position);
        return AW_OK;
    case AW_FIELD_SIZE:
        if (!aw_yaml_whole(errors, node, field->expected, (uint64_t)field->low,
                           (uint64_t)field->high, &whole))
            return AW_OK;
        memcpy(to, &(size_t){(size_t)whole}, sizeof(size_t));
        return AW_OK;
    case AW_FIELD_SEED:
        if (aw_yaml_whole(errors, node, field->expected, 0, UINT64_MAX, &whole))
            memcpy(to, &whole, sizeof whole);
        return AW_OK;
    case AW_FIELD_CHOICE:
        position = read_word(errors, field, node);
        if (position >= 0) memcpy(to, &position, sizeof position);
        return AW_OK;
    case AW_FIELD_NAME:
        if (read_word(errors, field, node) >= 0) strcpy(to, node->text);
        return AW_OK;
    case AW_FIELD_DEVICE:
    case AW_FIELD_TEXT: return read_text(errors, field, node, to);
    case AW_FIELD_SPECIAL: return AW_OK;
    }
    return AW_OK;
}

void aw_field_section(const aw_yaml_node *root, const aw_field *field, int *line, int *column)
{
    const aw_yaml_node *section = section_node(root, field);
    int own = section && section != root && section->key_line > 0;
    if (!own && !root) return; /* a file always has a root */
    *line = own ? section->key_line : root->line;
    *column = own ? section->key_column : root->column;
}

/* A tabulated current has a length of its own. */
static int is_tabulated(const aw_yaml_node *root)
{
    const aw_yaml_node *node = aw_field_node(root, aw_field_find("beam.distribution"));
    return node && node->kind == AW_YAML_SCALAR && strcmp(node->text, "tabulated") == 0;
}

aw_status aw_fields_read(aw_input_errors *errors, const aw_yaml_node *root, aw_config *config)
{
    for (size_t i = 0; i < ROWS; ++i) {
        const aw_field *field = &table[i];
        const aw_yaml_node *node = aw_field_node(root, field);
        const char *initial = field->initial;
        aw_yaml_node preset = {.kind = AW_YAML_SCALAR, .text = initial};
        if (field->kind == AW_FIELD_SPECIAL) continue;
        if (!node && !initial && aw_field_from_file(root, field)) continue;
        if (!node && field->offset == AT(beam.sigma_s) && is_tabulated(root)) continue;
        if (!node && !initial) {
            aw_field_missing(errors, root, field);
            continue;
        }
        if (!node) {
            preset.length = strlen(initial);
            node = &preset;
        }
        aw_status status = read_field(errors, field, node, config);
        if (status) return status;
    }
    return AW_OK;
}

/* Full name of the key that ends in `key`, whatever its section; NULL if there is none. */
static const char *elsewhere(const char *key)
{
    for (size_t i = 0; i < ROWS; ++i)
        if (strcmp(aw_field_leaf(&table[i]), key) == 0) return table[i].key;
    return NULL;
}

/* The keys of a section; at the top level ("") also the names of the sections. */
static size_t keys_of(const char *section, const char *words[ROWS + 8])
{
    size_t n = 0;
    char name[AW_NAME_MAX];
    for (size_t i = 0; i < ROWS; ++i) {
        section_of(&table[i], name);
        if (strcmp(name, section) == 0) words[n++] = aw_field_leaf(&table[i]);
    }
    if (section[0]) return n;
    for (size_t i = 0; i < SECTIONS; ++i) words[n++] = sections[i];
    return n;
}

static int among(const char *key, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        if (strcmp(words[i], key) == 0) return 1;
    return 0;
}

/* The key that an unknown one probably means: the full name of a key of another section, or the
 * nearest of the section's own words[n]; NULL if none is near. */
static const char *meant_by(const aw_yaml_node *key, const char *const *words, size_t n)
{
    const char *moved = elsewhere(key->key);
    return moved ? moved : aw_yaml_nearest(key->key, words, n);
}

static void unknown_key(aw_input_errors *errors, const aw_yaml_node *node, const char *const *words,
                        size_t n)
{
    char list[512];
    size_t used = 0;
    if (aw_input_full(errors)) {
        ++errors->more;
        return;
    }
    const char *meant = meant_by(node, words, n);
    if (meant) {
        aw_yaml_key_error(errors, node, "unknown key (expected %s?)", meant);
        return;
    }
    list[0] = '\0';
    for (size_t i = 0; i < n && used < sizeof list; ++i)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", words[i]);
    aw_yaml_key_error(errors, node, "unknown key (expected one of: %s)", list);
}

static void known_in(aw_input_errors *errors, const aw_yaml_node *map, const char *section)
{
    const char *words[ROWS + 8];
    char shown[AW_YAML_SHOW];
    size_t n = keys_of(section, words);
    if (map->kind != AW_YAML_MAP) {
        aw_yaml_error(errors, map, "%s is not a mapping (expected lines 'key: value'%s)",
                      aw_yaml_show(map, shown), section[0] ? " indented below it" : "");
        return;
    }
    for (const aw_yaml_node *c = map->first; c; c = c->next)
        if (!among(c->key, words, n)) unknown_key(errors, c, words, n);
}

/* Whether an unknown key of `map` probably means this key or its section. */
static int misspelt_in(const aw_yaml_node *map, const char *section, const aw_field *field)
{
    const char *words[ROWS + 8];
    char own[AW_NAME_MAX];
    const size_t n = keys_of(section, words);
    section_of(field, own);
    if (!map || map->kind != AW_YAML_MAP) return 0;
    for (const aw_yaml_node *c = map->first; c; c = c->next) {
        const char *meant = among(c->key, words, n) ? NULL : meant_by(c, words, n);
        if (!meant) continue;
        if (strcmp(meant, field->key) == 0) return 1;
        if (strcmp(section, own) == 0 && strcmp(meant, aw_field_leaf(field)) == 0) return 1;
        if (!section[0] && own[0] && strcmp(meant, own) == 0) return 1;
    }
    return 0;
}

/* Whether aw_fields_known notes why a key is missing: it or its section is misspelt, it is in
 * another section, or its section is not a mapping. */
static int noted_as_unknown(const aw_yaml_node *root, const aw_field *field)
{
    const aw_yaml_node *section = section_node(root, field);
    if (section && section->kind != AW_YAML_MAP && !aw_yaml_is_null(section)) return 1;
    if (misspelt_in(root, "", field)) return 1;
    for (size_t i = 0; i < SECTIONS; ++i)
        if (misspelt_in(aw_yaml_get(root, sections[i]), sections[i], field)) return 1;
    return 0;
}

void aw_field_missing(aw_input_errors *errors, const aw_yaml_node *root, const aw_field *field)
{
    int line = 0, column = 0;
    if (noted_as_unknown(root, field)) return;
    aw_field_section(root, field, &line, &column);
    aw_input_add(errors, root->file, line, column, "%s: is missing (expected %s)", field->key,
                 field->expected);
}

void aw_fields_known(aw_input_errors *errors, const aw_yaml_node *root)
{
    known_in(errors, root, "");
    for (size_t i = 0; i < SECTIONS; ++i) {
        const aw_yaml_node *section = aw_yaml_get(root, sections[i]);
        if (section && !aw_yaml_is_null(section)) known_in(errors, section, sections[i]);
    }
}
