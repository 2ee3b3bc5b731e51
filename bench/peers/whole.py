"""Whole runs and epochs with the loader: temper's configs against plain Python
scripts that do the same."""
import json
import os
import pathlib
import subprocess
import tempfile
import time

import processes
import python_peer
import temper_run

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("TEMPER_SHARED_DATA", ROOT.parent / "shared/data"))
CIFAR = SHARED / "cifar-10-batches-bin"
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
RECORD = 3073  # bytes of an image of CIFAR-10 and its class
# Images to train and to validate on; 0: all.
IMAGES = {"m1-benchmark": (1000, 500), "epoch-cifar10-mobilenet": (2560, 512),
          "epoch-fashion-cnn": (0, 0)}


def missing(key):
    """Why a configuration cannot run here; empty if it can."""
    if key == "epoch-fashion-cnn" and not FASHION.exists():
        return f"{key} is left out: there is no Fashion-MNIST in {FASHION}."
    if key != "epoch-fashion-cnn" and not (CIFAR / "data_batch_1.bin").exists():
        return (f"{key} is left out: there is no CIFAR-10 in {CIFAR}; TEMPER_SHARED_DATA "
                "names the folder around it.")
    return ""


def timed(command, env):
    """A process from its start to its end, with the processes it waited for."""
    machine, begin = processes.machine_cpu(), time.monotonic()
    with tempfile.TemporaryFile("w+") as words:
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=words,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        except BaseException:
            process.kill()
            raise
        if process.returncode != 0:
            words.seek(0)
            raise RuntimeError(f"{command[0]}: {' '.join(words.read().split()[-40:])}")
    wall, cpu = time.monotonic() - begin, used.ru_utime + used.ru_stime
    return {"time": wall, "cpu": cpu, "memory": used.ru_maxrss * 1024,
            "others": processes.others(machine, processes.machine_cpu(), cpu, wall)}


class M1Benchmark:
    """configs/m1-benchmark.toml from the start of the command to its end; the
    features of the frozen part are computed anew in every round."""

    script = ROOT / "reference/m1_benchmark.py"

    def __init__(self, folder):
        self.folder, self.runs = pathlib.Path(folder) / "m1", 0
        (self.folder / "cifar").mkdir(parents=True)
        for name, count in zip(("data_batch_1.bin", "test_batch.bin"),
                               IMAGES["m1-benchmark"]):
            with open(CIFAR / name, "rb") as file:
                (self.folder / "cifar" / name).write_bytes(file.read(RECORD * count))
        subprocess.run([python_peer.PYTHON, str(self.script), str(self.folder / "cifar"),
                        "--make-weights", str(self.folder / "start.pth")], check=True)

    def temper(self, program):
        self.runs += 1
        command = [program, "train", str(ROOT / "configs/m1-benchmark.toml"), "--quiet"]
        for key in (f"data.path={self.folder}/cifar", f"model.weights={self.folder}/start.pth",
                    "model.head=keep", f"run.dir={self.folder}/runs",
                    f"run.name={self.runs}", "track.mlflow=off"):
            command += ["--set", key]
        cache = str(self.folder / f"cache{self.runs}")
        return timed(command, {**os.environ, "TEMPER_CACHE_DIR": cache})

    def python(self, peer):
        return timed([python_peer.PYTHON, str(self.script), str(self.folder / "cifar"),
                      "--weights", str(self.folder / "start.pth"),
                      "--threads", str(processes.cores()), "--workers", str(processes.cores()),
                      "--layout", python_peer.layout(peer)], python_peer.environment(peer))


class Epoch:
    """The first epoch of a config and its validation, from the journal."""

    def __init__(self, key, folder):
        self.key, self.folder, self.runs = key, folder, 0
        cifar = key == "epoch-cifar10-mobilenet"
        self.config = ROOT / "configs" / (
            "cifar10-mobilenet.toml" if cifar else "fashion-mnist-cnn.toml")
        self.data = CIFAR if cifar else FASHION
        self.limit, self.limit_val = IMAGES[key]

    def temper(self, program):
        self.runs += 1
        run = temper_run.Watched(
            program, [f"data.path={self.data}", f"data.limit={self.limit}",
                      f"data.limit_val={self.limit_val}", "device=cpu"],
            self.folder, f"{self.key}-{self.runs}", str(self.config))
        begin = None
        try:
            for event, used in run.events():
                if event["event"] == "run":
                    begin = used
                if event["event"] == "epoch":
                    break
            else:
                raise temper_run.Failed(f"temper did not get through {self.key}: {run.words()}")
        finally:
            run.stop()
        cpu = used.get("cpu", 0) - begin["cpu"] if used else 0
        wall = event["seconds"] + event.get("validation_s", 0)
        return {"time": wall, "cpu": cpu, "memory": run.peak, "others": processes.others(
            begin["machine"], used.get("machine", 0), cpu, wall)}

    def python(self, peer):
        return python_peer.run(peer, "python_epoch.py", str(self.config), str(self.data),
                               json.dumps({"layout": python_peer.layout(peer),
                                           "threads": processes.cores(), "limit": self.limit,
                                           "limit_val": self.limit_val}))


def opened(key, folder):
    return M1Benchmark(folder) if key == "m1-benchmark" else Epoch(key, folder)
