/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pic/simd/simd.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/simd/simd.h"

extern const aw_particle_kernels aw_particle_kernels_baseline;
#ifdef AW_X86_VARIANTS
extern const aw_particle_kernels aw_particle_kernels_avx2, aw_particle_kernels_avx512;
#endif

/* kernels/cpu/simd/simd.c decides which variants a processor can run. */
const aw_particle_kernels *aw_particle_kernels_find(const char *name)
{
    static const aw_particle_kernels *const built[] = {
        &aw_particle_kernels_baseline,
#ifdef AW_X86_VARIANTS
        &aw_particle_kernels_avx2,
        &aw_particle_kernels_avx512,
#endif
    };
    const aw_variant *usable = aw_variant_find(name);
    for (size_t k = 0; usable && k < sizeof built / sizeof built[0]; ++k)
        if (strcmp(usable->name, built[k]->name) == 0) return built[k];
    return NULL;
}

aw_simd_reference aw_simd_reference_at(const aw_orbit_view *orbit, double S)
{
    const int k = aw_orbit_find(orbit, S);
    const aw_orbit_point at = aw_orbit_at(orbit, S);
    return (aw_simd_reference){.z = at.z,
                               .x = at.x,
                               .ct = at.ct,
                               .st = at.st,
                               .kappa = at.kappa,
                               .behind = k > 0 ? orbit->piece[k].S - S : (double)-INFINITY,
                               .ahead =
                                   k + 1 < orbit->n ? orbit->piece[k + 1].S - S : (double)INFINITY};
}
