#!/usr/bin/env python3
"""Exports the networks of pt2_nets.py and trains them, for the tests of .pt2
files and of what runs them.

    python3 reference/pt2_fixtures.py tests/fixtures/pt2 [NAME...]

With names, those alone are made, and the others stay as they are.
Needs torch 2.9 or newer: Debian unstable's python3-torch. NAME.pt2 is the
export, expected.json what Python makes of it: inputs, the first output, the
losses of a few steps of SGD, gradient norms, buffers, outputs in eval mode.
"""

import json
import os
import pathlib
import sys
import warnings
import zipfile

os.environ["ATEN_CPU_CAPABILITY"] = "default"

import torch
import torch.nn.functional as F
from torch.export import Dim

import pt2_nets as nets

warnings.simplefilter("ignore")
STEPS = 5
LR = 0.1
MOMENTUM = 0.9
BATCH = {0: Dim("batch", min=2, max=4096)}


def data(tensor):
    tensor = tensor.detach()
    return {"dtype": str(tensor.dtype).removeprefix("torch."),
            "shape": list(tensor.shape),
            "data": [float(f"{v:.9g}") for v in tensor.double().flatten().tolist()]
            if tensor.is_floating_point() else tensor.flatten().tolist()}


def logits(result):
    return result["logits"] if isinstance(result, dict) else result


def train(model, inputs, keywords, target):
    """What happens to a freshly exported model: five steps, then eval mode."""
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad],
                                lr=LR, momentum=MOMENTUM)
    losses, norms, first = [], {}, None
    for step in range(STEPS):
        torch.manual_seed(step)
        optimizer.zero_grad()
        out = logits(model(*inputs, **keywords))
        loss = F.cross_entropy(out, target)
        loss.backward()
        if step == 0:
            first = data(out)
            norms = {name: float(p.grad.double().norm())
                     for name, p in model.named_parameters(remove_duplicate=False)
                     if p.grad is not None}
        optimizer.step()
        losses.append(loss.item())
    buffers = {name: data(b) for name, b in model.named_buffers()}
    model.eval()
    with torch.no_grad():
        out = logits(model(*inputs, **keywords))
    return {"train_output_step0": first, "losses": losses,
            "grad_norms_step0": norms, "buffers_after": buffers,
            "eval_output_after": data(out),
            "eval_loss_after": F.cross_entropy(out, target).item()}


def fixture(folder, name, model, inputs, target, shapes, mode="train",
            keywords=None, functional=False):
    """`mode` is the one the file is exported in; the figures are always those
    of training it. Without `shapes` the batch is baked into the file."""
    keywords = keywords or {}
    model.train(mode == "train")
    program = torch.export.export(model, inputs, keywords, dynamic_shapes=shapes)
    if functional:
        program = program.run_decompositions({})
    torch.export.save(program, folder / f"{name}.pt2")
    model.train(mode == "train")
    torch.manual_seed(0)
    state = {k: v.clone() for k, v in model.state_dict().items()}
    with torch.no_grad():
        output = data(logits(model(*inputs, **keywords)))
    model.load_state_dict(state)
    model.train()
    return {"mode": mode, "dynamic": shapes is not None, "loss": "cross_entropy",
            "optimizer": f"SGD lr {LR} momentum {MOMENTUM}",
            "seed": "manual_seed(step) before each step's forward",
            "inputs": [data(t) for t in (*inputs, *keywords.values())],
            "target": data(target),
            "parameters": {k: list(p.shape) for k, p in
                           model.named_parameters(remove_duplicate=False)},
            "output": output,
            **train(model, inputs, keywords, target), "torch": torch.__version__}


def repack(path):
    """As zip programs pack: deflated, in another root folder."""
    with zipfile.ZipFile(path) as archive:
        entries = {name.split("/", 1)[1]: archive.read(name)
                   for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(f"other root/{name}")
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)


def bomb(path):
    """A few kilobytes that unpack to megabytes of text."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr(zipfile.ZipInfo("bomb/archive_format"), "pt2")
        info = zipfile.ZipInfo("bomb/models/model.json")
        info.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(info, "[" + "0," * (1 << 22) + "0]")


def main(folder, wanted=()):
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(7)
    torch.set_num_threads(1)
    image = torch.randn(4, 2, 6, 6)
    row = torch.randn(4, 6)
    word = torch.randint(0, 7, (4, 5))
    label = torch.tensor([0, 2, 1, 2])
    sequence = {0: BATCH[0], 1: Dim("length", min=4, max=10)}
    made = {}
    if wanted:
        made = json.loads((folder / "expected.json").read_text())

    def add(name, *arguments, **options):
        if wanted and name not in wanted:
            return
        made[name] = fixture(folder, name, *arguments, **options)
        print(name, os.path.getsize(folder / f"{name}.pt2"), made[name]["losses"])

    add("cnn", nets.Cnn(), (image,), label, (BATCH,))
    add("cnn_eval", nets.Cnn(), (image,), label, (BATCH,), mode="eval")
    add("cnn_fixed_batch", nets.Cnn(), (image,), label, None)
    add("dropout", nets.Cnn(0.5), (image,), label, (BATCH,))
    add("arguments", nets.Arguments(), (image,), label, (BATCH,))
    add("lists", nets.Lists(), (row,), label, (BATCH,))
    add("sizes", nets.Sizes(), (torch.randn(4, 6, 4),), label, (sequence,))
    add("tied", nets.Tied(), (word,), torch.randint(0, 7, (4, 5)), (BATCH,))
    add("buffers", nets.Buffers(), (torch.randn(4, 4),), label, (BATCH,))
    add("counting", nets.Counting(), (torch.randn(4, 4),), label, (BATCH,))
    add("functional", nets.Counting(), (torch.randn(4, 4),), label, (BATCH,),
        functional=True)
    add("two_inputs", nets.TwoInputs(), (torch.randn(4, 4),), label,
        {"x": BATCH, "kind": BATCH},
        keywords={"kind": torch.tensor([0, 4, 1, 1])})
    add("attention", nets.Attention(), (torch.randint(0, 11, (4, 6)),),
        torch.randint(0, 11, (4, 6)), (BATCH,))
    add("recurrent", nets.Recurrent(), (torch.randn(4, 3, 4),), label, (BATCH,))

    add("no_grad", nets.NoGrad(), (row,), label, (BATCH,))
    add("autocast", nets.Autocast(), (image,), label, (BATCH,))
    add("shared", nets.Shared(), (row,), label, (BATCH,))
    add("modern", nets.Modern(), (row,), label, (BATCH,))
    add("per_channel", nets.PerChannel(), (image,), label, (BATCH,))
    add("hard_batch", nets.HardBatch(), (image,), label, None)

    for name, net in [("branch", nets.Branch()), ("loop", nets.Loop()),
                      ("waves", nets.Waves())]:
        if wanted and name not in wanted:
            continue
        refused = torch.export.export(net, (torch.randn(4, 4),),
                                      dynamic_shapes=(BATCH,))
        torch.export.save(refused, folder / f"{name}.pt2")
    if not wanted:
        bomb(folder / "bomb.pt2")
    for name in ["attention", "buffers", "branch"]:
        if not wanted or name in wanted:
            repack(folder / f"{name}.pt2")
    lines = [f"{json.dumps(name)}: {json.dumps(made[name])}" for name in made]
    (folder / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
