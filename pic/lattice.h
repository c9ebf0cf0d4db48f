/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine: elements, the design orbit through them, and the regions a particle crosses. */
#ifndef AW_PIC_LATTICE_H
#define AW_PIC_LATTICE_H
#include <stddef.h>

#include "kernels/math/orbit.h"
#include "pic/particle/track.h"
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Owned by the caller of aw_lattice_new. The first and last regions are drifts that extend to
 *  infinity; neighbouring bends of equal curvature without an edge between them are merged. */
typedef struct aw_lattice {
    size_t n;
    aw_element *element;
    double gamma_ref; /* reference energy: sets the fields */
    double p_ref;     /* gamma beta of the reference particle */
    double begin;     /* arc length at which the bunch starts [m]: ahead of it the elements act, and
                       * the orbit behind it is straight, through (0, 0) along +z there */
    double length;    /* of the design orbit, of all elements [m] */
    int regions;
    aw_field_region *region;
    aw_orbit_piece *piece;
    aw_orbit_view orbit; /* borrows piece */
} aw_lattice;

/** Path of the bunch upstream of the lattice: straight, or the circle of the first bend. */
typedef enum aw_upstream { AW_UPSTREAM_DRIFT, AW_UPSTREAM_STEADY } aw_upstream;

/** Where the bunch starts [m], and its path upstream of that. */
typedef struct aw_lattice_start {
    double S;
    aw_upstream upstream;
} aw_lattice_start;

/** Why a lattice is refused. */
typedef struct aw_lattice_problem {
    size_t element; /* index of the element to blame; n: the lattice as a whole */
    char text[400];
} aw_lattice_problem;

/** 1 if the element acts on a particle: it bends, or has a strength or voltage that is not 0. */
int aw_element_acts(const aw_element *element);

/** Whether there is a cavity with a voltage. */
int aw_lattice_has_cavity(const aw_lattice *lattice);

/** Build the orbit and the regions; S = 0 at the first element's entrance, where the bunch starts,
 *  heading along +z.
 *  With AW_UPSTREAM_STEADY the orbit continues the first element backwards, which must be a bend
 *  (markers aside). Elements are copied. An element cut in two gives the same lattice.
 *  Multipoles without length act where they stand, also at the start of the bunch itself. A cavity
 *  acts at its centre; the reference, whose phase there is given, is at the start of the bunch at
 *  time 0 and has the reference momentum. The field of a bend's strengths: docs/theory.md,
 *  "Magnets".
 *  @return AW_OK; AW_ERR_NOMEM; AW_ERR_ARG (printed): no length, a number that is not finite, a
 *          strength of a kind that has none or far too large, planes that cross within the beam
 *          pipe, steady without a leading bend. */
aw_status aw_lattice_new(const aw_element *element, size_t n, double gamma_ref,
                         aw_upstream upstream, aw_lattice **out);

/** The same, but the bunch starts at any S that is in a drift or between elements, and the reason
 *  of AW_ERR_ARG goes to `problem` and is not printed: for a reader that knows the place of each
 *  element in a file. */
aw_status aw_lattice_try(const aw_element *element, size_t n, double gamma_ref,
                         const aw_lattice_start *start, aw_lattice_problem *problem,
                         aw_lattice **out);
void aw_lattice_free(aw_lattice *lattice);

/** Way of the bunch from its start to the end [m]. */
static inline double aw_lattice_way(const aw_lattice *lattice)
{
    return lattice->length - lattice->begin;
}

/** Its regions, borrowed, for a tracking that ends at the time until/c. */
static inline aw_fields_view aw_lattice_fields(const aw_lattice *lattice, double until)
{
    return (aw_fields_view){lattice->region, lattice->regions, lattice->p_ref, until};
}

AW_END_DECLS
#endif
