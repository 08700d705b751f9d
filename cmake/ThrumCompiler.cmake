# SPDX-License-Identifier: MIT
# Language level, warnings, floating-point contract, sanitizers and ccache, in one interface target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
# "Sanitize": fast enough to run all tests, with assertions and readable stacks.
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_EXE_LINKER_FLAGS_SANITIZE "")

find_program(THRUM_CCACHE ccache)
if(THRUM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros
      "${THRUM_CCACHE}")
endif()

# Usage requirements for all our targets and for every target that links the library.
add_library(thrum_flags INTERFACE)
# The same scene must give the same bits with every compiler and at every optimisation level.
target_compile_options(thrum_flags INTERFACE -ffp-contract=off)
target_compile_features(thrum_flags INTERFACE cxx_std_20)

# Flags for our own sources only.
add_library(thrum_own_flags INTERFACE)
target_compile_options(thrum_own_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                                 -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports false positives of these in the standard library's own strings and vectors once they are
  # inlined (GCC bugs 105329, 105651, 105762 and similar); the sanitizer builds find real ones.
  target_compile_options(thrum_own_flags INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict
                                                   -Wno-alloc-size-larger-than -Wno-free-nonheap-object)
endif()
if(THRUM_WARNINGS_AS_ERRORS)
  target_compile_options(thrum_own_flags INTERFACE -Werror)
endif()
if(THRUM_ARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Public: Eigen's alignment, and so its layout, depends on it.
  target_compile_options(thrum_flags INTERFACE "-march=${THRUM_ARCH}")
endif()
if(THRUM_SANITIZE)
  target_compile_options(thrum_flags INTERFACE "-fsanitize=${THRUM_SANITIZE}" -fno-sanitize-recover=all)
  target_link_options(thrum_flags INTERFACE "-fsanitize=${THRUM_SANITIZE}")
endif()
if(THRUM_BUILD_FUZZERS)
  # The library itself must be instrumented, or the fuzzer gets no coverage; the precompiled headers need the
  # same flag.
  target_compile_options(thrum_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
