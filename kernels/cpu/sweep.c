/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU device's sweep: the quadrature rule on a list of regions, each of one point. */
#include <math.h>
#include <omp.h>

#include "kernels/cpu/device.h"
#include "src/base/memory.h"

/* A group of points and their regions: point after point, the regions of a point in ascending
 * order. The group is cut into chunks of r' (kernels/device/tuning.h). Groups and chunks do not
 * depend on the number of threads. */
typedef struct aw_cpu_group {
    aw_region *region;
    size_t begin[AW_GROUP_MAX + 1]; /* [points + 1]: first region of each point, and the end */
    int points;
    double cut[AW_CHUNKS_MAX + 1]; /* r' between chunks [m] */
} aw_cpu_group;

/* Add at most `capacity` points from the list. @return first region of the next group */
static size_t group_take(aw_cpu_group *group, int capacity, aw_region *region, size_t first,
                         size_t n)
{
    group->region = region;
    group->points = 0;
    group->begin[0] = first;
    while (first < n && group->points < capacity) {
        do ++first;
        while (first < n && region[first].point == region[first - 1].point);
        group->begin[++group->points] = first;
    }
    return first;
}

/* Choose the cuts so that the point with the most regions has equally many in every chunk. */
static void group_cut(aw_cpu_group *group, int chunks)
{
    int longest = 0;
    const size_t *begin = group->begin;
    for (int p = 1; p < group->points; ++p)
        if (begin[p + 1] - begin[p] > begin[longest + 1] - begin[longest]) longest = p;
    size_t regions = begin[longest + 1] - begin[longest];
    group->cut[0] = -1.0;
    for (int k = 1; k < chunks; ++k)
        group->cut[k] = group->region[begin[longest] + (size_t)k * regions / (size_t)chunks].a;
    group->cut[chunks] = HUGE_VAL;
}

/* The first region of point p that begins at or after r. */
static size_t group_find(const aw_cpu_group *group, int p, double r)
{
    size_t lo = group->begin[p], hi = group->begin[p + 1];
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (group->region[middle].a < r)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* So many points at one r', for each cell of the longer side of the slices, pay for their
 * interpolation in time: arcs mostly cross the shorter side. */
#define AW_BLEND_POINTS_A_CELL 0.125

/* Whether slices are interpolated in time first, for so many points at one r'. */
static int is_worth_interpolating(const aw_cpu_state *cpu, int points)
{
    const int longer = cpu->history.ns > cpu->history.nx ? cpu->history.ns : cpu->history.nx;
    return points >= cpu->tuning.blend_points && points >= AW_BLEND_POINTS_A_CELL * longer;
}

/* Evaluate node k of n regions of different points, all of the same interval of r'. */
static void sweep_node(const aw_cpu_state *cpu, aw_region *const *same, int n, int k,
                       double *buffer, aw_work *work)
{
    const aw_variant *variant = cpu->variant;
    aw_interpolated_cells cells;
    int unknown = 0;
    for (int i = 0; i < n; ++i) unknown += !(same[i]->known & (1u << k));
    if (unknown == 0) return;
    const aw_retarded f = aw_retarded_at(&cpu->history, aw_region_node(same[0], k));
    const int interpolates = f.nt == 3 && is_worth_interpolating(cpu, unknown);
    if (interpolates) variant->interpolate_cells(&cpu->history, &f, buffer, &cells);
    const aw_circles circles = aw_circles_at(&f);
    const aw_retarded_beam beam = {.history = &cpu->history,
                                   .f = &f,
                                   .circles = &circles,
                                   .cells = interpolates ? &cells : NULL};
    for (int i = 0; i < n; ++i)
        if (!(same[i]->known & (1u << k)))
            variant->inner_at(&beam, &cpu->point[same[i]->point], cpu->density, same[i]->f[k],
                              work);
}

/* Position in a chunk of a group: for each point its next region, and the end of its regions. */
typedef struct cpu_cursor {
    size_t at[AW_GROUP_MAX], end[AW_GROUP_MAX];
} cpu_cursor;

/* Find the next interval of r', and the points whose next region is that interval.
 * @return number of these points; 0: the chunk is done */
static int next_interval(const aw_cpu_group *group, const cpu_cursor *c, int owner[AW_GROUP_MAX],
                         aw_region *same[AW_GROUP_MAX])
{
    int n = 0;
    for (int p = 0; p < group->points; ++p) {
        if (c->at[p] == c->end[p]) continue;
        aw_region *q = &group->region[c->at[p]];
        if (n > 0 && (q->a > same[0]->a || (q->a == same[0]->a && q->b > same[0]->b))) continue;
        if (n > 0 && (q->a != same[0]->a || q->b != same[0]->b)) n = 0; /* an earlier one */
        owner[n] = p;
        same[n++] = q;
    }
    return n;
}

/* Apply the rule to one chunk of a group, interval by interval: neighbouring points then read the
 * same cells one after the other, from the first-level cache. */
static void sweep_chunk(const aw_cpu_state *cpu, const aw_cpu_group *group, int chunk,
                        const aw_scales *scales, double *buffer, aw_work *work)
{
    cpu_cursor c;
    aw_region *same[AW_GROUP_MAX];
    int owner[AW_GROUP_MAX], n;
    for (int p = 0; p < group->points; ++p) {
        c.at[p] = group_find(group, p, group->cut[chunk]);
        c.end[p] = group_find(group, p, group->cut[chunk + 1]);
        work->regions += c.end[p] - c.at[p];
    }
    while ((n = next_interval(group, &c, owner, same)) > 0) {
        for (int k = 0; k < 5; ++k) sweep_node(cpu, same, n, k, buffer, work);
        for (int i = 0; i < n; ++i) {
            aw_region *q = same[i];
            q->known = 31u;
            aw_region_rule(q, scales);
            if (++c.at[owner[i]] < c.end[owner[i]]) aw_region_follow(q, q + 1);
        }
    }
}

aw_status aw_cpu_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                       aw_work *work)
{
    aw_cpu_state *cpu = state;
    const ptrdiff_t chunks = cpu->tuning.sweep_pieces;
    aw_status status = AW_OK;
    size_t first = 0, groups = 0;
    while (first < n) {
        AW_TRY(aw_grow((void **)&cpu->group, &cpu->group_capacity, groups + 1, sizeof *cpu->group));
        first = group_take(&cpu->group[groups], cpu->tuning.sweep_group, region, first, n);
        group_cut(&cpu->group[groups++], (int)chunks);
    }
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads)
    for (ptrdiff_t c = 0; c < (ptrdiff_t)groups * chunks; ++c) {
        aw_cpu_workspace *workspace = &cpu->workspace[omp_get_thread_num()];
        sweep_chunk(cpu, &cpu->group[c / chunks], (int)(c % chunks), scales, workspace->cells,
                    &workspace->work);
    }
    aw_cpu_work_sum(cpu, work);
done:
    return status;
}
