/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The energy balance of a run: what the particles lose is radiated, or goes into the field that the
 * bunch carries along. docs/spectrum.md, "Energy balance". */
#ifndef AW_SPECTRUM_BALANCE_H
#define AW_SPECTRUM_BALANCE_H
#include "src/spectrum/bound.h"

AW_BEGIN_DECLS

/** A directed beam: its directions must spread by less than this over gamma for its particles'
 *  fields to go on together. */
#define AW_BALANCE_SPREAD 0.5

/** The balance [J]. It closes where radiated + bound[1] - bound[0] = lost + missing. */
typedef struct aw_balance {
    const char *open; /* why it cannot be drawn up, in words; NULL: it can. Static storage */
    double lost;      /* by the particles to their own field, up to the last slice */
    double missing;   /* what they lose behind that, to the field that is not whole yet */
    double radiated;  /* coherent, over all directions and frequencies */
    double bound[2];  /* in the field that goes with the bunch, of the first and the last slice */
} aw_balance;

/** Bound fields at the first and at the last slice, and the rest from there on; leaves `lost` and
 *  `radiated` to the caller. Where the bunch does not go straight on as it is (the slice lies in a
 *  bend, or its directions spread too far), balance->open says so.
 *  @param[in] orbit  design orbit
 *  @param[in] p  of the slice; the last bend before it is found from the orbit
 *  @return AW_OK, AW_ERR_NOMEM */
aw_status aw_balance_begin(aw_balance *balance, const aw_orbit_view *orbit, aw_bound_params p);
aw_status aw_balance_end(aw_balance *balance, const aw_orbit_view *orbit, aw_bound_params p);

/** By how much it does not close, over what the particles lose in all. */
double aw_balance_gap(const aw_balance *balance);

AW_END_DECLS
#endif
