/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loops of peak.h; CMake compiles this file once per AW_VARIANT. */
#include "kernels/cpu/simd/peak.h"
#include "src/base/port.h"

#if defined __AVX512F__
#define AW_VECTOR_BYTES 64
#elif defined __AVX2__
#define AW_VECTOR_BYTES 32
#else
#define AW_VECTOR_BYTES 16
#endif

/* Independent chains of operations: two execution units with a latency of four cycles need eight,
 * and sixteen registers hold twelve chains and two factors. */
enum { CHAINS = 12, READS = 8 };

/* Numbers in a vector. */
enum {
    DOUBLES = AW_VECTOR_BYTES / (int)sizeof(double),
    FLOATS = AW_VECTOR_BYTES / (int)sizeof(float)
};

typedef double doubles __attribute__((vector_size(AW_VECTOR_BYTES)));
typedef float floats __attribute__((vector_size(AW_VECTOR_BYTES)));

/* x <- 0.999 x + 0.001 tends to one. Each chain starts from a number of its own, so that the
 * compiler does not merge them, and none from one, where it would see that x is constant. */
#define MULTIPLY_ADD(real, vector)                                                               \
    const vector factor = (vector){0} + (real)0.999, addend = (vector){0} + (real)0.001;         \
    vector x[CHAINS];                                                                            \
    real sum = 0;                                                                                \
    for (int k = 0; k < CHAINS; ++k) x[k] = (vector){0} + (real)(k + 2);                         \
    for (size_t i = 0; i < turns; ++i) {                                                         \
        _Pragma("GCC unroll 12") for (int k = 0; k < CHAINS; ++k) x[k] = x[k] * factor + addend; \
    }                                                                                            \
    for (int k = 0; k < CHAINS; ++k) sum += x[k][0];                                             \
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
    .operations = {2.0 * CHAINS * DOUBLES, 2.0 * CHAINS *FLOATS},
    .read = read_sum};
