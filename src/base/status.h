/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Status codes, returned by every function that can fail. */
#ifndef AW_BASE_STATUS_H
#define AW_BASE_STATUS_H

#include "src/base/port.h"

AW_BEGIN_DECLS

typedef enum aw_status {
    AW_OK = 0,
    AW_ERR_ARG,        /* wrong usage of the program or of a function */
    AW_ERR_INPUT,      /* an input file was refused; every problem has been printed */
    AW_ERR_NOMEM,      /* out of memory, or the memory budget is too small */
    AW_ERR_NONFINITE,  /* a number is NaN or infinite */
    AW_ERR_MAXEVAL,    /* a tolerance was not reached; best value and error are set */
    AW_ERR_RANGE,      /* a particle left the grid, or the history does not reach far enough */
    AW_ERR_BACKEND,    /* a device failed, or is not in this build */
    AW_ERR_IO,         /* a file or directory could not be read or written */
    AW_ERR_CHECK,      /* a check of `validate` failed */
    AW_ERR_INTERRUPTED /* stopped by a signal, cleanly between two steps */
} aw_status;

/** Name of a status for messages, e.g. "tolerance not reached"; static storage. */
const char *aw_status_text(aw_status status);

/** Exit status of the program for a status (README, "Exit status"). */
int aw_status_exit(aw_status status);

/* On an error, set the local variable `status` and go to the label `done`, which frees. */
#define AW_TRY(call)           \
    do {                       \
        aw_status s_ = (call); \
        if (s_ != AW_OK) {     \
            status = s_;       \
            goto done;         \
        }                      \
    } while (0)

AW_END_DECLS
#endif
