/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/beam/table_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/beam/text_file.h"

typedef struct table {
    size_t n, rows[2]; /* points; capacities */
    double *s, *current, most;
} table;

/* Add the point of a line. @return AW_OK, AW_ERR_NOMEM, AW_ERR_INPUT (why) */
static aw_status add_line(table *t, const char *text, size_t line, aw_columns *c)
{
    double value[2];
    const char *bad = text;
    const int found = aw_text_numbers(text, value, 2, &bad);
    if (found == 0) return AW_OK;
    if (found != 2 || !isfinite(value[0]) || !isfinite(value[1]))
        return aw_columns_refuse(c, "line %zu is not s in m and the current (expected two numbers)",
                                 line);
    if (!(value[1] >= 0.0))
        return aw_columns_refuse(c, "line %zu: the current %g is negative (expected >= 0)", line,
                                 value[1]);
    if (t->n > 0 && !(value[0] > t->s[t->n - 1]))
        return aw_columns_refuse(c, "line %zu: s = %g m does not rise (expected more than %g m)",
                                 line, value[0], t->s[t->n - 1]);
    if (aw_grow((void **)&t->s, &t->rows[0], t->n + 1, sizeof(double)) != AW_OK ||
        aw_grow((void **)&t->current, &t->rows[1], t->n + 1, sizeof(double)) != AW_OK)
        return AW_ERR_NOMEM;
    t->s[t->n] = value[0];
    t->current[t->n++] = value[1];
    t->most = fmax(t->most, value[1]);
    return AW_OK;
}

aw_status aw_table_file_read(const char *path, size_t *n, double **s, double **current,
                             char why[AW_WHY_MAX])
{
    aw_columns c = {0};
    table t = {0};
    char *text = NULL;
    size_t room = 0, line = 0;
    aw_status status = AW_OK;
    FILE *file = fopen(path, "r");
    if (!file) {
        status = aw_columns_refuse(&c,
                                   "cannot be opened: %s (expected lines of s in m and the "
                                   "current)",
                                   strerror(errno));
        goto done;
    }
    while (getline(&text, &room, file) >= 0) AW_TRY(add_line(&t, text, ++line, &c));
    if (t.n < 2 || !(t.most > 0.0))
        status = aw_columns_refuse(&c, "has no current (expected two or more lines of s in m and "
                                       "the current)");
done:
    if (file) fclose(file);
    free(text);
    memcpy(why, c.why, AW_WHY_MAX);
    if (status != AW_OK) {
        aw_free(t.s);
        aw_free(t.current);
        return status;
    }
    *n = t.n;
    *s = t.s;
    *current = t.current;
    return AW_OK;
}
