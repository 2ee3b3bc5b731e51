"""Writes tests/fixtures/arrays: .npy and .npz files as NumPy itself makes them.

Run with: python3 reference/array_files.py
Every array holds 0, 1, 2, ... in C order, so that the tests know all values.
"""
import pathlib

import numpy as np

folder = pathlib.Path(__file__).parent.parent / "tests" / "fixtures" / "arrays"
folder.mkdir(parents=True, exist_ok=True)

count = np.arange(24).reshape(2, 3, 4)
for name in ["u1", "i1", "<u2", "<i2", ">i2", "<u4", "<i4", ">u4", "<i8",
             "<u8", ">i8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]:
    # A file system may not tell "<" from ">", nor like either.
    plain = name.replace("<", "little_").replace(">", "big_")
    np.save(folder / f"{plain}.npy", count.astype(name))
np.save(folder / "b1.npy", count % 2 == 1)
np.save(folder / "fortran.npy", np.asfortranarray(count.astype("<f4")))
np.save(folder / "negative_halves.npy",
        np.array([0, -0.5, 65504, 6e-8, np.inf, 1 / 3], "<f2"))
np.save(folder / "objects.npy", np.array([{"a": 1}], dtype=object))
np.save(folder / "records.npy",
        np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f4")]))
np.save(folder / "text.npy", np.array(["a", "bc"]))
for version in [(2, 0), (3, 0)]:
    with open(folder / f"version_{version[0]}.npy", "wb") as out:
        np.lib.format.write_array(out, count.astype("<f4"), version=version)

images = np.arange(4 * 2 * 2 * 3, dtype=np.uint8).reshape(4, 2, 2, 3)
labels = np.array([2, 0, 1, 2])
np.savez(folder / "stored.npz", images=images, labels=labels)
np.savez_compressed(
    folder / "deflated.npz",
    X_train=np.zeros((50, 40), np.float32) + np.arange(50)[:, None],
    Y_train=np.arange(50, dtype=np.float64) * 2,
    x_test=np.zeros((5, 40), np.float32),
    y_test=np.arange(5, dtype=np.float64))
