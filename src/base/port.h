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

/* Around the declarations of a header: functions of C, for CUDA's C++. */
#ifdef __cplusplus
#define AW_BEGIN_DECLS extern "C" {
#define AW_END_DECLS }
#else
#define AW_BEGIN_DECLS
#define AW_END_DECLS
#endif

/* Behind a declaration: argument f is a format of printf, for the arguments from a on. */
#if defined(__GNUC__)
#define AW_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define AW_PRINTF(f, a)
#endif

#define AW_CAT_(a, b) a##b
#define AW_CAT(a, b) AW_CAT_(a, b)

#endif
