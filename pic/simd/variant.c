/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The particle kernels of one instruction set; CMake compiles this file once per AW_VARIANT. */
#include "pic/simd/simd.h"

/* Inlined with a constant number of particles, so that loops have a whole number of vectors. */
#define AW_SIMD_FN static inline __attribute__((always_inline))

#include "pic/simd/grid.h"
#include "pic/simd/nodes.h"
#include "pic/simd/push.h"
#include "pic/simd/sums.h"

#define AW_TEXT_(name) #name
#define AW_TEXT(name) AW_TEXT_(name)

extern const aw_particle_kernels AW_CAT(aw_particle_kernels_, AW_VARIANT);
const aw_particle_kernels AW_CAT(aw_particle_kernels_, AW_VARIANT) = {.name = AW_TEXT(AW_VARIANT),
                                                                      .deposit = deposit,
                                                                      .gather = gather,
                                                                      .extremes = extremes,
                                                                      .kick = kick,
                                                                      .settle = settle,
                                                                      .transport = transport,
                                                                      .rigid = rigid,
                                                                      .moments = moments,
                                                                      .reach = reach,
                                                                      .stats = stats,
                                                                      .neighbours = neighbours};
