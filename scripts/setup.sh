#!/bin/sh
# Installs what temper is built and tested with. Asks nothing, installs only
# what is missing, says nothing when nothing is.
#
#   scripts/setup.sh [GROUP...]              install groups; default: build
#   scripts/setup.sh packages GROUP [KIND]   print a group's Debian packages
#
# Plain POSIX sh: macOS has an old bash, a minimal Debian has none.
set -eu

# The one list. Groups: build (build and test), lint, python (a Python that
# loads what temper writes, where it is new enough), bench (the peers of
# `make bench`), and what the targets test-latest, test-clean and test-arm64 need. Kinds: tool, library, torch,
# data.
# "-": comes with that system, or does not exist there.
#
# Without an optimised BLAS LibTorch multiplies matrices about 30 times slower.
# The OpenMP build of OpenBLAS shares its threads with LibTorch; the pthread
# build keeps a second pool that fights with them.
list='
group             kind    debian                 homebrew          why
build             tool    g++                    -                 compiler
build,arm64       tool    cmake                  cmake             build
build,arm64       tool    ninja-build            ninja             build
build,arm64       tool    make                   -                 targets
build,arm64       tool    git                    -                 version
build             tool    pkg-config             pkgconf           libraries
build             torch   libtorch-dev           pytorch           tensors
build             torch   libopenblas0-openmp    -                 BLAS
build             library nlohmann-json3-dev     nlohmann-json     JSON
build             library libcli11-dev           cli11             flags
build             library libtomlplusplus-dev    tomlplusplus      TOML
build             library libhwy-dev             highway           SIMD
build             library libxxhash-dev          xxhash            hashes
build             library libjpeg62-turbo-dev    jpeg-turbo        JPEG
build             library libpng-dev             libpng            PNG
build             library libwebp-dev            webp              WebP
build             library zlib1g-dev             -                 gzip
build             library libzip-dev             libzip            npz
build             library libcurl4-openssl-dev   -                 downloads
build             library libsqlite3-dev         sqlite            tracking
build             tool    sqlite3                -                 tests
build             library libcairo2-dev          cairo             pictures
build             library libcpp-httplib-dev     cpp-httplib       tests
build             data    dataset-fashion-mnist  -                 default
build             library libgtest-dev           googletest        tests
build             library libgmock-dev           googletest        tests
build             library libbenchmark-dev       google-benchmark  benchmarks
lint              tool    clang-format           clang-format      layout
lint              tool    clang-tidy-19          llvm              checks
fuzz              tool    clang                  llvm              libFuzzer
fuzz              tool    libclang-rt-dev        -                 libFuzzer
python,bench      tool    python3-torch          -                 .pt2, peer
python,bench      tool    python3-torchvision    -                 networks
bench             library libjemalloc2           jemalloc          tuned peer
latest,clean      tool    mmdebstrap             -                 chroot
arm64             tool    mmdebstrap             -                 sysroot
arm64             tool    g++-aarch64-linux-gnu  -                 compiler
arm64             tool    qemu-user              -                 emulator
'
known_groups='build lint fuzz python bench latest clean arm64'

fail() {
  printf 'setup: %s\n' "$@" >&2
  exit 1
}

# column debian|homebrew, groups, kind (empty: any): one name a line
names() {
  printf '%s' "$list" | awk -v column="$1" -v groups="$2" -v kind="$3" '
    BEGIN { count = split(groups, wanted, " ") }
    NF < 5 || $1 == "group" { next }
    kind != "" && $2 != kind { next }
    {
      name = column == "debian" ? $3 : $4
      if (name == "-" || name in seen) next
      for (i = 1; i <= count; i++)
        if (index("," $1 ",", "," wanted[i] ",")) {
          seen[name]
          print name
          next
        }
    }'
}

check_groups() {
  for group; do
    case " $known_groups " in
      *" $group "*) ;;
      *) fail "no group \"$group\"; there are: $known_groups." ;;
    esac
  done
}

# A runner with the rights to install, or a sentence why there is none.
find_root() {
  root=
  [ "$(id -u)" -eq 0 ] && return
  if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    # sudo drops the environment, so it is given again.
    root='sudo -n env DEBIAN_FRONTEND=noninteractive'
    return
  fi
  fail 'packages are missing, and installing them needs root. Run as root:' \
    "  apt-get install --no-install-recommends $*"
}

setup_debian() {
  # One query: "name status" of those dpkg knows, in any order.
  # shellcheck disable=SC2086
  state=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted \
    2>/dev/null || :)
  missing=
  for name in $wanted; do
    case "
$state
" in
      *"
$name installed
"*) ;;
      *) missing="$missing $name" ;;
    esac
  done
  missing=${missing# }
  [ -n "$missing" ] || return 0

  # shellcheck disable=SC2086
  find_root $missing
  printf 'setup: installing %s\n' "$missing"
  export DEBIAN_FRONTEND=noninteractive
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  # A broken third repository must not stop us: only the install decides.
  # shellcheck disable=SC2086
  $root apt-get -q -o DPkg::Lock::Timeout=300 update >"$log" 2>&1 || :
  # shellcheck disable=SC2086
  if ! $root apt-get -q -y -o DPkg::Lock::Timeout=300 install \
    --no-install-recommends $missing >>"$log" 2>&1 </dev/null; then
    grep '^E: ' "$log" >&2 || tail -n 20 "$log" >&2
    fail 'apt-get could not install them (its words are above). Is there a' \
      "network? To install by hand: apt-get install $missing"
  fi
}

setup_macos() {
  xcode-select -p >/dev/null 2>&1 ||
    fail 'the compiler is missing. Run: xcode-select --install'
  command -v brew >/dev/null 2>&1 ||
    fail 'Homebrew is missing (https://brew.sh). With it, or by hand, install:' \
      "  $(echo $wanted)"
  cellar=$(brew --prefix)/opt
  missing=
  for name in $wanted; do
    [ -e "$cellar/$name" ] && continue
    # A LibTorch that CMake will find in a Python wheel is as good.
    [ "$name" = pytorch ] && python3 -c 'import importlib.util as u, sys
sys.exit(u.find_spec("torch") is None)' 2>/dev/null && continue
    missing="$missing $name"
  done
  missing=${missing# }
  [ -n "$missing" ] || return 0
  printf 'setup: installing %s\n' "$missing"
  # shellcheck disable=SC2086
  HOMEBREW_NO_AUTO_UPDATE=1 NONINTERACTIVE=1 brew install -q $missing \
    </dev/null || fail "Homebrew could not install: $missing"
}

if [ "${1-}" = packages ]; then
  shift
  check_groups "${1-}"
  names debian "$1" "${2-}"
  exit
fi

[ $# -gt 0 ] || set -- build
check_groups "$@"
case "$(uname -s)" in
  Darwin)
    wanted=$(names homebrew "$*" '')
    for group; do
      case $group in
        latest | clean | arm64) fail "$group needs Debian or Ubuntu." ;;
      esac
    done
    setup_macos
    ;;
  *)
    wanted=$(names debian "$*" '')
    if command -v dpkg-query >/dev/null 2>&1 &&
      command -v apt-get >/dev/null 2>&1; then
      setup_debian
    else
      fail 'this system is neither Debian, Ubuntu nor macOS. Install what' \
        'these packages hold, then run make SETUP=: to build without set-up:' \
        "  $(echo $wanted)"
    fi
    ;;
esac
