/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake certify`: options. */
#include "src/certify/certify.h"

#include <stdlib.h>

#include "src/app/options.h"
#include "src/app/signals.h"
#include "src/app/version.h"
#include "src/base/command.h"
#include "src/base/log.h"

/* Its runs are processes of their own, which would take themselves for ranks. */
static aw_status refuse_ranks(void)
{
    static const char *const variable[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof variable / sizeof variable[0]; ++i)
        if (getenv(variable[i]))
            return aw_error(AW_ERR_ARG,
                            "certify: not under mpirun or srun (%s is set): it starts its runs "
                            "itself, side by side with --jobs N",
                            variable[i]);
    return AW_OK;
}

static aw_status run_command(int argc, char **argv)
{
    static aw_options o; /* too large for the stack; a process runs one command */
    aw_status status = AW_OK;
    aw_config *config = NULL;
    aw_certify_params params = {.stopped = aw_signals_stop};
    char program[AW_PROGRAM_SIZE];
    aw_version_program(program);
    aw_signals_catch();
    AW_TRY(refuse_ranks());
    AW_TRY(aw_options_read(argc, argv, &o));
    aw_log_quiet(o.quiet);
    AW_TRY(aw_options_config(&o, &config));
    params.input = (aw_case_input){.path = o.input,
                                   .set = o.set,
                                   .n_set = o.n_set,
                                   .steps = o.steps,
                                   .solve_every = (int)o.solve_every,
                                   .threads = o.threads,
                                   .directory = config->directory,
                                   .program = program};
    params.jobs = o.jobs > 0 ? (int)o.jobs : 1;
    params.force = o.force;
    params.quiet = o.quiet;
    params.max_time = o.max_time;
    params.minus = o.minus;
    status = aw_certify(&params);
done:
    aw_config_free(config);
    return status;
}

static const char help[] =
    "arcwake certify INPUT.yaml [options]\n"
    "Runs the case and neighbours of it, and prints each result with its error bar for\n"
    "95 % confidence: from grids 1.5 and 2.25 times coarser, steps 1.5 and 2.25 times longer, a\n"
    "quarter of the particles with three other seeds, and ten times the tolerance; and where grid\n"
    "or steps take more than half of the accuracy, one 4/3 times finer. The case is an\n"
    "ordinary run in DIR, and so is each neighbour in DIR/grid-1 .. DIR/quadrature. Runs that are\n"
    "complete, of the same input and program, are kept: the same command goes on where it was\n"
    "stopped. Writes DIR/certificate.json, DIR/certificate.csv (along the machine) and bands into\n"
    "DIR/report.html. docs/certify.md has the formulas, and what a bar does not hold.\n"
    "  -o DIR, --output DIR  output directory (key output.directory)\n"
    "  --force               write into a directory that has another run\n"
    "  --jobs N              so many neighbours side by side, which share the threads\n"
    "  --max-time T          stop before the neighbours if all would take more than T, without\n"
    "                        finer ones if those would: seconds, or e.g. 30min, 2h\n"
    "  --minus OTHER         also certify by how much the results differ from those of another\n"
    "                        case, whose certificate is in the directory OTHER: what the\n"
    "                        difference of the inputs does, with a bar of its own, in\n"
    "                        DIR/difference.json and difference.csv\n"
    "  --solver NAME, --device LIST, --threads N, --steps N, --solve-every N, --set KEY=VALUE\n"
    "                        as for run (arcwake help run)\n"
    "  --quiet               errors and warnings only, and no report\n"
    "Exit status: as of run; where a neighbour goes wrong, its own, with a certificate that names\n"
    "what is missing; 75 also for --max-time.\n";

const aw_command aw_certify_command = {
    .name = "certify",
    .usage = "certify INPUT.yaml",
    .summary = "each result with its error bar, from the run and its neighbours",
    .help = help,
    .run = run_command,
};
