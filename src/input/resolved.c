/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/input/resolved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *aw_resolved_text(const aw_config *config, const char *program)
{
    char *input = aw_config_text(config), *text = NULL;
    size_t size = 0;
    FILE *out = input ? open_memstream(&text, &size) : NULL;
    if (out) {
        fprintf(out, "%s# by %s\n", input, program);
        if (config->steps > 0) fprintf(out, "# --steps %ld\n", config->steps);
        if (config->solve_every > 0) fprintf(out, "# --solve-every %d\n", config->solve_every);
        const int failed = ferror(out);
        if (fclose(out) != 0 || failed) {
            free(text);
            text = NULL;
        }
    }
    free(input);
    return text;
}

static int is_directory(const char *line)
{
    static const char key[] = "  directory: ";
    return strncmp(line, key, sizeof key - 1) == 0;
}

/* Length of a line with its end. */
static size_t line_length(const char *line)
{
    const size_t n = strcspn(line, "\n");
    return n + (line[n] == '\n');
}

/* Whether texts of whole lines agree, but for output.directory: the first line with that indented
 * key in both, at the same place. */
static int same_text(const char *a, const char *b)
{
    while (*a || *b) {
        const size_t n = line_length(a), m = line_length(b);
        const int same = n == m && memcmp(a, b, n) == 0;
        if (!same && !(is_directory(a) && is_directory(b))) return 0;
        a += n;
        b += m;
    }
    return 1;
}

int aw_resolved_matches(const char *path, const char *text)
{
    FILE *file = fopen(path, "rb");
    /* a directory may be AW_PATH_MAX_LEN bytes long, each quoted by four */
    const size_t size = strlen(text) + 4 * AW_PATH_MAX_LEN + 64;
    char *found = file ? malloc(size) : NULL;
    int same = 0;
    if (found) {
        const size_t n = fread(found, 1, size - 1, file);
        found[n] = '\0';
        same = !ferror(file) && n < size - 1 && same_text(found, text);
    }
    free(found);
    if (file) fclose(file);
    return same;
}
