/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strategies by name: the run file, the command line and src/solvers know the same ones. */
#ifndef AW_BASE_STRATEGIES_H
#define AW_BASE_STRATEGIES_H

/** X(identifier, name): FIRST the first, X each other. A strategy is a row here, a file
 *  src/solvers/<identifier>.c that defines aw_strategy_<identifier>, and a line for CMake. */
#define AW_STRATEGIES(FIRST, X)       \
    FIRST(adaptive, "adaptive")       \
    X(two_phase, "two-phase")         \
    X(heuristic, "heuristic")         \
    X(predictive, "predictive")       \
    X(heterogeneous, "heterogeneous") \
    X(projection, "projection")

#define AW_STRATEGY_FIRST_(identifier, name) name
#define AW_STRATEGY_BAR_(identifier, name) "|" name
#define AW_STRATEGY_COMMA_(identifier, name) ", " name

/** All names, "a|b|c", and "a, b, c" for messages. */
#define AW_STRATEGY_CHOICES AW_STRATEGIES(AW_STRATEGY_FIRST_, AW_STRATEGY_BAR_)
#define AW_STRATEGY_NAMES AW_STRATEGIES(AW_STRATEGY_FIRST_, AW_STRATEGY_COMMA_)

#endif
