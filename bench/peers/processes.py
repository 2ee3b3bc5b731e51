"""Readings from /proc: CPU time, page faults and peak memory of a process, and
how much of the machine others used meanwhile. Zeros where there is no /proc."""
import os
import pathlib

TICKS = os.sysconf("SC_CLK_TCK")


def cores():
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def usage(pid):
    """CPU seconds (user and system, all threads) and minor page faults so far."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return {"cpu": 0.0, "faults": 0}
    fields = text.rpartition(")")[2].split()
    return {"cpu": (int(fields[11]) + int(fields[12])) / TICKS, "faults": int(fields[7])}


def peak_bytes(pid):
    try:
        for line in open(f"/proc/{pid}/status"):
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    return 0


def machine_cpu():
    """CPU seconds that were not idle, of all cores, and those stolen by the
    hypervisor, since the machine started."""
    try:
        fields = [int(each) for each in open("/proc/stat").readline().split()[1:]]
    except OSError:
        return 0.0
    user, nice, system, _idle, _wait, irq, soft, steal = fields[:8]
    return (user + nice + system + irq + soft + steal) / TICKS


def others(before, after, own_cpu, wall):
    """Share of the cores, 0 to 1, that others used during `wall` seconds."""
    if wall <= 0 or after <= before:
        return 0.0
    return min(1.0, max(0.0, (after - before - own_cpu) / (wall * cores())))


def processor():
    try:
        for line in open("/proc/cpuinfo"):
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return os.uname().machine
