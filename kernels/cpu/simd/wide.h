/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Eight doubles, four for the moments and four for their rates: one vector where the processor has
 * vectors of that width, elsewhere two vectors of four (the compiler splits vectors that are too
 * wide, and spills them). */
#ifndef AW_KERNELS_CPU_SIMD_WIDE_H
#define AW_KERNELS_CPU_SIMD_WIDE_H
#include <math.h>

#include "src/base/port.h"

typedef double aw_v4 __attribute__((vector_size(32)));

typedef double aw_double4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef float aw_float4 __attribute__((vector_size(16), aligned(4), may_alias));

#ifdef __AVX2__
#include <immintrin.h>
#endif

/* Keep a loaded vector in a register: the compiler would load it again for every use, and loads are
 * the bottleneck of these kernels. */
#if defined __x86_64__ && defined __GNUC__
#define AW_KEEP(vector) __asm__("" : "+v"(vector))
#else
#define AW_KEEP(vector) (void)(vector)
#endif

#ifdef __AVX512F__

typedef double aw_wide __attribute__((vector_size(64)));

AW_FN aw_wide aw_wide_pair(double a, double b) { return (aw_wide){a, a, a, a, b, b, b, b}; }

/* Weights of one cell from the weights along the two axes: w * value, plus d * slope for the
 * rates. */
AW_FN aw_wide aw_wide_weight(aw_wide w, aw_wide d, double value, double slope)
{
    return w * value + d * slope;
}

/* The four numbers of a cell, twice. Intrinsics, because the compiler would make the copy with a
 * shuffle, which takes an execution port from the multiplications; a broadcasting load copies for
 * free. */
typedef aw_wide aw_cell;

AW_FN aw_cell aw_cell_double(const double *cell)
{
    return (aw_cell)_mm512_broadcast_f64x4(_mm256_loadu_pd(cell));
}

AW_FN aw_cell aw_cell_float(const float *cell)
{
    return (aw_cell)_mm512_cvtps_pd(_mm256_broadcast_ps((const __m128 *)cell));
}

AW_FN void aw_wide_add(aw_wide *acc, aw_wide w, aw_cell g) { *acc += w * g; }

/* Independent sums: a single one would wait for the latency of every addition. */
enum { AW_CHAINS = 3 };

AW_FN void aw_wide_store(const aw_wide a[AW_CHAINS], double out[8])
{
    const aw_wide total = a[0] + a[1] + a[2];
    for (int k = 0; k < 8; ++k) out[k] = total[k];
}

#else

typedef struct aw_wide {
    aw_v4 lo, hi;
} aw_wide;

AW_FN aw_wide aw_wide_pair(double a, double b)
{
    return (aw_wide){(aw_v4){a, a, a, a}, (aw_v4){b, b, b, b}};
}

AW_FN aw_wide aw_wide_weight(aw_wide w, aw_wide d, double value, double slope)
{
    return (aw_wide){w.lo * value, w.hi * value + d.hi * slope};
}

typedef aw_v4 aw_cell; /* the four numbers of a cell */

AW_FN aw_cell aw_cell_double(const double *cell) { return *(const aw_double4 *)cell; }

AW_FN aw_cell aw_cell_float(const float *cell)
{
    return __builtin_convertvector(*(const aw_float4 *)cell, aw_v4);
}

AW_FN void aw_wide_add(aw_wide *acc, aw_wide w, aw_cell g)
{
    acc->lo += w.lo * g;
    acc->hi += w.hi * g;
}

/* One sum per slice: with two vectors each, three slices fill the sixteen registers as it is. */
enum { AW_CHAINS = 1 };

AW_FN void aw_wide_store(const aw_wide a[AW_CHAINS], double out[8])
{
    for (int k = 0; k < 4; ++k) {
        out[k] = a[0].lo[k];
        out[4 + k] = a[0].hi[k];
    }
}

#endif

/* Whether |f| and |g| are at most half a cell in all lanes; false if one is NaN. */
#if defined __AVX512F__
AW_FN int aw_lanes_within_f(__m512 f, __m512 g)
{
    const __m512 larger = _mm512_max_ps(_mm512_abs_ps(f), _mm512_abs_ps(g));
    return _mm512_cmp_ps_mask(larger, _mm512_set1_ps(0.5F), _CMP_NLE_UQ) == 0;
}
AW_FN int aw_lanes_within_d(__m512d f, __m512d g)
{
    const __m512d larger = _mm512_max_pd(_mm512_abs_pd(f), _mm512_abs_pd(g));
    return _mm512_cmp_pd_mask(larger, _mm512_set1_pd(0.5), _CMP_NLE_UQ) == 0;
}

/* Whole numbers for each lane of floats and doubles. */
typedef int aw_lanes_int_f __attribute__((vector_size(64)));
typedef long long aw_lanes_int_d __attribute__((vector_size(64)));

/* Whether any lane is chosen: -1, the others 0. */
AW_FN int aw_lanes_any_f(aw_lanes_int_f a)
{
    return _mm512_test_epi32_mask((__m512i)a, (__m512i)a) != 0;
}
AW_FN int aw_lanes_any_d(aw_lanes_int_d a)
{
    return _mm512_test_epi64_mask((__m512i)a, (__m512i)a) != 0;
}

/* The lowest number of the chosen lanes, of which there is one. */
AW_FN int aw_lanes_lowest_f(aw_lanes_int_f chosen, aw_lanes_int_f number)
{
    const __mmask16 mask = _mm512_test_epi32_mask((__m512i)chosen, (__m512i)chosen);
    return _mm512_mask_reduce_min_epi32(mask, (__m512i)number);
}
AW_FN int aw_lanes_lowest_d(aw_lanes_int_d chosen, aw_lanes_int_d number)
{
    const __mmask8 mask = _mm512_test_epi64_mask((__m512i)chosen, (__m512i)chosen);
    return (int)_mm512_mask_reduce_min_epi64(mask, (__m512i)number);
}

/* For each lane the item `which` of two vectors together. */
AW_FN __m512 aw_lanes_pick_f(__m512 first, aw_lanes_int_f which, __m512 second)
{
    return _mm512_permutex2var_ps(first, (__m512i)which, second);
}
AW_FN __m512d aw_lanes_pick_d(__m512d first, aw_lanes_int_d which, __m512d second)
{
    return _mm512_permutex2var_pd(first, (__m512i)which, second);
}
#elif defined __AVX2__
AW_FN int aw_lanes_within_f(__m256 f, __m256 g)
{
    const __m256 sign = _mm256_set1_ps(-0.0F);
    const __m256 larger = _mm256_max_ps(_mm256_andnot_ps(sign, f), _mm256_andnot_ps(sign, g));
    return _mm256_movemask_ps(_mm256_cmp_ps(larger, _mm256_set1_ps(0.5F), _CMP_NLE_UQ)) == 0;
}
AW_FN int aw_lanes_within_d(__m256d f, __m256d g)
{
    const __m256d sign = _mm256_set1_pd(-0.0);
    const __m256d larger = _mm256_max_pd(_mm256_andnot_pd(sign, f), _mm256_andnot_pd(sign, g));
    return _mm256_movemask_pd(_mm256_cmp_pd(larger, _mm256_set1_pd(0.5), _CMP_NLE_UQ)) == 0;
}
#else
typedef float aw_lanes16_f __attribute__((vector_size(16)));
typedef double aw_lanes16_d __attribute__((vector_size(16)));
AW_FN int aw_lanes_within_f(aw_lanes16_f f, aw_lanes16_f g)
{
    int within = 1;
    for (int l = 0; l < 4; ++l) within &= fabsf(f[l]) <= 0.5F && fabsf(g[l]) <= 0.5F;
    return within;
}
AW_FN int aw_lanes_within_d(aw_lanes16_d f, aw_lanes16_d g)
{
    return fabs(f[0]) <= 0.5 && fabs(f[1]) <= 0.5 && fabs(g[0]) <= 0.5 && fabs(g[1]) <= 0.5;
}
#endif
#endif
