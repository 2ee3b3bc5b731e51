#!/usr/bin/env bash
# `make test` on Debian unstable, which has the newest LibTorch: the one Mac
# users have; and a Python that loads the models temper writes. Then every
# network of docs/bring-your-own-model.md, exported by that PyTorch and trained
# by temper beside it. The chroot and its build directory are kept for the next
# time.
set -eu
. "$(dirname "$0")/chroot.sh"
need_root

make_tree unstable "$cache/unstable" --variant=apt \
  --include="$(packages build),$(packages python)"
in_tree "$cache/unstable" "$cache/unstable-build" \
  make test JOBS="${JOBS:-$(nproc)}"
in_tree "$cache/unstable" "$cache/unstable-build" \
  env PYTHONDONTWRITEBYTECODE=1 python3 reference/networks.py \
  build/networks --temper /src/build/release/bin/temper
