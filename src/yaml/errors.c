/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/yaml/errors.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/memory.h"

#define PROBLEM_LENGTH 1200
#define FILES_MAX ((int)(sizeof((aw_input_errors *)0)->file / sizeof(char *)))

static int file_rank(aw_input_errors *errors, const char *file)
{
    for (int i = 0; i < FILES_MAX; ++i) {
        if (!errors->file[i]) {
            errors->file[i] = strdup(file);
            if (!errors->file[i]) errors->nomem = 1;
            return i;
        }
        if (strcmp(errors->file[i], file) == 0) return i;
    }
    return FILES_MAX;
}

static void store(aw_input_errors *errors, const char *text, int rank, int line, int column)
{
    for (size_t i = 0; i < errors->n; ++i)
        if (strcmp(errors->item[i].text, text) == 0) return;
    if (errors->n >= AW_INPUT_PROBLEMS_MAX) {
        ++errors->more;
        return;
    }
    if (aw_grow((void **)&errors->item, &errors->capacity, errors->n + 1, sizeof *errors->item)) {
        errors->nomem = 1;
        return;
    }
    aw_input_problem *p = &errors->item[errors->n];
    p->text = strdup(text);
    if (!p->text) {
        errors->nomem = 1;
        return;
    }
    p->rank = rank;
    p->line = line;
    p->column = column;
    ++errors->n;
}

void aw_input_add(aw_input_errors *errors, const char *file, int line, int column,
                  const char *format, ...)
{
    char text[PROBLEM_LENGTH];
    int used = line > 0 ? snprintf(text, sizeof text, "%s:%d:%d: ", file, line, column)
                        : snprintf(text, sizeof text, "%s%s", file,
                                   strcmp(file, AW_INPUT_SET) == 0 ? " " : ": ");
    if (used < 0) return;
    if ((size_t)used < sizeof text) {
        va_list args;
        va_start(args, format);
        vsnprintf(text + used, sizeof text - (size_t)used, format, args);
        va_end(args);
    }
    aw_one_line(text);
    store(errors, text, file_rank(errors, file), line, column);
}

size_t aw_input_count(const aw_input_errors *errors)
{
    return errors->n + errors->more + (errors->nomem ? 1 : 0);
}

int aw_input_full(const aw_input_errors *errors) { return errors->n >= AW_INPUT_PROBLEMS_MAX; }

void aw_input_move(aw_input_errors *errors, aw_input_errors *from)
{
    for (size_t i = 0; i < from->n; ++i) {
        const aw_input_problem *p = &from->item[i];
        int rank = p->rank < FILES_MAX ? file_rank(errors, from->file[p->rank]) : FILES_MAX;
        store(errors, p->text, rank, p->line, p->column);
    }
    errors->more += from->more;
    errors->nomem |= from->nomem;
    aw_input_errors_free(from);
}

static int before(const aw_input_problem *a, const aw_input_problem *b)
{
    if (a->rank != b->rank) return a->rank < b->rank;
    if (a->line != b->line) return a->line < b->line;
    return a->column < b->column;
}

aw_status aw_input_report(aw_input_errors *errors)
{
    if (errors->nomem) return aw_error(AW_ERR_NOMEM, "no memory left to read the input");
    for (size_t i = 1; i < errors->n; ++i) { /* insertion sort: stable, and n is small */
        aw_input_problem p = errors->item[i];
        size_t j = i;
        for (; j > 0 && before(&p, &errors->item[j - 1]); --j)
            errors->item[j] = errors->item[j - 1];
        errors->item[j] = p;
    }
    for (size_t i = 0; i < errors->n; ++i) aw_error(AW_ERR_INPUT, "%s", errors->item[i].text);
    if (errors->more)
        aw_error(AW_ERR_INPUT, "%s: %zu more problems are not listed", errors->file[0],
                 errors->more);
    return errors->n ? AW_ERR_INPUT : AW_OK;
}

void aw_input_errors_free(aw_input_errors *errors)
{
    for (size_t i = 0; i < errors->n; ++i) free(errors->item[i].text);
    for (int i = 0; i < FILES_MAX; ++i) free(errors->file[i]);
    aw_free(errors->item);
    *errors = (aw_input_errors){0};
}
