/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standard input, output and error of the process: open at the start, whole at the end. */
#ifndef AW_BASE_STREAMS_H
#define AW_BASE_STREAMS_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Open /dev/null on each of the descriptors 0 to 2 that is closed. To be called before any other
 *  file is opened: a file of the run would get that number otherwise, and messages would be written
 *  into it.
 *  @return AW_OK, AW_ERR_IO (no message: there may be nowhere to print it) */
aw_status aw_streams_open(void);

/** Flush stdout, at the end of the process.
 *  @return AW_OK; AW_ERR_IO: something that was printed got lost, now or before (message) */
aw_status aw_streams_flush(void);

AW_END_DECLS
#endif
