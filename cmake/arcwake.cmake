# SPDX-License-Identifier: GPL-3.0-or-later
# How every arcwake target is compiled, and how a test is declared.

set(AW_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wpointer-arith)
# Never -ffast-math (it folds isfinite to true) and never -march=native by default:
# the SIMD variants are picked at run time.
set(AW_FLAGS -fno-math-errno -fopenmp-simd -ffp-contract=fast)

# aw_library(name SOURCES... [LINK libs...]): one static library per folder.
function(aw_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} m)
  aw_flags(${name})
endfunction()

function(aw_flags name)
  target_compile_definitions(${name} PRIVATE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:${AW_WARNINGS} ${AW_FLAGS}>)
  if(AW_WERROR)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:-Werror>)
  endif()
  if(AW_SANITIZE)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:-fsanitize=address,undefined
                           -fno-sanitize-recover=undefined -fno-omit-frame-pointer>)
    target_link_options(${name} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()

# Tests know no tuning of this machine, and threads that wait leave the core to others.
set(AW_TEST_ENVIRONMENT OMP_WAIT_POLICY=passive ARCWAKE_TUNING=none)

# aw_test(name SOURCES... [LINK libs...] [ARGS words...] [LABELS l...] [TIMEOUT s]):
# one cmocka program; with ARGS, the program runs once per word, which it gets as argv[1]
# (a SIMD variant, a unit, a strategy). Exit 77 is a visible skip.
function(aw_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK;ARGS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(test_${name} PRIVATE ${ARG_LINK} cmocka m)
  target_compile_definitions(test_${name} PRIVATE AW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  aw_flags(test_${name})
  if(ARG_ARGS)
    foreach(word IN LISTS ARG_ARGS)
      add_test(NAME ${name}.${word} COMMAND test_${name} ${word})
      set_tests_properties(${name}.${word} PROPERTIES SKIP_RETURN_CODE 77 LABELS "${ARG_LABELS}"
                           TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "${AW_TEST_ENVIRONMENT}")
    endforeach()
  else()
    add_test(NAME ${name} COMMAND test_${name})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS "${ARG_LABELS}"
                         TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "${AW_TEST_ENVIRONMENT}")
  endif()
endfunction()
