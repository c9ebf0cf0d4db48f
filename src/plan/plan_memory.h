/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of a run, known before it starts. */
#ifndef AW_PLAN_PLAN_MEMORY_H
#define AW_PLAN_PLAN_MEMORY_H
#include <stddef.h>
#include <stdint.h>

#include "src/base/status.h"
#include "src/input/config.h"
#include "src/plan/plan.h"

AW_BEGIN_DECLS

/** Coordinates, start, forces, vector potential with its rate, and element of a macro-particle. */
#define AW_PARTICLE_BYTES (13 * sizeof(double) + sizeof(int32_t))

/** Threads of a run: those given, or as many as OpenMP takes. */
int aw_plan_threads(const aw_config *config);

/** Memory at the end of the run beside the history, with what the process has now [bytes]: an upper
 *  estimate. @param[in] plan  all but other_bytes is known */
size_t aw_plan_other_bytes(const aw_config *config, const aw_plan *plan);

/** Say what a run lacks for which the system has too little memory: the prediction less what the
 *  process has already, and address space for the stacks of its threads where that is limited.
 *  @return 0: it has enough, and `text` is unchanged */
int aw_plan_memory_text(const aw_config *config, const aw_plan *plan, char *text, size_t size);

/** Refuse such a run, before it starts. @return AW_OK, AW_ERR_NOMEM (message) */
aw_status aw_plan_memory(const aw_config *config, const aw_plan *plan);

AW_END_DECLS
#endif
