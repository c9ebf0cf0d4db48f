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
        return *end == '\0' && out->order >= 0 && out->order < AW_ORDERS;
    }
    return 0;
}

static int refuse_component(const aw_element_reader *r, const aw_yaml_node *node,
                            const component *key, int highest)
{
    if (key->normal)
        aw_yaml_error(r->errors, node,
                      "this component is not supported here (expected 0, or orders up to %d)",
                      highest);
    else
        aw_yaml_error(r->errors, node,
                      "a skew component would bend the beam out of the horizontal plane, which is "
                      "not supported (expected 0, or the normal component KnN or BnN)");
    return 0;
}

/* A tilt matters only where there is something to tilt. */
static int check_tilts(const aw_element_reader *r, const aw_multipole *wanted)
{
    int good = 1;
    for (int n = 0; n < AW_ORDERS; ++n) {
        if (!wanted->tilt[n] || wanted->value[n] == 0.0) continue;
        aw_yaml_error(r->errors, wanted->tilt[n],
                      "a tilted component would bend the beam out of the horizontal plane, which "
                      "is not supported (expected 0)");
        good = 0;
    }
    return good;
}

/* Take the value of a normal component. */
static int take_component(const aw_element_reader *r, const aw_yaml_node *node,
                          const component *key, double value, aw_multipole *wanted)
{
    char shown[AW_YAML_SHOW];
    const aw_yaml_node *other = wanted->node[key->order];
    if (other) {
        aw_yaml_key_error(r->errors, node,
                          "'%s' is given as well, at line %d (expected one of the "
                          "two)",
                          other->key, other->key_line);
        return 0;
    }
    if (key->integrated && wanted->length > 0.0) value /= wanted->length;
    if (!key->integrated && wanted->length == 0.0) value = 0.0;
    if (key->field && r->pc > 0.0) value = aw_strength_of_field(value, r->pc);
    if (!isfinite(value)) {
        aw_yaml_error(r->errors, node, "%s is too strong for a double (expected e.g. 1.5)",
                      aw_yaml_show(node, shown));
        return 0;
    }
    wanted->node[key->order] = node;
    wanted->value[key->order] = value;
    return 1;
}

static int read_component(const aw_element_reader *r, const aw_yaml_node *node,
                          const component *key, aw_multipole *wanted)
{
    static const char *const expected[] = {"a strength in 1/m^(N+1)", "a field in T/m^N",
                                           "an angle in rad"};
    double value = 0.0;
    if (!aw_yaml_number(r->errors, node, expected[key->tilt ? 2 : key->field], &value)) return 0;
    if (key->tilt) {
        wanted->tilt[key->order] = value != 0.0 ? node : NULL;
        return 1;
    }
    if (key->normal && key->order <= wanted->highest)
        return take_component(r, node, key, value, wanted);
    return value == 0.0 ? 1 : refuse_component(r, node, key, wanted->highest);
}

int aw_multipole_read(const aw_element_reader *r, const aw_spec *spec, aw_multipole *wanted)
{
    int good = 1;
    memset(wanted->node, 0, sizeof wanted->node);
    memset(wanted->value, 0, sizeof wanted->value);
    memset(wanted->tilt, 0, sizeof wanted->tilt);
    for (int i = 0; i < spec->n; ++i) {
        const aw_yaml_node *group = aw_yaml_get(spec->node[i], GROUP);
        if (!group || group->kind != AW_YAML_MAP) continue;
        for (const aw_yaml_node *c = group->first; c && !aw_input_full(r->errors); c = c->next) {
            component key;
            if (aw_spec_get(spec, GROUP, c->key) != c || aw_is_extension(&r->extensions, c))
                continue; /* overridden by an heir, or data of another program */
            if (!parse_name(c->key, &key)) {
                aw_yaml_key_error(r->errors, c,
                                  "unknown key (expected KnN, BnN, KnNL or BnNL, N from 0 to %d)",
                                  wanted->highest);
                good = 0;
            } else {
                good &= read_component(r, c, &key, wanted);
            }
        }
    }
    return check_tilts(r, wanted) && good;
}
