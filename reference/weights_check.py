#!/usr/bin/env python3
"""Whether Python makes of temper's files what temper does.

    python3 reference/weights_check.py < jobs.json

Jobs: {"torchscript": FILE, "data": FILE, "parameters": [names]} runs
torch.jit.load on the inputs in data and compares with its outputs;
{"pt2": FILE, ...} does the same with torch.export.load;
{"torchvision": NAME, "arguments": {}, "weights": FILE, "data": FILE} with
torchvision's own network and load_state_dict;
{"pth": FILE, "weights": FILE} compares torch.load with safetensors.
Safetensors are read by the few lines below and not by temper. Ends with 77
when there is no torch (2.9 or newer for .pt2), 1 at the first difference.
"""
import json
import struct
import sys

try:
    import torch
except ImportError as error:
    print(error)
    sys.exit(77)

TOLERANCE = 1e-5
TYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16,
    "BF16": torch.bfloat16, "I64": torch.int64, "I32": torch.int32,
    "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
    "BOOL": torch.bool,
}


def read_safetensors(path):
    with open(path, "rb") as file:
        raw = file.read()
    (length,) = struct.unpack("<Q", raw[:8])
    assert length % 8 == 0, "the data is not aligned"
    header = json.loads(raw[8:8 + length])
    assert header.pop("__metadata__", {}).get("format", "pt") == "pt"
    data = bytearray(raw[8 + length:])
    tensors, at = {}, 0
    for name, entry in sorted(
            header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        assert begin == at, f"{name} begins at {begin}, not at {at}"
        at = end
        kind, shape = TYPES[entry["dtype"]], entry["shape"]
        tensor = torch.empty(shape, dtype=kind)
        assert tensor.numel() * tensor.element_size() == end - begin
        if tensor.numel() > 0:
            tensor = torch.frombuffer(
                data, dtype=kind, count=tensor.numel(), offset=begin)
        tensors[name] = tensor.reshape(shape).clone()
    assert at == len(data), "something is left behind the last tensor"
    return tensors


def compare(what, found, data):
    found = found if isinstance(found, (tuple, list)) else (found,)
    wanted = [data[f"output.{i}"] for i in range(len(found))]
    for i, (a, b) in enumerate(zip(found, wanted)):
        assert a.shape == b.shape, f"{what}: {a.shape} is not {b.shape}"
        worst = (a.double() - b.double()).abs().max().item()
        size = max(1.0, b.double().abs().max().item())
        assert worst <= TOLERANCE * size, f"{what}: output {i} is off by {worst}"


def inputs_of(data):
    return [data[f"input.{i}"] for i in range(len(data))
            if f"input.{i}" in data]


def check(job):
    with torch.no_grad():
        if "torchscript" in job or "pt2" in job:
            data = read_safetensors(job["data"])
            path = job.get("torchscript") or job["pt2"]
            module = (torch.jit.load(path) if "torchscript" in job else
                      torch.export.load(path).module())
            names = sorted(n for n, _ in module.named_parameters())
            assert names == sorted(job["parameters"]), f"{path}: {names}"
            compare(path, module(*inputs_of(data)), data)
        elif "torchvision" in job:
            import torchvision
            net = getattr(torchvision.models, job["torchvision"])(
                **job["arguments"])
            net.load_state_dict(read_safetensors(job["weights"]))
            data = read_safetensors(job["data"])
            compare(job["torchvision"], net.eval()(*inputs_of(data)), data)
        else:
            found = read_safetensors(job["weights"])
            wanted = torch.load(job["pth"], map_location="cpu")
            for name, tensor in wanted.items():
                assert found[name].dtype == tensor.dtype, name
                assert torch.equal(found[name], tensor), name
            assert len(found) == len(wanted)


def main():
    torch.set_num_threads(1)
    jobs = json.load(sys.stdin)
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < (2, 9) and any("pt2" in job for job in jobs):
        print(f"torch {torch.__version__} is older than 2.9")
        sys.exit(77)
    for job in jobs:
        check(job)


main()
