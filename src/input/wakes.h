/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key `wakes`: tables, and where in the lattice they act. */
#ifndef AW_INPUT_WAKES_H
#define AW_INPUT_WAKES_H
#include "src/input/config.h"
#include "src/input/wake_file.h"
#include "src/yaml/yaml.h"

AW_BEGIN_DECLS

/* Words of `kind` and `unit`, in the order of their numbers. */
#define AW_WAKE_KINDS "longitudinal|taylor"
#define AW_WAKE_UNITS "V/C|V/C/m"

/** An item of `wakes` as it was given; what it owns is freed with aw_wakes_free. */
typedef struct aw_wake_item {
    char *file; /* absolute */
    int kind;   /* an aw_wake_kind */
    int per_m;  /* 1: the table is per length */
    double factor;
    char **element; /* [elements] names; none: from_m to to_m */
    size_t elements;
    double from_m, to_m;
    char place[600]; /* "file:line:column: wakes[1]", for messages */
} aw_wake_item;

/** Read the list into config->wake and config->wake_item, [config->wakes] each. Problems are noted.
 *  Without a lattice in the configuration, whose problems are known then, nothing is looked up in
 *  it. @return AW_OK or AW_ERR_NOMEM */
aw_status aw_wakes_read(aw_input_errors *errors, const aw_yaml_node *root, aw_config *config);
void aw_wakes_free(aw_config *config);

AW_END_DECLS
#endif
