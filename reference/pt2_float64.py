#!/usr/bin/env python3
"""Losses of an exported MobileNetV2 in float64, for the test that trains it.

    /usr/bin/python3 reference/pt2_float64.py FOLDER

FOLDER holds mobilenet_v2_w025.pt2 with its .x.npy and .y.npy. At a batch of 16
its training is chaotic: rounding errors of float32 grow a hundredfold with each
step, so that two float32 runs part after the second. Two float64 runs do not
within five. Needs torch and torchvision; any version that has the network.
"""

import json
import pathlib
import sys
import zipfile

import numpy as np
import torch
import torch.nn.functional as F
import torchvision

NAME = "mobilenet_v2_w025"
TYPES = {7: np.float32, 5: np.int64}


def weights(path):
    with zipfile.ZipFile(path) as archive:
        folder = f"{NAME}/data/weights/"
        config = json.loads(archive.read(folder + "model_weights_config.json"))
        for name, entry in config["config"].items():
            meta = entry["tensor_meta"]
            array = np.frombuffer(archive.read(folder + entry["path_name"]),
                                  TYPES[meta["dtype"]])
            sizes = [size["as_int"] for size in meta["sizes"]]
            yield name, torch.from_numpy(array.copy()).reshape(sizes)


def train(folder, dtype):
    model = torchvision.models.mobilenet_v2(num_classes=10, width_mult=0.25,
                                            dropout=0.0)
    model.load_state_dict(dict(weights(folder / f"{NAME}.pt2")))
    model.to(dtype).train()
    x = torch.from_numpy(np.load(folder / f"{NAME}.x.npy")).to(dtype)
    y = torch.from_numpy(np.load(folder / f"{NAME}.y.npy"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(5):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.9f}", end=" ")
    model.eval()
    with torch.no_grad():
        print(f"then eval {F.cross_entropy(model(x), y).item():.9f}", dtype)


if __name__ == "__main__":
    for each in (torch.float32, torch.float64):
        train(pathlib.Path(sys.argv[1]), each)
