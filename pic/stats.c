/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/stats.h"

#include <math.h>

#include "pic/pieces.h"
#include "src/base/units.h"

/* Of one particle wherever it is: the closest point of the orbit is searched for. */
static void coordinates(const aw_particles *p, size_t i, const aw_orbit_view *orbit, double S_ref,
                        double gamma, double c[AW_LANES_WIDTH])
{
    aw_orbit_point ref = aw_orbit_at(orbit, S_ref);
    double offset, guess = S_ref + (p->z[i] - ref.z) * ref.ct + (p->x[i] - ref.x) * ref.st;
    double S = aw_orbit_project(orbit, p->z[i], p->x[i], guess, &offset);
    aw_orbit_point at = aw_orbit_at(orbit, S);
    double along = p->pz[i] * at.ct + p->px[i] * at.st;
    double across = -p->pz[i] * at.st + p->px[i] * at.ct;
    double g = sqrt(1.0 + p->pz[i] * p->pz[i] + p->px[i] * p->px[i]);
    c[AW_LANES_S] = S - S_ref;
    c[AW_LANES_X] = offset;
    c[AW_LANES_ANGLE] = across / along;
    c[AW_LANES_DELTA] = (g - gamma) / gamma;
    c[AW_LANES_CHANGE] = g - p->gamma0[i];
}

static void add_one(const aw_particles *p, size_t i, const aw_orbit_view *orbit, double S_ref,
                    double gamma, aw_lanes_sums *sums)
{
    double c[AW_LANES_WIDTH];
    coordinates(p, i, orbit, S_ref, gamma, c);
    for (int a = 0; a < AW_LANES_WIDTH; ++a) {
        sums->mean[a] += c[a];
        for (int b = 0; b <= a; ++b) sums->product[a][b] += c[a] * c[b];
    }
}

static double covariance(const aw_lanes_sums *m, double n, int a, int b)
{
    return m->product[a][b] / n - m->mean[a] / n * (m->mean[b] / n);
}

static double emittance(double xx, double xa, double aa)
{
    return sqrt(fmax(xx * aa - xa * xa, 0.0));
}

static void add(aw_lanes_sums *to, const aw_lanes_sums *more)
{
    for (int a = 0; a < AW_LANES_WIDTH; ++a) {
        to->mean[a] += more->mean[a];
        for (int b = 0; b <= a; ++b) to->product[a][b] += more->product[a][b];
    }
}

static aw_lanes_sums sums_of(const aw_particles *p, const aw_orbit_view *orbit, double S_ref,
                             double gamma)
{
    const aw_lanes *lanes = aw_lanes_find(NULL);
    aw_lanes_reference ref = aw_lanes_reference_at(orbit, S_ref);
    ref.gamma = gamma;
    aw_lanes_sums part[AW_PIECES], m = {{0.0}, {{0.0}}};
#pragma omp parallel for schedule(static)
    for (int k = 0; k < AW_PIECES; ++k) {
        const size_t end = aw_piece_begin(p->n, AW_PIECES, k + 1);
        aw_lanes_sums t = {{0.0}, {{0.0}}};
        for (size_t i = aw_piece_begin(p->n, AW_PIECES, k); i < end; i += AW_BLOCK) {
            const size_t n = aw_block_size(i, end);
            if (!lanes->stats(p, i, n, &ref, &t)) continue;
            for (size_t l = i; l < i + n; ++l) add_one(p, l, orbit, S_ref, gamma, &t);
        }
        part[k] = t;
    }
    for (int k = 0; k < AW_PIECES; ++k) add(&m, &part[k]);
    aw_particles_sum(p, m.mean, AW_LANES_WIDTH);
    aw_particles_sum(p, m.product[0], (size_t)AW_LANES_WIDTH * AW_LANES_WIDTH);
    return m;
}

aw_beam_stats aw_beam_stats_of(const aw_particles *p, const aw_orbit_view *orbit, double S_ref,
                               double gamma)
{
    const aw_lanes_sums m = sums_of(p, orbit, S_ref, gamma);
    const double n = (double)aw_particles_all(p);
    double xx = covariance(&m, n, AW_LANES_X, AW_LANES_X),
           ax = covariance(&m, n, AW_LANES_ANGLE, AW_LANES_X);
    double aa = covariance(&m, n, AW_LANES_ANGLE, AW_LANES_ANGLE),
           dd = covariance(&m, n, AW_LANES_DELTA, AW_LANES_DELTA);
    double dx = covariance(&m, n, AW_LANES_DELTA, AW_LANES_X),
           da = covariance(&m, n, AW_LANES_DELTA, AW_LANES_ANGLE);
    double inv = dd > 0.0 ? 1.0 / dd : 0.0;
    aw_beam_stats s;
    s.sigma_s = sqrt(fmax(covariance(&m, n, AW_LANES_S, AW_LANES_S), 0.0));
    s.sigma_x = sqrt(fmax(xx, 0.0));
    s.emittance = emittance(xx, ax, aa);
    s.emittance_free = emittance(xx - dx * dx * inv, ax - dx * da * inv, aa - da * da * inv);
    s.energy_mean = AW_ME_EV * m.mean[AW_LANES_CHANGE] / n;
    s.energy_rms = AW_ME_EV * sqrt(fmax(covariance(&m, n, AW_LANES_CHANGE, AW_LANES_CHANGE), 0.0));
    return s;
}
