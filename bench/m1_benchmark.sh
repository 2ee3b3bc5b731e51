#!/usr/bin/env bash
# configs/m1-benchmark.toml by temper and by the plain PyTorch script, in turns,
# on part of CIFAR-10 and from the same weights: accuracy, seconds, CPU seconds
# and the ratio. temper's features are computed anew in every round.
#
#   bench/m1_benchmark.sh build/release/bin/temper [CIFAR_FOLDER]
#
# TRAIN, VAL: images (1000, 500); EPOCHS (10); ROUNDS (1); WORKERS of the script
# (2). The folder: TEMPER_SHARED_DATA's sample unless it is given. With
# MLFLOW_TRACKING_URI the rounds are in MLflow, as children of the first.
set -euo pipefail
temper=$(realpath "$1")
data=${2:-${TEMPER_SHARED_DATA:-../shared/data}/cifar-10-batches-bin}
here=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-/usr/bin/python3}
train=${TRAIN:-1000} val=${VAL:-500} epochs=${EPOCHS:-10} rounds=${ROUNDS:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
record=3073

mkdir "$work/cifar"
head -c $((record * train)) "$data/data_batch_1.bin" >"$work/cifar/data_batch_1.bin"
head -c $((record * val)) "$data/test_batch.bin" >"$work/cifar/test_batch.bin"
"$python" "$here/reference/m1_benchmark.py" "$work/cifar" \
  --make-weights "$work/start.pth"

# seconds, CPU seconds of a command into the variables named; output to a file.
TIMEFORMAT='%R %U %S'
timed() {
  local out=$1
  shift
  { time "$@" >"$out" 2>"$out.err"; } 2>"$work/time" || {
    cat "$out.err" >&2
    exit 1
  }
  read -r wall user system <"$work/time"
  cpu=$(awk -v u="$user" -v s="$system" 'BEGIN { printf "%.1f", u + s }')
}

printf '%d images, %d to validate, %d epochs\n' "$train" "$val" "$epochs"
printf '%-8s %10s %10s %8s %8s\n' '' seconds 'CPU s' top-1 top-5
for round in $(seq "$rounds"); do
  timed "$work/script" "$python" "$here/reference/m1_benchmark.py" \
    "$work/cifar" --weights "$work/start.pth" --epochs "$epochs" \
    --workers "${WORKERS:-2}"
  script_wall=$wall script_cpu=$cpu
  script=$(tail -n 1 "$work/script" | "$python" -c \
    'import json, sys; e = json.load(sys.stdin); print(e["top1"], e["top5"])')

  rm -rf "$work/cache"
  parent=
  if [ "$round" -gt 1 ]; then parent=1; fi
  timed "$work/ours" env TEMPER_CACHE_DIR="$work/cache" "$temper" train \
    "$here/configs/m1-benchmark.toml" --epochs "$epochs" \
    --set data.path="$work/cifar" --set model.weights="$work/start.pth" \
    --set model.head=keep --set run.dir="$work/runs" --set run.name="$round" \
    --set track.parent="$parent"
  ours=$("$python" -c '
import json, sys
epochs = [e for e in map(json.loads, open(sys.argv[1])) if e["event"] == "epoch"]
print(epochs[-1]["val_accuracy"], epochs[-1]["val_top5"])
' "$work/runs/$round/journal.jsonl")

  awk -v sw="$script_wall" -v sc="$script_cpu" -v s="$script" \
    -v ow="$wall" -v oc="$cpu" -v o="$ours" 'BEGIN {
    split(s, a, " "); split(o, b, " ")
    printf "%-8s %10.1f %10.1f %6.1f %% %6.1f %%\n", "script", sw, sc, 100 * a[1], 100 * a[2]
    printf "%-8s %10.1f %10.1f %6.1f %% %6.1f %%\n", "temper", ow, oc, 100 * b[1], 100 * b[2]
    printf "%-8s %9.1fx %9.1fx %+6.1f %% %+6.1f %%\n", "", sw / ow, sc / oc, 100 * (b[1] - a[1]), 100 * (b[2] - a[2]) }'
  grep -h 'features of' "$work/ours" || true
done
