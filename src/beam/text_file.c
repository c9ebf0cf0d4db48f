/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/beam/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/units.h"
#include "src/beam/beam_file.h"

int aw_text_file_is_one(const char *path)
{
    static const unsigned char mark[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char head[8] = {0};
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    const size_t n = fread(head, 1, sizeof head, file);
    fclose(file);
    return n < sizeof head || memcmp(head, mark, sizeof mark) != 0;
}

int aw_text_numbers(const char *line, double *value, int room, const char **bad)
{
    int n = 0;
    const char *at = line;
    for (;;) {
        char *end;
        at += strspn(at, " \t,\r\n");
        if (*at == '\0' || *at == '#') return n;
        *bad = at;
        const double number = strtod(at, &end);
        if (end == at || !strchr(" \t,\r\n#", *end)) return -1;
        if (n < room) value[n] = number;
        ++n;
        at = end;
    }
}

static aw_status check_line(aw_columns *c, int n, int first, size_t line, const char *bad)
{
    if (n < 0)
        return aw_columns_refuse(c, "line %zu: '%.*s' is not a number (expected x y z px py pz)",
                                 line, (int)strcspn(bad, " \t,\r\n"), bad);
    if ((n != 6 && n != 7) || n != first)
        return aw_columns_refuse(c,
                                 "line %zu: %d numbers (expected 6, x y z in m and px py pz in "
                                 "eV/c, or 7, with the charge in C, as many in each line)",
                                 line, n);
    return AW_OK;
}

static aw_status read_lines(FILE *file, aw_columns *c, int fill)
{
    char *text = NULL;
    const char *bad = NULL;
    size_t room = 0, line = 0, n = 0;
    int first = 0;
    aw_status status = AW_OK;
    while (getline(&text, &room, file) >= 0) {
        double value[AW_COLUMNS] = {0.0};
        const int found = aw_text_numbers(text, value, AW_COLUMNS, &bad);
        ++line;
        if (found == 0) continue;
        if (first == 0) first = found;
        AW_TRY(check_line(c, found, first, line, bad));
        for (int k = 0; fill && k < 6; ++k)
            c->column[k][n] = k < AW_COLUMN_PX ? value[k] : value[k] / AW_ME_EV;
        if (fill) c->column[AW_COLUMN_CHARGE][n] = first == 7 ? value[6] : 1.0;
        ++n;
    }
    if (ferror(file))
        AW_TRY(aw_columns_refuse(c, "cannot be read: %s (expected a file)", strerror(errno)));
    if (n == 0) AW_TRY(aw_columns_refuse(c, "has no particles (expected lines x y z px py pz)"));
    c->n = n;
    c->without_charge = first == 6;
done:
    free(text);
    return status;
}

aw_status aw_text_file_read(const char *path, long iteration, aw_columns *c)
{
    aw_status status = AW_OK;
    if (iteration != AW_ITERATION_LAST)
        return aw_columns_refuse(c,
                                 "is text, which has no iterations (expected no beam.iteration)");
    FILE *file = fopen(path, "r");
    if (!file)
        return aw_columns_refuse(c, "cannot be opened: %s (expected a file)", strerror(errno));
    AW_TRY(read_lines(file, c, 0));
    AW_TRY(aw_columns_new(c->n, c));
    rewind(file);
    AW_TRY(read_lines(file, c, 1));
done:
    fclose(file);
    return status;
}
