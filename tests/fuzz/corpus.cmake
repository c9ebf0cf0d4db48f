# SPDX-License-Identifier: GPL-3.0-or-later
# Make the seeds and the dictionary of the fuzz target from the ready cases, the readers' tests and
# the words that the readers know:  cmake -DSOURCE=. -DTO=corpus -DDICTIONARY=keys.dict -P ...
file(REMOVE_RECURSE ${TO})
file(MAKE_DIRECTORY ${TO})

# seed(READER NAME TEXT): the first byte chooses the reader (input.c).
function(seed reader name text)
  file(WRITE ${TO}/${name} "${reader}${text}")
endfunction()

file(GLOB cases ${SOURCE}/inputs/*.yaml)
foreach(case IN LISTS cases)
  cmake_path(GET case FILENAME name)
  file(READ ${case} text)
  string(REGEX REPLACE "(^|\n)#[^\n]*" "" text "${text}") # comments at the head are long
  if(name MATCHES "[.]pals[.]yaml$")
    seed(1 ${name} "${text}")
  else()
    string(REGEX REPLACE "(^|\n)lattice:[^\n]*" "\\1lattice: \"100\"" text "${text}")
    string(REGEX REPLACE "file: [^,}]*[.]wake[.]txt" "file: \"103\"" text "${text}")
    # the lattice of input.c has a magnet for 5 GeV
    string(REGEX REPLACE "gamma: 100.0" "gamma: 1.0e4" text "${text}")
    string(REGEX REPLACE "energy_eV: [^\n]*" "energy_eV: 5.0e9" text "${text}")
    seed(0 ${name} "${text}")
  endif()
endforeach()

# READER-name.yaml: written for this, or found by fuzzing.
file(GLOB seeds ${SOURCE}/tests/fuzz/seeds/*)
foreach(file IN LISTS seeds)
  cmake_path(GET file FILENAME name)
  string(SUBSTRING ${name} 0 1 reader)
  if(NOT reader MATCHES "^[0-3]$")
    message(FATAL_ERROR "tests/fuzz/seeds/${name}: the name begins with the reader, 0 to 3")
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo_append ${reader} OUTPUT_FILE ${TO}/${name})
  execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${file} OUTPUT_VARIABLE text)
  file(APPEND ${TO}/${name} "${text}")
endforeach()

# Every text in the readers that looks like a word is one of the dictionary.
file(GLOB readers ${SOURCE}/src/input/*.c ${SOURCE}/src/yaml/*.c ${SOURCE}/src/tune/file.c
     ${SOURCE}/src/base/strategies.h
     ${SOURCE}/kernels/device/tuning.c ${SOURCE}/pic/distribution.h)
set(words "")
foreach(reader IN LISTS readers)
  file(READ ${reader} text)
  string(REGEX MATCHALL "\"[A-Za-z_][A-Za-z_0-9.|-]*\"" found "${text}")
  foreach(word IN LISTS found)
    string(REGEX MATCHALL "[A-Za-z_0-9-]+" parts "${word}")
    list(APPEND words ${parts})
  endforeach()
endforeach()
list(APPEND words null true false e308 e-308 inf nan "100")
list(REMOVE_DUPLICATES words)
set(text "")
foreach(word IN LISTS words)
  string(APPEND text "\"${word}\"\n")
endforeach()
foreach(sign ": " "- " "{" "}" "[" "]" ", " "&a" "*a" "!!str" "|" ">" "\\x0a  " "---\\x0a" "#" "~"
             "'")
  string(APPEND text "\"${sign}\"\n")
endforeach()
file(WRITE ${DICTIONARY} "${text}")
