#!/usr/bin/env python3
"""Whether Python makes the same of a .pt2 file that temper wrote as of the one
it was read from: same names, same ties, same outputs and gradients, to the bit.

    python3 reference/pt2_check.py < jobs.json

A job is {"original", "written", "inputs", "scale"}: inputs are lists as in
tests/fixtures/pt2/expected.json, or the path of a .npy file; `scale` is what
temper multiplied all float32 parameters and buffers by. Ends with 77 when there
is no torch that reads such files (2.9 or newer), 1 at the first difference.
"""

import collections
import json
import sys
import warnings

try:
    import numpy as np
    import torch
except ImportError as error:
    print(error)
    sys.exit(77)

warnings.simplefilter("ignore")
STEPS = 3


def tensor(source):
    if isinstance(source, str):
        return torch.from_numpy(np.load(source))
    kind = getattr(torch, source["dtype"])
    return torch.tensor(source["data"], dtype=kind).reshape(source["shape"])


def everything(module):
    """Parameters and buffers, by name."""
    named = dict(module.named_parameters(remove_duplicate=False))
    named.update(module.named_buffers(remove_duplicate=False))
    return named


def call(module, inputs, keywords):
    out = module(*inputs, **keywords)
    return list(out.values()) if isinstance(out, dict) else [out]


def train(module, inputs, keywords):
    """Outputs and state of a few steps; the same arithmetic for both files."""
    seen = []
    state = everything(module)
    learned = [p for p in module.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(learned, lr=0.05, momentum=0.9)
    for step in range(STEPS):
        torch.manual_seed(step)
        optimizer.zero_grad()
        outputs = call(module, inputs, keywords)
        sum(o.square().mean() for o in outputs).backward()
        seen += [o.detach().clone() for o in outputs]
        seen += [p.grad.clone() for p in learned if p.grad is not None]
        optimizer.step()
    return seen + [t.detach().clone() for _, t in sorted(state.items())]


def same(what, a, b):
    if a != b:
        sys.exit(f"{what}: {b} instead of {a}"[:1000])


def names_in_order(program):
    """Of the state dict, without those of tensors that have several: PyTorch puts
    these side by side, and temper where the graph takes them."""
    tensors = program.state_dict.items()
    users = collections.Counter(tensor.data_ptr() for _, tensor in tensors)
    return [name for name, tensor in tensors if users[tensor.data_ptr()] == 1]


def check(job):
    name = job["written"]
    programs = [torch.export.load(job[k]) for k in ("original", "written")]
    modules = [p.module() for p in programs]
    states = [everything(m) for m in modules]
    same(f"{name}: names", sorted(states[0]), sorted(states[1]))
    same(f"{name}: state dict", sorted(programs[0].state_dict), sorted(programs[1].state_dict))
    same(f"{name}: order of the state dict", *map(names_in_order, programs))
    same(f"{name}: constants", sorted(programs[0].constants), sorted(programs[1].constants))
    same(f"{name}: symbols", sorted(map(str, programs[0].range_constraints.items())),
         sorted(map(str, programs[1].range_constraints.items())))
    for key, value in states[0].items():
        other = states[1][key]
        same(f"{name}: {key}", (value.dtype, value.shape, value.requires_grad),
             (other.dtype, other.shape, other.requires_grad))
        same(f"{name}: who shares with {key}",
             sorted(k for k, v in states[0].items() if v.data_ptr() == value.data_ptr()),
             sorted(k for k, v in states[1].items() if v.data_ptr() == other.data_ptr()))
    with torch.no_grad():
        # Tied ones are two objects over the same memory.
        for value in {v.data_ptr(): v for v in states[0].values()}.values():
            if value.dtype == torch.float32:
                value *= job["scale"]
    inputs = [tensor(source) for source in job["inputs"]]
    keywords = {k: inputs.pop() for k in job.get("keywords", [])}
    results = [train(m, inputs, keywords) for m in modules]
    same(f"{name}: results", len(results[0]), len(results[1]))
    for index, (a, b) in enumerate(zip(*results)):
        if not torch.equal(a.nan_to_num(), b.nan_to_num()):
            sys.exit(f"{name}: result {index} differs by {(a - b).abs().max()}")
    print(f"{name}: {len(results[0])} tensors equal")


def main():
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < (2, 9):
        print(f"torch {torch.__version__} is older than 2.9")
        sys.exit(77)
    torch.set_num_threads(1)
    for job in json.load(sys.stdin):
        check(job)


if __name__ == "__main__":
    main()
