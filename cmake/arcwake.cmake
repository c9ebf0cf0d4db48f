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

# aw_archives(name out): the folder's library and all those of this project that it needs.
function(aw_archives name out)
  set(found)
  set(open ${name})
  while(open)
    list(POP_FRONT open one)
    if(TARGET ${one} AND one MATCHES "^aw_" AND NOT one IN_LIST found)
      list(APPEND found ${one})
      get_target_property(next ${one} LINK_LIBRARIES)
      list(APPEND open ${next})
    endif()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# aw_variant(library name SOURCES... FLAGS...): compile sources of a library once more, under
# another instruction set. They see AW_VARIANT=name, and the program picks one at run time.
function(aw_variant library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;FLAGS" ${ARGN})
  add_library(${library}_${name} OBJECT ${ARG_SOURCES})
  target_include_directories(${library}_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${library}_${name} PRIVATE AW_VARIANT=${name})
  aw_flags(${library}_${name})
  # -Wno-psabi: vectors wider than the baseline's registers never cross a call that is not inlined.
  target_compile_options(${library}_${name} PRIVATE -O3 -Wno-psabi ${ARG_FLAGS})
  if(AW_FUZZ OR name IN_LIST AW_PLAIN_VARIANTS) # the fuzz target computes nothing
    target_compile_options(${library}_${name} PRIVATE -O0 -fno-sanitize=all)
  endif()
  target_sources(${library} PRIVATE $<TARGET_OBJECTS:${library}_${name}>)
  set_property(GLOBAL APPEND PROPERTY AW_VARIANTS ${name})
endfunction()

# Vectors of 512 bits, as servers have them, and as Knights Landing has.
set(AW_KNL_FLAGS -march=knl -mprefer-vector-width=512)
if(AW_KNL)
  set(AW_512_FLAGS ${AW_KNL_FLAGS})
else()
  set(AW_512_FLAGS -mavx512f -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512)
endif()

# aw_variants(library SOURCES... FLAGS...): all vector variants of this processor's kind.
function(aw_variants library)
  cmake_parse_arguments(ARG "" "" "SOURCES;FLAGS" ${ARGN})
  aw_variant(${library} baseline SOURCES ${ARG_SOURCES} FLAGS ${ARG_FLAGS})
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    aw_variant(${library} avx2 SOURCES ${ARG_SOURCES} FLAGS ${ARG_FLAGS} -mavx2 -mfma)
    aw_variant(${library} avx512 SOURCES ${ARG_SOURCES} FLAGS ${ARG_FLAGS} ${AW_512_FLAGS})
    target_compile_definitions(${library} PRIVATE AW_X86_VARIANTS
                               $<$<BOOL:${AW_KNL}>:AW_KNL>)
  endif()
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
  if(AW_FUZZ)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:-fsanitize=fuzzer-no-link>)
  endif()
endfunction()

# Sets AW_CUDA_FOUND as AW_CUDA says. Unless CMAKE_CUDA_ARCHITECTURES, or CUDAARCHS in the
# environment, is given, kernels are built for one processor of each generation that nvcc knows, the
# last as PTX, too, for those to come.
# A macro: a language is enabled where targets use it.
macro(aw_find_cuda)
  include(CheckLanguage)
  set(AW_CUDA_FOUND OFF)
  if(AW_CUDA)
    check_language(CUDA)
  endif()
  if(AW_CUDA AND CMAKE_CUDA_COMPILER)
    set(AW_CUDA_FOUND ON)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
      set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90)
      set(oldest 70-real) # of CUDA before 13
    endif()
    enable_language(CUDA)
    if(oldest AND CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
      list(PREPEND CMAKE_CUDA_ARCHITECTURES ${oldest})
    endif()
  elseif(AW_CUDA AND NOT AW_CUDA STREQUAL AUTO)
    message(FATAL_ERROR "AW_CUDA=ON, but there is no nvcc (set CMAKE_CUDA_COMPILER)")
  endif()
endmacro()

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
  if(AW_SANITIZE) # slows tests down several times
    math(EXPR ARG_TIMEOUT "3 * ${ARG_TIMEOUT}")
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
