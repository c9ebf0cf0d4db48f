/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/form_factor/bunch.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/beam/beam_file.h"

static int is_output(const struct dirent *entry)
{
    const size_t n = strlen(entry->d_name);
    return strncmp(entry->d_name, "arcwake_", 8) == 0 && n > 3 &&
           strcmp(entry->d_name + n - 3, ".h5") == 0;
}

static aw_status read_file(const char *path, aw_particles **particles, char why[AW_WHY_MAX])
{
    /* F does not depend on the total charge, which some files lack. */
    const aw_beam_source source = {.path = path, .iteration = AW_ITERATION_LAST, .charge = 1.0};
    aw_beam_found found;
    return aw_beam_read(&source, particles, &found, why);
}

/* The particles of the last output of a run that has any. */
static aw_status read_run(const char *path, aw_particles **particles)
{
    char diag[1024], file[1400], why[AW_WHY_MAX];
    struct dirent **entry = NULL;
    aw_status status = AW_ERR_INPUT;
    snprintf(diag, sizeof diag, "%s/diag", path);
    int n = scandir(diag, &entry, is_output, alphasort);
    for (int i = n - 1; i >= 0; --i) {
        snprintf(file, sizeof file, "%s/%s", diag, entry[i]->d_name);
        if (status == AW_ERR_INPUT) status = read_file(file, particles, why);
        free(entry[i]);
    }
    free(entry);
    if (status == AW_ERR_INPUT)
        return aw_error(status,
                        "%s: no output with particles (give a directory of arcwake run; "
                        "output.particles_every writes more of them)",
                        path);
    return status;
}

/* Subtract the mean over the charge. @return the rms */
static double centre(double *x, const double *charge, size_t n)
{
    double all = 0.0, mean = 0.0, square = 0.0;
    for (size_t j = 0; j < n; ++j) {
        all += charge[j];
        mean += charge[j] * x[j];
    }
    mean /= all;
    for (size_t j = 0; j < n; ++j) {
        x[j] -= mean;
        square += charge[j] * x[j] * x[j];
    }
    return sqrt(square / all);
}

static aw_status take(const aw_particles *p, aw_bunch *b)
{
    double along = 0.0, across = 0.0;
    b->n = p->n;
    b->charge = aw_alloc(p->n, sizeof *b->charge);
    for (int c = 0; c < 3; ++c) b->at[c] = aw_alloc(p->n, sizeof **b->at);
    if (!b->charge || !b->at[0] || !b->at[1] || !b->at[2]) return AW_ERR_NOMEM;
    for (size_t j = 0; j < p->n; ++j) {
        b->charge[j] = p->charge * (p->weight ? p->weight[j] : 1.0);
        along += b->charge[j] * p->pz[j];
        across += b->charge[j] * p->px[j];
    }
    const double length = hypot(along, across);
    const double c = length > 0.0 ? along / length : 1.0, s = length > 0.0 ? across / length : 0.0;
    for (size_t j = 0; j < p->n; ++j) {
        b->at[0][j] = c * p->z[j] + s * p->x[j];
        b->at[1][j] = c * p->x[j] - s * p->z[j];
        b->at[2][j] = p->y ? p->y[j] : 0.0;
    }
    for (int i = 0; i < 3; ++i) b->rms[i] = centre(b->at[i], b->charge, b->n);
    return AW_OK;
}

aw_status aw_bunch_read(const char *path, aw_bunch *b)
{
    struct stat what;
    char why[AW_WHY_MAX];
    aw_particles *particles = NULL;
    aw_status status = AW_OK;
    memset(b, 0, sizeof *b);
    if (stat(path, &what) == 0 && S_ISDIR(what.st_mode)) {
        status = read_run(path, &particles);
    } else {
        status = read_file(path, &particles, why);
        if (status == AW_ERR_INPUT) aw_error_print("%s: %s", path, why);
    }
    if (status == AW_OK) status = take(particles, b);
    aw_particles_free(particles);
    return status;
}

void aw_bunch_free(aw_bunch *b)
{
    for (int c = 0; c < 3; ++c) aw_free(b->at[c]);
    aw_free(b->charge);
}
