/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/input/beam_source.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pic/distribution.h"
#include "src/base/log.h"
#include "src/beam/beam_file.h"
#include "src/beam/table_file.h"
#include "src/input/beam_check.h"
#include "src/input/fields.h"
#include "src/input/path.h"

/* Noise over that of chance below which particles of a file count as quiet: a quiet start has 0.01
 * and less, with 2e5 particles 0.2 where it has been compressed (tests/beam/test_noise.c). */
#define QUIET_NOISE 0.25

static const aw_yaml_node *node_of(const aw_yaml_node *root, const char *key)
{
    return aw_field_node(root, aw_field_find(key));
}

int aw_beam_shape_unused(const char *key, const aw_beam_params *beam)
{
    static const char *const of[][2] = {{"beam.edge", "flat-top"},
                                        {"beam.separation", "double-gaussian"},
                                        {"beam.ahead", "double-gaussian"},
                                        {"beam.profile", "tabulated"}};
    const aw_distribution *d = aw_distribution_list(beam->distribution);
    if (strcmp(key, "beam.sigma_s_m") == 0) return d && strcmp(d->name, "tabulated") == 0;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; ++i)
        if (strcmp(key, of[i][0]) == 0) return !d || strcmp(d->name, of[i][1]) != 0;
    return 0;
}

static void modulation_number(aw_input_errors *errors, const aw_yaml_node *node, const char *key,
                              const char *expected, double *out)
{
    const aw_yaml_node *one = aw_yaml_get(node, key);
    char shown[AW_YAML_SHOW];
    const double most = strcmp(key, "depth") == 0 ? 1.0 : AW_SIZE_MAX;
    const double least = strcmp(key, "depth") == 0 ? 0.0 : AW_SIZE_MIN;
    if (!one) {
        aw_yaml_error(errors, node, "has no %s (expected %s)", key, expected);
        return;
    }
    if (!aw_yaml_number(errors, one, expected, out) || (*out >= least && *out <= most)) return;
    aw_yaml_error(errors, one, "%s is not from %g to %g (expected %s)", aw_yaml_show(one, shown),
                  least, most, expected);
}

static void read_modulation(aw_input_errors *errors, const aw_yaml_node *root, aw_beam_params *beam)
{
    const aw_field *field = aw_field_find("beam.modulation");
    const aw_yaml_node *node = aw_field_node(root, field);
    char shown[AW_YAML_SHOW];
    if (!node || aw_yaml_is_null(node)) return;
    if (node->kind != AW_YAML_MAP) {
        aw_yaml_error(errors, node, "%s is not a mapping (expected %s)", aw_yaml_show(node, shown),
                      field->expected);
        return;
    }
    for (const aw_yaml_node *c = node->first; c; c = c->next)
        if (strcmp(c->key, "wavelength_m") != 0 && strcmp(c->key, "depth") != 0)
            aw_yaml_key_error(errors, c, "unknown key (expected wavelength_m or depth)");
    modulation_number(errors, node, "wavelength_m", "a wavelength in m, e.g. 1.0e-6",
                      &beam->modulation_wavelength);
    modulation_number(errors, node, "depth", "a part of the density, 0 to 1, e.g. 0.05",
                      &beam->modulation_depth);
}

/* The table of a tabulated current. */
static aw_status read_profile(aw_input_errors *errors, const aw_yaml_node *root, aw_config *config)
{
    const aw_field *field = aw_field_find("beam.profile");
    const aw_yaml_node *node = aw_field_node(root, field);
    aw_beam_params *beam = &config->beam;
    char why[AW_WHY_MAX];
    if (aw_beam_shape_unused(field->key, beam)) return AW_OK;
    if (!node) {
        aw_field_missing(errors, root, field);
        return AW_OK;
    }
    const char *text = aw_yaml_text(errors, node, field->expected);
    if (!text) return AW_OK;
    config->profile = aw_input_path(config->path, text);
    if (!config->profile) return AW_ERR_NOMEM;
    const aw_status status = aw_table_file_read(config->profile, &beam->table_n, &config->table_s,
                                                &config->table_current, why);
    if (status == AW_ERR_NOMEM) return status;
    if (status != AW_OK) {
        aw_yaml_error(errors, node, "%s: %s", config->profile, why);
        return AW_OK;
    }
    beam->table_s = config->table_s;
    beam->table_current = config->table_current;
    beam->sigma_s = aw_profile_table_rms(beam);
    if (!(beam->sigma_s >= AW_SIZE_MIN && beam->sigma_s <= AW_SIZE_MAX))
        aw_yaml_error(errors, node, "its rms length is %.3g m (expected %g to %g m)", beam->sigma_s,
                      AW_SIZE_MIN, AW_SIZE_MAX);
    return AW_OK;
}

aw_status aw_beam_shape_read(aw_input_errors *errors, const aw_yaml_node *root, aw_config *config)
{
    size_t n;
    const aw_field *fields = aw_fields(&n);
    for (size_t i = 0; i < n; ++i)
        if (aw_field_node(root, &fields[i]) && aw_beam_shape_unused(fields[i].key, &config->beam))
            aw_yaml_key_error(errors, aw_field_node(root, &fields[i]),
                              "has no meaning with this distribution (expected another, or none of "
                              "this key)");
    read_modulation(errors, root, &config->beam);
    return read_profile(errors, root, config);
}

aw_status aw_beam_source_absent(aw_input_errors *errors, const aw_yaml_node *root)
{
    static const char *const key[] = {"beam.iteration", "beam.resample"};
    for (size_t i = 0; i < sizeof key / sizeof key[0]; ++i) {
        const aw_yaml_node *node = node_of(root, key[i]);
        if (node)
            aw_yaml_key_error(errors, node,
                              "has no meaning without file (expected both or neither)");
    }
    return AW_OK;
}

/* All keys of the section that the file stands for. */
static void refuse_drawn(aw_input_errors *errors, const aw_yaml_node *root)
{
    size_t n;
    const aw_field *field = aw_fields(&n);
    for (size_t i = 0; i < n; ++i) {
        const aw_yaml_node *node = aw_field_node(root, &field[i]);
        if (!node || !aw_field_from_file(root, &field[i])) continue;
        if (strcmp(field[i].key, "beam.charge_C") == 0) continue;
        aw_yaml_key_error(
            errors, node,
            "belongs to a drawn beam, and beam.file is given as well (expected one of "
            "the two)");
    }
}

static long read_iteration(aw_input_errors *errors, const aw_yaml_node *root)
{
    const aw_field *field = aw_field_find("beam.iteration");
    const aw_yaml_node *node = aw_field_node(root, field);
    uint64_t number = 0;
    if (!node || (node->kind == AW_YAML_SCALAR && strcmp(node->text, "last") == 0))
        return AW_ITERATION_LAST;
    if (node->kind == AW_YAML_SCALAR && strcmp(node->text, "all") == 0) return AW_ITERATION_ALL;
    return aw_yaml_whole(errors, node, field->expected, 0, LONG_MAX, &number) ? (long)number
                                                                              : AW_ITERATION_LAST;
}

static size_t read_resample(aw_input_errors *errors, const aw_yaml_node *root)
{
    const aw_field *field = aw_field_find("beam.resample");
    const aw_yaml_node *node = aw_field_node(root, field);
    uint64_t number = 0;
    if (node) aw_yaml_whole(errors, node, field->expected, 2, (uint64_t)1e10, &number);
    return (size_t)number;
}

static void check_sizes(aw_input_errors *errors, const aw_yaml_node *node,
                        const aw_beam_params *beam)
{
    const double size[] = {beam->sigma_s, beam->sigma_x};
    for (int k = 0; k < 2; ++k)
        if (!(size[k] >= AW_SIZE_MIN && size[k] <= AW_SIZE_MAX))
            aw_yaml_error(errors, node,
                          "the rms %s of its particles is %.3g m (expected %g to %g m)",
                          k ? "width" : "length", size[k], AW_SIZE_MIN, AW_SIZE_MAX);
}

/* The height of the particles, unless the input gives another one. */
static void take_height(aw_input_errors *errors, const aw_yaml_node *node, const aw_yaml_node *root,
                        aw_config *config)
{
    aw_beam_params *beam = &config->beam;
    config->beam_height = node_of(root, "beam.sigma_y_m") || node_of(root, "beam.emittance_y_m");
    if (config->beam_height) return;
    aw_beam_height(config->beam_at, beam);
    const double rms = sqrt(beam->emittance_y * beam->beta_y);
    if (rms < AW_SIZE_MIN)
        beam->emittance_y = 0.0; /* no computation tells it from a sheet */
    else if (!(rms <= AW_SIZE_MAX))
        aw_yaml_error(errors, node,
                      "the rms height of its particles is %.3g m (expected at most %g m, or "
                      "beam.sigma_y_m in its place)",
                      rms, AW_SIZE_MAX);
}

/* Take the particles that are given, or read those of the file. @return AW_ERR_INPUT: `why` */
static aw_status take_particles(const aw_particles *given, const char *text, aw_config *config,
                                aw_beam_found *found, char why[AW_WHY_MAX])
{
    *found = (aw_beam_found){.alive = given ? given->n : 0};
    if (given) {
        config->beam_file = strdup(text);
        return config->beam_file ? aw_particles_share(given, 0, &config->beam_at) : AW_ERR_NOMEM;
    }
    config->beam_file = aw_input_path(config->path, text);
    if (!config->beam_file) return AW_ERR_NOMEM;
    const aw_beam_source source = {.path = config->beam_file,
                                   .iteration = config->beam_iteration,
                                   .charge = config->beam_scaled ? config->beam.charge : 0.0,
                                   .wanted = config->beam_wanted,
                                   .seed = config->beam.seed};
    return aw_beam_read(&source, &config->beam_at, found, why);
}

/* Say what was done with the particles of the file. */
static void tell(const aw_config *config, const aw_beam_found *found)
{
    const char *file = config->beam_file;
    if (found->dead)
        aw_info("%s: %zu particles are marked as lost and left out", file, found->dead);
    if (found->bunches > 1) aw_info("%s: %zu bunches are one beam", file, found->bunches);
    if (config->beam_wanted && !found->refined.from)
        aw_info("%s: %zu of %zu particles are drawn, and their charges scaled to the sum of all",
                file, config->beam_wanted, found->alive);
    if (found->refined.from)
        aw_info("%s: %zu particles of equal charge are made of %zu%s: structure along s is "
                "smoothed by %.2g um rms, means and second moments are kept",
                file, config->beam_wanted, found->refined.from,
                found->refined.bunches > 1 ? " with gaps between bunches" : "",
                1e6 * found->refined.smooth);
}

aw_status aw_beam_source_read(aw_input_errors *errors, const aw_yaml_node *root,
                              const aw_particles *given, aw_config *config)
{
    const aw_field *field = aw_field_find("beam.file");
    const aw_yaml_node *node = aw_field_node(root, field);
    const char *text = aw_yaml_text(errors, node, field->expected);
    char why[AW_WHY_MAX];
    config->beam_iteration = read_iteration(errors, root);
    config->beam_wanted = read_resample(errors, root);
    config->beam_scaled = node_of(root, "beam.charge_C") != NULL;
    refuse_drawn(errors, root);
    if (!text) return AW_OK;
    if (!text[0]) {
        aw_yaml_error(errors, node, "is empty (expected %s)", field->expected);
        return AW_OK;
    }
    aw_beam_found found;
    const aw_status status = take_particles(given, text, config, &found, why);
    config->beam_alive = found.alive;
    if (status == AW_ERR_NOMEM) return status;
    if (status != AW_OK) {
        aw_yaml_error(errors, node, "%s: %s", config->beam_file, why);
        return AW_OK;
    }
    aw_beam_moments(config->beam_at, &config->beam);
    config->beam.quiet = aw_beam_noise(config->beam_at, &config->beam) < QUIET_NOISE;
    check_sizes(errors, node, &config->beam);
    take_height(errors, node, root, config);
    if (config->upstream == AW_UPSTREAM_STEADY)
        aw_yaml_error(errors, node,
                      "particles of a file start in a straight (expected "
                      "numerics.upstream: drift)");
    tell(config, &found);
    return AW_OK;
}
