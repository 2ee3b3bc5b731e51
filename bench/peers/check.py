#!/usr/bin/python3
"""Is the instrument right? make bench-check

    bench/peers/check.py                             the arithmetic of the tables
    bench/peers/check.py build/release/bin/temper    the networks, too

The networks: both sides start from the same weights on the same batch; numbers
of parameters must be equal and first losses agree to four digits.
"""
import json
import math
import os
import pathlib
import sys
import tempfile

import configurations
import figures
import temper_run

BATCH = 8
LIKE = 1e-4  # relative; float32 sums in another order


def expect(what, got, wanted):
    same = math.isclose(got, wanted, rel_tol=1e-9) if isinstance(wanted, float) else got == wanted
    if not same:
        raise SystemExit(f"check: {what} is {got!r}, not {wanted!r}")


def check_figures():
    expect("a ratio", figures.ratio("time", 2.0, 5.0), 2.5)
    expect("a ratio of no faults", figures.ratio("faults", 0.0, 0.0), 1.0)
    expect("a ratio to no faults", figures.ratio("faults", 0.0, 500.0), 500.0)
    expect("pairs", figures.paired_ratios([1.0, 2.0, 4.0], [2.0, 2.0]), [2.0, 1.0])
    row = figures.row("k", "p", "time", [3.0, 1.0, 2.0], [10.0, 8.0, 9.0])
    expect("a row", row, {"configuration": "k", "peer": "p", "metric": "time", "temper": 2.0,
                          "peer_value": 9.0, "ratio": 4.5})
    rows = figures.rows_of("k", {"temper": {"time": [1.0], "memory": [4]},
                                 "python-nchw": {"time": [2.0], "memory": [2], "cpu": []}})
    expect("rows", [(r["metric"], r["ratio"]) for r in rows], [("time", 2.0), ("memory", 0.5)])
    expect("the form", figures.malformed(rows), "")
    expect("a wrong form", figures.malformed([{"configuration": "k"}]) != "", True)
    expect("a wrong number", figures.malformed([{**rows[0], "ratio": math.nan}]) != "", True)
    expect("an exponent", figures.exponent([1, 10, 100], [2.0, 20.0, 200.0]), 1.0)
    expect("a square", figures.exponent([1, 2, 4], [3.0, 12.0, 48.0]), 2.0)
    quiet, busy = {"time": 1.0, "others": 0.02}, {"time": 9.0, "others": 0.5}
    expect("calm cells", figures.calm([quiet, busy]), [quiet])
    expect("no calm cells", figures.calm([busy]), [busy])
    expect("a spread", figures.spread_text([9.0, 10.0, 11.0]), "+-10 %")
    expect("seconds", [figures.seconds_text(v) for v in (0.00025, 0.0595, 4.17)],
           ["250 us", "59.5 ms", "4.17 s"])
    expect("a table", figures.table(["a", "b"], [["x", "1"]]),
           "| a | b |\n|---|---:|\n| x | 1 |")
    expect("keys", configurations.chosen("conv-256-b32, m1-benchmark"),
           ["conv-256-b32", "m1-benchmark"])
    expect("all keys", len(configurations.chosen("")), len(set(configurations.keys())))
    print("figures: as they should be")


def first_losses(program, step, folder):
    """Parameters and first loss of temper and of Python, from the same start."""
    import numpy
    import torch

    import networks

    torch.manual_seed(0)
    network = {**step.network, "dropout": 0.0}
    net = networks.network(network)
    x, y = networks.batch(network, BATCH)
    torch.save(net.state_dict(), folder / "start.pth")
    numpy.savez(folder / "batch.npz", x=x.numpy(), y=y.numpy())
    loss = networks.loss(net.train(), x, y).item()
    if network["name"] not in ("mobilenet_v2", "cnn", "mlp"):
        network.pop("dropout")
    keys = configurations.model_keys(network) + configurations.optimizer_keys(step.optimizer)
    keys += [f"model.weights={folder}/start.pth", f"data.source=npy:{folder}/batch.npz",
             "data.val_fraction=0", "data.scale=none", f"train.batch={BATCH}",
             "train.epochs=1", "device=cpu", f"model.classes={network['classes']}"]
    run = temper_run.Watched(program, keys, str(folder), step.key)
    told = {}
    try:
        for event, _ in run.events():
            if event["event"] == "run":
                told["parameters"] = event["plan"]["parameters"]
            if event["event"] == "step" and event["step"] == 1:
                told["loss"] = event["loss"]
                break
    finally:
        run.stop()
    if "loss" not in told:
        raise SystemExit(f"check: temper did not get through {step.key}: {run.words()}")
    return told, {"parameters": sum(p.numel() for p in net.parameters()), "loss": loss}


def main():
    check_figures()
    if len(sys.argv) < 2:
        return
    program = str(pathlib.Path(sys.argv[1]).resolve())
    for step in configurations.STEPS:
        # Tokens come from texts, not from arrays: the tests of the zoo hold
        # gpt_tiny against the same Python network.
        if step.file or step.network["name"] == "gpt_tiny":
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TEMPER_CACHE_DIR"] = f"{folder}/cache"
            ours, theirs = first_losses(program, step, pathlib.Path(folder))
        same = ours["parameters"] == theirs["parameters"]
        same = same and math.isclose(ours["loss"], theirs["loss"], rel_tol=LIKE)
        print(f"{step.key:24} {json.dumps(ours)} {json.dumps(theirs)}"
              f" {'the same' if same else 'NOT THE SAME'}", flush=True)
        if not same:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
