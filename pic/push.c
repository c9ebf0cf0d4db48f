/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transport through the regions of the lattice, kicks, and rigid motion. */
#include "pic/push.h"

#include <math.h>
#include <stdint.h>

#include "pic/chunks.h"
#include "src/base/log.h"
#include "src/base/units.h"

static void store_particle(const aw_particle *b, aw_particles *p, size_t i)
{
    p->z[i] = b->z;
    p->x[i] = b->x;
    p->pz[i] = b->pz;
    p->px[i] = b->px;
    p->element[i] = b->element;
    if (b->gained != 0.0) p->gamma0[i] += b->gained;
}

static int particle_is_finite(const aw_particles *p, size_t i)
{
    const aw_particle b = aw_particles_one(p, i);
    return aw_particle_finite(&b);
}

static aw_track_status transport_one(const aw_fields_view *fields, aw_particles *p, size_t i,
                                     double cdt)
{
    aw_particle b = aw_particles_one(p, i);
    double lost = 0.0;
    const aw_track_status status =
        p->radiation.isr ? aw_particle_radiate(fields, &b, cdt, &p->radiation, i, &lost)
                         : aw_particle_track(fields, &b, cdt);
    store_particle(&b, p, i);
    if (lost != 0.0) p->radiated[i] += lost;
    return status;
}

static aw_status lost_error(const aw_lattice *lat, const aw_particles *p, aw_particles_lost lost,
                            const char *what)
{
    size_t i = lost.nonfinite != SIZE_MAX ? lost.nonfinite : lost.turned;
    const aw_field_region *r;
    if (i == SIZE_MAX) return AW_OK;
    if (lost.nonfinite != SIZE_MAX)
        return aw_error(AW_ERR_NONFINITE,
                        "%s: particle %zu at z = %g m, x = %g m has gamma beta = "
                        "(%g, %g): not finite (a force was not, or the step is far too long)",
                        what, p->first + i, p->z[i], p->x[i], p->pz[i], p->px[i]);
    r = &lat->region[p->element[i]];
    return aw_error(AW_ERR_RANGE,
                    "%s: particle %zu at z = %g m, x = %g m with gamma beta = (%g, %g) "
                    "stopped or turned back between S = %g m and %g m, and cannot reach the end",
                    what, p->first + i, p->z[i], p->x[i], p->pz[i], p->px[i], r->S,
                    r->S + r->length);
}

/* Kick and transport of resident particles, on their device. */
static aw_status device_push(const aw_lattice *lattice, const aw_particles *p, double factor,
                             double cdt)
{
    const aw_device *device = p->resident_on;
    const aw_radiation radiation = p->radiation;
    aw_particles_lost lost;
    aw_status status = AW_OK;
    AW_TRY(
        device->ops->particles->push(device->state, factor, p->ct + cdt, cdt, &radiation, &lost));
    if (lost.kicked != SIZE_MAX) return aw_push_kick_error(p, lost.kicked, NULL, NULL);
    if (lost.turned == SIZE_MAX && lost.nonfinite == SIZE_MAX) return AW_OK;
    AW_TRY(aw_particles_download(p)); /* the message says where it is */
    status = lost_error(lattice, p, lost, "transport");
done:
    return status;
}

/* Whether a block lies in one region, and of a kind that the transport kernel can do. */
static int common_region(const aw_lattice *lat, const int32_t *element, size_t n,
                         aw_simd_field *out)
{
    const aw_field_region *r = &lat->region[element[0]];
    int32_t others = 0;
#pragma omp simd reduction(| : others)
    for (size_t l = 0; l < n; ++l) others |= element[l] ^ element[0];
    *out = (aw_simd_field){.field = r,
                           .bend = r->kind == AW_REGION_DIPOLE ? r->kappa * lat->p_ref : 0.0,
                           .last = element[0] + 1 >= lat->regions};
    return others == 0 &&
           (r->kind == AW_REGION_DRIFT || (r->kind == AW_REGION_DIPOLE && !out->last));
}

/* Arguments of a transport of all particles. */
typedef struct transport {
    const aw_particle_kernels *kernels;
    const aw_lattice *lattice;
    double cdt;
} transport;

/* Particles that stay in the region are moved by the kernel, the others one at a time. So are those
 * that radiate in a dipole, which the kernel does not do. */
static void transport_block(const transport *t, aw_particles *p, size_t i, size_t n,
                            aw_particles_lost *lost)
{
    const aw_fields_view fields = aw_lattice_fields(t->lattice, p->ct + t->cdt);
    aw_simd_field region;
    uint64_t left = ~(uint64_t)0 >> (64 - n);
    if (common_region(t->lattice, p->element + i, n, &region) &&
        (!p->radiation.isr || region.field->kind == AW_REGION_DRIFT))
        left = t->kernels->transport(p, i, n, &region, t->cdt);
    for (size_t l = i; left; ++l, left >>= 1) {
        if (!(left & 1)) continue;
        const aw_track_status status = transport_one(&fields, p, l, t->cdt);
        if (status == AW_TRACK_TURNED && l < lost->turned) lost->turned = l;
        if (status == AW_TRACK_NONFINITE && l < lost->nonfinite) lost->nonfinite = l;
    }
}

aw_status aw_push_kick_transport(const aw_lattice *lattice, aw_particles *p, const double *Fz,
                                 const double *Fx, double kick, double cdt)
{
    const aw_particle_kernels *kernels = aw_particle_kernels_find(NULL);
    const transport t = {kernels, lattice, cdt};
    const double factor = aw_push_kick_factor(kick);
    size_t turned = SIZE_MAX, nonfinite = SIZE_MAX, kicked = SIZE_MAX;
    if (!(cdt >= 0.0) || !isfinite(cdt))
        return aw_error(AW_ERR_ARG, "transport: c dt = %g m (expected >= 0)", cdt);
    if (p->resident_on) {
        const aw_status status = device_push(lattice, p, factor, cdt);
        p->ct += cdt;
        return status;
    }
#pragma omp parallel for schedule(static) reduction(min : turned, nonfinite, kicked)
    for (int k = 0; k < AW_CHUNKS; ++k) {
        const size_t end = aw_chunk_begin(p->n, AW_CHUNKS, k + 1);
        aw_particles_lost lost = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
        for (size_t i = aw_chunk_begin(p->n, AW_CHUNKS, k); i < end; i += AW_BLOCK) {
            const size_t n = aw_block_size(i, end);
            if (factor != 0.0 && kernels->kick(p, i, n, factor, Fz + i, Fx + i)) {
                const size_t first = aw_push_first_nonfinite(p, i, n);
                if (first < kicked) kicked = first;
                break; /* not moved: the message says where the particle met the force */
            }
            transport_block(&t, p, i, n, &lost);
        }
        if (lost.turned < turned) turned = lost.turned;
        if (lost.nonfinite < nonfinite) nonfinite = lost.nonfinite;
    }
    if (kicked != SIZE_MAX) return aw_push_kick_error(p, kicked, Fz, Fx);
    p->ct += cdt;
    return lost_error(lattice, p, (aw_particles_lost){SIZE_MAX, turned, nonfinite}, "transport");
}

aw_status aw_push_transport(const aw_lattice *lattice, aw_particles *particles, double cdt)
{
    return aw_push_kick_transport(lattice, particles, NULL, NULL, 0.0, cdt);
}

/* First region whose exit plane the point has not passed. */
static int32_t region_of(const aw_lattice *lat, double z, double x)
{
    int32_t r = 0;
    while (r + 1 < lat->regions && aw_track_beyond(&lat->region[r], z, x) >= 0.0) ++r;
    return r;
}

aw_status aw_push_locate(const aw_lattice *lattice, aw_particles *particles)
{
    aw_particles_lost lost = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    size_t nonfinite = SIZE_MAX;
#pragma omp parallel for schedule(static) reduction(min : nonfinite)
    for (size_t i = 0; i < particles->n; ++i) {
        if (!particle_is_finite(particles, i) && i < nonfinite) nonfinite = i;
        particles->element[i] = region_of(lattice, particles->z[i], particles->x[i]);
    }
    lost.nonfinite = nonfinite;
    return lost_error(lattice, particles, lost, "locate");
}

/* Move back along the straight line to the first edge, then forward by the same path. */
static aw_track_status place_after_drift(const aw_lattice *lat, aw_particle *b)
{
    const aw_fields_view fields = aw_lattice_fields(lat, 0.0);
    const aw_field_region *r = &lat->region[0];
    aw_track f = aw_track_begin(b);
    b->element = 0;
    if (!aw_particle_finite(b)) return AW_TRACK_NONFINITE;
    if (!(f.p > 0.0)) return AW_TRACK_TURNED;
    const double beyond = aw_track_beyond(r, f.z, f.x);
    if (lat->regions == 1 || beyond < 0.0) return AW_TRACK_OK;
    const double cosine = f.uz * r->exit_nz + f.ux * r->exit_nx;
    if (!(cosine > AW_GRAZING)) return AW_TRACK_TURNED;
    aw_track_straight(&f, -beyond / cosine);
    b->element = 1;
    const aw_track_status status = aw_track_along(&fields, &f, &b->element, beyond / cosine);
    aw_track_end(&f, b);
    return status;
}

static aw_track_status place_about_orbit(const aw_lattice *lat, aw_particle *b)
{
    const aw_orbit_point at = aw_orbit_at(&lat->orbit, b->z);
    const double x = b->x, pz = b->pz, px = b->px;
    b->z = at.z - x * at.st;
    b->x = at.x + x * at.ct;
    b->pz = pz * at.ct - px * at.st;
    b->px = pz * at.st + px * at.ct;
    b->element = 0;
    if (!aw_particle_finite(b)) return AW_TRACK_NONFINITE;
    b->element = region_of(lat, b->z, b->x);
    return AW_TRACK_OK;
}

aw_status aw_push_place(const aw_lattice *lattice, aw_particles *particles)
{
    size_t turned = SIZE_MAX, nonfinite = SIZE_MAX;
    int steady = lattice->region[0].kappa != 0.0;
    aw_particles_lost lost;
#pragma omp parallel for schedule(static) reduction(min : turned, nonfinite)
    for (size_t i = 0; i < particles->n; ++i) {
        aw_particle b = aw_particles_one(particles, i);
        const aw_track_status status =
            steady ? place_about_orbit(lattice, &b) : place_after_drift(lattice, &b);
        store_particle(&b, particles, i);
        if (status == AW_TRACK_TURNED && i < turned) turned = i;
        if (status == AW_TRACK_NONFINITE && i < nonfinite) nonfinite = i;
    }
    lost.turned = turned;
    lost.nonfinite = nonfinite;
    return lost_error(lattice, particles, lost, "place");
}

double aw_push_kick_factor(double cdt) { return cdt / AW_ME_EV; }

size_t aw_push_first_nonfinite(const aw_particles *particles, size_t i, size_t n)
{
    for (size_t l = i; l < i + n; ++l)
        if (!particle_is_finite(particles, l)) return l;
    return i;
}

aw_status aw_push_kick_error(const aw_particles *p, size_t i, const double *Fz, const double *Fx)
{
    if (p->resident_on) { /* the force is on the device, too */
        const aw_status status = aw_particles_download(p);
        return status != AW_OK ? status
                               : aw_error(AW_ERR_NONFINITE,
                                          "kick: particle %zu at z = %g m, x = %g m met a force "
                                          "that is not finite",
                                          p->first + i, p->z[i], p->x[i]);
    }
    return aw_error(AW_ERR_NONFINITE,
                    "kick: particle %zu at z = %g m, x = %g m met a force of "
                    "(%g, %g) eV/m: not finite",
                    p->first + i, p->z[i], p->x[i], Fz[i], Fx[i]);
}

/* Kick of resident particles: a push whose transport takes no time. */
static aw_status device_kick(const aw_particles *p, double factor)
{
    const aw_device *device = p->resident_on;
    const aw_radiation none = {.isr = AW_ISR_OFF};
    aw_particles_lost lost;
    aw_status status = AW_OK;
    AW_TRY(device->ops->particles->push(device->state, factor, p->ct, 0.0, &none, &lost));
    if (lost.kicked != SIZE_MAX) status = aw_push_kick_error(p, lost.kicked, NULL, NULL);
done:
    return status;
}

aw_status aw_push_kick(aw_particles *p, const double *Fz, const double *Fx, double cdt)
{
    const aw_particle_kernels *kernels = aw_particle_kernels_find(NULL);
    const double factor = aw_push_kick_factor(cdt);
    size_t bad = SIZE_MAX;
    if (p->resident_on) return device_kick(p, factor);
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int k = 0; k < AW_CHUNKS; ++k) {
        const size_t end = aw_chunk_begin(p->n, AW_CHUNKS, k + 1);
        for (size_t i = aw_chunk_begin(p->n, AW_CHUNKS, k); i < end; i += AW_BLOCK) {
            const size_t n = aw_block_size(i, end);
            if (!kernels->kick(p, i, n, factor, Fz + i, Fx + i)) continue;
            const size_t first = aw_push_first_nonfinite(p, i, n);
            if (first < bad) bad = first;
        }
    }
    return bad == SIZE_MAX ? AW_OK : aw_push_kick_error(p, bad, Fz, Fx);
}

static int32_t region_at(const aw_lattice *lat, double S)
{
    int32_t r = 0; /* by arc length: in a ring, several planes may contain the same point */
    while (r + 1 < lat->regions && S >= lat->region[r + 1].S) ++r;
    return r;
}

/* Reference at S, valid as far as its region and its piece of the orbit reach. */
static aw_simd_reference rigid_reference(const aw_lattice *lat, double S)
{
    const int32_t r = region_at(lat, S);
    aw_simd_reference ref = aw_simd_reference_at(&lat->orbit, S);
    if (r > 0) ref.behind = fmax(ref.behind, lat->region[r].S - S);
    if (r + 1 < lat->regions) ref.ahead = fmin(ref.ahead, lat->region[r + 1].S - S);
    return ref;
}

static void rigid_one(const aw_lattice *lat, aw_particles *p, size_t i, double S_ref,
                      double momentum)
{
    const aw_orbit_point at = aw_orbit_at(&lat->orbit, S_ref + p->s0[i]);
    p->z[i] = at.z - p->x0[i] * at.st;
    p->x[i] = at.x + p->x0[i] * at.ct;
    p->pz[i] = momentum * at.ct;
    p->px[i] = momentum * at.st;
    p->element[i] = region_at(lat, at.S);
}

aw_status aw_push_rigid(const aw_lattice *lattice, aw_particles *p, double gamma, double S_ref)
{
    const aw_particle_kernels *kernels = aw_particle_kernels_find(NULL);
    const double momentum = sqrt((gamma - 1.0) * (gamma + 1.0));
    aw_particles_lost lost = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    size_t nonfinite = SIZE_MAX;
    if (!(gamma > 1.0) || !isfinite(gamma))
        return aw_error(AW_ERR_ARG, "rigid motion: gamma = %g (expected > 1)", gamma);
    const aw_simd_reference ref = rigid_reference(lattice, S_ref);
    const int32_t region = region_at(lattice, S_ref);
#pragma omp parallel for schedule(static) reduction(min : nonfinite)
    for (int k = 0; k < AW_CHUNKS; ++k) {
        const size_t end = aw_chunk_begin(p->n, AW_CHUNKS, k + 1);
        for (size_t i = aw_chunk_begin(p->n, AW_CHUNKS, k); i < end; i += AW_BLOCK) {
            const size_t n = aw_block_size(i, end);
            if (isfinite(S_ref) && !kernels->rigid(p, i, n, &ref, momentum)) {
                for (size_t l = i; l < i + n; ++l) p->element[l] = region;
                continue;
            }
            for (size_t l = i; l < i + n; ++l) {
                rigid_one(lattice, p, l, S_ref, momentum);
                if (!particle_is_finite(p, l) && l < nonfinite) nonfinite = l;
            }
        }
    }
    lost.nonfinite = nonfinite;
    return lost_error(lattice, p, lost, "rigid motion");
}
