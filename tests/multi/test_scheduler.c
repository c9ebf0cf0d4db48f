/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The scheduler: every bin is done exactly once, with any workers and whichever of them are lost.
 * Built a second time with the thread sanitizer. */
#include <sched.h>
#include <string.h>

#include "kernels/multi/scheduler.h"
#include "tests/assert_close.h"

/* Sanitizers take ten times as long. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SEEDS = 300 };
#else
enum { SEEDS = 1000 };
#endif
enum { BINS = 64, WORKERS = 16 };

/* The next pseudo-random number in 0 .. 1 (Steele's SplitMix64). */
static double next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Context of a worker. All workers share the counts `done` and `began` [bins]; the worker of a bin
 * writes them without a lock, so that the sanitizer detects two workers with the same bin. */
typedef struct worker_state {
    int *done, *began;
    size_t fails_at; /* the call that fails, from 1 on; 0: none */
    size_t calls;
    const double *weight;
} worker_state;

static aw_status do_bin(void *context, size_t bin)
{
    worker_state *w = context;
    w->began[bin]++;
    for (int i = 0; i < (int)(8.0 * w->weight[bin]); ++i) sched_yield();
    if (++w->calls == w->fails_at) return AW_ERR_BACKEND;
    w->done[bin]++;
    return AW_OK;
}

typedef struct pool {
    double weight[BINS];
    int done[BINS], began[BINS];
    worker_state state[WORKERS];
    aw_worker worker[WORKERS];
} pool;

/* Make bins and workers from a seed: their numbers, weights, ends of the pool, and speeds, which
 * are unknown or mostly wrong. */
static void make(pool *c, uint64_t seed, size_t *bins, int *workers)
{
    uint64_t state = seed;
    memset(c, 0, sizeof *c);
    *bins = (size_t)(BINS * next(&state));
    *workers = 1 + (int)(WORKERS * next(&state));
    for (size_t i = 0; i < *bins; ++i) c->weight[i] = next(&state) < 0.1 ? 0.0 : next(&state);
    for (int i = 0; i < *workers; ++i) {
        c->state[i] = (worker_state){c->done, c->began, 0, 0, c->weight};
        c->worker[i] = (aw_worker){.run = do_bin,
                                   .context = &c->state[i],
                                   .heavy = next(&state) < 0.5,
                                   .speed = next(&state) < 0.3 ? 0.0 : 1e4 * next(&state)};
    }
}

static void every_bin_is_done_once(void **state)
{
    (void)state;
    static pool c;
    for (uint64_t seed = 0; seed < SEEDS; ++seed) {
        size_t bins, all = 0;
        int workers;
        make(&c, seed, &bins, &workers);
        assert_ok(aw_schedule(c.weight, bins, c.worker, workers));
        for (size_t i = 0; i < bins; ++i) assert_true(c.done[i] == 1 && c.began[i] == 1);
        for (int i = 0; i < workers; ++i) {
            assert_ok(c.worker[i].status);
            assert_int_equal(c.worker[i].bins, c.state[i].calls);
            all += c.worker[i].bins;
        }
        assert_int_equal(all, bins);
    }
}

/* Workers are lost at random, except one. */
static void a_lost_workers_bin_is_done_by_another(void **state)
{
    (void)state;
    static pool c;
    size_t lost = 0;
    for (uint64_t seed = 0; seed < SEEDS; ++seed) {
        uint64_t random = ~seed;
        size_t bins;
        int workers;
        make(&c, seed, &bins, &workers);
        const int stays = (int)(workers * next(&random));
        for (int i = 0; i < workers; ++i)
            if (i != stays) c.state[i].fails_at = 1 + (size_t)(6.0 * next(&random));
        assert_ok(aw_schedule(c.weight, bins, c.worker, workers));
        size_t begun = 0, failed = 0;
        for (size_t i = 0; i < bins; ++i) {
            assert_int_equal(c.done[i], 1);
            begun += (size_t)c.began[i];
        }
        for (int i = 0; i < workers; ++i) {
            const worker_state *w = &c.state[i];
            const int gone = w->fails_at > 0 && w->calls >= w->fails_at;
            assert_status(c.worker[i].status, gone ? AW_ERR_BACKEND : AW_OK);
            assert_true(!gone || w->calls == w->fails_at); /* it gets no further bin */
            failed += (size_t)gone;
        }
        assert_int_equal(begun, bins + failed);
        lost += failed;
    }
    assert_true(lost > SEEDS); /* the case is tested */
}

static void if_all_workers_are_lost_their_error_is_returned(void **state)
{
    (void)state;
    static pool c;
    size_t bins;
    int workers;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        make(&c, seed, &bins, &workers);
        for (int i = 0; i < workers; ++i) c.state[i].fails_at = 1;
        assert_status(aw_schedule(c.weight, bins, c.worker, workers),
                      bins > 0 ? AW_ERR_BACKEND : AW_OK);
    }
    assert_status(aw_schedule(c.weight, bins, c.worker, 0), AW_ERR_ARG);
    assert_status(aw_schedule(c.weight, bins, c.worker, AW_WORKERS_MAX + 1), AW_ERR_ARG);
}

/* Workers of known speed leave the last bin to a faster one; of equal workers, one takes it. */
static void a_slow_worker_leaves_the_last_bin_to_a_fast_one(void **state)
{
    const double speed[3] = {1e-3, 1e3, 1e-3}, equal[3] = {3.0, 3.0, 3.0};
    (void)state;
    static pool c;
    for (int round = 0; round < 200; ++round) {
        memset(&c, 0, sizeof c);
        c.weight[0] = 1.0;
        for (int i = 0; i < 3; ++i) {
            c.state[i] = (worker_state){c.done, c.began, 0, 0, c.weight};
            c.worker[i] = (aw_worker){.run = do_bin, .context = &c.state[i], .heavy = i % 2};
            c.worker[i].speed = round % 2 ? speed[i] : equal[i];
        }
        assert_ok(aw_schedule(c.weight, 1, c.worker, 3));
        assert_int_equal(c.done[0], 1);
        if (round % 2) assert_int_equal(c.worker[1].bins, 1);
    }
}

static aw_status append_bin(void *context, size_t bin)
{
    size_t *list = context;
    list[1 + list[0]++] = bin;
    return AW_OK;
}

/* A single worker takes all bins from its end; its speed is measured. */
static void bins_are_taken_in_the_order_of_weight(void **state)
{
    const double weight[4] = {2.0, 7.0, 7.0, 1.0};
    const size_t order[4] = {1, 2, 0, 3};
    (void)state;
    for (int heavy = 0; heavy < 2; ++heavy) {
        size_t list[5] = {0};
        aw_worker one = {.run = append_bin, .context = list, .heavy = heavy, .slow = 1.5};
        assert_ok(aw_schedule(weight, 4, &one, 1));
        assert_int_equal(list[0], 4);
        for (size_t i = 0; i < 4; ++i) assert_int_equal(list[1 + i], order[heavy ? i : 3 - i]);
        assert_true(one.bins == 4 && one.weight == 17.0 && one.busy > 0.0);
        assert_close(one.speed, 17.0 / one.busy, 1e-12, 0.0);
    }
}

/* If the worker is lost with its own bin, that bin stays undone, and all others are done. */
static void an_own_bin_is_done_by_its_worker_only(void **state)
{
    (void)state;
    static pool c;
    int undone = 0;
    for (uint64_t seed = 0; seed < SEEDS; ++seed) {
        uint64_t random = seed + 77;
        size_t bins;
        int workers;
        make(&c, seed, &bins, &workers);
        if (bins == 0 || workers < 2) continue;
        const size_t own = (size_t)((double)bins * next(&random));
        const int owner = (int)(workers * next(&random)), lost = next(&random) < 0.3;
        c.worker[owner].own = own + 1;
        if (lost) c.state[owner].fails_at = 1;
        const aw_status status = aw_schedule(c.weight, bins, c.worker, workers);
        assert_status(status, lost ? AW_ERR_BACKEND : AW_OK);
        assert_status(c.worker[owner].status, status);
        for (size_t i = 0; i < bins; ++i) {
            assert_int_equal(c.began[i], 1);
            assert_int_equal(c.done[i], !(lost && i == own));
        }
        undone += lost;
    }
    assert_true(undone > SEEDS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bin_is_done_once),
        cmocka_unit_test(a_lost_workers_bin_is_done_by_another),
        cmocka_unit_test(if_all_workers_are_lost_their_error_is_returned),
        cmocka_unit_test(a_slow_worker_leaves_the_last_bin_to_a_fast_one),
        cmocka_unit_test(an_own_bin_is_done_by_its_worker_only),
        cmocka_unit_test(bins_are_taken_in_the_order_of_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
