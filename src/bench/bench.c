/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake bench`: times the potentials of the LCLS bend in steady state. */
#include "src/bench/bench.h"

#include <omp.h>
#include <string.h>

#include "kernels/cpu/peak.h"
#include "src/base/comm.h"
#include "src/base/memory.h"
#include "src/tuning/file.h"

static aw_status measure_one(const aw_bench *b, const char *solver, long grid, long particles,
                             aw_bench_row *row, int *rows)
{
    *rows = 1;
    return aw_bench_measure(b, solver, grid, particles, row);
}

/* Peak of the device, per thread. */
static aw_status measure_peak(const aw_bench *b, aw_peak *peak)
{
    const int threads = b->threads > 0 ? b->threads : omp_get_max_threads();
    const aw_device_params params = {.threads = threads, .inner_density = 1.0};
    aw_status status = AW_OK;
    aw_device device = {NULL, NULL};
    AW_TRY(aw_device_open(b->device, &params, &device));
    if (device.ops->peak) {
        AW_TRY(device.ops->peak(device.state, peak));
        peak->threads = threads;
        for (int i = 0; i < 2; ++i) peak->arithmetic[i] /= threads;
        for (int i = 0; i < AW_PEAK_ARRAYS; ++i) peak->read[i] /= threads;
    } else {
        AW_TRY(aw_peak_measure(NULL, threads, peak));
    }
done:
    aw_device_close(&device);
    return status;
}

/* Every combination of grid, particles and strategy. */
static aw_status measure_all(const aw_bench *b)
{
    aw_status status = AW_OK;
    aw_peak peak;
    int rows = 0;
    const int list = strchr(b->device, ',') != NULL;
    const size_t combinations = (size_t)b->grids * (size_t)b->counts * (size_t)b->solvers;
    aw_bench_row *row = aw_alloc(combinations * (list ? AW_BENCH_ROWS : 1), sizeof *row);
    AW_TRY(row ? AW_OK : aw_error(AW_ERR_NOMEM, "out of memory"));
    if (b->tables) AW_TRY(measure_peak(b, &peak));
    aw_bench_print_head(b);
    for (int g = 0; g < b->grids; ++g)
        for (int n = 0; n < b->counts; ++n)
            for (int s = 0; s < b->solvers; ++s) {
                int done = 1;
                AW_TRY((list ? aw_bench_devices : measure_one)(b, b->solver[s], b->grid[g],
                                                               b->particles[n], &row[rows], &done));
                for (; done > 0; --done) aw_bench_print_row(b, &row[rows++]);
            }
    if (b->tables) aw_bench_print_tables(b, row, rows, &peak);
    if (list) aw_bench_print_sets(row, rows);
    if (b->json && aw_comm_rank() == 0)
        AW_TRY(aw_bench_json(b->json, row, rows, b->tables ? &peak : NULL));
done:
    aw_free(row);
    return status;
}

static aw_status run_command(int argc, char **argv)
{
    aw_bench b;
    aw_status status = AW_OK;
    AW_TRY(aw_bench_options(argc, argv, &b));
    if (aw_comm_size() > 1 && (b.tables || b.kernel || b.step || b.patterns || b.cuhre))
        return aw_error(AW_ERR_ARG, "bench: --tables, --kernel, --patterns, --step and --cuhre are "
                                    "measurements of one process (run them without mpirun)");
    if (b.cuhre) return aw_bench_cuhre(b.cuhre, b.device, b.threads, b.json);
    if (b.form_factor) return aw_bench_form_factor(&b);
    if (b.kernel) return aw_bench_kernel(&b);
    aw_tuning_load(&b.tuning);
    if (b.step) return aw_bench_step(&b);
    if (b.patterns) return aw_bench_patterns(&b);
    AW_TRY(measure_all(&b));
done:
    return status;
}

static const char help[] =
    "arcwake bench [--grid N[,N..]] [--particles N[,N..]] [--solver A[,B..]] [--device D]\n"
    "              [--tolerance T] [--sampling quiet|random] [--threads N] [--skip N]\n"
    "              [--repeat N] [--beam round|tilted|modulated|long] [--across N] [--verify]\n"
    "              [--tables] [--json FILE]\n"
    "Times the potentials of the LCLS bend in steady state: mean and best of --repeat steps (3)\n"
    "after --skip others (0), by projection, the default of runs, and by two-phase.\n"
    "  --beam    round (50 um), tilted (30 um by 2 mm, rotated by 0.1 rad), modulated (round,\n"
    "            density modulated by 20 % with a wavelength of 8 cells), or long (1 mm by 50 um,\n"
    "            modulated in the same way)\n"
    "  --across  nodes across the motion (as many as along it)\n"
    "  --verify  print the error against the adaptive strategy at a 1000 times smaller tolerance,\n"
    "            at 200 points\n"
    "  --tables  print the tables of docs/benchmarks.md; by default of two-phase, heuristic and\n"
    "            predictive, 1e5 and 1e6 particles, random start, --skip 5 --repeat 10\n"
    "  --device  several devices (cpu:0,manycore): all of them together and each alone; with\n"
    "            --sets every subset; --slow cpu:0=2,..: make cpu:0 twice as slow\n"
    "Options of heuristic and predictive:\n"
    "  --forecast learned|off|random  --neighbours K  --classes M  --least X  --budget X\n"
    "  --conversion even|uniform|adaptive  --merge most|mean      (docs/strategies.md)\n"
    "arcwake bench --kernel [--grid N[,N..]] [--json FILE]\n"
    "Times the evaluation of the integrand alone, for every SIMD variant.\n"
    "arcwake bench --patterns FILE [--grid N] [--particles N] [--solver A] [--skip N]\n"
    "Writes the work at every point, and the partitions of a few points, for\n"
    "tools/bench_plots.py.\n"
    "arcwake bench --step [--hold] [--grid N[,N..]] [--particles N[,N..]] [--solver A[,B..]]\n"
    "              [--threads N] [--skip N] [--repeat N] [--json FILE]\n"
    "Times every part of a self-consistent step in the same bend (128 x 128, 1e6 particles,\n"
    "projection): best and mean. --hold: solve at the first step only and keep its potentials,\n"
    "which times the particle side (--repeat 60).\n"
    "arcwake bench --cuhre[=N] [--device D] [--threads N] [--json FILE]\n"
    "Integrates Genz's test functions, N (24) of each family in 2 to 8 dimensions, and counts the\n"
    "results within the tolerance, those that miss it silently, and those that report it.\n"
    "arcwake bench --form-factor[=N] [--particles N] [--memory MIB] [--device D] [--threads N]\n"
    "              [--repeat N] [--json FILE]\n"
    "Times the form factor of a bunch (1e6 particles) at N (100000) wave vectors on a line, in a\n"
    "plane and in a volume, and at a hundredth of them as a list: time of a term on one core, and\n"
    "its part of the peak. --memory: of the line alone, within that budget.\n";

const aw_command aw_bench_command = {
    .name = "bench",
    .usage = "bench",
    .summary = "time the potentials on this machine",
    .help = help,
    .run = run_command,
    .on_all_ranks = 1,
};
