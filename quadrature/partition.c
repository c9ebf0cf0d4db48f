/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "quadrature/partition.h"

#include "kernels/retarded.h"
#include "src/base/log.h"
#include "src/base/memory.h"

/* Measured on the LCLS bend (docs/theory.md, "Partitions"): finer starts spend nodes where the
 * integrand is smooth. Near the point a deposited beam varies from cell to cell: a rule that spans
 * several cells there takes noise for convergence (seen: 15 to 90 times the tolerance in phi). */
#define AW_FIRST_CELLS 0.5 /* first break points */
#define AW_NEAR_RATIO 16.0 /* of r' to the step while the circle is smaller than the box */
#define AW_NEAR_CELLS 4.0  /* and the largest step there */
#define AW_SWEEP_CELLS 1.0 /* cells through which the circle may sweep within a step */
#define AW_GROWTH 0.25     /* largest step over r' */

aw_status aw_partition_new(aw_partition **out)
{
    *out = aw_alloc(1, sizeof **out);
    return *out ? AW_OK : AW_ERR_NOMEM;
}

void aw_partition_free(aw_partition *partition)
{
    if (!partition) return;
    aw_free(partition->r);
    aw_free(partition->z);
    aw_free(partition->x);
    aw_free(partition->reach);
    aw_free(partition);
}

static aw_status partition_add(aw_partition *p, double r)
{
    size_t c[4] = {p->capacity, p->capacity, p->capacity, p->capacity};
    aw_status status = AW_OK;
    AW_TRY(aw_grow((void **)&p->r, &c[0], p->n + 1, sizeof *p->r));
    AW_TRY(aw_grow((void **)&p->z, &c[1], p->n + 1, sizeof *p->z));
    AW_TRY(aw_grow((void **)&p->x, &c[2], p->n + 1, sizeof *p->x));
    AW_TRY(aw_grow((void **)&p->reach, &c[3], p->n + 1, sizeof *p->reach));
    p->capacity = c[0];
    p->r[p->n++] = r;
done:
    return status;
}

/* How far the circle about p has run ahead of the beam's centre, r' - |p - centre|.
 * @param[out] reach  half diagonal of the beam's box there [m], or NULL
 * @param[out] cell   length of a cell of its grid along the line of sight [m], or NULL */
static double lead(const aw_history_view *h, const aw_field_point *p, double r, double *reach,
                   double *cell)
{
    aw_retarded f = aw_retarded_at(h, r);
    double dz = p->z - f.z, dx = p->x - f.x, d = hypot(dz, dx);
    if (reach) *reach = hypot(f.half_s, f.half_x);
    if (cell) {
        double along = fabs(dz * f.cg + dx * f.sg), across = fabs(-dz * f.sg + dx * f.cg);
        *cell = d > 0.0 ? d / fmax(along / f.hs, across / f.hx) : fmin(f.hs, f.hx);
    }
    return r - d;
}

/* Radii at which the beam's centre crossed a change of curvature, as the next one beyond r. */
static double next_edge(const aw_history_view *h, double r)
{
    double best = HUGE_VAL;
    for (int i = 1; i < h->orbit.n; ++i) {
        double edge = (aw_slice_S(h, 0) - h->orbit.piece[i].S) / h->beta;
        if (edge > r * (1.0 + 1e-9) + 1e-12 && edge < best) best = edge;
    }
    return best;
}

/* Step while the circle is smaller than the box. If the box is much longer than wide, a circle
 * beyond its width crosses it in two short arcs, which move along it: the coarser cell counts. */
static double near_step(const aw_history_view *h, double r, double cell)
{
    const aw_slice *now = &h->slice[0];
    double narrow = fmin(0.5 * h->ns * now->hs, 0.5 * h->nx * now->hx);
    double moved = r < 2.0 * narrow ? cell : fmax(now->hs, now->hx);
    return fmin(fmax(r / AW_NEAR_RATIO, AW_FIRST_CELLS * cell), AW_NEAR_CELLS * moved);
}

/* The next break point after r. */
static double next_break(const aw_history_view *h, const aw_field_point *p, double r, double cell,
                         double half)
{
    double stored = (h->n - 1) * h->cdt, here = lead(h, p, r, NULL, NULL), swept;
    double step = r < 2.0 * half ? near_step(h, r, cell) : AW_GROWTH * r;
    while (r > half && step > 0.1 * cell &&
           lead(h, p, r + step, NULL, &swept) - here > AW_SWEEP_CELLS * swept)
        step *= 0.5;
    double next = r + step;
    if (r < stored * (1.0 - 1e-12)) {
        double begin = rint(r / h->cdt); /* slices passed */
        if (step >= h->cdt && fabs(r - begin * h->cdt) < 1e-9 * h->cdt) {
            double slices = exp2(floor(log2(step / h->cdt + 1e-9)));
            next = (begin + slices) * h->cdt;
        } else {
            double boundary = (floor(r / h->cdt + 1e-9) + 1.0) * h->cdt;
            if (next > boundary * (1.0 - 1e-6)) next = boundary;
        }
        if (next > stored) next = stored;
    }
    double edge = next_edge(h, r);
    if (next > edge - 0.01 * cell) next = edge;
    return next < h->r_cut ? next : h->r_cut;
}

/* A frame that is not a number would make empty arcs, not NaNs: it must be found here. */
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
    double cell = fmin(now->hs, now->hx), reach = 0.0, r = 0.0;
    double usable = history->upstream ? HUGE_VAL : (history->n - 3) * history->cdt;
    partition->n = 0;
    AW_TRY(check_frames(history));
    AW_TRY(partition_add(partition, 0.0));
    /* Every point lies within `half` of the centre, so its circle has left the box when the
     * centre's circle is ahead by that much more. */
    while (r < history->r_cut && !(lead(history, centre, r, &reach, NULL) > reach + half)) {
        double next = next_break(history, centre, r, cell, half);
        if (!isfinite(next) || !(next > r))
            AW_TRY(aw_error(AW_ERR_NONFINITE, "the partition of r' fails at %g m", r));
        if (next > usable)
            AW_TRY(aw_error(AW_ERR_RANGE,
                            "the history reaches back %.4g m, but the circle of "
                            "causality still meets the beam there (raise numerics.history_MiB)",
                            usable));
        r = next;
        AW_TRY(partition_add(partition, r));
    }
    for (size_t i = 0; i < partition->n; ++i) {
        aw_retarded f = aw_retarded_at(history, partition->r[i]);
        partition->z[i] = f.z;
        partition->x[i] = f.x;
        partition->reach[i] = hypot(f.half_s, f.half_x);
    }
done:
    return status;
}

static int has_left(const aw_partition *q, const aw_field_point *p, size_t i)
{
    return q->r[i] - hypot(p->z - q->z[i], p->x - q->x[i]) > q->reach[i];
}

double aw_partition_limit(const aw_partition *partition, const aw_history_view *history,
                          const aw_field_point *p)
{
    size_t lo = 0, hi = partition->n - 1;
    if (!has_left(partition, p, hi)) return partition->r[hi];
    while (hi - lo > 1) {
        size_t middle = lo + (hi - lo) / 2;
        if (has_left(partition, p, middle))
            hi = middle;
        else
            lo = middle;
    }
    double a = partition->r[lo], b = partition->r[hi], reach;
    for (int i = 0; i < 16; ++i) { /* to 1e-5 of a step: the moments vanish there */
        double middle = 0.5 * (a + b);
        if (lead(history, p, middle, &reach, NULL) > reach)
            b = middle;
        else
            a = middle;
    }
    return b;
}

size_t aw_partition_regions(const aw_partition *partition, const aw_history_view *history,
                            const aw_field_point *p, uint32_t index, aw_region *region)
{
    double limit = aw_partition_limit(partition, history, p);
    size_t n = 0;
    for (size_t i = 0; i + 1 < partition->n && partition->r[i] < limit; ++i) {
        aw_region *q = &region[n++];
        q->a = partition->r[i];
        q->b = fmin(partition->r[i + 1], limit);
        q->point = index;
        q->known = 0;
    }
    return n;
}
