#!/usr/bin/python3
"""ResNet-18 on CIFAR-10 as plain PyTorch and torchvision train it, for
bench/cifar10_twin.sh.

    /usr/bin/python3 reference/cifar10_twin.py CONFIG DATA [KEY=VALUE]...

CONFIG is temper's own (configs/cifar10-resnet18.toml): the recipe is read from
there, with KEY=VALUE over it, so that both sides do the same. DATA holds
data_batch_*.bin and test_batch.bin. What temper defines itself is written out:
decay groups, the warm-up and cosine over updates, torchvision's initialisation.

Prints one JSON line: the accuracy on the test images after the last epoch,
images trained, and the wall seconds of it all without imports.
"""
import json
import math
import pathlib
import sys
import time
import tomllib

import numpy
import torch
import torch.nn.functional as F
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

from zoo import network

MEAN, DEVIATION = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)


class Cifar(Dataset):
    """What torchvision.datasets.CIFAR10 does, on the binary version."""

    def __init__(self, files, limit, transform):
        records = numpy.concatenate([numpy.fromfile(file, numpy.uint8) for file in files])
        records = records.reshape(-1, 3073)[: limit or None]
        self.labels = records[:, 0].astype(int).tolist()
        self.pixels = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1).copy()
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.transform(Image.fromarray(self.pixels[index])), self.labels[index]


def settings(path, assignments):
    config = tomllib.loads(pathlib.Path(path).read_text())
    for each in assignments:
        key, value = each.split("=", 1)
        *tables, last = key.split(".")
        place = config
        for table in tables:
            place = place.setdefault(table, {})
        place[last] = tomllib.loads(f"x = {value}")["x"]
    return config


def loaders(config, folder):
    steps = [transforms.ToTensor(), transforms.Normalize(MEAN, DEVIATION)]
    assert config["data"]["augment"] == "cifar"
    crops = [transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip()]
    train = Cifar(
        sorted(folder.glob("data_batch_*.bin")),
        config["data"].get("limit", 0),
        transforms.Compose(crops + steps),
    )
    test = Cifar([folder / "test_batch.bin"], 0, transforms.Compose(steps))
    batch = config["train"]["batch"]
    return DataLoader(train, batch, shuffle=True), DataLoader(test, batch)


def initialised(options):
    """As torchvision's ResNet begins; the head as nn.Linear does by itself."""
    net = network({"image_size": 32, "classes": 10, **options})
    for module in net.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    return net


def optimizer(o, net):
    parameters = list(net.parameters())
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": o["weight_decay"]},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    if o["name"] == "adamw":
        return torch.optim.AdamW(groups, lr=o["lr"])
    assert o["name"] == "sgd"
    return torch.optim.SGD(
        groups, lr=o["lr"], momentum=o.get("momentum", 0.9), nesterov=o.get("nesterov", False)
    )


def rate(config, update, per_epoch, total):
    lr, schedule = config["optimizer"]["lr"], config["schedule"]
    assert schedule["name"] == "cosine"
    warmup = round(schedule.get("warmup", 0) * per_epoch)
    if update < warmup:
        return lr * (update + 1) / warmup
    return lr / 2 * (1 + math.cos(math.pi * (update - warmup) / (total - warmup)))


def accuracy(net, loader):
    net.eval()
    with torch.no_grad():
        right = sum((net(x).argmax(1) == y).sum().item() for x, y in loader)
    return right / len(loader.dataset)


def main():
    config = settings(sys.argv[1], sys.argv[3:])
    torch.set_num_threads(config.get("threads", 1))
    torch.manual_seed(config["seed"])
    train, test = loaders(config, pathlib.Path(sys.argv[2]))
    net = initialised(config["model"])
    rule = optimizer(config["optimizer"], net)
    epochs = config["train"]["epochs"]
    update, begin = 0, time.monotonic()
    for _ in range(epochs):
        net.train()
        for x, y in train:
            for group in rule.param_groups:
                group["lr"] = rate(config, update, len(train), epochs * len(train))
            rule.zero_grad()
            F.cross_entropy(
                net(x), y, label_smoothing=config["train"].get("label_smoothing", 0.0)
            ).backward()
            rule.step()
            update += 1
    print(json.dumps({
        "accuracy": accuracy(net, test),
        "images": epochs * len(train.dataset),
        "seconds": time.monotonic() - begin,
    }))


if __name__ == "__main__":
    main()
