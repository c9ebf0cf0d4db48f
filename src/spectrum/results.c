/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/spectrum/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/io/file.h"
#include "src/io/h5.h"
#include "src/io/json.h"
#include "src/io/text.h"

void aw_spectrum_rows(const aw_spectrum *spectrum, const aw_spectrum_beam *beam, double slices,
                      aw_spectrum_row *row)
{
    const aw_spectrum_params *params = aw_spectrum_params_of(spectrum);
    const double electrons = beam->charge / AW_E, limit = aw_spectrum_resolved(spectrum);
    for (size_t i = 0; i < params->waves; ++i) {
        const double coherent = aw_spectrum_total(spectrum, aw_spectrum_coherent, i);
        const double single = aw_spectrum_total(spectrum, aw_spectrum_single, i);
        const int held = params->k[i] <= limit;
        row[i] = (aw_spectrum_row){
            .k = params->k[i],
            .coherent = held ? coherent : (double)NAN,
            .incoherent =
                held ? fmax(beam->charge * AW_E * single - coherent / electrons, 0.0) : (double)NAN,
            .noise = beam->charge * beam->charge / (double)beam->particles * single,
            .slices = aw_spectrum_slice_error(spectrum, i)};
        row[i].resolved = held && coherent > row[i].noise && row[i].slices <= slices;
    }
}

/* Coherent energy per wave number at k, between rows i and i + 1 [J m]. */
static double between(const aw_spectrum_row *row, size_t i, double k)
{
    const double share = (k - row[i].k) / (row[i + 1].k - row[i].k);
    return AW_C * (row[i].coherent + share * (row[i + 1].coherent - row[i].coherent));
}

double aw_spectrum_band(const aw_spectrum_row *row, size_t n, double from, double to)
{
    double sum = 0.0;
    if (n < 2 || !(from >= row[0].k && to <= row[n - 1].k && from < to)) return (double)NAN;
    for (size_t i = 0; i + 1 < n; ++i) {
        const double a = fmax(from, row[i].k), b = fmin(to, row[i + 1].k);
        if (a < b) sum += 0.5 * (b - a) * (between(row, i, a) + between(row, i, b));
    }
    return sum;
}

/* A cell of the table; empty where a number is not known. */
static void add_cell(aw_text *text, double value)
{
    if (isfinite(value)) aw_text_add(text, "%.9g", value);
    aw_text_add(text, ",");
}

static aw_status save_table(const char *path, const aw_spectrum_file *file)
{
    const aw_spectrum_params *params = aw_spectrum_params_of(file->spectrum);
    aw_text text = {.bytes = NULL};
    aw_text_add(&text, "frequency_Hz,wavelength_m,coherent_J_s,incoherent_J_s,noise_J_s,"
                       "resolved\n");
    for (size_t i = 0; i < params->waves; ++i) {
        const aw_spectrum_row *row = &file->row[i];
        const double value[] = {AW_C * row->k / (2.0 * AW_PI), 2.0 * AW_PI / row->k, row->coherent,
                                row->incoherent, row->noise};
        for (size_t j = 0; j < sizeof value / sizeof *value; ++j) add_cell(&text, value[j]);
        aw_text_add(&text, "%d\n", row->resolved);
    }
    const aw_status status = aw_text_save(&text, path);
    aw_text_free(&text);
    return status;
}

static void add_balance(aw_json *json, const aw_balance *b)
{
    if (b->open) {
        aw_json_string(json, "balance_open", b->open);
        return;
    }
    aw_json_number(json, "lost_J", b->lost, 9);
    aw_json_number(json, "missing_J", b->missing, 9);
    aw_json_number(json, "radiated_J", b->radiated, 9);
    aw_json_number(json, "bound_start_J", b->bound[0], 9);
    aw_json_number(json, "bound_end_J", b->bound[1], 9);
    aw_json_number(json, "balance_gap", aw_balance_gap(b), 9);
}

static aw_status save_summary(const char *path, const aw_spectrum_file *file)
{
    const aw_spectrum_params *params = aw_spectrum_params_of(file->spectrum);
    const aw_directions *d = params->directions;
    const size_t n = params->waves;
    const double per_k = AW_C / (2.0 * AW_PI), limit = aw_spectrum_resolved(file->spectrum);
    aw_json json = {.depth = 0};
    aw_json_begin_object(&json, NULL);
    aw_json_string(&json, "software", file->version);
    aw_json_number(&json, "charge_C", file->beam->charge, 12);
    aw_json_number(&json, "gamma", params->gamma, 12);
    aw_json_integer(&json, "particles", (long long)file->beam->particles);
    aw_json_number(&json, "frequency_from_Hz", per_k * params->k[0], 9);
    aw_json_number(&json, "frequency_to_Hz", per_k * params->k[n - 1], 9);
    aw_json_number(&json, "frequency_resolved_Hz", per_k * limit, 9);
    aw_json_number(&json, "theta_from_rad", d->theta.at[0], 9);
    aw_json_number(&json, "theta_to_rad", d->theta.at[d->theta.n - 1], 9);
    aw_json_number(&json, "psi_to_rad", d->psi.at[d->psi.n - 1], 9);
    if (d->radius > 0.0) aw_json_number(&json, "aperture_rad", d->radius, 9);
    size_t held = n; /* frequencies that the grid resolves */
    while (held > 0 && isnan(file->row[held - 1].coherent)) --held;
    aw_json_number(&json, "coherent_energy_J",
                   held ? aw_spectrum_band(file->row, held, params->k[0], params->k[held - 1])
                        : (double)NAN,
                   9);
    if (file->band) {
        aw_json_number(&json, "band_from_Hz", per_k * file->band[0], 9);
        aw_json_number(&json, "band_to_Hz", per_k * file->band[1], 9);
        aw_json_number(&json, "band_energy_J",
                       aw_spectrum_band(file->row, n, file->band[0], file->band[1]), 9);
    }
    add_balance(&json, file->balance);
    aw_json_end_object(&json);
    const aw_status status = aw_json_save(&json, path);
    aw_json_free(&json);
    return status;
}

/* ---------------------------------------------------------------------------------- openPMD */

static void root_attributes(aw_h5 *h5, const aw_spectrum_file *file)
{
    aw_h5_attr_text(h5, h5->file, "openPMD", "1.1.0");
    aw_h5_attr_uint32(h5, h5->file, "openPMDextension", 0);
    aw_h5_attr_text(h5, h5->file, "basePath", "/data/%T/");
    aw_h5_attr_text(h5, h5->file, "meshesPath", "meshes/");
    aw_h5_attr_text(h5, h5->file, "iterationEncoding", "groupBased");
    aw_h5_attr_text(h5, h5->file, "iterationFormat", "/data/%T/");
    aw_h5_attr_text(h5, h5->file, "software", file->software);
    aw_h5_attr_text(h5, h5->file, "softwareVersion", file->version);
    if (file->input) aw_h5_attr_text(h5, h5->file, "input", file->input);
}

/* An array with what openPMD asks of a mesh; its axes are datasets of their own. */
static void add_mesh(aw_h5 *h5, hid_t meshes, const char *name, int rank, const hsize_t *dims,
                     const double *data)
{
    static const char *const label[3] = {"frequency", "psi", "theta"};
    const double one[3] = {1.0, 1.0, 1.0}, zero[3] = {0.0, 0.0, 0.0};
    const double energy_time[7] = {2.0, 1.0, -1.0, 0.0, 0.0, 0.0, 0.0};
    const double none[7] = {0.0}, frequency[7] = {0.0, 0.0, -1.0};
    hid_t set = aw_h5_doubles(h5, meshes, name, rank, dims, data);
    const int is_axis = rank == 1, is_frequency = is_axis && name[0] == 'f';
    aw_h5_attr_text(h5, set, "geometry", is_axis ? "cartesian" : "other");
    aw_h5_attr_text(h5, set, "dataOrder", "C");
    aw_h5_attr_texts(h5, set, "axisLabels", (size_t)rank, is_axis ? &name : label);
    aw_h5_attr_doubles(h5, set, "gridSpacing", (size_t)rank, one);
    aw_h5_attr_doubles(h5, set, "gridGlobalOffset", (size_t)rank, zero);
    aw_h5_attr_double(h5, set, "gridUnitSI", 1.0);
    aw_h5_attr_doubles(h5, set, "position", (size_t)rank, zero);
    aw_h5_attr_doubles(h5, set, "unitDimension", 7,
                       is_frequency ? frequency
                       : is_axis    ? none
                                    : energy_time);
    aw_h5_attr_double(h5, set, "unitSI", 1.0);
    aw_h5_attr_double(h5, set, "timeOffset", 0.0);
    aw_h5_close(h5, set);
}

/* d2W/(domega dOmega) of the bunch and of one electron, [frequency][psi][theta]. */
static aw_status add_densities(aw_h5 *h5, hid_t meshes, const aw_spectrum_file *file)
{
    const aw_spectrum_params *params = aw_spectrum_params_of(file->spectrum);
    const aw_directions *d = params->directions;
    const size_t n = params->waves, psi = d->psi.n, theta = d->theta.n;
    const hsize_t dims[3] = {n, psi, theta};
    double *data = aw_alloc(n * psi * theta, sizeof *data);
    if (!data) return AW_ERR_NOMEM;
    for (int one = 0; one < 2; ++one) {
        for (size_t k = 0; k < n; ++k)
            for (size_t j = 0; j < psi; ++j)
                for (size_t i = 0; i < theta; ++i)
                    data[(k * psi + j) * theta + i] =
                        one ? AW_E * AW_E * aw_spectrum_single(file->spectrum, i, j, k)
                        : isnan(file->row[k].coherent)
                            ? (double)NAN
                            : aw_spectrum_coherent(file->spectrum, i, j, k);
        add_mesh(h5, meshes, one ? "electron" : "coherent", 3, dims, data);
    }
    aw_free(data);
    return AW_OK;
}

static aw_status add_contents(aw_h5 *h5, const aw_spectrum_file *file)
{
    const aw_spectrum_params *params = aw_spectrum_params_of(file->spectrum);
    const aw_directions *d = params->directions;
    double *frequency = aw_alloc(params->waves, sizeof *frequency);
    if (!frequency) return AW_ERR_NOMEM;
    for (size_t i = 0; i < params->waves; ++i) frequency[i] = AW_C * params->k[i] / (2.0 * AW_PI);
    root_attributes(h5, file);
    hid_t data = aw_h5_group(h5, h5->file, "data"), iteration = aw_h5_group(h5, data, "0");
    hid_t meshes = aw_h5_group(h5, iteration, "meshes");
    aw_h5_attr_double(h5, iteration, "time", 0.0);
    aw_h5_attr_double(h5, iteration, "dt", 0.0);
    aw_h5_attr_double(h5, iteration, "timeUnitSI", 1.0);
    const hsize_t n[3] = {params->waves, d->psi.n, d->theta.n};
    add_mesh(h5, meshes, "frequency", 1, &n[0], frequency);
    add_mesh(h5, meshes, "psi", 1, &n[1], d->psi.at);
    add_mesh(h5, meshes, "theta", 1, &n[2], d->theta.at);
    const aw_status status = add_densities(h5, meshes, file);
    aw_h5_close(h5, meshes);
    aw_h5_close(h5, iteration);
    aw_h5_close(h5, data);
    aw_free(frequency);
    return status;
}

static aw_status save_meshes(const char *path, const aw_spectrum_file *file)
{
    const aw_spectrum_params *params = aw_spectrum_params_of(file->spectrum);
    const aw_directions *d = params->directions;
    void *image = NULL;
    size_t size = 0;
    aw_h5 h5;
    aw_h5_begin(&h5, path, 2 * aw_h5_array_bytes(params->waves * d->psi.n * d->theta.n));
    const aw_status filled = add_contents(&h5, file);
    aw_status status = aw_h5_finish(&h5, &image, &size);
    if (filled != AW_OK) status = filled;
    if (status == AW_OK) status = aw_file_replace(path, image, size);
    free(image);
    return status;
}

aw_status aw_spectrum_save(const char *directory, const aw_spectrum_file *file)
{
    static aw_status (*const save[])(const char *, const aw_spectrum_file *) = {
        save_table, save_summary, save_meshes};
    static const char *const suffix[] = {"csv", "json", "h5"};
    aw_status status = AW_OK;
    for (int i = 0; i < 3; ++i) {
        char path[4200];
        if (snprintf(path, sizeof path, "%s/spectrum.%s", directory, suffix[i]) >= (int)sizeof path)
            return aw_error(AW_ERR_IO, "%s: the path is too long", directory);
        if (i == 0) AW_TRY(aw_file_parents(path));
        AW_TRY(save[i](path, file));
    }
done:
    return status;
}
