#!/usr/bin/python3
"""Accuracy against processor time on small colour images: the figures behind
the default model for them (docs/defaults.md).

    /usr/bin/python3 reference/small_images.py NETWORK EPOCHS IMAGES

NETWORK is cnn, or the width of a ResNet-18 with a first layer for small images:
0.25, 1. The images are the first of CIFAR-10's data_batch_1, below
TEMPER_SHARED_DATA; the first 1,000 of test_batch validate. AdamW at 1e-3 with a
cosine, batches of 64, one thread, seed 0. Prints a line an epoch: processor
time of training so far, accuracy.
"""
import math
import os
import pathlib
import sys
import time

import numpy
import torch
import torch.nn.functional as F
from torch import nn
from torchvision.models.resnet import BasicBlock

SHARED = pathlib.Path(os.environ.get(
    "TEMPER_SHARED_DATA", pathlib.Path(__file__).resolve().parents[2] / "shared/data"))


def images(file, count):
    records = numpy.fromfile(SHARED / "cifar-10-batches-bin" / file, numpy.uint8)
    records = records.reshape(-1, 3073)[:count]
    return (torch.tensor(records[:, 1:].reshape(-1, 3, 32, 32) / 255, dtype=torch.float32),
            torch.tensor(records[:, 0].astype("int64")))


def cnn():
    return nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(32 * 15 * 15, 10))


def resnet18(width):
    before = int(64 * width)
    layers = [nn.Conv2d(3, before, 3, 1, 1, bias=False), nn.BatchNorm2d(before), nn.ReLU()]
    for stage in range(4):
        after = int(64 * width) * 2 ** stage
        for block in range(2):
            stride = 2 if stage > 0 and block == 0 else 1
            aside = None if before == after else nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))
            layers.append(BasicBlock(before, after, stride, aside))
            before = after
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))


def main():
    name, epochs, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    torch.manual_seed(0)
    inputs, targets = images("data_batch_1.bin", count)
    val_inputs, val_targets = images("test_batch.bin", 1000)
    mean, deviation = [each((0, 2, 3), keepdim=True) for each in (inputs.mean, inputs.std)]
    inputs, val_inputs = [(each - mean) / deviation for each in (inputs, val_inputs)]
    model = cnn() if name == "cnn" else resnet18(float(name))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimizer, epochs * math.ceil(count / 64))
    seconds = 0
    for epoch in range(1, epochs + 1):
        model.train()
        began = time.process_time()
        for chosen in torch.randperm(count).split(64):
            optimizer.zero_grad()
            F.cross_entropy(model(inputs[chosen]), targets[chosen]).backward()
            optimizer.step()
            schedule.step()
        seconds += time.process_time() - began
        model.eval()
        with torch.no_grad():
            outputs = torch.cat([model(part) for part in val_inputs.split(250)])
        accuracy = (outputs.argmax(1) == val_targets).float().mean().item()
        print(f"{name} epoch {epoch}: {seconds:.0f} s, accuracy {accuracy:.3f}", flush=True)


if __name__ == "__main__":
    main()
