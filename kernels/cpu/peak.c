/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/cpu/peak.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/cpu/simd/peak.h"
#include "kernels/cpu/simd/simd.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/timer.h"

/* Duration of a run [s], and number of runs, of which the best counts. */
#define RUN_TIME 0.01
enum { RUNS = 24 };

extern const aw_peak_loops aw_peak_loops_baseline;
#ifdef AW_X86_VARIANTS
extern const aw_peak_loops aw_peak_loops_avx2, aw_peak_loops_avx512;
#endif

static const aw_peak_loops *const all_loops[] = {&aw_peak_loops_baseline,
#ifdef AW_X86_VARIANTS
                                                 &aw_peak_loops_avx2, &aw_peak_loops_avx512
#endif
};

/* The loops of a variant. For the scalar one those of the baseline, as its peak is not compared. */
static const aw_peak_loops *find_loops(const char *variant)
{
    const aw_variant *found = aw_variant_find(variant);
    for (size_t i = 0; found && i < sizeof all_loops / sizeof *all_loops; ++i)
        if (strcmp(all_loops[i]->name, found->name) == 0) return all_loops[i];
    return found ? &aw_peak_loops_baseline : NULL;
}

/* The loop that all threads time. */
typedef struct peak_work {
    const aw_peak_loops *loops;
    int single;         /* precision of the arithmetic */
    const double *from; /* NULL: arithmetic; else the array to read, [threads][n] */
    size_t n;
} peak_work;

/* Time of `turns` turns of the loop in one thread [s]. */
static double time_turns(const peak_work *work, int thread, size_t turns)
{
    const double begin = aw_now();
    const double value =
        work->from ? work->loops->read(work->from + (size_t)thread * work->n, work->n, turns)
                   : work->loops->multiply_add[work->single](turns);
    const double seconds = aw_now() - begin;
    return value < 0.0 ? HUGE_VAL : seconds; /* always seconds, which the compiler cannot know */
}

/* Turns of the loop per second, mean of the threads. Each thread measures its own time, and does
 * not wait for a thread that another program has displaced. */
static double best_rate(const peak_work *work, int threads)
{
    double sum = 0.0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        const int thread = omp_get_thread_num();
        double best = 0.0;
        size_t turns = 1;
        while (turns < (size_t)1 << 40 && time_turns(work, thread, turns) < RUN_TIME) turns *= 2;
#pragma omp barrier
        for (int i = 0; i < RUNS; ++i)
            best = fmax(best, (double)turns / time_turns(work, thread, turns));
        sum += best;
    }
    return sum / (double)threads;
}

aw_status aw_peak_arithmetic(const char *variant, int threads, aw_peak *out)
{
    peak_work work = {.loops = find_loops(variant)};
    memset(out, 0, sizeof *out);
    out->threads = threads;
    if (!work.loops)
        return aw_error(AW_ERR_BACKEND, "SIMD variant '%s' is not known or not for this processor",
                        variant);
    for (work.single = 0; work.single < 2; ++work.single)
        out->arithmetic[work.single] =
            1e-9 * work.loops->operations[work.single] * best_rate(&work, threads);
    return AW_OK;
}

aw_status aw_peak_measure(const char *variant, int threads, aw_peak *out)
{
    aw_status status = AW_OK;
    double *array = NULL;
    peak_work work = {.loops = find_loops(variant)};
    AW_TRY(aw_peak_arithmetic(variant, threads, out));
    array = aw_alloc((size_t)threads, aw_peak_bytes(AW_PEAK_ARRAYS - 1));
    AW_TRY(array ? AW_OK : AW_ERR_NOMEM);
    work.from = array;
    for (int i = 0; i < AW_PEAK_ARRAYS; ++i) {
        work.n = aw_peak_bytes(i) / sizeof *array;
        out->read[i] = 1e-9 * (double)aw_peak_bytes(i) * best_rate(&work, threads);
    }
done:
    aw_free(array);
    return status;
}
