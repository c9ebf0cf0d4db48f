/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/beam/columns.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "pic/particle/philox.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/beam/guard.h"

/* Spread of z, or of c t, over the larger of the two, below which it counts as none. */
#define SAME 1e-6
/* Stream of random numbers; a drawn beam has 0 and 1 (pic/particles.c). */
#define AW_THIN_STREAM 64
#define GIB 1073741824.0

/* Whether the machine has room for n particles. */
static aw_status check_room(size_t n, aw_columns *columns)
{
    const double need = (double)n * (AW_COLUMNS * sizeof(double) + sizeof(uint64_t));
    const char *limit = "";
    const double left = (double)aw_memory_left(&limit);
    if (need <= left) return AW_OK;
    return aw_columns_refuse(columns,
                             "%zu particles need %.4g GiB of memory, and %s leaves %.4g GiB "
                             "(expected fewer)",
                             n, need / GIB, limit, left / GIB);
}

aw_status aw_columns_new(size_t n, aw_columns *columns)
{
    if (check_room(n, columns) != AW_OK) return AW_ERR_INPUT;
    columns->n = n;
    for (int k = 0; k < AW_COLUMNS; ++k)
        if (!(columns->column[k] = aw_alloc(n, sizeof(double)))) return AW_ERR_NOMEM;
    return AW_OK;
}

aw_status aw_columns_new_shared(size_t n, aw_columns *columns)
{
    if (check_room(n, columns) != AW_OK) return AW_ERR_INPUT;
    columns->n = n;
    columns->shared_bytes = n * (AW_COLUMNS * sizeof(double) + sizeof(uint64_t));
    columns->shared = aw_guard_alloc(columns->shared_bytes);
    if (!columns->shared) return AW_ERR_NOMEM;
    for (int k = 0; k < AW_COLUMNS; ++k)
        columns->column[k] = (double *)columns->shared + (size_t)k * n;
    columns->id = (uint64_t *)columns->shared + AW_COLUMNS * n;
    return AW_OK;
}

void aw_columns_free(aw_columns *columns)
{
    for (int k = 0; k < AW_COLUMNS && !columns->shared; ++k) aw_free(columns->column[k]);
    if (!columns->shared) aw_free(columns->id);
    aw_guard_free(columns->shared, columns->shared_bytes);
    for (int k = 0; k < AW_COLUMNS; ++k) columns->column[k] = NULL;
    columns->id = NULL;
    columns->shared = NULL;
}

aw_status aw_columns_refuse(aw_columns *columns, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(columns->why, sizeof columns->why, format, list);
    va_end(list);
    aw_one_line(columns->why);
    return AW_ERR_INPUT;
}

static aw_status check_numbers(aw_columns *c)
{
    static const char *const name[AW_COLUMNS] = {"position x", "position y", "position z",
                                                 "momentum x", "momentum y", "momentum z",
                                                 "time",       "charge"};
    for (int k = 0; k < AW_COLUMNS; ++k)
        for (size_t i = 0; i < c->n; ++i)
            if (!isfinite(c->column[k][i]))
                return aw_columns_refuse(c,
                                         "%s of particle %zu is %g (expected a number; correct it, "
                                         "or leave the particle out)",
                                         name[k], i + 1, c->column[k][i]);
    for (size_t i = 0; i < c->n; ++i) {
        if (!(c->column[AW_COLUMN_PZ][i] > 0.0))
            return aw_columns_refuse(c,
                                     "particle %zu has p_z = %g eV/c (expected particles that move "
                                     "towards +z; leave it out)",
                                     i + 1, AW_ME_EV * c->column[AW_COLUMN_PZ][i]);
        if (!(c->column[AW_COLUMN_CHARGE][i] >= 0.0))
            return aw_columns_refuse(c,
                                     "particle %zu has the charge %g C (expected a magnitude of 0 "
                                     "or more)",
                                     i + 1, c->column[AW_COLUMN_CHARGE][i]);
    }
    return AW_OK;
}

void aw_columns_move(aw_columns *c, size_t from, size_t to)
{
    for (int k = 0; k < AW_COLUMNS; ++k) c->column[k][to] = c->column[k][from];
    if (c->id) c->id[to] = c->id[from];
}

void aw_columns_thin(aw_columns *c, size_t keep, uint64_t seed)
{
    double *charge = c->column[AW_COLUMN_CHARGE], all = 0.0, kept = 0.0, u[4];
    size_t n = 0;
    for (size_t i = 0; i < c->n; ++i) all += charge[i];
    for (size_t i = 0; i < c->n && n < keep; ++i) {
        aw_philox_units(seed, i, AW_THIN_STREAM, u);
        if (u[0] * (double)(c->n - i) < (double)(keep - n)) aw_columns_move(c, i, n++);
    }
    c->n = n;
    for (size_t i = 0; i < n; ++i) kept += charge[i];
    for (size_t i = 0; i < n && kept > 0.0; ++i) charge[i] *= all / kept;
}

/* Mean over the charge. */
static double mean_of(const double *value, const double *charge, size_t n)
{
    const double from = value[0];
    double sum = 0.0, all = 0.0;
    for (size_t i = 0; i < n; ++i) {
        sum += charge[i] * (value[i] - from);
        all += charge[i];
    }
    return from + sum / all;
}

static double spread_of(const double *value, size_t n)
{
    double low = value[0], high = value[0];
    for (size_t i = 1; i < n; ++i) {
        low = fmin(low, value[i]);
        high = fmax(high, value[i]);
    }
    return high - low;
}

/* Drift every particle to the mean time, if they are not at one time already. */
static aw_status drift(aw_columns *c)
{
    double *const *v = c->column, *t = v[AW_COLUMN_T];
    const double dz = spread_of(v[AW_COLUMN_Z], c->n), dt = AW_C * spread_of(t, c->n);
    if (dt <= SAME * dz) return AW_OK;
    if (!(dz <= SAME * dt))
        return aw_columns_refuse(
            c,
            "the particles are neither at one place nor at one time: z spreads "
            "over %.3g m and c t over %.3g m (expected one of the two to be "
            "the same for all)",
            dz, dt);
    const double at = mean_of(t, v[AW_COLUMN_CHARGE], c->n);
    for (size_t i = 0; i < c->n; ++i) {
        const double px = v[AW_COLUMN_PX][i], py = v[AW_COLUMN_PY][i], pz = v[AW_COLUMN_PZ][i];
        const double way = AW_C * (at - t[i]) / sqrt(1.0 + px * px + py * py + pz * pz);
        v[AW_COLUMN_X][i] += px * way;
        v[AW_COLUMN_Y][i] += py * way;
        v[AW_COLUMN_Z][i] += pz * way;
        t[i] = at;
    }
    return AW_OK;
}

static int all_equal(const double *value, size_t n)
{
    for (size_t i = 1; i < n; ++i)
        if (value[i] != value[0]) return 0;
    return 1;
}

static int all_zero(const double *value, size_t n)
{
    return value[0] == 0.0 && all_equal(value, n);
}

/* Charges: the mean, and each over it. */
static aw_status put_charges(aw_columns *c, double wanted, aw_particles *p)
{
    const double *charge = c->column[AW_COLUMN_CHARGE];
    double all = 0.0;
    for (size_t i = 0; i < c->n; ++i) all += charge[i];
    if (wanted == 0.0 && c->without_charge)
        return aw_columns_refuse(c, "has no charges (expected beam.charge_C)");
    if (!(all > 0.0)) return aw_columns_refuse(c, "the particles have no charge (expected > 0)");
    p->charge = (wanted > 0.0 ? wanted : all) / (double)c->n;
    if (all_equal(charge, c->n)) {
        if (!(wanted > 0.0)) p->charge = charge[0];
        return AW_OK;
    }
    if (aw_particles_extend(p, AW_WITH_WEIGHT) != AW_OK) return AW_ERR_NOMEM;
    const double mean = all / (double)c->n;
    for (size_t i = 0; i < c->n; ++i) p->weight[i] = charge[i] / mean;
    return AW_OK;
}

static void put_coordinates(const aw_columns *c, aw_particles *p)
{
    double *const *v = c->column;
    const double centre =
        c->from_reference ? 0.0 : mean_of(v[AW_COLUMN_Z], v[AW_COLUMN_CHARGE], c->n);
    for (size_t i = 0; i < c->n; ++i) {
        const double px = v[AW_COLUMN_PX][i], pz = v[AW_COLUMN_PZ][i];
        p->s0[i] = p->z[i] = v[AW_COLUMN_Z][i] - centre;
        p->x0[i] = p->x[i] = v[AW_COLUMN_X][i];
        p->px[i] = px;
        p->pz[i] = pz;
        p->gamma0[i] = sqrt(1.0 + (pz * pz + px * px));
        if (p->y) {
            p->y[i] = v[AW_COLUMN_Y][i];
            p->py[i] = v[AW_COLUMN_PY][i];
            p->p0[i] = sqrt(pz * pz + px * px);
        }
        if (p->id) p->id[i] = c->id[i];
    }
}

aw_status aw_columns_at_one_time(aw_columns *c)
{
    aw_status status = AW_OK;
    if (c->n < 2) return aw_columns_refuse(c, "has %zu live particles (expected 2 or more)", c->n);
    AW_TRY(check_numbers(c));
    AW_TRY(drift(c));
done:
    return status;
}

aw_status aw_columns_particles(aw_columns *c, double charge, aw_particles **out)
{
    const double *y = c->column[AW_COLUMN_Y], *py = c->column[AW_COLUMN_PY];
    aw_particles *p = NULL;
    aw_status status = AW_OK;
    *out = NULL;
    const int sheet = all_zero(y, c->n) && all_zero(py, c->n);
    AW_TRY(aw_particles_new(c->n, 0.0, &p));
    p->all = c->n;
    AW_TRY(aw_particles_extend(p, (sheet ? 0 : AW_WITH_HEIGHT) | (c->id ? AW_WITH_ID : 0)));
    AW_TRY(put_charges(c, charge, p));
    put_coordinates(c, p);
    *out = p;
    p = NULL;
done:
    aw_particles_free(p);
    return status;
}
