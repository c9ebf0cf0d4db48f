/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks: every region of every cluster is in exactly one task, and the bins of a block are
 * consistent. */
#include <string.h>

#include "kernels/multi/tasks.h"
#include "tests/assert_close.h"

enum { CLUSTERS = 12, REGIONS = 40, SLICES = 50 };

static const double CDT = 0.02;

/* Clusters of 1 .. CLUSTERS tiles of 16 points, with regions that grow with distance. */
typedef struct fixture {
    aw_tile_ref tile[CLUSTERS];
    double region[CLUSTERS][REGIONS][2];
    aw_cluster cluster[CLUSTERS];
    aw_slice slice[SLICES];
    aw_history_view history;
} fixture;

static void make(fixture *f, double ratio)
{
    memset(f, 0, sizeof *f);
    for (int i = 0; i < SLICES; ++i) f->slice[i].ct = -i * CDT;
    f->history = (aw_history_view){.slice = f->slice, .n = SLICES, .cdt = CDT};
    for (size_t c = 0; c < CLUSTERS; ++c) {
        double r = 1e-4 * (double)(c + 1), step = 1e-3;
        f->tile[c].count = 16;
        for (size_t k = 0; k < REGIONS; ++k, step *= ratio) {
            f->region[c][k][0] = r;
            f->region[c][k][1] = r += step;
        }
        f->cluster[c] = (aw_cluster){.tile = f->tile,
                                     .tiles = c + 1,
                                     .region = (const double(*)[2])f->region[c],
                                     .regions = REGIONS - c};
    }
}

/* The first and the last slice interval in which a bin's regions begin. */
static void extent(const fixture *f, const aw_tasks *t, size_t bin, size_t of[2])
{
    of[0] = SLICES;
    of[1] = 0;
    for (size_t i = t->begin[bin]; i < t->begin[bin + 1]; ++i) {
        const aw_task *task = &t->task[i];
        for (size_t k = task->from; k < task->to; ++k) {
            const double at = floor(f->region[task->cluster][k][0] / CDT);
            const size_t slice = (size_t)fmin(at, SLICES - 1);
            if (slice < of[0]) of[0] = slice;
            if (slice > of[1]) of[1] = slice;
        }
    }
}

static void every_region_is_in_exactly_one_task(void **state)
{
    const double ratios[3] = {1.0, 1.1, 1.5};
    (void)state;
    for (int i = 0; i < 3; ++i)
        for (size_t wanted = 1; wanted <= 40; wanted += 3) {
            fixture f;
            aw_tasks t = {.task = NULL};
            int seen[CLUSTERS][REGIONS] = {{0}};
            double all = 0.0, sum = 0.0;
            make(&f, ratios[i]);
            assert_ok(aw_tasks_cut(&t, f.cluster, CLUSTERS, &f.history, wanted, 2 * wanted));
            assert_int_equal(t.begin[0], 0);
            for (size_t b = 0; b < t.bins; ++b) {
                double weight = 0.0;
                for (size_t k = t.begin[b]; k < t.begin[b + 1]; ++k) {
                    const aw_task *task = &t.task[k];
                    assert_true(task->from < task->to);
                    if (k > t.begin[b]) assert_true(task->cluster > task[-1].cluster);
                    for (size_t r = task->from; r < task->to; ++r) seen[task->cluster][r]++;
                    weight += 16.0 * (double)((task->cluster + 1) * (task->to - task->from));
                }
                assert_close(t.weight[b], weight, 0.0, 0.0);
                sum += weight;
            }
            for (size_t c = 0; c < CLUSTERS; ++c)
                for (size_t r = 0; r < REGIONS; ++r) {
                    assert_int_equal(seen[c][r], r < f.cluster[c].regions);
                    all += r < f.cluster[c].regions ? 16.0 * (double)(c + 1) : 0.0;
                }
            assert_close(sum, all, 0.0, 0.0);
            if (wanted == 1) assert_true(t.blocks == 1 && t.begin[t.bins] == CLUSTERS);
            aw_tasks_free(&t);
        }
}

/* Bins have similar weights, whether a block has few slices or a bin few clusters. Two bins are of
 * one block, or of blocks that do not overlap. */
static void bins_have_similar_weight_and_blocks_do_not_overlap(void **state)
{
    (void)state;
    for (size_t wanted = 4; wanted <= 24; wanted += 4)
        for (int i = 0; i < 2; ++i) {
            fixture f;
            aw_tasks t = {.task = NULL};
            double all = 0.0, max = 0.0;
            make(&f, i ? 1.0 : 1.1);
            assert_ok(aw_tasks_cut(&t, f.cluster, CLUSTERS, &f.history, wanted, 2 * wanted));
            for (size_t b = 0; b < t.bins; ++b) {
                all += t.weight[b];
                max = fmax(max, t.weight[b]);
                for (size_t c = 0; c < b; ++c) {
                    size_t mine[2], other[2];
                    extent(&f, &t, b, mine);
                    extent(&f, &t, c, other);
                    const int apart = mine[0] > other[1] || other[0] > mine[1];
                    const int one_block = t.block[b] == t.block[c];
                    assert_true(apart || one_block);
                }
            }
            assert_true(t.bins > wanted && t.bins <= 4 * wanted && t.blocks <= wanted);
            /* A task is not cut further: the largest cluster may exceed the average. */
            assert_true(max <= 1.5 * all / (double)wanted + 16.0 * CLUSTERS * REGIONS);
            aw_tasks_free(&t);
        }
}

/* Regions beyond the oldest slice; and no clusters or no regions at all. */
static void regions_upstream_are_in_the_last_block(void **state)
{
    fixture f;
    aw_tasks t = {.task = NULL};
    size_t of[2];
    (void)state;
    make(&f, 1.0);
    for (size_t c = 0; c < CLUSTERS; ++c)
        for (size_t k = REGIONS - 20; k < REGIONS; ++k) {
            f.region[c][k][0] = 10.0 * (double)k;
            f.region[c][k][1] = 10.0 * (double)(k + 1);
        }
    assert_ok(aw_tasks_cut(&t, f.cluster, CLUSTERS, &f.history, 8, 20));
    extent(&f, &t, t.bins - 1, of);
    assert_int_equal(of[1], SLICES - 1);
    assert_ok(aw_tasks_cut(&t, f.cluster, 0, &f.history, 8, 20));
    assert_int_equal(t.begin[t.bins], 0);
    f.cluster[0].regions = 0;
    assert_ok(aw_tasks_cut(&t, f.cluster, 1, &f.history, 8, 20));
    assert_int_equal(t.begin[t.bins], 0);
    aw_tasks_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_region_is_in_exactly_one_task),
        cmocka_unit_test(bins_have_similar_weight_and_blocks_do_not_overlap),
        cmocka_unit_test(regions_upstream_are_in_the_last_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
