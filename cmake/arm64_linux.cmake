# Cross-compiles for arm64 Linux and runs what was built under qemu. Libraries
# come from a Debian tree that scripts/test_arm64.sh makes; see there.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(TEMPER_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../.cache/arm64
  CACHE PATH "A Debian tree for arm64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TEMPER_SYSROOT)
set(CMAKE_SYSROOT ${TEMPER_SYSROOT})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${TEMPER_SYSROOT})

# Not what the machine that compiles has.
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${TEMPER_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
  ${TEMPER_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
