#!/usr/bin/python3
"""What temper reaches with its defaults on ordinary inputs, beside what a
sensible PyTorch script reaches (reference/ordinary.py), seed after seed.

    make bench-ordinary      or: bench/ordinary.py PROGRAM [KIND]...

    SEEDS="0 1 2"  EPOCHS=10  THREADS=2  SIZE=224 (of photographs)
    IMAGES=4000 (of the array)  LETTERS=0 (of each text; 0: all)

The inputs: a folder of photographs, a table of mixed columns to classify and
one to predict a price, images as a float .npz, text, and a network of one's
own as .pt2. Photographs, images and the network come from TEMPER_SHARED_DATA
and are left out where there is none. temper is told the data, its validation
part, the epochs and the seed, and nothing else. The two run alternately.
"""
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("TEMPER_SHARED_DATA", ROOT.parent / "shared/data"))
SEEDS = os.environ.get("SEEDS", "0 1 2").split()
EPOCHS = os.environ.get("EPOCHS", "10")
THREADS = os.environ.get("THREADS", "2")
SIZE = os.environ.get("SIZE", "224")
IMAGES = int(os.environ.get("IMAGES", "4000"))
LETTERS = int(os.environ.get("LETTERS", "0"))


def write_table(path, names, rows):
    lines = [",".join(names)] + [",".join(str(cell) for cell in row) for row in rows]
    path.write_text("\n".join(lines) + "\n")


def make_churn(folder):
    draw = numpy.random.default_rng(7)
    for part, count in (("train", 2000), ("val", 500)):
        age = draw.integers(18, 80, count)
        income = draw.lognormal(10.8, 0.5, count).round(2)
        months = draw.integers(1, 72, count)
        plan = draw.choice(["basic", "plus", "pro"], count)
        lean = (0.04 * (45 - age) + 1.5 * (10.8 - numpy.log(income)) - 0.04 * (months - 36)
                + numpy.select([plan == "basic", plan == "pro"], [0.8, -0.8], 0.0))
        left = draw.random(count) < 1 / (1 + numpy.exp(-1.5 * lean))
        told = ["" if draw.random() < 0.03 else each for each in income]
        write_table(folder / f"churn_{part}.csv", ["age", "income", "months", "plan", "left"],
                    zip(age, told, months, plan, numpy.where(left, "yes", "no")))


def make_houses(folder):
    draw = numpy.random.default_rng(8)
    a_metre = {"Aarau": 5200, "Bern": 7400, "Chur": 4600}
    for part, count in (("train", 900), ("val", 100)):
        rooms = draw.integers(1, 8, count)
        area = (18 * rooms + draw.normal(20, 8, count)).round(1)
        city = draw.choice(list(a_metre), count)
        price = [round(a_metre[c] * a + 15000 * r + draw.normal(0, 12000))
                 for a, r, c in zip(area, rooms, city)]
        write_table(folder / f"houses_{part}.csv", ["rooms", "area", "city", "price"],
                    zip(rooms, area, city, price))


def make_arrays(folder):
    for part, file, count in (("train", "data_batch_1.bin", IMAGES), ("val", "test_batch.bin", 1000)):
        records = numpy.fromfile(SHARED / "cifar-10-batches-bin" / file, numpy.uint8)
        records = records.reshape(-1, 3073)[:count]
        numpy.savez(folder / f"arrays_{part}.npz",
                    x=(records[:, 1:].reshape(-1, 3, 32, 32) / 255).astype(numpy.float32),
                    y=records[:, 0].astype(numpy.int64))


def make_text(folder):
    """The documents and some headers of this tree; the end of each validates."""
    parts = {"train": "", "val": ""}
    for path in sorted(ROOT.glob("docs/*.md")) + sorted(ROOT.glob("temper/base/**/*.h")):
        text = path.read_text().encode("ascii", "ignore").decode()
        text = text[:LETTERS or len(text)]
        cut = len(text) * 9 // 10
        parts["train"] += text[:cut]
        parts["val"] += text[cut:]
    for part, text in parts.items():
        (folder / f"text_{part}.txt").write_text(text)


def make_photos(folder):
    (folder / "photos").symlink_to((SHARED / "imagenette-mini").resolve())


def separate(kind, source):
    return ["--data", source.format("train"), "--set", "data.val=" + source.format("val")]


# What is measured, its name in the journal with what it is multiplied by so
# that larger is better, how its data is made, and temper's flags.
KINDS = {
    "photos": ("accuracy", "val_accuracy", 1, make_photos,
               lambda d: ["--data", f"folder:{d}/photos", "--set", f"data.image_size={SIZE}"]),
    "churn": ("accuracy", "val_accuracy", 1, make_churn,
              lambda d: separate("csv", f"csv:{d}/churn_{{}}.csv")),
    "houses": ("R2", "val_r2", 1, make_houses,
               lambda d: separate("csv", f"csv:{d}/houses_{{}}.csv")),
    "arrays": ("accuracy", "val_accuracy", 1, make_arrays,
               lambda d: separate("npy", f"npy:{d}/arrays_{{}}.npz")),
    "text": ("-loss", "val_loss", -1, make_text,
             lambda d: separate("text", f"text:{d}/text_{{}}.txt")),
    "export": ("accuracy", "val_accuracy", 1, make_arrays,
               lambda d: separate("npy", f"npy:{d}/arrays_{{}}.npz")
               + ["--model", str(SHARED / "pt2/tiny_resnet.pt2")]),
}
NEEDS_SHARED = {"photos", "arrays", "export"}


def temper(program, kind, folder, seed):
    _, field, sign, _, flags = KINDS[kind]
    name = f"{kind}-{seed}"
    subprocess.run(
        [program, "train", *flags(folder), "--epochs", EPOCHS, "--set", f"seed={seed}",
         "--set", f"run.dir={folder}/runs", "--set", f"run.name={name}",
         "--set", "track.mlflow=off", "--set", f"threads={THREADS}", "--quiet"],
        check=True, stdout=subprocess.DEVNULL)
    scores = []
    for line in open(folder / "runs" / name / "journal.jsonl"):
        event = json.loads(line)
        if event["event"] == "epoch" and field in event:
            scores.append(sign * float(event[field]))
    return max(scores)


def python(kind, folder, seed):
    done = subprocess.run(
        ["/usr/bin/python3", ROOT / "reference/ordinary.py", kind, folder, seed, EPOCHS],
        check=True, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": THREADS, "SIZE": SIZE})
    return json.loads(done.stdout)["score"]


def timed(run, *arguments):
    """What a run reached, and the seconds of processor time it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    score = run(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return score, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def shown(runs):
    scores, seconds = zip(*runs)
    return (f"{statistics.mean(scores):8.4f}  {min(scores):8.4f} to {max(scores):8.4f}"
            f"  {statistics.mean(seconds):6.0f} s")


def main():
    program = sys.argv[1]
    kinds = sys.argv[2:] or list(KINDS)
    for kind in kinds:
        if kind not in KINDS:
            sys.exit(f"There is no kind {kind}: it is one of {', '.join(KINDS)}.")
    print(f"{EPOCHS} epochs, seeds {' '.join(SEEDS)}: mean, least to most of the best epoch; processor time a run")
    for kind in kinds:
        if kind in NEEDS_SHARED and not SHARED.exists():
            print(f"{kind:8} left out: no {SHARED}")
            continue
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            KINDS[kind][3](folder)
            ours, theirs = [], []
            for seed in SEEDS:
                ours.append(timed(temper, program, kind, folder, seed))
                theirs.append(timed(python, kind, folder, seed))
            print(f"{kind:8} {KINDS[kind][0]:9} temper  {shown(ours)}", flush=True)
            print(f"{'':18} PyTorch {shown(theirs)}", flush=True)


if __name__ == "__main__":
    main()
