#!/usr/bin/python3
"""A peer: training steps of one configuration in plain PyTorch.

    python_step.py '{"network": {...}, "batch": 32, "optimizer": "sgd", "group": 1,
                     "layout": "nchw", "threads": 2, "seconds": 3, "warmup": 3}'

Prints one JSON line: the seconds of each group of steps, CPU seconds and page
faults of a step, the peak of memory and the number of parameters.
"""
import json
import os
import sys
import time

import torch

import networks
import processes

FEWEST_GROUPS = 3
PATIENCE = 6  # times the seconds asked for: on a busy machine one group will do


def main():
    order = json.loads(sys.argv[1])
    torch.set_num_threads(order["threads"])
    torch.manual_seed(0)
    net = networks.network(order["network"])
    x, y = networks.batch(order["network"], order["batch"])
    if order["layout"] == "channels_last" and x.dim() == 4:
        net = net.to(memory_format=torch.channels_last)
        x = x.to(memory_format=torch.channels_last)
    rule = networks.optimizer(order["optimizer"], net)

    def step():
        rule.zero_grad()
        loss = networks.loss(net, x, y)
        loss.backward()
        rule.step()
        return loss.item()

    begin = time.perf_counter()
    for done in range(order["warmup"]):
        step()
        if done >= 1 and time.perf_counter() - begin > 2 * order["seconds"]:
            break
    times, before = [], processes.usage(os.getpid())
    machine, begin = processes.machine_cpu(), time.perf_counter()
    while True:
        start = time.perf_counter()
        spent = start - begin
        enough = len(times) >= FEWEST_GROUPS and spent >= order["seconds"]
        if enough or (times and spent >= PATIENCE * order["seconds"]):
            break
        for _ in range(order["group"]):
            step()
        times.append((time.perf_counter() - start) / order["group"])
    wall, after = time.perf_counter() - begin, processes.usage(os.getpid())
    steps = len(times) * order["group"]
    cpu = after["cpu"] - before["cpu"]
    print(json.dumps({
        "times": times,
        "cpu": cpu / steps,
        "faults": (after["faults"] - before["faults"]) / steps,
        "memory": processes.peak_bytes(os.getpid()),
        "others": processes.others(machine, processes.machine_cpu(), cpu, wall),
        "parameters": sum(p.numel() for p in net.parameters()),
    }))


if __name__ == "__main__":
    main()
