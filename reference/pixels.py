#!/usr/bin/env python3
"""Writes the pixels that torchvision on PIL makes, for tests/data/transform/golden_test.cpp.

    python3 reference/pixels.py tests/fixtures/pixels

Needs torch, torchvision and Pillow. Inputs are made by a formula that the test
repeats (picture below), so only parameters and the CRC-32 of each result are
stored; a few results are stored whole, to see where a difference is.
"""

import json
import math
import os
import random
import sys
import warnings
import zlib

# The last bit of torch.linspace depends on the vector unit: take the usual one.
os.environ["ATEN_CPU_CAPABILITY"] = "avx2"

import numpy as np
import PIL
import torch
import torchvision
from PIL import Image
from torchvision import transforms as T
from torchvision.transforms import InterpolationMode as Mode
from torchvision.transforms import autoaugment
from torchvision.transforms import functional as F

warnings.simplefilter("ignore")
SIZES = [(37, 23), (64, 48), (32, 32)]
FILTERS = {"nearest": Mode.NEAREST, "bilinear": Mode.BILINEAR, "bicubic": Mode.BICUBIC}
OPERATIONS = ["Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate",
              "Brightness", "Color", "Contrast", "Sharpness", "Posterize",
              "Solarize", "AutoContrast", "Equalize"]


def picture(width, height, channels, kind, seed):
    """kind 0: noise; 1: slopes with grain; 2: few levels; 3: one value."""
    u = np.uint32
    y, x, c = np.meshgrid(np.arange(height, dtype=u), np.arange(width, dtype=u),
                          np.arange(channels, dtype=u), indexing="ij")
    with np.errstate(over="ignore"):
        h = x * u(0x9E3779B1) + y * u(0x85EBCA77) + c * u(0xC2B2AE3D) + u(seed) * u(0x27D4EB2F)
        h ^= h >> u(15)
        h *= u(0x2C1B3C6D)
        h ^= h >> u(12)
    if kind == 0:
        v = h >> u(24)
    elif kind == 1:
        v = (x * u(200) // u(width) + y * u(40) // u(height) + c * u(20) + (h >> u(28))) & u(255)
    elif kind == 2:
        v = u(90) + c * u(10) + (h >> u(27))
    else:
        v = np.full_like(h, 77) + c
    pixels = v.astype(np.uint8)
    return Image.fromarray(pixels[..., 0] if channels == 1 else pixels)


def crc(image):
    return zlib.crc32(np.ascontiguousarray(np.asarray(image)).tobytes())


def inputs(kinds=(0, 1, 2, 3)):
    for n, (w, h) in enumerate(SIZES):
        for channels in (1, 3):
            for kind in kinds:
                yield [w, h, channels, kind, 10 * n + kind]


def resizes(rng):
    cases = []
    for name, count in (("bilinear", 320), ("bicubic", 320), ("nearest", 100)):
        for i in range(count):
            w, h = rng.randint(1, 120), rng.randint(1, 120)
            channels = 1 if i % 4 == 0 else 3
            kind = i % 2
            cw, ch = rng.randint(1, w), rng.randint(1, h)
            x, y = rng.randint(0, w - cw), rng.randint(0, h - ch)
            ow, oh = rng.choice([(rng.randint(1, 100), rng.randint(1, 100)), (cw, rng.randint(1, 60)),
                                 (rng.randint(1, 60), ch), (64, 64), (96, 96)])
            im = F.resized_crop(picture(w, h, channels, kind, i), y, x, ch, cw, [oh, ow], FILTERS[name])
            cases.append([name, [w, h, channels, kind, i], [x, y, cw, ch], [ow, oh], crc(im)])
    for w, h, ow, oh in ((500, 375, 224, 224), (224, 224, 256, 256), (130, 400, 224, 224)):
        for name in FILTERS:
            im = picture(w, h, 3, 1, 5).resize((ow, oh), getattr(Image, name.upper()))
            cases.append([name, [w, h, 3, 1, 5], [0, 0, w, h], [ow, oh], crc(im)])
    return cases


def short_edges():
    cases = []
    for w, h in ((37, 23), (23, 37), (64, 48), (31, 31), (500, 3), (100, 256), (333, 250)):
        for edge in (16, 23, 32, 37):
            for name in FILTERS:
                im = T.Resize(edge, FILTERS[name])(picture(w, h, 3, 1, 2))
                cases.append([name, [w, h, 3, 1, 2], edge, im.width, im.height, crc(im)])
    return cases


def crops():
    cases = []
    for w, h in ((37, 23), (64, 48), (33, 32), (10, 60)):
        for cw, ch in ((32, 32), (20, 21), (37, 23), (63, 49), (5, 5), (40, 10)):
            for channels in (1, 3):
                im = T.CenterCrop((ch, cw))(picture(w, h, channels, 1, 4))
                cases.append([[w, h, channels, 1, 4], cw, ch, crc(im)])
    return cases


def grouped(groups):
    """[name, picture, [[parameter, crc], ...]]: a name and a picture once for all parameters."""
    return [[key[0], key[1:], results] for key, results in groups.items()]


def photometric(rng):
    groups = {}

    def add(name, picture_, factor, image):
        groups.setdefault((name, *picture_), []).append([factor, crc(image)])

    factors = [0.0, 0.1, 0.25, 0.6, 0.99, 1.0, 1.01, 1.37, 1.9, 3.0]
    factors += [round(rng.uniform(0, 2), 4) for _ in range(2)]
    for p in inputs():
        im = picture(*p)
        for f in factors:
            add("brightness", p, f, F.adjust_brightness(im, f))
            add("contrast", p, f, F.adjust_contrast(im, f))
            if p[2] == 3 or f in (0.6, 1.9):
                add("saturation", p, f, F.adjust_saturation(im, f))
            add("sharpness", p, f, F.adjust_sharpness(im, f))
        for f in [-0.5, -0.37, -0.1, -0.003, 0.0, 0.02, 0.1, 0.25, 0.5]:
            if p[2] == 3 or f == 0.1:
                add("hue", p, f, F.adjust_hue(im, f))
        for bits in range(0, 9):
            add("posterize", p, bits, F.posterize(im, bits))
        for t in (0.0, 1.0, 99.5, 100.0, 128.0, 255.0, 256.0):
            add("solarize", p, t, F.solarize(im, t))
        add("autocontrast", p, 0, F.autocontrast(im))
        add("equalize", p, 0, F.equalize(im))
        add("invert", p, 0, F.invert(im))
    big = [640, 480, 3, 0, 9]  # as many colours as there is room for
    for f in (-0.4, 0.0, 0.1):
        add("hue", big, f, F.adjust_hue(picture(*big), f))
    add("equalize", big, 0, F.equalize(picture(*big)))
    for tiny in ([1, 1, 3, 0, 1], [2, 5, 3, 0, 1], [5, 2, 1, 0, 1]):
        add("sharpness", tiny, 1.9, F.adjust_sharpness(picture(*tiny), 1.9))
        add("equalize", tiny, 0, F.equalize(picture(*tiny)))
    return grouped(groups)


def affine(rng):
    groups = {}

    def add(name, picture_, parameter):
        out = autoaugment._apply_op(picture(*picture_), name, parameter, Mode.NEAREST, None)
        groups.setdefault((name, *picture_), []).append([parameter, crc(out)])

    for p in ([w, h, c, 0, 3] for w, h in SIZES for c in (1, 3)):
        levels = [0.0, 0.3, -0.3, 0.17, 0.99, -0.99] + [round(rng.uniform(-1, 1), 4) for _ in range(6)]
        for name in ("ShearX", "ShearY"):
            for level in levels:
                add(name, p, level)
        for name in ("TranslateX", "TranslateY"):
            for shift in (0.0, -0.9, 1.0, 5.7, -13.2, 31.99, -200.0):
                add(name, p, shift)
        angles = [0.0, 1.0, -1.0, 30.0, 45.0, 90.0, -90.0, 180.0, 270.0, 135.0, -360.0, 725.0]
        for angle in angles + [round(rng.uniform(-180, 180), 3) for _ in range(8)]:
            add("Rotate", p, angle)
    for wide in ([33000, 2, 1, 0, 1], [3, 33000, 3, 0, 1]):  # beyond 16.16 fixed point
        for angle in (0.01, 5.0):
            add("Rotate", wide, angle)
    return grouped(groups)


def policies():
    """[recipe, picture, operation, sign, [crc of each bin]]"""
    cases = []
    for w, h, channels in ((32, 32, 3), (64, 48, 3), (32, 32, 1)):
        p = [w, h, channels, 1, 6]
        im = picture(*p)
        for recipe, space in (("rand", T.RandAugment()._augmentation_space(31, (h, w))),
                              ("trivial", T.TrivialAugmentWide()._augmentation_space(31))):
            for n, name in enumerate(OPERATIONS):
                assert list(space)[n] == name
                magnitudes, signed = space[name]
                levels = magnitudes.tolist() if magnitudes.ndim else [0.0]
                for sign in (1, -1) if signed and channels == 3 else (1,):
                    results = [crc(autoaugment._apply_op(im, name, sign * float(m), Mode.NEAREST, None))
                               for m in levels]
                    cases.append([recipe, p, n, sign, results])
    return cases


def boxes(kind, sizes, scale, ratio):
    cases = []
    log_ratio = torch.log(torch.tensor(ratio))
    for w, h in sizes:
        for seed in range(8):
            image = torch.empty(3, h, w)
            torch.manual_seed(seed)
            if kind == "crop":
                i, j, bh, bw = T.RandomResizedCrop.get_params(image, list(scale), list(ratio))
            else:
                i, j, bh, bw, _ = T.RandomErasing.get_params(image, scale, ratio, [0.0])
            torch.manual_seed(seed)
            tries = []
            for _ in range(10):
                area = torch.empty(1).uniform_(*scale).item()
                aspect = torch.exp(torch.empty(1).uniform_(log_ratio[0], log_ratio[1])).item()
                tries.append([area, aspect])
                a = w * h * area
                first, second = int(round(math.sqrt(a * aspect))), int(round(math.sqrt(a / aspect)))
                fits = (0 < first <= w and 0 < second <= h) if kind == "crop" else (first < h and second < w)
                if fits:
                    break
            cases.append([w, h, tries, [j, i, bw, bh] if not fits else [0, 0, bw, bh], fits])
    return cases


def floats():
    cases = []
    for mean, deviation in (([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
                            ([0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616]),
                            ([0.5], [0.5]), ([0.1307], [0.3081]), ([], [])):
        channels = 1 if len(mean) == 1 else 3
        p = [64, 48, channels, 0, 8]
        t = T.ToTensor()(picture(*p))
        if mean:
            t = T.Normalize(mean, deviation)(t)
        planar = t.contiguous().numpy().tobytes()
        interleaved = t.permute(1, 2, 0).contiguous().numpy().tobytes()
        cases.append([p, mean, deviation, zlib.crc32(planar), zlib.crc32(interleaved)])
    return cases


def jitters():
    """[picture, range, [[order, brightness, contrast, saturation, hue, crc], ...]], by ColorJitter's own draws."""
    torch.manual_seed(7)
    cases = []
    for p in inputs():
        for limits in ((0.4, 0.4, 0.4, 0.1), (0.8, 0.8, 0.8, 0.2), (0.5, 0, 0, 0.5)):
            jitter = T.ColorJitter(*limits)
            draws = []
            for _ in range(8):
                state = torch.get_rng_state()
                order, *factors = jitter.get_params(jitter.brightness, jitter.contrast, jitter.saturation, jitter.hue)
                torch.set_rng_state(state)
                image = jitter(picture(*p))  # the same draws again
                unchanged = (1, 1, 1, 0)
                factors = [u if f is None else f for f, u in zip(factors, unchanged)]
                draws.append([order.tolist(), *factors, crc(image)])
            cases.append([list(p), list(limits), draws])
    return cases


def mixes():
    """As references/classification/transforms.py of torchvision computes them."""
    n, c, h, w, classes = 5, 3, 6, 8, 4
    x = torch.arange(n * c * h * w, dtype=torch.float32).reshape(n, c, h, w) / 7
    t = torch.nn.functional.one_hot(torch.arange(n) % classes, classes).float()
    cases = []
    for lam in (0.0, 0.3, 0.77, 1.0):
        bx = x.clone().mul_(lam).add_(x.roll(1, 0).mul_(1.0 - lam))
        bt = t.clone().mul_(lam).add_(t.roll(1, 0).mul_(1.0 - lam))
        cases.append(["mixup", lam, 0, 0, zlib.crc32(bx.numpy().tobytes()), zlib.crc32(bt.numpy().tobytes())])
        for rx, ry in ((0, 0), (4, 3), (7, 5)):
            r = 0.5 * math.sqrt(1.0 - lam)
            rw, rh = int(r * w), int(r * h)
            x1, y1 = max(rx - rw, 0), max(ry - rh, 0)
            x2, y2 = min(rx + rw, w), min(ry + rh, h)
            bx = x.clone()
            bx[:, :, y1:y2, x1:x2] = x.roll(1, 0)[:, :, y1:y2, x1:x2]
            share = float(1.0 - (x2 - x1) * (y2 - y1) / (w * h))
            bt = t.clone().mul_(share).add_(t.roll(1, 0).mul_(1.0 - share))
            cases.append(["cutmix", lam, rx, ry, zlib.crc32(bx.numpy().tobytes()), zlib.crc32(bt.numpy().tobytes())])
    return cases


def whole(folder):
    """A few results byte for byte."""
    p = [37, 23, 3, 1, 1]
    im = picture(*p)
    results = {
        "bilinear": im.resize((20, 31), Image.BILINEAR),
        "bicubic": im.resize((20, 31), Image.BICUBIC),
        "hue": F.adjust_hue(im, 0.1),
        "rotate": F.rotate(im, 30.0),
    }
    for name, image in results.items():
        with open(f"{folder}/{name}.raw", "wb") as out:
            out.write(np.asarray(image).tobytes())


def main():
    folder = sys.argv[1]
    rng = random.Random(2024)
    index = {
        "made_with": {"Pillow": PIL.__version__, "torchvision": torchvision.__version__, "torch": torch.__version__},
        "resize": resizes(rng),
        "short_edge": short_edges(),
        "centre_crop": crops(),
        "photometric": photometric(rng),
        "jitter": jitters(),
        "affine": affine(rng),
        "policy": policies(),
        "resized_crop": boxes("crop", ((224, 224), (500, 375), (40, 400), (300, 20), (7, 5)), (0.08, 1.0), (3 / 4, 4 / 3)),
        "erasing": boxes("erase", ((32, 32), (224, 160), (5, 40)), (0.02, 0.33), (0.3, 3.3)),
        "normalise": floats(),
        "mix": mixes(),
    }
    with open(f"{folder}/index.json", "w") as out:
        out.write("{\n")
        for n, (name, cases) in enumerate(index.items()):
            comma = "," if n + 1 < len(index) else ""
            out.write(f'"{name}": ' + json.dumps(cases, separators=(",", ":")) + comma + "\n")
        out.write("}\n")
    whole(folder)
    print({name: len(cases) for name, cases in index.items()})


if __name__ == "__main__":
    main()
