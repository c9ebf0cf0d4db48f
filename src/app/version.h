/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `arcwake --version`. */
#ifndef AW_APP_VERSION_H
#define AW_APP_VERSION_H
#include "src/base/status.h"

AW_BEGIN_DECLS

/** Print version, commit of the sources, compiler and options of this build on stdout. The commit
 *  ends in "-modified" if files under version control were changed; it is "unknown" for sources
 *  that came neither from git nor from `git archive`. */
void aw_version_print(void);

enum { AW_PROGRAM_SIZE = 128 };

/** One line that names this program: version and commit; of sources that are no commit, also when
 *  the program was built. */
void aw_version_program(char text[AW_PROGRAM_SIZE]);

AW_END_DECLS
#endif
