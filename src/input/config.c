/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Read a run file and its lattice, and report every problem in them. */
#include "src/input/config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pic/distribution.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/input/beam_check.h"
#include "src/input/beam_source.h"
#include "src/input/config_set.h"
#include "src/input/fields.h"
#include "src/input/place.h"
#include "src/input/wakes.h"
#include "src/pals/lattice_file.h"

#define AT_MAX 100000

typedef struct reader {
    aw_input_errors errors;
    aw_yaml *doc;
    const aw_config_source *source;
    aw_yaml **set; /* [source->n_set + 1]: documents of values that are set */
    const aw_yaml_node *root;
    aw_config *config;
    int gamma_given;
} reader;

static const aw_yaml_node *node_of(const reader *r, const char *key)
{
    return aw_field_node(r->root, aw_field_find(key));
}

/* Number under a key that may be absent. @return 1 and *out; 0 if it is absent or was refused. */
static int optional_number(reader *r, const char *key, double *out)
{
    const aw_field *field = aw_field_find(key);
    const aw_yaml_node *node = aw_field_node(r->root, field);
    return node && aw_field_number(&r->errors, field, node, out);
}

static void refuse_both(reader *r, const char *one, const char *other)
{
    const aw_yaml_node *a = node_of(r, one), *b = node_of(r, other);
    if (!a || !b) return;
    /* report the value of --set if only one is from --set, otherwise the later one */
    const aw_yaml_node *blamed = a->line == 0 || (b->line != 0 && a->line > b->line) ? a : b;
    const aw_yaml_node *kept = blamed == a ? b : a;
    if (kept->line)
        aw_yaml_key_error(&r->errors, blamed,
                          "'%s' is given as well, at line %d (expected one of the two)", kept->key,
                          kept->key_line);
    else
        aw_yaml_key_error(&r->errors, blamed, "'%s' is given as well (expected one of the two)",
                          kept->key);
}

static void read_energy(reader *r)
{
    double energy = 0.0;
    refuse_both(r, "beam.gamma", "beam.energy_eV");
    r->gamma_given = node_of(r, "beam.gamma") || node_of(r, "beam.energy_eV");
    if (optional_number(r, "beam.gamma", &r->config->beam.gamma)) return;
    if (optional_number(r, "beam.energy_eV", &energy)) r->config->beam.gamma = energy / AW_ME_EV;
}

/* Twiss parameters without an emittance. */
static void refuse_twiss(reader *r, const char *const twiss[2], const char *emittance)
{
    for (int i = 0; i < 2; ++i)
        if (node_of(r, twiss[i]))
            aw_yaml_key_error(&r->errors, node_of(r, twiss[i]),
                              "has no meaning without %s (expected both or neither)", emittance);
}

static void read_width(reader *r)
{
    aw_beam_params *beam = &r->config->beam;
    const aw_yaml_node *emittance = node_of(r, "beam.emittance_x_m");
    static const char *const twiss[] = {"beam.beta_x_m", "beam.alpha_x"};
    refuse_both(r, "beam.sigma_x_m", "beam.emittance_x_m");
    optional_number(r, "beam.sigma_x_m", &beam->sigma_x);
    if (emittance) {
        int good = optional_number(r, "beam.emittance_x_m", &beam->emittance);
        if (!node_of(r, twiss[0])) aw_field_missing(&r->errors, r->root, aw_field_find(twiss[0]));
        good &= optional_number(r, twiss[0], &beam->beta_x);
        optional_number(r, twiss[1], &beam->alpha_x);
        if (good) beam->sigma_x = sqrt(beam->emittance * beam->beta_x);
        return;
    }
    refuse_twiss(r, twiss, "emittance_x_m");
    if (!node_of(r, "beam.sigma_x_m"))
        aw_field_missing(&r->errors, r->root, aw_field_find("beam.sigma_x_m"));
}

/* The Twiss parameters of the height; unlike the width it may be absent, or 0. */
static void read_height(reader *r)
{
    static const char *const twiss[] = {"beam.beta_y_m", "beam.alpha_y"};
    aw_beam_params *beam = &r->config->beam;
    optional_number(r, twiss[0], &beam->beta_y);
    optional_number(r, twiss[1], &beam->alpha_y);
    if (!node_of(r, "beam.emittance_y_m")) {
        refuse_twiss(r, twiss, "emittance_y_m");
        return;
    }
    if (!(beam->emittance_y > 0.0)) {
        beam->beta_y = beam->alpha_y = 0.0; /* of no use */
        return;
    }
    if (beam->sigma_y > 0.0) refuse_both(r, "beam.sigma_y_m", "beam.emittance_y_m");
    if (!node_of(r, twiss[0])) aw_field_missing(&r->errors, r->root, aw_field_find(twiss[0]));
}

static void read_grid(reader *r)
{
    const aw_field *field = aw_field_find("numerics.grid");
    const aw_yaml_node *node = aw_field_node(r->root, field);
    char shown[AW_YAML_SHOW];
    int *grid = r->config->grid, i = 0;
    grid[0] = grid[1] = 64;
    if (!node) return;
    if (node->kind != AW_YAML_LIST || node->n != 2) {
        aw_yaml_error(&r->errors, node, "%s%s (expected %s)", aw_yaml_show(node, shown),
                      node->kind == AW_YAML_LIST ? " of another length than 2" : " is not a list",
                      field->expected);
        return;
    }
    for (const aw_yaml_node *c = node->first; c; c = c->next, ++i) {
        uint64_t whole = 0;
        if (aw_yaml_whole(&r->errors, c, field->expected, (uint64_t)field->low,
                          (uint64_t)field->high, &whole))
            grid[i] = (int)whole;
    }
}

/* What stands in place of grid, step, particles and tolerance; the optics are needed to choose them
 * (src/plan/choose.h). */
static void read_accuracy(reader *r)
{
    static const struct {
        const char *key;
        int bit;
    } stands_for[] = {{"numerics.grid", AW_GIVEN_GRID},
                      {"numerics.step_m", AW_GIVEN_STEP},
                      {"numerics.step_scale", AW_GIVEN_SCALE},
                      {"beam.particles", AW_GIVEN_PARTICLES},
                      {"numerics.tolerance", AW_GIVEN_TOLERANCE}};
    aw_config *config = r->config;
    for (size_t i = 0; i < sizeof stands_for / sizeof stands_for[0]; ++i)
        if (node_of(r, stands_for[i].key)) config->given |= stands_for[i].bit;
    optional_number(r, "accuracy", &config->accuracy);
}

static aw_status read_title(reader *r)
{
    const aw_yaml_node *node = node_of(r, "title");
    const char *slash = strrchr(r->config->path, '/');
    const char *title = slash ? slash + 1 : r->config->path;
    if (node && node->kind != AW_YAML_SCALAR)
        aw_yaml_text(&r->errors, node, "a text");
    else if (node && !aw_yaml_is_null(node))
        title = node->text;
    r->config->title = strdup(title);
    return r->config->title ? AW_OK : AW_ERR_NOMEM;
}

/* The line model has keys of its own, and works on the processor alone. */
static void check_line(reader *r)
{
    const aw_yaml_node *model = node_of(r, "line.model"), *device = node_of(r, "device");
    const char *wanted = r->config->device;
    if (!r->config->line && model)
        aw_yaml_key_error(&r->errors, model,
                          "has no meaning without forces: line (expected both or neither)");
    if (!r->config->line || !device || strcmp(wanted, "auto") == 0 || strcmp(wanted, "cpu") == 0)
        return;
    aw_yaml_error(&r->errors, device,
                  "'%s' has no part in forces: line, which needs no device (expected auto or cpu)",
                  wanted);
}

/* Electrons that move radiate, unless the input says otherwise; in the lattice's fields alone they
 * do what it says. In rigid motion every particle keeps its energy. */
static void read_radiation(reader *r)
{
    if (!node_of(r, "beam.isr") && r->config->motion == AW_MOTION_SELF_CONSISTENT)
        r->config->isr = AW_ISR_FULL;
    if (r->config->isr && r->config->motion == AW_MOTION_RIGID)
        aw_yaml_error(&r->errors, node_of(r, "beam.isr"),
                      "has no meaning with motion: rigid, which keeps all energies (expected off)");
}

/* A spectrum needs the slices of all steps. */
static void read_spectrum(reader *r)
{
    const aw_yaml_node *every = node_of(r, "output.every");
    if (!r->config->spectrum) return;
    if (every && r->config->every != 1)
        aw_yaml_error(&r->errors, every,
                      "a spectrum needs the mesh file of every step (expected 1, the default with "
                      "output.spectrum: all)");
    r->config->every = 1;
}

/* Where the lattice is a mapping there is no path; read_machine reads it. */
static aw_status lattice_path(reader *r)
{
    const aw_field *field = aw_field_find("lattice");
    const aw_yaml_node *node = aw_field_node(r->root, field);
    if (!node) {
        aw_field_missing(&r->errors, r->root, field);
        return AW_OK;
    }
    if (node->kind == AW_YAML_MAP) return AW_OK;
    const char *text = aw_yaml_text(&r->errors, node, field->expected);
    if (!text) return AW_OK;
    const char *path = r->config->path, *slash = strrchr(path, '/');
    size_t folder = text[0] != '/' && slash ? (size_t)(slash - path) + 1 : 0;
    if (!text[0] || folder + strlen(text) >= AW_PATH_MAX_LEN) {
        aw_yaml_error(&r->errors, node, "%s (expected %s)", text[0] ? "is too long" : "is empty",
                      field->expected);
        return AW_OK;
    }
    char *joined = malloc(folder + strlen(text) + 1);
    if (!joined) return AW_ERR_NOMEM;
    memcpy(joined, path, folder);
    strcpy(joined + folder, text);
    r->config->lattice_path = joined;
    return AW_OK;
}

static void check_upstream(reader *r, const aw_element *element, size_t n)
{
    size_t i = 0;
    const aw_yaml_node *node = node_of(r, "numerics.upstream");
    if (r->config->upstream != AW_UPSTREAM_STEADY || !node) return;
    if (r->config->start_m > 0.0) {
        aw_yaml_error(&r->errors, node,
                      "'steady' continues the first bend backwards, and beam.start_m = %g m is "
                      "behind it (expected drift)",
                      r->config->start_m);
        return;
    }
    while (i < n && element[i].kind == AW_MARKER) ++i;
    if (i < n && element[i].kind == AW_BEND && element[i].angle != 0.0) return;
    aw_yaml_error(&r->errors, node,
                  "'steady' needs a lattice that begins with a bend; this one "
                  "begins with '%s' (expected drift)",
                  i < n ? element[i].name : "nothing");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A list of arc lengths; length < 0: there is no lattice to compare with. */
static aw_status read_places(reader *r, const char *key, double length, double **places,
                             size_t *n_places)
{
    const aw_field *field = aw_field_find(key);
    const aw_yaml_node *node = aw_field_node(r->root, field);
    char shown[AW_YAML_SHOW];
    size_t n = 0;
    if (!node) return AW_OK;
    if (node->kind != AW_YAML_LIST || node->n > AT_MAX) {
        aw_yaml_error(&r->errors, node, "%s%s (expected %s)", aw_yaml_show(node, shown),
                      node->kind == AW_YAML_LIST ? " of more than 100000 numbers"
                                                 : " is not a list",
                      field->expected);
        return AW_OK;
    }
    double *at = *places = aw_alloc((size_t)node->n, sizeof *at);
    if (!at) return AW_ERR_NOMEM;
    for (const aw_yaml_node *c = node->first; c; c = c->next) {
        double s = 0.0;
        if (!aw_yaml_number(&r->errors, c, field->expected, &s)) continue;
        if (length < 0.0 && s < 0.0)
            aw_yaml_error(&r->errors, c, "%s is negative (expected %s)", aw_yaml_show(c, shown),
                          field->expected);
        else if (length >= 0.0 && !(s >= 0.0 && s <= length * (1.0 + 1e-12)))
            aw_yaml_error(&r->errors, c, "%s is outside the lattice (expected 0 to %.10g m)",
                          aw_yaml_show(c, shown), length);
        at[n++] = s;
    }
    qsort(at, n, sizeof *at, by_value);
    *n_places = n;
    return AW_OK;
}

static double total_length(const aw_lattice_input *input)
{
    double sum = 0.0;
    for (size_t i = 0; i < input->n; ++i) sum += input->element[i].length;
    return sum;
}

/* @return 1: the beam starts within the lattice */
static int check_start(reader *r, double length)
{
    const aw_yaml_node *node = node_of(r, "beam.start_m");
    char shown[AW_YAML_SHOW];
    if (!node || r->config->start_m < length) return 1;
    aw_yaml_error(&r->errors, node, "%s is outside the lattice (expected less than %.10g m)",
                  aw_yaml_show(node, shown), length);
    return 0;
}

/* At least one step must end within the lattice, as it does with `auto`. */
static void check_step(reader *r, double length, double gamma_ref)
{
    const aw_field *field = aw_field_find("numerics.step_m");
    const aw_yaml_node *node = aw_field_node(r->root, field);
    const double given = r->config->beam.gamma, gamma = given > 1.0 ? given : gamma_ref;
    const double way = length - r->config->start_m;
    const double most = way / sqrt((1.0 - 1.0 / gamma) * (1.0 + 1.0 / gamma));
    const double step = r->config->step_m;
    if (!node || !(way > 0.0) || step <= most * (1.0 + 1e-9)) return;
    aw_yaml_error(&r->errors, node,
                  "a step of %g m ends beyond the lattice (expected at most %.6g m)", step, most);
}

/* The key that gives the beam its energy. */
static const char *energy_key(const reader *r)
{
    if (node_of(r, "beam.file")) return "beam.file";
    return node_of(r, "beam.gamma") ? "beam.gamma" : "beam.energy_eV";
}

/* Magnets guide only beams of about the energy that sets their fields. */
static void check_energy(reader *r, const aw_lattice_input *input)
{
    const char *key = energy_key(r);
    const aw_yaml_node *node = node_of(r, key);
    const double gamma = r->config->beam.gamma, gamma_ref = input->gamma_ref;
    const double unit = strcmp(key, "beam.gamma") == 0 ? 1.0 : AW_ME_EV;
    int magnets = 0;
    for (size_t i = 0; i < input->n; ++i) magnets |= aw_element_acts(&input->element[i]);
    if (!node || !magnets || !(gamma > 1.0)) return;
    if (gamma >= 0.5 * gamma_ref && gamma <= 2.0 * gamma_ref) return;
    aw_yaml_error(
        &r->errors, node,
        "%sis %.3g times the lattice's reference, which sets the fields (expected %.8g to "
        "%.8g%s, or another E_tot_ref in the lattice)",
        r->config->beam_at ? "its mean energy " : "", gamma / gamma_ref, 0.5 * gamma_ref * unit,
        2.0 * gamma_ref * unit, r->config->beam_at ? " eV" : "");
}

/* The elements of the lattice; *have is 1 if they are complete. */
static aw_status read_lattice(reader *r, aw_lattice_input *input, int *have)
{
    const aw_yaml_node *node = node_of(r, "lattice");
    aw_status status = AW_ERR_INPUT;
    if (r->config->lattice_path)
        status = aw_lattice_file_read(r->config->lattice_path, node, &r->errors, input);
    else if (node && node->kind == AW_YAML_MAP)
        status = aw_lattice_tree_read(node, &r->errors, input);
    *have = status == AW_OK;
    return status == AW_ERR_INPUT ? AW_OK : status;
}

/* The machine; a problem is noted at the element to blame. */
static aw_status make_machine(reader *r, const aw_lattice_input *input)
{
    aw_config *config = r->config;
    const aw_lattice_start start = {config->start_m, config->upstream};
    aw_lattice_problem problem = {0};
    aw_status status = aw_lattice_try(input->element, input->n, input->gamma_ref, &start, &problem,
                                      &config->lattice);
    if (status != AW_ERR_ARG) return status;
    size_t i = problem.element;
    if (i < input->n)
        aw_input_add(&r->errors, input->file, input->place[i].line, input->place[i].column,
                     "%s: %s", input->element[i].name, problem.text);
    else
        aw_input_add(&r->errors, input->file, 0, 0, "%s: %s", input->name, problem.text);
    return AW_OK;
}

/* The lattice, the keys of the run file that depend on it, and the machine. */
static aw_status read_machine(reader *r)
{
    aw_status status = AW_OK;
    aw_config *config = r->config;
    aw_lattice_input input = {0};
    int have = 0;
    AW_TRY(read_lattice(r, &input, &have));
    const double length = have ? total_length(&input) : -1.0;
    if (have) {
        have = check_start(r, length);
        check_upstream(r, input.element, input.n);
        check_step(r, length, input.gamma_ref);
        check_energy(r, &input);
    }
    AW_TRY(read_places(r, "output.at_m", length, &config->at_m, &config->at_n));
    AW_TRY(read_places(r, "output.particles_at_m", length, &config->particles_at_m,
                       &config->particles_at_n));
    /* a problem of the orbit is told together with all others; that of `steady` is known by now */
    if (!have || (aw_input_count(&r->errors) && config->upstream == AW_UPSTREAM_STEADY)) goto done;
    if (!r->gamma_given) config->beam.gamma = input.gamma_ref;
    AW_TRY(make_machine(r, &input));
    config->lattice_eV = input.energy;
    config->lattice_name = input.name;
    input.name = NULL;
done:
    aw_lattice_input_free(&input);
    return status;
}

static void compare_energies(const reader *r)
{
    const aw_config *config = r->config;
    double ratio = config->beam.gamma / config->lattice->gamma_ref - 1.0;
    if (!(fabs(ratio) <= 0.01))
        aw_config_warn(config, energy_key(r),
                       "the beam's mean energy is %+.3g %% from the lattice's reference energy "
                       "(gamma %.8g and %.8g), which sets the fields",
                       100.0 * ratio, config->beam.gamma, config->lattice->gamma_ref);
}

static aw_status read_beam(reader *r)
{
    read_height(r);
    if (!node_of(r, "beam.file")) {
        read_energy(r);
        read_width(r);
        const aw_status status = aw_beam_shape_read(&r->errors, r->root, r->config);
        if (status) return status;
        return aw_beam_source_absent(&r->errors, r->root);
    }
    r->gamma_given = 1;
    r->config->given |= AW_GIVEN_PARTICLES;
    return aw_beam_source_read(&r->errors, r->root, r->source->beam, r->config);
}

/* Put the particles that are given in the place of the section `beam`, but for the keys that
 * concern any particles: those of the height where they have none of their own. */
static aw_status set_given_beam(reader *r)
{
    static const char set[] = "beam={file: \"" AW_BEAM_GIVEN "\"}";
    const char *const one = set;
    const aw_yaml_node *beam = aw_yaml_get(aw_yaml_root(r->doc), "beam");
    static const char *const keys[] = {"start_m",       "isr",      "seed",   "sigma_y_m",
                                       "emittance_y_m", "beta_y_m", "alpha_y"};
    enum { KEPT = sizeof keys / sizeof keys[0] };
    const size_t n = r->source->beam && r->source->beam->y ? 3 : KEPT;
    aw_yaml_node *kept[KEPT];
    for (size_t i = 0; i < n; ++i) kept[i] = (aw_yaml_node *)aw_yaml_get(beam, keys[i]);
    if (!r->source->beam || aw_yaml_root(r->doc)->kind != AW_YAML_MAP) return AW_OK;
    aw_yaml **doc = &r->set[r->source->n_set];
    aw_status status = aw_config_set(r->doc, &one, 1, &r->errors, doc);
    for (size_t i = 0; i < n && !status && *doc; ++i)
        if (kept[i]) status = aw_yaml_put(*doc, aw_yaml_root(*doc), keys[i], kept[i]);
    return status;
}

static aw_status read_document(reader *r)
{
    const aw_config_source *source = r->source;
    if (!source->text) return aw_yaml_read(source->path, NULL, &r->errors, &r->doc);
    return aw_yaml_parse(source->path, source->text, strlen(source->text), &r->errors, &r->doc);
}

static aw_status read_all(reader *r)
{
    aw_status status = read_document(r);
    if (status == AW_ERR_NOMEM || !r->doc) return status;
    status = aw_config_set(r->doc, r->source->set, r->source->n_set, &r->errors, r->set);
    if (!status) status = set_given_beam(r);
    if (status) return status;
    r->root = aw_yaml_root(r->doc);
    aw_fields_known(&r->errors, r->root);
    if (r->root->kind != AW_YAML_MAP) return AW_ERR_INPUT;
    status = aw_fields_read(&r->errors, r->root, r->config);
    if (!status) status = aw_places_new(r->root, &r->config->place);
    if (status) return status;
    status = read_beam(r);
    if (status) return status;
    read_grid(r);
    read_accuracy(r);
    check_line(r);
    read_radiation(r);
    read_spectrum(r);
    status = read_title(r);
    if (!status) status = lattice_path(r);
    if (!status) status = read_machine(r);
    if (!status) status = aw_wakes_read(&r->errors, r->root, r->config);
    /* by now the energy is known where it is the lattice's */
    aw_beam_check(&r->errors, r->root, &r->config->beam);
    return status;
}

aw_status aw_config_read(const char *path, const char *const *set, size_t n_set, aw_config **out)
{
    const aw_config_source source = {.path = path, .set = set, .n_set = n_set};
    return aw_config_read_from(&source, out);
}

aw_status aw_config_read_from(const aw_config_source *source, aw_config **out)
{
    const size_t documents = source->n_set + 1;
    reader r = {.source = source};
    aw_status status = AW_OK;
    *out = NULL;
    r.config = calloc(1, sizeof *r.config);
    r.set = calloc(documents, sizeof *r.set);
    AW_TRY(r.config && r.set ? AW_OK : AW_ERR_NOMEM);
    r.config->path = strdup(source->path);
    AW_TRY(r.config->path ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(read_all(&r));
done:
    if (status == AW_ERR_NOMEM) r.errors.nomem = 1;
    aw_status reported = aw_input_report(&r.errors);
    if (reported) status = reported;
    if (status == AW_OK) {
        compare_energies(&r);
        *out = r.config;
    } else {
        aw_config_free(r.config);
    }
    for (size_t i = 0; r.set && i < documents; ++i) aw_yaml_free(r.set[i]);
    free(r.set);
    aw_yaml_free(r.doc);
    aw_input_errors_free(&r.errors);
    return status;
}

const char *aw_config_quieter(const aw_config *config)
{
    if (config->beam.quiet) return "";
    return config->beam_file ? ", or beam.resample" : ", or sampling: quiet";
}

void aw_config_free(aw_config *config)
{
    if (!config) return;
    free(config->title);
    free(config->path);
    free(config->lattice_path);
    free(config->lattice_name);
    free(config->beam_file);
    free(config->profile);
    aw_free(config->table_s);
    aw_free(config->table_current);
    aw_particles_free(config->beam_at);
    aw_wakes_free(config);
    free(config->directory);
    aw_free(config->at_m);
    aw_free(config->particles_at_m);
    aw_lattice_free(config->lattice);
    aw_free(config->place);
    free(config);
}
