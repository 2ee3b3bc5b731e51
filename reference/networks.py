#!/usr/bin/env python3
"""Every network of the table in docs/bring-your-own-model.md, exported by this
PyTorch and trained by temper, held against PyTorch itself.

    python3 reference/networks.py FOLDER --temper PROGRAM [NAME...]
    python3 reference/networks.py FOLDER --make [NAME...]      only the exports
    python3 reference/networks.py FOLDER --check --temper PROGRAM [NAME...]
    python3 reference/networks.py --table                      the table's rows

Needs torch 2.9 or newer and torchvision (Debian unstable has both). For each
network: the loss of the first batch, to 1e-6 of it; the weights and statistics
after one update of SGD, ||temper - PyTorch|| / ||update|| below 1e-4, both with
LibTorch's kernels (kernels = "stock"); the same with temper's own, to 1e-5 and 1e-3,
as their short algorithms for 3x3 convolutions round more often; and the files that temper writes, of the network as it came and as it was trained, loaded
by torch.export.load, with the same weights and the same results.

Deep networks with BatchNorm over small batches are not that exact in float32
itself: a rounding in another order moves their loss by more. So PyTorch computes
the step in several orders that are one in exact arithmetic (ways()) and once in
float64. temper is one more such order: from float64 it may be as far as the
furthest of PyTorch's, times two, and the 1e-6 or 1e-4 beside it.
"""

import argparse
import copy
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy
import torch
import torch.nn.functional as F
from torch import nn

import own_networks as own

warnings.simplefilter("ignore")
BATCH = 8
LR = 0.05
LENGTH = 12  # tokens of a text


class Case:
    """make: the network; kind: its data; task: what temper is told to do."""

    def __init__(self, group, make, kind, task="auto", fixed=False, note=""):
        self.group, self.make, self.kind, self.task = group, make, kind, task
        self.fixed, self.note = fixed, note


def vision(name, **options):
    def make():
        import torchvision
        return getattr(torchvision.models, name)(weights=None, num_classes=own.CLASSES,
                                                 **options)
    return make


def small_head(name, features):
    """Without the wide layers behind the convolutions: a tenth of the weights."""
    def make():
        net = vision(name)()
        net.classifier = nn.Linear(features, own.CLASSES)
        return net
    return make


class First(nn.Module):
    """Of a network that gives auxiliary results in training."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        out = self.net(x)
        return out[0] if isinstance(out, tuple) else out


class Backbone(nn.Module):
    """torchvision's feature pyramid over a ResNet, pooled and classified."""

    def __init__(self):
        super().__init__()
        from torchvision.models.detection.backbone_utils import resnet_fpn_backbone
        self.fpn = resnet_fpn_backbone(backbone_name="resnet18", weights=None,
                                       trainable_layers=5, norm_layer=nn.BatchNorm2d)
        self.head = nn.Linear(256, own.CLASSES)

    def forward(self, x):
        return self.head(sum(level.mean((2, 3)) for level in self.fpn(x).values()))


class Segment(nn.Module):
    """torchvision's segmentation heads, averaged over the image."""

    def __init__(self, name):
        super().__init__()
        import torchvision
        self.net = getattr(torchvision.models.segmentation, name)(
            weights=None, weights_backbone=None, num_classes=own.CLASSES)

    def forward(self, x):
        return self.net(x)["out"].mean((2, 3))


def rows(cell):
    return lambda: own.Cells(cell)


V, R, T, D, C, O = ("torchvision", "recurrent", "transformer", "detection",
                    "convolution", "other")
CASES = {
    "alexnet": Case(V, small_head("alexnet", 9216), "image64"),
    "vgg11_bn": Case(V, small_head("vgg11_bn", 25088), "image32"),
    "resnet18": Case(V, vision("resnet18"), "image64"),
    "resnet50": Case(V, vision("resnet50"), "image64"),
    "resnext50_32x4d": Case(V, vision("resnext50_32x4d"), "image64"),
    "densenet121": Case(V, vision("densenet121"), "image64"),
    "googlenet": Case(V, lambda: First(vision("googlenet", init_weights=False)()), "image64"),
    "inception_v3": Case(V, vision("inception_v3", init_weights=False, aux_logits=False),
                         "image96"),
    "mobilenet_v2": Case(V, vision("mobilenet_v2"), "image64"),
    "mobilenet_v3_small": Case(V, vision("mobilenet_v3_small"), "image64"),
    "mnasnet0_5": Case(V, vision("mnasnet0_5"), "image64"),
    "shufflenet_v2_x0_5": Case(V, vision("shufflenet_v2_x0_5"), "image64"),
    "squeezenet1_1": Case(V, vision("squeezenet1_1"), "image64"),
    "efficientnet_b0": Case(V, vision("efficientnet_b0"), "image64"),
    "efficientnet_v2_s": Case(V, vision("efficientnet_v2_s"), "image64"),
    "regnet_y_400mf": Case(V, vision("regnet_y_400mf"), "image64"),
    "convnext_tiny": Case(V, vision("convnext_tiny"), "image64"),
    "vit": Case(V, lambda: vit(), "image32"),
    "swin_t": Case(V, vision("swin_t"), "image64"),
    "swin_v2_t": Case(V, vision("swin_v2_t"), "image64"),
    "maxvit_t": Case(V, lambda: maxvit(), "image64"),
    "r3d_18": Case(V, lambda: video("r3d_18"), "video"),
    "r2plus1d_18": Case(V, lambda: video("r2plus1d_18"), "video"),
    "resnet18_fpn": Case(D, Backbone, "image64"),
    "fcn_resnet50": Case(D, lambda: Segment("fcn_resnet50"), "image32"),
    "deeplabv3_mobilenet": Case(D, lambda: Segment("deeplabv3_mobilenet_v3_large"), "image64"),
    "lraspp_mobilenet": Case(D, lambda: Segment("lraspp_mobilenet_v3_large"), "image64"),
    "pyramid": Case(D, own.Pyramid, "image32"),
    "anchors": Case(D, own.Anchors, "image32", note="a tuple: classes and boxes"),
    "unet": Case(C, own.Unet, "image16", task="autoencode"),
    "autoencoder": Case(C, own.Autoencoder, "image16", task="autoencode"),
    "squeeze_excite": Case(C, own.SqueezeExcite, "image16"),
    "prelu": Case(C, own.PRelu, "image16", note="a slope for each channel"),
    "mixer": Case(C, own.Mixer, "image16"),
    "windows": Case(C, own.Windows, "image16", note="unfold, roll, einsum, gather"),
    "wave": Case(C, own.Wave, "wave", note="one dimension"),
    "volume": Case(C, own.Volume, "volume", note="three dimensions"),
    "weight_norm": Case(C, own.WeightNormed, "wave"),
    "lstm": Case(R, rows(nn.LSTM), "sequence"),
    "gru": Case(R, rows(nn.GRU), "sequence"),
    "rnn": Case(R, rows(nn.RNN), "sequence"),
    "gru_cell": Case(R, own.Unrolled, "sequence", note="a loop, unrolled"),
    "tied_rnn": Case(R, own.TiedRnn, "text", note="tied weights"),
    "encoder": Case(T, own.Encoder, "sequence"),
    "encoder_norm_first": Case(T, lambda: own.Encoder(True), "sequence"),
    "pooling": Case(T, own.Pooling, "sequence", note="nn.MultiheadAttention"),
    "gpt": Case(T, own.Causal, "text"),
    "gpt_tied": Case(T, lambda: own.Causal(True), "text", note="tied weights"),
    "llama": Case(T, own.Llama, "text", note="RMSNorm, rotary, grouped queries"),
    "tower": Case(O, own.Tower, "row", note="eight activations"),
    "regression": Case(O, own.Regression, "numbers"),
    "named": Case(O, own.Named, "row", note="a dictionary of results"),
    "repeated": Case(O, own.Repeated, "row", note="one block under two names"),
    "no_grad": Case(O, own.Detached, "row", note="torch.no_grad() in forward"),
    "autocast_off": Case(O, own.Uncast, "row", note="torch.autocast(enabled=False)"),
    "spectral_norm": Case(O, own.Spectral, "row"),
    "quantiser": Case(O, own.Quantiser, "row", note="straight-through gradient"),
    "fixed_batch": Case(O, own.Mixer, "image16", fixed=True,
                        note="exported without dynamic_shapes"),
}


def vit():
    from torchvision.models import VisionTransformer
    return VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=4,
                             hidden_dim=32, mlp_dim=64, num_classes=own.CLASSES)


def maxvit():
    from torchvision.models.maxvit import MaxVit
    return MaxVit(input_size=(64, 64), stem_channels=16, partition_size=2,
                  block_channels=[16, 32], block_layers=[1, 1], head_dim=8,
                  stochastic_depth_prob=0.0, num_classes=own.CLASSES)


def video(name):
    import torchvision
    return getattr(torchvision.models.video, name)(weights=None, num_classes=own.CLASSES)


def data_of(kind):
    random = torch.Generator().manual_seed(5)

    def draw(*shape):
        return torch.randn(BATCH, *shape, generator=random)

    label = torch.arange(BATCH) % own.CLASSES
    if kind.startswith("image"):
        size = int(kind[5:])
        return draw(3, size, size), label
    shapes = {"row": (12,), "numbers": (12,), "sequence": (7, 6), "wave": (2, 24),
              "volume": (1, 8, 8, 8), "video": (3, 4, 32, 32)}
    if kind in shapes:
        x = draw(*shapes[kind])
        return x, draw(2) if kind == "numbers" else label
    count = BATCH * LENGTH + 1
    text = torch.cat([torch.arange(own.WORDS),
                      torch.randint(own.WORDS, (count - own.WORDS,), generator=random)])
    return (text[:-1].view(BATCH, LENGTH), text[1:].view(BATCH, LENGTH))


def still(net):
    """Nothing is drawn in forward."""
    for module in net.modules():
        for name in ("p", "dropout"):
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)
    return net


def first(result):
    if isinstance(result, dict):
        return next(iter(result.values()))
    return result[0] if isinstance(result, tuple) else result


def loss_of(case, result, x, y):
    out = first(result)
    if case.task == "autoencode":
        return F.mse_loss(out, x)
    if case.kind == "numbers":
        return F.mse_loss(out, y)
    if case.kind == "text":
        return F.cross_entropy(out.flatten(0, 1), y.flatten())
    return F.cross_entropy(out, y)


def update_of(net, case, x, y):
    """Loss and state dict after one update."""
    net = copy.deepcopy(net).train()
    optimizer = torch.optim.SGD(net.parameters(), lr=LR)
    loss = loss_of(case, net(x), x, y)
    loss.backward()
    optimizer.step()
    return loss.item(), net.state_dict()


def ways(net, case, x, y):
    """update_of in float32, in ways that differ by rounding alone: the samples forwards
    or backwards, with oneDNN or without; and samples that are off by a rounding
    themselves, which takes some ReLU to the other side. The first is PyTorch's own."""
    for samples, labels in ((x, y), (x.flip(0), y.flip(0))):
        for onednn in (True, False):
            with torch.backends.mkldnn.flags(enabled=onednn):
                yield update_of(net, case, samples, labels)
    if x.is_floating_point():
        waves = torch.arange(x.numel()).mul(12.9898).cos().view(x.shape) / 2**23
        for samples in (x * (1 + waves), x * (1 - waves)):
            yield update_of(net, case, samples, y)


def make(name, case, folder):
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(3)
    net = still(case.make()).train()
    x, y = data_of(case.kind)
    shapes = None if case.fixed else ({0: torch.export.Dim("batch", min=2)},)
    program = torch.export.export(net, (x,), dynamic_shapes=shapes)
    torch.export.save(program, folder / "net.pt2")
    if case.kind == "text":
        words = torch.cat([x.flatten(), y.flatten()[-1:]])
        (folder / "text.txt").write_text("".join(chr(65 + int(w)) for w in words))
    else:
        (folder / "data").mkdir(exist_ok=True)
        numpy.save(folder / "data" / "x.npy", x.numpy())
        numpy.save(folder / "data" / "y.npy", y.numpy())
    before = {k: v.clone() for k, v in net.state_dict().items()}
    singles = list(ways(net, case, x, y))
    as_double = lambda t: t.double() if t.is_floating_point() else t
    loss, best = update_of(net.double(), case, as_double(x), as_double(y))
    torch.save({"before": before, "after": singles[0][1], "best": best,
                "loss": singles[0][0], "precise": loss,
                "off_losses": [relative(each, loss) for each, _ in singles],
                "off_updates": [distance(each, best, before) for _, each in singles]},
               folder / "expected.pt")


def read_safetensors(path):
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    types = {"F32": numpy.float32, "F64": numpy.float64, "I64": numpy.int64,
             "I32": numpy.int32, "BOOL": numpy.bool_, "U8": numpy.uint8}
    found = {}
    for name, about in json.loads(raw[8:8 + size]).items():
        if name == "__metadata__" or about["dtype"] not in types:
            continue
        begin, end = about["data_offsets"]
        part = raw[8 + size + begin:8 + size + end]
        values = numpy.frombuffer(part, types[about["dtype"]]).copy()
        found[name] = torch.from_numpy(values.reshape(about["shape"]))
    return found


def relative(a, b):
    return abs(a - b) / max(abs(b), 1e-12)


def distance(a, b, before):
    """||a - b|| / ||b - before|| over what is in all of them."""
    off = length = 0.0
    for name, value in b.items():
        if name not in a or not value.is_floating_point():
            continue
        off += float((a[name].double() - value.double()).pow(2).sum())
        length += float((value.double() - before[name].double()).pow(2).sum())
    return (off / length) ** 0.5 if length else float(off > 0)


def run(arguments, folder):
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(" ".join(words)[:300] or f"exit code {done.returncode}")
    return done.stdout


def trained(case, folder, temper, kernels):
    source = "text:chars:text.txt" if case.kind == "text" else "npy:data"
    keys = {"data.source": source, "model.name": "net.pt2", "run.dir": "runs",
            "run.name": kernels, "kernels": kernels, "device": "cpu", "threads": 1, "plan.seconds": 0,
            "precision": "fp32", "data.val_fraction": 0, "data.scale": "none",
            "train.batch": BATCH, "train.epochs": 1, "train.max_steps": 1,
            "train.log_every": 1, "train.task": case.task, "optimizer.name": "sgd",
            "optimizer.lr": LR, "optimizer.momentum": 0, "optimizer.weight_decay": 0,
            "schedule.name": "constant", "track.mlflow": "off"}
    if case.kind == "text":
        keys["data.sequence"] = LENGTH
    line = [temper, "train", "--no-supervise"]
    for key, value in keys.items():
        line += ["--set", f"{key}={value}"]
    one = folder / "runs" / kernels
    shutil.rmtree(one, ignore_errors=True)
    run(line, folder)
    journal = [json.loads(l) for l in
               (one / "journal.jsonl").read_text().splitlines()]
    loss = [e["loss"] for e in journal if "loss" in e and e.get("step") == 1][0]
    latest = (one / "checkpoints/latest").read_text().strip()
    state = read_safetensors(one / "checkpoints" / latest / "state.safetensors")
    return loss, {k[6:]: v for k, v in state.items() if k.startswith("model.")}


def back(case, folder, temper, source, weights):
    """What temper writes of `source`, Python loads: names, weights, results."""
    run([temper, "export", source, "--train", "--force", "--to", "back.pt2"], folder)
    program = torch.export.load(folder / "back.pt2")
    wanted = torch.export.load(folder / "net.pt2")
    for name, value in wanted.state_dict.items():
        if not torch.equal(program.state_dict[name], weights.get(name, value)):
            return f"{name} differs"
        with torch.no_grad():
            value.copy_(program.state_dict[name])
    x, _ = data_of(case.kind)
    ours, theirs = (first(each.module()(x)) for each in (program, wanted))
    return "equal" if torch.equal(ours, theirs) else \
        f"results differ by {float((ours - theirs).abs().max()):.1e}"


def agrees(off, limit, ours, theirs):
    """To the limit, or as far from float64 as float32 may be."""
    return off <= limit or ours <= 2 * max(theirs) + limit


def compared(case, folder, temper, expected, kernels, limits):
    """Whether a run agrees with PyTorch, its figures, and the state it ended with."""
    loss, state = trained(case, folder, temper, kernels)
    before = expected["before"]
    losses = (relative(loss, expected["loss"]), relative(loss, expected["precise"]),
              max(expected["off_losses"]))
    updates = (distance(state, expected["after"], before),
               distance(state, expected["best"], before), max(expected["off_updates"]))
    good = agrees(losses[0], limits[0], losses[1], expected["off_losses"]) and \
        agrees(updates[0], limits[1], updates[1], expected["off_updates"])
    return good, (*losses, *updates), state


def check(name, case, folder, temper):
    """With LibTorch's kernels, to the last roundings; and with temper's, whose short
    algorithms for 3x3 convolutions round more often: docs/precision.md."""
    expected = torch.load(folder / "expected.pt")
    before = expected["before"]
    good, figures, _ = compared(case, folder, temper, expected, "stock", (1e-6, 1e-4))
    also, own, state = compared(case, folder, temper, expected, "auto", (1e-5, 1e-3))
    words = back(case, folder, temper, "net.pt2", before)
    if words == "equal":
        words = back(case, folder, temper, "runs/auto", state)
    return good and also and words == "equal", *figures, own[1], own[4], words


def table():
    print("| network | kind | data | |\n|---|---|---|---|")
    for name, case in CASES.items():
        kind = case.kind + (", autoencode" if case.task == "autoencode" else "")
        print(f"| `{name}` | {case.group} | {kind} | {case.note} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--temper")
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.table:
        return table()
    torch.set_num_threads(1)
    bad = []
    heads = ("loss", "to fp64", "PyTorch", "update", "to fp64", "PyTorch",
             "own loss", "update")
    print(f"{'network':22} " + " ".join(f"{head:>9}" for head in heads) + "  back")
    for name, case in CASES.items():
        if asked.names and name not in asked.names:
            continue
        folder = (asked.folder / name).resolve()
        try:
            if not asked.check:
                make(name, case, folder)
            if asked.make:
                continue
            good, *figures, words = check(name, case, folder, asked.temper)
            print(f"{name:22} " + " ".join(f"{f:9.1e}" for f in figures) +
                  f"  {words}{'' if good else '   <-- off'}", flush=True)
            if not good:
                bad.append(name)
            elif not asked.check:
                shutil.rmtree(folder)  # a network has hundreds of MiB
        except Exception as error:  # the next network is tried
            bad.append(name)
            words = str(error).replace("\n", " ")[:300]
            print(f"{name:22} {type(error).__name__}: {words}", flush=True)
    print(f"{len(bad)} of {len(asked.names or CASES)} are off: {', '.join(bad)}"
          if bad else f"all {len(asked.names or CASES)} agree with PyTorch {torch.__version__}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
