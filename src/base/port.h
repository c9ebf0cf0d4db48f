/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What differs between compilers: the one place for #if on them. */
#ifndef AW_BASE_PORT_H
#define AW_BASE_PORT_H

/* Point maths is `static`: a shared inline symbol built with AVX-512 could be linked into the
 * baseline path and crash an old processor. */
#if defined(__CUDACC__)
#define AW_FN static __host__ __device__ __forceinline__
#else
#define AW_FN static inline __attribute__((unused))
#endif

#if defined(__CUDACC__) || defined(__cplusplus)
#define AW_RESTRICT __restrict__
#else
#define AW_RESTRICT restrict
#endif

#define AW_CAT_(a, b) a##b
#define AW_CAT(a, b) AW_CAT_(a, b)

#endif
