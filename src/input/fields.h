/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of the run file's keys: how each is read, checked, defaulted and written. */
#ifndef AW_INPUT_FIELDS_H
#define AW_INPUT_FIELDS_H
#include <stddef.h>

#include "src/input/config.h"
#include "src/yaml/yaml.h"

AW_BEGIN_DECLS

typedef enum aw_field_kind {
    AW_FIELD_SPECIAL, /* with code of its own: alternatives, lists, paths */
    AW_FIELD_NUMBER,  /* double */
    AW_FIELD_INT,     /* int */
    AW_FIELD_SIZE,    /* size_t */
    AW_FIELD_SEED,    /* uint64_t */
    AW_FIELD_CHOICE,  /* int (or an enum of its size): position among `choices` */
    AW_FIELD_NAME,    /* char[AW_NAME_MAX]: one of `choices` */
    AW_FIELD_DEVICE,  /* char[256] */
    AW_FIELD_TEXT     /* char *, malloc'd */
} aw_field_kind;

/** One key of the run file. */
typedef struct aw_field {
    const char *key; /* full path, "beam.charge_C" */
    aw_field_kind kind;
    size_t offset;        /* in aw_config; 0 for a special key */
    const char *initial;  /* default, as written in a file; NULL: none */
    double low, high;     /* range of a number */
    int open;             /* 1: low itself is refused */
    const char *choices;  /* "a|b|c" */
    const char *expected; /* for messages: meaning, unit, example */
} aw_field;

/** The table and its length, in the order of the written text; static storage. */
const aw_field *aw_fields(size_t *n);

/** Row of a key; NULL if there is none. */
const aw_field *aw_field_find(const char *key);

/** The part of the key after the last dot. */
const char *aw_field_leaf(const aw_field *field);

/** Node of a key in a run file; NULL when it is absent. */
const aw_yaml_node *aw_field_node(const aw_yaml_node *root, const aw_field *field);

/** Whether the beam is in a file, which holds what this key of the section `beam` says. */
int aw_field_from_file(const aw_yaml_node *root, const aw_field *field);

/** Whether a key says how high the bunch is. */
int aw_field_is_height(const aw_field *field);

/** Number within the field's range (also of a special key).
 *  @return 1 and *out, or 0 with the problem noted. */
int aw_field_number(aw_input_errors *errors, const aw_field *field, const aw_yaml_node *node,
                    double *out);

/** Where the section of a key begins: its name, or the start of the file. */
void aw_field_section(const aw_yaml_node *root, const aw_field *field, int *line, int *column);

/** Note that a key is missing, at its section or at the start of the file; nothing if a misspelt or
 *  misplaced key was noted in its stead. */
void aw_field_missing(aw_input_errors *errors, const aw_yaml_node *root, const aw_field *field);

/** Set every member of `config` with a row here, special keys excepted, from the file or from its
 *  default; note missing and wrong values. @return AW_OK or AW_ERR_NOMEM. */
aw_status aw_fields_read(aw_input_errors *errors, const aw_yaml_node *root, aw_config *config);

/** Note every key of the file that is not in the table: unknown, with the
 *  nearest that is. */
void aw_fields_known(aw_input_errors *errors, const aw_yaml_node *root);

AW_END_DECLS
#endif
