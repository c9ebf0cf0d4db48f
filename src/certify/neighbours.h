/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of a certificate: the case itself, and neighbours that differ in one number. */
#ifndef AW_CERTIFY_NEIGHBOURS_H
#define AW_CERTIFY_NEIGHBOURS_H
#include "src/plan/plan.h"

AW_BEGIN_DECLS

/** Number of particles over that of the runs for the noise, and of tolerances. */
#define AW_FEWER_PARTICLES 4
#define AW_LARGER_TOLERANCE 10.0
/** From one level of grid or step to the next coarser one; and of the finer one. */
#define AW_COARSER 1.5
#define AW_FINER 0.75

/** What differs. */
typedef enum aw_source {
    AW_SOURCE_GRID,
    AW_SOURCE_STEP,
    AW_SOURCE_NOISE,
    AW_SOURCE_QUADRATURE,
    AW_SOURCES
} aw_source;

/** The finer level of grid or step; levels 1 and 2 are coarser by AW_COARSER once and twice. */
enum { AW_LEVEL_FINER = 0 };

/** Nodes of a side of the grid of a level: of the same parity, so that a node lies on the axis or
 *  not as it does in the case. */
int aw_level_nodes(int n, int level);

/** Spacing of another grid over that of the first, about the same bunch (geometric mean of s and
 *  x). */
double aw_grid_ratio(const int first[2], const int other[2]);

/** "grid", "step", "noise", "quadrature"; static storage. */
const char *aw_source_name(aw_source source);

enum { AW_NEIGHBOURS_MAX = 11, AW_NEIGHBOUR_SETS = 16 };

/** A run. The first of a list is the case itself, in DIR; the others are in DIR/NAME. */
typedef struct aw_neighbour {
    char name[16]; /* "" is the case itself; grid-1, grid-2, grid-finer, step-1 .. */
    aw_source source;
    int level;                    /* of grid or step; of noise the number of the seed */
    double ratio;                 /* spacing of grid or step over that of the case */
    char *set[AW_NEIGHBOUR_SETS]; /* owned: n_set texts for --set, after those of the user */
    size_t n_set;
    long steps, solve_every; /* options of its run; 0: not given */
    char *directory;         /* owned */
    char *text;              /* owned: of its resolved.yaml */
    aw_plan plan;
    double cost; /* estimated, over that of the case */
    int done;    /* 1: its directory has a complete run with this text */
    int failed;  /* exit status of its run, where that went wrong */
} aw_neighbour;

/** Whether a run has a finer grid or shorter steps than the case. */
int aw_is_finer(const aw_neighbour *run);

/** The runs of a case. Free with aw_neighbours_free. */
typedef struct aw_neighbours {
    size_t n;
    aw_neighbour run[AW_NEIGHBOURS_MAX];
} aw_neighbours;

/** What the user gave. */
typedef struct aw_case_input {
    const char *path;       /* of the run file */
    const char *const *set; /* [n_set], borrowed: as for aw_config_read */
    size_t n_set;
    long steps;
    int solve_every, threads;
    const char *directory; /* DIR */
    const char *program;   /* as for aw_resolved_text */
} aw_case_input;

/** List the runs: the case; grid / 1.5 and / 2.25; step x 1.5 and x 2.25; a quarter of the
 *  particles with three other seeds; ten times the tolerance. A level that would have fewer than 8
 *  nodes a side (the second: 12), or no step, is left out, and so is a tolerance above 1.
 *  Neighbours write no particles but at the last step, and in self-consistent motion no other mesh
 *  files. In other motion they solve where the case does; with other steps, on both sides of those
 *  places, so that their values can be interpolated.
 *  @param[in] config  the case, read from `input`
 *  @return AW_OK, AW_ERR_INPUT, AW_ERR_NOMEM (messages) */
aw_status aw_neighbours_make(const aw_case_input *input, const aw_config *config,
                             aw_neighbours *out);

/** Append the run of level AW_LEVEL_FINER of a source, grid or step, and look whether it is
 *  complete already.
 *  @return as aw_neighbours_make; the list is left as it was if that goes wrong */
aw_status aw_neighbours_add_finer(const aw_case_input *input, const aw_config *config,
                                  aw_source source, aw_neighbours *list);
/** Remove the last run of a list. */
void aw_neighbours_drop_last(aw_neighbours *list);
void aw_neighbours_free(aw_neighbours *list);

/** Look which runs are complete already: resolved.yaml agrees and monitor.csv has the last step. */
void aw_neighbours_look(aw_neighbours *list);

/** Estimated cost of each run over that of the case, whose monitor.csv says what its parts took: of
 *  the potentials and forces (grid points)^1.5, of the rest the particles; and steps.
 *  @return wall time of the case [s]; NaN: it is not known */
double aw_neighbours_cost(aw_neighbours *list);

AW_END_DECLS
#endif
