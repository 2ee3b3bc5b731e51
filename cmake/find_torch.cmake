# Finds LibTorch where people have it: CMake's own search (Debian, a LibTorch
# zip or conda on CMAKE_PREFIX_PATH), then the wheel of a Python, then
# Homebrew. Gives the target temper_libtorch.
#
# TorchConfig.cmake of the wheel looks for a CUDA toolkit even where none is
# needed; QUIET keeps its notes out of our output.
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

if(NOT Torch_FOUND)
  message(FATAL_ERROR
    "LibTorch was not found. Install it in one of these ways, then configure "
    "again:\n"
    "  Debian, Ubuntu:  apt-get install libtorch-dev\n"
    "  macOS:           brew install pytorch\n"
    "  any Python:      pip install torch\n"
    "or pass -DCMAKE_PREFIX_PATH=<where LibTorch was unpacked>.")
endif()
message(STATUS "LibTorch ${Torch_VERSION}: ${Torch_DIR}")

# One target with LibTorch's flags, include directories (as system headers)
# and libraries, whatever way the version at hand spells them.
add_library(temper_libtorch INTERFACE)
target_link_libraries(temper_libtorch INTERFACE ${TORCH_LIBRARIES})
target_include_directories(temper_libtorch SYSTEM INTERFACE
  ${TORCH_INCLUDE_DIRS})
separate_arguments(torch_flags NATIVE_COMMAND "${TORCH_CXX_FLAGS}")
target_compile_options(temper_libtorch INTERFACE ${torch_flags})
