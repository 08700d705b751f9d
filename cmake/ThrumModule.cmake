# SPDX-License-Identifier: MIT
# thrum_module(name HEADERS ... [SHARED_HEADERS ...] [PRIVATE_HEADERS ...] SOURCES ... DEPENDS ...
#              [PUBLIC_LIBRARIES ...] [LIBRARIES ...])
#
# Adds the folder as the library thrum_<name>, alias thrum::<name>. DEPENDS names other modules, and only modules
# already added are accepted: the order of thrum/CMakeLists.txt is the layering, so a cycle cannot be written.
# HEADERS are public: installed, listed in the folder's README, and free to be included by everybody. SHARED_HEADERS are for
# the sources of the library and the command line, PRIVATE_HEADERS for the folder itself, its tests and the benchmarks; neither is installed.
# What is declared is written to <build>/module_graph.json, with which tools/check_architecture.py compares every
# #include and every README.

# Nearly every source includes these, and they are half of its compile time. That a header includes what it uses is
# checked without them (headers_compile_alone).
file(WRITE "${PROJECT_BINARY_DIR}/generated/library_headers.cpp" "")
add_library(thrum_headers OBJECT "${PROJECT_BINARY_DIR}/generated/library_headers.cpp")
target_link_libraries(thrum_headers PRIVATE thrum_own_flags thrum_flags Eigen3::Eigen fmt::fmt Threads::Threads)
target_precompile_headers(thrum_headers PRIVATE <algorithm> <cmath> <functional> <string> <vector> <fmt/format.h>
                          <Eigen/Core> <Eigen/Geometry>)

set_property(GLOBAL PROPERTY THRUM_MODULES "")
set_property(GLOBAL PROPERTY THRUM_MODULE_RECORDS "")

# VERIFY_INTERFACE_HEADER_SETS covers the public headers; this target covers the others.
add_custom_target(all_verify_private_headers)

# The remaining arguments as a JSON list of strings.
function(thrum_json_list variable)
  list(TRANSFORM ARGN REPLACE "(.+)" "\"\\1\"")
  list(JOIN ARGN ", " text)
  set(${variable} "[${text}]" PARENT_SCOPE)
endfunction()

# Compiles each shared or private header of a module alone, in a source that holds nothing but its #include.
function(thrum_verify_private_headers name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;LIBRARIES")
  set(sources)
  foreach(header IN LISTS arg_HEADERS)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/private_headers/${header}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"thrum/${name}/${header}\"\n" @ONLY)
    list(APPEND sources "${source}")
  endforeach()
  set(target thrum_${name}_verify_private_headers)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${target} PRIVATE thrum_own_flags thrum_${name} ${arg_LIBRARIES})
  add_dependencies(all_verify_private_headers ${target})
endfunction()

function(thrum_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SHARED_HEADERS;PRIVATE_HEADERS;SOURCES;DEPENDS;LIBRARIES;PUBLIC_LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "thrum_module(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  get_property(known GLOBAL PROPERTY THRUM_MODULES)
  foreach(dependency IN LISTS arg_DEPENDS)
    if(NOT dependency IN_LIST known)
      message(FATAL_ERROR "thrum_module(${name}): '${dependency}' is not a module added before '${name}'. "
                          "The order in thrum/CMakeLists.txt is the layering.")
    endif()
  endforeach()

  set(target thrum_${name})
  if(arg_SOURCES)
    set(scope PUBLIC)
    add_library(${target} STATIC ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:thrum_own_flags> ${arg_LIBRARIES})
    target_precompile_headers(${target} REUSE_FROM thrum_headers)
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(thrum::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${arg_HEADERS})
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  list(TRANSFORM arg_DEPENDS PREPEND thrum_ OUTPUT_VARIABLE linked)
  target_link_libraries(${target} ${scope} thrum_flags ${linked} ${arg_PUBLIC_LIBRARIES})

  set(not_installed ${arg_SHARED_HEADERS} ${arg_PRIVATE_HEADERS})
  if(not_installed)
    target_sources(${target} PRIVATE FILE_SET private_headers TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES
                   ${not_installed})
    thrum_verify_private_headers(${name} HEADERS ${not_installed} LIBRARIES ${arg_LIBRARIES})
  endif()

  set_property(GLOBAL APPEND PROPERTY THRUM_MODULES ${name})
  thrum_json_list(uses ${arg_DEPENDS})
  thrum_json_list(public ${arg_HEADERS})
  thrum_json_list(shared ${arg_SHARED_HEADERS})
  thrum_json_list(private ${arg_PRIVATE_HEADERS})
  set_property(GLOBAL APPEND PROPERTY THRUM_MODULE_RECORDS
               "  \"${name}\": {\n    \"uses\": ${uses},\n    \"public\": ${public},\n    \"shared\": ${shared},\n    \"private\": ${private}\n  }")
endfunction()

# Writes the declared module graph; called once after the last module.
function(thrum_write_module_graph)
  get_property(records GLOBAL PROPERTY THRUM_MODULE_RECORDS)
  list(JOIN records ",\n" text)
  file(WRITE "${PROJECT_BINARY_DIR}/module_graph.json" "{\n${text}\n}\n")
endfunction()
