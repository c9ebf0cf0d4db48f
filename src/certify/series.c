/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/certify/series.h"

#include <errno.h>
#include <gsl/gsl_interp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"

static aw_status read_text(const char *path, char **text)
{
    FILE *file = fopen(path, "rb");
    size_t n = 0, capacity = 0, got = 1;
    aw_status status = AW_OK;
    *text = NULL;
    if (!file) return aw_error(AW_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    while (got > 0 && status == AW_OK) {
        status = aw_grow((void **)text, &capacity, n + 65536, 1);
        if (status == AW_OK) got = fread(*text + n, 1, 65535, file);
        n += status == AW_OK ? got : 0;
    }
    if (status == AW_OK && ferror(file))
        status = aw_error(AW_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    fclose(file);
    if (status == AW_OK) (*text)[n] = '\0';
    return status;
}

static size_t count(const char *text, const char *end, char c)
{
    size_t n = 0;
    for (; text < end && *text; ++text) n += *text == c;
    return n;
}

/* The names of the first line, which is cut into them. */
static void cut_names(aw_series *s, char *line)
{
    for (size_t i = 0; i < s->columns; ++i) {
        char *end = line + strcspn(line, ",\n");
        s->name[i] = line;
        if (*end) *end++ = '\0';
        line = end;
    }
}

/* A line of numbers. @return its end, or NULL: it is not that */
static const char *read_row(const aw_series *s, const char *at, double *row)
{
    for (size_t i = 0; i < s->columns; ++i) {
        char *end = (char *)at;
        row[i] = NAN;
        if (*at != ',' && *at != '\n') row[i] = strtod(at, &end);
        if (*end != (i + 1 < s->columns ? ',' : '\n')) return NULL;
        at = end + 1;
    }
    return at;
}

aw_status aw_series_read(const char *path, aw_series *out)
{
    aw_status status = AW_OK;
    aw_series s = {0};
    AW_TRY(read_text(path, &s.text));
    char *body = strchr(s.text, '\n');
    if (!body) AW_TRY(aw_error(AW_ERR_IO, "%s: has no line of names", path));
    ++body;
    s.columns = count(s.text, body, ',') + 1;
    s.rows = count(body, body + strlen(body), '\n');
    s.name = aw_alloc(s.columns, sizeof *s.name);
    s.value = aw_alloc(s.rows * s.columns, sizeof *s.value);
    if (!s.name || !s.value) AW_TRY(aw_error(AW_ERR_NOMEM, "%s: out of memory", path));
    const char *at = body;
    for (size_t i = 0; i < s.rows; ++i)
        if (!(at = read_row(&s, at, s.value + i * s.columns)))
            AW_TRY(
                aw_error(AW_ERR_IO, "%s:%zu: is not a row of %zu numbers", path, i + 2, s.columns));
    cut_names(&s, s.text);
    *out = s;
    return AW_OK;
done:
    aw_series_free(&s);
    *out = s;
    return status;
}

void aw_series_free(aw_series *s)
{
    aw_free(s->text);
    aw_free((void *)s->name);
    aw_free(s->value);
    *s = (aw_series){0};
}

int aw_series_column(const aw_series *s, const char *name)
{
    for (size_t i = 0; i < s->columns; ++i)
        if (strcmp(s->name[i], name) == 0) return (int)i;
    return -1;
}

aw_status aw_curve_of(const aw_series *s, const char *name, aw_curve *out)
{
    const int at = aw_series_column(s, "s_ref_m"), column = aw_series_column(s, name);
    *out =
        (aw_curve){.S = aw_alloc(s->rows, sizeof(double)), .f = aw_alloc(s->rows, sizeof(double))};
    if (!out->S || !out->f) {
        aw_curve_free(out);
        return aw_error(AW_ERR_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < s->rows && at >= 0 && column >= 0; ++i) {
        const double *row = s->value + i * s->columns;
        if (!isfinite(row[column]) || !isfinite(row[at])) continue;
        out->S[out->n] = row[at];
        out->f[out->n++] = row[column];
    }
    return AW_OK;
}

void aw_curve_free(aw_curve *c)
{
    aw_free(c->S);
    aw_free(c->f);
    *c = (aw_curve){0};
}

double aw_curve_at(const aw_curve *c, double S)
{
    if (c->n == 0) return NAN;
    const double span = c->S[c->n - 1] - c->S[0], rounding = 1e-9 * (span > 0.0 ? span : 1.0);
    if (!(S >= c->S[0] - rounding && S <= c->S[c->n - 1] + rounding)) return NAN;
    const size_t i = gsl_interp_bsearch(c->S, S, 0, c->n), first = i > 0 ? i - 1 : 0;
    const size_t end = first + 4 < c->n ? first + 4 : c->n, begin = end > 4 ? end - 4 : 0;
    double sum = 0.0;
    for (size_t j = begin; j < end; ++j) {
        double weight = 1.0;
        if (fabs(c->S[j] - S) <= rounding) return c->f[j];
        for (size_t k = begin; k < end; ++k)
            if (k != j) weight *= (S - c->S[k]) / (c->S[j] - c->S[k]);
        sum += weight * c->f[j];
    }
    return sum;
}

double aw_curve_peak(const aw_curve *c, double *S)
{
    size_t i = 0;
    *S = NAN;
    if (c->n == 0) return NAN;
    for (size_t k = 1; k < c->n; ++k)
        if (fabs(c->f[k]) > fabs(c->f[i])) i = k;
    *S = c->S[i];
    if (i == 0 || i + 1 == c->n) return c->f[i];
    /* Newton's form of the parabola about the largest point */
    const double a = c->S[i - 1] - c->S[i], b = c->S[i + 1] - c->S[i];
    const double fa = (c->f[i - 1] - c->f[i]) / a, fb = (c->f[i + 1] - c->f[i]) / b;
    const double second = (fb - fa) / (b - a), first = fa - second * a;
    const double at = -first / (2.0 * second);
    /* neighbours of the other sign, or far away, are no part of this extremum */
    if (!(at > 0.5 * a && at < 0.5 * b) || c->f[i - 1] * c->f[i + 1] < 0.0) return c->f[i];
    *S += at;
    return c->f[i] + 0.5 * first * at;
}
