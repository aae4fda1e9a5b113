#!/usr/bin/env python3
"""measure.py BINARY DIR [-v]: compares the windows of smart crops of the photos in DIR with those of vipsthumbnail and
with the center, and prints the time of a smart crop relative to that of the center.

All crops are made from the same scaled image, in which their places are found exactly. The agreement of two windows is
their intersection over their union. With -v, the windows of each photo are printed.
"""
import pathlib, subprocess, sys, tempfile
import numpy as np
from PIL import Image

BINARY, DIR, SIDE = sys.argv[1], pathlib.Path(sys.argv[2]), 256


def pixels(path):
    return np.asarray(Image.open(path).convert("RGB"), int)


def place(whole, crop):
    """Returns the first column or row of the crop."""
    if whole.shape[0] > whole.shape[1]:
        whole, crop = whole.swapaxes(0, 1), crop.swapaxes(0, 1)
    errors = [abs(whole[:, start:start + SIDE] - crop).sum() for start in range(whole.shape[1] - SIDE + 1)]
    assert min(errors) == 0, "A crop is not a part of the scaled image."
    return errors.index(0)


def agreement(first, second):
    shared = max(0, SIDE - abs(first - second))
    return shared / (2 * SIDE - shared)


def windows(folder, name):
    vips = folder / f"{name}-vips.png"
    subprocess.run(["vipsthumbnail", folder / f"{name}-whole.png", "--size", f"{SIDE}x{SIDE}", "--smartcrop",
                    "attention", "-o", vips], check=True)
    whole = pixels(folder / f"{name}-whole.png")
    return {"smart": place(whole, pixels(folder / f"{name}-smart.png")), "vips": place(whole, pixels(vips)),
            "center": (max(whole.shape) - SIDE) / 2}, max(whole.shape) - SIDE


def crops(files):
    pairs = {("smart", "vips"): [], ("center", "vips"): [], ("smart", "center"): []}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([BINARY, "crops", str(SIDE), folder, *files], check=True)
        for file in files:
            found, free = windows(pathlib.Path(folder), file.stem)
            if "-v" in sys.argv:
                print(f"  {file.stem:40} of {free}: {found}")
            for pair, values in pairs.items():
                values.append(agreement(found[pair[0]], found[pair[1]]))
    print(f"Agreement of the windows of {len(files)} photos to {SIDE}x{SIDE}")
    for (first, second), values in pairs.items():
        print(f"  {first:6} and {second:6}  mean {np.mean(values):.3f}  median {np.median(values):.3f}  "
              f"least {min(values):.3f}  at least 0.8: {np.mean(np.array(values) >= 0.8):.2f}")


def times(title, files):
    print(f"CPU time of a smart crop of {title}, that of the center, and their ratio", flush=True)
    subprocess.run([BINARY, "times", str(SIDE), "9", *files], check=True)


crops(sorted((DIR / "photos").iterdir()))
times("photos of 1 to 2 megapixels", sorted((DIR / "photos").iterdir())[::3])
times("photos of 8 to 12 megapixels", sorted((DIR / "large").iterdir()))
