/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/conversion.h"

#include <math.h>
#include <string.h>

#include "src/base/memory.h"

/* A number of regions up to this much above a whole number is rounded down. */
#define AW_WHOLE 0.05

void aw_intervals_free(aw_intervals *out)
{
    aw_free(out->region);
    memset(out, 0, sizeof *out);
}

int aw_conversion_find(const char *name, aw_conversion *out)
{
    static const char *const names[] = {"even", "uniform", "adaptive"};
    for (int i = 0; i < 3; ++i) {
        if (strcmp(names[i], name) != 0) continue;
        *out = (aw_conversion)i;
        return 1;
    }
    return 0;
}

static aw_status add(aw_intervals *out, double a, double b)
{
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&out->region, &out->capacity, out->n + 1, sizeof *out->region));
    out->region[out->n][0] = a;
    out->region[out->n++][1] = b;
done:
    return status;
}

/* Whole number of regions, at least 1. */
static size_t whole(double need)
{
    const double n = ceil(need - AW_WHOLE);
    return n > 1.0 ? (size_t)n : 1;
}

aw_status aw_intervals_add(aw_intervals *out, double a, double b, size_t n)
{
    aw_status status = AW_OK;
    double from = a;
    for (size_t i = 1; i <= n; ++i) {
        const double to = i < n ? a + (b - a) * (double)i / (double)n : b;
        AW_TRY(add(out, from, to));
        from = to;
    }
done:
    return status;
}

/* Cells first .. last - 1, which lie between hard break points and need regions. */
static aw_status even_group(const aw_patterns *p, const float *need, size_t first, size_t last,
                            aw_intervals *out)
{
    aw_status status = AW_OK;
    double total = 0.0, before = 0.0, from = p->edge[first];
    for (size_t i = first; i < last; ++i) total += (double)need[i];
    const size_t n = whole(total);
    size_t next = 1;
    for (size_t i = first; i < last; ++i) {
        const double here = (double)need[i], a = p->edge[i], b = p->edge[i + 1];
        for (; next < n; ++next) {
            const double mark = total * (double)next / (double)n;
            if (!(mark < before + here)) break;
            const double to = a + (b - a) * (mark - before) / here;
            if (!(to > from)) continue;
            AW_TRY(add(out, from, to));
            from = to;
        }
        before += here;
    }
    AW_TRY(add(out, from, p->edge[last]));
done:
    return status;
}

static aw_status even(const aw_patterns *p, const float *need, aw_intervals *out)
{
    aw_status status = AW_OK;
    for (size_t i = 0; i < p->cells;) {
        size_t last = i + 1;
        if (!(need[i] > 0.0F)) {
            i = last;
            continue;
        }
        while (last < p->cells && !p->hard[last] && need[last] > 0.0F) ++last;
        AW_TRY(even_group(p, need, i, last, out));
        i = last;
    }
done:
    return status;
}

/* Cell [a, b] in n regions, from the `count` regions of an earlier partition that lie in it. */
static aw_status as_earlier(double a, double b, size_t n, const double (*earlier)[2], size_t count,
                            aw_intervals *out)
{
    aw_status status = AW_OK;
    if (count < 2) return aw_intervals_add(out, a, b, n);
    const size_t times = n > count ? (n + count / 2) / count : 1;
    const size_t keep = n < count ? n : count;
    double from = a;
    for (size_t k = 1; k <= keep; ++k) { /* all or some of the earlier break points */
        const size_t at = k * count / keep;
        const double to = at < count ? earlier[at][0] : b;
        if (!(to > from)) continue;
        AW_TRY(aw_intervals_add(out, from, to, times));
        from = to;
    }
done:
    return status;
}

static aw_status by_cell(const aw_patterns *p, const float *need, const double (*earlier)[2],
                         size_t earlier_n, aw_intervals *out)
{
    aw_status status = AW_OK;
    size_t first = 0;
    for (size_t i = 0; i < p->cells; ++i) {
        const double a = p->edge[i], b = p->edge[i + 1];
        size_t count = 0;
        while (first < earlier_n && earlier[first][1] <= a) ++first;
        while (first + count < earlier_n && earlier[first + count][0] < b) ++count;
        if (need[i] > 0.0F)
            AW_TRY(as_earlier(a, b, whole((double)need[i]), earlier ? &earlier[first] : NULL, count,
                              out));
    }
done:
    return status;
}

aw_status aw_convert(aw_conversion method, const aw_patterns *patterns, const float *need,
                     const double (*earlier)[2], size_t earlier_n, aw_intervals *out)
{
    if (method == AW_CONVERT_EVEN) return even(patterns, need, out);
    if (method == AW_CONVERT_UNIFORM) earlier_n = 0;
    return by_cell(patterns, need, earlier, earlier_n, out);
}
