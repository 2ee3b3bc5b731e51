#!/usr/bin/python3
"""What a sensible PyTorch script reaches on ordinary inputs, for
bench/ordinary.py.

    /usr/bin/python3 reference/ordinary.py KIND DATA SEED EPOCHS

KIND is photos, churn, houses, arrays, text or export, DATA the folder that
bench/ordinary.py made. Each is what a practitioner writes without tuning:
AdamW at 1e-3 with a cosine, batches of 64, inputs standardised with the
training part. Prints one JSON line with the metric on the validation part,
of the best epoch.
"""
import csv
import json
import math
import os
import pathlib
import sys

import numpy
import torch
import torch.nn.functional as F
from torch import nn

BATCH, RATE = 64, 1e-3


def train(model, inputs, targets, val_inputs, val_targets, loss, score, seed, epochs, view=None):
    """Trains; the best of `score` over the epochs, larger is better."""
    decayed = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed}, {"params": others, "weight_decay": 0}], lr=RATE, weight_decay=0.01)
    updates = epochs * math.ceil(len(inputs) / BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, updates)
    generator = torch.Generator().manual_seed(seed)
    best = -math.inf
    for _ in range(epochs):
        model.train()
        order = torch.randperm(len(inputs), generator=generator)
        for begin in range(0, len(order), BATCH):
            chosen = order[begin:begin + BATCH]
            batch = inputs[chosen] if view is None else view(inputs[chosen])
            optimizer.zero_grad()
            loss(model(batch), targets[chosen]).backward()
            optimizer.step()
            schedule.step()
        model.eval()
        with torch.no_grad():
            outputs = torch.cat([
                model(val_inputs[begin:begin + 256]) for begin in range(0, len(val_inputs), 256)])
        best = max(best, score(outputs, val_targets))
    return best


def accuracy(outputs, targets):
    return (outputs.argmax(1) == targets).float().mean().item()


def standardised(train_part, val_part, axes):
    mean = train_part.mean(axes, keepdims=True)
    deviation = train_part.std(axes, keepdims=True)
    deviation[deviation == 0] = 1
    return [torch.tensor((part - mean) / deviation, dtype=torch.float32)
            for part in (train_part, val_part)]


def photos(data, seed, epochs):
    import torchvision
    from PIL import Image
    from torchvision import transforms
    size = int(os.environ.get("SIZE", "224"))
    prepare = transforms.Compose([
        transforms.Resize(size), transforms.CenterCrop(size), transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])
    parts = []
    for part in ("train", "val"):
        folder = torchvision.datasets.ImageFolder(
            data / "photos" / part, prepare, loader=lambda path: Image.open(path).convert("RGB"))
        parts.append((torch.stack([folder[i][0] for i in range(len(folder))]),
                      torch.tensor(folder.targets)))
    (inputs, targets), (val_inputs, val_targets) = parts
    model = torchvision.models.resnet18(num_classes=10)
    return train(model, inputs, targets, val_inputs, val_targets, F.cross_entropy, accuracy,
                 seed, epochs)


def table(path, target, columns):
    """The inputs of a table with its categories one-hot, and the target's texts."""
    rows = list(csv.DictReader(open(path)))
    inputs = []
    for name, categories in columns.items():
        if categories is None:
            values = numpy.array([float(row[name]) if row[name] else math.nan for row in rows])
            inputs.append(values[:, None])
        else:
            inputs.append(numpy.array([[row[name] == each for each in categories] for row in rows]))
    return numpy.concatenate(inputs, 1).astype(float), [row[target] for row in rows]


def filled(train_part, val_part):
    mean = numpy.nanmean(train_part, 0)
    return [numpy.where(numpy.isnan(part), mean, part) for part in (train_part, val_part)]


def perceptron(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 512), nn.ReLU(), nn.Linear(512, outputs))


def churn(data, seed, epochs):
    columns = {"age": None, "income": None, "months": None, "plan": ["basic", "plus", "pro"]}
    (x, y), (vx, vy) = [table(data / f"churn_{part}.csv", "left", columns)
                        for part in ("train", "val")]
    x, vx = standardised(*filled(x, vx), 0)
    y, vy = [torch.tensor([int(each == "yes") for each in part]) for part in (y, vy)]
    return train(perceptron(x.shape[1], 2), x, y, vx, vy, F.cross_entropy, accuracy, seed, epochs)


def houses(data, seed, epochs):
    columns = {"rooms": None, "area": None, "city": ["Aarau", "Bern", "Chur"]}
    (x, y), (vx, vy) = [table(data / f"houses_{part}.csv", "price", columns)
                        for part in ("train", "val")]
    x, vx = standardised(*filled(x, vx), 0)
    y, vy = [numpy.array([float(each) for each in part])[:, None] for part in (y, vy)]
    y, vy = standardised(y, vy, 0)

    def r2(outputs, targets):
        return 1 - (((outputs - targets) ** 2).sum() / ((targets - targets.mean()) ** 2).sum()).item()
    return train(perceptron(x.shape[1], 1), x, y, vx, vy, F.mse_loss, r2, seed, epochs)


def arrays_of(data):
    (x, y), (vx, vy) = [(part["x"], part["y"]) for part in
                        (numpy.load(data / f"arrays_{each}.npz") for each in ("train", "val"))]
    x, vx = standardised(x, vx, (0, 2, 3))
    return x, torch.tensor(y), vx, torch.tensor(vy)


def arrays(data, seed, epochs):
    import torchvision
    model = torchvision.models.resnet18(num_classes=10)
    model.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    model.maxpool = nn.Identity()
    return train(model, *arrays_of(data), F.cross_entropy, accuracy, seed, epochs)


class Residual(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(after) for _ in range(2)])
        self.aside = nn.Identity() if stride == 1 else nn.Sequential(
            nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        y = F.relu(self.norms[0](self.first(x)))
        return F.relu(self.norms[1](self.second(y)) + self.aside(x))


class TinyResNet(nn.Sequential):
    """The network of tiny_resnet.pt2."""

    def __init__(self):
        super().__init__(
            nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
            Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def export(data, seed, epochs):
    return train(TinyResNet(), *arrays_of(data), F.cross_entropy, accuracy, seed, epochs)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = [each.view(batch, length, self.heads, -1).transpose(1, 2)
                   for each in self.attend(self.before(x)).chunk(3, -1)]
        scores = q @ k.transpose(2, 3) / math.sqrt(width / self.heads)
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, -math.inf).softmax(-1)
        x = x + self.project((scores @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(F.gelu(self.widen(self.between(x))))


class Gpt(nn.Module):
    """Of the size of temper's gpt_tiny."""

    def __init__(self, length, width=128, heads=4, blocks=4):
        super().__init__()
        self.token, self.place = nn.Embedding(256, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(blocks)])
        self.last = nn.LayerNorm(width)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)

    def forward(self, x):
        x = self.token(x) + self.place.weight[:x.shape[1]]
        return (self.last(self.blocks(x)) @ self.token.weight.T).transpose(1, 2)


def text(data, seed, epochs, length=128):
    parts = []
    for part in ("train", "val"):
        codes = torch.tensor(list((data / f"text_{part}.txt").read_bytes()))
        count = (len(codes) - 1) // length
        parts += [codes[:count * length].view(count, length),
                  codes[1:count * length + 1].view(count, length)]

    def score(outputs, targets):
        return -F.cross_entropy(outputs, targets).item()
    return train(Gpt(length), *parts, F.cross_entropy, score, seed, epochs)


def main():
    kind, data, seed, epochs = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    torch.manual_seed(seed)
    result = globals()[kind](data, seed, epochs)
    print(json.dumps({"score": result}))


if __name__ == "__main__":
    main()
