# SPDX-License-Identifier: MIT
# The pages of web/, each bundled into one HTML file and embedded in the library. Without Node.js, or before
# script/bootstrap installed the packages of web/, thrum is built without pages and reports an error when one
# is requested.
#
# thrum_embed_pages(OUTPUT_VARIABLE): sets the variable to the generated source file.
find_program(THRUM_NODE NAMES node nodejs)

function(thrum_embed_pages output)
  set(source "${PROJECT_BINARY_DIR}/generated/embedded_pages.cpp")
  set(embed "${PROJECT_SOURCE_DIR}/tools/embed_pages.py")
  if(THRUM_NODE AND EXISTS "${PROJECT_SOURCE_DIR}/web/node_modules/esbuild")
    file(GLOB_RECURSE parts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/web/src/*")
    set(folder "${PROJECT_BINARY_DIR}/web")
    add_custom_command(
      OUTPUT "${source}"
      COMMAND "${THRUM_NODE}" "${PROJECT_SOURCE_DIR}/web/build.mjs" "${folder}"
      COMMAND Python3::Interpreter "${embed}" "${source}" "${folder}"
      DEPENDS ${parts} "${PROJECT_SOURCE_DIR}/web/build.mjs" "${PROJECT_SOURCE_DIR}/web/package-lock.json" "${embed}"
      COMMENT "Bundling the pages"
      VERBATIM)
  else()
    message(STATUS "Pages: off (Node.js or web/node_modules is missing; script/bootstrap installs both)")
    add_custom_command(
      OUTPUT "${source}"
      COMMAND Python3::Interpreter "${embed}" "${source}"
      DEPENDS "${embed}"
      VERBATIM)
  endif()
  set(${output} "${source}" PARENT_SCOPE)
endfunction()
