/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/pals/passive_file.h"

#include <string.h>

/* Keys that say how, where there is nothing to be done. */
static int only_says_how(const char *key)
{
    static const char *const words[] = {
        "shape",      "location", "material", "aperture_active", "aperture_shifts_with_body",
        "ref_coords", "flexible"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        if (strcmp(key, words[i]) == 0) return 1;
    return strncmp(key, "tilt", 4) == 0;
}

static int neutral(const aw_yaml_node *node)
{
    if (node->kind == AW_YAML_SCALAR)
        return aw_yaml_is_null(node) || node->length == 0 || aw_yaml_is_zero(node) ||
               (!node->quoted && strcmp(node->text, "false") == 0);
    for (const aw_yaml_node *c = node->first; c; c = c->next)
        if (!neutral(c)) return 0;
    return 1;
}

int aw_neutral_group(const aw_element_reader *r, const aw_spec *spec, const char *group)
{
    char shown[AW_YAML_SHOW];
    int good = 1;
    for (int i = 0; i < spec->n; ++i) {
        const aw_yaml_node *map = aw_spec_group(r, spec, i, group, &good);
        for (const aw_yaml_node *c = map ? map->first : NULL; c; c = c->next) {
            if (aw_spec_get(spec, group, c->key) != c) continue; /* overridden by an heir */
            if (only_says_how(c->key) || neutral(c) || aw_is_extension(&r->extensions, c)) continue;
            aw_yaml_error(r->errors, c, "%s is not supported here (expected 0, or none)",
                          aw_yaml_show(c, shown));
            good = 0;
        }
    }
    return good;
}

int aw_neutral_groups(const aw_element_reader *r, const aw_spec *spec)
{
    static const char *const groups[] = {AW_NEUTRAL_GROUPS};
    int good = 1;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; ++i)
        good &= aw_neutral_group(r, spec, groups[i]);
    return good;
}
