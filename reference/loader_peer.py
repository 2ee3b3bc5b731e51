#!/usr/bin/env python3
"""The same loading work as bench/loader.cpp, done as people do it in Python.

    loader_peer.py cifar|folder DATA WORKERS IMAGES

A torch.utils.data.DataLoader over torchvision transforms; prints one JSON line
with the images loaded, the CPU seconds of this process and its workers, and
the wall seconds. Imports, the reading of the CIFAR file and a first epoch do
not count.
"""
import json
import resource
import sys
import time

import numpy
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms
from torchvision.datasets import ImageFolder


class Cifar(Dataset):
    """What torchvision.datasets.CIFAR10 does, on the binary version."""

    def __init__(self, folder, transform):
        records = numpy.fromfile(f"{folder}/data_batch_1.bin", numpy.uint8)
        records = records.reshape(-1, 3073)
        self.labels = records[:, 0].astype(int).tolist()
        planes = records[:, 1:].reshape(-1, 3, 32, 32)
        self.pixels = planes.transpose(0, 2, 3, 1).copy()
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = Image.fromarray(self.pixels[index])
        return self.transform(image), self.labels[index]


def dataset(kind, data):
    if kind == "cifar":
        return Cifar(
            f"{data}/cifar-10-batches-bin",
            transforms.Compose([
                transforms.RandomCrop(32, padding=4),
                transforms.RandomHorizontalFlip(),
                transforms.ToTensor(),
                transforms.Normalize((0.4914, 0.4822, 0.4465),
                                     (0.2470, 0.2435, 0.2616)),
            ]))
    return ImageFolder(
        f"{data}/imagenette-mini/train",
        transforms.Compose([
            transforms.RandomResizedCrop(224),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize((0.485, 0.456, 0.406),
                                 (0.229, 0.224, 0.225)),
        ]))


def cpu_seconds():
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


def main():
    kind, data, workers, wanted = sys.argv[1:5]
    torch.set_num_threads(1)
    batch = 256 if kind == "cifar" else 64
    images = dataset(kind, data)

    def run_epoch():
        loader = DataLoader(
            images, batch, shuffle=True, num_workers=int(workers))
        return sum(len(inputs) for inputs, _ in loader)

    run_epoch()  # touches files and memory first, and does not count
    cpu = cpu_seconds()
    wall = time.monotonic()
    loaded = 0
    while loaded < int(wanted):
        loaded += run_epoch()  # its workers have ended, and count
    print(json.dumps({
        "images": loaded,
        "cpu_s": cpu_seconds() - cpu,
        "wall_s": time.monotonic() - wall,
    }))


if __name__ == "__main__":
    main()
