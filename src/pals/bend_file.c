/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/pals/bend_file.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "src/base/units.h"
#include "src/pals/multipole_file.h"

#define FACE_MAX 1.0 /* beyond, the field region is no longer thin in S: pic/lattice.c */
#define AGREE 1e-6   /* numbers in lattice files are often rounded to 7 digits */

/* A given parameter and its place; node NULL: not given. */
typedef struct given {
    const aw_yaml_node *node;
    double value;
} given;

typedef enum length_kind { ARC, CHORD, RECTANGLE } length_kind;

typedef struct geometry {
    given curvature, angle, length;
    length_kind kind; /* of the length */
    int unknown;      /* the curvature is given as a field, and the momentum is not known */
} geometry;

const char *const *aw_bend_words(size_t *n)
{
    static const char *const words[] = {"angle_ref",
                                        "g_ref",
                                        "radius_ref",
                                        "Bn0_ref",
                                        "rho_ref",
                                        "bend_field_ref",
                                        "e1",
                                        "e2",
                                        "e1_rect",
                                        "e2_rect",
                                        "L_chord",
                                        "L_rectangle",
                                        "ref_geometry",
                                        "Kn0_from_g_ref",
                                        "multipole_geometry",
                                        "edge1_int",
                                        "edge2_int",
                                        "edge_int1",
                                        "edge_int2",
                                        "h1",
                                        "h2",
                                        "tilt_ref",
                                        "L_sagitta"};
    *n = sizeof words / sizeof words[0];
    return words;
}

static int agree(double a, double b) { return fabs(a - b) <= AGREE * fmax(fabs(a), fabs(b)); }

/* Take the value of a quantity; if another key has given it before, the two must agree. */
static int take(const aw_element_reader *r, given *set, const aw_yaml_node *node, double value)
{
    if (set->node && !agree(set->value, value)) {
        aw_yaml_error(r->errors, node,
                      "disagrees with '%s' at line %d: %.10g and %.10g (expected "
                      "one of the two)",
                      set->node->key, set->node->line, value, set->value);
        return 0;
    }
    if (set->node) return 1;
    set->node = node;
    set->value = value;
    return 1;
}

static int positive(const aw_element_reader *r, const aw_yaml_node *node, double value)
{
    char shown[AW_YAML_SHOW];
    if (value > 0.0) return 1;
    aw_yaml_error(r->errors, node,
                  "%s is not positive (expected a length in m, e.g. 0.5; a bend "
                  "to the left has a negative angle and radius)",
                  aw_yaml_show(node, shown));
    return 0;
}

/* A key of BendP, or `length` of the element itself. */
static const aw_yaml_node *bend_get(const aw_spec *spec, const char *key)
{
    return aw_spec_get(spec, strcmp(key, "length") == 0 ? NULL : "BendP", key);
}

/* Parameter i of n that define the same quantity; NULL if it is not given. pals_schema writes 0 for
 * parameters that were not given, so a zero beside another value, or after another zero, counts as
 * not given. */
static const aw_yaml_node *one_of(const aw_spec *spec, const char *const *names, int n, int i)
{
    const aw_yaml_node *node = bend_get(spec, names[i]);
    if (!node || !aw_yaml_is_zero(node)) return node;
    for (int k = 0; k < n; ++k) {
        const aw_yaml_node *other = k == i ? NULL : bend_get(spec, names[k]);
        if (other && (k < i || !aw_yaml_is_zero(other))) return NULL;
    }
    return node;
}

/* Curvature from the value of g_ref, a radius or a field. */
static int curvature_of(const aw_element_reader *r, int of, const aw_yaml_node *node,
                        double *curvature)
{
    static const char *const expected[] = {"a curvature in 1/m, e.g. 0.1",
                                           "a radius in m, e.g. 25.13", "a field in T, e.g. -0.5"};
    double value = 0.0;
    if (!aw_yaml_number(r->errors, node, expected[of], &value)) return 0;
    *curvature = of == 0 ? value : of == 1 ? 1.0 / value : aw_strength_of_field(value, r->pc);
    if (of == 2 || isfinite(*curvature)) return 1;
    aw_yaml_error(r->errors, node, "a radius of zero (expected %s)", expected[1]);
    return 0;
}

static int read_curvature(const aw_element_reader *r, const aw_spec *spec, geometry *g)
{
    static const char *const names[] = {"g_ref", "radius_ref", "rho_ref", "Bn0_ref",
                                        "bend_field_ref"};
    static const int of[] = {0, 1, 1, 2, 2};
    int good = 1;
    for (int i = 0; i < 5; ++i) {
        const aw_yaml_node *node = one_of(spec, names, 5, i);
        double value = 0.0;
        if (!node) continue;
        if (!curvature_of(r, of[i], node, &value))
            good = 0;
        else if (of[i] == 2 && !(r->pc > 0.0))
            g->unknown = 1;
        else
            good &= take(r, &g->curvature, node, value);
    }
    return good;
}

static int read_length(const aw_element_reader *r, const aw_spec *spec, geometry *g)
{
    static const char *const names[] = {"length", "L_chord", "L_rectangle"};
    int good = 1;
    for (int i = 0; i < 3; ++i) {
        const aw_yaml_node *node = one_of(spec, names, 3, i);
        double value = 0.0;
        if (!node) continue;
        if (!aw_yaml_number(r->errors, node, "a length in m, e.g. 0.5", &value) ||
            !positive(r, node, value)) {
            good = 0;
            continue;
        }
        if (g->length.node) {
            aw_yaml_error(r->errors, node,
                          "'%s' is given as well, at line %d (expected one length)",
                          g->length.node->key, g->length.node->key_line);
            good = 0;
            continue;
        }
        g->length.node = node;
        g->length.value = value;
        g->kind = (length_kind)i;
    }
    return good;
}

/* Arc length from a length and an angle; not positive if no arc has both. */
static double arc_of(length_kind kind, double length, double angle)
{
    if (kind == CHORD) return fabs(angle) < 2.0 * AW_PI ? length / aw_sinc(0.5 * angle) : -1.0;
    if (kind == RECTANGLE) return fabs(angle) < AW_PI ? length / aw_sinc(angle) : -1.0;
    return length;
}

/* Angle from a length and a curvature; NaN if the circle is too small for the length. */
static double angle_of(length_kind kind, double length, double curvature)
{
    if (kind == CHORD) return 2.0 * asin(0.5 * curvature * length);
    if (kind == RECTANGLE) return asin(curvature * length);
    return curvature * length;
}

static const char *key_of(const given *g) { return g->node ? g->node->key : "length"; }

static int disagree(const aw_element_reader *r, const geometry *g, double angle)
{
    aw_yaml_error(r->errors, g->angle.node,
                  "disagrees with '%s' and '%s', which give %.10g rad (expected any two of "
                  "curvature, length and angle)",
                  key_of(&g->curvature), key_of(&g->length), angle);
    return 0;
}

static int not_defined(const aw_element_reader *r, const aw_spec *spec)
{
    aw_yaml_key_error(r->errors, spec->place,
                      "the bend is not defined (expected two of: g_ref "
                      "or radius_ref; length or L_chord; angle_ref)");
    return 0;
}

/* Arc and angle from two of length, angle and curvature; a length alone is that of a drift. */
static int solve(const aw_element_reader *r, const aw_spec *spec, const geometry *g, double *arc,
                 double *angle)
{
    const given *first = &g->length, *second = g->angle.node ? &g->angle : &g->curvature;
    *angle = g->angle.node ? g->angle.value : 0.0;
    if (g->length.node && (g->angle.node || !g->curvature.node)) {
        *arc = arc_of(g->kind, g->length.value, *angle);
    } else if (g->length.node) {
        *angle = angle_of(g->kind, g->length.value, g->curvature.value);
        *arc = g->kind == ARC || *angle == 0.0 ? g->length.value : *angle / g->curvature.value;
    } else if (g->angle.node && g->curvature.node) {
        first = &g->angle;
        second = &g->curvature;
        *arc = g->angle.value / g->curvature.value;
    } else {
        return not_defined(r, spec);
    }
    if (!(isfinite(*arc) && isfinite(*angle) && *arc > 0.0)) {
        aw_yaml_key_error(r->errors, spec->place,
                          "no bend has this '%s' and this '%s' (expected the same sign of angle "
                          "and radius, and a length that fits the circle)",
                          key_of(first), key_of(second));
        return 0;
    }
    if (fabs(*angle) > 2.0 * AW_PI) {
        aw_yaml_key_error(r->errors, spec->place,
                          "turns by %.6g rad, more than a full circle "
                          "(expected an angle in rad, e.g. 0.1)",
                          *angle);
        return 0;
    }
    double want = g->curvature.value * *arc;
    if (g->length.node && g->angle.node && g->curvature.node && !agree(want, *angle))
        return disagree(r, g, want);
    return 1;
}

/* One of n words, in any case. @return its index; n with the problem noted: none of them */
static int read_word(const aw_element_reader *r, const aw_yaml_node *node, const char *const *words,
                     int n, const char *expected)
{
    char lower[24], shown[AW_YAML_SHOW];
    size_t i = 0;
    int which = 0;
    const char *text = aw_yaml_text(r->errors, node, expected);
    if (!text) return n;
    for (; text[i] && i + 1 < sizeof lower; ++i) lower[i] = (char)tolower((unsigned char)text[i]);
    lower[i] = '\0';
    while (which < n && strcmp(words[which], lower) != 0) ++which;
    if (which == n)
        aw_yaml_error(r->errors, node, "%s is not known (expected %s)", aw_yaml_show(node, shown),
                      expected);
    return which;
}

/* Part of the angle that lies between a rectangular and a sector face at each end. */
static int read_faces(const aw_element_reader *r, const aw_spec *spec, int rectangular,
                      double share[2], int *parallel)
{
    static const char *const names[] = {"arc", "chord", "entrance_coords", "exit_coords"};
    static const double shares[4][2] = {{0.5, 0.5}, {0.5, 0.5}, {0.0, 1.0}, {1.0, 0.0}};
    const aw_yaml_node *node = aw_spec_get(spec, "BendP", "ref_geometry");
    int which = rectangular ? 1 : 0;
    if (node) which = read_word(r, node, names, 4, "arc, chord, entrance_coords or exit_coords");
    if (which == 4) return 0;
    share[0] = shares[which][0];
    share[1] = shares[which][1];
    *parallel = which != 0;
    return 1;
}

/* The face at the entrance or the exit, from e or e_rect: e = e_rect + share angle. */
static int read_face(const aw_element_reader *r, const aw_spec *spec, int exit, double turn,
                     int parallel, double *e)
{
    static const char *const names[2][3] = {{"e1", "e1_rect", "e1"}, {"e2", "e2_rect", "e2"}};
    const char *const *preferred = names[exit] + parallel; /* of two zeros the first counts */
    const aw_yaml_node *first = one_of(spec, preferred, 2, 0);
    const aw_yaml_node *second = one_of(spec, preferred, 2, 1);
    const aw_yaml_node *node = first ? first : second;
    char shown[AW_YAML_SHOW];
    double value = 0.0;
    *e = parallel ? turn : 0.0;
    if (first && second) {
        aw_yaml_key_error(r->errors, second,
                          "'%s' is given as well, at line %d (expected one of the "
                          "two)",
                          first->key, first->key_line);
        return 0;
    }
    if (!node) return 1;
    if (!aw_yaml_number(r->errors, node, "an angle in rad, e.g. 0.05", &value)) return 0;
    *e = node->key[2] == '\0' ? value : value + turn;
    if (fabs(*e) <= FACE_MAX) return 1;
    aw_yaml_error(r->errors, node,
                  "%s turns the face by more than %g rad (expected an angle in rad, e.g. 0.05)",
                  aw_yaml_show(node, shown), FACE_MAX);
    return 0;
}

/* Fringe integrals, curved faces, rolls, which this program does not model, and the sagitta, which
 * follows from the rest. */
static int check_absent(const aw_element_reader *r, const aw_spec *spec)
{
    static const char *const names[] = {"edge1_int", "edge2_int", "edge_int1", "edge_int2",
                                        "h1",        "h2",        "tilt_ref",  "L_sagitta"};
    const aw_yaml_node *follows = aw_spec_get(spec, "BendP", "Kn0_from_g_ref");
    int good = 1, flag = 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        const aw_yaml_node *node = aw_spec_get(spec, "BendP", names[i]);
        double value = 0.0;
        if (!node) continue;
        if (!aw_yaml_number(r->errors, node, "0", &value))
            good = 0;
        else if (value != 0.0) {
            aw_yaml_error(r->errors, node,
                          "is not supported (expected 0: hard, flat edges in the "
                          "horizontal plane)");
            good = 0;
        }
    }
    if (!follows) return good;
    if (!aw_yaml_bool(r->errors, follows, &flag)) return 0;
    if (flag) return good;
    aw_yaml_error(r->errors, follows,
                  "a field other than the reference field is not supported "
                  "(expected true)");
    return 0;
}

/* The first component besides the dipole that acts, or NULL. */
static const aw_yaml_node *first_gradient(const aw_multipole *field)
{
    for (int n = 1; n < AW_ORDERS; ++n)
        if (field->value[n] != 0.0) return field->node[n];
    return NULL;
}

/* What the components are those of. Along straight axes a gradient would move the orbit off the
 * arc. */
static int read_geometry(const aw_element_reader *r, const aw_spec *spec, int arc,
                         const aw_multipole *field, aw_element *out)
{
    static const char *const names[] = {"follows_ref_geometry", "vertically_pure",
                                        "horizontally_pure",    "chord",
                                        "entrance_coords",      "exit_coords"};
    const aw_yaml_node *node = aw_spec_get(spec, "BendP", "multipole_geometry");
    const aw_yaml_node *gradient = first_gradient(field);
    int which = 0;
    if (node)
        which = read_word(r, node, names, 6,
                          "follows_ref_geometry, vertically_pure, horizontally_pure, chord, "
                          "entrance_coords or exit_coords");
    if (which == 6) return 0;
    if (gradient && (which > 2 || (which == 0 && !arc))) {
        aw_yaml_error(r->errors, gradient,
                      "in a bend, multipoles along a straight axis are not supported (expected "
                      "multipole_geometry: vertically_pure or horizontally_pure in BendP, which "
                      "follow the arc)");
        return 0;
    }
    out->geometry = gradient && which == 2 ? AW_HORIZONTALLY_PURE : AW_VERTICALLY_PURE;
    return 1;
}

/* The dipole must be that of the reference, which has it already; the rest is `out`'s. */
static int read_field(const aw_element_reader *r, const aw_spec *spec, int arc, aw_element *out)
{
    aw_multipole field = {.highest = AW_BEND_ORDER, .length = out->length};
    const double curvature = out->angle / out->length;
    if (!aw_multipole_read(r, spec, &field)) return 0;
    if (field.node[0] && r->pc > 0.0 && !agree(field.value[0], curvature)) {
        aw_yaml_error(r->errors, field.node[0],
                      "a field other than the reference field is not supported "
                      "(expected Kn0 = g_ref = %.10g 1/m)",
                      curvature);
        return 0;
    }
    field.value[0] = 0.0;
    memcpy(out->strength, field.value, sizeof out->strength);
    return read_geometry(r, spec, arc, &field, out);
}

int aw_bend_read(const aw_element_reader *r, const aw_spec *spec, int rectangular, aw_element *out)
{
    geometry g = {.kind = ARC};
    double share[2] = {0.5, 0.5}, angle = 0.0;
    int parallel = 0;
    g.angle.node = aw_spec_get(spec, "BendP", "angle_ref");
    int good = !g.angle.node ||
               aw_yaml_number(r->errors, g.angle.node, "an angle in rad, e.g. 0.1", &g.angle.value);
    good &= read_curvature(r, spec, &g);
    good &= read_length(r, spec, &g);
    good &= check_absent(r, spec);
    good &= read_faces(r, spec, rectangular, share, &parallel);
    if (!good || g.unknown || !solve(r, spec, &g, &out->length, &angle)) return 0;
    out->angle = angle;
    good = read_face(r, spec, 0, share[0] * angle, parallel, &out->e1);
    good &= read_face(r, spec, 1, share[1] * angle, parallel, &out->e2);
    return read_field(r, spec, !parallel, out) && good;
}
