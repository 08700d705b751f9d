# SPDX-License-Identifier: MIT
# cmake -DBUILD=... -DSOURCE=... -DWORK=... -P run.cmake: installs, then configures, builds and runs the outside project.
function(step)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV} failed:\n${text}")
  endif()
  message(STATUS "${text}")
endfunction()

file(REMOVE_RECURSE "${WORK}")
step(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/prefix")
step(${CMAKE_COMMAND} -S "${SOURCE}" -B "${WORK}/build" -G Ninja "-DCMAKE_PREFIX_PATH=${WORK}/prefix"
     "-DCMAKE_CXX_COMPILER=${CXX}" -DCMAKE_BUILD_TYPE=Release)
step(${CMAKE_COMMAND} --build "${WORK}/build")
step("${WORK}/build/weigh_a_box")
step("${WORK}/prefix/bin/thrum" --version)
