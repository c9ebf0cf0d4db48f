/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/pals/multipole_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/units.h"

#define GROUP "MagneticMultipoleP"

/* A parsed key: KnN, KsN, BnN, BsN (followed by L if integrated) or tiltN. */
typedef struct component {
    int normal, field, tilt, integrated;
    long order;
} component;

double aw_strength_of_field(double field, double pc) { return -AW_C * field / pc; }

static int parse_name(const char *key, component *out)
{
    static const char *const heads[] = {"Kn", "Ks", "Bn", "Bs", "tilt"};
    char *end = NULL;
    for (int i = 0; i < 5; ++i) {
        size_t n = strlen(heads[i]);
        if (strncmp(key, heads[i], n) != 0 || key[n] < '0' || key[n] > '9') continue;
        *out = (component){.normal = i == 0 || i == 2, .field = i == 2 || i == 3, .tilt = i == 4};
        out->order = strtol(key + n, &end, 10);
        out->integrated = *end == 'L' && !out->tilt;
        if (out->integrated) ++end;
        return *end == '\0' && out->order >= 0 && out->order <= 21; /* the highest order in PALS */
    }
    return 0;
}

static int refuse_component(const aw_element_reader *r, const aw_yaml_node *node, int order)
{
    aw_yaml_error(r->errors, node, "this component is not supported (expected 0, or Kn%d or Bn%d)",
                  order, order);
    return 0;
}

static int read_component(const aw_element_reader *r, const aw_yaml_node *node,
                          const component *key, aw_multipole *wanted)
{
    char shown[AW_YAML_SHOW];
    double value = 0.0;
    if (!aw_yaml_number(r->errors, node,
                        key->field ? "a field in T/m^N" : "a strength in 1/m^(N+1)", &value))
        return 0;
    if (!key->normal || key->order != wanted->order)
        return value == 0.0 ? 1 : refuse_component(r, node, wanted->order);
    if (wanted->node) {
        aw_yaml_key_error(r->errors, node,
                          "'%s' is given as well, at line %d (expected one of the "
                          "two)",
                          wanted->node->key, wanted->node->key_line);
        return 0;
    }
    if (key->integrated && !(wanted->length > 0.0)) {
        aw_yaml_key_error(r->errors, node,
                          "an integrated strength needs a length (expected a "
                          "length in m, e.g. 0.2)");
        return 0;
    }
    if (key->integrated) value /= wanted->length;
    if (key->field && r->pc > 0.0) value = aw_strength_of_field(value, r->pc);
    if (!isfinite(value)) {
        aw_yaml_error(r->errors, node, "%s is too strong for a double (expected e.g. 1.5)",
                      aw_yaml_show(node, shown));
        return 0;
    }
    wanted->node = node;
    wanted->value = value;
    return 1;
}

int aw_multipole_read(const aw_element_reader *r, const aw_spec *spec, aw_multipole *wanted)
{
    int good = 1;
    wanted->node = NULL;
    wanted->value = 0.0;
    for (int i = 0; i < spec->n; ++i) {
        const aw_yaml_node *group = aw_yaml_get(spec->node[i], GROUP);
        if (!group || group->kind != AW_YAML_MAP) continue;
        for (const aw_yaml_node *c = group->first; c && !aw_input_full(r->errors); c = c->next) {
            component key;
            if (aw_spec_get(spec, GROUP, c->key) != c || aw_is_extension(&r->extensions, c))
                continue; /* overridden by an heir, or data of another program */
            if (!parse_name(c->key, &key)) {
                aw_yaml_key_error(r->errors, c, "unknown key (expected Kn%d, Bn%d, Kn%dL or Bn%dL)",
                                  wanted->order, wanted->order, wanted->order, wanted->order);
                good = 0;
            } else {
                good &= read_component(r, c, &key, wanted);
            }
        }
    }
    return good;
}
