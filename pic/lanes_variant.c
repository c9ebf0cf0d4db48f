/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of particles with short vectors; CMake compiles this file once per AW_VARIANT. */
#include "pic/lanes.h"

/* Inlined where the number of particles is known, so that loops have a whole number of vectors. */
#define AW_LANES_FN static inline __attribute__((always_inline))

#include "pic/lanes_grid.h"
#include "pic/lanes_nodes.h"
#include "pic/lanes_push.h"
#include "pic/lanes_sums.h"

#define AW_TEXT_(name) #name
#define AW_TEXT(name) AW_TEXT_(name)

extern const aw_lanes AW_CAT(aw_lanes_, AW_VARIANT);
const aw_lanes AW_CAT(aw_lanes_, AW_VARIANT) = {.name = AW_TEXT(AW_VARIANT),
                                                .deposit = deposit,
                                                .gather = gather,
                                                .extremes = extremes,
                                                .kick = kick,
                                                .fly = fly,
                                                .rigid = rigid,
                                                .moments = moments,
                                                .reach = reach,
                                                .stats = stats,
                                                .neighbours = neighbours};
