#!/usr/bin/env python3
"""Computes perceptual hashes as Documentation/formats.md describes them, independently of the code of thumbs.

Without arguments, it writes perceptual-hashes.txt next to itself: a line for each computed image, with its size, and
for some of the files in pictures/, as decoded by Pillow. With files as arguments, it prints their hashes.
Needs numpy and Pillow.
"""
import pathlib, sys
import numpy
from PIL import Image, ImageOps

HERE = pathlib.Path(__file__).resolve().parent
SIZES = ((32, 32), (64, 64), (64, 40), (45, 37), (33, 64), (17, 50), (5, 3), (1, 64), (64, 1))
FILES = ("rgb.png", "rgba.png", "gray.png", "gray-alpha.png", "palette.png", "palette-trns.png", "rgb-trns.png",
         "interlaced.png", "exif.png")
CELLS = 32
WAVES = numpy.arange(8)


def computed(width, height, alpha):
    """Returns an image whose samples are computed from their positions; the test computes the same."""
    y, x = numpy.mgrid[0:height, 0:width]
    samples = [x * x * 5 // 16 + y * 7 + x * y // 3, x * 11 + y * y // 4, (x + 2 * y) * 3,
               x * 9 + y * 5 if alpha else x * 0 + 255]
    return numpy.stack(samples, axis=2) % 256


def gray(rgba):
    """Returns the brightness of each pixel over white, 0 to 65280."""
    rgba = rgba.astype(numpy.int64)
    alpha = rgba[..., 3:]
    color = (rgba[..., :3] * alpha + 255 * (255 - alpha) + 127) // 255
    return color @ numpy.array([77, 150, 29])


def shares(count):
    """Returns for each cell its share of each sample, in 32nds of a sample."""
    edges = numpy.arange(count + 1) * CELLS
    cells = numpy.arange(CELLS)[:, None] * count
    return numpy.clip(numpy.minimum(edges[1:], cells + count) - numpy.maximum(edges[:-1], cells), 0, None)


def perceptual_hash(rgba):
    height, width = rgba.shape[:2]
    # Exact, because all numbers are whole and less than 2 ** 53; numpy multiplies floats much faster.
    sums = (shares(height) * 1.0) @ gray(rgba) @ (shares(width) * 1.0).T
    whole = 256 * width * height
    means = (2 * sums.round().astype(numpy.int64) + whole) // (2 * whole)
    if means.max() - means.min() < 8:
        return 0
    angles = numpy.outer(WAVES, 2 * numpy.arange(CELLS) + 1) * numpy.pi / 64
    cosines = numpy.rint(16384 * numpy.cos(angles)).astype(numpy.int64)
    terms = (cosines @ means @ cosines.T).ravel()
    ordered = sorted(terms.tolist())
    bits = [2 * term > ordered[31] + ordered[32] for term in terms.tolist()]
    return int("".join("01"[bit] for bit in bits), 2)


def of_file(path):
    with Image.open(path) as image:
        return perceptual_hash(numpy.asarray(ImageOps.exif_transpose(image).convert("RGBA")))


if __name__ == "__main__":
    if sys.argv[1:]:
        for path in sys.argv[1:]:
            print(f"{of_file(path):016x}  {path}")
    else:
        lines = [f"{perceptual_hash(computed(*size, alpha)):016x} {kind} {size[0]}x{size[1]}\n"
                 for size in SIZES for kind, alpha in (("opaque", False), ("alpha", True))]
        lines += [f"{of_file(HERE / 'pictures' / name):016x} file {name}\n" for name in FILES]
        (HERE / "perceptual-hashes.txt").write_text("".join(lines))
