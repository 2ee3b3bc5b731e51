#!/usr/bin/env bash
# clang-format over every file of ours, then clang-tidy over temper/.
#
# clang-tidy's time goes into the headers of others, half a minute for LibTorch's
# alone, so it reads several files of ours at once, as unity builds do, and each
# by itself only where they do not compile together. What was clean stays clean
# until the file, a header of ours that it includes, its compile command or
# .clang-tidy changes: build/lint/clean remembers it, `make clean` forgets it.
set -eu
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${JOBS:-$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)}
# Homebrew keeps its llvm off the path.
if [ "$(uname -s)" = Darwin ]; then
  PATH=$PATH:$(brew --prefix llvm)/bin
fi
# Debian 12's own, 14, does not know std::source_location.
tidy=$(command -v clang-tidy-19 || command -v clang-tidy)
units=$PWD/build/lint/units
clean=$PWD/build/lint/clean

# make_unit NAME: makes the files of the lines on standard input, which have the
# same flags, one for clang-tidy. A line: a path, its flags, what it depends on.
make_unit() {
  local lines
  lines=$(cat)
  cut -f 1 <<<"$lines" | sed 's/.*/#include "&"/' >"$units/$1.cpp"
  mkdir -p "$units/$1"
  printf '[{"directory": "%s", "file": "%s",\n  "command": "%s -c %s"}]\n' \
    "$PWD/build/lint" "$units/$1.cpp" "$(head -n 1 <<<"$lines" | cut -f 2)" \
    "$units/$1.cpp" >"$units/$1/compile_commands.json"
}

# examine NAME: true if the unit is clean; else its findings are in $said.
# Warnings (-w) are for the compiler to give. LibTorch 1.13's headers are not
# C++20 to clang: an error outside our code is no verdict on it.
examine() {
  local code=0
  said=$("$tidy" -p "$units/$1" --quiet --extra-arg=-w \
    --checks=-bugprone-suspicious-include --extra-arg=-ferror-limit=0 \
    --header-filter="^$PWD/temper/" "$units/$1.cpp" 2>&1) || code=$?
  if grep -qE "^$PWD/temper/.*: (warning|error): " <<<"$said"; then
    said=$(grep -E -A 2 "^$PWD/temper/.*: (warning|error): " <<<"$said")
    return 1
  fi
  [ $code -eq 0 ] || grep -q '^/.*clang-diagnostic-error' <<<"$said"
}

# One unit, as started by xargs below. A finding in one of its files is none in
# the others; one in a header, or what does not compile, concerns all of them.
if [ "${1-}" = --unit ]; then
  todo=$units/$2.todo
  code=0
  make_unit "$2" <"$todo"
  if examine "$2"; then
    cat "$todo" >>"$clean"
  elif [ "$(wc -l <"$todo")" -eq 1 ] ||
    ! grep -qE "clang-diagnostic-error|^/[^:]*\.h:" <<<"$said"; then
    printf '%s\n' "$said"
    code=1
    sed -nE 's/^(\/[^:]*\.cpp):.*/\1/p' <<<"$said" | sort -u >"$units/$2.found"
    [ ! -s "$units/$2.found" ] ||
      grep -vFf "$units/$2.found" "$todo" >>"$clean" || :
  else
    while IFS= read -r line; do
      make_unit "$2" <<<"$line"
      if examine "$2"; then
        printf '%s\n' "$line" >>"$clean"
      else
        printf '%s\n' "$said"
        code=1
      fi
    done <"$todo"
  fi
  rm "$todo"
  left=$(cat "$units"/*.todo 2>/dev/null | wc -l)
  if [ -t 2 ]; then
    printf '\rlint: %d files to go \033[K' "$left" >&2
    [ "$left" -gt 0 ] || printf '\r\033[K' >&2
  else
    printf 'lint: %d files to go\n' "$left" >&2
  fi
  exit $code
fi

echo 'lint: clang-format'
git ls-files -co --exclude-standard '*.cpp' '*.h' |
  xargs -P "$jobs" -n 100 clang-format --dry-run -Werror

cmake --preset lint >/dev/null
said=$(cmake --build --preset lint 2>&1) || { printf '%s\n' "$said" >&2; exit 1; }
rm -rf "$units"
mkdir -p "$units"
touch "$clean"

# What is built on this system has a compile command; a line for each: the file,
# the flags, and a digest of all that it includes.
{ "$tidy" --version && cat .clang-tidy; } | git hash-object --stdin \
  >build/lint/tool
git ls-files -co --exclude-standard 'temper/*.cpp' 'temper/*.h' >build/lint/ours
git hash-object --stdin-paths <build/lint/ours >build/lint/hashes
paste build/lint/hashes build/lint/ours >build/lint/digests
xargs grep -HE '^#include "temper/' <build/lint/ours |
  sed 's/:#include "/	/; s/".*//' >build/lint/includes
sed -nE -e 's/^ *"command": "(.*) -o [^ ]+ -c [^ ]+",*$/\1/p' \
  -e 's/^ *"file": "(.*)",*$/\1/p' build/lint/compile_commands.json |
  paste - - | awk -F '\t' -v OFS='\t' '{ print $2, $1 }' | sort -u |
  awk -F '\t' -v OFS='\t' -v root="$PWD/" '
    function visit(path, i, many, headers) {
      if (path in seen) return
      seen[path]
      dependencies = dependencies " " substr(digest[path], 1, 12)
      many = split(includes[path], headers, " ")
      for (i = 1; i <= many; i++) visit(headers[i])
    }
    FILENAME == "build/lint/tool" { tool = $1; next }
    FILENAME == "build/lint/digests" { digest[$2] = $1; next }
    FILENAME == "build/lint/includes" { includes[$1] = includes[$1] " " $2; next }
    index($1, root "temper/") != 1 { next }
    {
      split("", seen)
      dependencies = tool
      visit(substr($1, length(root) + 1))
      print $1, $2, dependencies
    }' build/lint/tool build/lint/digests build/lint/includes - \
    >build/lint/files

# Those not known to be clean, by their flags, so that neighbours can be read at
# once. Highway includes a file of its own several times; it stands alone.
sort -o build/lint/files build/lint/files
sort "$clean" | comm -12 - build/lint/files >build/lint/still_clean
mv build/lint/still_clean "$clean"
comm -13 "$clean" build/lint/files | sort -t '	' -k 2,2 -k 1,1 >build/lint/todo
xargs grep -l HWY_TARGET_INCLUDE <build/lint/ours >build/lint/alone || :
awk -F '\t' -v jobs="$jobs" -v units="$units" -v root="$PWD/" '
  FILENAME == "build/lint/alone" { alone[root $1]; next }
  { line[++count] = $0; file[count] = $1; flags[count] = $2 }
  END {
    most = int(count / (2 * jobs)) + 1
    if (most > 12) most = 12
    for (i = 1; i <= count; i++) {
      if (i == 1 || held == most || flags[i] != flags[i - 1] ||
          file[i] in alone || file[i - 1] in alone) {
        close(units "/" unit ".todo")
        unit++
        held = 0
      }
      held++
      print line[i] >(units "/" unit ".todo")
    }
    for (i = 1; i <= unit; i++) print i
  }' build/lint/alone build/lint/todo >build/lint/unit_names

distinct_files() {
  cut -f 1 "$1" | sort -u | wc -l
}
echo "lint: clang-tidy, $(distinct_files build/lint/todo) of" \
  "$(distinct_files build/lint/files) files"
xargs -P "$jobs" -n 1 scripts/lint.sh --unit <build/lint/unit_names
echo "lint: $(distinct_files build/lint/files) files are clean"
