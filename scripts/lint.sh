#!/usr/bin/env bash
# clang-format over every file of ours, then clang-tidy over temper/. Files
# that include torch take clang-tidy half a minute each; they are few.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${JOBS:-$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)}
# Homebrew keeps its llvm off the path.
if [ "$(uname -s)" = Darwin ]; then
  PATH=$PATH:$(brew --prefix llvm)/bin
fi
# Debian 12's own, 14, does not know std::source_location.
tidy=$(command -v clang-tidy-19 || command -v clang-tidy)

# One file, as started by xargs below. Warnings (-w) are for the compiler to
# give. LibTorch 1.13's headers are not C++20 to clang: an error outside our
# code is no verdict on it.
if [ "${1-}" = --file ]; then
  code=0
  said=$("$tidy" -p build/lint --quiet --extra-arg=-w \
    --extra-arg=-ferror-limit=0 "$2" 2>&1) || code=$?
  if grep -qE "^$PWD/temper/.*: (warning|error): " <<<"$said"; then
    grep -E -A 2 "^$PWD/temper/.*: (warning|error): " <<<"$said"
    exit 1
  fi
  if [ $code -ne 0 ] && ! grep -q '^/.*clang-diagnostic-error' <<<"$said"; then
    printf '%s\n' "$said"
    exit 1
  fi
  exit
fi

echo 'lint: clang-format'
git ls-files -co --exclude-standard '*.cpp' '*.h' |
  xargs clang-format --dry-run -Werror

echo 'lint: clang-tidy'
cmake --preset lint >/dev/null
cmake --build --preset lint >/dev/null
# Only what is built on this system has a compile command.
sed -n 's/^ *"file": "\(.*\)",*$/\1/p' build/lint/compile_commands.json |
  grep -F "$PWD/temper/" | sort -u >build/lint/files
xargs -P "$jobs" -n 1 scripts/lint.sh --file <build/lint/files
echo "lint: $(wc -l <build/lint/files) files are clean"
