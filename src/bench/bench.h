/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of `arcwake bench` share: its options, and what one measurement gives. */
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
    /* Steps before the first solve: by then the stored slices hold all that the circle meets ... */
    AW_BENCH_STEPS = 160,
    /* ... and steps after it before the bunch leaves the bend (at 250). */
    AW_BENCH_SOLVES = 80,
    AW_BENCH_LIST = 16, /* capacity of the lists of options */
    AW_BENCH_DIGITS = 6 /* significant digits in JSON */
};

/** Beams of `bench`. */
enum { AW_BENCH_ROUND, AW_BENCH_TILTED, AW_BENCH_MODULATED };

/** Options of `bench`. Texts are borrowed from argv. */
typedef struct aw_bench {
    long grid[AW_BENCH_LIST], particles[AW_BENCH_LIST];
    char solver[AW_BENCH_LIST][AW_NAME_MAX];
    int grids, counts, solvers; /* of the lists; 0: not given */
    const char *device, *slow, *json, *patterns;
    double tolerance;
    int beam;         /* AW_BENCH_ROUND, ... */
    int random;       /* 1: random start, 0: quiet, -1: not given */
    int threads;      /* 0: as many as OpenMP gives */
    aw_tuning tuning; /* of the CPU device; zeros: the defaults */
    int skip, repeat; /* solves that do not count, and that do; -1: not given */
    int verify, tables, kernel;
    int sets;             /* 1: every set of several devices */
    int step, hold;       /* whole steps; with the potentials of the first */
    long cuhre;           /* instances of each family and dimension; 0: no */
    aw_forecast forecast; /* of the strategies that have one */
} aw_bench;

/** Read the options; what is not given gets its default, that of the tables with --tables.
 *  @return AW_OK, AW_ERR_ARG (one line: what and how to mend it). */
aw_status aw_bench_options(int argc, char **argv, aw_bench *bench);

/** Time one strategy on one grid and number of particles.
 *  @return AW_OK, or what the simulation says. */
aw_status aw_bench_measure(const aw_bench *bench, const char *solver, long grid, long particles,
                           aw_bench_row *row);

/** Most units of which --sets times every set, and most rows that aw_bench_devices fills. */
enum { AW_BENCH_SETS = 5, AW_BENCH_ROWS = 1 << AW_BENCH_SETS };

/** Time several devices together and each alone, with --sets every other set of them, too, in turn at
 *  every step (dissertation, tables 8 to 12).
 *  @param[out] row   [AW_BENCH_ROWS]: all devices, then one each, then the other sets
 *  @param[out] rows  how many
 *  @return AW_OK, or what the simulation or the devices say. */
aw_status aw_bench_devices(const aw_bench *bench, const char *solver, long grid, long particles,
                           aw_bench_row *row, int *rows);

/** Lines of the plain table. */
void aw_bench_print_head(const aw_bench *bench);
void aw_bench_print_row(const aw_bench *bench, const aw_bench_row *row);

/** The tables of the dissertation's numbers 3 to 7, of all rows. */
void aw_bench_print_tables(const aw_bench *bench, const aw_bench_row *row, int rows,
                           const aw_peak *peak);

/** Of rows of several devices and of single ones: times, ideal times and efficiencies, as in tables 8
 *  to 12. */
void aw_bench_print_sets(const aw_bench_row *row, int rows);

/** A list of objects, one a row. @param[in] peak  NULL: not measured
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (messages). */
aw_status aw_bench_json(const char *path, const aw_bench_row *row, int rows, const aw_peak *peak);

/** `bench --kernel`: the sums over the nodes of a tile alone, for every SIMD variant.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO (messages). */
aw_status aw_bench_kernel(const aw_bench *bench);

/** `bench --patterns`: work of every point and partitions of a few, into the file bench->patterns.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO, or what the simulation says (messages). */
aw_status aw_bench_patterns(const aw_bench *bench);

/** `bench --step`: every part of a self-consistent step.
 *  @return AW_OK, AW_ERR_NOMEM, AW_ERR_IO, or what the simulation says (messages). */
aw_status aw_bench_step(const aw_bench *bench);

/** `bench --cuhre`: `instances` of each family and dimension, two tables, and in the file `json`
 *  (may be NULL) a list of objects, one for each family and dimension. `unit` does the work if it
 *  can, else the host's threads: 0 is 1, as each of the integrals is short. A tolerance missed is
 *  counted, and is no error.
 *  @return AW_OK, AW_ERR_NONFINITE, AW_ERR_NOMEM, AW_ERR_IO, AW_ERR_BACKEND. */
aw_status aw_bench_cuhre(long instances, const char *unit, int threads, const char *json);

AW_END_DECLS
#endif
