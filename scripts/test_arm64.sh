#!/usr/bin/env bash
# Cross-compiles what needs no torch for arm64 and runs its tests under qemu:
# the closest this side of a Mac to NEON code on an Apple CPU. The libraries
# are unpacked, not installed, so nothing is emulated but the tests.
set -eu
. "$(dirname "$0")/chroot.sh"

# The compiler's own C++ library must be no newer than the tree's.
suite=$(. /etc/os-release && [ "$ID" = debian ] && echo "${VERSION_CODENAME-}") || :
make_tree "${suite:-bookworm}" "$cache/arm64" --variant=extract \
  --arch=arm64 --include="libc6-dev,libstdc++6,$(packages build library)"

cd "$source_dir"
jobs=${JOBS:-$(nproc)}
cmake --preset arm64 "-DTEMPER_SYSROOT=$cache/arm64" >/dev/null
cmake --build --preset arm64 -j "$jobs"
ctest --preset arm64 -j "$jobs"
