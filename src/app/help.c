/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake help [COMMAND]`. */
#include <stdio.h>
#include <string.h>

#include "src/app/commands.h"
#include "src/base/log.h"

static const char general[] =
    "arcwake: what coherent synchrotron radiation does to an electron bunch, in two dimensions\n"
    "\n"
    "  arcwake run INPUT.yaml         compute, write DIR (openPMD meshes, monitor.csv, report)\n"
    "  arcwake inspect INPUT.yaml     resolved input, lengths, memory, time; runs nothing\n"
    "  arcwake validate [CASE]...     compare with closed forms and known results\n"
    "  arcwake bench                  time the potentials on this machine\n"
    "  arcwake tune                   search once what suits this machine, for all later runs\n"
    "  arcwake devices                processing units and SIMD variants\n"
    "  arcwake report DIR             make DIR/report.html (needs Python with matplotlib)\n"
    "  arcwake help [COMMAND]         this, or the options of a command\n"
    "  arcwake --version\n";

static const char run_text[] =
    "arcwake run INPUT.yaml [options]\n"
    "  -o DIR, --output DIR  output directory (key output.directory)\n"
    "  --force               write into a directory that is not empty\n"
    "  --solver NAME         projection | predictive | heterogeneous | heuristic | two-phase |\n"
    "                        adaptive\n"
    "                        (key numerics.solver)\n"
    "  --device LIST         auto | cpu | manycore | cuda, or several: cpu,cuda:0\n"
    "  --threads N           threads of the CPU unit and of all else\n"
    "  --steps N             stop after N steps\n"
    "  --solve-every N       rigid, external: also solve every N steps\n"
    "  --set KEY=VALUE       any key of the input, e.g. --set numerics.grid=[64,64]; repeatable\n"
    "  --quiet               errors and warnings only\n"
    "Exit status: 0 done; 2 wrong usage or input (nothing written); 3 the numbers went wrong;\n"
    "4 files or devices; 75 stopped by a signal between two steps.\n";

static const char inspect_text[] =
    "arcwake inspect INPUT.yaml [--set KEY=VALUE]... [--steps N]\n"
    "Prints the resolved input, derived lengths, grid, memory and an estimate of the time, and\n"
    "warns of steps, grids or particle numbers that are too coarse.\n";

static const char validate_text[] =
    "arcwake validate [CASE]... [--list] [--full] [--json FILE] [--threads N] [-o DIR]\n"
    "              [--solver S]\n"
    "Runs the cases (all quick ones by default, --full: all), prints ours beside the reference,\n"
    "and ends with exit status 5 if a check failed. --solver: by which one (projection), where\n"
    "a case does not compare solvers.\n";

static const char bench_text[] =
    "arcwake bench [--grid N[,N..]] [--particles N[,N..]] [--solver A[,B..]] [--device D]\n"
    "              [--tolerance T] [--sampling quiet|random] [--threads N] [--skip N]\n"
    "              [--repeat N] [--beam round|tilted|modulated] [--verify] [--tables]\n"
    "              [--json FILE]\n"
    "Times the potentials stage of the LCLS bend in steady state: the mean and the best of\n"
    "--repeat steps (3) after --skip others (0). --beam: round, or 30 um by 2 mm and turned by\n"
    "0.1 rad, or round with 20 % of the density modulated at 8 cells. --verify: error against the\n"
    "adaptive strategy at a 1000 times smaller tolerance on 200 points. --tables: those of\n"
    "docs/benchmarks.md, by default of two-phase, heuristic and predictive, 1e5 and 1e6\n"
    "particles, random start, --skip 5 --repeat 10. --device with several units (cpu:0,manycore):\n"
    "all together and each alone, with --sets every set of them; --slow cpu:0=2,..: units that\n"
    "are made so many times slower.\n"
    "For heuristic and predictive also:\n"
    "  --forecast learned|off|random  --neighbours K  --classes M  --least X  --budget X\n"
    "  --conversion even|uniform|adaptive  --merge most|mean      (docs/strategies.md)\n"
    "arcwake bench --kernel [--grid N[,N..]] [--json FILE]\n"
    "Times an evaluation of the integrand alone, for every SIMD variant.\n"
    "arcwake bench --patterns FILE [--grid N] [--particles N] [--solver A] [--skip N]\n"
    "Writes the work of every point, and partitions of a few, for tools/bench_plots.py.\n"
    "arcwake bench --step [--hold] [--grid N[,N..]] [--particles N[,N..]] [--solver A[,B..]]\n"
    "              [--threads N] [--skip N] [--repeat N] [--json FILE]\n"
    "Times every part of a step of the same bend in self-consistent motion (128 x 128, 1e6\n"
    "particles, projection), best and mean. --hold: the potentials of the first step are kept,\n"
    "which leaves the particle side alone (--repeat 60).\n"
    "arcwake bench --cuhre[=N] [--device D] [--threads N] [--json FILE]\n"
    "Integrates Genz's test functions, N (24) of each family in 2 to 8 dimensions, and counts\n"
    "those within their tolerance, those that miss it silently, and those that say so.\n";

static const char tune_text[] =
    "arcwake tune [--threads N] [--dry-run] [--file FILE]\n"
    "Times block sizes of the CPU unit on the LCLS bend in steady state (about two minutes, best\n"
    "with nothing else running), and stores what beats the defaults by more than the noise.\n"
    "  --threads N   threads of the CPU unit (default: as many as OpenMP gives)\n"
    "  --dry-run     store nothing\n"
    "  --file FILE   store there (default: $ARCWAKE_TUNING, or ~/.cache/arcwake/tuning.yaml)\n"
    "run, validate and bench use the stored values; answers depend on them by rounding only.\n"
    "A file of another version, CPU or SIMD variant, or a damaged one, is ignored with a warning.\n"
    "ARCWAKE_TUNING=none: the defaults are used.\n";

static const char devices_text[] = "arcwake devices\nLists processing units and SIMD variants.\n";

static const char report_text[] =
    "arcwake report DIR\nMakes DIR/report.html and DIR/forces.png from what a run left in DIR.\n";

static const struct {
    const char *command, *text;
} pages[] = {{"run", run_text},      {"inspect", inspect_text}, {"validate", validate_text},
             {"bench", bench_text},  {"tune", tune_text},       {"devices", devices_text},
             {"report", report_text}};

aw_status aw_help_command(int argc, char **argv)
{
    if (argc < 2) {
        fputs(general, stdout);
        return AW_OK;
    }
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; ++i)
        if (strcmp(argv[1], pages[i].command) == 0) {
            fputs(pages[i].text, stdout);
            return AW_OK;
        }
    return aw_error(AW_ERR_ARG, "help: no command '%s' (see: arcwake help)", argv[1]);
}
