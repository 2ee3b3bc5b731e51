#!/usr/bin/env bash
# What accuracy configs/cifar10-resnet18.toml reaches here and in PyTorch
# (reference/cifar10_twin.py reads the same config), in turn, seed after seed.
#
#   make bench-cifar10      or: bench/cifar10_twin.sh PROGRAM [KEY=VALUE]...
#
#   SEEDS="0 1 2"  WIDTH=0.25  EPOCHS=4  THREADS=1
#
# The net is narrower than the config's and trained for less, so that one run
# takes minutes of a core: KEY=VALUE, WIDTH=1 and EPOCHS=30 give all of it. The
# data is in TEMPER_SHARED_DATA/cifar-10-batches-bin, as much as there is. CPU
# seconds are of the whole process; the wall clock of a shared machine says
# little. Both keep to THREADS for computing.
set -eu
program=$1
shift
source_dir=$(cd "$(dirname "$0")/.." && pwd)
config=${CONFIG:-$source_dir/configs/cifar10-resnet18.toml}
data=${TEMPER_SHARED_DATA:-$source_dir/../shared/data}/cifar-10-batches-bin
python=/usr/bin/python3
threads=${THREADS:-1}
epochs=${EPOCHS:-4}
keys=(model.width="${WIDTH:-0.25}" train.epochs="$epochs"
  train.eval_every="$epochs" threads="$threads" "$@")

if [ ! -f "$data/data_batch_1.bin" ]; then
  echo "no CIFAR-10 in $data: set TEMPER_SHARED_DATA to the folder around it" >&2
  exit 1
fi
if ! $python -c 'import torch, torchvision, PIL, tomllib' 2>/dev/null; then
  echo "$python has no torch, torchvision and PIL to compare with" >&2
  exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMP_NUM_THREADS=$threads OPENBLAS_NUM_THREADS=$threads
TIMEFORMAT='%U %S %R'

temper_run() {
  local sets=()
  for key in data.path="$data" run.dir="$folder" run.name="temper$1" \
    seed="$1" loader.workers=1 "${keys[@]}"; do
    sets+=(--set "$key")
  done
  "$program" train "$config" "${sets[@]}" >"$folder/log" 2>&1 || {
    cat "$folder/log" >&2
    return 1
  }
}
temper_accuracy() {
  sed -n 's/.*"val_accuracy":\([0-9.e-]*\).*/\1/p' \
    "$folder/temper$1/journal.jsonl" | tail -n 1
}
twin_run() {
  $python "$source_dir/reference/cifar10_twin.py" "$config" "$data" \
    seed="$1" "${keys[@]}" >"$folder/twin$1.json" 2>"$folder/log" || {
    cat "$folder/log" >&2
    return 1
  }
}
twin_accuracy() {
  sed -n 's/.*"accuracy": \([0-9.e-]*\).*/\1/p' "$folder/twin$1.json"
}

echo "${keys[*]}, $(($(cat "$data"/data_batch_*.bin | wc -c) / 3073)) images"
for seed in ${SEEDS:-0 1 2}; do
  for side in temper twin; do
    { time "${side}_run" "$seed" 2>&3; } 3>&2 2>"$folder/time"
    read -r user system wall <"$folder/time"
    echo "$side $seed $("${side}_accuracy" "$seed") $user $system $wall" |
      tee -a "$folder/results" |
      awk '{ printf "  %-7s seed %s  accuracy %.2f %%  cpu %.0f s\n",
             $1, $2, 100 * $3, $4 + $5 }'
  done
done

images=$(sed -n 's/.*"images": \([0-9]*\).*/\1/p' "$folder"/twin*.json | head -n 1)
awk -v images="$images" '
  { n[$1]++; sum[$1] += $3; squares[$1] += $3 * $3; cpu[$1] += $4 + $5
    wall[$1] += $6 }
  function spread(side) {
    if (n[side] < 2) return 0
    return sqrt((squares[side] - sum[side] ^ 2 / n[side]) / (n[side] - 1))
  }
  END {
    printf "\n%-8s %19s %10s %12s %12s\n", "", "accuracy", "cpu s",
      "img/core-s", "wall img/s"
    for (i = 1; i <= 2; i++) {
      side = i == 1 ? "temper" : "twin"
      printf "%-8s %11.2f +- %4.2f %% %10.0f %12.0f %12.0f\n", side,
        100 * sum[side] / n[side], 100 * spread(side), cpu[side] / n[side],
        images * n[side] / cpu[side], images * n[side] / wall[side]
    }
    apart = 100 * (sum["temper"] / n["temper"] - sum["twin"] / n["twin"])
    variance = spread("temper") ^ 2 / n["temper"]
    variance += spread("twin") ^ 2 / n["twin"]
    printf "\ntemper - twin: %+.2f points, standard error %.2f; bar: 1  %s\n",
      apart, 100 * sqrt(variance), apart > -1 ? "PASS" : "miss"
    printf "cpu, twin / temper: %.2fx\n", cpu["twin"] / cpu["temper"]
  }' "$folder/results"
