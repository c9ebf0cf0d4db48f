/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU kernels for particles. The threads of all blocks take the particles in turn, neighbouring
 * threads neighbouring particles, and each block reduces its results in a fixed order. */
#ifndef AW_KERNELS_GPU_BLOCKS_PARTICLES_H
#define AW_KERNELS_GPU_BLOCKS_PARTICLES_H
#include "kernels/device/particle_ops.h"
#include "kernels/gpu/blocks/block.h"
#include "src/base/units.h"

/* Most blocks of a launch: some eight per multiprocessor. The host reduces their results. */
#define AW_GPU_PARTICLE_BLOCKS 1024

/* Results of a block, as rows of the shared memory in which its threads reduce them: first the rows
 * that are summed, then those of which the largest value counts. A particle is represented by its
 * distance from the end, so that the largest distance is the first particle. */
enum { AW_GPU_MOMENTS = 5, AW_GPU_REACH = 2 };
enum { AW_GPU_LATE, AW_GPU_PERP, AW_GPU_OFF, AW_GPU_BOUNDS };
enum {
    AW_GPU_SUM_S,
    AW_GPU_SUM_N,
    AW_GPU_MIN_S,
    AW_GPU_MAX_S,
    AW_GPU_MIN_N,
    AW_GPU_MAX_N,
    AW_GPU_KICK_LOST,
    AW_GPU_GATHER
};
enum { AW_GPU_KICKED, AW_GPU_TURNED, AW_GPU_NONFINITE, AW_GPU_PUSH };
enum {
    AW_GPU_PRODUCTS = AW_BEAM_WIDTH,
    AW_GPU_RADIATED = AW_GPU_PRODUCTS + AW_BEAM_WIDTH * (AW_BEAM_WIDTH + 1) / 2,
    AW_GPU_STATS = AW_GPU_RADIATED + 2
};

/* Components that particles deposit (kernels/math/view.h). */
enum { AW_GPU_DEPOSITED = 3 };

typedef struct aw_gpu_particles {
    aw_particles_view beam; /* on the device, as all that follows */
    double *Fz, *Fx;        /* [n]: forces of the last gather [eV/m] */
    double *vector[4];      /* [n]: q c A_z, q c A_x and their rates then [eV, eV/m] */
    double *found;          /* [blocks][rows]: results of each block */
    size_t stride;          /* threads of all blocks */
    aw_particle_grid grid;  /* deposit, gather */
    const double *field;    /* gather: [nx][ns][4] */
    uint64_t *cells;        /* deposit: padded grid, AW_GPU_DEPOSITED scaled integers per cell */
    double scale[AW_GPU_DEPOSITED]; /* deposit: the integer that represents 1 */
    double heaviest;                /* largest weight */
    double frame[4];                /* moments: origin z, x [m]; reach: also an axis (cos, sin) */
    double factor, cdt;             /* gather, push */
    int vectors, settles;           /* gather: keep vectors; give particles what they are due */
    aw_kick_times times;            /* gather */
    aw_fields_view fields;          /* push */
    aw_radiation radiation;         /* push */
    aw_orbit_view orbit;            /* stats */
    aw_orbit_point ref;             /* stats */
    double gamma;                   /* stats */
} aw_gpu_particles;

/* Integers add up to the same sum in any order. */
#if defined(__CUDACC__)
AW_GPU_FN void aw_gpu_add_integer(uint64_t *to, int64_t more)
{
    atomicAdd((unsigned long long *)to, (unsigned long long)more);
}
#else
AW_GPU_FN void aw_gpu_add_integer(uint64_t *to, int64_t more)
{
    __atomic_fetch_add(to, (uint64_t)more, __ATOMIC_RELAXED);
}
#endif

AW_GPU_FN double aw_gpu_larger(double a, double b) { return a > b ? a : b; }

/* Reduce the columns of v, one per thread, and write the results of the block. Called by all
 * threads. */
AW_GPU_FN void aw_gpu_particles_reduce(const aw_gpu_particles *c, double (*v)[AW_GPU_THREADS],
                                       int sums, int rows, int block)
{
    for (int half = AW_GPU_THREADS / 2; half > 0; half /= 2) {
        AW_GPU_BARRIER();
        AW_GPU_EACH(t)
        {
            for (int r = 0; t < half && r < rows; ++r) {
                const double other = v[r][t + half];
                v[r][t] = r < sums ? v[r][t] + other : aw_gpu_larger(other, v[r][t]);
            }
        }
    }
    AW_GPU_BARRIER();
    AW_GPU_EACH(t)
    {
        if (t < rows) c->found[(size_t)block * (size_t)rows + (size_t)t] = v[t][0];
    }
}

/* Loop over the particles of a thread. */
#define AW_GPU_PARTICLES(c, i, block, t) \
    for (size_t i = (size_t)(block)*AW_GPU_THREADS + (size_t)(t); i < (c)->beam.n; i += (c)->stride)

/* Distance of a particle from the end of the arrays. */
AW_GPU_FN double aw_gpu_from_end(const aw_gpu_particles *c, size_t i)
{
    return (double)(c->beam.n - i);
}

AW_GPU_FN aw_particle aw_gpu_particle(const aw_gpu_particles *c, size_t i)
{
    const aw_particles_view *b = &c->beam;
    const aw_particle particle = {b->z[i], b->x[i], b->pz[i], b->px[i], b->element[i], 0.0};
    return particle;
}

AW_GPU_FN double aw_gpu_weight(const aw_gpu_particles *c, size_t i)
{
    return c->beam.weight ? c->beam.weight[i] : 1.0;
}

typedef struct aw_gpu_particles_moments_shared {
    double v[AW_GPU_MOMENTS][AW_GPU_THREADS];
} aw_gpu_particles_moments_shared;

AW_GPU_FN void aw_gpu_particles_moments_block(const aw_gpu_particles *c,
                                              aw_gpu_particles_moments_shared *s, int block)
{
    AW_GPU_EACH(t)
    {
        double sum[AW_GPU_MOMENTS] = {0.0, 0.0, 0.0, 0.0, 0.0};
        AW_GPU_PARTICLES(c, i, block, t)
        {
            const double dz = c->beam.z[i] - c->frame[0], dx = c->beam.x[i] - c->frame[1];
            const double w = aw_gpu_weight(c, i), wz = w * dz, wx = w * dx;
            sum[0] += wz;
            sum[1] += wx;
            sum[2] += wz * dz;
            sum[3] += wz * dx;
            sum[4] += wx * dx;
        }
        for (int k = 0; k < AW_GPU_MOMENTS; ++k) s->v[k][t] = sum[k];
    }
    aw_gpu_particles_reduce(c, s->v, AW_GPU_MOMENTS, AW_GPU_MOMENTS, block);
}

typedef struct aw_gpu_particles_reach_shared {
    double v[AW_GPU_REACH][AW_GPU_THREADS];
} aw_gpu_particles_reach_shared;

AW_GPU_FN void aw_gpu_particles_reach_block(const aw_gpu_particles *c,
                                            aw_gpu_particles_reach_shared *s, int block)
{
    AW_GPU_EACH(t)
    {
        double u = 0.0, w = 0.0;
        AW_GPU_PARTICLES(c, i, block, t)
        {
            const double dz = c->beam.z[i] - c->frame[0], dx = c->beam.x[i] - c->frame[1];
            u = aw_gpu_larger(fabs(dz * c->frame[2] + dx * c->frame[3]), u);
            w = aw_gpu_larger(fabs(dx * c->frame[2] - dz * c->frame[3]), w);
        }
        s->v[0][t] = u;
        s->v[1][t] = w;
    }
    aw_gpu_particles_reduce(c, s->v, 0, AW_GPU_REACH, block);
}

typedef struct aw_gpu_particles_bounds_shared {
    double v[AW_GPU_BOUNDS][AW_GPU_THREADS];
} aw_gpu_particles_bounds_shared;

/* Before a deposit: the largest moments of a particle, and whether all particles are on the
 * grid. */
AW_GPU_FN void aw_gpu_particles_bounds_block(const aw_gpu_particles *c,
                                             aw_gpu_particles_bounds_shared *s, int block)
{
    AW_GPU_EACH(t)
    {
        double bound[AW_GPU_BOUNDS] = {0.0, 0.0, 0.0};
        AW_GPU_PARTICLES(c, i, block, t)
        {
            const aw_particle b = aw_gpu_particle(c, i);
            aw_particle_nodes at;
            double late, perp;
            const int off = aw_particle_nodes_find(&c->grid, b.z, b.x, &at);
            aw_particle_moments(b.pz, b.px, c->grid.ct, c->grid.st, &late, &perp);
            if (off || !(late <= DBL_MAX))
                bound[AW_GPU_OFF] = aw_gpu_larger(aw_gpu_from_end(c, i), bound[AW_GPU_OFF]);
            bound[AW_GPU_LATE] = aw_gpu_larger(late, bound[AW_GPU_LATE]);
            bound[AW_GPU_PERP] = aw_gpu_larger(fabs(perp), bound[AW_GPU_PERP]);
        }
        for (int k = 0; k < AW_GPU_BOUNDS; ++k) s->v[k][t] = bound[k];
    }
    aw_gpu_particles_reduce(c, s->v, 0, AW_GPU_BOUNDS, block);
}

/* Deposit. Particles are in no spatial order, so that two threads rarely add to the same node. */
AW_GPU_FN void aw_gpu_particles_deposit_block(const aw_gpu_particles *c, int block)
{
    const size_t row = (size_t)c->grid.ns + 2 * AW_PAD;
    AW_GPU_EACH(t)
    {
        AW_GPU_PARTICLES(c, i, block, t)
        {
            const aw_particle b = aw_gpu_particle(c, i);
            double m[AW_GPU_DEPOSITED];
            aw_particle_nodes at;
            aw_particle_nodes_find(&c->grid, b.z, b.x, &at);
            m[0] = 1.0;
            aw_particle_moments(b.pz, b.px, c->grid.ct, c->grid.st, &m[1], &m[2]);
            const double weight = aw_gpu_weight(c, i);
            for (int k = 0; k < AW_GPU_DEPOSITED; ++k) m[k] *= weight * c->scale[k];
            uint64_t *to = c->cells + ((size_t)(at.j + AW_PAD) * row + (size_t)(at.i + AW_PAD)) *
                                          AW_GPU_DEPOSITED;
            for (int q = 0; q < AW_SHAPE_NODES; ++q, to += row * AW_GPU_DEPOSITED)
                for (int p = 0; p < AW_SHAPE_NODES * AW_GPU_DEPOSITED; ++p)
                    aw_gpu_add_integer(&to[p], llrint(at.wv[q] * at.wu[p / AW_GPU_DEPOSITED] *
                                                      m[p % AW_GPU_DEPOSITED]));
        }
    }
}

/* p += factor F for one particle. @return 1: its momentum is not finite afterwards */
AW_GPU_FN int aw_gpu_particles_kick(const aw_gpu_particles *c, size_t i, aw_particle *b)
{
    b->pz += c->factor * c->Fz[i];
    b->px += c->factor * c->Fx[i];
    c->beam.pz[i] = b->pz;
    c->beam.px[i] = b->px;
    return !(fabs(b->pz) <= DBL_MAX && fabs(b->px) <= DBL_MAX);
}

/* Interpolate four components of a field on the grid. */
AW_GPU_FN void aw_gpu_particles_interpolate(const aw_gpu_particles *c, const aw_particle_nodes *at,
                                            const double *field, double value[4])
{
    const double *from = field + 4 * ((size_t)at->j * (size_t)c->grid.ns + (size_t)at->i);
    for (int k = 0; k < 4; ++k) value[k] = 0.0;
    for (int q = 0; q < AW_SHAPE_NODES; ++q, from += 4 * (size_t)c->grid.ns)
        for (int p = 0; p < AW_SHAPE_NODES; ++p)
            for (int k = 0; k < 4; ++k) value[k] += at->wv[q] * at->wu[p] * from[4 * p + k];
}

/* Force on a particle, with its vector potential if that is kept. */
AW_GPU_FN aw_particle_force aw_gpu_particles_force(const aw_gpu_particles *c, const aw_particle *b)
{
    const size_t nodes = (size_t)c->grid.ns * (size_t)c->grid.nx;
    double value[4], vector[8];
    aw_particle_nodes at;
    aw_particle_nodes_find(&c->grid, b->z, b->x, &at);
    aw_gpu_particles_interpolate(c, &at, c->field, value);
    for (size_t k = 0; c->vectors && k < 2; ++k)
        aw_gpu_particles_interpolate(c, &at, c->field + 4 * (k + 1) * nodes, vector + 4 * k);
    return aw_particle_force_of(value, c->vectors ? vector : NULL, b->pz, b->px, c->grid.beta);
}

/* Give particle i what it is due, and store its vector potential.
 * @return 1: the momentum is not finite */
AW_GPU_FN int aw_gpu_particles_settle(const aw_gpu_particles *c, size_t i,
                                      const aw_particle_force *f, aw_particle *b)
{
    double due[2] = {0.0, 0.0};
    for (int k = 0; k < 2; ++k) {
        if (c->settles)
            due[k] = aw_particle_due(&c->times, c->vector[k][i], c->vector[2 + k][i], f->A[k],
                                     f->rate[k]);
        c->vector[k][i] = f->A[k];
        c->vector[2 + k][i] = f->rate[k];
    }
    b->pz += due[0] / AW_ME_EV;
    b->px += due[1] / AW_ME_EV;
    c->beam.pz[i] = b->pz;
    c->beam.px[i] = b->px;
    return !(fabs(b->pz) <= DBL_MAX && fabs(b->px) <= DBL_MAX);
}

typedef struct aw_gpu_particles_gather_shared {
    double v[AW_GPU_GATHER][AW_GPU_THREADS];
} aw_gpu_particles_gather_shared;

AW_GPU_FN void aw_gpu_particles_gather_block(const aw_gpu_particles *c,
                                             aw_gpu_particles_gather_shared *s, int block)
{
    AW_GPU_EACH(t)
    {
        double v[AW_GPU_GATHER] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        AW_GPU_PARTICLES(c, i, block, t)
        {
            aw_particle b = aw_gpu_particle(c, i);
            const aw_particle_force f = aw_gpu_particles_force(c, &b);
            int bad = 0;
            c->Fz[i] = f.z;
            c->Fx[i] = f.x;
            v[AW_GPU_SUM_S] += aw_gpu_weight(c, i) * f.s;
            v[AW_GPU_SUM_N] += aw_gpu_weight(c, i) * f.n;
            v[AW_GPU_MIN_S] = aw_gpu_larger(-f.s, v[AW_GPU_MIN_S]);
            v[AW_GPU_MAX_S] = aw_gpu_larger(f.s, v[AW_GPU_MAX_S]);
            v[AW_GPU_MIN_N] = aw_gpu_larger(-f.n, v[AW_GPU_MIN_N]);
            v[AW_GPU_MAX_N] = aw_gpu_larger(f.n, v[AW_GPU_MAX_N]);
            if (c->factor != 0.0) bad = aw_gpu_particles_kick(c, i, &b);
            if (c->vectors) bad |= aw_gpu_particles_settle(c, i, &f, &b);
            if (bad)
                v[AW_GPU_KICK_LOST] = aw_gpu_larger(aw_gpu_from_end(c, i), v[AW_GPU_KICK_LOST]);
        }
        for (int k = 0; k < AW_GPU_GATHER; ++k) s->v[k][t] = v[k];
    }
    aw_gpu_particles_reduce(c, s->v, AW_GPU_MIN_S, AW_GPU_GATHER, block);
}

typedef struct aw_gpu_particles_push_shared {
    double v[AW_GPU_PUSH][AW_GPU_THREADS];
} aw_gpu_particles_push_shared;

AW_GPU_FN void aw_gpu_particles_push_block(const aw_gpu_particles *c,
                                           aw_gpu_particles_push_shared *s, int block)
{
    AW_GPU_EACH(t)
    {
        double lost[AW_GPU_PUSH] = {0.0, 0.0, 0.0};
        AW_GPU_PARTICLES(c, i, block, t)
        {
            aw_particle b = aw_gpu_particle(c, i);
            if (c->factor != 0.0 && aw_gpu_particles_kick(c, i, &b)) {
                lost[AW_GPU_KICKED] = aw_gpu_larger(aw_gpu_from_end(c, i), lost[AW_GPU_KICKED]);
                continue; /* leave it where the kick failed, for the message */
            }
            double radiated = 0.0;
            const aw_track_status tracked =
                c->radiation.isr
                    ? aw_particle_radiate(&c->fields, &b, c->cdt, &c->radiation, i, &radiated)
                    : aw_particle_track(&c->fields, &b, c->cdt);
            if (tracked != AW_TRACK_OK) {
                double *first =
                    &lost[tracked == AW_TRACK_TURNED ? AW_GPU_TURNED : AW_GPU_NONFINITE];
                *first = aw_gpu_larger(aw_gpu_from_end(c, i), *first);
            }
            c->beam.z[i] = b.z;
            c->beam.x[i] = b.x;
            c->beam.pz[i] = b.pz;
            c->beam.px[i] = b.px;
            c->beam.element[i] = b.element;
            if (b.gained != 0.0) c->beam.gamma0[i] += b.gained;
            if (radiated != 0.0) c->beam.radiated[i] += radiated;
        }
        for (int k = 0; k < AW_GPU_PUSH; ++k) s->v[k][t] = lost[k];
    }
    aw_gpu_particles_reduce(c, s->v, 0, AW_GPU_PUSH, block);
}

typedef struct aw_gpu_particles_stats_shared {
    double v[AW_GPU_STATS][AW_GPU_THREADS];
} aw_gpu_particles_stats_shared;

/* Sums of the coordinates, then of their products row by row, then of what radiation took. */
AW_GPU_FN void aw_gpu_particles_stats_block(const aw_gpu_particles *c,
                                            aw_gpu_particles_stats_shared *s, int block)
{
    AW_GPU_EACH(t)
    {
        double sum[AW_GPU_STATS];
        for (int k = 0; k < AW_GPU_STATS; ++k) sum[k] = 0.0;
        AW_GPU_PARTICLES(c, i, block, t)
        {
            const aw_particle b = aw_gpu_particle(c, i);
            double at[AW_BEAM_WIDTH];
            const double taken = c->beam.radiated ? c->beam.radiated[i] : 0.0;
            int k = AW_GPU_PRODUCTS;
            aw_particle_coordinates(&c->orbit, &c->ref, c->gamma, &b, c->beam.gamma0[i], at);
            for (int p = 0; p < AW_BEAM_WIDTH; ++p) {
                const double weighted = aw_gpu_weight(c, i) * at[p];
                sum[p] += weighted;
                for (int q = 0; q <= p; ++q) sum[k++] += weighted * at[q];
            }
            sum[AW_GPU_RADIATED] += aw_gpu_weight(c, i) * taken;
            sum[AW_GPU_RADIATED + 1] += aw_gpu_weight(c, i) * taken * taken;
        }
        for (int k = 0; k < AW_GPU_STATS; ++k) s->v[k][t] = sum[k];
    }
    aw_gpu_particles_reduce(c, s->v, AW_GPU_STATS, AW_GPU_STATS, block);
}

#endif
