#!/usr/bin/env bash
# `make test` on Debian unstable, which has the newest LibTorch: the one Mac
# users have; and a Python that loads the models temper writes. The chroot and
# its build directory are kept for the next time.
set -eu
. "$(dirname "$0")/chroot.sh"
need_root

make_tree unstable "$cache/unstable" --variant=apt \
  --include="$(packages build),$(packages python)"
in_tree "$cache/unstable" "$cache/unstable-build" \
  make test JOBS="${JOBS:-$(nproc)}"
