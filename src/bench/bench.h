/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interface between the files of `arcwake bench`: its options and its measurements. */
#ifndef AW_BENCH_BENCH_H
#define AW_BENCH_BENCH_H
#include "kernels/device/peak.h"
#include "src/base/command.h"
#include "src/bench/figures.h"
#include "src/input/config.h"
#include "src/io/text.h"
#include "src/solvers/solver.h"

AW_BEGIN_DECLS

enum {
    /* Steps before the first solve: then the history holds all that the circle of causality
     * crosses ... */
    AW_BENCH_STEPS = 160,
    /* ... and the steps that may follow; after 250 the bunch leaves the bend. */
    AW_BENCH_SOLVES = 80,
    AW_BENCH_LIST = 16, /* capacity of the lists of options */
    AW_BENCH_DIGITS = 6 /* significant digits in JSON */
};

/** Beams of `bench`. */
enum { AW_BENCH_ROUND, AW_BENCH_TILTED, AW_BENCH_MODULATED, AW_BENCH_LONG, AW_BENCH_BEAMS };
/** Their names, and NULL. */
extern const char *const aw_bench_beam_name[AW_BENCH_BEAMS + 1];

/** Options of `bench`. Strings are borrowed from argv. */
typedef struct aw_bench {
    long grid[AW_BENCH_LIST], particles[AW_BENCH_LIST];
    char solver[AW_BENCH_LIST][AW_NAME_MAX];
    int grids, counts, solvers; /* lengths of these lists; 0: not given */
    int across;                 /* nodes across the motion; 0: as many as along it */
    const char *device, *slow, *json, *patterns;
    double tolerance;
    int beam;         /* AW_BENCH_ROUND, ... */
    int random;       /* 1: random start, 0: quiet start, -1: not given */
    int threads;      /* 0: as many as OpenMP chooses */
    aw_tuning tuning; /* of the CPU device; zeros: the defaults */
    int skip, repeat; /* solves before those that are timed, and timed solves; -1: not given */
    int verify, tables, kernel;
    int sets;             /* 1: time every subset of the devices */
    int step, hold;       /* --step: whole steps; --hold: potentials of the first step only */
    long cuhre;           /* --cuhre: instances of each family and dimension; 0: not given */
    long form_factor;     /* --form-factor: waves of a lattice; 0: not given */
    long memory;          /* --memory: budget of the form factor [MiB]; 0: not given */
    aw_forecast forecast; /* for the strategies that forecast */
} aw_bench;

/** Read the options, and set the others to their defaults (which --tables and --step change).
 *  @return AW_OK, AW_ERR_ARG (one line: the mistake and its remedy). */
aw_status aw_bench_options(int argc, char **argv, aw_bench *bench);

/** Time one strategy on one grid and number of particles.
 *  @return as aw_simulation_new and its steps (messages) */
aw_status aw_bench_measure(const aw_bench *bench, const char *solver, long grid, long particles,
                           aw_bench_row *row);

/** Largest number of devices for --sets, and of rows that aw_bench_devices fills. */
enum { AW_BENCH_SETS = 5, AW_BENCH_ROWS = 1 << AW_BENCH_SETS };

/** Time several devices together, each alone and, with --sets, every other subset of them; they
 *  take turns at every step (dissertation, tables 8 to 12).
 *  @param[out] row   [AW_BENCH_ROWS]: all devices, then one row for each, then the other subsets
 *  @param[out] rows  rows filled
 *  @return AW_OK; AW_ERR_ARG: --sets with too many devices; else as aw_simulation_new, its steps,
 *          aw_device_list_open and aw_solver_solve (messages) */
aw_status aw_bench_devices(const aw_bench *bench, const char *solver, long grid, long particles,
                           aw_bench_row *row, int *rows);

/** Head and lines of the plain table. */
void aw_bench_print_head(const aw_bench *bench);
void aw_bench_print_row(const aw_bench *bench, const aw_bench_row *row);

/** All rows as tables 3 to 7 of the dissertation. */
void aw_bench_print_tables(const aw_bench *bench, const aw_bench_row *row, int rows,
                           const aw_peak *peak);

/** Times, ideal times and efficiencies of the rows of aw_bench_devices, as tables 8 to 12 of the
 *  dissertation. */
void aw_bench_print_sets(const aw_bench_row *row, int rows);

/** Write a JSON list with one object for each row.
 *  @param[in] peak  NULL: not measured
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (messages). */
aw_status aw_bench_json(const char *path, const aw_bench_row *row, int rows, const aw_peak *peak);

/** `bench --kernel`: time the sums over the nodes of a tile alone, for every SIMD variant.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (messages). */
aw_status aw_bench_kernel(const aw_bench *bench);

/** `bench --patterns`: write the work at every point and the partitions of a few points into the
 *  file bench->patterns.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO, or as aw_simulation_new and its steps (messages). */
aw_status aw_bench_patterns(const aw_bench *bench);

/** `bench --step`: time every part of a self-consistent step.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO, or as aw_simulation_new and its steps (messages). */
aw_status aw_bench_step(const aw_bench *bench);

/** `bench --cuhre`: integrate `instances` integrands of each family and dimension; print two
 *  tables, and write a JSON list with one object for each family and dimension. A missed tolerance
 *  is counted and is not an error.
 *  @param[in] name     of the device, which integrates if it has the operation, else the host does
 *  @param     threads  of the host; 0 stands for 1, as each integral is short
 *  @param[in] json     path of the file; NULL: none
 *  @return AW_OK, AW_ERR_NONFINITE, AW_ERR_NOMEM, AW_ERR_IO, AW_ERR_BACKEND (messages). */
aw_status aw_bench_cuhre(long instances, const char *name, int threads, const char *json);

/** `bench --form-factor`: time form factors at lattices of one to three axes and at a list.
 *  @return AW_OK, or as aw_form_factor, aw_device_open and aw_json_save (messages). */
aw_status aw_bench_form_factor(const aw_bench *bench);

AW_END_DECLS
#endif
