#!/usr/bin/python3
"""A peer: one epoch of a config of temper's in plain PyTorch, with DataLoader and
torchvision's transforms, then its validation.

    python_epoch.py CONFIG DATA '{"layout": "nchw", "threads": 2, "limit": 0,
                                  "limit_val": 0}'

DATA holds CIFAR-10's binary files or Fashion-MNIST's IDX files. Prints one JSON
line with the seconds and CPU seconds of the epoch, imports not counted.
"""
import gzip
import json
import os
import pathlib
import resource
import sys
import time

import numpy
import torch
import torch.nn.functional as F
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

import networks
import processes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "reference"))
import cifar10_twin  # noqa: E402

CIFAR = (cifar10_twin.MEAN, cifar10_twin.DEVIATION)
FASHION = ((0.2860,), (0.3530,))


class Fashion(Dataset):
    """What torchvision.datasets.FashionMNIST does."""

    def __init__(self, folder, part, limit, transform):
        read = lambda name, skip: numpy.frombuffer(
            gzip.open(folder / name).read(), numpy.uint8, offset=skip)
        self.pixels = read(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28)
        self.labels = read(f"{part}-labels-idx1-ubyte.gz", 8).astype(int).tolist()
        self.count, self.transform = limit or len(self.labels), transform

    def __len__(self):
        return min(self.count, len(self.labels))

    def __getitem__(self, index):
        return self.transform(Image.fromarray(self.pixels[index])), self.labels[index]


def datasets(config, folder, order):
    cifar = config["data"]["source"] == "cifar10"
    plain = [transforms.ToTensor(), transforms.Normalize(*(CIFAR if cifar else FASHION))]
    if not cifar:
        whole = transforms.Compose(plain)
        return (Fashion(folder, "train", order["limit"], whole),
                Fashion(folder, "t10k", order["limit_val"], whole))
    crops = [transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip()]
    return (cifar10_twin.Cifar(sorted(folder.glob("data_batch_*.bin")), order["limit"],
                               transforms.Compose(crops + plain)),
            cifar10_twin.Cifar([folder / "test_batch.bin"], order["limit_val"],
                               transforms.Compose(plain)))


def train(net, rule, schedule, loader, config, average, memory_format):
    smoothing = config["train"].get("label_smoothing", 0.0)
    decay = config["train"].get("ema", 0.0)
    for x, y in loader:
        x = x.to(memory_format=memory_format)
        rule.zero_grad()
        loss = F.cross_entropy(net(x), y, label_smoothing=smoothing)
        loss.backward()
        rule.step()
        schedule.step()
        loss.item()
        if decay:
            with torch.no_grad():
                for kept, now in zip(average, net.parameters()):
                    kept.lerp_(now, 1 - decay)


def validate(net, loader, memory_format):
    net.eval()
    right = 0
    with torch.no_grad():
        for x, y in loader:
            right += (net(x.to(memory_format=memory_format)).argmax(1) == y).sum().item()
    return right / len(loader.dataset)


def cpu_seconds():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)


def main():
    config, order = cifar10_twin.settings(sys.argv[1], []), json.loads(sys.argv[3])
    torch.set_num_threads(order["threads"])
    torch.manual_seed(0)
    parts = datasets(config, pathlib.Path(sys.argv[2]), order)
    batch = config["train"]["batch"]
    loaders = [DataLoader(part, batch, shuffle=number == 0, num_workers=order["threads"])
               for number, part in enumerate(parts)]
    cifar = config["data"]["source"] == "cifar10"
    net = networks.network({"classes": 10, "image_size": 32 if cifar else 28,
                            "channels": 3 if cifar else 1, **config["model"]})
    format_ = torch.channels_last if order["layout"] == "channels_last" else torch.contiguous_format
    net = net.to(memory_format=format_)
    rule = cifar10_twin.optimizer({"weight_decay": 0.01, **config["optimizer"]}, net)
    total = config["train"]["epochs"] * len(loaders[0])
    schedule = torch.optim.lr_scheduler.OneCycleLR(rule, config["optimizer"]["lr"], total + 1)
    average = [p.detach().clone() for p in net.parameters()]
    machine, cpu, begin = processes.machine_cpu(), cpu_seconds(), time.perf_counter()
    train(net, rule, schedule, loaders[0], config, average, format_)
    trained = time.perf_counter() - begin
    accuracy = validate(net, loaders[1], format_)
    wall, cpu = time.perf_counter() - begin, cpu_seconds() - cpu
    print(json.dumps({
        "time": wall, "train": trained, "cpu": cpu, "accuracy": accuracy,
        "memory": processes.peak_bytes(os.getpid()),
        "others": processes.others(machine, processes.machine_cpu(), cpu, wall),
    }))


if __name__ == "__main__":
    main()
