"""latest.md and the rows of latest.json from what was measured."""
import datetime
import os
import platform
import statistics
import subprocess

import configurations
import figures
import limits
import processes


def values(cells, metric):
    return [cell[metric] for cell in cells if metric in cell]


def by_metric(sides):
    """side -> metric -> values; where the layouts are one, both peers have it."""
    made = {side: {metric: values(figures.calm(cells), metric) for metric in figures.METRICS}
            for side, cells in sides.items()}
    if "python-nchw" in made:
        made.setdefault("python-channels_last", made["python-nchw"])
    return made


def find(rows, key, peer, metric):
    for row in rows:
        if (row["configuration"], row["peer"], row["metric"]) == (key, peer, metric):
            return row
    return None


def ratio_cell(rows, sides, key, peer):
    """Ratio by time with its least and most over the rounds, then by CPU time."""
    time, cpu = find(rows, key, peer, "time"), find(rows, key, peer, "cpu")
    if time is None:
        return "–"
    pairs = figures.paired_ratios(sides["temper"]["time"], sides[peer]["time"])
    text = figures.ratio_text(pairs, time["ratio"])
    return text + (f" · {cpu['ratio']:.2f}x" if cpu else "")


def time_lines(bench, rows, sides_of):
    lines = []
    for key in bench.keys:
        sides = sides_of.get(key)
        if not sides or "temper" not in sides or key.endswith("-pt2"):
            continue
        ours = sides["temper"]["time"]
        lines.append([key, f"{figures.seconds_text(statistics.median(ours))} "
                           f"({figures.spread_text(ours)})"]
                     + [ratio_cell(rows, sides, key, peer) for peer in configurations.PEERS])
    return lines


def other_lines(bench, rows, sides_of):
    """Memory and page faults: temper's, and the ratios."""
    lines = []
    for key in bench.keys:
        memory, faults = ([find(rows, key, peer, metric) for peer in configurations.PEERS]
                          for metric in ("memory", "faults"))
        if not any(memory):
            continue
        of = lambda found: " · ".join(f"{r['ratio']:.2f}x" if r else "–" for r in found)
        count = next((r["temper"] for r in faults if r), None)
        peers = " · ".join(f"{r['peer_value']:.0f}" if r else "–" for r in faults)
        lines.append([key, figures.bytes_text(next(r["temper"] for r in memory if r)),
                      of(memory), "–" if count is None else f"{count:.0f}", peers])
    return lines


def file_lines(bench, rows, sides_of):
    lines = []
    for key in bench.keys:
        row = find(rows, key, "temper-zoo", "time")
        if row:
            lines.append([key, figures.seconds_text(row["temper"]),
                          figures.seconds_text(row["peer_value"]),
                          ratio_cell(rows, sides_of[key], key, "temper-zoo")])
    return lines


def add_roofs(bench, best, rows, sides_of):
    """Rows against the roof, and their lines of the table."""
    lines = []
    for step in configurations.STEPS:
        sides = sides_of.get(step.key)
        if step.file or not sides or "temper" not in sides:
            continue
        flops = limits.flops(bench.temper, step.network, step.batch)
        roof = limits.roof_seconds(best, flops)
        row = figures.roof_row(step.key, roof, sides["temper"]["time"])
        rows.append(row)
        lines.append([step.key, f"{flops / 1e9:.3g}", figures.seconds_text(roof),
                      f"{1 / row['ratio']:.2f}x",
                      f"{flops / row['temper'] / 1e9:.0f} GFLOP/s"])
    return lines


def settings_lines(bench):
    """What the plan chose; several choices of one configuration are all told."""
    lines = []
    for key, sides in bench.cells.items():
        seen = []
        for cell in sides.get("temper", []):
            chosen = cell.get("settings") or {}
            text = ", ".join(f"{name} {chosen[name]}" for name in
                             ("layout", "threads", "kernels") if name in chosen)
            if text and text not in seen:
                seen.append(text)
        if seen:
            lines.append([key, "; ".join(seen)])
    return lines


def version(temper):
    done = subprocess.run([temper, "--version"], capture_output=True, text=True)
    return " ".join(done.stdout.split())


def busy_note(bench):
    shares = [cell.get("others", 0) for sides in bench.cells.values()
              for cells in sides.values() for cell in cells]
    noisy = sum(share > figures.BUSY for share in shares)
    if not noisy:
        return "No other program used more than a tenth of the cores."
    return (f"**Other programs used more than a tenth of the cores during {noisy} of "
            f"{len(shares)} measurements** (at most {100 * max(shares):.0f} %). They count only "
            "where a side has no quiet one; threads that wait for each other make such times "
            "and CPU times useless. Measure again when the machine is quiet.")


def made(bench, best):
    sides_of = {key: by_metric(sides) for key, sides in bench.cells.items()}
    rows = [row for key in bench.keys if key in sides_of
            for row in figures.rows_of(key, sides_of[key])]
    roofs = add_roofs(bench, best, rows, sides_of)
    now = datetime.datetime.now().strftime("%Y-%m-%d %H:%M")
    parts = [
        "# temper beside its peers",
        f"{now}, {processes.processor()}, {processes.cores()} cores, "
        f"{platform.system()} {platform.release()}; {version(bench.temper)}; "
        f"Python's torch {bench.torch or 'is missing'}; {bench.rounds} rounds in turns"
        f"{', both sides kept to AVX2' if os.environ.get('BENCH_VECTORS') else ''}.",
        busy_note(bench),
        "## Time\n\nRatio by time (least and most of the rounds) · ratio by CPU time; above 1, "
        "temper is faster.\n\n" + figures.table(
            ["configuration", "temper", "Python NCHW", "Python channels_last", "Python tuned"],
            time_lines(bench, rows, sides_of)),
        "## Memory and page faults\n\nPeak memory and page faults a step; the peers in the same "
        "order. A memory ratio above 1: temper takes less.\n\n" + figures.table(
            ["configuration", "memory", "ratios", "faults", "faults of the peers"],
            other_lines(bench, rows, sides_of)),
        "## Models from .pt2 files\n\n" + figures.table(
            ["configuration", "file", "zoo", "zoo / file"], file_lines(bench, rows, sides_of)),
        "## Limits of the machine\n\n" + figures.table(
            ["", "1 thread", f"{best['threads']} threads"],
            [["FP32 multiply-add, GFLOP/s", f"{best['gflops_1']:.0f}", f"{best['gflops']:.0f}"],
             ["memory (triad), GB/s", f"{best['gbytes_1']:.1f}", f"{best['gbytes']:.1f}"]])
        + "\n\n" + figures.table(
            ["configuration", "GFLOP a step", "roof", "distance to the roof", "reached"], roofs),
        "## What the plan chose\n\n" + figures.table(["configuration", "settings"],
                                                    settings_lines(bench)),
    ]
    if bench.notes:
        parts.append("## Notes\n\n" + "\n".join(f"- {note}" for note in bench.notes))
    parts.append(f"Written by `make bench`"
                 + (f" with BENCH_ONLY={os.environ['BENCH_ONLY']}"
                    if os.environ.get("BENCH_ONLY") else "") + ".")
    return rows, "\n\n".join(parts) + "\n"
