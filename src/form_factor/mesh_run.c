/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/form_factor/mesh_run.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "src/io/series.h"
#include "src/yaml/yaml.h"

enum { PATH_MOST = 4200 };

double aw_mesh_run_height(const char *directory, long step)
{
    char path[PATH_MOST];
    double height = (double)NAN;
    aw_series table;
    snprintf(path, sizeof path, "%s/monitor.csv", directory);
    if (access(path, R_OK) != 0 || aw_series_read(path, &table) != AW_OK) return height;
    const int number = aw_series_column(&table, "step");
    const int column = aw_series_column(&table, "sigma_y_m");
    for (size_t i = 0; number >= 0 && column >= 0 && i < table.rows; ++i) {
        const double *row = table.value + i * table.columns;
        if (row[number] == (double)step) height = row[column];
    }
    aw_series_free(&table);
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
