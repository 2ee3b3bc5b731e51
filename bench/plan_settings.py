#!/usr/bin/env python3
"""Is the plan as fast as the best fixed setting, and how much faster than what
LibTorch does by itself (one thread, contiguous)?

    bench/plan_settings.py build/release/bin/temper [ROUNDS]

Runs short trainings in every fixed setting in turn and compares the medians of
the rounds with that of the setting the plan chose. make bench-plan
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

NETS = [
    ("mobilenet_v2", ["model.stem=cifar", "train.batch=32"]),
    ("resnet18", ["model.stem=cifar", "model.width=0.5", "train.batch=32"]),
]
STEPS = 15  # the first third is not counted


def speed(temper, folder, net, keys):
    """Images a second over the last two thirds, from the journal; and the
    settings that were used."""
    name = f"run{len(os.listdir(folder))}"
    command = [temper, "train", "--quiet", "--model", net,
               "--data", "synthetic:images=4096,size=32,classes=10"]
    for key in keys + [f"run.dir={folder}", f"run.name={name}", "seed=1",
                       f"train.max_steps={STEPS}", "train.log_every=1",
                       "data.val_fraction=0", "device=cpu"]:
        command += ["--set", key]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    speeds, used = [], None
    with open(os.path.join(folder, name, "journal.jsonl")) as journal:
        for line in journal:
            event = json.loads(line)
            if event["event"] == "step" and event["step"] > STEPS // 3:
                speeds.append(event["samples_per_s"])
            if event["event"] == "run":
                settings = event["plan"]["settings"]
                used = (settings["layout"]["value"],
                        int(settings["threads"]["value"]))
    return statistics.median(speeds), used


def main():
    temper = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    cores = len(os.sched_getaffinity(0))
    fixed = [(layout, threads) for layout in ("contiguous", "channels_last")
             for threads in sorted({1, cores})]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TEMPER_CACHE_DIR"] = os.path.join(folder, "cache")
        runs = os.path.join(folder, "runs")
        os.makedirs(runs)
        for net, keys in NETS:
            # Measured once, with the time a long run would give it.
            subprocess.run(
                [temper, "train", "--dry-run", "--model", net, "--data",
                 "synthetic:images=4096,size=32,classes=10", "--epochs", "100"]
                + [w for k in keys + ["device=cpu", "seed=1",
                                      "data.val_fraction=0"]
                   for w in ("--set", k)],
                check=True, stdout=subprocess.DEVNULL)
            # A plan is one of the settings: their own times are compared, not
            # two measurements of the same one.
            _, plan = speed(temper, runs, net, keys)
            seen = {each: [] for each in fixed}
            for _ in range(rounds):
                for each in seen:
                    value, _ = speed(temper, runs, net, keys + [
                        f"layout={each[0]}", f"threads={each[1]}"])
                    seen[each].append(value)
            ours = statistics.median(seen[plan])
            print(f"{net}: the plan is {plan[0]}, {plan[1]} threads, "
                  f"{ours:.0f} images/s")
            for each in fixed:
                value = statistics.median(seen[each])
                print(f"  {each[0]:14} {each[1]} threads {value:8.0f} images/s"
                      f"   the plan is {ours / value:.2f}x as fast")


if __name__ == "__main__":
    main()
