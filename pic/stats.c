/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/stats.h"

#include <math.h>

#include "pic/chunks.h"
#include "src/base/units.h"

/* Coordinates of which all means and products are summed. */
enum { C_S, C_X, C_ANGLE, C_DELTA, C_CHANGE, COORDINATES };

typedef struct sums {
    double mean[COORDINATES];
    double product[COORDINATES][COORDINATES];
} sums;

static void coordinates(const aw_particles *p, size_t i, const aw_orbit_view *orbit, double S_ref,
                        double gamma, double c[COORDINATES])
{
    aw_orbit_point ref = aw_orbit_at(orbit, S_ref);
    double offset, guess = S_ref + (p->z[i] - ref.z) * ref.ct + (p->x[i] - ref.x) * ref.st;
    double S = aw_orbit_project(orbit, p->z[i], p->x[i], guess, &offset);
    aw_orbit_point at = aw_orbit_at(orbit, S);
    double along = p->pz[i] * at.ct + p->px[i] * at.st;
    double across = -p->pz[i] * at.st + p->px[i] * at.ct;
    double g = sqrt(1.0 + p->pz[i] * p->pz[i] + p->px[i] * p->px[i]);
    c[C_S] = S - S_ref;
    c[C_X] = offset;
    c[C_ANGLE] = across / along;
    c[C_DELTA] = (g - gamma) / gamma;
    c[C_CHANGE] = g - p->gamma0[i];
}

static double covariance(const sums *m, double n, int a, int b)
{
    return m->product[a][b] / n - m->mean[a] / n * (m->mean[b] / n);
}

static double emittance(double xx, double xa, double aa)
{
    return sqrt(fmax(xx * aa - xa * xa, 0.0));
}

aw_beam_stats aw_beam_stats_of(const aw_particles *p, const aw_orbit_view *orbit, double S_ref,
                               double gamma)
{
    sums part[AW_CHUNKS], m = {{0}, {{0}}};
    double n = (double)p->n;
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < AW_CHUNKS; ++k) {
        sums t = {{0}, {{0}}};
        for (size_t i = aw_chunk_begin(p->n, k); i < aw_chunk_begin(p->n, k + 1); ++i) {
            double c[COORDINATES];
            coordinates(p, i, orbit, S_ref, gamma, c);
            for (int a = 0; a < COORDINATES; ++a) {
                t.mean[a] += c[a];
                for (int b = 0; b <= a; ++b) t.product[a][b] += c[a] * c[b];
            }
        }
        part[k] = t;
    }
    for (int k = 0; k < AW_CHUNKS; ++k)
        for (int a = 0; a < COORDINATES; ++a) {
            m.mean[a] += part[k].mean[a];
            for (int b = 0; b <= a; ++b) m.product[a][b] += part[k].product[a][b];
        }
    double xx = covariance(&m, n, C_X, C_X), ax = covariance(&m, n, C_ANGLE, C_X);
    double aa = covariance(&m, n, C_ANGLE, C_ANGLE), dd = covariance(&m, n, C_DELTA, C_DELTA);
    double dx = covariance(&m, n, C_DELTA, C_X), da = covariance(&m, n, C_DELTA, C_ANGLE);
    double inv = dd > 0.0 ? 1.0 / dd : 0.0;
    aw_beam_stats s;
    s.sigma_s = sqrt(fmax(covariance(&m, n, C_S, C_S), 0.0));
    s.sigma_x = sqrt(fmax(xx, 0.0));
    s.emittance = emittance(xx, ax, aa);
    s.emittance_free = emittance(xx - dx * dx * inv, ax - dx * da * inv, aa - da * da * inv);
    s.energy_mean = AW_ME_EV * m.mean[C_CHANGE] / n;
    s.energy_rms = AW_ME_EV * sqrt(fmax(covariance(&m, n, C_CHANGE, C_CHANGE), 0.0));
    return s;
}
