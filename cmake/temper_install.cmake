# Installs the command, the headers, and a CMake package:
#   find_package(temper) gives temper::core and temper::torch.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/temper)

# What `cmake --install` needs, and nothing that only tests need.
set(installed temper temper_core temper_torch)
add_custom_target(temper_installed DEPENDS ${installed})

set_target_properties(temper_core PROPERTIES EXPORT_NAME core)
set_target_properties(temper_torch PROPERTIES EXPORT_NAME torch)
install(TARGETS ${installed} EXPORT temper_targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TEMPER_TORCH)
  install(TARGETS temper_full
    RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/temper)
endif()
install(EXPORT temper_targets NAMESPACE temper::
  FILE temperTargets.cmake DESTINATION ${package_dir})

file(GLOB_RECURSE headers RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_SOURCE_DIR}/temper/*.h)
list(REMOVE_ITEM headers temper/libtorch/precompiled.h)
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/temperConfig.cmake.in
  ${CMAKE_BINARY_DIR}/temperConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/temperConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_BINARY_DIR}/temperConfig.cmake
  ${CMAKE_BINARY_DIR}/temperConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindHWY.cmake
  ${CMAKE_CURRENT_LIST_DIR}/find_codecs.cmake
  ${CMAKE_CURRENT_LIST_DIR}/find_torch.cmake
  DESTINATION ${package_dir})
