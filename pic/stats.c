/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/stats.h"

#include <math.h>
#include <string.h>

#include "pic/chunks.h"
#include "src/base/units.h"

static void add_one(const aw_particles *p, size_t i, const aw_orbit_view *orbit,
                    const aw_orbit_point *ref, double gamma, aw_beam_sums *sums)
{
    const aw_particle particle = aw_particles_one(p, i);
    double c[AW_BEAM_WIDTH];
    aw_particle_coordinates(orbit, ref, gamma, &particle, p->gamma0[i], c);
    for (int a = 0; a < AW_BEAM_WIDTH; ++a) {
        const double v = aw_particles_weight(p, i) * c[a];
        sums->mean[a] += v;
        for (int b = 0; b <= a; ++b) sums->product[a][b] += v * c[b];
    }
}

static double covariance(const aw_beam_sums *m, double n, int a, int b)
{
    return m->product[a][b] / n - m->mean[a] / n * (m->mean[b] / n);
}

static double emittance(double xx, double xa, double aa)
{
    return sqrt(fmax(xx * aa - xa * xa, 0.0));
}

static void add(aw_beam_sums *to, const aw_beam_sums *more)
{
    for (int a = 0; a < AW_BEAM_WIDTH; ++a) {
        to->mean[a] += more->mean[a];
        for (int b = 0; b <= a; ++b) to->product[a][b] += more->product[a][b];
    }
    for (int k = 0; k < 2; ++k) to->radiated[k] += more->radiated[k];
}

static void add_radiated(const aw_particles *p, size_t begin, size_t end, aw_beam_sums *sums)
{
    for (size_t i = begin; p->radiated && i < end; ++i) {
        const double v = aw_particles_weight(p, i) * p->radiated[i];
        sums->radiated[0] += v;
        sums->radiated[1] += v * p->radiated[i];
    }
}

static aw_beam_sums host_sums(const aw_particles *p, const aw_orbit_view *orbit, double S_ref,
                              double gamma)
{
    const aw_particle_kernels *kernels = aw_particle_kernels_find(NULL);
    aw_simd_reference ref = aw_simd_reference_at(orbit, S_ref);
    const aw_orbit_point at = aw_orbit_at(orbit, S_ref);
    ref.gamma = gamma;
    aw_beam_sums part[AW_CHUNKS], m = {.mean = {0.0}};
#pragma omp parallel for schedule(static)
    for (int k = 0; k < AW_CHUNKS; ++k) {
        const size_t end = aw_chunk_begin(p->n, AW_CHUNKS, k + 1);
        aw_beam_sums t = {.mean = {0.0}};
        for (size_t i = aw_chunk_begin(p->n, AW_CHUNKS, k); i < end; i += AW_BLOCK) {
            const size_t n = aw_block_size(i, end);
            if (!kernels->stats(p, i, n, &ref, &t)) continue;
            for (size_t l = i; l < i + n; ++l) add_one(p, l, orbit, &at, gamma, &t);
        }
        add_radiated(p, aw_chunk_begin(p->n, AW_CHUNKS, k), end, &t);
        part[k] = t;
    }
    for (int k = 0; k < AW_CHUNKS; ++k) add(&m, &part[k]);
    return m;
}

static aw_status sums_of(const aw_particles *p, const aw_orbit_view *orbit, double S_ref,
                         double gamma, aw_beam_sums *m)
{
    const aw_device *device = p->resident_on;
    aw_status status = AW_OK;
    if (device)
        status = device->ops->particles->stats(device->state, S_ref, gamma, m);
    else
        *m = host_sums(p, orbit, S_ref, gamma);
    AW_TRY(aw_particles_agree(p, status));
    aw_particles_sum(p, m->mean, AW_BEAM_WIDTH);
    aw_particles_sum(p, m->radiated, 2);
    aw_particles_sum(p, m->product[0], (size_t)AW_BEAM_WIDTH * AW_BEAM_WIDTH);
done:
    return status;
}

aw_status aw_beam_stats_of(const aw_particles *p, const aw_orbit_view *orbit, double S_ref,
                           double gamma, aw_beam_stats *out)
{
    aw_status status = AW_OK;
    aw_beam_sums m;
    memset(out, 0xff, sizeof *out); /* NaN */
    AW_TRY(sums_of(p, orbit, S_ref, gamma, &m));
    const double n = (double)aw_particles_all(p);
    double xx = covariance(&m, n, AW_BEAM_X, AW_BEAM_X),
           ax = covariance(&m, n, AW_BEAM_ANGLE, AW_BEAM_X);
    double aa = covariance(&m, n, AW_BEAM_ANGLE, AW_BEAM_ANGLE),
           dd = covariance(&m, n, AW_BEAM_DELTA, AW_BEAM_DELTA);
    double dx = covariance(&m, n, AW_BEAM_DELTA, AW_BEAM_X),
           da = covariance(&m, n, AW_BEAM_DELTA, AW_BEAM_ANGLE);
    double inv = dd > 0.0 ? 1.0 / dd : 0.0;
    aw_beam_stats s;
    s.sigma_s = sqrt(fmax(covariance(&m, n, AW_BEAM_S, AW_BEAM_S), 0.0));
    s.sigma_x = sqrt(fmax(xx, 0.0));
    s.emittance = emittance(xx, ax, aa);
    s.emittance_free = emittance(xx - dx * dx * inv, ax - dx * da * inv, aa - da * da * inv);
    s.energy = AW_ME_EV * gamma * (1.0 + m.mean[AW_BEAM_DELTA] / n);
    s.energy_mean = AW_ME_EV * m.mean[AW_BEAM_CHANGE] / n;
    s.energy_rms = AW_ME_EV * sqrt(fmax(covariance(&m, n, AW_BEAM_CHANGE, AW_BEAM_CHANGE), 0.0));
    const double taken = m.radiated[0] / n;
    s.isr_mean = p->radiated ? AW_ME_EV * taken : NAN;
    s.isr_rms = p->radiated ? AW_ME_EV * sqrt(fmax(m.radiated[1] / n - taken * taken, 0.0)) : NAN;
    *out = s;
done:
    return status;
}
