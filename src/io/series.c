/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/io/series.h"

#include <errno.h>
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
