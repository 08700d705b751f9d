# SPDX-License-Identifier: MIT
# All external libraries. docs/licences.md lists their licences.
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(Spectra REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(TinyGLTF REQUIRED)
find_package(embree 3 REQUIRED)
find_path(THRUM_STB_INCLUDE_DIR stb_image_write.h PATH_SUFFIXES stb REQUIRED)

if(THRUM_USE_TBB)
  find_package(TBB REQUIRED)
endif()

# CHOLMOD has neither a CMake nor a pkg-config file in Debian.
set(THRUM_HAS_CHOLMOD OFF)
if(THRUM_USE_CHOLMOD)
  find_path(THRUM_CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse)
  find_library(THRUM_CHOLMOD_LIBRARY cholmod)
  find_library(THRUM_OPENBLAS_LIBRARY openblas)
  if(THRUM_CHOLMOD_INCLUDE_DIR AND THRUM_CHOLMOD_LIBRARY AND THRUM_OPENBLAS_LIBRARY)
    set(THRUM_HAS_CHOLMOD ON)
  endif()
endif()
message(STATUS "CHOLMOD (optional, GPL): ${THRUM_HAS_CHOLMOD}")

# Sound files and head-related impulse responses have pkg-config files only, whose flags would not survive an
# installation; their libraries are plain C.
find_path(THRUM_MYSOFA_INCLUDE_DIR mysofa.h REQUIRED)
find_library(THRUM_MYSOFA_LIBRARY mysofa REQUIRED)
find_file(THRUM_DEFAULT_SOFA default.sofa PATH_SUFFIXES share/libmysofa)
set(THRUM_HAS_SNDFILE OFF)
if(THRUM_USE_SNDFILE)
  find_path(THRUM_SNDFILE_INCLUDE_DIR sndfile.h)
  find_library(THRUM_SNDFILE_LIBRARY sndfile)
  if(THRUM_SNDFILE_INCLUDE_DIR AND THRUM_SNDFILE_LIBRARY)
    set(THRUM_HAS_SNDFILE ON)
  endif()
endif()
message(STATUS "libsndfile (optional, LGPL): ${THRUM_HAS_SNDFILE}")
