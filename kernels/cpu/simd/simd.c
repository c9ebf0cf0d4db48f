/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which SIMD variants were built, and which of them this processor can run. */
#include "kernels/cpu/simd/simd.h"

#include <string.h>

extern const aw_variant aw_variant_scalar, aw_variant_baseline;
#ifdef AW_X86_VARIANTS
extern const aw_variant aw_variant_avx2, aw_variant_avx512;
#endif

#ifdef AW_X86_VARIANTS
/* The instruction sets of AW_512_FLAGS in cmake/arcwake.cmake. */
static int supports_512(void)
{
#ifdef AW_KNL
    return __builtin_cpu_supports("avx512er") && __builtin_cpu_supports("avx512pf");
#else
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#endif
}
#endif

const aw_variant *aw_variant_list(int i)
{
    const aw_variant *usable[4] = {&aw_variant_scalar, &aw_variant_baseline, NULL, NULL};
    int n = 2;
#ifdef AW_X86_VARIANTS
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        usable[n++] = &aw_variant_avx2;
    if (supports_512()) usable[n++] = &aw_variant_avx512;
#endif
    return i >= 0 && i < n ? usable[i] : NULL;
}

const aw_variant *aw_variant_find(const char *name)
{
    const aw_variant *found = NULL;
    for (int i = 0; aw_variant_list(i); ++i)
        if (!name || !name[0] || strcmp(name, aw_variant_list(i)->name) == 0)
            found = aw_variant_list(i);
    return found;
}
