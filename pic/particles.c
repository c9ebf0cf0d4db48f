/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draw a beam: truncated Gaussians from a shifted Sobol sequence or from Philox. */
#include "pic/particles.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_qrng.h>
#include <math.h>
#include <string.h>

#include "pic/chunks.h"
#include "pic/distribution.h"
#include "pic/particle/philox.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Streams of the generator, so that no two uses share a number. */
enum { STREAM_PARTICLE = 0, STREAM_SHIFT = 1 };
/* Points of the (sequential) Sobol sequence generated at once. */
#define AW_CHUNK 65536

aw_status aw_particles_new(size_t n, double charge_per_particle, aw_particles **out)
{
    aw_particles *p = aw_alloc(1, sizeof *p);
    *out = NULL;
    if (p) {
        double **array[] = {&p->z, &p->x, &p->pz, &p->px, &p->s0, &p->x0, &p->gamma0};
        int complete = 1;
        for (size_t k = 0; k < sizeof array / sizeof array[0]; ++k) {
            *array[k] = aw_alloc(n, sizeof(double));
            complete = complete && *array[k];
        }
        p->element = aw_alloc(n, sizeof *p->element);
        p->n = n;
        p->charge = charge_per_particle;
        if (complete && p->element) {
            *out = p;
            return AW_OK;
        }
    }
    aw_particles_free(p);
    aw_error(AW_ERR_NOMEM, "no memory for %zu particles (%.3g MiB)", n,
             (double)n * (7.0 * sizeof(double) + sizeof(int32_t)) / 1048576.0);
    return AW_ERR_NOMEM;
}

void aw_particles_free(aw_particles *particles)
{
    if (!particles) return;
    aw_free(particles->z);
    aw_free(particles->x);
    aw_free(particles->pz);
    aw_free(particles->px);
    aw_free(particles->s0);
    aw_free(particles->x0);
    aw_free(particles->gamma0);
    aw_free(particles->radiated);
    aw_free(particles->element);
    aw_free(particles->weight);
    aw_free(particles->y);
    aw_free(particles->py);
    aw_free(particles->p0);
    aw_free(particles->id);
    aw_free(particles);
}

static int positive(double value) { return value > 0.0 && isfinite(value); }

static aw_status check_beam(const aw_beam_params *b)
{
    const double strict[] = {b->charge, b->sigma_s, b->sigma_x, b->cutoff_sigma};
    const char *const name[] = {"charge_C", "sigma_s_m", "sigma_x_m", "cutoff_sigma"};
    for (size_t k = 0; k < 4; ++k)
        if (!positive(strict[k]))
            return aw_error(AW_ERR_ARG, "beam: %s is %g (expected > 0)", name[k], strict[k]);
    if (!(b->gamma > 1.0) || !isfinite(b->gamma))
        return aw_error(AW_ERR_ARG, "beam: gamma is %g (expected > 1)", b->gamma);
    if (!aw_distribution_list(b->distribution))
        return aw_error(AW_ERR_ARG, "beam: there is no distribution %d", b->distribution);
    if (strcmp(aw_distribution_list(b->distribution)->name, "tabulated") == 0 && b->table_n < 2)
        return aw_error(AW_ERR_ARG, "beam: a tabulated current has %zu points (expected 2 or more)",
                        b->table_n);
    if (!(b->modulation_depth >= 0.0 && b->modulation_depth <= 1.0) ||
        (b->modulation_depth > 0.0 && !positive(b->modulation_wavelength)))
        return aw_error(AW_ERR_ARG,
                        "beam: modulation of depth %g, wavelength_m %g (expected 0 to 1, and > 0)",
                        b->modulation_depth, b->modulation_wavelength);
    if (b->particles < 1) return aw_error(AW_ERR_ARG, "beam: no particles (expected at least 1)");
    if (b->quiet && b->particles > AW_QUIET_MAX)
        return aw_error(AW_ERR_ARG,
                        "beam: %zu particles are too many for the quiet sequence "
                        "(expected at most %zu, or sampling 'random')",
                        b->particles, AW_QUIET_MAX);
    if (!(b->emittance >= 0.0) || !isfinite(b->emittance))
        return aw_error(AW_ERR_ARG, "beam: emittance_x_m is %g (expected >= 0)", b->emittance);
    if (b->emittance > 0.0 && (!positive(b->beta_x) || !isfinite(b->alpha_x)))
        return aw_error(AW_ERR_ARG, "beam: beta_x_m %g, alpha_x %g (expected beta > 0)", b->beta_x,
                        b->alpha_x);
    if (!(b->energy_spread >= 0.0) || !isfinite(b->energy_spread) || !isfinite(b->chirp))
        return aw_error(AW_ERR_ARG,
                        "beam: energy_spread %g, chirp_per_m %g (expected finite, "
                        "spread >= 0)",
                        b->energy_spread, b->chirp);
    return AW_OK;
}

/* Constants while a beam is drawn. */
typedef struct aw_draw {
    const aw_beam_params *beam;
    aw_cut_normal normal;
    aw_profile *profile;              /* of s, owned; NULL: Gaussian */
    double shift[AW_BEAM_DIMENSIONS]; /* of the Sobol points, modulo 1 */
    double width_x, x_from, angle;    /* x = width_x g1;  x' = x_from x + angle g2 */
} aw_draw;

static aw_draw draw_setup(const aw_beam_params *b)
{
    aw_draw d = {.beam = b};
    d.normal = aw_cut_normal_of(b->cutoff_sigma);
    aw_philox_units(b->seed, 0, STREAM_SHIFT, d.shift);
    d.width_x = b->sigma_x;
    if (b->emittance > 0.0) { /* <x x'> = -alpha emittance: alpha > 0 converges */
        d.width_x = sqrt(b->emittance * b->beta_x);
        d.x_from = -b->alpha_x / b->beta_x;
        d.angle = sqrt(b->emittance / b->beta_x);
    }
    return d;
}

/* Fill particle i. @return 0: its gamma would not exceed 1 */
static int place(const aw_draw *d, const double u[AW_BEAM_DIMENSIONS], size_t i, aw_particles *p)
{
    const aw_beam_params *b = d->beam;
    double g[AW_BEAM_DIMENSIONS], s, x, slope, delta, gamma, momentum, pz;
    for (int k = d->profile ? 1 : 0; k < AW_BEAM_DIMENSIONS; ++k)
        g[k] = aw_cut_normal_deviate(&d->normal, u[k]);
    s = d->profile ? aw_profile_at(d->profile, u[0]) : b->sigma_s * g[0];
    x = d->width_x * g[1];
    slope = d->x_from * x + d->angle * g[2];
    delta = b->chirp * s + b->energy_spread * g[3];
    gamma = b->gamma * (1.0 + delta);
    momentum = sqrt((gamma - 1.0) * (gamma + 1.0));
    pz = momentum / sqrt(1.0 + slope * slope);
    p->s0[i] = p->z[i] = s;
    p->x0[i] = p->x[i] = x;
    p->pz[i] = pz;
    p->px[i] = pz * slope;
    p->gamma0[i] = gamma;
    return gamma > 1.0;
}

static double modulo_one(double v)
{
    const double edge = 0x1p-53; /* 0 would put the particle at the cutoff */
    return fmax(v >= 1.0 ? v - 1.0 : v, edge);
}

/* @return number of particles without a valid energy */
static size_t draw_random(const aw_draw *d, aw_particles *p)
{
    size_t bad = 0;
#pragma omp parallel for schedule(static) reduction(+ : bad)
    for (size_t i = 0; i < p->n; ++i) {
        double u[AW_BEAM_DIMENSIONS];
        aw_philox_units(d->beam->seed, p->first + i, STREAM_PARTICLE, u);
        bad += !place(d, u, i, p);
    }
    return bad;
}

static aw_status draw_quiet(const aw_draw *d, aw_particles *p, size_t *bad_out)
{
    size_t bad = 0, chunk = p->n < AW_CHUNK ? p->n : AW_CHUNK;
    aw_status status = AW_OK;
    gsl_qrng *sobol = gsl_qrng_alloc(gsl_qrng_sobol, AW_BEAM_DIMENSIONS);
    double *point = aw_alloc(chunk * AW_BEAM_DIMENSIONS, sizeof *point);
    if (!sobol || !point) {
        status = aw_error(AW_ERR_NOMEM, "no memory for the quiet sequence");
        goto done;
    }
    for (size_t i = 0; i < p->first; ++i) { /* skip the particles of other ranks */
        double none[AW_BEAM_DIMENSIONS];
        gsl_qrng_get(sobol, none);
    }
    for (size_t first = 0; first < p->n; first += chunk) {
        size_t m = p->n - first < chunk ? p->n - first : chunk;
        for (size_t j = 0; j < m; ++j)
            if (gsl_qrng_get(sobol, &point[j * AW_BEAM_DIMENSIONS]) != GSL_SUCCESS) {
                status = aw_error(AW_ERR_ARG, "the quiet sequence ends at particle %zu", first + j);
                goto done;
            }
#pragma omp parallel for schedule(static) reduction(+ : bad)
        for (size_t j = 0; j < m; ++j) {
            double u[AW_BEAM_DIMENSIONS];
            for (int k = 0; k < AW_BEAM_DIMENSIONS; ++k)
                u[k] = modulo_one(point[j * AW_BEAM_DIMENSIONS + (size_t)k] + d->shift[k]);
            bad += !place(d, u, first + j, p);
        }
    }
done:
    *bad_out = bad;
    aw_free(point);
    if (sobol) gsl_qrng_free(sobol);
    return status;
}

/* Draw particles first .. first + n - 1 of the beam; *bad counts those without a valid energy. */
static aw_status draw_some(const aw_beam_params *beam, size_t first, size_t n, aw_particles **out,
                           size_t *bad)
{
    aw_status status = AW_OK;
    aw_particles *p = NULL;
    *out = NULL;
    *bad = 0;
    aw_draw d = {.profile = NULL};
    AW_TRY(check_beam(beam));
    AW_TRY(aw_particles_new(n, beam->charge / (double)beam->particles, &p));
    d = draw_setup(beam);
    AW_TRY(aw_profile_new(beam, &d.profile));
    p->first = first;
    p->all = beam->particles;
    if (beam->quiet)
        AW_TRY(draw_quiet(&d, p, bad));
    else
        *bad = draw_random(&d, p);
    *out = p;
    p = NULL;
done:
    aw_profile_free(d.profile);
    aw_particles_free(p);
    return status;
}

/* Refuse a beam in which some particles have no valid energy. */
static aw_status check_drawn(size_t bad, size_t n)
{
    if (bad == 0) return AW_OK;
    return aw_error(AW_ERR_ARG,
                    "beam: %zu of %zu particles would have gamma <= 1 "
                    "(expected a smaller chirp_per_m or energy_spread)",
                    bad, n);
}

aw_status aw_particles_draw(const aw_beam_params *beam, aw_particles **out)
{
    size_t bad = 0;
    aw_status status = draw_some(beam, 0, beam->particles, out, &bad);
    if (status == AW_OK) status = check_drawn(bad, beam->particles);
    if (status == AW_OK) return AW_OK;
    aw_particles_free(*out);
    *out = NULL;
    return status;
}

aw_status aw_particles_draw_part(const aw_beam_params *beam, aw_particles **out)
{
    const int rank = aw_comm_rank(), ranks = aw_comm_size();
    const size_t first = aw_chunk_begin(beam->particles, ranks, rank);
    const size_t n = aw_chunk_begin(beam->particles, ranks, rank + 1) - first;
    size_t bad = 0;
    aw_particles *part = NULL;
    *out = NULL;
    aw_status status = aw_comm_agree(draw_some(beam, first, n, &part, &bad));
    if (status == AW_OK && part) {
        double all = (double)bad;
        aw_comm_sum(&all, 1);
        part->distributed = ranks > 1;
        status = check_drawn((size_t)all, beam->particles);
    }
    if (status == AW_OK)
        *out = part;
    else
        aw_particles_free(part);
    return status;
}
