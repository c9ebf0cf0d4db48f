/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/io/text.h"

#include <stdarg.h>
#include <stdio.h>

#include "src/base/memory.h"
#include "src/io/file.h"

void aw_text_free(aw_text *text)
{
    aw_free(text->bytes);
    *text = (aw_text){.bytes = NULL};
}

void aw_text_add(aw_text *text, const char *format, ...)
{
    va_list first, second;
    va_start(first, format);
    va_copy(second, first);
    const int n = vsnprintf(NULL, 0, format, first);
    va_end(first);
    if (text->status == AW_OK && n >= 0)
        text->status = aw_grow((void **)&text->bytes, &text->capacity, text->n + (size_t)n + 1, 1);
    if (text->status == AW_OK && n >= 0) {
        vsnprintf(text->bytes + text->n, (size_t)n + 1, format, second);
        text->n += (size_t)n;
    }
    va_end(second);
}

aw_status aw_text_save(const aw_text *text, const char *path)
{
    if (text->status != AW_OK) return aw_error(text->status, "out of memory for %s", path);
    return aw_file_replace(path, text->bytes, text->n);
}
