/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/form_factor/mesh_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/yaml/yaml.h"

enum { PATH_MOST = 4200 };

/* Beginning of cell number i of a line; NULL: it has fewer. */
static const char *cell_of(const char *line, size_t i)
{
    for (; line && i > 0; --i) {
        line = strchr(line, ',');
        if (line) ++line;
    }
    return line;
}

/* Number of the column with this name in a header line. @return 0, the step's: there is none */
static size_t column_of(const char *header, const char *name)
{
    size_t i = 0;
    for (const char *cell = header; cell; cell = cell_of(cell, 1), ++i)
        if (strncmp(cell, name, strlen(name)) == 0 && strchr(",\r\n", cell[strlen(name)])) return i;
    return 0;
}

/* A cell as a number, which must be all of it. */
static double number_of(const char *cell)
{
    char *after;
    if (!cell) return (double)NAN;
    const double value = strtod(cell, &after);
    return after > cell && strchr(",\r\n", *after) ? value : (double)NAN;
}

double aw_mesh_run_height(const char *directory, long step)
{
    char path[PATH_MOST], *line = NULL;
    size_t room = 0, column = 0;
    double height = (double)NAN;
    snprintf(path, sizeof path, "%s/monitor.csv", directory);
    FILE *file = fopen(path, "r");
    if (!file) return height;
    if (getline(&line, &room, file) > 0) column = column_of(line, "sigma_y_m");
    while (column > 0 && getline(&line, &room, file) > 0)
        if (number_of(line) == (double)step) {
            height = number_of(cell_of(line, column));
            break;
        }
    free(line);
    fclose(file);
    return height >= 0.0 && isfinite(height) ? height : (double)NAN;
}

size_t aw_mesh_run_particles(const char *directory)
{
    char path[PATH_MOST];
    aw_input_errors errors = {0};
    aw_yaml *doc = NULL;
    uint64_t n = 0;
    snprintf(path, sizeof path, "%s/resolved.yaml", directory);
    if (aw_yaml_read(path, NULL, &errors, &doc) == AW_OK) {
        const aw_yaml_node *node = aw_yaml_get(aw_yaml_get(aw_yaml_root(doc), "beam"), "particles");
        if (node && !aw_yaml_whole(&errors, node, "a number", 1, (uint64_t)1 << 53, &n)) n = 0;
    }
    aw_yaml_free(doc);
    aw_input_errors_free(&errors);
    return (size_t)n;
}
