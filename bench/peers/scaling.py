#!/usr/bin/python3
"""How temper's cost grows with the batch, the image, the network's width and the
number of samples. make bench-scaling

    bench/peers/scaling.py build/release/bin/temper build/release/bin/temper_bench_plot

BENCH_ROUNDS=2, BENCH_SECONDS=2, BENCH_ONLY=batch,side,width,samples,
BENCH_DIR=build/bench. Writes scaling.json, scaling.md, scaling.svg and .png there.

Each sweep gives an exponent: cost grows like the work to that power, and 1 is
linear. Work is samples of a batch, pixels of an image, multiply-adds of a
network, samples of an epoch.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import bench
import configurations
import figures
import limits
import temper_run

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = float(os.environ.get("BENCH_SECONDS", "2"))
ROUNDS = max(1, int(os.environ.get("BENCH_ROUNDS", "2")))
MOBILENET = {"name": "mobilenet_v2", "classes": 10, "image_size": 32}
BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
SIDES = [32, 64, 96, 128, 192, 256]
WIDTHS = [0.25, 0.5, 0.75, 1.0, 1.4]
SAMPLES = [1_000, 10_000, 100_000, 1_000_000]


def step(network, batch, group):
    return configurations.Step("scaling", network, batch, "sgd", group)


def points(temper):
    """Sweep -> (work, what is measured) of each point, the work growing."""
    macs = lambda width: limits.shown_macs(temper, {**MOBILENET, "width": width})[0]
    return {
        "batch": ("samples of a batch", [
            (b, step(MOBILENET, b, max(1, 256 // b) if b < 256 else 1)) for b in BATCHES]),
        "side": ("pixels of an image", [
            (s * s, step({**MOBILENET, "image_size": s}, 8, 4 if s < 128 else 2))
            for s in SIDES]),
        "width": ("multiply-adds of a sample", [
            (macs(w), step({**MOBILENET, "width": w}, 64, 8)) for w in WIDTHS]),
        "samples": ("samples of an epoch", [(n, n) for n in SAMPLES]),
    }


def epoch(temper, samples, folder, name):
    """A whole epoch of a small dense network: what follows from the number of
    samples alone, such as order, journal and memory, has to be linear, too."""
    network = {**configurations.MLP, "channels": 64}
    keys = configurations.model_keys(network) + configurations.optimizer_keys("sgd")
    keys += ["train.batch=100", "train.epochs=1", "data.val_fraction=0", "device=cpu",
             "threads=1", f"data.source={configurations.source(network, samples)}"]
    run = temper_run.Watched(temper, keys, folder, name)
    begin = None
    try:
        for event, used in run.events():
            if event["event"] == "run":
                begin = used
            if event["event"] == "epoch" and used:
                return {"time": event["seconds"], "cpu": max(used["cpu"] - begin["cpu"], 0.01),
                        "memory": run.peak}
    finally:
        run.stop()
    raise temper_run.Failed(f"temper did not get through an epoch: {run.words()}")


def measured(temper, what, folder, name):
    if isinstance(what, int):
        return epoch(temper, what, folder, name)
    return temper_run.measure(temper, what, folder, name, SECONDS, 2 * what.group, "",
                              0.2 / what.group)


def sweep(temper, name, spec, folder):
    """The best of the rounds at each point: noise only ever adds."""
    label, all_points = spec
    cells = [[] for _ in all_points]
    for number in range(ROUNDS):
        for at, (work, what) in enumerate(all_points):
            cells[at].append(measured(temper, what, folder, f"{name}{number}-{at}"))
            bench.say(f"{name:8} {work:>12,.0f} {label:26} "
                      f"{figures.seconds_text(cells[at][-1]['time'])}")
    best = lambda metric: [min(cell[metric] for cell in each) for each in cells]
    made = {"sweep": name, "work": label, "x": [float(work) for work, _ in all_points]}
    for metric in ("time", "cpu", "memory"):
        made[metric] = best(metric)
        made[f"{metric}_exponent"] = figures.exponent(made["x"], made[metric])
    # Where the cost of starting a step no longer hides the growth.
    half = len(made["x"]) // 2
    made["upper_exponent"] = figures.exponent(made["x"][half:], made["cpu"][half:])
    return made


def chart(result):
    x, y = result["x"], result["time"]
    linear = [y[-1] * each / x[-1] for each in x]
    return {"title": f"{result['sweep']}: exponent {result['time_exponent']:.2f}",
            "x_label": result["work"], "y_label": "seconds", "series": [
                {"name": "temper", "x": x, "y": y},
                {"name": "linear", "x": x, "y": linear, "dashed": True, "colour": 1}]}


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    temper = str(pathlib.Path(sys.argv[1]).resolve())
    # So that what is under way ends, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    out = pathlib.Path(os.environ.get("BENCH_DIR", ROOT / "build/bench"))
    out.mkdir(parents=True, exist_ok=True)
    specs = points(temper)
    only = [each for each in os.environ.get("BENCH_ONLY", "").split(",") if each]
    for each in only:
        if each not in specs:
            raise SystemExit(f"bench-scaling: there is no {each}; there are {', '.join(specs)}.")
    results = []
    with tempfile.TemporaryDirectory(dir=out, prefix="runs-") as folder:
        os.environ["TEMPER_CACHE_DIR"] = f"{folder}/cache"
        for name, spec in specs.items():
            if not only or name in only:
                results.append(sweep(temper, name, spec, folder))
    text = "# How temper's cost grows\n\n" + figures.table(
        ["sweep", "work", "exponent of time", "of CPU time", "of CPU time, upper half",
         "of memory"],
        [[r["sweep"], r["work"], f"{r['time_exponent']:.2f}", f"{r['cpu_exponent']:.2f}",
          f"{r['upper_exponent']:.2f}", f"{r['memory_exponent']:.2f}"] for r in results])
    (out / "scaling.json").write_text(json.dumps(results, indent=1) + "\n")
    (out / "scaling.md").write_text(text + "\n")
    charts = out / "scaling-charts.json"
    charts.write_text(json.dumps([chart(r) for r in results]))
    subprocess.run([sys.argv[2], charts, out / "scaling.svg", out / "scaling.png"], check=True)
    charts.unlink()
    print("\n" + text)
    bench.say(f"written to {out}/scaling.md and scaling.svg")


if __name__ == "__main__":
    main()
