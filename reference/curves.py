#!/usr/bin/python3
"""Learning curves for tests/train/torch/torch_curves_test.cpp, from PyTorch.

Trains four networks of reference/zoo.py for 50 steps with SGD and with AdamW,
each in float32 and in float64, and writes the losses to
tests/fixtures/train/curves.json. Weights and batches come from the formula of
zoo.py: the batches "input.0", "label.0" to "input.4", "label.4" are taken in
turn, so that there is something to learn. Decay groups as temper has them:
norms and biases, the parameters of one dimension, do not decay.

    /usr/bin/python3 reference/curves.py

Prints how far float32 went from float64: where that is much, the network is
chaotic, and only float64 can be compared.
"""
import json
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

from zoo import digits, formula, network, units, whole

OUT = pathlib.Path(__file__).parent.parent / "tests" / "fixtures" / "train" / "curves.json"
STEPS = 50
SAMPLES = 8  # of a batch
BATCHES = 5

# The rates let a network with BatchNorm learn without being thrown about.
NETWORKS = {
    "mlp": ({"name": "mlp", "classes": 10, "image_size": 16, "channels": 3, "widths": [64, 32]}, 0.005, 0.001),
    "cnn": ({"name": "cnn", "classes": 10, "image_size": 16, "channels": 3}, 0.005, 0.001),
    "resnet18": ({"name": "resnet18", "stem": "cifar", "width": 0.25, "classes": 10, "image_size": 16}, 0.0005, 0.0001),
    "mobilenet_v2": ({"name": "mobilenet_v2", "stem": "cifar", "width": 0.25, "classes": 10, "image_size": 32}, 0.0001, 0.0001),
}


def rules(sgd_lr, adamw_lr):
    return [
        {"name": "sgd", "lr": sgd_lr, "momentum": 0.9, "weight_decay": 0.01},
        {"name": "adamw", "lr": adamw_lr, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.1},
    ]


def optimizer(o, net):
    parameters = list(net.parameters())
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": o["weight_decay"]},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    if o["name"] == "sgd":
        return torch.optim.SGD(groups, lr=o["lr"], momentum=o["momentum"])
    return torch.optim.AdamW(groups, lr=o["lr"], betas=tuple(o["betas"]), eps=o["eps"])


def batches(o, dtype):
    shape = (SAMPLES, o["channels"] if "channels" in o else 3, o["image_size"], o["image_size"])
    return [
        (
            torch.from_numpy(units(f"input.{i}", int(np.prod(shape)))).view(shape).to(dtype),
            whole(f"label.{i}", SAMPLES, o["classes"]),
        )
        for i in range(BATCHES)
    ]


def losses(o, rule, dtype):
    net = network(o)
    for name, tensor in net.state_dict().items():
        if tensor.dtype == torch.float32:
            tensor.copy_(formula(name, tuple(tensor.shape)))
    net.to(dtype).train()
    given = batches(o, dtype)
    step_of = optimizer(rule, net)
    curve = []
    for step in range(STEPS):
        x, y = given[step % BATCHES]
        step_of.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        step_of.step()
        curve.append(loss.item())
    return curve


def main():
    torch.set_num_threads(1)
    cases = []
    for name, (options, *rates) in NETWORKS.items():
        for rule in rules(*rates):
            single = losses(options, rule, torch.float32)
            double = losses(options, rule, torch.float64)
            apart = [abs(a - b) / b for a, b in zip(single, double)]
            within = next((i for i, d in enumerate(apart) if d > 1e-5), STEPS)
            print(
                f"{name:12} {rule['name']:5} loss {double[0]:.4f} to {double[-1]:.4f}; "
                f"float32 within 1e-5 for {within} steps, at most {max(apart):.1e} away",
                flush=True,
            )
            cases.append({
                "options": options,
                "batch": SAMPLES,
                "batches": BATCHES,
                "optimizer": rule,
                "float32": [float(f"{v:.9g}") for v in single],
                "float64": digits(double),
            })
    text = json.dumps(cases, separators=(",", ":")).replace('"float', '\n"float').replace('{"options', '\n{"options')
    OUT.write_text(text + "\n")


if __name__ == "__main__":
    main()
