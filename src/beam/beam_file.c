/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/beam/beam_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/beam/species_file.h"
#include "src/beam/text_file.h"

/* The noise of a beam is looked at within two rms lengths of its mean, in bins of a twentieth, a
 * quarter of a cell of a usual grid. Under NOISE_FEWEST particles it cannot be told from chance. */
#define NOISE_REACH 2.0
#define NOISE_BINS 80
#define NOISE_FEWEST 400

/* All particles of a file, one iteration or all. */
static aw_status read_columns(const aw_beam_source *source, aw_columns *columns)
{
    return aw_text_file_is_one(source->path)
               ? aw_text_file_read(source->path, source->iteration, columns)
               : aw_species_file_read(source->path, source->iteration, columns);
}

aw_status aw_beam_read(const aw_beam_source *source, aw_particles **out, aw_beam_found *found,
                       char why[AW_WHY_MAX])
{
    aw_columns columns = {0};
    aw_status status = AW_OK;
    *out = NULL;
    *found = (aw_beam_found){0};
    AW_TRY(read_columns(source, &columns));
    *found = (aw_beam_found){.alive = columns.n, .dead = columns.dead, .bunches = columns.bunches};
    if (source->wanted > 0 && source->wanted <= columns.n)
        aw_columns_thin(&columns, source->wanted, source->seed);
    AW_TRY(aw_columns_at_one_time(&columns));
    if (source->wanted > columns.n)
        AW_TRY(aw_columns_refine(&columns, source->wanted, source->seed, &found->refined));
    AW_TRY(aw_columns_particles(&columns, source->charge, out));
done:
    memcpy(why, columns.why, AW_WHY_MAX);
    aw_columns_free(&columns);
    return status;
}

enum { S, X, ANGLE, DELTA, COORDINATES };

typedef struct moments {
    double mean[COORDINATES], product[COORDINATES][COORDINATES];
} moments;

static double mean_gamma(const aw_particles *p)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->n; ++i)
        sum += aw_particles_weight(p, i) * (p->gamma0[i] - p->gamma0[0]);
    return p->gamma0[0] + sum / (double)p->n;
}

static void coordinates(const aw_particles *p, size_t i, double gamma, double c[COORDINATES])
{
    c[S] = p->s0[i];
    c[X] = p->x0[i];
    c[ANGLE] = p->px[i] / p->pz[i];
    c[DELTA] = (p->gamma0[i] - gamma) / gamma;
}

/* Two passes: the second about the mean. */
static moments moments_of(const aw_particles *p, double gamma)
{
    moments m = {{0.0}, {{0.0}}};
    double c[COORDINATES];
    for (size_t i = 0; i < p->n; ++i) {
        coordinates(p, i, gamma, c);
        for (int a = 0; a < COORDINATES; ++a)
            m.mean[a] += aw_particles_weight(p, i) * c[a] / (double)p->n;
    }
    for (size_t i = 0; i < p->n; ++i) {
        const double w = aw_particles_weight(p, i) / (double)p->n;
        coordinates(p, i, gamma, c);
        for (int a = 0; a < COORDINATES; ++a)
            for (int b = 0; b < COORDINATES; ++b)
                m.product[a][b] += w * (c[a] - m.mean[a]) * (c[b] - m.mean[b]);
    }
    return m;
}

void aw_beam_moments(const aw_particles *p, aw_beam_params *beam)
{
    double far_s = 0.0, far_x = 0.0;
    beam->gamma = mean_gamma(p);
    const moments m = moments_of(p, beam->gamma);
    const double ss = m.product[S][S], xx = m.product[X][X], xa = m.product[X][ANGLE];
    beam->charge = p->charge * (double)p->n;
    beam->particles = p->n;
    beam->sigma_s = sqrt(ss);
    beam->sigma_x = sqrt(xx);
    beam->emittance = sqrt(fmax(xx * m.product[ANGLE][ANGLE] - xa * xa, 0.0));
    beam->beta_x = beam->alpha_x = 0.0;
    if (beam->emittance > 0.0) {
        beam->beta_x = xx / beam->emittance;
        beam->alpha_x = -xa / beam->emittance;
    }
    beam->chirp = ss > 0.0 ? m.product[S][DELTA] / ss : 0.0;
    beam->energy_spread =
        sqrt(fmax(m.product[DELTA][DELTA] - beam->chirp * m.product[S][DELTA], 0.0));
    for (size_t i = 0; i < p->n; ++i) {
        far_s = fmax(far_s, fabs(p->s0[i]));
        far_x = fmax(far_x, fabs(p->x0[i]));
    }
    beam->cutoff_sigma = fmax(far_s / beam->sigma_s, far_x / beam->sigma_x);
}

void aw_beam_height(const aw_particles *p, aw_beam_params *beam)
{
    double mean[2] = {0.0}, yy = 0.0, ya = 0.0, aa = 0.0;
    beam->sigma_y = beam->emittance_y = beam->beta_y = beam->alpha_y = 0.0;
    if (!p->y) return;
    for (size_t i = 0; i < p->n; ++i) {
        const double w = aw_particles_weight(p, i) / (double)p->n;
        mean[0] += w * p->y[i];
        mean[1] += w * p->py[i] / p->p0[i];
    }
    for (size_t i = 0; i < p->n; ++i) {
        const double w = aw_particles_weight(p, i) / (double)p->n;
        const double y = p->y[i] - mean[0], a = p->py[i] / p->p0[i] - mean[1];
        yy += w * y * y;
        ya += w * y * a;
        aa += w * a * a;
    }
    if (!(yy > 0.0)) return;
    beam->emittance_y = fmax(sqrt(fmax(yy * aa - ya * ya, 0.0)), yy / AW_BETA_MOST);
    beam->beta_y = yy / beam->emittance_y;
    beam->alpha_y = (0.0 - ya) / beam->emittance_y; /* no -0 */
}

/* Charge, and the mean square of its noise by Poisson's law, in each bin. */
static void fill_bins(const aw_particles *p, double sigma, double charge[NOISE_BINS],
                      double square[NOISE_BINS])
{
    const double per_m = NOISE_BINS / (2.0 * NOISE_REACH * sigma);
    double mean = 0.0;
    for (size_t i = 0; i < p->n; ++i) mean += aw_particles_weight(p, i) * p->s0[i] / (double)p->n;
    for (size_t i = 0; i < p->n; ++i) {
        const double at = (p->s0[i] - mean + NOISE_REACH * sigma) * per_m;
        const double w = aw_particles_weight(p, i);
        if (!(at >= 0.0 && at < NOISE_BINS)) continue;
        charge[(int)at] += w;
        square[(int)at] += w * w;
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Third differences, in which a smooth shape does not show. The median, since edges and spikes do
 * in some; that of the square of a Gaussian number of unit variance is 0.455. */
double aw_beam_noise(const aw_particles *p, const aw_beam_params *beam)
{
    static const double c[] = {1.0, -3.0, 3.0, -1.0};
    double charge[NOISE_BINS] = {0.0}, square[NOISE_BINS] = {0.0}, ratio[NOISE_BINS];
    int n = 0;
    if (p->n < NOISE_FEWEST) return 1.0;
    fill_bins(p, beam->sigma_s, charge, square);
    for (int b = 0; b + 3 < NOISE_BINS; ++b) {
        double third = 0.0, chance = 0.0;
        for (int k = 0; k <= 3; ++k) {
            third += c[k] * charge[b + k];
            chance += c[k] * c[k] * square[b + k];
        }
        if (chance > 0.0) ratio[n++] = third * third / chance; /* else: between two bunches */
    }
    if (n == 0) return 1.0;
    qsort(ratio, (size_t)n, sizeof *ratio, ascending);
    return ratio[n / 2] / 0.455;
}
