/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/knn.h"

#include <math.h>

#include "src/base/log.h"
#include "src/base/memory.h"

enum { LEAF = 8 }; /* largest number of points in a leaf */

typedef struct site {
    double x[3];
    uint32_t index;
} site;

/* A node of sites [first, end). Its left child follows it; `right` is its right child, 0 in a
 * leaf. */
typedef struct node {
    double lo[3], hi[3]; /* bounding box of the sites */
    uint32_t lowest;     /* their lowest index */
    uint32_t first, end, right;
} node;

struct aw_knn {
    site *site;
    node *node;
    size_t n, nodes;
    size_t sites_capacity, nodes_capacity;
};

aw_status aw_knn_new(aw_knn **out)
{
    *out = aw_alloc(1, sizeof **out);
    return *out ? AW_OK : aw_error(AW_ERR_NOMEM, "nearest neighbours: out of memory");
}

void aw_knn_free(aw_knn *knn)
{
    if (!knn) return;
    aw_free(knn->site);
    aw_free(knn->node);
    aw_free(knn);
}

/* Order along an axis; equal coordinates are ordered by index. */
static int before(const site *a, const site *b, int axis)
{
    if (a->x[axis] != b->x[axis]) return a->x[axis] < b->x[axis];
    return a->index < b->index;
}

static void swap(site *a, site *b)
{
    const site kept = *a;
    *a = *b;
    *b = kept;
}

/* Reorder so that s[place] is the same as after sorting: Hoare's selection. The pivot is chosen by
 * a hash of the bounds, since an ordered lattice can defeat any simple choice. */
static void select_place(site *s, size_t n, size_t place, int axis)
{
    size_t lo = 0, hi = n; /* the place is in [lo, hi) */
    while (hi - lo > 1) {
        const uint64_t hash = (lo * 31 + hi) * UINT64_C(0x9e3779b97f4a7c15);
        size_t cut = lo; /* sites before the pivot */
        swap(&s[lo + (size_t)(hash >> 32) % (hi - lo)], &s[hi - 1]);
        for (size_t i = lo; i + 1 < hi; ++i)
            if (before(&s[i], &s[hi - 1], axis)) swap(&s[i], &s[cut++]);
        swap(&s[cut], &s[hi - 1]);
        if (cut == place) return;
        if (cut > place)
            hi = cut;
        else
            lo = cut + 1;
    }
}

/* Box and lowest index of the sites of a node. */
static void measure(const aw_knn *t, node *a)
{
    a->lowest = UINT32_MAX;
    for (int d = 0; d < 3; ++d) {
        a->lo[d] = INFINITY;
        a->hi[d] = -INFINITY;
    }
    for (uint32_t i = a->first; i < a->end; ++i) {
        const site *s = &t->site[i];
        if (s->index < a->lowest) a->lowest = s->index;
        for (int d = 0; d < 3; ++d) {
            if (s->x[d] < a->lo[d]) a->lo[d] = s->x[d];
            if (s->x[d] > a->hi[d]) a->hi[d] = s->x[d];
        }
    }
}

static int longest_side(const node *a)
{
    int axis = 0;
    for (int d = 1; d < 3; ++d)
        if (a->hi[d] - a->lo[d] > a->hi[axis] - a->lo[axis]) axis = d;
    return axis;
}

/* Build the node of sites [first, end) and its children. The halves differ by at most one site, so
 * the depth is log2 n. */
static void grow(aw_knn *t, uint32_t first, uint32_t end)
{
    node *a = &t->node[t->nodes++];
    a->first = first;
    a->end = end;
    a->right = 0;
    measure(t, a);
    if (end - first <= LEAF) return;
    const uint32_t middle = first + (end - first) / 2;
    select_place(&t->site[first], end - first, middle - first, longest_side(a));
    grow(t, first, middle);
    a->right = (uint32_t)t->nodes;
    grow(t, middle, end);
}

aw_status aw_knn_build(aw_knn *knn, const double (*point)[3], size_t n)
{
    aw_status status = AW_OK;
    knn->n = knn->nodes = 0;
    if (n > UINT32_MAX / 2)
        AW_TRY(aw_error(AW_ERR_ARG, "nearest neighbours: %zu points are too many", n));
    status = aw_grow((void **)&knn->site, &knn->sites_capacity, n, sizeof *knn->site);
    /* a leaf has at least LEAF / 2 sites, and there are fewer inner nodes than leaves */
    if (status == AW_OK)
        status = aw_grow((void **)&knn->node, &knn->nodes_capacity, n / 2 + 1, sizeof *knn->node);
    if (status != AW_OK) AW_TRY(aw_error(status, "nearest neighbours: out of memory"));
    for (size_t i = 0; i < n; ++i) {
        for (int d = 0; d < 3; ++d) {
            if (!isfinite(point[i][d]))
                AW_TRY(
                    aw_error(AW_ERR_NONFINITE, "nearest neighbours: point %zu is not finite", i));
            knn->site[i].x[d] = point[i][d];
        }
        knn->site[i].index = (uint32_t)i;
    }
    knn->n = n;
    if (n > 0) grow(knn, 0, (uint32_t)n);
done:
    return status;
}

/* A search in progress: the neighbours so far, nearest first. */
typedef struct search {
    const aw_knn *tree;
    const double *q;
    int k, found;
    uint32_t *index;
    double *distance2;
} search;

static double square(double dx, double dy, double dz) { return dx * dx + dy * dy + dz * dz; }

/* Squared distance to a box: never larger than that to a site in it, even with rounding, because
 * both are rounded in the same steps and rounding is monotonic. */
static double box_distance2(const node *a, const double q[3])
{
    double gap[3];
    for (int d = 0; d < 3; ++d)
        gap[d] = q[d] < a->lo[d] ? q[d] - a->lo[d] : q[d] > a->hi[d] ? q[d] - a->hi[d] : 0.0;
    return square(gap[0], gap[1], gap[2]);
}

/* Whether a site at this distance with this or a higher index may be a neighbour. */
static int wanted(const search *f, double distance2, uint32_t index)
{
    if (f->found < f->k) return 1;
    const double worst = f->distance2[f->k - 1];
    return distance2 < worst || (distance2 == worst && index < f->index[f->k - 1]);
}

static void insert(search *f, double distance2, uint32_t index)
{
    int i = f->found < f->k ? f->found++ : f->k - 1;
    for (; i > 0; --i) {
        const double other = f->distance2[i - 1];
        if (other < distance2 || (other == distance2 && f->index[i - 1] < index)) break;
        f->distance2[i] = other;
        f->index[i] = f->index[i - 1];
    }
    f->distance2[i] = distance2;
    f->index[i] = index;
}

static void visit_leaf(search *f, const node *a)
{
    for (uint32_t i = a->first; i < a->end; ++i) {
        const site *s = &f->tree->site[i];
        const double d2 = square(f->q[0] - s->x[0], f->q[1] - s->x[1], f->q[2] - s->x[2]);
        if (wanted(f, d2, s->index)) insert(f, d2, s->index);
    }
}

/* Search a node, the nearer child first (of equally near ones the one with the lowest index). */
static void visit(search *f, const node *a, double distance2)
{
    if (!wanted(f, distance2, a->lowest)) return;
    if (a->right == 0) {
        visit_leaf(f, a);
        return;
    }
    const node *left = a + 1, *right = &f->tree->node[a->right];
    const double l2 = box_distance2(left, f->q), r2 = box_distance2(right, f->q);
    if (l2 < r2 || (l2 == r2 && left->lowest < right->lowest)) {
        visit(f, left, l2);
        visit(f, right, r2);
    } else {
        visit(f, right, r2);
        visit(f, left, l2);
    }
}

int aw_knn_query(const aw_knn *knn, const double q[3], int k, uint32_t *index, double *distance2)
{
    search f = {knn, q, k, 0, index, distance2};
    if (k < 1 || knn->n == 0) return 0;
    for (int d = 0; d < 3; ++d)
        if (!isfinite(q[d])) return 0;
    visit(&f, knn->node, 0.0);
    return f.found;
}
