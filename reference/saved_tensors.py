#!/usr/bin/env python3
"""How much PyTorch keeps for the backward pass, and the most it holds at once.

Writes tests/fixtures/saved/expected.json: for networks of the zoo in training
mode, the bytes of all memory that autograd saved in the forward pass (each
piece once; parameters, buffers and the input left out), and the peak of what
the CPU's allocator handed out during forward and backward.

    /usr/bin/python3 reference/saved_tensors.py
"""
import json
import pathlib
import sys
import warnings

import torch
from torch.profiler import ProfilerActivity, profile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import zoo  # noqa: E402

OUT = pathlib.Path(__file__).parent.parent / "tests/fixtures/saved/expected.json"
CASES = [
    {"name": "resnet18", "image_size": 64, "classes": 10},
    {"name": "resnet50", "image_size": 64, "classes": 10},
    {"name": "mobilenet_v2", "image_size": 64, "classes": 10},
    {"name": "vit_tiny", "image_size": 64, "classes": 10},
    {"name": "gpt_tiny", "context": 48, "vocabulary": 65},
    {"name": "cnn", "image_size": 28, "channels": 1, "classes": 10},
    {"name": "mlp", "image_size": 28, "channels": 1, "widths": [64, 32], "classes": 10},
]
BATCHES = (2, 8)


def example(case, batch):
    if case["name"] == "gpt_tiny":
        return torch.zeros(batch, case["context"], dtype=torch.int64)
    size = case["image_size"]
    return torch.randn(batch, case.get("channels", 3), size, size)


def saved_bytes(network, x):
    held = {t.storage().data_ptr() for t in [x, *network.parameters(), *network.buffers()]}
    pieces, alive = {}, []

    def pack(t):
        alive.append(t)  # so that no address is given out twice
        if t.storage().data_ptr() not in held:
            pieces[t.storage().data_ptr()] = t.storage().nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        alive.append(network(x))
    return sum(pieces.values())


def peak_bytes(network, x):
    """Beside the parameters, their gradients and the input."""
    for p in network.parameters():
        p.grad = torch.zeros_like(p)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        loss = network(x).sum()
        loss.backward()
        del loss
    live = peak = 0
    for event in record.profiler.kineto_results.events():
        if event.name() == "[memory]":
            live += event.nbytes()
            peak = max(peak, live)
    return peak


def main():
    warnings.filterwarnings("ignore")
    rows = []
    for case in CASES:
        for batch in BATCHES:
            torch.manual_seed(0)
            network = zoo.network(case).float().train()
            x = example(case, batch)
            row = {**case, "batch": batch, "saved_bytes": saved_bytes(network, x)}
            row["input_bytes"] = x.nelement() * x.element_size()
            row["peak_bytes"] = peak_bytes(network, x)
            rows.append(row)
            print(row)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(r) for r in rows)
    OUT.write_text(f'{{"torch": "{torch.__version__}", "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
