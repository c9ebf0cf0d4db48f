/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lattice of waves is a transform of type 1: k = centre + sum_a m_a step_a with whole m_a, so
 * that F is the transform at m of the coordinates step_a.r with the strengths q exp(i centre.r). */
#include <complex.h>
#include <math.h>
#include <stdint.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"

#undef I /* a member elsewhere */
#include "src/form_factor/fast.h"

/* The library's interface, the same in all versions from 2.0 on; its Python package brings no
 * header. `options` NULL: the defaults. The first axis is the fastest. */
typedef double complex number;
int finufft1d1(int64_t n, double *x, number *c, int sign, double tolerance, int64_t n1, number *f,
               void *options);
int finufft2d1(int64_t n, double *x, double *y, number *c, int sign, double tolerance, int64_t n1,
               int64_t n2, number *f, void *options);
int finufft3d1(int64_t n, double *x, double *y, double *z, number *c, int sign, double tolerance,
               int64_t n1, int64_t n2, int64_t n3, number *f, void *options);

int aw_form_is_fast(void) { return 1; }

/* Particles in memory, and what the library gets of them. All [n], owned. */
typedef struct points {
    double *at[3], *charge, *x[3];
    number *c;
} points;

static aw_status allocate(size_t n, points *p)
{
    p->charge = aw_alloc(n, sizeof *p->charge);
    p->c = aw_alloc(n, sizeof *p->c);
    int found = p->charge && p->c;
    for (int i = 0; i < 3; ++i) {
        p->at[i] = aw_alloc(n, sizeof **p->at);
        p->x[i] = aw_alloc(n, sizeof **p->x);
        found = found && p->at[i] && p->x[i];
    }
    return found ? AW_OK : AW_ERR_NOMEM;
}

static void release(points *p)
{
    for (int i = 0; i < 3; ++i) {
        aw_free(p->at[i]);
        aw_free(p->x[i]);
    }
    aw_free(p->charge);
    aw_free(p->c);
}

/* Coordinates within half a turn, and strengths. @return 0: one is not finite */
static int fill(const aw_waves *w, size_t n, points *p, aw_form_bunch *bunch)
{
    double sum = 0.0, charge = 0.0, squares = 0.0;
    for (size_t j = 0; j < n; ++j) {
        double phase = 0.0;
        for (int k = 0; k < 3; ++k) phase += w->origin[k] * p->at[k][j];
        for (int a = 0; a < 3; ++a) {
            double x = 0.0;
            for (int k = 0; k < 3; ++k) x += w->step[a][k] * p->at[k][j];
            x = remainder(x, 2.0 * AW_PI);
            p->x[a][j] = x;
            const size_t middle = w->from[a] + w->n[a] / 2;
            phase += (double)middle * x; /* a whole number of turns less */
        }
        p->c[j] = p->charge[j] * (cos(phase) + _Complex_I * sin(phase));
        charge += p->charge[j];
        squares += p->charge[j] * p->charge[j];
        sum += phase;
    }
    *bunch = (aw_form_bunch){charge, squares / charge / charge};
    return isfinite(sum) && isfinite(charge) && fabs(charge) > 0.0;
}

static int transform(const aw_waves *w, size_t particles, double tolerance, points *p, number *f)
{
    const int64_t n = (int64_t)particles;
    const int64_t n0 = (int64_t)w->n[0], n1 = (int64_t)w->n[1], n2 = (int64_t)w->n[2];
    if (n0 > 1)
        return finufft3d1(n, p->x[2], p->x[1], p->x[0], p->c, 1, tolerance, n2, n1, n0, f, NULL);
    if (n1 > 1) return finufft2d1(n, p->x[2], p->x[1], p->c, 1, tolerance, n2, n1, f, NULL);
    return finufft1d1(n, p->x[2], p->c, 1, tolerance, n2, f, NULL);
}

aw_status aw_form_factor_fast(const aw_form_source *source, const aw_waves *waves, double tolerance,
                              double (*F)[2], aw_form_bunch *bunch)
{
    points p = {.c = NULL};
    number *f = NULL;
    const size_t count = aw_waves_count(waves);
    aw_status status = AW_OK;
    AW_TRY(aw_waves_check(waves));
    if (waves->list)
        return aw_error(AW_ERR_ARG, "form factor: FINUFFT takes lattices of waves, not lists (use "
                                    "the direct sum)");
    f = aw_alloc(count, sizeof *f);
    AW_TRY(f ? allocate(source->n, &p) : AW_ERR_NOMEM);
    AW_TRY(source->read(source->context, 0, source->n, p.at, p.charge));
    if (source->n == 0 || !fill(waves, source->n, &p, bunch))
        AW_TRY(aw_error(AW_ERR_ARG, "form factor: there are no particles, their charges add up to "
                                    "zero, or one of them is not finite"));
    const int code = transform(waves, source->n, tolerance, &p, f);
    if (code > 1) /* 1: the tolerance is out of reach, and it does its best */
        AW_TRY(aw_error(AW_ERR_BACKEND,
                        "form factor: FINUFFT failed with code %d (use the direct "
                        "sum)",
                        code));
    for (size_t i = 0; i < count; ++i) {
        F[i][0] = creal(f[i]) / bunch->charge;
        F[i][1] = cimag(f[i]) / bunch->charge;
    }
done:
    aw_free(f);
    release(&p);
    return status;
}
