#!/usr/bin/env bash
# Cross-compiles for arm64 and runs tests under qemu: the closest this side of a
# Mac to NEON code on an Apple CPU. The libraries are unpacked, not installed, so
# nothing is emulated but the tests.
#
#   scripts/test_arm64.sh [short]
#
# Everything that needs no torch, then the fused operators' training beside
# Debian's LibTorch for arm64. `short` leaves the second out.
set -eu
. "$(dirname "$0")/chroot.sh"
form=${1-}
jobs=${JOBS:-$(nproc)}

tree=$cache/arm64
wanted=libc6-dev,libstdc++6,$(packages build library)
if [ "$form" != short ]; then
  tree=$cache/arm64-torch
  wanted=$wanted,$(packages build torch)
fi
# The compiler's own C++ library must be no newer than the tree's.
suite=$(. /etc/os-release && [ "$ID" = debian ] && echo "${VERSION_CODENAME-}") || :
make_tree "${suite:-bookworm}" "$tree" --variant=extract --arch=arm64 \
  --include="$wanted"

cd "$source_dir"
cmake --preset arm64 "-DTEMPER_SYSROOT=$tree" >/dev/null
cmake --build --preset arm64 -j "$jobs"
ctest --preset arm64 -j "$jobs"
[ "$form" != short ] || exit 0

# An installation would choose the BLAS.
ln -sf openblas-openmp/libblas.so.3 openblas-openmp/liblapack.so.3 \
  "$tree/usr/lib/aarch64-linux-gnu"
cmake --preset arm64-torch "-DTEMPER_SYSROOT=$tree" >/dev/null
cmake --build --preset arm64-torch -j "$jobs"
qemu-aarch64 -L "$tree" build/arm64-torch/bin/temper_fused_tests
