# Finds LibTorch where people have it: CMake's own search (Debian, a LibTorch
# zip or conda on CMAKE_PREFIX_PATH), then the wheel of a Python, then
# Homebrew. Gives the target temper::libtorch. Used by the build, and by the
# installed temperConfig.cmake.
#
# TorchConfig.cmake of the wheel looks for a CUDA toolkit even where none is
# needed, and a distribution's warns of parts left out (kineto). QUIET and the
# log level keep that out of our output.
set(log_level "${CMAKE_MESSAGE_LOG_LEVEL}")
set(CMAKE_MESSAGE_LOG_LEVEL ERROR)
find_package(Torch CONFIG QUIET)

if(NOT Torch_FOUND)
  find_program(TEMPER_PYTHON NAMES python3 python)
  if(TEMPER_PYTHON)
    execute_process(
      COMMAND ${TEMPER_PYTHON} -c
        "import torch; print(torch.utils.cmake_prefix_path)"
      OUTPUT_VARIABLE wheel_prefix OUTPUT_STRIP_TRAILING_WHITESPACE
      ERROR_QUIET TIMEOUT 60)
    if(wheel_prefix)
      find_package(Torch CONFIG QUIET PATHS ${wheel_prefix})
    endif()
  endif()
endif()

if(NOT Torch_FOUND)
  find_program(TEMPER_BREW brew)
  if(TEMPER_BREW)
    execute_process(COMMAND ${TEMPER_BREW} --prefix
      OUTPUT_VARIABLE brew_prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    find_package(Torch CONFIG QUIET PATHS ${brew_prefix})
  endif()
endif()
set(CMAKE_MESSAGE_LOG_LEVEL "${log_level}")

if(NOT Torch_FOUND)
  set(how_to_get_torch
    "LibTorch was not found. Install it in one of these ways, then configure "
    "again:\n"
    "  Debian, Ubuntu:  apt-get install libtorch-dev\n"
    "  macOS:           brew install pytorch\n"
    "  any Python:      pip install torch\n"
    "or pass -DCMAKE_PREFIX_PATH=<where LibTorch was unpacked>.")
  list(JOIN how_to_get_torch "" how_to_get_torch)
  if(CMAKE_FIND_PACKAGE_NAME STREQUAL "temper")
    # Whether a missing temper is an error is for its user to say.
    set(temper_FOUND FALSE)
    set(temper_NOT_FOUND_MESSAGE "${how_to_get_torch}")
    return()
  endif()
  message(FATAL_ERROR "${how_to_get_torch}")
endif()
if(NOT temper_FIND_QUIETLY)
  message(STATUS "LibTorch ${Torch_VERSION}: ${Torch_DIR}")
endif()

# One target with LibTorch's flags, include directories (as system headers)
# and libraries, whatever way the version at hand spells them. Imported, so
# that it is a name in the installed package, not a part of it.
if(NOT TARGET temper::libtorch)
  add_library(temper::libtorch INTERFACE IMPORTED)
  target_link_libraries(temper::libtorch INTERFACE ${TORCH_LIBRARIES})
  target_include_directories(temper::libtorch INTERFACE ${TORCH_INCLUDE_DIRS})
  separate_arguments(torch_flags NATIVE_COMMAND "${TORCH_CXX_FLAGS}")
  target_compile_options(temper::libtorch INTERFACE ${torch_flags})
endif()
