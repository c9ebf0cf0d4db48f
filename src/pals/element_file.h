/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One element of a lattice file: its parameters, checked and turned into an aw_element. */
#ifndef AW_PALS_ELEMENT_FILE_H
#define AW_PALS_ELEMENT_FILE_H
#include "pic/lattice.h"
#include "src/yaml/yaml.h"

AW_BEGIN_DECLS

#define AW_INHERIT_MAX 16

/** The mappings that define an element or line: its own, then those that it inherits, nearest
 *  first. The first that has a parameter gives its value. Nodes are borrowed. */
typedef struct aw_spec {
    const char *name;
    const aw_yaml_node *place; /* where problems of the whole element are reported */
    const aw_yaml_node *node[AW_INHERIT_MAX];
    int n;
} aw_spec;

/** Names that a file declares as extensions (PALS extension_labels); borrowed, NULL: none. */
typedef struct aw_extensions {
    const aw_yaml_node *names, *prefixes, *suffixes;
} aw_extensions;

/** Context in which elements are read. */
typedef struct aw_element_reader {
    aw_input_errors *errors;
    aw_extensions extensions;
    double pc; /* reference momentum [eV]; 0: not known */
} aw_element_reader;

/** 1 for data of other programs: a registered label, or a mapping with the key `extension`. */
int aw_is_extension(const aw_extensions *extensions, const aw_yaml_node *node);

/** Note every key of `map` that is neither among the n words nor an extension. */
void aw_pals_known(aw_input_errors *errors, const aw_extensions *extensions,
                   const aw_yaml_node *map, const char *const *words, size_t n);

/** Parameter of an element; with `group`, inside that group. NULL when it is not given. */
const aw_yaml_node *aw_spec_get(const aw_spec *spec, const char *group, const char *key);

/** A group of parameters, of the element (i = 0) or of what it inherits.
 *  @param[in,out] good  becomes 0 where the group is not a mapping, which is noted
 *  @return NULL: not given, null, or not a mapping */
const aw_yaml_node *aw_spec_group(const aw_element_reader *reader, const aw_spec *spec, int i,
                                  const char *group, int *good);

/** Read an element of one of the kinds in docs/input.md.
 *  @param[in] kind  name of the kind; one that is not known, and BeginningEle, is a problem
 *  @return 1 and *out, or 0 with the problems noted. */
int aw_element_read(const aw_element_reader *reader, const aw_spec *spec, const char *kind,
                    aw_element *out);

/** Read the reference momentum and energy of a BeginningEle [eV].
 *  @return 1 and the outputs, or 0 with the problems noted. */
int aw_beginning_read(const aw_element_reader *reader, const aw_spec *spec, double *pc,
                      double *energy);

/** The kinds besides BeginningEle, for messages: "Drift, Bend, ...". */
extern const char aw_element_kinds[];

/** 1 when `kind` is a kind of element that aw_element_read or aw_beginning_read reads. */
int aw_element_kind_known(const char *kind);

AW_END_DECLS
#endif
