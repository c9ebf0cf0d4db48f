/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Differences between compilers: the only file with #if on the compiler. */
#ifndef AW_BASE_PORT_H
#define AW_BASE_PORT_H

/* Functions in headers are `static`: the linker could choose the AVX-512 copy of a common inline
 * symbol for the baseline variant, which would crash on an older processor. */
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
