#!/bin/sh
# Lets libFuzzer look for inputs that the readers of data cannot take, each
# target for FUZZ_SECONDS. What it learns stays in .cache/fuzz; an input that
# breaks something is written there, too: replay it with
# build/fuzz/bin/fuzz_replay_TARGET FILE.
#
#   FUZZ_SECONDS=600 scripts/fuzz.sh [TARGET...]
set -eu

seconds=${FUZZ_SECONDS:-60}
jobs=${JOBS:-2}
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$jobs" --target fuzz_all

if [ $# -eq 0 ]; then
  set -- idx cifar csv npy tar tfrecord pack image pt2 pickle \
    safetensors checkpoint journal
fi
broken=
for target; do
  corpus=.cache/fuzz/$target
  mkdir -p "$corpus"
  build/fuzz/bin/fuzz_replay_"$target" --write-seeds "$corpus"
  echo "fuzzing $target for $seconds s"
  build/fuzz/bin/fuzz_"$target" -max_total_time="$seconds" -timeout=10 \
    -max_len=65536 -malloc_limit_mb=256 -rss_limit_mb=2048 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix=.cache/fuzz/"$target"- \
    "$corpus" || broken="$broken $target"
done
if [ -n "$broken" ]; then
  echo "fuzz: broken:$broken" >&2
  exit 1
fi
