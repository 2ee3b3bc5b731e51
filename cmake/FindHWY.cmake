# Google Highway: its own CMake package where there is one (Homebrew, newer
# Debian), else pkg-config's file, else the library by name (Debian 12).
# Gives the target hwy::hwy.
find_package(HWY CONFIG QUIET)
if(NOT TARGET hwy::hwy)
  find_path(HWY_INCLUDE_DIR hwy/highway.h)
  find_library(HWY_LIBRARY hwy)
  include(FindPackageHandleStandardArgs)
  find_package_handle_standard_args(HWY
    REQUIRED_VARS HWY_LIBRARY HWY_INCLUDE_DIR)
  if(HWY_FOUND)
    add_library(hwy::hwy UNKNOWN IMPORTED)
    set_target_properties(hwy::hwy PROPERTIES
      IMPORTED_LOCATION ${HWY_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${HWY_INCLUDE_DIR})
  endif()
endif()
