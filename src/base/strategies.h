/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of the solver strategies: names, declarations, tables and messages are made from it. */
#ifndef AW_BASE_STRATEGIES_H
#define AW_BASE_STRATEGIES_H

/** One row per strategy, in the order of all tables and messages: NEXT(identifier, name). The first
 *  and the last row have macros of their own, so that lists of names can have separators between
 *  the names. The identifier is that of the object aw_strategy_<identifier> (src/solvers/solver.h);
 *  the name is the one in run files and on the command line. Add a strategy as a NEXT row
 *  (docs/adding-a-strategy.md). */
#define AW_STRATEGY_LIST(FIRST, NEXT, LAST) \
    FIRST(adaptive, "adaptive")             \
    NEXT(two_phase, "two-phase")            \
    NEXT(heuristic, "heuristic")            \
    NEXT(predictive, "predictive")          \
    NEXT(heterogeneous, "heterogeneous")    \
    LAST(projection, "projection")

#define AW_STRATEGY_NAME(identifier, name) name
#define AW_STRATEGY_BAR_NAME(identifier, name) "|" name
#define AW_STRATEGY_COMMA_NAME(identifier, name) ", " name
#define AW_STRATEGY_OR_NAME(identifier, name) " or " name

/** String literal "adaptive|two-phase|...": the choices of the key numerics.solver. */
#define AW_STRATEGY_NAMES \
    AW_STRATEGY_LIST(AW_STRATEGY_NAME, AW_STRATEGY_BAR_NAME, AW_STRATEGY_BAR_NAME)

/** String literal "adaptive, two-phase, ... or projection", for messages. */
#define AW_STRATEGY_TEXT \
    AW_STRATEGY_LIST(AW_STRATEGY_NAME, AW_STRATEGY_COMMA_NAME, AW_STRATEGY_OR_NAME)

#endif
