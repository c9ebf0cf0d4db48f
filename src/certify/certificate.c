/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/certify/certificate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/certify/curve.h"
#include "src/io/json.h"

/* Half the width of the window of places that an estimate looks at, over the length of the run; and
 * how near the next places are to be that it looks at anyway. */
#define WINDOW 0.03
#define NEXT 0.1

/* PROMISED: `accuracy` is the error of this one (docs/accuracy.md). */
enum { CHANGES_ENERGY = 1, CHANGES_EMITTANCE = 2, ALWAYS = 4, PROMISED = 8 };

/* A quantity: a column of monitor.csv. */
static const struct quantity {
    const char *name, *unit;
    int kind; /* which motions have it, and PROMISED */
    int peak; /* 1: the result is the largest of the run, not that of the last step */
} known[] = {
    {"energy_change_mean_eV", "eV", CHANGES_ENERGY | PROMISED, 0},
    {"energy_change_rms_eV", "eV", CHANGES_ENERGY | PROMISED, 0},
    {"isr_loss_mean_eV", "eV", CHANGES_ENERGY, 0}, /* of runs that have them: */
    {"isr_rms_eV", "eV", CHANGES_ENERGY, 0},
    {"wake_loss_mean_eV", "eV", CHANGES_ENERGY, 0},
    {"emittance_x_m", "m", CHANGES_EMITTANCE | PROMISED, 0},
    {"emittance_x_dispersion_free_m", "m", CHANGES_EMITTANCE, 0},
    {"sigma_s_m", "m", ALWAYS, 0},
    {"sigma_x_m", "m", ALWAYS, 0},
    {"current_peak_A", "A", ALWAYS, 0},
    {"F_s_mean_eV_per_m", "eV/m", ALWAYS, 0},
    {"F_x_mean_eV_per_m", "eV/m", ALWAYS, 0},
    {"F_s_peak_eV_per_m", "eV/m", ALWAYS, 1},
    {"F_x_peak_eV_per_m", "eV/m", ALWAYS, 1},
};
enum { KNOWN = sizeof known / sizeof known[0] };
_Static_assert((int)KNOWN <= (int)AW_CERTIFIED_MAX, "a certificate has room for all quantities");

/* Which quantities a motion changes. */
static int kinds_of(aw_motion motion)
{
    switch (motion) {
    case AW_MOTION_RIGID: return ALWAYS;
    case AW_MOTION_EXTERNAL: return ALWAYS | CHANGES_EMITTANCE;
    default: return ALWAYS | CHANGES_EMITTANCE | CHANGES_ENERGY;
    }
}

static double shrink_of(const aw_config *c)
{
    if (c->beam_at || !c->beam.quiet) return AW_SHRINK_RANDOM;
    return kinds_of(c->motion) & CHANGES_ENERGY ? AW_SHRINK_MOVED : AW_SHRINK_QUIET;
}

/* --------------------------------------------------------------------------------- one quantity */

/* What the estimates of one quantity are made of: the case's curve, and the neighbours' at the same
 * places. */
typedef struct material {
    const aw_neighbours *list;
    const struct quantity *q;
    /* As in the files, of peaks their magnitudes: a peak that jumps from a positive to a negative
     * one is as large. n = 0: missing. */
    aw_curve curve[AW_NEIGHBOURS_MAX];
    double *at[AW_NEIGHBOURS_MAX]; /* [n], owned: at the places of the case; NaN beyond the end */
    double *value;                 /* [n], owned: of the case, with its sign */
    size_t n;
    double scale, shrink; /* of aw_samples */
} material;

static void material_free(material *m)
{
    for (int i = 0; i < AW_NEIGHBOURS_MAX; ++i) {
        aw_curve_free(&m->curve[i]);
        aw_free(m->at[i]);
    }
    aw_free(m->value);
}

/* The case's curve with its signs, and magnitudes for the comparison of peaks. */
static aw_status keep_signs(material *m)
{
    m->n = m->curve[0].n;
    m->value = aw_alloc(m->n, sizeof(double));
    if (!m->value) return aw_error(AW_ERR_NOMEM, "out of memory");
    if (m->n > 0) memcpy(m->value, m->curve[0].f, m->n * sizeof(double));
    return AW_OK;
}

static aw_status material_make(material *m, const aw_series series[AW_NEIGHBOURS_MAX])
{
    aw_status status = AW_OK;
    for (size_t i = 0; i < m->list->n; ++i) {
        if (series[i].rows == 0) continue;
        AW_TRY(aw_curve_of(&series[i], m->q->name, &m->curve[i]));
        if (i == 0) AW_TRY(keep_signs(m));
        for (size_t k = 0; k < m->curve[i].n && m->q->peak; ++k)
            m->curve[i].f[k] = fabs(m->curve[i].f[k]);
        if (m->curve[i].n == 0) continue;
        if (!(m->at[i] = aw_alloc(m->n, sizeof(double))))
            AW_TRY(aw_error(AW_ERR_NOMEM, "out of memory"));
        for (size_t k = 0; k < m->n; ++k)
            m->at[i][k] = i > 0 ? aw_curve_at(&m->curve[i], m->curve[0].S[k]) : m->curve[0].f[k];
    }
    for (size_t k = 0; k < m->n; ++k) m->scale = fmax(m->scale, fabs(m->curve[0].f[k]));
done:
    return status;
}

/* Subtract the curves of the same runs of another case. */
static aw_status material_subtract(material *m, const char *minus,
                                   const aw_series other[AW_NEIGHBOURS_MAX])
{
    aw_status status = AW_OK;
    aw_curve curve = {.n = 0};
    for (size_t i = 0; i < m->list->n; ++i) {
        if (!m->at[i]) continue;
        if (other[i].rows == 0) { /* it lacks this run */
            aw_free(m->at[i]);
            m->at[i] = NULL;
            continue;
        }
        AW_TRY(aw_curve_of(&other[i], m->q->name, &curve));
        for (size_t k = 0; k < m->n && curve.n > 0; ++k)
            m->at[i][k] -= aw_curve_at(&curve, m->curve[0].S[k]);
        if (i == 0) memcpy(m->value, m->at[0], m->n * sizeof(double));
        aw_curve_free(&curve);
    }
    if (m->n > 0 && !isfinite(m->value[m->n - 1]))
        status = aw_error(AW_ERR_INPUT,
                          "--minus: the run in %s has no %s at S = %.6g m, where this one ends "
                          "(expected a case along the same machine)",
                          minus, m->q->name, m->curve[0].S[m->n - 1]);
done:
    aw_curve_free(&curve);
    return status;
}

static int is_of(const material *m, size_t i, aw_source source)
{
    return i > 0 && m->list->run[i].source == source && m->at[i];
}

/* The estimate of a source from the values of its runs at the rows from `begin`. */
static aw_estimate estimate(const material *m, aw_source source, size_t begin, size_t rows,
                            size_t at)
{
    double *const *value = m->at;
    aw_levels levels = {.rows = rows, .at = at, .scale = m->scale};
    aw_samples samples = {
        .main = value[0] + begin, .rows = rows, .shrink = m->shrink, .scale = m->scale};
    levels.order = source == AW_SOURCE_GRID ? AW_ORDER_GRID : AW_ORDER_STEP;
    levels.f[0] = samples.main;
    levels.h[0] = 1.0;
    for (size_t i = 1; i < m->list->n; ++i) {
        const aw_neighbour *run = &m->list->run[i];
        if (!is_of(m, i, source)) continue;
        if (source == AW_SOURCE_QUADRATURE)
            return aw_estimate_tolerance(samples.main, value[i] + begin, rows, m->scale);
        if (source == AW_SOURCE_NOISE) {
            samples.f[run->level - 1] = value[i] + begin;
            continue;
        }
        if (aw_is_finer(run)) {
            levels.finer = value[i] + begin;
            levels.h_finer = run->ratio;
            continue;
        }
        levels.f[run->level] = value[i] + begin;
        levels.h[run->level] = run->ratio;
    }
    if (source == AW_SOURCE_NOISE) return aw_estimate_noise(&samples);
    if (source == AW_SOURCE_QUADRATURE) return (aw_estimate){.U = NAN, .order = NAN};
    return aw_estimate_levels(&levels);
}

/* Rows that all runs of a source reach, from the first. */
static size_t reached(const material *m, aw_source source)
{
    size_t n = m->n;
    for (size_t i = 1; i < m->list->n; ++i)
        for (size_t k = 0; k < n && is_of(m, i, source); ++k)
            if (!isfinite(m->at[i][k])) n = k;
    return n;
}

/* The estimate at row k, from the rows near it; behind the last row that all runs reach, the one
 * there. */
static aw_estimate estimate_at(const material *m, aw_source source, size_t end, size_t k)
{
    const double *S = m->curve[0].S, length = S[m->n - 1] - S[0];
    if (end == 0) return (aw_estimate){.U = NAN, .order = NAN};
    if (k >= end) k = end - 1;
    size_t low = k, high = k + 1;
    while (low > 0 && S[k] - S[low - 1] <= (low == k ? NEXT : WINDOW) * length) --low;
    while (high < end && S[high] - S[k] <= (high == k + 1 ? NEXT : WINDOW) * length) ++high;
    return estimate(m, source, low, high - low, k - low);
}

static void sum_up(aw_bar *bar)
{
    double U[AW_SOURCES];
    for (int s = 0; s < AW_SOURCES; ++s) U[s] = bar->part[s].U;
    bar->U = aw_estimate_sum(U, AW_SOURCES);
}

/* The largest value of the run, with the bar of the row that is nearest. */
static void peak_result(const material *m, const aw_bar *curve, aw_bar *bar)
{
    size_t largest = 0;
    for (size_t k = 1; k < m->n; ++k)
        if (fabs(m->value[k]) > fabs(m->value[largest])) largest = k;
    *bar = curve[largest];
    bar->value = copysign(aw_curve_peak(&m->curve[0], &bar->S), bar->value);
}

static aw_status certify(const material *m, aw_certified *out)
{
    size_t end[AW_SOURCES];
    *out = (aw_certified){.name = m->q->name,
                          .unit = m->q->unit,
                          .promised = (m->q->kind & PROMISED) != 0,
                          .n = m->n};
    out->curve = aw_alloc(m->n, sizeof *out->curve);
    if (!out->curve) return aw_error(AW_ERR_NOMEM, "out of memory");
    for (int s = 0; s < AW_SOURCES; ++s) end[s] = reached(m, (aw_source)s);
    for (size_t k = 0; k < m->n; ++k) {
        aw_bar *bar = &out->curve[k];
        bar->S = m->curve[0].S[k];
        bar->value = m->value[k];
        for (int s = 0; s < AW_SOURCES; ++s) bar->part[s] = estimate_at(m, (aw_source)s, end[s], k);
        sum_up(bar);
    }
    out->result = out->curve[m->n - 1];
    if (m->q->peak) peak_result(m, out->curve, &out->result);
    return AW_OK;
}

/* ------------------------------------------------------------------------------------------ all */

static aw_status read_runs(const aw_neighbours *list, aw_series series[AW_NEIGHBOURS_MAX],
                           aw_certificate *out)
{
    char path[AW_PATH_MAX_LEN + 64];
    for (size_t i = 0; i < list->n; ++i) {
        const aw_neighbour *run = &list->run[i];
        if (!run->done) {
            const size_t used = strlen(out->missing);
            snprintf(out->missing + used, sizeof out->missing - used, "%s%s", used ? " " : "",
                     run->name);
            continue;
        }
        snprintf(path, sizeof path, "%s/monitor.csv", run->directory);
        const aw_status status = aw_series_read(path, &series[i]);
        if (status != AW_OK) return status;
    }
    return AW_OK;
}

/* Read the runs of another case, those that this one has; it may lack finer ones. */
static aw_status read_others(const aw_neighbours *list, const char *directory,
                             aw_series series[AW_NEIGHBOURS_MAX])
{
    char path[AW_PATH_MAX_LEN + 64];
    for (size_t i = 0; i < list->n; ++i) {
        const aw_neighbour *run = &list->run[i];
        if (!run->done) continue;
        snprintf(path, sizeof path, "%s/%s%smonitor.csv", directory, run->name,
                 run->name[0] ? "/" : "");
        if (access(path, R_OK) != 0 && aw_is_finer(run)) continue;
        if (access(path, R_OK) != 0)
            return aw_error(AW_ERR_INPUT,
                            "--minus: there is no %s (expected a directory of `arcwake certify`, "
                            "with all its runs)",
                            path);
        const aw_status status = aw_series_read(path, &series[i]);
        if (status != AW_OK) return status;
    }
    return AW_OK;
}

aw_status aw_certificate_make(const aw_neighbours *list, const aw_config *config, const char *minus,
                              aw_certificate *out)
{
    aw_status status = AW_OK;
    aw_series series[AW_NEIGHBOURS_MAX] = {{0}}, other[AW_NEIGHBOURS_MAX] = {{0}};
    const int kinds = kinds_of(config->motion);
    memset(out, 0, sizeof *out);
    AW_TRY(read_runs(list, series, out));
    if (minus) AW_TRY(read_others(list, minus, other));
    for (int i = 0; i < KNOWN; ++i) {
        material m = {.list = list, .q = &known[i], .shrink = shrink_of(config)};
        if (!(known[i].kind & kinds) || (minus && known[i].peak)) continue;
        status = material_make(&m, series);
        if (status == AW_OK && minus) status = material_subtract(&m, minus, other);
        if (status == AW_OK && m.scale > 0.0) {
            out->n++; /* so that it is freed */
            status = certify(&m, &out->quantity[out->n - 1]);
        }
        material_free(&m);
        AW_TRY(status);
    }
done:
    for (int i = 0; i < AW_NEIGHBOURS_MAX; ++i) {
        aw_series_free(&series[i]);
        aw_series_free(&other[i]);
    }
    if (status != AW_OK) aw_certificate_free(out);
    return status;
}

int aw_certificate_is_wide(const aw_certificate *c, aw_source source, double accuracy)
{
    for (size_t i = 0; i < c->n; ++i) {
        const aw_bar *bar = &c->quantity[i].result;
        const double most = AW_WIDE * accuracy * fabs(bar->value);
        if (c->quantity[i].promised && bar->part[source].U > most) return 1;
    }
    return 0;
}

void aw_certificate_free(aw_certificate *c)
{
    for (size_t i = 0; i < c->n; ++i) aw_free(c->quantity[i].curve);
    c->n = 0;
}

/* --------------------------------------------------------------------------------------- output */

static int is_asymptotic(const aw_bar *bar)
{
    return bar->part[AW_SOURCE_GRID].asymptotic && bar->part[AW_SOURCE_STEP].asymptotic;
}

enum { WORD = 16 };

/* A number, or "-". */
static const char *word(char text[WORD], const char *format, double value)
{
    if (isfinite(value))
        snprintf(text, WORD, format, value);
    else
        snprintf(text, WORD, "-");
    return text;
}

static void print_bar(const aw_certified *q)
{
    const aw_bar *bar = &q->result;
    char w[8][WORD];
    for (int s = 0; s < AW_SOURCES; ++s)
        word(w[s], "%.2g", bar->part[s].rounding ? NAN : bar->part[s].U);
    word(w[4], "%.2f", bar->part[AW_SOURCE_GRID].order);
    word(w[5], "%.2f", bar->part[AW_SOURCE_STEP].order);
    word(w[6], "%.2g", bar->U);
    word(w[7], "%.2g", 100.0 * bar->U / fabs(bar->value));
    aw_info("%-30s%13.6g%9s%8s%9s%9s%9s%9s%6s%6s  %s", q->name, bar->value, w[6], w[7], w[0], w[1],
            w[2], w[3], w[4], w[5], is_asymptotic(bar) ? "yes" : "no");
}

void aw_certificate_print(const aw_certificate *c)
{
    int rounding = 0;
    aw_info("%-30s%13s%9s%8s%9s%9s%9s%9s%6s%6s  %s", "result, with its bar for 95 %", "value",
            "+-U", "%", "grid", "step", "noise", "toler.", "p", "p", "asym-");
    aw_info("%-30s%13s%9s%8s%9s%9s%9s%9s%6s%6s  %s", "", "", "", "", "", "", "", "", "grid", "step",
            "ptotic");
    for (size_t i = 0; i < c->n; ++i) {
        print_bar(&c->quantity[i]);
        for (int s = 0; s < AW_SOURCES; ++s) rounding |= c->quantity[i].result.part[s].rounding;
    }
    if (rounding)
        aw_info("-: differences are rounding, below %g of the largest value; or not known",
                AW_ROUNDING);
    aw_info("forces at their peak: the largest of the run; all else at the last step");
    if (c->missing[0]) aw_info("missing: %s", c->missing);
}

static void put_parts(aw_json *json, const aw_bar *bar)
{
    char key[32];
    aw_json_number(json, "U", bar->U, 6);
    for (int s = 0; s < AW_SOURCES; ++s) {
        snprintf(key, sizeof key, "U_%s", aw_source_name((aw_source)s));
        aw_json_number(json, key, bar->part[s].U, 6);
    }
    aw_json_begin_object(json, "orders");
    aw_json_number(json, "grid", bar->part[AW_SOURCE_GRID].order, 6);
    aw_json_number(json, "step", bar->part[AW_SOURCE_STEP].order, 6);
    aw_json_end_object(json);
    aw_json_boolean(json, "asymptotic", is_asymptotic(bar));
    aw_json_begin_array(json, "rounding");
    for (int s = 0; s < AW_SOURCES; ++s)
        if (bar->part[s].rounding) aw_json_string(json, NULL, aw_source_name((aw_source)s));
    aw_json_end_array(json);
}

static aw_status save_results(const aw_certificate *c, const char *path)
{
    aw_json json = {.depth = 0};
    aw_json_begin_array(&json, NULL);
    for (size_t i = 0; i < c->n; ++i) {
        const aw_certified *q = &c->quantity[i];
        aw_json_begin_object(&json, NULL);
        aw_json_string(&json, "quantity", q->name);
        aw_json_number(&json, "value", q->result.value, 17);
        aw_json_string(&json, "unit", q->unit);
        aw_json_number(&json, "s_ref_m", q->result.S, 17);
        put_parts(&json, &q->result);
        aw_json_string(&json, "missing", c->missing);
        aw_json_end_object(&json);
    }
    aw_json_end_array(&json);
    const aw_status status = aw_json_save(&json, path);
    aw_json_free(&json);
    return status;
}

/* ",value", or "," alone. */
static void put_cell(aw_text *text, double value, int digits)
{
    if (isfinite(value))
        aw_text_add(text, ",%.*g", digits, value);
    else
        aw_text_add(text, ",");
}

static aw_status save_curves(const aw_certificate *c, const char *path)
{
    aw_text text = {.bytes = NULL};
    aw_text_add(&text, "quantity,s_ref_m,value,U");
    for (int s = 0; s < AW_SOURCES; ++s) aw_text_add(&text, ",U_%s", aw_source_name((aw_source)s));
    aw_text_add(&text, ",p_grid,p_step,asymptotic\n");
    for (size_t i = 0; i < c->n; ++i)
        for (size_t k = 0; k < c->quantity[i].n; ++k) {
            const aw_bar *bar = &c->quantity[i].curve[k];
            aw_text_add(&text, "%s", c->quantity[i].name);
            put_cell(&text, bar->S, 17);
            put_cell(&text, bar->value, 17);
            put_cell(&text, bar->U, 6);
            for (int s = 0; s < AW_SOURCES; ++s) put_cell(&text, bar->part[s].U, 6);
            put_cell(&text, bar->part[AW_SOURCE_GRID].order, 6);
            put_cell(&text, bar->part[AW_SOURCE_STEP].order, 6);
            aw_text_add(&text, ",%d\n", is_asymptotic(bar));
        }
    const aw_status status = aw_text_save(&text, path);
    aw_text_free(&text);
    return status;
}

aw_status aw_certificate_save(const aw_certificate *c, const char *directory, const char *name)
{
    char path[AW_PATH_MAX_LEN + 64];
    aw_status status = AW_OK;
    snprintf(path, sizeof path, "%s/%s.csv", directory, name);
    AW_TRY(save_curves(c, path));
    snprintf(path, sizeof path, "%s/%s.json", directory, name);
    AW_TRY(save_results(c, path));
done:
    return status;
}
