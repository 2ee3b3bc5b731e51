#!/usr/bin/env python3
"""configs/m1-benchmark.toml as a plain PyTorch script.

The last layer of MobileNetV2 learns CIFAR-10 at 128 x 128; everything before it
is frozen and computed anew in every epoch, as such scripts do. Written against
torch 1.13 and torchvision 0.14; bench/m1_benchmark.sh runs it beside temper.

  m1_benchmark.py CIFAR_FOLDER --weights start.pth [--epochs 10]
  m1_benchmark.py CIFAR_FOLDER --make-weights start.pth
"""
import argparse
import json
import pathlib

import numpy as np
import torch
import torchvision
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

RECORD = 1 + 3 * 32 * 32


class Cifar(Dataset):
    def __init__(self, files, transform):
        records = np.concatenate(
            [np.fromfile(f, np.uint8).reshape(-1, RECORD) for f in files])
        self.labels = records[:, 0].astype(np.int64)
        self.images = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.transform(Image.fromarray(self.images[i])), self.labels[i]


def open_data(folder):
    transform = transforms.Compose([
        transforms.Resize((128, 128), transforms.InterpolationMode.NEAREST),
        transforms.ToTensor(),
        transforms.Normalize((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    ])
    folder = pathlib.Path(folder)
    return (Cifar(sorted(folder.glob("data_batch_*.bin")), transform),
            Cifar([folder / "test_batch.bin"], transform))


def build():
    return torchvision.models.mobilenet_v2(num_classes=10, dropout=0.4)


def make_weights(train, path):
    """Stands in for ImageNet's: random, with statistics of real images."""
    torch.manual_seed(0)
    model = build()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = None  # a plain average
    model.train()
    with torch.no_grad():
        for number, (images, _) in enumerate(DataLoader(train, 64)):
            if number == 4:
                break
            model.features(images)
    torch.save(model.state_dict(), path)


def evaluate(model, loader, layout):
    model.eval()
    top1 = top5 = count = 0
    with torch.no_grad():
        for images, labels in loader:
            best = model(images.to(memory_format=layout)).topk(5, dim=1).indices
            hits = best == labels[:, None]
            top1 += hits[:, 0].sum().item()
            top5 += hits.sum().item()
            count += len(labels)
    return top1 / count, top5 / count


def train_model(args):
    torch.manual_seed(0)
    train, val = open_data(args.data)
    loader = DataLoader(train, 64, shuffle=True, num_workers=args.workers)
    val_loader = DataLoader(val, 64, num_workers=args.workers)
    model = build()
    model.load_state_dict(torch.load(args.weights))
    layout = torch.channels_last if args.layout == "channels_last" else torch.contiguous_format
    model = model.to(memory_format=layout)
    for parameter in model.features.parameters():
        parameter.requires_grad = False
    optimizer = torch.optim.Adam(model.classifier.parameters(), lr=5e-4)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.96)
    loss_of = torch.nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        model.train()
        model.features.eval()
        for images, labels in loader:
            optimizer.zero_grad()
            loss = loss_of(model(images.to(memory_format=layout)), labels)
            loss.backward()
            optimizer.step()
        schedule.step()
        top1, top5 = evaluate(model, val_loader, layout)
        print(json.dumps({
            "epoch": epoch, "loss": loss.item(), "top1": top1, "top5": top5
        }), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--weights")
    parser.add_argument("--make-weights")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, help="default: LibTorch's own choice")
    parser.add_argument("--layout", choices=["nchw", "channels_last"], default="nchw")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    if args.make_weights:
        make_weights(open_data(args.data)[0], args.make_weights)
    else:
        train_model(args)


if __name__ == "__main__":
    main()
