/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/input/wake_file.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/beam/text_file.h"

/* A table being read: its present line has two numbers. */
typedef struct table {
    FILE *file;
    char *text, *why;
    size_t room, line;
    double value[2];
} table;

/* Note what is wrong. @return AW_ERR_INPUT */
static aw_status refuse(const table *t, const char *format, ...) AW_PRINTF(2, 3);
static aw_status refuse(const table *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(t->why, AW_WAKE_WHY_MAX, format, args);
    va_end(args);
    return AW_ERR_INPUT;
}

/* Go on to the next line with numbers, of which there must be two. @return AW_ERR_INPUT, and
 * *end = 1: there is none */
static aw_status next_line(table *t, const char *expected, int *end)
{
    const char *bad = NULL;
    *end = 0;
    while (getline(&t->text, &t->room, t->file) >= 0) {
        const int found = aw_text_numbers(t->text, t->value, 2, &bad);
        ++t->line;
        if (found == 0) continue;
        if (found == 2 && isfinite(t->value[0]) && isfinite(t->value[1])) return AW_OK;
        return refuse(t, "line %zu is not a pair of numbers (expected %s)", t->line, expected);
    }
    *end = 1;
    if (ferror(t->file)) return refuse(t, "cannot be read: %s (expected a file)", strerror(errno));
    return refuse(t, "ends behind line %zu (expected %s)", t->line, expected);
}

static aw_status next_pair(table *t, const char *expected)
{
    int end;
    return next_line(t, expected, &end);
}

/* --------------------------------------------------------------------------------- longitudinal */

/* Turn points of z <= 0 into points of the distance behind the source. */
static void turn(aw_wake_points *p)
{
    for (size_t i = 0; i < p->n - 1 - i; ++i) {
        const size_t k = p->n - 1 - i;
        const double at = p->at[i], value = p->value[i];
        p->at[i] = p->at[k];
        p->value[i] = p->value[k];
        p->at[k] = at;
        p->value[k] = value;
    }
    for (size_t i = 0; i < p->n; ++i) p->at[i] = fabs(p->at[i]);
}

static aw_status read_longitudinal(table *t, aw_wake *wake)
{
    static const char expected[] = "z in m, and W";
    aw_wake_points *p = &wake->term[AW_WAKE_00].w;
    aw_status status = AW_OK;
    for (int end = 0;;) {
        const aw_status next = next_line(t, expected, &end);
        const double z = t->value[0];
        if (end && !ferror(t->file)) break;
        AW_TRY(next);
        if (z > 0.0)
            AW_TRY(refuse(t,
                          "line %zu: z = %g m is ahead of the source (expected z <= 0, behind it)",
                          t->line, z));
        if (p->n > 0 && !(z > p->at[p->n - 1]))
            AW_TRY(refuse(t, "line %zu: z = %g m does not rise (expected more than %g m)", t->line,
                          z, p->at[p->n - 1]));
        AW_TRY(aw_wake_points_add(p, z, t->value[1]));
    }
    if (p->n < 2)
        AW_TRY(refuse(t, "has fewer than two points (expected two or more lines of %s)", expected));
    if (p->at[p->n - 1] != 0.0)
        AW_TRY(refuse(t, "ends at z = %g m (expected 0, the source itself, in the last line)",
                      p->at[p->n - 1]));
    turn(p);
done:
    return status;
}

/* --------------------------------------------------------------------------------------- Taylor */

/* The terms by their names ab: those of y, of a = 2 or b = 4, say nothing in the plane. */
static const struct {
    int name;
    aw_wake_term term;
} names[] = {{0, AW_WAKE_00},     {1, AW_WAKE_01},     {11, AW_WAKE_11},    {3, AW_WAKE_03},
             {13, AW_WAKE_13},    {33, AW_WAKE_33},    {2, AW_WAKE_TERMS},  {4, AW_WAKE_TERMS},
             {12, AW_WAKE_TERMS}, {14, AW_WAKE_TERMS}, {22, AW_WAKE_TERMS}, {23, AW_WAKE_TERMS},
             {24, AW_WAKE_TERMS}, {34, AW_WAKE_TERMS}, {44, AW_WAKE_TERMS}};
enum { NAMES = sizeof names / sizeof names[0], POINTS_MAX = 10000000 };

static int is_count(double value, double most)
{
    return value >= 0.0 && value <= most && value == floor(value);
}

/* n points; those of terms of y are read and dropped. */
static aw_status read_points(table *t, int n, aw_wake_points *points)
{
    aw_status status = AW_OK;
    double last = -1.0;
    for (int i = 0; i < n; ++i) {
        AW_TRY(next_pair(t, "a distance in m, and the wake there"));
        const double y = t->value[0];
        if (i == 0 && y != 0.0)
            AW_TRY(refuse(t, "line %zu: a term begins at %g m (expected 0)", t->line, y));
        if (!(y > last))
            AW_TRY(refuse(t, "line %zu: the distance %g m does not rise (expected more than %g m)",
                          t->line, y, last));
        last = y;
        if (points) AW_TRY(aw_wake_points_add(points, y, t->value[1]));
    }
done:
    return status;
}

static aw_status read_term(table *t, aw_wake *wake, int taken[NAMES])
{
    aw_wake_function f = {.R = 0.0}, *to = NULL;
    double count[2];
    int k = 0;
    aw_status status = AW_OK;
    AW_TRY(next_pair(t, "the numbers of points of a term"));
    memcpy(count, t->value, sizeof count);
    if (!is_count(count[0], POINTS_MAX) || !is_count(count[1], POINTS_MAX))
        AW_TRY(refuse(t, "line %zu: %g and %g are no numbers of points (expected whole numbers)",
                      t->line, count[0], count[1]));
    AW_TRY(next_pair(t, "R and L of a term"));
    f.R = t->value[0];
    f.L = t->value[1];
    AW_TRY(next_pair(t, "1/C and the name of a term"));
    f.per_C = t->value[0];
    while (k < NAMES && names[k].name != t->value[1]) ++k;
    if (k == NAMES)
        AW_TRY(refuse(t,
                      "line %zu: there is no term %g (expected one of 0 to 44, two digits of "
                      "second order)",
                      t->line, t->value[1]));
    if (taken[k]++)
        AW_TRY(refuse(t, "line %zu: the term %02d is given twice (expected once)", t->line,
                      names[k].name));
    if (names[k].term != AW_WAKE_TERMS) {
        to = &wake->term[names[k].term];
        *to = f;
    }
    AW_TRY(read_points(t, (int)count[0], to ? &to->w : NULL));
    AW_TRY(read_points(t, (int)count[1], to ? &to->w1 : NULL));
done:
    return status;
}

static aw_status read_taylor(table *t, aw_wake *wake)
{
    aw_status status = AW_OK;
    int taken[NAMES] = {0}, end = 0;
    AW_TRY(next_pair(t, "the number of terms, and 0"));
    const double terms = t->value[0];
    if (!is_count(terms, NAMES) || terms == 0.0 || t->value[1] != 0.0)
        AW_TRY(refuse(t, "line %zu: %g and %g are not a number of terms and 0 (expected e.g. 13 0)",
                      t->line, terms, t->value[1]));
    for (int k = 0; k < (int)terms; ++k) AW_TRY(read_term(t, wake, taken));
    const aw_status next = next_line(t, "its end", &end);
    if (!end)
        AW_TRY(next != AW_OK ? next
                             : refuse(t,
                                      "line %zu is behind the last of %g terms (expected "
                                      "the end)",
                                      t->line, terms));
done:
    return status;
}

/* ---------------------------------------------------------------------------------------------- */

static aw_status read_table(table *t, aw_wake_kind kind, aw_wake *wake)
{
    aw_status status = kind == AW_WAKE_TAYLOR ? read_taylor(t, wake) : read_longitudinal(t, wake);
    int zero = 1;
    if (status != AW_OK) return status;
    for (int k = 0; k < AW_WAKE_TERMS; ++k) {
        AW_TRY(aw_wake_function_finish(&wake->term[k]));
        zero = zero && aw_wake_function_is_zero(&wake->term[k]);
    }
    if (zero)
        status = refuse(t, "has no term that acts in the plane (expected 00, 01, 03, 11, 13 or "
                           "33)");
done:
    return status;
}

aw_status aw_wake_file_read(const char *path, aw_wake_kind kind, aw_wake *wake,
                            char why[AW_WAKE_WHY_MAX])
{
    table t = {.why = why};
    struct stat found;
    if (stat(path, &found) != 0)
        return refuse(&t, "cannot be opened: %s (expected a file)", strerror(errno));
    if (!S_ISREG(found.st_mode)) return refuse(&t, "is not a file (expected one of text)");
    t.file = fopen(path, "r");
    if (!t.file) return refuse(&t, "cannot be opened: %s (expected a file)", strerror(errno));
    const aw_status status = read_table(&t, kind, wake);
    fclose(t.file);
    free(t.text);
    return status;
}
