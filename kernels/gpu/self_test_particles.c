/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs: the part of the self-test that tracks particles for a step. */
#include <math.h>
#include <string.h>

#include "kernels/gpu/self_test.h"

enum { NS = AW_GPU_TEST_NS, NX = AW_GPU_TEST_NX };
#define H AW_GPU_TEST_H
#define CDT AW_GPU_TEST_CDT

/* Particles about the arc with a spread in momentum, and the grid around them. They leave the field
 * of the arc during the step. */
static void fill_beam(aw_gpu_test_beam *f, aw_particles_view *beam, aw_particle_grid *grid)
{
    const aw_grid_view nodes = {.ns = NS, .nx = NX, .hs = H, .hx = H};
    *beam = (aw_particles_view){.n = AW_GPU_TEST,
                                .z = f->z,
                                .x = f->x,
                                .pz = f->pz,
                                .px = f->px,
                                .gamma0 = f->gamma0,
                                .element = f->element,
                                .radiated = f->radiated};
    *grid = aw_particle_grid_of(&nodes);
    grid->ct = 1.0;
    grid->beta = AW_GPU_TEST_BETA;
    for (int i = 0; i < AW_GPU_TEST; ++i) {
        f->z[i] = 0.8 * H * NS * (i * 7 % AW_GPU_TEST - 0.5 * AW_GPU_TEST) / AW_GPU_TEST;
        f->x[i] = 0.7 * H * NX * (i * 11 % AW_GPU_TEST - 0.5 * AW_GPU_TEST) / AW_GPU_TEST;
        f->pz[i] = 100.0 + i % 13;
        f->px[i] = 0.1 * (i % 17 - 8);
        f->gamma0[i] = 100.0;
        f->radiated[i] = 0.0;
        f->element[i] = 0;
    }
}

aw_status aw_gpu_self_test_particles(aw_gpu_state *g, const aw_orbit_view *orbit,
                                     aw_gpu_test_beam *f)
{
    const aw_particle_ops *ops = &aw_emulated_particles; /* the same functions for every runtime */
    static const aw_field_region region[] = {
        {.kind = AW_REGION_DIPOLE, .kappa = 1.0, .exit_z = CDT, .exit_nz = 1.0, .ct = 1.0},
        {.kind = AW_REGION_KICK,
         .order = 2,
         .strength = {[2] = 1e6},
         .axis_z = CDT,
         .exit_z = CDT,
         .exit_nz = 1.0,
         .ct = 1.0},
        {.kind = AW_REGION_MULTIPOLE,
         .order = 3,
         .strength = {[1] = 1e4, [3] = 1e11},
         .kappa = 0.5,
         .axis_z = CDT,
         .exit_z = 1.5 * CDT,
         .exit_nz = 1.0,
         .ct = 1.0},
        {.kind = AW_REGION_RF,
         .axis_z = 1.5 * CDT,
         .ct = 1.0,
         .gain = 3.0,
         .wave = 1.0 / CDT,
         .phase = 0.5,
         .passed = 1.5 * CDT},
        {.kind = AW_REGION_DRIFT, .ct = 1.0}};
    const aw_fields_view fields = {region, sizeof region / sizeof *region, 100.0, 0.0};
    const double place[4] = {0.1 * H, 0.2 * H, 0.6, 0.8};
    const aw_kick_times times = {.before = CDT, .now = CDT};
    const aw_radiation radiation = {.isr = AW_ISR_FULL, .step = 3, .seed = 1};
    double field[3 * NS * NX][4];
    aw_particles_view beam;
    aw_particle_grid grid;
    aw_particles_lost lost = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    size_t off_grid = SIZE_MAX, kick_lost = SIZE_MAX;
    aw_status status = AW_OK;
    fill_beam(f, &beam, &grid);
    const aw_particle_gather kick = {field[0], 1, 1e-3, NULL}, settle = {field[0], 1, 0.0, &times};
    for (int i = 0; i < 3 * NS * NX; ++i)
        for (int k = 0; k < 4; ++k) field[i][k] = k < 3 ? i % (7 + k) : 1e-4 * i;
    AW_TRY(ops->offload(g, &beam, &fields, orbit));
    AW_TRY(ops->second_moments(g, place[0], place[1], f->sums));
    AW_TRY(ops->reach(g, place, f->reach));
    AW_TRY(ops->deposit(g, &grid, f->cells[0], &off_grid));
    AW_TRY(ops->gather(g, &grid, &kick, f->force_stats, &kick_lost));
    AW_TRY(ops->gather(g, &grid, &settle, f->force_stats, &kick_lost));
    AW_TRY(ops->push(g, 1e-3, 2.0 * CDT, 2.0 * CDT, &radiation, &lost));
    AW_TRY(ops->stats(g, 0.0, 100.0, &f->stats));
    AW_TRY(ops->download(g, &beam));
    f->lost = off_grid != SIZE_MAX || kick_lost != SIZE_MAX || lost.kicked != SIZE_MAX ||
              lost.turned != SIZE_MAX || lost.nonfinite != SIZE_MAX;
done:
    aw_gpu_particles_free(g);
    return status;
}

int aw_gpu_test_beams_agree(const aw_gpu_test_beam *a, const aw_gpu_test_beam *b)
{
    int yes = !a->lost && !b->lost && aw_gpu_agree(a->sums, b->sums, 2, 1) &&
              aw_gpu_agree(&a->sums[2], &b->sums[2], 3, 1);
    yes = yes && aw_gpu_agree(a->reach, b->reach, 2, 1) &&
          aw_gpu_agree(a->force_stats[0], b->force_stats[0], 6, 1);
    for (int k = 0; k < AW_COMPONENTS; ++k)
        yes =
            yes && aw_gpu_agree(&a->cells[0][k], &b->cells[0][k], AW_GPU_TEST_CELLS, AW_COMPONENTS);
    for (int k = 0; k < AW_BEAM_WIDTH; ++k)
        yes =
            yes && aw_gpu_agree(&a->stats.product[k][0], &b->stats.product[k][0], (size_t)k + 1, 1);
    yes =
        yes && aw_gpu_agree(a->z, b->z, AW_GPU_TEST, 1) && aw_gpu_agree(a->x, b->x, AW_GPU_TEST, 1);
    yes = yes && aw_gpu_agree(a->pz, b->pz, AW_GPU_TEST, 1) &&
          aw_gpu_agree(a->px, b->px, AW_GPU_TEST, 1);
    yes = yes && aw_gpu_agree(a->gamma0, b->gamma0, AW_GPU_TEST, 1) &&
          aw_gpu_agree(a->radiated, b->radiated, AW_GPU_TEST, 1) &&
          aw_gpu_agree(a->stats.radiated, b->stats.radiated, 2, 1);
    return yes && memcmp(a->element, b->element, sizeof a->element) == 0;
}
