#!/usr/bin/env bash
# Instructions a pass of ResNet-18 at batch 1 takes on the executor and as
# torch::nn modules. Counts do not depend on what else the machine does.
#
#   bench/executor_instructions.sh build/release/bin/temper_bench_executor [SIDE]
set -eu
program=$1
side=${2:-32}
export ATEN_CPU_CAPABILITY=default OMP_NUM_THREADS=1

# The difference of two runs is free of start-up.
instructions() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null \
    "$program" count "$1" "$side" "$2" "$3" 2>&1 |
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

printf '%-18s %16s %16s %11s\n' "$side x $side" executor torch::nn overhead
for what in forward both; do
  for whom in ours theirs; do
    few=$(instructions $whom $what 2)
    many=$(instructions $whom $what 6)
    eval "$whom=$(((many - few) / 4))"
  done
  awk -v what=$what -v ours="$ours" -v theirs="$theirs" 'BEGIN {
    printf "%-18s %16d %16d %+9.2f %%\n", what, ours, theirs,
      100 * (ours / theirs - 1) }'
done
