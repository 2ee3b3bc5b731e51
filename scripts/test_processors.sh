#!/usr/bin/env bash
# Runs the test programs that compute under other kinds of processor, as far as
# this one can show them, and under load, and prints which passed where.
#
#   scripts/test_processors.sh [short] [KIND...]
#
# Kinds: this (as it is), load (this one, with twice as many busy processes as
# cores), zen3, haswell, skylakex, nehalem (tests/processors/cpuid_shim.cpp), or
# avx2 and sse, which tell the libraries alone, by their own variables, where
# CPUID cannot be intercepted. `short` runs one kind and load on the tests that
# have told processors apart before; CI does that.
set -u
cd "$(dirname "$0")/.." || exit
bin=$PWD/build/release/bin
shim=$bin/libcpuid_shim.so
jobs=${JOBS:-$(nproc)}
cores=$(nproc)

# A program, what of it, and what of it in the short form.
programs() {
  cat <<'END'
core Normalise.*:Rearrange.*:Resize.*:Update.*:FmaPeak.* Update.*
graph * -
train * Parity.*
plan * -
memory * -
model * *TorchZoo.*:Onednn.*
fused * -
engine * *Curves.ArePythonsAs*:TorchPrecision.*:Calibration.Every*:Transfer.Features*
forecast * Convolution*:*Forecasts.AreWithin*/0:*Forecasts.AreWithin*/4:Budgets.AQuarter*
sim * -
mps * -
END
}

environment_of() { # kind
  case $1 in
    this | load) ;;
    avx2) echo OPENBLAS_CORETYPE=Haswell ONEDNN_MAX_CPU_ISA=AVX2 \
      ATEN_CPU_CAPABILITY=avx2 TEMPER_VECTORS=avx2 ;;
    sse) echo OPENBLAS_CORETYPE=Nehalem ONEDNN_MAX_CPU_ISA=SSE41 \
      ATEN_CPU_CAPABILITY=default TEMPER_VECTORS=baseline ;;
    *) echo "TEMPER_PROCESSOR=$1" "LD_PRELOAD=$shim" ;;
  esac
}

one() { # kind program filter: its log and its result
  local log=$logs/$1.$2 words
  words=$(environment_of "$1")
  # shellcheck disable=SC2086 # words of their own
  env $words TEMPER_CACHE_DIR="$logs/cache.$1.$2" "$bin/temper_$2_tests" \
    --gtest_brief=1 "--gtest_filter=$3" >"$log" 2>&1
  case $? in
    0) if grep -q '^\[  PASSED  \] 0 tests' "$log"; then echo none; else echo passed; fi ;;
    77) echo skipped ;;
    *) echo FAILED ;;
  esac >"$log.result"
}

busy=()
make_busy() {
  local i
  for ((i = 0; i < 2 * cores; ++i)); do
    sh -c 'while :; do :; done' &
    busy+=($!)
  done
}
make_quiet() {
  if ((${#busy[@]} > 0)); then kill "${busy[@]}" 2>/dev/null; fi
  busy=()
}

if [[ ${1:-} == --one ]]; then
  logs=$2
  one "$3" "$4" "$5"
  exit 0
fi

short=no
if [[ ${1:-} == short ]]; then
  short=yes
  shift
fi
kinds=("$@")
intercepts() {
  [[ -e $shim ]] && env TEMPER_PROCESSOR=nehalem LD_PRELOAD="$shim" true
}
if ((${#kinds[@]} == 0)); then
  if intercepts 2>/dev/null; then
    kinds=(this zen3 haswell skylakex nehalem load)
    if [[ $short == yes ]]; then kinds=(zen3 load); fi
  else
    echo "CPUID cannot be intercepted here: the libraries are told by variables."
    kinds=(this avx2 sse load)
    if [[ $short == yes ]]; then kinds=(avx2 load); fi
  fi
fi

logs=$(mktemp -d)
trap 'make_quiet; rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM
for kind in "${kinds[@]}"; do
  begin=$SECONDS
  if [[ $kind == load ]]; then make_busy; fi
  while read -r program all some; do
    filter=$all
    if [[ $short == yes ]]; then filter=$some; fi
    if [[ $filter == - || ! -x $bin/temper_${program}_tests ]]; then continue; fi
    printf '%s\0%s\0%s\0' "$kind" "$program" "$filter"
  done < <(programs) | xargs -0 -n 3 -P "$jobs" scripts/test_processors.sh --one "$logs"
  if [[ $kind == load ]]; then make_quiet; fi
  echo "$kind: $((SECONDS - begin)) s"
done

failed=0
echo
printf '%-10s' program "${kinds[@]}"
echo
while read -r program _; do
  row=$(printf '%-10s' "$program")
  any=no
  for kind in "${kinds[@]}"; do
    result=$(cat "$logs/$kind.$program.result" 2>/dev/null || echo -)
    if [[ $result != - ]]; then any=yes; fi
    if [[ $result == FAILED ]]; then failed=1; fi
    row+=$(printf '%-10s' "$result")
  done
  if [[ $any == yes ]]; then echo "$row"; fi
done < <(programs)
for log in "$logs"/*.result; do
  if grep -q FAILED "$log"; then
    echo
    echo "== $(basename "${log%.result}")"
    tail -n 60 "${log%.result}"
  fi
done
exit $failed
