#!/usr/bin/python3
"""Expected values for the zoo's networks, from PyTorch and torchvision.

Writes tests/fixtures/zoo/<case>.json. Weights, inputs and labels come from a
formula that tests/model/formula.h computes too, so that only results are kept:
the names, shapes and order of parameters and buffers, logits in eval and train
mode, each gradient's norm and a few of its entries, and the BatchNorm
statistics after one training step. Computed in float64.

vit_tiny and gpt_tiny are written out here, with the names of timm and GPT-2.

    /usr/bin/python3 reference/zoo.py [CASE]...
"""
import json
import math
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
import torchvision
from torch import nn
from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet

OUT = pathlib.Path(__file__).parent.parent / "tests" / "fixtures" / "zoo"
KEPT_LOGITS = 24
KEPT_ENTRIES = 3


# The formula.
def bits(name, count):
    key = 2166136261
    for byte in name.encode():
        key = (key ^ byte) * 16777619 % 2**32
    with np.errstate(over="ignore"):
        x = np.uint32(key) + np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B9)
        x = (x ^ (x >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return x ^ (x >> np.uint32(16))


def units(name, count):
    return (bits(name, count) >> np.uint32(8)).astype(np.float32) / np.float32(2**23) - np.float32(1)


def formula(name, shape):
    u = units(name, int(np.prod(shape)))
    if len(shape) > 1:
        fan_in = int(np.prod(shape[1:]))
        bound = 1.0
        while 6 < fan_in * bound * bound:
            bound /= 2
        u = u * np.float32(bound)
    elif name.endswith("running_var"):
        u = np.float32(1) + u * np.float32(0.5)
    elif name.endswith("weight"):
        u = np.float32(1) + u * np.float32(0.25)
    else:
        u = u * np.float32(0.125)
    return torch.from_numpy(u.reshape(shape))


def whole(name, count, below):
    return torch.from_numpy((bits(name, count) % np.uint32(below)).astype(np.int64))


# The networks.
class AnyResNet(ResNet):
    """torchvision's, with a width and the stem for small images."""

    def __init__(self, block, layers, num_classes, width, cifar):
        nn.Module.__init__(self)
        self._norm_layer = nn.BatchNorm2d
        self.dilation, self.groups, self.base_width = 1, 1, 64
        planes = [int(64 * 2**i * width) for i in range(4)]
        self.inplanes = planes[0]
        if cifar:
            self.conv1 = nn.Conv2d(3, planes[0], 3, 1, 1, bias=False)
        else:
            self.conv1 = nn.Conv2d(3, planes[0], 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(planes[0])
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.Identity() if cifar else nn.MaxPool2d(3, 2, 1)
        for i in range(4):
            layer = self._make_layer(block, planes[i], layers[i], stride=2 if i else 1)
            setattr(self, f"layer{i + 1}", layer)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(planes[3] * block.expansion, num_classes)


def attend(qkv, heads, causal):
    b, t, c = qkv.shape
    q, k, v = (
        x.view(b, t, heads, c // 3 // heads).transpose(1, 2) for x in qkv.chunk(3, dim=2)
    )
    scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
    if causal:
        later = torch.ones(t, t, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c // 3)


def names(**modules):
    return nn.ModuleDict(modules)


class ViT(nn.Module):
    def __init__(self, image, patch, classes, d=192, depth=12):
        super().__init__()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, d))
        self.pos_embed = nn.Parameter(torch.zeros(1, (image // patch) ** 2 + 1, d))
        self.patch_embed = names(proj=nn.Conv2d(3, d, patch, patch))
        norm = lambda: nn.LayerNorm(d, eps=1e-6)
        self.blocks = nn.ModuleList(
            names(
                norm1=norm(),
                attn=names(qkv=nn.Linear(d, 3 * d), proj=nn.Linear(d, d)),
                norm2=norm(),
                mlp=names(fc1=nn.Linear(d, 4 * d), fc2=nn.Linear(4 * d, d)),
            )
            for _ in range(depth)
        )
        self.norm = norm()
        self.head = nn.Linear(d, classes)

    def forward(self, x):
        x = self.patch_embed.proj(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], 1) + self.pos_embed
        for block in self.blocks:
            attn, mlp = block["attn"], block["mlp"]
            x = x + attn["proj"](attend(attn["qkv"](block["norm1"](x)), 3, False))
            x = x + mlp["fc2"](F.gelu(mlp["fc1"](block["norm2"](x))))
        return self.head(self.norm(x)[:, 0])


class GPT(nn.Module):
    def __init__(self, vocabulary, context, d=128, depth=4):
        super().__init__()
        self.transformer = names(
            wte=nn.Embedding(vocabulary, d),
            wpe=nn.Embedding(context, d),
            h=nn.ModuleList(
                names(
                    ln_1=nn.LayerNorm(d),
                    attn=names(c_attn=nn.Linear(d, 3 * d), c_proj=nn.Linear(d, d)),
                    ln_2=nn.LayerNorm(d),
                    mlp=names(c_fc=nn.Linear(d, 4 * d), c_proj=nn.Linear(4 * d, d)),
                )
                for _ in range(depth)
            ),
            ln_f=nn.LayerNorm(d),
        )

    def forward(self, tokens):
        t = self.transformer
        x = t["wte"](tokens) + t["wpe"](torch.arange(tokens.shape[1]))
        for block in t["h"]:
            attn, mlp = block["attn"], block["mlp"]
            x = x + attn["c_proj"](attend(attn["c_attn"](block["ln_1"](x)), 4, True))
            x = x + mlp["c_proj"](F.gelu(mlp["c_fc"](block["ln_2"](x))))
        return F.linear(t["ln_f"](x), t["wte"].weight).transpose(1, 2)


class CNN(nn.Module):
    def __init__(self, channels, image, classes):
        super().__init__()
        self.conv = nn.Conv2d(channels, 32, 3)
        self.fc = nn.Linear(32 * ((image - 2) // 2) ** 2, classes)

    def forward(self, x):
        return self.fc(F.max_pool2d(F.relu(self.conv(x)), 2).flatten(1))


class MLP(nn.Module):
    def __init__(self, columns, widths, classes):
        super().__init__()
        ends = [columns, *widths]
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(ends, ends[1:]))
        self.head = nn.Linear(ends[-1], classes)

    def forward(self, x):
        x = x.flatten(1)
        for layer in self.hidden:
            x = F.relu(layer(x))
        return self.head(x)


def network(o):
    name, classes = o["name"], o.get("classes", 1000)
    if name == "mobilenet_v2":
        net = torchvision.models.mobilenet_v2(
            num_classes=classes, width_mult=o.get("width", 1.0), dropout=0.0
        )
        if o.get("stem") == "cifar":
            net.features[0][0].stride = (1, 1)
        return net
    if name.startswith("resnet"):
        if o.get("width", 1) == 1 and "stem" not in o:
            return getattr(torchvision.models, name)(num_classes=classes)
        layers = [2, 2, 2, 2] if name == "resnet18" else [3, 4, 6, 3]
        block = Bottleneck if name == "resnet50" else BasicBlock
        return AnyResNet(block, layers, classes, o.get("width", 1), "stem" in o)
    if name == "vit_tiny":
        patch = {32: 4, 64: 8, 224: 16}[o["image_size"]]
        return ViT(o["image_size"], patch, classes)
    if name == "gpt_tiny":
        return GPT(o["vocabulary"], o["context"])
    if name == "cnn":
        return CNN(o["channels"], o["image_size"], classes)
    return MLP(o["channels"] * o["image_size"] ** 2, o["widths"], classes)


def digits(values):
    return [float(f"{v:.12g}") for v in values]


def summary(tensor):
    """The norm and a few entries, evenly spaced."""
    flat = tensor.detach().double().flatten()
    at = [i * (flat.numel() - 1) // (KEPT_ENTRIES - 1) for i in range(KEPT_ENTRIES)]
    return digits([flat.norm().item(), *(flat[i].item() for i in at)])


def samples(o, batch, dtype):
    if o["name"] == "gpt_tiny":
        shape = (batch, o["context"])
        count, vocabulary = batch * o["context"], o["vocabulary"]
        return (
            whole("input", count, vocabulary).view(shape),
            whole("label", count, vocabulary).view(shape),
        )
    size = o["image_size"]
    shape = (batch, o.get("channels", 3), size, size)
    x = torch.from_numpy(units("input", int(np.prod(shape)))).view(shape).to(dtype) * 2
    return (x.flatten(1) if size == 1 else x), whole("label", batch, o.get("classes", 1000))


def run(o, batch, dtype):
    """One evaluation, then one training step without its update."""
    net = network(o)
    for name, tensor in net.state_dict().items():
        if tensor.dtype == torch.float32:
            tensor.copy_(formula(name, tuple(tensor.shape)))
    net.to(dtype)
    x, y = samples(o, batch, dtype)
    with torch.no_grad():
        eval_logits = net.eval()(x)
    logits = net.train()(x)
    loss = F.cross_entropy(logits, y)
    loss.backward()
    return net, eval_logits.double(), logits.detach().double(), loss.item()


def expected(o, batch):
    net, eval_logits, logits, loss = run(o, batch, torch.float64)
    return {
        "options": o,
        "batch": batch,
        "parameter_count": sum(p.numel() for p in net.parameters()),
        "eval_logits": digits(eval_logits.flatten()[:KEPT_LOGITS].tolist()),
        "train_logits": digits(logits.flatten()[:KEPT_LOGITS].tolist()),
        "loss": digits([loss])[0],
        "parameters": [
            [name, list(p.shape), summary(p.grad)] for name, p in net.named_parameters()
        ],
        "buffers": [[name, list(b.shape), summary(b)] for name, b in net.named_buffers()],
    }


CASES = {
    "mobilenet_v2_w025_32": ({"name": "mobilenet_v2", "stem": "cifar", "width": 0.25, "classes": 10, "image_size": 32}, 4),
    "mobilenet_v2_w050_64": ({"name": "mobilenet_v2", "width": 0.5, "classes": 7, "image_size": 64}, 4),
    "mobilenet_v2_224": ({"name": "mobilenet_v2", "image_size": 224}, 2),
    "resnet18_w025_32": ({"name": "resnet18", "stem": "cifar", "width": 0.25, "classes": 10, "image_size": 32}, 3),
    "resnet18_w050_224": ({"name": "resnet18", "width": 0.5, "classes": 10, "image_size": 224}, 2),
    "resnet18_64": ({"name": "resnet18", "image_size": 64}, 2),
    "resnet34_64": ({"name": "resnet34", "classes": 5, "image_size": 64}, 2),
    "resnet50_w025_32": ({"name": "resnet50", "stem": "cifar", "width": 0.25, "classes": 10, "image_size": 32}, 2),
    "resnet50_64": ({"name": "resnet50", "image_size": 64}, 2),
    "vit_tiny_32": ({"name": "vit_tiny", "classes": 10, "image_size": 32}, 2),
    "vit_tiny_224": ({"name": "vit_tiny", "image_size": 224}, 1),
    "gpt_tiny": ({"name": "gpt_tiny", "context": 24, "vocabulary": 31}, 2),
    "cnn_28": ({"name": "cnn", "classes": 10, "image_size": 28, "channels": 1}, 3),
    "mlp_28": ({"name": "mlp", "classes": 10, "image_size": 28, "channels": 1, "widths": [64, 32, 16]}, 3),
    "mlp_table": ({"name": "mlp", "classes": 3, "image_size": 1, "channels": 13, "widths": [20]}, 5),
}


def main():
    torch.set_num_threads(2)
    OUT.mkdir(parents=True, exist_ok=True)
    for case, (options, batch) in CASES.items():
        if len(sys.argv) > 1 and case not in sys.argv[1:]:
            continue
        result = expected(options, batch)
        text = json.dumps(result, separators=(",", ":")).replace('["', '\n["')
        (OUT / f"{case}.json").write_text(text + "\n")
        print(case, "loss", result["loss"], flush=True)


if __name__ == "__main__":
    main()
