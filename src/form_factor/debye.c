/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/form_factor/debye.h"

#include <gsl/gsl_integration.h>
#include <math.h>

#include "kernels/multi/devices.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"

/* Pairs that a device gets at a time. */
enum { PAIRS = 1 << 17 };

/* A list of pairs of particles, from which distances are made part by part. */
typedef struct pairs {
    const aw_debye_task *task;
    double charge;    /* sum of the charges */
    size_t row, next; /* of the next pair: its first particle, and its second */
} pairs;

static double charge_of(const aw_debye_task *t, size_t j)
{
    return t->particles.charge ? t->particles.charge[j] : 1.0;
}

/* Distances of particle i from n others, and their weights. Particles at one place have no
 * distance: sin(k r) / (k r) is one, which a distance of so small a phase stands for. */
static void distances(const pairs *p, size_t i, size_t n, double *r, double *weight)
{
    const aw_form_arrays *a = &p->task->particles;
    const double far = p->task->radii.first + p->task->radii.step * (double)p->task->radii.n;
    const double least = 1e-5 / far, scale = charge_of(p->task, i) / (p->charge * p->charge);
    const double *at[3] = {a->at[0] ? a->at[0] + p->next : NULL,
                           a->at[1] ? a->at[1] + p->next : NULL,
                           a->at[2] ? a->at[2] + p->next : NULL};
    for (size_t j = 0; j < n; ++j) r[j] = least * least;
    for (int c = 0; c < 3; ++c) {
        if (!at[c]) continue;
        const double here = a->at[c][i], *other = at[c];
#pragma omp simd
        for (size_t j = 0; j < n; ++j) r[j] += (other[j] - here) * (other[j] - here);
    }
#pragma omp simd
    for (size_t j = 0; j < n; ++j) {
        r[j] = sqrt(r[j]);
        weight[j] = scale / r[j];
    }
    for (size_t j = 0; a->charge && j < n; ++j) weight[j] *= a->charge[p->next + j];
}

/* The next pairs, at most PAIRS. @return their number */
static size_t next_pairs(pairs *p, double *r, double *weight)
{
    const size_t n = p->task->n;
    size_t done = 0;
    while (done < PAIRS && p->row + 1 < n) {
        const size_t left = n - p->next, room = PAIRS - done, take = left < room ? left : room;
        distances(p, p->row, take, r + done, weight + done);
        done += take;
        p->next += take;
        if (p->next < n) continue;
        p->row++;
        p->next = p->row + 1;
    }
    return done;
}

/* Check the numbers, and add up the charges and their squares. */
static aw_status check(const aw_debye_task *t, double *charge, double *squares)
{
    *charge = *squares = 0.0;
    if (t->n == 0) return aw_error(AW_ERR_ARG, "form factor: there are no particles");
    if (t->radii.n == 0 || !(t->radii.first >= 0.0) || !(t->radii.step >= 0.0) ||
        !isfinite(t->radii.first + t->radii.step * (double)t->radii.n))
        return aw_error(AW_ERR_ARG, "form factor: the range of k is empty, negative or not finite");
    for (size_t j = 0; j < t->n; ++j) {
        double sum = charge_of(t, j);
        *charge += sum;
        *squares += sum * sum;
        for (int c = 0; c < 3; ++c) sum += t->particles.at[c] ? t->particles.at[c][j] : 0.0;
        if (!isfinite(sum))
            return aw_error(AW_ERR_ARG, "form factor: particle %zu is not finite (remove it)",
                            j + 1);
    }
    if (!(fabs(*charge) > 0.0))
        return aw_error(AW_ERR_ARG, "form factor: the charges of the particles add up to zero");
    return AW_OK;
}

/* Imaginary parts of the sums over all pairs, sum over i < j of q_i q_j sin(k r) / r / Q^2. */
static aw_status sum_pairs(const aw_debye_task *t, double charge, const aw_wave_pairs *waves,
                           double *sum)
{
    double *zero = aw_alloc(PAIRS, sizeof *zero), *r = aw_alloc(PAIRS, sizeof *r);
    double *weight = aw_alloc(PAIRS, sizeof *weight);
    pairs p = {.task = t, .charge = charge, .next = 1};
    aw_form_call call = {.at = {zero, zero, r},
                         .weight = weight,
                         .outer = waves->outer,
                         .inner = waves->inner,
                         .outers = waves->outers,
                         .inners = waves->inners,
                         .single = t->options.single,
                         .sum = sum};
    aw_status status = AW_OK;
    AW_TRY(zero && r && weight ? AW_OK : AW_ERR_NOMEM);
    while ((call.particles = next_pairs(&p, r, weight)) > 0)
        AW_TRY(aw_multi_form_sum(t->device, &call));
done:
    aw_free(zero);
    aw_free(r);
    aw_free(weight);
    return status;
}

aw_status aw_debye(const aw_debye_task *t, double *mean)
{
    const aw_waves waves = {.n = {1, 1, t->radii.n},
                            .origin = {0.0, 0.0, t->radii.first},
                            .step = {{0.0}, {0.0}, {0.0, 0.0, t->radii.step}}};
    aw_wave_pairs pairs_of = {.outers = 0};
    double charge, squares, *sum = NULL;
    aw_status status = AW_OK;
    AW_TRY(check(t, &charge, &squares));
    AW_TRY(aw_wave_pairs_new(&waves, &pairs_of));
    sum = aw_alloc(pairs_of.outers * pairs_of.inners, 4 * sizeof *sum);
    AW_TRY(sum ? AW_OK : AW_ERR_NOMEM);
    AW_TRY(sum_pairs(t, charge, &pairs_of, sum));
    for (size_t i = 0; i < pairs_of.outers * pairs_of.inners; ++i) {
        size_t index[2];
        aw_wave_pairs_index(&waves, &pairs_of, i / pairs_of.inners, i % pairs_of.inners, index);
        for (int side = 0; side < 2; ++side) {
            if (index[side] == SIZE_MAX) continue;
            const double k = t->radii.first + t->radii.step * (double)index[side];
            mean[index[side]] =
                k > 0.0 ? squares / charge / charge + 2.0 * sum[4 * i + 2 * (size_t)side + 1] / k
                        : 1.0;
        }
    }
done:
    aw_wave_pairs_free(&pairs_of);
    aw_free(sum);
    return status;
}

int aw_debye_order(const aw_debye_task *t)
{
    const double far = t->radii.first + t->radii.step * (double)t->radii.n;
    double reach = 0.0;
    for (size_t j = 0; j < t->n; ++j) {
        double square = 0.0;
        for (int c = 0; c < 3; ++c)
            if (t->particles.at[c]) square += t->particles.at[c][j] * t->particles.at[c][j];
        reach = fmax(reach, square);
    }
    const double order = 12.0 + 1.1 * far * sqrt(reach);
    return order <= AW_DEBYE_ORDER ? (int)order : 0;
}

/* |F|^2 along one direction of k, times a weight, into the means. */
static aw_status add_direction(const aw_debye_task *t, const double to[3], double weight,
                               double (*F)[2], double *mean)
{
    const aw_form_source source = aw_form_source_of(&t->particles, t->n);
    const aw_form_sink sink = aw_form_sink_of(F);
    aw_waves waves = {.n = {1, 1, t->radii.n}};
    aw_form_bunch bunch;
    for (int c = 0; c < 3; ++c) {
        waves.origin[c] = t->radii.first * to[c];
        waves.step[2][c] = t->radii.step * to[c];
    }
    aw_status status = aw_form_factor(t->device, &source, &waves, &t->options, &sink, &bunch);
    for (size_t i = 0; status == AW_OK && i < t->radii.n; ++i)
        mean[i] += weight * (F[i][0] * F[i][0] + F[i][1] * F[i][1]);
    return status;
}

aw_status aw_debye_directions(const aw_debye_task *t, int order, double *mean)
{
    double charge, squares, (*F)[2] = NULL;
    gsl_integration_glfixed_table *gauss = NULL;
    aw_status status = AW_OK;
    AW_TRY(check(t, &charge, &squares));
    if (order < 1 || order > AW_DEBYE_ORDER)
        return aw_error(AW_ERR_ARG,
                        "form factor: k times the size of the bunch asks for a rule of more than "
                        "%d directions from pole to pole (take smaller k, or the sum over pairs)",
                        (int)AW_DEBYE_ORDER);
    F = aw_alloc(t->radii.n, sizeof *F);
    gauss = gsl_integration_glfixed_table_alloc((size_t)order);
    AW_TRY(F && gauss ? AW_OK : AW_ERR_NOMEM);
    for (size_t i = 0; i < t->radii.n; ++i) mean[i] = 0.0;
    for (int i = 0; i < order; ++i) {
        double z, weight;
        gsl_integration_glfixed_point(-1.0, 1.0, (size_t)i, &z, &weight, gauss);
        const double across = sqrt(1.0 - z * z);
        for (int m = 0; m < order; ++m) { /* |F|^2 is the same in the opposite direction */
            const double turn = AW_PI * (m + 0.5) / order;
            const double to[3] = {across * cos(turn), across * sin(turn), z};
            AW_TRY(add_direction(t, to, 0.5 * weight / order, F, mean));
        }
    }
done:
    if (gauss) gsl_integration_glfixed_table_free(gauss);
    aw_free(F);
    return status;
}
