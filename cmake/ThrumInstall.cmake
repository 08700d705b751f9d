# SPDX-License-Identifier: MIT
# cmake --install: headers, static libraries, the command line, and the files for find_package(thrum).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(modules GLOBAL PROPERTY THRUM_MODULES)
set(targets thrum_flags thrum_thrum)
foreach(module IN LISTS modules)
  list(APPEND targets thrum_${module})
endforeach()
install(TARGETS ${targets} EXPORT thrum_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set_target_properties(thrum_flags PROPERTIES EXPORT_NAME flags)
install(EXPORT thrum_targets NAMESPACE thrum:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/thrum)
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/thrum-config.cmake.in" "${PROJECT_BINARY_DIR}/thrum-config.cmake"
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/thrum)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/thrum-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/thrum-config.cmake" "${PROJECT_BINARY_DIR}/thrum-config-version.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/thrum)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(THRUM_BUILD_APPS)
  install(TARGETS thrum_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
