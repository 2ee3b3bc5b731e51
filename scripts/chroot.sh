# shellcheck shell=bash disable=SC2016,SC2034
# Sourced by the test_*.sh scripts: Debian trees made with mmdebstrap, and
# programs run inside them. Bash.
#
# Everything made lies below $cache and is kept from run to run. Each tree
# carries a marker that says what it was made from; a half-made or outdated
# tree has no such marker and is made anew.

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "${TEMPER_CACHE:-$source_dir/.cache}"
cache=$(cd "${TEMPER_CACHE:-$source_dir/.cache}" && pwd)

fail() {
  printf '%s: %s\n' "$(basename "$0" .sh)" "$1" >&2
  exit 1
}

need_root() {
  [ "$(id -u)" -eq 0 ] || fail 'needs root, for a chroot. Run it as root.'
}

# packages GROUP [KIND]: set-up's list for mmdebstrap's --include.
packages() {
  "$source_dir/scripts/setup.sh" packages "$@" | paste -sd, -
}

# make_tree SUITE TARGET MMDEBSTRAP_OPTIONS...: a directory, or a tarball if
# TARGET ends in .tar; nothing if it is there and was made from the same.
make_tree() {
  local suite=$1 target=$2 made_from valid_until log
  shift 2
  made_from="$suite $*"
  [ "$(cat "$target.made" 2>/dev/null)" = "$made_from" ] && [ -e "$target" ] &&
    return
  rm -rf --one-file-system "$target" "$target.made"
  echo "making $target: Debian $suite; this takes minutes, once"
  # A host that reads an archive's snapshot past its date does so here too.
  eval "$(apt-config shell valid_until Acquire::Check-Valid-Until)"
  log=$(mktemp)
  if ! mmdebstrap --aptopt='Acquire::Languages "none"' \
    --aptopt="Acquire::Check-Valid-Until \"${valid_until:-true}\"" \
    "$@" "$suite" "$target" >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    rm -rf --one-file-system "$target" "$log"
    fail "mmdebstrap could not make $target (its words are above)"
  fi
  rm -f "$log"
  echo "$made_from" >"$target.made"
}

# in_tree ROOT BUILD COMMAND...: runs COMMAND in the tree ROOT, in /src, which
# is this source tree, read-only, with the directory BUILD for its build/. The
# mounts belong to a namespace and vanish with the command, however it ends.
in_tree() {
  local root=$1 build=$2
  shift 2
  mkdir -p "$root/src" "$build" "$source_dir/build"
  unshare --mount --pid --fork --kill-child bash -euc '
    root=$1 build=$2 source_dir=$3
    shift 3
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mountpoint -q "$root/dev/shm" || mount -t tmpfs tmpfs "$root/dev/shm"
    mount -t tmpfs tmpfs "$root/tmp"
    mount --bind "$source_dir" "$root/src"
    mount -o remount,bind,ro "$root/src"
    mount --bind "$build" "$root/src/build"
    cat /etc/resolv.conf >"$root/etc/resolv.conf" 2>/dev/null || :
    exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 \
      TERM="${TERM:-dumb}" CI="${CI:-}" PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      sh -c "cd /src && exec \"\$@\"" sh "$@"
  ' in_tree "$root" "$build" "$source_dir" "$@"
}
