/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/input/path.h"

#include <stdlib.h>
#include <string.h>

char *aw_input_path(const char *run_file, const char *text)
{
    const char *slash = strrchr(run_file, '/');
    const size_t folder = text[0] != '/' && slash ? (size_t)(slash - run_file) + 1 : 0;
    char *joined = malloc(folder + strlen(text) + 1);
    if (!joined) return NULL;
    memcpy(joined, run_file, folder);
    strcpy(joined + folder, text);
    char *whole = realpath(joined, NULL);
    if (!whole) return joined; /* the reader says that it is not there */
    free(joined);
    return whole;
}
