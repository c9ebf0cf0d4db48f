# SPDX-License-Identifier: GPL-3.0-or-later
# AW_STATIC: a program and a library that need nothing but the C library and OpenMP's, for wheels.
#
# Between aw_static_begin and aw_static_end libraries are looked for as archives. HDF5's own list of
# what it needs has an HTTP client, for files in a cloud: a program that does not ask for those
# leaves it in the archive.

# arcwake_session is a shared library with HDF5 in it, which archives made for programs alone, as
# those of Debian 12, cannot be part of: add them to `missing`.
macro(aw_static_try_shared archives)
  set(source ${PROJECT_BINARY_DIR}/aw_static.c)
  file(WRITE ${source} "int H5open(void);\nint aw_static(void);\n"
                       "int aw_static(void) { return H5open(); }\n")
  try_compile(AW_ARCHIVES_IN_SHARED ${PROJECT_BINARY_DIR}/aw_static SOURCES ${source}
              COMPILE_DEFINITIONS -fPIC LINK_OPTIONS -shared
              LINK_LIBRARIES ${archives} ${CMAKE_DL_LIBS} m)
  if(NOT AW_ARCHIVES_IN_SHARED)
    list(APPEND missing "libhdf5.a made with -fPIC")
  endif()
endmacro()

macro(aw_static_begin)
  set(AW_STATIC_FOUND OFF)
  if(AW_STATIC)
    set(suffixes ${CMAKE_FIND_LIBRARY_SUFFIXES})
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
    set(missing "")
    foreach(name gsl gslcblas fftw3 yaml hdf5 sz aec z)
      set(names ${name})
      if(name STREQUAL hdf5)
        set(names hdf5_serial hdf5)
      endif()
      find_library(AW_ARCHIVE_${name} NAMES ${names})
      mark_as_advanced(AW_ARCHIVE_${name})
      if(NOT AW_ARCHIVE_${name})
        list(APPEND missing lib${name}.a)
      endif()
    endforeach()
    if(NOT missing)
      aw_static_try_shared("${AW_ARCHIVE_hdf5};${AW_ARCHIVE_sz};${AW_ARCHIVE_aec};${AW_ARCHIVE_z}")
    endif()
    if(missing AND NOT AW_STATIC STREQUAL AUTO)
      message(FATAL_ERROR "AW_STATIC=ON, but there is no ${missing}")
    elseif(missing)
      message(STATUS "AW_STATIC: shared libraries, for want of ${missing}")
      set(CMAKE_FIND_LIBRARY_SUFFIXES ${suffixes})
    else()
      set(AW_STATIC_FOUND ON)
      set(HDF5_C_LIBRARIES ${AW_ARCHIVE_hdf5} ${AW_ARCHIVE_sz} ${AW_ARCHIVE_aec} ${AW_ARCHIVE_z}
          ${CMAKE_DL_LIBS} Threads::Threads m)
    endif()
  endif()
endmacro()

macro(aw_static_end)
  if(AW_STATIC_FOUND)
    set(CMAKE_FIND_LIBRARY_SUFFIXES ${suffixes})
  endif()
endmacro()
