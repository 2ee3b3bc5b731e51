#!/usr/bin/env bash
# `make test` as a newcomer runs it: on a Debian 12 that has apt and make and
# nothing else, in a fresh copy of the tree, so that every other package comes
# from scripts/setup.sh. Only the bare system is kept for the next time.
set -eu
. "$(dirname "$0")/chroot.sh"
need_root

make_tree bookworm "$cache/bookworm.tar" --variant=apt --include=make
clean=$(mktemp -d "$cache/clean.XXXXXX")
trap 'rm -rf --one-file-system "$clean"' EXIT
mkdir "$clean/root" "$clean/tree"
tar -C "$clean/root" -xf "$cache/bookworm.tar"
# Tracked files and new ones, as they are now; what was deleted is passed over.
git -C "$source_dir" ls-files -zco --exclude-standard |
  tar -C "$source_dir" --ignore-failed-read --null -T - -cf - |
  tar -C "$clean/tree" -xf -

source_dir=$clean/tree
in_tree "$clean/root" "$clean/build" make test JOBS="${JOBS:-$(nproc)}"
