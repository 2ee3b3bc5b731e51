#!/usr/bin/env python3
"""Exports torchvision's families and a few sequence models with torch.export.

Needs PyTorch 2.14 with torchvision. The files are large and nothing of them is
committed: tests/graph/infer/declared_shapes_test.cpp reads the folder named by
TEMPER_EXPORTED_MODELS and holds every inferred shape against the exporter's.

    python3 reference/export_families.py FOLDER [NAME...]
"""

import sys
import warnings
from pathlib import Path

import torch
import torchvision
from torch import nn

# name: image size; the least that the family takes, to keep exports quick.
FAMILIES = {
    "alexnet": 64,
    "convnext_tiny": 64,
    "densenet121": 64,
    "efficientnet_b0": 64,
    "efficientnet_v2_s": 64,
    "googlenet": 64,
    "inception_v3": 299,
    "maxvit_t": 224,
    "mnasnet0_5": 64,
    "mobilenet_v2": 64,
    "mobilenet_v3_small": 64,
    "regnet_y_400mf": 64,
    "resnet18": 64,
    "resnet50": 64,
    "shufflenet_v2_x0_5": 64,
    "squeezenet1_1": 64,
    "swin_t": 64,
    "swin_v2_t": 64,
    "vgg11_bn": 64,
    "vit_b_16": 224,
}


class Transformer(nn.Module):
    """PyTorch's own encoder layers over tokens, causal."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 100)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        states = self.encoder(self.embed(tokens), mask=mask, is_causal=True)
        return self.head(states)


class Recurrent(nn.Module):
    """An LSTM both ways below a GRU."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 16)
        self.lstm = nn.LSTM(16, 24, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(48, 16)
        self.head = nn.Linear(16, 5)

    def forward(self, tokens):
        states, _ = self.lstm(self.embed(tokens))
        states, last = self.gru(states.transpose(0, 1))
        return self.head(last[-1])


class Pyramid(nn.Module):
    """Down and up again: the operators of segmentation networks."""

    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(2, 8)
        self.deep = nn.Conv2d(8, 16, 3, padding="same", dilation=2)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.last = nn.Conv2d(11, 12, 1)
        self.shuffle = nn.PixelShuffle(2)

    def forward(self, x):
        y = nn.functional.silu(self.norm(self.down(x)))
        y = nn.functional.leaky_relu(self.deep(y))
        z = nn.functional.interpolate(y, scale_factor=2, mode="bilinear")
        y = torch.cat([self.up(y), x], 1) + z.mean(1, keepdim=True)
        scale = torch.sigmoid(y.amax((2, 3), keepdim=True))
        y = nn.functional.pad(self.last(y * scale), (1, 1, 1, 1))
        y = torch.einsum("bchw,bdhw->bcd", y, self.shuffle(y)[..., ::2, ::2])
        return y.softmax(-1).flatten(1)


class Plain(nn.Module):
    """Results with names, as googlenet's in training, as a plain tuple."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        results = self.network(x)
        return results if torch.is_tensor(results) else tuple(results)


SEQUENCES = {"transformer": Transformer, "recurrent": Recurrent}


def build(name):
    """The network and an example of its input."""
    if name in SEQUENCES:
        return SEQUENCES[name](), torch.randint(0, 100, (4, 12))
    if name == "pyramid":
        return Pyramid(), torch.randn(4, 3, 32, 32)
    size = FAMILIES[name]
    if name in ("googlenet", "inception_v3"):
        network = getattr(torchvision.models, name)(
            num_classes=10, init_weights=False
        )
        return Plain(network), torch.randn(4, 3, size, size)
    network = getattr(torchvision.models, name)(num_classes=10)
    return network, torch.randn(4, 3, size, size)


def main():
    warnings.filterwarnings("ignore")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    names = sys.argv[2:] or [*FAMILIES, *SEQUENCES, "pyramid"]
    for name in names:
        for mode in ("train", "eval"):
            path = folder / f"{name}.{mode}.pt2"
            if path.exists():
                continue
            torch.manual_seed(0)
            network, example = build(name)
            network.train(mode == "train")
            batch = torch.export.Dim("batch", min=2, max=4096)
            program = torch.export.export(
                network, (example,), dynamic_shapes=({0: batch},)
            )
            torch.export.save(program, path)
            print(path.name, len(program.graph.nodes), flush=True)


if __name__ == "__main__":
    main()
