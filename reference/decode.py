#!/usr/bin/env python3
"""What PIL makes of small images in every format and mode.

Writes tests/fixtures/decode: the images, and expected.json with the size, the
mode and the crc32 of the RGB and the grey bytes of each. With a folder of real
photographs as argument it also lists some of those, by name and crc32 alone.

    reference/decode.py [PHOTOS]
"""

import io
import json
import pathlib
import struct
import sys
import warnings
import zlib

import numpy as np
from PIL import Image, __version__

WIDTH, HEIGHT = 29, 19  # not multiples of a JPEG block or of eight bits
OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/fixtures/decode"


def picture():
    """Gradients, an edge and noise: something for every code path."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    noise = np.random.RandomState(7).randint(0, 60, (HEIGHT, WIDTH, 3))
    rgb = np.stack([x * 6, y * 10, (x + y) * 4], axis=-1) % 256
    rgb[8:15, 10:25] = (250, 20, 40)
    return np.clip(rgb + noise, 0, 255).astype(np.uint8)


def encoded(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def png(bits, colour, rows, before=b"", interlaced=False):
    """A PNG of packed rows, for the kinds that PIL does not write."""

    def chunk(name, data):
        crc = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", crc)

    size = struct.pack(">II", WIDTH, HEIGHT)
    header = size + bytes([bits, colour, 0, 0, 1 if interlaced else 0])
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + b"".join(chunk(name, body) for name, body in before)
        + chunk(b"IDAT", data)
        + chunk(b"IEND", b"")
    )


def packed(values, bits):
    """A row of small numbers, the first in the high bits."""
    text = "".join(format(int(v), "0%db" % bits) for v in values)
    text += "0" * (-len(text) % 8)
    return bytes(int(text[i : i + 8], 2) for i in range(0, len(text), 8))


def adam7(pixels):
    """The rows of the seven passes of an interlaced image."""
    rows = []
    for x0, y0, dx, dy in [
        (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4),
        (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
    ]:  # fmt: skip
        part = pixels[y0::dy, x0::dx]
        if part.size:
            rows += [row.tobytes() for row in part]
    return rows


def bmp(bits, rows, compression=0, palette=b"", masks=b"", top_down=False):
    body = b"".join(row + b"\0" * (-len(row) % 4) for row in rows)
    offset = 14 + 40 + len(masks) + len(palette)
    height = -HEIGHT if top_down else HEIGHT
    header = struct.pack(
        "<IiiHHIIiiII", 40, WIDTH, height, 1, bits, compression,
        len(body), 2835, 2835, len(palette) // 4, 0,
    )  # fmt: skip
    start = b"BM" + struct.pack("<IHHI", offset + len(body), 0, 0, offset)
    return start + header + masks + palette + body


def jpegs(rgb):
    grey, cmyk = rgb.convert("L"), rgb.convert("CMYK")
    for name, sampling in ("444", 0), ("422", 1), ("420", 2):
        data = encoded(rgb, "JPEG", quality=85, subsampling=sampling)
        yield "jpeg_%s.jpg" % name, data
    yield "jpeg_progressive.jpg", encoded(rgb, "JPEG", progressive=True)
    yield "jpeg_grey.jpg", encoded(grey, "JPEG")
    data = encoded(cmyk, "JPEG", quality=90)
    yield "jpeg_cmyk.jpg", data
    # Without Adobe's marker; and with one that says YCCK.
    at = data.index(b"\xff\xee")
    size = struct.unpack(">H", data[at + 2 : at + 4])[0]
    yield "jpeg_cmyk_unmarked.jpg", data[:at] + data[at + 2 + size :]
    ycck = bytearray(data)
    ycck[at + 2 + size - 1] = 2
    yield "jpeg_ycck.jpg", bytes(ycck)
    yield "jpeg_trailing_bytes.jpg", encoded(grey, "JPEG") + b"after the end"
    yield "png_named.jpg", encoded(rgb, "PNG")


def pngs(rgb, array):
    grey = np.asarray(rgb.convert("L"))
    deep = array.astype(np.uint16) * 251 + 17
    alpha = (np.arange(HEIGHT * WIDTH) % 256).astype(np.uint8)
    alpha = alpha.reshape(HEIGHT, WIDTH, 1)
    ramp = [(b"PLTE", bytes(range(30, 30 + 3 * 16)))]
    for bits in 1, 2, 4:
        small = grey >> (8 - bits)
        rows = [packed(row, bits) for row in small]
        yield "png_grey%d.png" % bits, png(bits, 0, rows)
        yield "png_palette%d.png" % bits, png(bits, 3, rows, ramp[:1])
    yield "png_grey8.png", png(8, 0, grey)
    yield "png_grey8_trns.png", png(8, 0, grey, [(b"tRNS", b"\0\x40")])
    yield "png_grey16.png", png(
        16, 0, [row.astype(">u2").tobytes() for row in deep[:, :, 0] // 60]
    )
    yield "png_rgb8.png", encoded(rgb, "PNG", optimize=True)
    rows = [row.tobytes() for row in array]
    yield "png_rgb8_trns.png", png(8, 2, rows, [(b"tRNS", b"\0\1\0\2\0\3")])
    yield "png_rgb16.png", png(16, 2, [r.astype(">u2").tobytes() for r in deep])
    la = np.concatenate([grey[:, :, None], alpha], axis=2)
    yield "png_grey_alpha8.png", png(8, 4, [row.tobytes() for row in la])
    la16 = la.astype(np.uint16) * 255 + 3
    yield "png_grey_alpha16.png", png(
        16, 4, [row.astype(">u2").tobytes() for row in la16]
    )
    rgba = np.concatenate([array, alpha], axis=2)
    yield "png_rgba8.png", png(8, 6, [row.tobytes() for row in rgba])
    rgba16 = rgba.astype(np.uint16) * 255 + 3
    yield "png_rgba16.png", png(
        16, 6, [row.astype(">u2").tobytes() for row in rgba16]
    )
    yield "png_palette8.png", encoded(rgb.quantize(200), "PNG")
    rows = [(row // 5).tobytes() for row in grey]
    trns = ramp + [(b"tRNS", bytes(range(16)))]
    yield "png_palette_too_short.png", png(8, 3, rows, trns)
    yield "png_interlaced_rgb.png", png(8, 2, adam7(array), [], True)
    yield "png_interlaced_grey.png", png(8, 0, adam7(grey), [], True)
    yield "png_interlaced_palette.png", png(8, 3, adam7(grey // 16), ramp, True)
    yield "png_no_end.png", png(8, 0, grey)[:-12]
    yield "png_gamma.png", png(
        8, 2, [r.tobytes() for r in array], [(b"gAMA", struct.pack(">I", 9999))]
    )


def webps(rgb):
    rgba = rgb.copy()
    rgba.putalpha(rgb.convert("L"))
    yield "webp_lossy.webp", encoded(rgb, "WEBP", quality=70)
    yield "webp_lossless.webp", encoded(rgb, "WEBP", lossless=True)
    yield "webp_lossy_alpha.webp", encoded(rgba, "WEBP", quality=70)
    yield "webp_lossless_alpha.webp", encoded(
        rgba, "WEBP", lossless=True, exact=True
    )


def bmps(rgb, array):
    grey = np.asarray(rgb.convert("L"))
    bgr = array[:, :, ::-1]
    yield "bmp_24.bmp", encoded(rgb, "BMP")
    yield "bmp_24_top_down.bmp", bmp(24, [r.tobytes() for r in bgr], top_down=True)
    yield "bmp_grey.bmp", encoded(rgb.convert("L"), "BMP")
    yield "bmp_bits.bmp", encoded(rgb.convert("1"), "BMP")
    yield "bmp_palette8.bmp", encoded(rgb.quantize(100), "BMP")
    colours = bytes((7 * i) % 256 for i in range(64))
    rows = [packed(row >> 4, 4) for row in grey]
    yield "bmp_palette4.bmp", bmp(4, rows, palette=colours)
    x = np.full((HEIGHT, WIDTH, 1), 9, np.uint8)
    rows32 = [r.tobytes() for r in np.concatenate([bgr, x], axis=2)]
    yield "bmp_32.bmp", bmp(32, rows32)
    masks = struct.pack("<III", 0xFF000000, 0xFF0000, 0xFF00)
    rows_x = [r.tobytes() for r in np.concatenate([x, bgr], axis=2)]
    yield "bmp_32_masks.bmp", bmp(32, rows_x, 3, masks=masks)
    words = array.astype(np.uint16)
    five = words[:, :, 0] >> 3 << 10 | words[:, :, 1] >> 3 << 5 | words[:, :, 2] >> 3
    six = words[:, :, 0] >> 3 << 11 | words[:, :, 1] >> 2 << 5 | words[:, :, 2] >> 3
    yield "bmp_15.bmp", bmp(16, [r.astype("<u2").tobytes() for r in five])
    masks = struct.pack("<III", 0xF800, 0x7E0, 0x1F)
    yield "bmp_16.bmp", bmp(16, [r.astype("<u2").tobytes() for r in six], 3, masks=masks)


def pnms(rgb, array):
    grey = np.asarray(rgb.convert("L"))

    def head(kind, most=None):
        text = "P%d\n# a comment\n%d %d\n" % (kind, WIDTH, HEIGHT)
        return (text + ("" if most is None else "%d\n" % most)).encode()

    def plain(values):
        return " ".join(str(int(v)) for v in values.ravel()).encode() + b"\n"

    bits = (grey > 99).astype(np.uint8)
    yield "pnm_p1.pbm", head(1) + b"".join(
        "".join(map(str, row)).encode() + b"\n" for row in bits
    )
    yield "pnm_p2.pgm", head(2, 255) + plain(grey)
    yield "pnm_p2_100.pgm", head(2, 100) + plain(grey % 101)
    yield "pnm_p3.ppm", head(3, 255) + plain(array)
    yield "pnm_p4.pbm", head(4) + b"".join(packed(row, 1) for row in bits)
    yield "pnm_p5.pgm", head(5, 255) + grey.tobytes()
    yield "pnm_p5_63.pgm", head(5, 63) + (grey // 4).tobytes()
    yield "pnm_p5_65535.pgm", head(5, 65535) + grey.astype(">u2").tobytes()
    yield "pnm_p5_1000.pgm", head(5, 1000) + (grey // 50).astype(">u2").tobytes()
    yield "pnm_p6.ppm", head(6, 255) + array.tobytes()
    yield "pnm_p6_1000.ppm", head(6, 1000) + (
        array.astype(">u2") * 3
    ).tobytes()


def answer(source):
    with Image.open(source) as image:
        mode = image.mode
        rgb, grey = image.convert("RGB"), image.convert("L")
    return {
        "width": rgb.width,
        "height": rgb.height,
        "mode": mode,
        "rgb_crc32": zlib.crc32(rgb.tobytes()),
        "grey_crc32": zlib.crc32(grey.tobytes()),
    }


def main():
    warnings.simplefilter("ignore")
    array = picture()
    rgb = Image.fromarray(array)
    OUT.mkdir(parents=True, exist_ok=True)
    expected = {"made_with": "PIL " + __version__, "files": {}}
    for make in jpegs(rgb), pngs(rgb, array), webps(rgb), bmps(rgb, array), pnms(rgb, array):
        for name, data in make:
            data = bytes(data)
            path = OUT / name.split("_")[0] / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            expected["files"][str(path.relative_to(OUT))] = answer(io.BytesIO(data))
    (OUT / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    if len(sys.argv) > 1:
        photos = pathlib.Path(sys.argv[1])
        names = sorted(photos.rglob("*.JPEG"))
        # Every grey one, and a few of the others.
        chosen = [p for i, p in enumerate(names) if i % 20 == 0 or Image.open(p).mode != "RGB"]
        listed = {str(p.relative_to(photos)): answer(p) for p in chosen}
        text = json.dumps({"made_with": expected["made_with"], "files": listed})
        (OUT / "photos.json").write_text(text.replace("}, ", "},\n") + "\n")


if __name__ == "__main__":
    main()
