/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loops of arithmetic and of reading, for peak.h; CMake compiles this file once per AW_VARIANT. */
#include "kernels/cpu/simd/peak.h"
#include "src/base/port.h"

#if defined __AVX512F__
#define AW_VECTOR_BYTES 64
#elif defined __AVX2__
#define AW_VECTOR_BYTES 32
#else
#define AW_VECTOR_BYTES 16
#endif

/* Chains side by side: two devices of a latency of four cycles want eight, and sixteen registers hold
 * twelve chains and two factors. */
enum { CHAINS = 12, READS = 8 };

typedef double doubles __attribute__((vector_size(AW_VECTOR_BYTES)));
typedef float floats __attribute__((vector_size(AW_VECTOR_BYTES)));

/* x <- 0.999 x + 0.001 nears one, each chain from a number of its own, lest the compiler merge
 * them, and none from one itself, which it would see stays. */
#define MULTIPLY_ADD(real, vector)                                                           \
    const vector keep = (vector){0} + (real)0.999, more = (vector){0} + (real)0.001;         \
    vector x[CHAINS];                                                                        \
    real sum = 0;                                                                            \
    for (int k = 0; k < CHAINS; ++k) x[k] = (vector){0} + (real)(k + 2);                     \
    for (size_t i = 0; i < turns; ++i) {                                                     \
        _Pragma("GCC unroll 12") for (int k = 0; k < CHAINS; ++k) x[k] = x[k] * keep + more; \
    }                                                                                        \
    for (int k = 0; k < CHAINS; ++k) sum += x[k][0];                                         \
    return (double)sum

static double multiply_add_d(size_t turns) { MULTIPLY_ADD(double, doubles); }
static double multiply_add_f(size_t turns) { MULTIPLY_ADD(float, floats); }

static double read_sum(const double *from, size_t n, size_t passes)
{
    const doubles *at = (const doubles *)from;
    const size_t vectors = n / (sizeof(doubles) / sizeof(double));
    doubles sum[READS] = {{0}};
    double total = 0.0;
    for (size_t pass = 0; pass < passes; ++pass)
        for (size_t i = 0; i < vectors; i += READS) {
#pragma GCC unroll 8
            for (size_t k = 0; k < READS; ++k) sum[k] += at[i + k];
        }
    for (int k = 0; k < READS; ++k) total += sum[k][0];
    return total;
}

#define AW_TEXT_(name) #name
#define AW_TEXT(name) AW_TEXT_(name)

extern const aw_peak_loops AW_CAT(aw_peak_loops_, AW_VARIANT);
const aw_peak_loops AW_CAT(aw_peak_loops_, AW_VARIANT) = {
    .name = AW_TEXT(AW_VARIANT),
    .multiply_add = {multiply_add_d, multiply_add_f},
    .operations = {2.0 * CHAINS * (AW_VECTOR_BYTES / sizeof(double)),
                   2.0 * CHAINS *(AW_VECTOR_BYTES / sizeof(float))},
    .read = read_sum};
