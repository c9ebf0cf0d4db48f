/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a lattice file: names looked up, items read once, `repeat` and sublines expanded. */
#ifndef AW_PALS_LATTICE_LINE_H
#define AW_PALS_LATTICE_LINE_H
#include "src/pals/element_file.h"
#include "src/pals/lattice_file.h"

AW_BEGIN_DECLS

/** A named element, line or lattice. */
typedef struct aw_definition {
    const aw_yaml_node *node;
    int in_line; /* 1: defined in place, as an item of a line or of `branches` */
} aw_definition;

/** An item of a line, opaque. */
typedef struct aw_line_item aw_line_item;

/** State while a lattice file is read; initialise all that is not named below with 0. */
typedef struct aw_lattice_reader {
    aw_element_reader element_reader; /* in: errors, extensions */
    const aw_yaml_node *facility;     /* in: PALS.facility */
    aw_definition *define;            /* sorted by name */
    size_t n_define, define_capacity;
    aw_line_item *item; /* table by the item's node */
    size_t n_item, item_capacity;
    aw_element *element; /* the expanded line */
    aw_place *place;
    size_t n, element_capacity, place_capacity;
    size_t steps;
    int depth;
    int begun;        /* a BeginningEle was met */
    int stopped;      /* a limit was passed: noted, nothing more is read */
    double energy;    /* of the BeginningEle [eV]; 0: not known */
    aw_status status; /* AW_ERR_NOMEM once memory ran out */
} aw_lattice_reader;

/** Add an entry of the facility to the definitions, and the elements and lines that are defined
 *  within it. Out of memory: l->status. */
void aw_lattice_define(aw_lattice_reader *l, const aw_yaml_node *entry);

/** Sort the definitions for aw_lattice_find; two entries of one name are noted as a problem. */
void aw_lattice_defined(aw_lattice_reader *l);

/** What `name` means: the entry of the facility, else the only element or line of that name that
 *  is defined in a line. NULL with the problem noted at `node`. */
const aw_yaml_node *aw_lattice_find(aw_lattice_reader *l, const aw_yaml_node *node,
                                    const char *name);

/** Expand the item of `branches` into l->element and place; problems are noted. */
void aw_lattice_expand(aw_lattice_reader *l, const aw_yaml_node *branch);

/** Free what the reader allocated. */
void aw_lattice_reader_free(aw_lattice_reader *l);

AW_END_DECLS
#endif
