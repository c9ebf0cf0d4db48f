/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program: runs a sub-command and turns its status into the exit status. */
#include <gsl/gsl_errno.h>
#include <string.h>

#include "src/app/commands.h"
#include "src/app/version.h"
#include "src/base/comm.h"
#include "src/base/log.h"
#include "src/base/memory.h"
#include "src/base/streams.h"
#include "src/base/threads.h"
#include "src/simulation/ranks.h"

static int asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Memory of the libraries until a command knows its own need. */
#define AW_STARTUP_BYTES ((size_t)24 << 20)

/* Check and set limits of the process before libraries that end it where they fail. */
static aw_status begin(const char *name)
{
    aw_status status = AW_OK;
    AW_TRY(aw_threads_begin());
    AW_TRY(aw_memory_require(name, AW_STARTUP_BYTES));
done:
    return status;
}

/* Under mpirun most commands run on rank 0 alone, and only rank 0 prints. */
static aw_status run_on_ranks(const aw_command *command, int argc, char **argv)
{
    aw_status status = AW_OK;
    AW_TRY(aw_comm_begin());
    aw_log_mute(aw_comm_rank() > 0);
    const int mine = command->on_all_ranks || aw_comm_rank() == 0;
    if (!command->on_all_ranks) aw_comm_alone();
    if (mine) status = aw_ranks_agree("", begin(command->name));
    if (mine && status == AW_OK) status = command->run(argc, argv);
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

/* Run the sub-command that the arguments name, or print help or version. *in_files becomes 1 if all
 * that it prints on stdout is also in its files. */
static aw_status program(int argc, char **argv, int *in_files)
{
    if (argc < 2) {
        help(NULL);
        return AW_ERR_ARG;
    }
    if (strcmp(argv[1], "--version") == 0) {
        aw_version_print();
        return AW_OK;
    }
    if (asks_for_help(argv[1])) return help(NULL);
    const aw_command *command = aw_command_find(argv[1]);
    if (!command) return aw_error(AW_ERR_ARG, "'%s' is not a command (see: arcwake help)", argv[1]);
    for (int i = 2; i < argc; ++i)
        if (asks_for_help(argv[i])) return help(command->name);
    *in_files = command->stdout_in_files;
    return run_on_ranks(command, argc - 1, argv + 1);
}

/* The program's arguments and exit status. */
typedef struct call {
    int argc;
    char **argv;
    int exit;
} call;

static void run_call(void *argument)
{
    call *c = argument;
    int in_files = 0;
    gsl_set_error_handler_off(); /* GSL aborts by default; its codes are checked instead */
    aw_status status = program(c->argc, c->argv, &in_files);
    if (!in_files) {
        const aw_status printed = aw_streams_flush();
        if (status == AW_OK) status = printed;
    }
    c->exit = aw_status_exit(status);
}

int main(int argc, char **argv)
{
    call c = {argc, argv, 0};
    if (aw_streams_open() != AW_OK) return aw_status_exit(AW_ERR_IO);
    const aw_status status = aw_threads_roomy(run_call, &c);
    return status == AW_OK ? c.exit : aw_status_exit(status);
}
