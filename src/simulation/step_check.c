/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/simulation/step_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/input/config.h"

/* Steps in a row over the limit before steps are halved, and under it before they are doubled. */
enum { OVER = 3, UNDER = 8 };
/* A step of twice the length errs by 8 times as much; it has to be within half the limit. */
#define AW_UNDER (1.0 / 16.0)

/* A step that errs too much, as those before it, and stays as it is. */
static void note_worst(aw_step_check *c, double ct, double step, double limit)
{
    if (!(c->error > c->worst * limit)) return;
    c->worst = c->error / limit;
    c->worst_ct = ct;
    c->worst_step = step;
    c->worst_halved = c->full ? 0 : c->halved;
}

static void judge(aw_step_check *c, double ct, double step, double limit)
{
    double square = 0.0;
    for (int j = 0; j < AW_CHECK_FORCES; ++j) {
        double bend = 0.0, span = 0.0;
        for (int k = 0; k < AW_CHECK_WINDOW; ++k) {
            bend += c->bend[k][j];
            span += c->span[k];
        }
        square += bend / span * (bend / span);
    }
    c->error = sqrt(square) * step * step * step / 12.0;
    c->over = c->error > limit ? c->over + 1 : 0;
    c->under = c->error < AW_UNDER * limit ? c->under + 1 : 0;
    const int last = c->full || c->halved == AW_CHECK_HALVINGS;
    if (c->over >= OVER && last) note_worst(c, ct, step, limit);
    if (c->over >= OVER && !last)
        c->halved++;
    else if (c->under >= UNDER && c->halved > 0)
        c->halved--;
    else
        return;
    c->over = c->under = c->seen = 0;
}

int aw_step_check_text(const aw_step_check *c, double beta, double step_scale, char *text,
                       size_t size)
{
    const double shorter = 1.0 / sqrt(c->worst);
    const double scale = step_scale * exp2(-c->worst_halved) * shorter;
    char remedy[64];
    if (!(c->worst > 0.0)) return 0;
    if (scale >= AW_STEP_SCALE_LEAST)
        snprintf(remedy, sizeof remedy, "numerics.step_scale: %.2g", scale);
    else
        snprintf(remedy, sizeof remedy, "numerics.step_m: %.2g", c->worst_step * shorter);
    snprintf(text, size,
             "steps of %.3g m could not be made short enough at S = %.4g m: the force changes so "
             "fast there that they err by %.2g times their share (use %s)",
             c->worst_step, beta * c->worst_ct, c->worst, remedy);
    return 1;
}

void aw_step_check_add(aw_step_check *c, double ct, const double F[AW_CHECK_FORCES], double limit)
{
    if (c->n == 2) {
        const double step = ct - c->ct[0], before = c->ct[0] - c->ct[1];
        const int at = c->seen % AW_CHECK_WINDOW;
        for (int j = 0; j < AW_CHECK_FORCES; ++j) /* found, less predicted from the last two */
            c->bend[at][j] = (F[j] - c->F[0][j]) / step - (c->F[0][j] - c->F[1][j]) / before;
        c->span[at] = 0.5 * (step + before);
        c->seen++;
        c->error = 0.0;
        if (c->seen >= AW_CHECK_WINDOW && limit > 0.0) judge(c, ct, step, limit);
    }
    c->ct[1] = c->ct[0];
    memcpy(c->F[1], c->F[0], sizeof c->F[1]);
    c->ct[0] = ct;
    memcpy(c->F[0], F, sizeof c->F[0]);
    if (c->n < 2) c->n++;
}

void aw_step_check_force(const double *charge, const double *force, const size_t size[2], int along,
                         double out[AW_CHECK_FORCES])
{
    double m[3] = {0.0};
    for (int j = 0; j < AW_CHECK_FORCES; ++j) out[j] = 0.0;
    for (size_t i = 0; i < size[0] * size[1]; ++i) {
        const double u = (double)(along ? i % size[0] : i / size[0]);
        m[0] += charge[i];
        m[1] += charge[i] * u;
        m[2] += charge[i] * u * u;
    }
    const double mean = m[1] / m[0], variance = m[2] / m[0] - mean * mean;
    if (!(m[0] > 0.0) || !(variance > 0.0)) return;
    for (size_t i = 0; i < size[0] * size[1]; ++i) {
        const double u = (double)(along ? i % size[0] : i / size[0]);
        const double v = (u - mean) / sqrt(variance), weight = charge[i] / m[0] * force[i];
        double before = 0.0, here = 1.0; /* orthonormal, as all of the polynomials */
        for (int j = 0; j < AW_CHECK_FORCES; ++j) {
            const double next = (v * here - sqrt((double)j) * before) / sqrt(j + 1.0);
            out[j] += weight * here;
            before = here;
            here = next;
        }
    }
}
