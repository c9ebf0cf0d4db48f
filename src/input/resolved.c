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

static int has_key(const char *line, const char *key)
{
    return strncmp(line, key, strlen(key)) == 0;
}

/* Whether two lines are the same key, one whose value may differ. */
static int may_differ(const char *a, const char *b, int free_device)
{
    static const char directory[] = "  directory: ", device[] = "device: ";
    return (has_key(a, directory) && has_key(b, directory)) ||
           (free_device && has_key(a, device) && has_key(b, device));
}

/* Length of a line with its end. */
static size_t line_length(const char *line)
{
    const size_t n = strcspn(line, "\n");
    return n + (line[n] == '\n');
}

/* Move on to the first line in which texts of whole lines differ. @return 0: there is none */
static int find_difference(const char **a, const char **b, int free_device)
{
    while (**a || **b) {
        const size_t n = line_length(*a), m = line_length(*b);
        const int same = n == m && memcmp(*a, *b, n) == 0;
        if (!same && !may_differ(*a, *b, free_device)) return 1;
        *a += n;
        *b += m;
    }
    return 0;
}

static int same_text(const char *a, const char *b) { return !find_difference(&a, &b, 0); }

/* Copy a line without its end and the spaces at its beginning. */
static void copy_line(const char *line, char out[AW_DIFFERENCE_SIZE])
{
    line += strspn(line, " ");
    snprintf(out, AW_DIFFERENCE_SIZE, "%.*s", (int)strcspn(line, "\n"), line);
}

int aw_resolved_difference(const char *a, const char *b, char line_a[AW_DIFFERENCE_SIZE],
                           char line_b[AW_DIFFERENCE_SIZE])
{
    if (!find_difference(&a, &b, 1)) return 0;
    copy_line(a, line_a);
    copy_line(b, line_b);
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
