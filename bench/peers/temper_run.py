"""temper as users run it: `temper train` with its own plan, watched from outside
through its journal and /proc. The run is a long one, so that the plan finds it
worth measuring, and is stopped with SIGTERM when enough was seen."""
import json
import os
import pathlib
import signal
import statistics
import subprocess
import time

import configurations
import processes

POLL_S = 0.005
FEWEST_GROUPS = 3
PATIENCE = 6  # times the seconds asked for: on a busy machine one group will do
DEADLINE_S = 600
LONG_S = 600  # what a run would take if it was not stopped: worth a plan


class Failed(Exception):
    pass


class Watched:
    """A run under way: the events of its journal, and what its process used
    when each was seen."""

    def __init__(self, program, keys, folder, name, config=None, extra=()):
        self.folder = pathlib.Path(folder) / name
        self.log = pathlib.Path(folder) / f"{name}.log"
        self.begin = time.monotonic()
        command = [program, "train", *([config] if config else []), "--quiet", *extra]
        for key in [f"run.dir={folder}", f"run.name={name}", "track.mlflow=off",
                    "track.system_seconds=0", *keys]:
            command += ["--set", key]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=open(self.log, "w"),
            stderr=subprocess.STDOUT, start_new_session=True)
        self.at, self.pid, self.peak = 0, None, 0

    def events(self):
        """Each event with what the trainer had used by then, until the run ends."""
        while True:
            lines = self._new_lines()
            for event in lines:
                if event["event"] in ("run", "resume"):
                    self.pid = event["origin"]["pid"]
                yield event, self._usage()
            if lines:
                continue
            if self.process.poll() is not None:
                break
            if time.monotonic() - self.begin > DEADLINE_S:
                raise Failed(f"nothing to see after {DEADLINE_S} s: {self.words()}")
            time.sleep(POLL_S)
        for event in self._new_lines():
            yield event, {}

    def _usage(self):
        used = processes.usage(self.pid or self.process.pid)
        self.peak = max(self.peak, processes.peak_bytes(self.pid or self.process.pid))
        return {**used, "machine": processes.machine_cpu(), "at": time.monotonic()}

    def _new_lines(self):
        path = self.folder / "journal.jsonl"
        try:
            with open(path, "rb") as file:
                file.seek(self.at)
                text = file.read()
        except OSError:
            return []
        whole = text[:text.rfind(b"\n") + 1]
        self.at += len(whole)
        return [json.loads(line) for line in whole.splitlines()]

    def words(self):
        """The end of what the run printed."""
        return " ".join(self.log.read_text().split()[-40:])

    def stop(self):
        """Asks the run to stop, which writes a checkpoint, and waits for it."""
        if self.process.poll() is not None:
            return
        self.process.terminate()  # SIGINT is ignored by what runs in a background
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def measure(program, step, folder, name, seconds, warmup, model="", expected_s=0.5):
    """One cell: a `configurations.Step` by temper. expected_s: about what a
    step takes, from which the length of the run follows."""
    updates = max(200, int(LONG_S / expected_s))
    keys = configurations.model_keys(step.network, model)
    keys += configurations.optimizer_keys(step.optimizer)
    keys += [f"train.batch={step.batch}", "train.epochs=1", f"train.log_every={step.group}",
             "schedule.name=constant", "data.val_fraction=0", "device=cpu", "seed=1",
             f"data.source={configurations.source(step.network, step.batch * updates)}"]
    run = Watched(program, keys, folder, name)
    groups, settings, parameters = [], {}, 0
    begin = None
    try:
        for event, used in run.events():
            if event["event"] == "run":
                parameters = event["plan"]["parameters"]
                settings = event["plan"].get("settings", {})
                started = used["at"]
            if event["event"] != "step" or not used:
                continue
            if begin is None:
                slow = event["step"] > 1 and used["at"] - started > 2 * seconds
                if event["step"] >= warmup or slow:
                    begin = (event["step"], used)
                continue
            groups.append(step.batch / event["samples_per_s"])
            end = (event["step"], used)
            spent = used["at"] - begin[1]["at"]
            enough = len(groups) >= FEWEST_GROUPS and spent >= seconds
            if enough or spent >= PATIENCE * seconds:
                break
    finally:
        run.stop()
    if not groups:
        raise Failed(f"temper did not get through {step.key}: {run.words()}")
    steps, a, b = end[0] - begin[0], begin[1], end[1]
    cpu = b["cpu"] - a["cpu"]
    return {
        "times": groups,
        "time": statistics.median(groups),
        "cpu": cpu / steps,
        "faults": (b["faults"] - a["faults"]) / steps,
        "memory": run.peak,
        "others": processes.others(a["machine"], b["machine"], cpu, b["at"] - a["at"]),
        "parameters": parameters,
        "settings": {k: v.get("value") for k, v in settings.items() if isinstance(v, dict)},
    }


def export(program, step, folder, name):
    """The network of a step as a .pt2 file for training: one update makes a run
    whose model is exported, so that every option of the zoo goes along."""
    keys = configurations.model_keys(step.network) + configurations.optimizer_keys(step.optimizer)
    keys += [f"train.batch={step.batch}", "train.epochs=1", "train.max_steps=1",
             "data.val_fraction=0", "device=cpu", "seed=1",
             f"data.source={configurations.source(step.network, step.batch)}"]
    run = Watched(program, keys, folder, name)
    if run.process.wait(DEADLINE_S) != 0:
        raise Failed(f"a run to export from failed: {run.words()}")
    file = f"{folder}/{step.key}.pt2"
    done = subprocess.run([program, "export", str(run.folder), "--train", "--to", file],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"temper export failed: {' '.join(done.stderr.split())}")
    return file
