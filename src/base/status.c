/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/base/status.h"

const char *aw_status_text(aw_status status)
{
    switch (status) {
    case AW_OK: return "ok";
    case AW_ERR_ARG: return "wrong usage";
    case AW_ERR_INPUT: return "input refused";
    case AW_ERR_NOMEM: return "out of memory";
    case AW_ERR_NONFINITE: return "a number is not finite";
    case AW_ERR_MAXEVAL: return "tolerance not reached";
    case AW_ERR_RANGE: return "out of range";
    case AW_ERR_BACKEND: return "device not usable";
    case AW_ERR_IO: return "file error";
    case AW_ERR_CHECK: return "a check failed";
    case AW_ERR_INTERRUPTED: return "interrupted";
    }
    return "unknown status";
}

int aw_status_exit(aw_status status)
{
    switch (status) {
    case AW_OK: return 0;
    case AW_ERR_ARG:
    case AW_ERR_INPUT: return 2;
    case AW_ERR_NONFINITE:
    case AW_ERR_MAXEVAL:
    case AW_ERR_RANGE: return 3;
    case AW_ERR_NOMEM:
    case AW_ERR_BACKEND:
    case AW_ERR_IO: return 4;
    case AW_ERR_CHECK: return 5;
    case AW_ERR_INTERRUPTED: return 75;
    }
    return 4;
}
