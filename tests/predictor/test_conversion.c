/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a pattern to a partition: its regions, counted in the cells, reproduce the pattern. */
#include <string.h>

#include "predictor/conversion.h"
#include "tests/assert_close.h"
#include "tests/predictor/patterns.h"
#include "tests/slice_fixture.h"

enum { CELLS = 24 };

static const aw_conversion every[] = {AW_CONVERT_EVEN, AW_CONVERT_UNIFORM, AW_CONVERT_ADAPTIVE};

/* Random cells, break points and numbers of regions, some of them 0. */
typedef struct sample {
    aw_patterns patterns; /* one row */
    aw_intervals cuts;
} sample;

static void sample_fill(sample *p, uint64_t *random, double empty)
{
    double edge[CELLS + 1];
    int hard[CELLS + 1];
    random_edges(edge, CELLS, 2.0, random);
    for (int i = 0; i <= CELLS; ++i) hard[i] = uniform(random, 0.0, 1.0) < 0.3;
    patterns_over(&p->patterns, edge, hard, CELLS, 1);
    for (int i = 0; i < CELLS; ++i)
        p->patterns.need[i] =
            uniform(random, 0.0, 1.0) < empty ? 0.0F : (float)pow(10.0, uniform(random, -1.0, 1.0));
}

static void sample_free(sample *p)
{
    aw_patterns_free(&p->patterns);
    aw_intervals_free(&p->cuts);
}

static void convert(sample *p, aw_conversion how, const aw_intervals *earlier)
{
    p->cuts.n = 0;
    assert_ok(aw_convert(how, &p->patterns, p->patterns.need,
                         earlier ? (const double(*)[2])earlier->region : NULL,
                         earlier ? earlier->n : 0, &p->cuts));
}

/* Count the regions of the partition in each cell. */
static void count_back(const sample *p, float *count)
{
    memset(count, 0, p->patterns.cells * sizeof *count);
    for (size_t i = 0; i < p->cuts.n; ++i)
        aw_pattern_add(p->patterns.edge, p->patterns.cells, p->cuts.region[i][0],
                       p->cuts.region[i][1], 1.0F, count);
}

/* A number of regions as a whole number: rounded up, with a margin of 1/20, and at least one. */
static double rounded(double need) { return fmax(1.0, ceil(need - 0.05)); }

/* Counts are floats, with roundings of 6e-8. */
#define FLOATS 1e-5

static void uniform_gives_each_cell_its_number_rounded_up(void **state)
{
    uint64_t random = 1;
    sample p = {.cuts = {.n = 0}};
    (void)state;
    for (int trial = 0; trial < 100; ++trial) {
        float count[CELLS];
        sample_fill(&p, &random, 0.2);
        convert(&p, AW_CONVERT_UNIFORM, NULL);
        count_back(&p, count);
        for (int i = 0; i < CELLS; ++i) {
            const float need = p.patterns.need[i];
            assert_close(count[i], need > 0.0F ? rounded(need) : 0.0, 0.0, FLOATS);
        }
    }
    sample_free(&p);
}

static void adaptive_without_an_earlier_partition_is_uniform(void **state)
{
    uint64_t random = 2;
    sample p = {.cuts = {.n = 0}};
    aw_intervals first = {.n = 0};
    (void)state;
    sample_fill(&p, &random, 0.2);
    convert(&p, AW_CONVERT_UNIFORM, NULL);
    first = p.cuts;
    p.cuts = (aw_intervals){.n = 0};
    convert(&p, AW_CONVERT_ADAPTIVE, NULL);
    assert_int_equal(p.cuts.n, first.n);
    assert_memory_equal(p.cuts.region, first.region, first.n * sizeof *first.region);
    /* ... and with that partition as the earlier one, it is reproduced. */
    convert(&p, AW_CONVERT_ADAPTIVE, &first);
    assert_int_equal(p.cuts.n, first.n);
    assert_memory_equal(p.cuts.region, first.region, first.n * sizeof *first.region);
    aw_intervals_free(&first);
    sample_free(&p);
}

/* Integral of the pattern as a density from 0 to r. */
static double integral_to(const sample *p, double r)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->patterns.cells && p->patterns.edge[i] < r; ++i) {
        const double a = p->patterns.edge[i], b = p->patterns.edge[i + 1];
        sum += (double)p->patterns.need[i] * (fmin(r, b) - a) / (b - a);
    }
    return sum;
}

/* End of the group of cells that begins with i: at a hard break point or at a gap. A cell with need
 * 0 is a group of its own. */
static size_t group_end(const aw_patterns *p, size_t i)
{
    const int needed = p->need[i] > 0.0F;
    for (++i; needed && i < p->cells && !p->hard[i] && p->need[i] > 0.0F;) ++i;
    return i;
}

static void even_gives_regions_equal_shares_between_hard_break_points(void **state)
{
    uint64_t random = 3;
    sample p = {.cuts = {.n = 0}};
    (void)state;
    for (int trial = 0; trial < 100; ++trial) {
        size_t at = 0;
        sample_fill(&p, &random, 0.2);
        convert(&p, AW_CONVERT_EVEN, NULL);
        for (size_t i = 0; i < CELLS;) {
            const size_t last = group_end(&p.patterns, i);
            const double total = sum_of(&p.patterns.need[i], last - i);
            const double n = rounded(total);
            for (double k = 0; total > 0.0 && k < n; ++k, ++at) {
                const double *q = p.cuts.region[at];
                assert_true(at < p.cuts.n);
                assert_close(integral_to(&p, q[1]) - integral_to(&p, q[0]), total / n, 1e-9, 0.0);
                if (k == 0.0) assert_true(q[0] == p.patterns.edge[i]);
                if (k == n - 1.0) assert_true(q[1] == p.patterns.edge[last]);
            }
            i = last;
        }
        assert_int_equal(at, p.cuts.n);
    }
    sample_free(&p);
}

/* A region across a break point that is not hard is divided among the cells by length, not by the
 * pattern: counts differ by up to one region at either end of a cell. */
static void even_counted_in_the_cells_reproduces_the_pattern(void **state)
{
    uint64_t random = 4;
    sample p = {.cuts = {.n = 0}};
    (void)state;
    for (int trial = 0; trial < 100; ++trial) {
        float count[CELLS];
        sample_fill(&p, &random, 0.2);
        convert(&p, AW_CONVERT_EVEN, NULL);
        count_back(&p, count);
        for (size_t i = 0; i < CELLS;) {
            const size_t last = group_end(&p.patterns, i);
            const double total = sum_of(&p.patterns.need[i], last - i), n = rounded(total);
            for (size_t j = i; total > 0.0 && j < last; ++j) {
                const double ends = (j > i) + (j + 1 < last);
                assert_close(count[j], (double)p.patterns.need[j] * n / total, 0.0, ends + FLOATS);
            }
            if (total > 0.0) assert_close(sum_of(&count[i], last - i), n, 0.0, FLOATS);
            i = last;
        }
    }
    sample_free(&p);
}

static void partitions_cover_exactly_the_cells_with_needs(void **state)
{
    uint64_t random = 5;
    sample p = {.cuts = {.n = 0}};
    aw_intervals earlier = {.n = 0};
    (void)state;
    for (int trial = 0; trial < 150; ++trial) {
        double covered = 0.0, wanted = 0.0;
        sample_fill(&p, &random, 0.4);
        convert(&p, every[trial % 3], &earlier);
        for (size_t i = 0; i < p.cuts.n; ++i) {
            const double *q = p.cuts.region[i];
            float count[CELLS] = {0.0F};
            assert_true(q[0] < q[1]);
            assert_true(i == 0 || p.cuts.region[i - 1][1] <= q[0]);
            covered += q[1] - q[0];
            aw_pattern_add(p.patterns.edge, CELLS, q[0], q[1], 1.0F, count);
            for (int j = 0; j < CELLS; ++j)
                assert_true(p.patterns.need[j] > 0.0F || count[j] == 0.0F);
        }
        for (int j = 0; j < CELLS; ++j)
            if (p.patterns.need[j] > 0.0F) wanted += p.patterns.edge[j + 1] - p.patterns.edge[j];
        assert_close(covered, wanted, 1e-12, 0.0);
        const aw_intervals swap = earlier; /* earlier partition of the next trial: other cells */
        earlier = p.cuts;
        p.cuts = swap;
    }
    aw_intervals_free(&earlier);
    sample_free(&p);
}

static void hard_break_points_are_kept(void **state)
{
    uint64_t random = 6;
    sample p = {.cuts = {.n = 0}};
    aw_intervals earlier = {.n = 0};
    (void)state;
    for (int trial = 0; trial < 150; ++trial) {
        sample_fill(&p, &random, 0.1);
        convert(&p, every[trial % 3], &earlier);
        for (size_t i = 0; i < p.cuts.n; ++i)
            for (int j = 0; j <= CELLS; ++j)
                assert_false(p.patterns.hard[j] && p.cuts.region[i][0] < p.patterns.edge[j] &&
                             p.patterns.edge[j] < p.cuts.region[i][1]);
        const aw_intervals swap = earlier;
        earlier = p.cuts;
        p.cuts = swap;
    }
    aw_intervals_free(&earlier);
    sample_free(&p);
}

static void assert_regions(const aw_intervals *cuts, const double *mark, size_t n)
{
    assert_int_equal(cuts->n, n);
    for (size_t i = 0; i < n; ++i) {
        assert_close(cuts->region[i][0], mark[i], 0.0, 1e-15);
        assert_close(cuts->region[i][1], mark[i + 1], 0.0, 1e-15);
    }
}

static void adaptive_follows_the_earlier_break_points(void **state)
{
    const double edge[] = {0.0, 1.0};
    double old[4][2] = {{0.0, 0.1}, {0.1, 0.3}, {0.3, 0.6}, {0.6, 1.0}};
    const double same[] = {0.0, 0.1, 0.3, 0.6, 1.0}, fewer[] = {0.0, 0.3, 1.0};
    const double one[] = {0.0, 1.0}, more[] = {0.0, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0};
    const aw_intervals earlier = {old, 4, 4};
    sample p = {.cuts = {.n = 0}};
    (void)state;
    patterns_over(&p.patterns, edge, NULL, 1, 1);
    p.patterns.need[0] = 4.0F;
    convert(&p, AW_CONVERT_ADAPTIVE, &earlier);
    assert_regions(&p.cuts, same, 4);
    p.patterns.need[0] = 5.0F; /* halving all regions would be farther from 5 */
    convert(&p, AW_CONVERT_ADAPTIVE, &earlier);
    assert_regions(&p.cuts, same, 4);
    p.patterns.need[0] = 8.0F;
    convert(&p, AW_CONVERT_ADAPTIVE, &earlier);
    assert_regions(&p.cuts, more, 8);
    p.patterns.need[0] = 2.0F;
    convert(&p, AW_CONVERT_ADAPTIVE, &earlier);
    assert_regions(&p.cuts, fewer, 2);
    p.patterns.need[0] = 0.3F;
    convert(&p, AW_CONVERT_ADAPTIVE, &earlier);
    assert_regions(&p.cuts, one, 1);
    sample_free(&p);
}

/* Where the number of a cell grows, it is multiplied by the nearest whole factor, so the result is
 * between 2/3 (a ratio just below 3/2) and 4/3 (3/2) of the need. Where it falls, it is exact. */
static void assert_near_the_need(const sample *p)
{
    float count[CELLS_MAX];
    count_back(p, count);
    for (size_t i = 0; i < p->patterns.cells; ++i) {
        const double want = rounded(p->patterns.need[i]);
        assert_true(count[i] >= 2.0 / 3.0 * want - FLOATS);
        assert_true(count[i] <= 4.0 / 3.0 * want + FLOATS);
    }
}

/* Convert 200 times, with needs that vary by up to a factor 1.5. `drift`: the cells move as with a
 * moving bunch. */
static void convert_repeatedly(double drift)
{
    uint64_t random = 7;
    double edge[CELLS + 1], base[CELLS];
    aw_intervals earlier = {.n = 0};
    sample p = {.cuts = {.n = 0}};
    random_edges(edge, CELLS, 2.0, &random);
    for (int i = 0; i < CELLS; ++i) base[i] = pow(10.0, uniform(&random, -0.5, 1.5));
    for (int again = 0; again < 200; ++again) {
        double now[CELLS + 1];
        for (int i = 0; i <= CELLS; ++i) now[i] = edge[i] + (i ? drift * fmod(0.37 * again, 1) : 0);
        patterns_over(&p.patterns, now, NULL, CELLS, 1);
        for (int i = 0; i < CELLS; ++i)
            p.patterns.need[i] = (float)(base[i] * uniform(&random, 1.0 / 1.5, 1.5));
        convert(&p, AW_CONVERT_ADAPTIVE, &earlier);
        assert_near_the_need(&p);
        const aw_intervals swap = earlier;
        earlier = p.cuts;
        p.cuts = swap;
    }
    aw_intervals_free(&earlier);
    sample_free(&p);
}

static void adaptive_stays_near_the_need_over_many_steps(void **state)
{
    (void)state;
    convert_repeatedly(0.0);
    convert_repeatedly(0.02);
}

static void conversions_have_names(void **state)
{
    aw_conversion got = AW_CONVERT_EVEN;
    (void)state;
    assert_true(aw_conversion_find("adaptive", &got) && got == AW_CONVERT_ADAPTIVE);
    assert_true(aw_conversion_find("uniform", &got) && got == AW_CONVERT_UNIFORM);
    assert_true(aw_conversion_find("even", &got) && got == AW_CONVERT_EVEN);
    assert_false(aw_conversion_find("odd", &got));
    assert_true(got == AW_CONVERT_EVEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_gives_each_cell_its_number_rounded_up),
        cmocka_unit_test(adaptive_without_an_earlier_partition_is_uniform),
        cmocka_unit_test(even_gives_regions_equal_shares_between_hard_break_points),
        cmocka_unit_test(even_counted_in_the_cells_reproduces_the_pattern),
        cmocka_unit_test(partitions_cover_exactly_the_cells_with_needs),
        cmocka_unit_test(hard_break_points_are_kept),
        cmocka_unit_test(adaptive_follows_the_earlier_break_points),
        cmocka_unit_test(adaptive_stays_near_the_need_over_many_steps),
        cmocka_unit_test(conversions_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
