#!/usr/bin/python3
"""temper beside its peers, in turns, in one run. make bench

    bench/peers/bench.py build/release/bin/temper build/release/bin/temper_bench_limits

BENCH_ROUNDS=3      rounds of the steps; whole runs take a third of them
BENCH_ONLY=key,key  some configurations; an unknown one lists them
BENCH_SECONDS=3     of each measurement, warm-up not counted
BENCH_PATIENCE=120  seconds in all that are spent waiting for other programs
BENCH_VECTORS=avx2  both sides as on a processor with no wider vectors
BENCH_DIR=build/bench

Writes latest.md, latest.json and, with every single measurement, detail.json.
docs/bench.md says how to read them.
"""
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

import configurations
import figures
import limits
import processes
import python_peer
import report
import temper_run
import whole

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARMUP_STEPS = 4
BEGIN = time.monotonic()


def say(text):
    print(f"[{time.monotonic() - BEGIN:5.0f} s] {text}", flush=True)


class Bench:
    def __init__(self, temper, folder):
        self.temper, self.folder = temper, folder
        self.rounds = max(1, int(os.environ.get("BENCH_ROUNDS", "3")))
        self.seconds = float(os.environ.get("BENCH_SECONDS", "3"))
        self.keys = configurations.chosen(os.environ.get("BENCH_ONLY", ""))
        self.peers, self.torch, self.notes = python_peer.available()
        self.patience = float(os.environ.get("BENCH_PATIENCE", "120"))
        self.cells = {}  # key -> side -> list of measurements
        self.runs = 0
        self.files = {}  # .pt2 files by key
        self.parts = {}  # opened whole configurations by key

    def keep(self, key, side, cell):
        self.cells.setdefault(key, {}).setdefault(side, []).append(cell)
        busy = f", others {100 * cell['others']:.0f} %" if cell.get("others", 0) > figures.BUSY else ""
        say(f"{key:30} {side:21} {figures.seconds_text(cell['time']):>8}"
            f"  CPU {figures.seconds_text(cell['cpu']):>8}{busy}")

    def wait_for_calm(self):
        """Until others leave the cores alone, or patience is used up."""
        told = False
        while self.patience > 0:
            before, begin = processes.machine_cpu(), time.monotonic()
            time.sleep(0.5)
            wall = time.monotonic() - begin
            if processes.others(before, processes.machine_cpu(), 0, wall) <= figures.BUSY:
                return
            if not told:
                say("other programs use the cores: waiting for a quiet moment")
            told = True
            self.patience -= wall

    def attempt(self, key, side, work):
        self.wait_for_calm()
        try:
            self.keep(key, side, work())
        except (temper_run.Failed, RuntimeError, OSError, ValueError) as error:
            note = f"{side} failed at {key}: {error}"
            if note not in self.notes:
                self.notes.append(note)
            say(note)

    def temper_step(self, step, model=""):
        self.runs += 1
        return temper_run.measure(
            self.temper, step, self.folder, f"run{self.runs}", self.seconds,
            max(WARMUP_STEPS, 2 * step.group), model, 0.4 / step.group)

    def exported(self, step):
        """The .pt2 file of a row, written once; no value if it cannot be had."""
        if step.key not in self.files:
            made = None
            if step.file != "export":
                path = whole.SHARED / step.file
                made = str(path) if path.exists() else None
                if made is None:
                    self.notes.append(f"{step.key} is left out: there is no {path}.")
            else:
                self.runs += 1
                made = temper_run.export(self.temper, step, self.folder, f"run{self.runs}")
            self.files[step.key] = made
        return self.files[step.key]

    def step_sides(self, step):
        """(side, how it is measured), in the order of a round."""
        if step.file:
            file = self.exported(step)
            if file is None:
                return []
            return [("temper", lambda: self.temper_step(step, file)),
                    ("temper-zoo", lambda: self.temper_step(step))]
        sides = [("temper", lambda: self.temper_step(step))]
        for peer in self.peers:
            # Without images there is one layout only: one measurement for both.
            if peer == "python-channels_last" and not configurations.has_images(step.network):
                continue
            sides.append((peer, lambda peer=peer: python_peer.measure(
                peer, step, self.seconds, max(WARMUP_STEPS, 2 * step.group))))
        return sides

    def whole_sides(self, key):
        if not self.peers:
            return []
        if key not in self.parts:
            self.parts[key] = whole.opened(key, self.folder)
        part = self.parts[key]
        return [("temper", lambda: part.temper(self.temper))] + [
            (peer, lambda peer=peer: part.python(peer)) for peer in self.peers]

    def round(self, number):
        steps = {each.key: each for each in configurations.STEPS}
        for key in self.keys:
            try:
                if key in steps:
                    sides = self.step_sides(steps[key])
                else:
                    if number % 3 != 0 or whole.missing(key):
                        continue
                    sides = self.whole_sides(key)
            except (temper_run.Failed, OSError, ValueError, RuntimeError) as error:
                self.notes.append(f"{key} is left out: {error}")
                say(self.notes[-1])
                continue
            # There and back: what slows the machine down for a while does not
            # always meet the same side.
            for side, work in sides if number % 2 == 0 else sides[::-1]:
                self.attempt(key, side, work)

    def run(self):
        self.notes += [each for each in map(whole.missing, configurations.WHOLE)
                       if each and each.split()[0] in self.keys]
        for note in self.notes:
            say(note)
        for number in range(self.rounds):
            say(f"round {number + 1} of {self.rounds}")
            self.round(number)

    def same_networks(self):
        """A note for each configuration whose sides train different networks."""
        for key, sides in self.cells.items():
            counts = {side: cells[0]["parameters"] for side, cells in sides.items()
                      if cells[0].get("parameters")}
            if len(set(counts.values())) > 1:
                self.notes.append(f"{key}: the numbers of parameters differ: {counts}")


# What keeps each library to AVX2; a variable of the user's own stays.
AVX2_ONLY = {"TEMPER_VECTORS": "avx2", "ATEN_CPU_CAPABILITY": "avx2",
             "ONEDNN_MAX_CPU_ISA": "AVX2", "OPENBLAS_CORETYPE": "Haswell"}


def limit_vectors(asked):
    if asked not in ("", "avx2"):
        raise SystemExit(f"bench: BENCH_VECTORS is {asked}; there is avx2.")
    if asked:
        for name, value in AVX2_ONLY.items():
            os.environ.setdefault(name, value)


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    limit_vectors(os.environ.get("BENCH_VECTORS", ""))
    # So that what is under way ends, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    out = pathlib.Path(os.environ.get("BENCH_DIR", ROOT / "build/bench"))
    out.mkdir(parents=True, exist_ok=True)
    temper = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(dir=out, prefix="runs-") as folder:
        os.environ["TEMPER_CACHE_DIR"] = f"{folder}/cache"
        bench = Bench(temper, folder)
        say("the machine's limits")
        before = limits.measure(sys.argv[2])
        bench.run()
        after = limits.measure(sys.argv[2])
        bench.same_networks()
        best = {name: max(before[name], after[name]) if name != "target" else before[name]
                for name in before}
        rows, text = report.made(bench, best)
    wrong = figures.malformed(rows)
    if wrong:
        raise SystemExit(f"bench: latest.json would be wrong: {wrong}")
    (out / "latest.json").write_text(json.dumps(rows, indent=1) + "\n")
    (out / "detail.json").write_text(json.dumps(
        {"limits": best, "cells": bench.cells, "notes": bench.notes}, indent=1) + "\n")
    (out / "latest.md").write_text(text)
    print("\n" + text)
    say(f"written to {out}/latest.md and latest.json")


if __name__ == "__main__":
    main()
