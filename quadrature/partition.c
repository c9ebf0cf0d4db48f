/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quadrature/partition.h"

#include "kernels/math/height.h"
#include "kernels/math/retarded.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Measured on the LCLS bend (docs/theory.md, "Partitions"): finer initial partitions waste nodes
 * where the integrand is smooth. Near the point a deposited beam varies from cell to cell, and a
 * rule that spans several cells mistakes noise for convergence (observed: 15 to 90 times the
 * tolerance in phi). */
#define AW_FIRST_CELLS 0.5  /* smallest step [cells] */
#define AW_NEAR_RATIO 16.0  /* r' over the step while the circle is smaller than the box */
#define AW_LONG_RATIO 8.0   /* the same beyond the width of a box that is longer than wide */
#define AW_NEAR_CELLS 4.0   /* largest step there [cells] */
#define AW_SWEEP_CELLS 1.0  /* cells through which the circle may sweep within a step */
#define AW_IMAGES_CELLS 4.0 /* the same for images, each a small part of what is seen */
/* The same, of both, where images are all there is: their sums run over the whole width of the
 * beam, and vary on its scale. Zeuthen chicane, plates 10 mm apart, 128 x 128, tolerance 3e-3: 1
 * begins with 940 to 3700 regions a point, 16 with 220 to 410, which leave psi within 6e-5 of 1 and
 * phi within 1e-4 of 0.25 (S = 6.6, 8.3 and 13.3 m); 1 missed 1e-3 of phi at 6.6 m. */
#define AW_IMAGES_ALONE_CELLS 16.0
#define AW_GROWTH 0.25     /* largest step over r' elsewhere */
#define AW_MISS_MARGIN 1.1 /* factor on the box when regions that miss it are left out */

aw_status aw_partition_new(aw_partition **out)
{
    *out = aw_alloc(1, sizeof **out);
    return *out ? AW_OK : AW_ERR_NOMEM;
}

void aw_partition_free(aw_partition *partition)
{
    if (!partition) return;
    aw_free(partition->box);
    aw_free(partition->middle);
    aw_free(partition->hard);
    aw_free(partition);
}

/* r' at which the beam's centre crosses the beginning of piece i of the orbit [m]. */
static double edge_at(const aw_history_view *h, int i)
{
    return (aw_slice_S(h, 0) - h->orbit.piece[i].S) / h->beta;
}

/* r' of slice i. */
static double at_slice(const aw_history_view *h, int i) { return aw_slice_age(h, i); }

/* The last stored slice before r, or at r to within a part of 1e-9 of its distance to the next. */
static int slice_before(const aw_history_view *h, double r)
{
    const int i = aw_slice_before(h, r);
    if (i + 1 < h->n &&
        at_slice(h, i + 1) - r <= 1e-9 * (aw_slice_age(h, i + 1) - aw_slice_age(h, i)))
        return i + 1;
    return i;
}

/* Whether r lies at slice i. */
static int is_at_slice(const aw_history_view *h, int i, double r)
{
    const double step = aw_slice_age(h, i + 1) - aw_slice_age(h, i);
    return fabs(r - at_slice(h, i)) < 1e-9 * step;
}

/* The beam's box at r' = r. */
static aw_box box_at(const aw_history_view *history, double r)
{
    aw_retarded f = aw_retarded_at(history, r);
    return (aw_box){r,        r - aw_circles_lag(&f),
                    f.gap,    sqrt(f.height2),
                    f.images, f.images_only,
                    f.z,      f.x,
                    f.cg,     f.sg,
                    f.half_s, f.half_x};
}

/* Whether r belongs to a stored slice, or to a crossing of a change of curvature by the beam's
 * centre. */
static int is_hard(const aw_history_view *h, double r)
{
    if (is_at_slice(h, slice_before(h, r), r)) return 1;
    for (int i = 1; i < h->orbit.n; ++i)
        if (fabs(edge_at(h, i) - r) <= 1e-9 * r) return 1;
    return 0;
}

/* Append the break point r. */
static aw_status partition_add(aw_partition *p, const aw_history_view *history, double r)
{
    size_t middle = p->capacity, hard = p->capacity;
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&p->box, &p->capacity, p->n + 1, sizeof *p->box));
    AW_TRY(aw_grow((void **)&p->middle, &middle, p->n + 1, sizeof *p->middle));
    AW_TRY(aw_grow((void **)&p->hard, &hard, p->n + 1, sizeof *p->hard));
    p->hard[p->n] = is_hard(history, r);
    if (p->n > 0) p->middle[p->n - 1] = box_at(history, 0.5 * (p->box[p->n - 1].r + r));
    p->box[p->n++] = box_at(history, r);
done:
    return status;
}

aw_view_geometry aw_view_geometry_at(const aw_history_view *h, const aw_field_point *p, double r)
{
    const aw_retarded f = aw_retarded_at(h, r);
    const double dz = p->z - f.z, dx = p->x - f.x, d = hypot(dz, dx);
    aw_view_geometry sight = {.lead = r - d,
                              .last = r - d - aw_circles_lag(&f) - aw_images_lag(h, r),
                              .reach = hypot(f.half_s, f.half_x),
                              .extent = fmin(f.half_s, f.half_x),
                              .across = fmax(f.half_s, f.half_x),
                              .chord = fmin(f.half_s, f.half_x),
                              .cell = fmin(f.hs, f.hx)};
    if (d > 0.0) {
        const double along = fabs(dz * f.cg + dx * f.sg) / d;
        const double across = fabs(-dz * f.sg + dx * f.cg) / d;
        sight.extent = along * f.half_s + across * f.half_x;
        sight.across = across * f.half_s + along * f.half_x;
        sight.chord = fmin(f.half_s / along, f.half_x / across);
        sight.cell = fmax(along * f.hs, across * f.hx);
    }
    return sight;
}

/* The points' grid as seen from the beam. */
static aw_span grid_span(const aw_history_view *h, const aw_retarded *f)
{
    const aw_retarded now = aw_retarded_at(h, 0.0);
    const double half_s = 0.5 * h->ns * h->slice[0].hs, half_x = 0.5 * h->nx * h->slice[0].hx;
    aw_span span = aw_span_of_none();
    for (int i = 0; i < 4; ++i) {
        double z, x;
        aw_frame_corner(&now, half_s, half_x, i, &z, &x);
        aw_span_add(f, z, x, &span);
    }
    return span;
}

/* Heights of sources whose circles about points of the grid touch the long side of the beam's box
 * [m]: those of which the radius is the points' distance from it. The range is widened by them.
 * @return 0: there are none, the points are not beside the box */
static int touch_long_side(const aw_history_view *h, double r, double height[2])
{
    const aw_retarded f = aw_retarded_at(h, r);
    const aw_span span = grid_span(h, &f);
    const int along_s = f.half_s > f.half_x;
    const double *along = along_s ? span.u : span.w, *across = along_s ? span.w : span.u;
    const double thick = fmin(f.half_s, f.half_x), rms = sqrt(f.height2);
    if (!(fmax(along[0], -along[1]) < fmax(f.half_s, f.half_x))) return 0;
    const double near = fmax(fmax(across[0], -across[1]) - thick, 0.0);
    const double far = fmax(-across[0], across[1]) + thick;
    height[0] = fmin(height[0], aw_source_radius(r, far) - rms);
    height[1] = fmax(height[1], aw_source_radius(r, near) + rms);
    return 1;
}

/* Whether circles of images touch the long side at radii between two r'. */
static int images_touch(const aw_history_view *h, double from, double to)
{
    double height[2] = {HUGE_VAL, 0.0};
    const int beside = touch_long_side(h, from, height) + touch_long_side(h, to, height);
    return beside > 0 && fmax(ceil(height[0] / h->gap), 1.0) * h->gap <= height[1];
}

double aw_images_sweep(const aw_history_view *h, double from, double to, int *tangent)
{
    double near, far;
    if (tangent) *tangent = 0;
    if (!(h->gap > 0.0)) return 0.0;
    const aw_retarded f = aw_retarded_at(h, to);
    const aw_span span = grid_span(h, &f);
    aw_span_distances(&f, &span, &near, &far);
    const double most = fmin(aw_images_lag(h, from), to - near);
    const double first = fmax(h->gap - sqrt(f.height2), 0.0); /* height of the nearest image */
    if (!(most > to - aw_source_radius(to, first))) return 0.0;
    if (tangent) *tangent = images_touch(h, from, to);
    return most * (to - from) / from;
}

double aw_images_lag(const aw_history_view *h, double r)
{
    const double Y = h->gap * h->images;
    return r - aw_source_radius(r, Y);
}

double aw_next_edge(const aw_history_view *h, double r)
{
    double best = HUGE_VAL;
    for (int i = 1; i < h->orbit.n; ++i) {
        double edge = edge_at(h, i);
        if (edge > r * (1.0 + 1e-9) + 1e-12 && edge < best) best = edge;
    }
    return best;
}

/* Step while the circle is smaller than the box [m]. If the box is much longer than wide, a circle
 * larger than its width crosses it in two short arcs that move along it; sums over these vary on
 * the scale of the cells along it only. */
static double near_step(const aw_history_view *h, double r, double cell)
{
    const aw_slice *now = &h->slice[0];
    const double half_s = 0.5 * h->ns * now->hs, half_x = 0.5 * h->nx * now->hx;
    double ratio = AW_NEAR_RATIO;
    if (r > 2.0 * fmin(half_s, half_x)) {
        cell = half_s > half_x ? now->hs : now->hx;
        ratio = AW_LONG_RATIO;
    }
    return fmin(fmax(r / ratio, AW_FIRST_CELLS * cell), AW_NEAR_CELLS * cell);
}

/* The next break point after r. */
static double next_break(const aw_history_view *h, const aw_field_point *p, double r, double cell,
                         double half)
{
    const double stored = at_slice(h, h->n - 1), here = aw_view_geometry_at(h, p, r).lead;
    const double most = h->images_only ? AW_IMAGES_ALONE_CELLS : AW_SWEEP_CELLS;
    double step = r < 2.0 * half ? near_step(h, r, cell) : AW_GROWTH * r;
    while (r > half && step > 0.1 * cell) {
        const aw_view_geometry there = aw_view_geometry_at(h, p, r + step);
        const double images = aw_images_sweep(h, r, r + step, NULL);
        const double swept = there.lead - here + images / AW_IMAGES_CELLS;
        if (!(swept > most * there.cell)) break;
        step *= 0.5;
    }
    double next = r + step;
    if (r < stored * (1.0 - 1e-12)) {
        const int i = slice_before(h, r);
        const double boundary = at_slice(h, i + 1), slice = boundary - at_slice(h, i);
        if (step >= slice && is_at_slice(h, i, r)) {
            int slices =
                1; /* a power of two, so that fewer steps see other breaks as time goes on */
            while (at_slice(h, i + 2 * slices) - r <= step + 1e-9 * slice) slices *= 2;
            next = at_slice(h, i + slices);
        } else if (next > boundary * (1.0 - 1e-6)) {
            next = boundary;
        }
        if (next > stored) next = stored;
    }
    double edge = aw_next_edge(h, r);
    if (next > edge - 0.01 * cell) next = edge;
    return next < h->r_cut ? next : h->r_cut;
}

/* A frame with a NaN would give empty arcs, not NaNs, so it must be detected here. */
static aw_status check_frames(const aw_history_view *history)
{
    for (int i = 0; i < history->n; ++i) {
        const aw_slice *s = &history->slice[i];
        if (isfinite(s->S) && isfinite(s->x) && isfinite(s->tilt) && s->hs > 0.0 && s->hx > 0.0 &&
            isfinite(s->hs) && isfinite(s->hx))
            continue;
        return aw_error(AW_ERR_NONFINITE,
                        "the grid of %d steps ago is not finite: S = %g m, x = %g m, tilt = %g, "
                        "spacings %g and %g m",
                        i, s->S, s->x, s->tilt, s->hs, s->hx);
    }
    return AW_OK;
}

aw_status aw_partition_make(aw_partition *partition, const aw_history_view *history,
                            const aw_field_point *centre, double half)
{
    aw_status status = AW_OK;
    const aw_slice *now = &history->slice[0];
    double cell = fmin(now->hs, now->hx), r = 0.0;
    double usable = history->upstream ? HUGE_VAL : at_slice(history, history->n - 3);
    partition->n = 0;
    AW_TRY(check_frames(history));
    AW_TRY(partition_add(partition, history, 0.0));
    /* Every point lies within `half` of the centre, so its circle has left the box once the
     * centre's circle leads by `half` more than it needs to. */
    while (r < history->r_cut) {
        const aw_view_geometry sight = aw_view_geometry_at(history, centre, r);
        if (sight.last > sight.reach + half) break;
        double next = next_break(history, centre, r, cell, half);
        if (!isfinite(next) || !(next > r))
            AW_TRY(aw_error(AW_ERR_NONFINITE, "the partition of r' fails at %g m", r));
        if (next > usable)
            AW_TRY(aw_error(AW_ERR_RANGE,
                            "the history reaches back %.4g m, but the circle of "
                            "causality still meets the beam there (raise numerics.history_MiB)",
                            usable));
        r = next;
        AW_TRY(partition_add(partition, history, r));
    }
done:
    return status;
}

/* Whether the circle about p is beyond the box. */
static int has_left(const aw_box *box, const aw_field_point *p)
{
    const double Y = box->gap * box->images;
    const double least = fmin(box->least, aw_source_radius(box->r, Y));
    return least - hypot(p->z - box->z, p->x - box->x) > hypot(box->half_s, box->half_x);
}

double aw_partition_limit(const aw_partition *partition, const aw_history_view *history,
                          const aw_field_point *p)
{
    size_t lo = 0, hi = partition->n - 1;
    if (!has_left(&partition->box[hi], p)) return partition->box[hi].r;
    while (hi - lo > 1) {
        size_t middle = lo + (hi - lo) / 2;
        if (has_left(&partition->box[middle], p))
            hi = middle;
        else
            lo = middle;
    }
    double a = partition->box[lo].r, b = partition->box[hi].r;
    for (int i = 0; i < 16; ++i) { /* 1e-5 of a step suffices: the moments vanish there */
        double middle = 0.5 * (a + b);
        const aw_view_geometry sight = aw_view_geometry_at(history, p, middle);
        if (sight.last > sight.reach)
            b = middle;
        else
            a = middle;
    }
    return b;
}

/* Number of the images whose circles are beyond the beam, all of which is within `far` [m]. */
static int images_beyond(const aw_retarded *f, double far)
{
    const double n = (aw_source_radius(f->delay, far) - sqrt(f->height2)) / f->gap;
    return n < f->images ? (int)fmax(n, 0.0) : f->images;
}

/* For all points within `reach` of p: 0: for some point a circle may meet the box; 1: all circles
 * are beyond the box; -1: none has reached it. Of images only: 1 + the number of those beyond. */
static int beside(const aw_box *box, const aw_field_point *p, double reach)
{
    double dz = p->z - box->z, dx = p->x - box->x;
    double u = fabs(dz * box->cg + dx * box->sg), w = fabs(-dz * box->sg + dx * box->cg);
    double half_s = AW_MISS_MARGIN * box->half_s + reach;
    double half_x = AW_MISS_MARGIN * box->half_x + reach;
    double far_u = u + half_s, far_w = w + half_x, near_u = fmax(u - half_s, 0.0);
    double near_w = fmax(w - half_x, 0.0);
    if (box->gap > 0.0) {
        const aw_retarded f = {.delay = box->r,
                               .gap = box->gap,
                               .images = box->images,
                               .height2 = box->rms * box->rms};
        const double near = sqrt(near_u * near_u + near_w * near_w);
        const double far = sqrt(far_u * far_u + far_w * far_w);
        if (aw_images_seen(&f, near, far)) return 0;
        if (box->images_only) return 1 + images_beyond(&f, far);
    }
    if (box->least * box->least > far_u * far_u + far_w * far_w) return 1;
    return box->r * box->r < near_u * near_u + near_w * near_w ? -1 : 0;
}

int aw_partition_misses(const aw_partition *partition, size_t i, const aw_field_point *p,
                        double reach)
{
    const int here = beside(&partition->box[i], p, reach);
    return here != 0 && here == beside(&partition->box[i + 1], p, reach) &&
           here == beside(&partition->middle[i], p, reach);
}

size_t aw_partition_regions(const aw_partition *partition, const aw_history_view *history,
                            const aw_field_point *p, uint32_t index, aw_region *region)
{
    double limit = aw_partition_limit(partition, history, p);
    size_t n = 0;
    int next = beside(&partition->box[0], p, 0.0);
    for (size_t i = 0; i + 1 < partition->n && partition->box[i].r < limit; ++i) {
        int here = next;
        next = beside(&partition->box[i + 1], p, 0.0);
        if (here != 0 && here == next && here == beside(&partition->middle[i], p, 0.0)) continue;
        aw_region *q = &region[n++];
        q->a = partition->box[i].r;
        q->b = fmin(partition->box[i + 1].r, limit);
        q->point = index;
        q->known = 0;
    }
    return n;
}
