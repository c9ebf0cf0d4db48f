/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/frame.h"

#include <math.h>
#include <string.h>

#include "pic/chunks.h"
#include "src/base/log.h"
#include "src/base/units.h"

#define AW_ROUND 0.2     /* relative difference of the rms axes below which they define no tilt */
#define AW_TURN_MAX 0.05 /* [rad] per step: a jump of the tilt blurs the interpolation in time */
#define AW_HEADROOM 1.02 /* size of the first grid over that needed for the outermost particle */
#define AW_FAR 1e6       /* squared distance over variance; loses 6 of 16 digits of a variance */

void aw_frame_init(aw_frame *frame, int ns, int nx)
{
    *frame = (aw_frame){.grid = {.ns = ns, .nx = nx}};
}

/* Spacing of n nodes that keeps the whole shape of a particle at `half` [m] from the centre between
 * the outermost nodes. */
static double spacing_for(double half, int n) { return half / (0.5 * (n - 1) - AW_SHAPE_REACH); }

static void place(aw_frame *frame, const aw_orbit_view *orbit, double S, double offset, double tilt)
{
    aw_orbit_point at = aw_orbit_at(orbit, S);
    frame->grid.S = S;
    frame->grid.offset = offset;
    frame->grid.z = at.z - offset * at.st;
    frame->grid.x = at.x + offset * at.ct;
    frame->grid.tilt = tilt;
    frame->grid.theta = at.theta + tilt;
    frame->theta_design = at.theta;
    frame->grid.hs = frame->base_s * exp2(0.25 * frame->rung_s);
    frame->grid.hx = frame->base_x * exp2(0.25 * frame->rung_x);
    frame->placed = 1;
}

void aw_frame_rigid(aw_frame *frame, const aw_orbit_view *orbit, double S, double half_s,
                    double half_x)
{
    frame->base_s = spacing_for(half_s, frame->grid.ns);
    frame->base_x = spacing_for(half_x, frame->grid.nx);
    place(frame, orbit, S, 0.0, 0.0);
}

/* Sums over particles of the lab coordinates about a point, and of their products. */
typedef struct sums {
    double z, x, zz, zx, xx;
} sums;

static void host_sums(const aw_particles *p, double z, double x, double total[5])
{
    const aw_particle_kernels *kernels = aw_particle_kernels_find(NULL);
    double part[AW_CHUNKS][5];
#pragma omp parallel for schedule(static)
    for (int k = 0; k < AW_CHUNKS; ++k) {
        const size_t end = aw_chunk_begin(p->n, AW_CHUNKS, k + 1);
        double s[5] = {0.0};
        for (size_t i = aw_chunk_begin(p->n, AW_CHUNKS, k); i < end; i += AW_BLOCK)
            kernels->moments(p, i, aw_block_size(i, end), z, x, s);
        memcpy(part[k], s, sizeof s);
    }
    for (int k = 0; k < AW_CHUNKS; ++k)
        for (int i = 0; i < 5; ++i) total[i] += part[k][i];
}

static aw_status beam_sums(const aw_particles *p, double z, double x, sums *out)
{
    const aw_device *device = p->resident_on;
    double total[5] = {0.0};
    aw_status status = AW_OK;
    if (device)
        status = device->ops->particles->second_moments(device->state, z, x, total);
    else
        host_sums(p, z, x, total);
    AW_TRY(aw_particles_agree(p, status));
    aw_particles_sum(p, total, 5);
    *out = (sums){.z = total[0], .x = total[1], .zz = total[2], .zx = total[3], .xx = total[4]};
done:
    return status;
}

/* Sums about the mean (z, x) from the sums m about another point. If that point is so far away that
 * the difference would lose digits, a second pass over the particles is made. */
static aw_status central_sums(const aw_particles *p, const sums *m, double z, double x, sums *out)
{
    const double n = (double)aw_particles_all(p), mz = m->z / n, mx = m->x / n;
    *out = (sums){.zz = m->zz - mz * m->z, .zx = m->zx - mz * m->x, .xx = m->xx - mx * m->x};
    if (mz * mz + mx * mx <= AW_FAR * fmin(out->zz, out->xx) / n) return AW_OK;
    return beam_sums(p, z, x, out);
}

/* Largest |u| and |w| of all particles, along and across the direction (c, s) from the point (z,
 * x). axes: z, x, c, s. */
static void host_reach(const aw_particles *p, const double axes[4], double reach[2])
{
    const aw_particle_kernels *kernels = aw_particle_kernels_find(NULL);
    double mu = 0.0, mw = 0.0;
#pragma omp parallel for schedule(static) reduction(max : mu, mw)
    for (int k = 0; k < AW_CHUNKS; ++k) {
        const size_t end = aw_chunk_begin(p->n, AW_CHUNKS, k + 1);
        double max[2] = {0.0, 0.0};
        for (size_t i = aw_chunk_begin(p->n, AW_CHUNKS, k); i < end; i += AW_BLOCK)
            kernels->reach(p, i, aw_block_size(i, end), axes, max);
        mu = fmax(mu, max[0]);
        mw = fmax(mw, max[1]);
    }
    reach[0] = mu;
    reach[1] = mw;
}

static aw_status beam_reach(const aw_particles *p, double z, double x, double theta,
                            double reach[2])
{
    const aw_device *device = p->resident_on;
    const double axes[4] = {z, x, cos(theta), sin(theta)};
    aw_status status = AW_OK;
    if (device)
        status = device->ops->particles->reach(device->state, axes, reach);
    else
        host_reach(p, axes, reach);
    AW_TRY(aw_particles_agree(p, status));
    aw_particles_max(p, reach, 2);
done:
    return status;
}

/* Tilt of the principal axes of n particles against the tangent theta: the branch nearest to
 * `last`, and no further than max_turn from it; `last` itself for a round bunch. */
static double principal_tilt(const sums *m, double n, double theta, double last, double max_turn)
{
    double c = cos(theta), s = sin(theta);
    double zz = m->zz / n, zx = m->zx / n, xx = m->xx / n;
    double tt = c * c * zz + 2.0 * c * s * zx + s * s * xx;
    double nn = s * s * zz - 2.0 * c * s * zx + c * c * xx;
    double tn = (xx - zz) * c * s + zx * (c * c - s * s);
    double mean = 0.5 * (tt + nn), split = hypot(0.5 * (tt - nn), tn);
    double large = sqrt(mean + split), small = sqrt(fmax(mean - split, 0.0));
    if (!(large - small > AW_ROUND * large)) return last;
    double tilt = 0.5 * atan2(2.0 * tn, tt - nn);
    tilt += 0.5 * AW_PI * rint((last - tilt) / (0.5 * AW_PI));
    return last + fmin(fmax(tilt - last, -max_turn), max_turn);
}

/* Rung for the spacing `need`: up at once, down only if the rung is more than two too high. */
static int rung_for(double need, double base, int rung)
{
    double wanted = 4.0 * log2(need / base);
    if (wanted > rung) return (int)ceil(wanted);
    if (wanted < rung - 2.0) return (int)ceil(wanted + 0.5);
    return rung;
}

aw_status aw_frame_fit(aw_frame *frame, const aw_orbit_view *orbit, const aw_particles *particles,
                       double S_guess)
{
    aw_orbit_point near = aw_orbit_at(orbit, S_guess);
    double n = (double)aw_particles_all(particles), offset, reach[2];
    sums first, about;
    aw_status status = AW_OK;
    AW_TRY(beam_sums(particles, near.z, near.x, &first));
    double z = near.z + first.z / n, x = near.x + first.x / n;
    double S = aw_orbit_project(orbit, z, x, S_guess + first.z / n * near.ct, &offset);
    if (!isfinite(S) || !isfinite(offset))
        return aw_error(AW_ERR_NONFINITE,
                        "the bunch has lost its place near S = %.6g m: positions "
                        "are not finite (a smaller numerics.step_m?)",
                        S_guess);
    aw_orbit_point at = aw_orbit_at(orbit, S);
    AW_TRY(central_sums(particles, &first, z, x, &about));
    double last = frame->placed ? frame->grid.tilt : 0.0;
    double tilt = principal_tilt(&about, n, at.theta, last, frame->placed ? AW_TURN_MAX : AW_PI);
    AW_TRY(beam_reach(particles, z, x, at.theta + tilt, reach));
    /* A lone particle has no extent; its grid gets one of a nanometre. */
    double need_s = spacing_for(fmax(reach[0], 1e-9), frame->grid.ns);
    double need_x = spacing_for(fmax(reach[1], 1e-9), frame->grid.nx);
    if (!frame->placed) {
        if (frame->base_s == 0.0) frame->base_s = AW_HEADROOM * need_s;
        if (frame->base_x == 0.0) frame->base_x = AW_HEADROOM * need_x;
    }
    frame->rung_s = rung_for(need_s, frame->base_s, frame->rung_s);
    frame->rung_x = rung_for(need_x, frame->base_x, frame->rung_x);
    place(frame, orbit, S, offset, tilt);
done:
    return status;
}

aw_field_point aw_frame_point(const aw_grid_view *grid, const aw_orbit_view *orbit, double gamma,
                              double i, double j)
{
    double u = (i - 0.5 * (grid->ns - 1)) * grid->hs, w = (j - 0.5 * (grid->nx - 1)) * grid->hx;
    double c = cos(grid->theta), s = sin(grid->theta);
    aw_field_point p;
    p.z = grid->z + u * c - w * s;
    p.x = grid->x + u * s + w * c;
    p.S = aw_orbit_project(orbit, p.z, p.x, grid->S + u * cos(grid->tilt) - w * sin(grid->tilt),
                           &p.offset);
    aw_orbit_point at = aw_orbit_at(orbit, p.S);
    p.theta = at.theta;
    p.ct = at.ct;
    p.st = at.st;
    p.kappa = at.kappa;
    p.beta = sqrt((1.0 - 1.0 / gamma) * (1.0 + 1.0 / gamma));
    p.one_minus_beta = 1.0 / (gamma * gamma * (1.0 + p.beta));
    return p;
}

void aw_frame_points(const aw_grid_view *grid, const aw_orbit_view *orbit, double gamma,
                     aw_field_point *point)
{
#pragma omp parallel for schedule(static)
    for (int j = 0; j < grid->nx; ++j)
        for (int i = 0; i < grid->ns; ++i)
            point[(size_t)j * (size_t)grid->ns + (size_t)i] =
                aw_frame_point(grid, orbit, gamma, i, j);
}
