#!/usr/bin/env python3
"""Writes tests/fixtures/pth: what torch.save makes of the things people save.

Every tensor counts up from 0, so that the tests know what must be in it. Made
with PyTorch 1.13:  /usr/bin/python3 reference/pth_files.py tests/fixtures/pth
"""
import collections
import os
import sys
import zipfile

import torch


def count(*sizes, dtype=torch.float32):
    n = 1
    for size in sizes:
        n *= size
    return torch.arange(n).to(dtype).reshape(sizes)


class Harmful:
    """Runs a command when unpickled by Python."""

    def __reduce__(self):
        return os.system, ("touch pwned",)


def network():
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    with torch.no_grad():
        net[0].weight.copy_(count(2, 3))
        net[0].bias.copy_(count(2))
    return net


def files():
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    base = count(4, 6)
    yield "state_dict", net.state_dict()
    yield "one_tensor", {"w": count(2, 2)}
    yield "parameters", {"w": torch.nn.Parameter(count(2, 2)), "n": 3}
    yield "wrapped", {
        "epoch": 7,
        "best": 0.5,
        "done": False,
        "note": None,
        "state_dict": net.state_dict(),
        "optimizer": optimizer.state_dict(),
    }
    yield "model_key", {"model": dict(net.state_dict()), "args": {"lr": 1e-3}}
    yield "types", {
        str(t).removeprefix("torch."): count(5, dtype=t)
        for t in (
            torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
            torch.float16, torch.bfloat16, torch.float32, torch.float64,
        )
    } | {"bool": torch.tensor([True, False, True])}
    yield "views", {
        "transposed": base.t(),
        "slice": base[1:3, 2:5],
        "row": base[2],
        "tied": base,
        "channels_last": count(1, 2, 2, 3).contiguous(
            memory_format=torch.channels_last),
        "empty": base[:, :0],
        "scalar": base[3, 5],
    }
    yield "expanded", {"w": count(1).expand(1000)}
    yield "whole_model", net
    yield "harmful", {"w": count(2), "x": Harmful()}
    yield "harmful_beside", {"state_dict": {"w": count(2)}, "x": Harmful()}
    yield "no_tensors", {"epoch": 3, "lr": [0.1, 0.2]}
    yield "a_list", [count(2), count(3)]
    yield "extras", {
        "w": count(2), "s": torch.Size([1, 2]), "d": torch.float16}


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for name, value in files():
        torch.save(value, os.path.join(folder, name + ".pth"))
    torch.save(network().state_dict(), os.path.join(folder, "legacy.pth"),
               _use_new_zipfile_serialization=False)
    torch.save(network().state_dict(), os.path.join(folder, "protocol4.pth"),
               pickle_protocol=4)
    torch.jit.script(network()).save(os.path.join(folder, "script.pth"))
    source = os.path.join(folder, "one_tensor.pth")
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(
            os.path.join(folder, "big_endian.pth"), "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        new.writestr("one_tensor/byteorder", "big")


if __name__ == "__main__":
    main(sys.argv[1])
