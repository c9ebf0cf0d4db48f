/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program: runs a sub-command and turns its status into the exit status. */
#include <gsl/gsl_errno.h>
#include <string.h>

#include "src/app/commands.h"
#include "src/app/version.h"
#include "src/base/comm.h"
#include "src/base/log.h"

static int asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Under mpirun most commands run on rank 0 alone, and only rank 0 prints. */
static aw_status run_on_ranks(const aw_command *command, int argc, char **argv)
{
    aw_status status = AW_OK;
    AW_TRY(aw_comm_begin());
    aw_log_mute(aw_comm_rank() > 0);
    const int mine = command->on_all_ranks || aw_comm_rank() == 0;
    if (!command->on_all_ranks) aw_comm_alone();
    if (mine) status = command->run(argc, argv);
    aw_comm_end();
done:
    return status;
}

/* `arcwake help [COMMAND]`, however it was asked for. */
static aw_status help(const char *name)
{
    char word[] = "help";
    char *argv[] = {word, (char *)name, NULL};
    return run_on_ranks(aw_command_find(word), name ? 2 : 1, argv);
}

int main(int argc, char **argv)
{
    gsl_set_error_handler_off(); /* GSL aborts by default; its codes are checked instead */
    if (argc < 2) {
        help(NULL);
        return aw_status_exit(AW_ERR_ARG);
    }
    if (strcmp(argv[1], "--version") == 0) {
        aw_version_print();
        return 0;
    }
    if (asks_for_help(argv[1])) return aw_status_exit(help(NULL));
    const aw_command *command = aw_command_find(argv[1]);
    if (!command) {
        aw_error(AW_ERR_ARG, "'%s' is not a command (see: arcwake help)", argv[1]);
        return aw_status_exit(AW_ERR_ARG);
    }
    for (int i = 2; i < argc; ++i)
        if (asks_for_help(argv[i])) return aw_status_exit(help(command->name));
    return aw_status_exit(run_on_ranks(command, argc - 1, argv + 1));
}
