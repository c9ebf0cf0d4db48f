/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The resolved run file: every key of docs/input.md, with defaults filled in. */
#ifndef AW_INPUT_CONFIG_H
#define AW_INPUT_CONFIG_H
#include <stddef.h>

#include "kernels/device/tuning.h"
#include "pic/lattice.h"
#include "pic/particles.h"
#include "pic/wake/wake.h"
#include "src/base/status.h"
#include "src/io/file.h"

AW_BEGIN_DECLS

typedef enum aw_motion { AW_MOTION_SELF_CONSISTENT, AW_MOTION_RIGID, AW_MOTION_EXTERNAL } aw_motion;

#define AW_NAME_MAX 64
/* step_m: auto. */
#define AW_STEP_AUTO 0.0
/* step_scale, at least. */
#define AW_STEP_SCALE_LEAST 0.1
/* Keys that `accuracy` stands for where they are not given (src/plan/choose.h). */
enum {
    AW_GIVEN_GRID = 1,
    AW_GIVEN_STEP = 2,
    AW_GIVEN_SCALE = 4,
    AW_GIVEN_PARTICLES = 8,
    AW_GIVEN_TOLERANCE = 16
};
/* Solver of runs and validation cases that do not name one. */
#define AW_DEFAULT_SOLVER "projection"

/** Owned by the caller of aw_config_read; free with aw_config_free. SI units throughout. */
typedef struct aw_config {
    char *title;
    char *path;          /* of the run file, as given */
    char *lattice_path;  /* resolved relative to the run file; NULL: the lattice stands in it */
    char *lattice_name;  /* of the Lattice in use */
    double lattice_eV;   /* reference energy as the lattice gives it, gamma_ref to rounding */
    aw_beam_params beam; /* with a file: the moments of its particles (aw_beam_moments), and
                          * quiet where their noise is far below chance (aw_beam_noise) */
    char *beam_file;     /* path of the file of particles, absolute; NULL: the beam is drawn */
    long beam_iteration; /* of the file; AW_ITERATION_LAST, AW_ITERATION_ALL */
    size_t beam_wanted;  /* particles that are drawn or made of those of the file; 0: its own */
    aw_isr isr;          /* incoherent radiation of the particles, which also uses beam.seed */
    double start_m;      /* arc length at which the beam starts: lattice->begin */
    int beam_scaled;     /* 1: beam.charge_C is given, too */
    int beam_height;     /* 1: its height is given, too; 0: it is that of the particles */
    size_t beam_alive;   /* particles of the file, without those that it marks as lost */
    char *profile;       /* path of the table of the current, absolute; NULL: none */
    double *table_s, *table_current; /* that table, owned (beam.table_n) */
    aw_particles *beam_at; /* the particles of the file at the start, owned; NULL: no file */
    aw_wake *wake;         /* [wakes] of the machine, owned; of each */
    struct aw_wake_item *wake_item; /* how it was given (src/input/wakes.h) */
    size_t wakes;
    aw_motion motion;
    int line;          /* 1: forces of the one-dimensional model (pic/line) */
    int line_model;    /* an aw_line_model */
    double accuracy;   /* wanted relative error of the results at the end; 0: not given */
    int given;         /* the keys of AW_GIVEN_.. that the input has: with accuracy, the others are
                        * defaults until aw_choose_apply */
    int grid[2];       /* points along s, x */
    double step_m;     /* c dt [m]; AW_STEP_AUTO: a ladder (src/plan/schedule.h), */
    double step_scale; /* all steps of which are this many times as long */
    double tolerance;
    char solver[AW_NAME_MAX];
    int forecast_neighbours; /* the members of aw_forecast (src/solvers/solver.h) */
    int forecast_classes;    /* 0: the longer side of the grid, up to 64 */
    int forecast_conversion; /* an aw_conversion */
    int forecast_merge;      /* an aw_merge */
    int history_single;      /* 1: history in single precision */
    aw_upstream upstream;
    double history_MiB; /* memory budget of the history */
    double plates_gap;  /* between conducting plates [m]; 0: free space */
    double upstream_m;  /* cutoff of the straight upstream: distance from the field point [m] */
    int inner_density;  /* nodes of the inner rule per cell crossed, 1 .. 16; default 1 */
    int solve_every;    /* 0: at mesh steps only; self-consistent runs: at every step */
    char device[256];   /* auto | cpu | ..., as given */
    int threads;        /* 0: OpenMP's default */
    aw_tuning tuning;   /* of the CPU device; zeros: the defaults */
    long steps;         /* 0: to the end of the lattice */
    char *directory;    /* output */
    int every;          /* steps between mesh files; 0: only at_m and the last step */
    double *at_m;       /* mesh files also at the first step at or beyond these arc lengths [m] */
    size_t at_n;
    int particles_every;    /* steps between particle outputs; 0: none of these */
    double *particles_at_m; /* particles also at the first step at or beyond these [m] */
    size_t particles_at_n;
    int checkpoint_every;   /* steps between checkpoints; 0: only where the run is stopped */
    int spectrum;           /* 1: what the bunch radiates is computed at the end of a run */
    aw_lattice *lattice;    /* owned */
    struct aw_place *place; /* where each key was given, owned; NULL without a run file */
} aw_config;

/** The end of a remedy for the noise of the particles: how else than by their number; "" if they
 *  are quiet already. */
const char *aw_config_quieter(const aw_config *config);

/** Read a run file and its lattice. All problems are printed, each on one line
 *  `file:line:column: key: problem (expected ...)`; no file is written.
 *  @param[in] set  n_set texts "key.path=value" (borrowed), which replace values of the file
 *  @return AW_OK, AW_ERR_INPUT (problems in the files, a missing file, or in --set), AW_ERR_NOMEM.
 *          *out is NULL unless AW_OK. */
aw_status aw_config_read(const char *path, const char *const *set, size_t n_set, aw_config **out);

/** What a configuration is read from; everything is borrowed. */
typedef struct aw_config_source {
    const char *path;       /* of the run file */
    const char *text;       /* NULL; else the run file itself: `path` stands for it in messages,
                               * and its relative paths begin at the folder of that */
    const char *const *set; /* [n_set] */
    size_t n_set;
    const aw_particles *beam; /* NULL; else the particles, in place of all keys of `beam` but
                               * start_m, isr, seed and, where they have no y, the height */
} aw_config_source;

/** The same from any source. */
aw_status aw_config_read_from(const aw_config_source *source, aw_config **out);
void aw_config_free(aw_config *config);

/** The resolved input as YAML text, with the lattice in it: aw_config_read makes the same
 *  configuration of it, bit by bit, without another file. Its first line is AW_DIRECTORY_MARK. A
 *  malloc'd string, to be freed with free(); NULL if out of memory. */
char *aw_config_text(const aw_config *config);

AW_END_DECLS
#endif
