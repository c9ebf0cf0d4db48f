# SPDX-License-Identifier: GPL-3.0-or-later
# Write the commit of the sources to a header, if it is another than the header has. Run at each
# build:  cmake -DGIT=git -DSOURCE=. -DHEADER=aw_commit.h -P commit.cmake
# Only a repository whose root is SOURCE counts: sources may be unpacked within another one.
set(commit "")
if(GIT)
  execute_process(COMMAND ${GIT} rev-parse --show-cdup WORKING_DIRECTORY ${SOURCE}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE way_up ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed AND way_up STREQUAL "")
    execute_process(COMMAND ${GIT} --no-optional-locks describe --always --abbrev=12 --exclude=*
                            --dirty=-modified
                    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
endif()

# `git archive` puts its commit here (.gitattributes).
set(archived "$Format:%H$")
if(commit STREQUAL "" AND NOT archived MATCHES "Format")
  string(SUBSTRING ${archived} 0 12 commit)
endif()
if(commit STREQUAL "")
  set(commit "unknown")
endif()

set(text "/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Written at each build by cmake/commit.cmake. */
#ifndef AW_COMMIT_H
#define AW_COMMIT_H
#define AW_COMMIT \"${commit}\"
#endif
")
set(old "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${HEADER} "${text}")
endif()
