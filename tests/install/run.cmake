# SPDX-License-Identifier: MIT
# cmake -DBUILD=... -DSOURCE=... -DREADME=... -DWORK=... -P run.cmake: installs, then configures, builds and
# runs the external project; the first program of the README is one of its two.
function(step)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV} failed:\n${text}")
  endif()
  message(STATUS "${text}")
endfunction()

# first_program(OUTPUT_VARIABLE): the first C++ block of the README.
function(first_program output)
  file(READ "${README}" text)
  string(FIND "${text}" "```cpp\n" begin)
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(REPLACE "```cpp\n" "" text "${text}")
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
first_program(smallest)
file(WRITE "${WORK}/smallest.cpp" "${smallest}")
step(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/prefix")
step(${CMAKE_COMMAND} -S "${SOURCE}" -B "${WORK}/build" -G Ninja "-DCMAKE_PREFIX_PATH=${WORK}/prefix"
     "-DCMAKE_CXX_COMPILER=${CXX}" -DCMAKE_BUILD_TYPE=Release "-DSMALLEST=${WORK}/smallest.cpp" "-DTHRUM_INCLUDE=${WORK}/prefix/include")
step(${CMAKE_COMMAND} --build "${WORK}/build")
step("${WORK}/build/weigh_a_box")
step("${WORK}/build/smallest")
step("${WORK}/prefix/bin/thrum" --version)
