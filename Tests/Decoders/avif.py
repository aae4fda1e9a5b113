"""AVIF files by avifenc, and their pixels by avifdec."""
import functools

import numpy

from cases import Case, Group, in_parallel, tool
import samples

FAST = ["-s", "9", "--min", "5", "--max", "15"]
CHROMAS, DEPTHS, RANGES = ["400", "420", "422", "444"], ["8", "10", "12"], ["full", "limited"]


def encode(folder, name, source, *options):
    tool("avifenc", *FAST, *options, folder / f"{source}.png", "-o", folder / f"{name}.avif")
    return folder / f"{name}.avif"


def decoded(path, *_):
    """The pixels by avifdec, without the clean aperture, rotation and mirroring, which it leaves to others. With 16
    bits, it does not use the fast but inexact conversion of libyuv."""
    target = path.with_suffix(".avif.png")
    tool("avifdec", "--no-strict", "-d", "16", "-u", "bilinear", path, target)
    return samples.pixels(target)


def shown(path, crop, turns, mirror, *_):
    """The pixels after the transformations (ISO/IEC 23008-12, 6.5), in the order that MIAF demands."""
    array = decoded(path)
    if crop:
        left, top, width, height = crop
        array = array[top:top + height, left:left + width]
    array = numpy.rot90(array, turns)
    return array if mirror is None else numpy.flip(array, mirror)


def case(path, expected=decoded):
    return Case(path, functools.partial(expected, path))


def transformed(folder):
    """Files with all rotations and mirrorings, and some crops."""
    for turns in range(4):
        for mirror in (None, 0, 1):
            options = ["--irot", str(turns)] if turns else []
            options += [] if mirror is None else ["--imir", str(mirror)]
            path = encode(folder, f"turned-{turns}-{mirror}", "photo", "-y", "444", *options)
            yield Case(path, functools.partial(shown, path, None, turns, mirror))
    for name, chroma, crop, options in [
            ("even", "420", (20, 10, 100, 80), []), ("gray", "400", (21, 11, 101, 81), []),
            ("odd", "444", (21, 11, 101, 81), []), ("turned", "420", (20, 10, 100, 80), ["--irot", "1"])]:
        box = ",".join(map(str, crop))
        path = encode(folder, f"crop-{name}", "even", "-y", chroma, "--crop", box, *options)
        yield Case(path, functools.partial(shown, path, crop, len(options) // 2, None))


def groups(folder):
    """All groups. `folder` has the images as PNG files."""
    def variant(names):
        chroma, depth, limits, source = names
        return case(encode(folder, "-".join(names), source, "-y", chroma, "-d", depth, "-r", limits))

    every = [(chroma, depth, limits, source) for chroma in CHROMAS for depth in DEPTHS for limits in RANGES
             for source in ("photo", "transparent")]
    premultiplied = [case(encode(folder, f"premultiplied-{chroma}-{depth}", "transparent", "-p", "-y", chroma, "-d",
                                 depth)) for chroma in ("400", "420", "444") for depth in ("8", "10")]
    lossless = encode(folder, "lossless", "photo", "-l")
    grid = [case(encode(folder, f"grid-{chroma}-{source}", source, "-y", chroma, "-g", "2x2"))
            for chroma in CHROMAS for source in ("even", "even-transparent")]
    colors = [case(encode(folder, f"matrix-{matrix}", "photo", "-y", "444", "-r", limits, "--cicp", f"1/13/{matrix}"))
              for limits, matrices in [("full", "08"), ("limited", "169")] for matrix in matrices]
    # The first frame is the photo.
    frames = case(encode(folder, "frames", "even-transparent", "-y", "420", folder / "even.png"))
    profile = case(encode(folder, "profile", "profile", "-y", "420"))
    plain = decoded(profile.path)
    large = Case(encode(folder, "large-profile", "large-profile", "-y", "420"), lambda *_: plain)
    wide = encode(folder, "wide", "photo", "-y", "444", "--cicp", "12/13/6")
    return [
        Group("AVIF: depth, chroma, range, alpha", "libyuv has 6 bits for its factors", in_parallel(variant, every),
              6, 0.5),
        Group("AVIF: premultiplied alpha", "libyuv has 6 bits for its factors", premultiplied, 5, 0.5),
        Group("AVIF: lossless", "equal to the source",
              [Case(lossless, lambda *_: samples.pixels(folder / "photo.png"))], 0),
        Group("AVIF: rotation, mirroring, crop", "as without", list(transformed(folder)), 3),
        Group("AVIF: grids, frames", "as without", [*grid, frames], 3),
        Group("AVIF: matrices and profiles of sRGB", "the transform rounds, too", [*colors, profile, large], 3),
        Group("AVIF: wide colors", "the transform magnifies the rounding of dark colors",
              [Case(wide, lambda *_: samples.p3_to_srgb(decoded(wide)))], 12, 0.5),
    ]
