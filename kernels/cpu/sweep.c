/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CPU device's sweep: the rule on a list of regions, each at a point of its own. */
#include <math.h>
#include <omp.h>

#include "kernels/cpu/device.h"
#include "src/base/memory.h"

/* A group of points and their regions, point after point, each point's in ascending order, cut into
 * pieces of r' (kernels/device/tuning.h). Neither depends on the threads. */
typedef struct aw_cpu_group {
    aw_region *region;
    size_t begin[AW_GROUP_MAX + 1]; /* where each point's regions begin */
    int points;
    double cut[AW_CHUNKS_MAX + 1]; /* radii between pieces */
} aw_cpu_group;

/* Take points from the list until the group is full. @return where the next group begins. */
static size_t group_take(aw_cpu_group *group, int most, aw_region *region, size_t first, size_t n)
{
    group->region = region;
    group->points = 0;
    group->begin[0] = first;
    while (first < n && group->points < most) {
        do ++first;
        while (first < n && region[first].point == region[first - 1].point);
        group->begin[++group->points] = first;
    }
    return first;
}

/* Cut where the point with the most regions has equal shares of them. */
static void group_cut(aw_cpu_group *group, int pieces)
{
    int longest = 0;
    const size_t *begin = group->begin;
    for (int p = 1; p < group->points; ++p)
        if (begin[p + 1] - begin[p] > begin[longest + 1] - begin[longest]) longest = p;
    size_t most = begin[longest + 1] - begin[longest];
    group->cut[0] = -1.0;
    for (int k = 1; k < pieces; ++k)
        group->cut[k] = group->region[begin[longest] + (size_t)k * most / (size_t)pieces].a;
    group->cut[pieces] = HUGE_VAL;
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

/* Node k of n regions that are the same interval of r', of different points. */
static void sweep_node(const aw_cpu_state *cpu, aw_region *const *same, int n, int k, double *room,
                       aw_work *work)
{
    const aw_variant *variant = cpu->variant;
    aw_interpolated_cells blend;
    int wanted = 0;
    for (int i = 0; i < n; ++i) wanted += !(same[i]->known & (1u << k));
    if (wanted == 0) return;
    const aw_retarded f = aw_retarded_at(&cpu->history, aw_region_node(same[0], k));
    const int worth = wanted >= cpu->tuning.blend_points && f.nt == 3;
    if (worth) variant->blend(&cpu->history, &f, room, &blend);
    for (int i = 0; i < n; ++i)
        if (!(same[i]->known & (1u << k)))
            variant->inner_at(&cpu->history, &f, worth ? &blend : NULL, &cpu->point[same[i]->point],
                              cpu->density, same[i]->f[k], work);
}

/* Where a piece of a group stands: of each point its next region, and where its regions end. */
typedef struct cpu_cursor {
    size_t at[AW_GROUP_MAX], end[AW_GROUP_MAX];
} cpu_cursor;

/* The next interval of r', and which points' next region it is. @return their number; 0: the end */
static int next_interval(const aw_cpu_group *group, const cpu_cursor *c, int who[AW_GROUP_MAX],
                         aw_region *same[AW_GROUP_MAX])
{
    int n = 0;
    for (int p = 0; p < group->points; ++p) {
        if (c->at[p] == c->end[p]) continue;
        aw_region *q = &group->region[c->at[p]];
        if (n > 0 && (q->a > same[0]->a || (q->a == same[0]->a && q->b > same[0]->b))) continue;
        if (n > 0 && (q->a != same[0]->a || q->b != same[0]->b)) n = 0; /* an earlier one */
        who[n] = p;
        same[n++] = q;
    }
    return n;
}

/* Piece k of a group, interval by interval: neighbouring points then read the same cells one after
 * the other, from the nearest cache. */
static void sweep_piece(const aw_cpu_state *cpu, const aw_cpu_group *group, int piece,
                        const aw_scales *scales, double *room, aw_work *work)
{
    cpu_cursor c;
    aw_region *same[AW_GROUP_MAX];
    int who[AW_GROUP_MAX], n;
    for (int p = 0; p < group->points; ++p) {
        c.at[p] = group_find(group, p, group->cut[piece]);
        c.end[p] = group_find(group, p, group->cut[piece + 1]);
        work->regions += c.end[p] - c.at[p];
    }
    while ((n = next_interval(group, &c, who, same)) > 0) {
        for (int k = 0; k < 5; ++k) sweep_node(cpu, same, n, k, room, work);
        for (int i = 0; i < n; ++i) {
            aw_region *q = same[i];
            q->known = 31u;
            aw_region_rule(q, scales);
            if (++c.at[who[i]] < c.end[who[i]]) aw_region_follow(q, q + 1);
        }
    }
}

aw_status aw_cpu_sweep(void *state, aw_region *region, size_t n, const aw_scales *scales,
                       aw_work *work)
{
    aw_cpu_state *cpu = state;
    const ptrdiff_t pieces = cpu->tuning.sweep_pieces;
    aw_status status = AW_OK;
    size_t first = 0, groups = 0;
    while (first < n) {
        AW_TRY(aw_grow((void **)&cpu->group, &cpu->group_capacity, groups + 1, sizeof *cpu->group));
        first = group_take(&cpu->group[groups], cpu->tuning.sweep_group, region, first, n);
        group_cut(&cpu->group[groups++], (int)pieces);
    }
#pragma omp parallel for schedule(dynamic) num_threads(cpu->threads)
    for (ptrdiff_t c = 0; c < (ptrdiff_t)groups * pieces; ++c) {
        aw_cpu_space *space = &cpu->space[omp_get_thread_num()];
        sweep_piece(cpu, &cpu->group[c / pieces], (int)(c % pieces), scales, space->blend,
                    &space->work);
    }
    aw_cpu_work_sum(cpu, work);
done:
    return status;
}
