"""Python's sides: which there are on this machine, and how one is started."""
import ctypes.util
import json
import os
import pathlib
import statistics
import subprocess

import configurations
import processes

PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
HERE = pathlib.Path(__file__).resolve().parent
# Freed memory is kept, in huge pages where the kernel offers them.
KEEP_MEMORY = "dirty_decay_ms:-1,muzzy_decay_ms:-1,thp:always,metadata_thp:auto"


def jemalloc():
    name = ctypes.util.find_library("jemalloc")
    if name is None or "/" in name:
        return name
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib",
                   "/usr/local/lib", "/opt/homebrew/lib"):
        if os.path.exists(f"{folder}/{name}"):
            return f"{folder}/{name}"
    return None


def available():
    """The peers that can run here, and a sentence for each that cannot."""
    probe = subprocess.run([PYTHON, "-c", "import torch, torchvision; print(torch.__version__)"],
                           capture_output=True, text=True)
    if probe.returncode != 0:
        return [], "", [f"Python's rows are left out: {PYTHON} has no torch and torchvision. "
                        "scripts/setup.sh bench installs them."]
    if jemalloc() is None:
        return configurations.PEERS[:2], probe.stdout.strip(), [
            "python-tuned is left out: there is no jemalloc. scripts/setup.sh bench "
            "installs it (libjemalloc2)."]
    return configurations.PEERS, probe.stdout.strip(), []


def layout(peer):
    return "nchw" if peer == "python-nchw" else "channels_last"


def environment(peer):
    made = dict(os.environ)
    if peer == "python-tuned":
        made.update(LD_PRELOAD=jemalloc(), MALLOC_CONF=KEEP_MEMORY)
    return made


def run(peer, script, *words, cwd=None):
    """The last line that a script printed, as JSON. A session of its own, like
    temper's: the scheduler shares the cores among sessions."""
    process = subprocess.Popen(
        [PYTHON, str(HERE / script), *words], env=environment(peer), cwd=cwd,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True)
    try:
        out, error = process.communicate()
    except BaseException:
        process.kill()
        raise
    if process.returncode != 0:
        raise RuntimeError(f"{peer}: {' '.join(error.split()[-40:])}")
    return json.loads(out.strip().splitlines()[-1])


def measure(peer, step, seconds, warmup):
    """One cell: a `configurations.Step` by Python."""
    cell = run(peer, "python_step.py", json.dumps({
        "network": step.network, "batch": step.batch, "optimizer": step.optimizer,
        "group": step.group, "layout": layout(peer), "threads": processes.cores(),
        "seconds": seconds, "warmup": warmup}))
    cell["time"] = statistics.median(cell["times"])
    return cell
