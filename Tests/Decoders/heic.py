"""HEIC files by heif-enc, and their pixels by heif-convert."""
import functools
import struct

import numpy

import boxes
from cases import Case, Group, tool
from grid import make_grid
import samples

# The primaries of Display P3, the curve of sRGB, and the matrix and range that heif-enc uses.
WIDE = (b"colr", b"nclx" + struct.pack(">HHHB", 12, 13, 6, 0x80))


def encode(folder, name, source, *options):
    tool("heif-enc", "-q", "90", *options, folder / source, "-o", folder / f"{name}.heic")
    return folder / f"{name}.heic"


def decoded(path, *_):
    target = path.with_suffix(".heic.png")
    tool("heif-convert", path, target)
    return samples.pixels(target)


def changed(path, name, *properties):
    """Writes a copy with more properties."""
    copy = path.with_name(f"{name}.heic")
    copy.write_bytes(boxes.add_properties(path.read_bytes(), properties))
    return copy


def turned(path, turns, mirror):
    """A copy that must be rotated counterclockwise, and then mirrored on an axis."""
    mirrors = [] if mirror is None else [(b"imir", bytes([mirror]))]
    copy = changed(path, f"turned-{turns}-{mirror}", (b"irot", bytes([turns])), *mirrors)
    rotated = numpy.rot90(decoded(path), turns)
    expected = rotated if mirror is None else numpy.flip(rotated, mirror)
    return Case(copy, lambda *_: expected)


def cropped(path, left, top, width, height):
    """A copy with a clean aperture (ISO/IEC 14496-12, 12.1.4), whose offset is that of the centers."""
    offsets = 2 * left + width - samples.WIDTH, 2 * top + height - samples.HEIGHT
    copy = changed(path, "crop", (b"clap", struct.pack(">8i", width, 1, height, 1, offsets[0], 2, offsets[1], 2)))
    expected = decoded(path)[top:top + height, left:left + width]
    return Case(copy, lambda *_: expected)


def tiled(folder):
    """A grid of four tiles, which are also decoded one by one."""
    places = [(x, y, x + 128, y + 96) for y in (0, 96) for x in (0, 128)]
    for number, place in enumerate(places):
        samples.photo(256, 192).crop(place).save(folder / f"tile-{number}.png")
    tool("heif-enc", "-q", "90", *(folder / f"tile-{number}.png" for number in range(4)), "-o", folder / "tiles.heic")
    tool("heif-convert", folder / "tiles.heic", folder / "decoded.png")
    tiles = [samples.pixels(folder / f"decoded-{number}.png") for number in range(1, 5)]
    expected = numpy.vstack([numpy.hstack(tiles[:2]), numpy.hstack(tiles[2:])])
    path = folder / "grid.heic"
    path.write_bytes(make_grid((folder / "tiles.heic").read_bytes(), 2, 2, 128, 96))
    return Case(path, lambda *_: expected)


def divided(array):
    """Divides colors by their alpha."""
    alpha = numpy.maximum(array[..., 3:], 1) / 255
    return numpy.concatenate([numpy.minimum(numpy.round(array[..., :3] / alpha), 255), array[..., 3:]], -1)


def groups(folder):
    def case(name, source, *options):
        path = encode(folder, name, source, *options)
        return Case(path, functools.partial(decoded, path))

    plain = [case("plain", "photo.png"), case("444", "photo.png", "-p", "chroma=444"), case("gray", "gray.png"),
             case("422", "photo.png", "-p", "chroma=422"), case("limited", "photo.png", "--full_range_flag", "0"),
             case("even", "even.png"), case("thumbnail", "photo.png", "-t", "64"),
             case("10", "photo-16.png", "-b", "10"), case("12", "photo-16.png", "-b", "12"),
             case("profile", "profile.png")]
    expected = decoded(plain[-1].path)
    plain.append(Case(encode(folder, "large-profile", "large-profile.png"), lambda *_: expected))
    alpha = [case("alpha", "transparent.png"), case("alpha-444", "transparent.png", "-p", "chroma=444")]
    exact = encode(folder, "source", "photo.png", "-q", "98", "-p", "chroma=444")
    # heif-convert does not divide the colors.
    premultiplied = encode(folder, "premultiplied", "transparent.png", "-p", "chroma=444", "--premultiplied-alpha")
    wide = changed(exact, "wide", WIDE)
    transformed = [turned(exact, turns, mirror) for turns in range(4) for mirror in (None, 0, 1)]
    return [
        Group("HEIC: depth, chroma, range", "the same library", plain, 0),
        Group("HEIC: alpha", "the same library", alpha, 1),
        Group("HEIC: premultiplied alpha", "division magnifies rounding",
              [Case(premultiplied, lambda *_: divided(decoded(premultiplied)))], 1),
        Group("HEIC: compared with the source", "the compression is lossy",
              [Case(exact, lambda *_: samples.pixels(folder / "photo.png"))], 8, 0.6),
        Group("HEIC: grid", "equal to its tiles", [tiled(folder)], 0),
        Group("HEIC: rotation, mirroring, crop", "equal to the pixels without",
              [*transformed, cropped(exact, 11, 7, 100, 80)], 0),
        Group("HEIC: wide colors", "both conversions round",
              [Case(wide, lambda *_: samples.p3_to_srgb(decoded(exact)))], 2),
    ]
