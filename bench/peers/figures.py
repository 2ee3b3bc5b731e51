"""From measurements to ratios and tables: no clock, no process, no torch here.
check.py holds these functions against known results."""
import math
import statistics

METRICS = ["time", "cpu", "memory", "faults"]
BUSY = 0.1  # share of the cores that others use, above which a time is in doubt


def calm(cells):
    """The measurements during which the machine was left alone; all of them if
    it never was."""
    return [cell for cell in cells if cell.get("others", 0) <= BUSY] or cells


def paired_ratios(temper, peer):
    """Peer over temper, round by round; above 1: temper is better."""
    return [b / a for a, b in zip(temper, peer) if a > 0 and b > 0]


def ratio(metric, temper, peer):
    if metric == "faults":  # none at all counts as one
        return max(peer, 1) / max(temper, 1)
    return peer / temper if temper > 0 else 0.0


def row(key, peer, metric, ours, theirs):
    """One entry of latest.json from the values of all rounds."""
    temper, other = statistics.median(ours), statistics.median(theirs)
    return {"configuration": key, "peer": peer, "metric": metric, "temper": temper,
            "peer_value": other, "ratio": ratio(metric, temper, other)}


def rows_of(key, cells):
    """All rows of a configuration. cells: side -> metric -> values of rounds."""
    made = []
    for peer, theirs in cells.items():
        if peer == "temper" or "temper" not in cells:
            continue
        for metric in METRICS:
            ours = cells["temper"].get(metric)
            if ours and theirs.get(metric):
                made.append(row(key, peer, metric, ours, theirs[metric]))
    return made


def roof_row(key, seconds, ours):
    """The arithmetic's own time at the machine's peak as one more peer."""
    return row(key, "roof", "time", ours, [seconds])


def malformed(rows):
    """Why the list is not what latest.json promises; empty if it is."""
    wanted = {"configuration": str, "peer": str, "metric": str, "temper": float,
              "peer_value": float, "ratio": float}
    if not isinstance(rows, list):
        return "it is not a list"
    for each in rows:
        if set(each) != set(wanted):
            return f"an entry has the fields {sorted(each)}"
        for name, kind in wanted.items():
            value = each[name]
            if kind is float and not (isinstance(value, (int, float)) and math.isfinite(value)):
                return f"{name} of {each['configuration']} is {value!r}, not a number"
            if kind is str and not isinstance(value, str):
                return f"{name} is {value!r}, not a text"
    return ""


def exponent(x, y):
    """Slope of a straight line through the logarithms: y grows like x to it."""
    a, b = [math.log(v) for v in x], [math.log(v) for v in y]
    middle_a, middle_b = statistics.fmean(a), statistics.fmean(b)
    spread = sum((v - middle_a) ** 2 for v in a)
    return sum((p - middle_a) * (q - middle_b) for p, q in zip(a, b)) / spread


def seconds_text(value):
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def bytes_text(value):
    return f"{value / 2**20:.0f} MiB"


def spread_text(values):
    """Half of the way from the least to the most, in per cent of the median."""
    if len(values) < 2:
        return "one round"
    half = (max(values) - min(values)) / 2 / statistics.median(values)
    return f"+-{100 * half:.0f} %"


def ratio_text(values, whole):
    if len(values) < 2:
        return f"**{whole:.2f}x**"
    return f"**{whole:.2f}x** ({min(values):.2f}-{max(values):.2f})"


def table(header, lines):
    """A Markdown table whose first column is text and the others numbers."""
    rule = "|" + "|".join(["---"] + ["---:"] * (len(header) - 1)) + "|"
    made = ["| " + " | ".join(header) + " |", rule]
    return "\n".join(made + ["| " + " | ".join(line) + " |" for line in lines])
