"""TIFF files by Pillow, by tiffcp, and by `tiff_file`. Their pixels are those of the source, or by
Pillow where the compression is lossy."""
import functools

import numpy
from PIL import Image

from cases import Case, Group, tool
import samples
from tiff_file import ASSOCIATED, BLACK_IS_ZERO, PALETTE, RGB, SEPARATED, UNASSOCIATED, WHITE_IS_ZERO, write

COPIES = {
    "lzw": ["-c", "lzw"], "lzw-predictor": ["-c", "lzw:2"], "deflate": ["-c", "zip"], "packbits": ["-c", "packbits"],
    "zstd": ["-c", "zstd"], "lzma": ["-c", "lzma"], "strips": ["-c", "none", "-r", "7"],
    "tiles": ["-t", "-w", "64", "-l", "32", "-c", "zip"], "planes": ["-p", "separate", "-c", "lzw"],
    "tiled-planes": ["-p", "separate", "-t", "-w", "32", "-l", "32", "-c", "none"], "big-endian": ["-B", "-c", "none"],
    "bigtiff": ["-8", "-c", "lzw"], "big-endian-bigtiff": ["-8", "-B", "-c", "zip"],
}


def is_equal(path, image):
    expected = samples.pixels(image)
    return Case(path, lambda *_: expected)


def kinds(folder):
    """Files with all kinds of pixels, and the images that they show."""
    photo, alpha = samples.photo(), samples.transparent()
    gray, rgb, rgba = (numpy.asarray(image) for image in (photo.convert("L"), photo, alpha))
    gray_alpha = numpy.dstack([gray, rgba[..., 3]])
    for order in "<>":
        yield write(folder / f"rgb{order}.tif", rgb, RGB, order=order), photo
        yield write(folder / f"rgb16{order}.tif", rgb.astype(int) * 257, RGB, 16, order), photo
        yield write(folder / f"gray16{order}.tif", gray.astype(int) * 257, BLACK_IS_ZERO, 16, order), photo.convert("L")
        yield (write(folder / f"inverse16{order}.tif", 65535 - gray.astype(int) * 257, WHITE_IS_ZERO, 16, order),
               photo.convert("L"))
        yield (write(folder / f"gray-alpha16{order}.tif", gray_alpha.astype(int) * 257, BLACK_IS_ZERO, 16, order,
                     UNASSOCIATED), Image.fromarray(gray_alpha, "LA"))
        yield write(folder / f"alpha16{order}.tif", rgba.astype(int) * 257, RGB, 16, order, UNASSOCIATED), alpha
        yield (write(folder / f"planes16{order}.tif", rgba.astype(int) * 257, RGB, 16, order, UNASSOCIATED,
                     planes=True), alpha)
    for bits in (1, 2, 4, 8):
        levels = gray >> (8 - bits)
        shown = (levels.astype(int) * 255 // (2 ** bits - 1)).astype(numpy.uint8)
        yield write(folder / f"gray{bits}.tif", levels, BLACK_IS_ZERO, bits), Image.fromarray(shown)
        yield write(folder / f"inverse{bits}.tif", levels, WHITE_IS_ZERO, bits), Image.fromarray(255 - shown)
    for bits in (4, 8):
        reduced = photo.quantize(2 ** bits)
        palette = numpy.zeros((2 ** bits, 3), int)
        used = numpy.array(reduced.getpalette()).reshape(-1, 3)[:2 ** bits]
        palette[:len(used)] = used
        yield (write(folder / f"palette{bits}.tif", numpy.asarray(reduced), PALETTE, bits, palette=palette),
               reduced.convert("RGB"))
    yield write(folder / "alpha.tif", rgba, RGB, extra=UNASSOCIATED), alpha
    yield write(folder / "unspecified.tif", rgba, RGB, extra=0), photo
    yield write(folder / "unspecified16.tif", rgba.astype(int) * 257, RGB, 16, extra=0), photo
    # Levels between those of 8 bits become the nearest one.
    for name, array, kind in (("gray", gray, BLACK_IS_ZERO), ("rgb", rgb, RGB)):
        offsets = numpy.random.default_rng(2).integers(-128, 129, array.shape)
        deep = numpy.clip(array.astype(int) * 257 + offsets, 0, 65535)
        yield write(folder / f"deep-{name}.tif", deep, kind, 16), Image.fromarray(array)
    inverse = numpy.dstack([255 - gray, rgba[..., 3]])
    yield (write(folder / "inverse-alpha.tif", inverse, WHITE_IS_ZERO, extra=UNASSOCIATED),
           Image.fromarray(gray_alpha, "LA"))
    yield write(folder / "gray-alpha.tif", gray_alpha, BLACK_IS_ZERO, extra=UNASSOCIATED), Image.fromarray(
        gray_alpha, "LA")


def copies(folder):
    """Files of other compressions and arrangements."""
    photo, alpha = samples.photo(), samples.transparent()
    level_alpha = Image.fromarray(numpy.dstack([numpy.asarray(photo.convert("L")), numpy.asarray(alpha)[..., 3]]), "LA")
    for source, shown in {
        "rgb<": photo, "gray8": photo.convert("L"), "rgb16<": photo, "alpha": alpha, "unspecified": photo,
        "gray-alpha": level_alpha, "inverse-alpha": level_alpha,
    }.items():
        for name, options in COPIES.items():
            if "16" in source and "planes" in name:
                # tiffcp separates only bytes.
                continue
            path = folder / f"{source}-{name}.tif"
            tool("tiffcp", *options, folder / f"{source}.tif", path)
            yield is_equal(path, shown)
    for side in ("16", "48"):
        path = folder / f"palette{side}.tif"
        tool("tiffcp", "-t", "-w", side, "-l", side, "-c", "none", folder / "palette8.tif", path)
        yield is_equal(path, photo.quantize(256).convert("RGB"))
    bilevel = samples.photo().convert("1")
    for name in ("group3", "group4", "tiff_ccitt"):
        bilevel.save(folder / f"{name}.tif", compression=name)
        yield is_equal(folder / f"{name}.tif", bilevel)
    pages = [folder / "rgb<.tif", folder / "gray8.tif", folder / "palette8.tif"]
    tool("tiffcp", *pages, folder / "pages.tif")
    yield is_equal(folder / "pages.tif", samples.photo())
    profile = Image.open(folder / "profile.png").info["icc_profile"]
    for name, room in [("profile", 0), ("large-profile", 5 << 20)]:
        samples.photo().save(folder / f"{name}.tif", icc_profile=profile + bytes(room))
        yield is_equal(folder / f"{name}.tif", samples.photo())


def linear(array):
    """The light of levels of sRGB."""
    levels = array / 255
    return numpy.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)


def floats(folder):
    """Files of linear light as floating-point samples, and the images that they show."""
    gray, rgb, rgba = (numpy.asarray(image) for image in
                       (samples.photo().convert("L"), samples.photo(), samples.transparent()))
    alpha = rgba[..., 3:] / 255
    colored, multiplied = (numpy.dstack([linear(rgba[..., :3]) * factor, alpha]) for factor in (1, alpha))
    wild = linear(rgb)
    wild[:9], wild[9:18], wild[18:27], wild[27:36] = 1.5, -1, numpy.nan, numpy.inf
    tamed = rgb.copy()
    tamed[:9], tamed[9:18], tamed[18:27], tamed[27:36] = 255, 0, 0, 255
    for bits in (16, 32):
        for order in "<>":
            for name, array, kind, extra, planes, shown in [
                    ("gray", linear(gray), BLACK_IS_ZERO, None, False, gray),
                    ("rgb", linear(rgb), RGB, None, False, rgb),
                    ("alpha", colored, RGB, UNASSOCIATED, False, rgba), ("wild", wild, RGB, None, False, tamed),
                    ("planes", colored, RGB, UNASSOCIATED, True, rgba),
                    ("associated", multiplied, RGB, ASSOCIATED, False, rgba)]:
                path = folder / f"float-{name}{bits}{order}.tif"
                yield is_equal(write(path, array, kind, bits, order, extra, planes=planes), Image.fromarray(shown))
    # The profile describes the numbers, which are then not linear.
    profile = Image.open(folder / "profile.png").info["icc_profile"]
    path = folder / "float-profile.tif"
    yield is_equal(write(path, rgb / 255, RGB, 32, profile=profile), samples.photo())
    for name in ("lzw:3", "zip:3"):
        path = folder / f"float-{name[:3]}.tif"
        tool("tiffcp", "-c", name, "-t", "-w", "64", "-l", "32", folder / "float-rgb32<.tif", path)
        yield is_equal(path, samples.photo())


def narrow(folder):
    """Files with samples of 12 bits, and the images that they show."""
    gray, rgb, rgba = (numpy.asarray(image) for image in
                       (samples.photo().convert("L"), samples.photo(), samples.transparent()))

    def twelve(array):
        return (array.astype(int) * 4095 + 127) // 255
    for order in "<>":
        for name, array, kind, extra, planes, shown in [
                ("gray", gray, BLACK_IS_ZERO, None, False, gray),
                ("inverse", 255 - gray, WHITE_IS_ZERO, None, False, gray),
                ("rgb", rgb, RGB, None, False, rgb), ("alpha", rgba, RGB, UNASSOCIATED, False, rgba),
                ("planes", rgb, RGB, None, True, rgb)]:
            path = folder / f"narrow-{name}{order}.tif"
            yield is_equal(write(path, twelve(array), kind, 12, order, extra, planes=planes), Image.fromarray(shown))
    for name in ("strips", "tiles", "lzw"):
        path = folder / f"narrow-{name}.tif"
        tool("tiffcp", *COPIES[name], folder / "narrow-rgb<.tif", path)
        yield is_equal(path, samples.photo())


def deep_inks(folder):
    """Files with CMYK of 16 bits, whose pixels are those of the same file with 8 bits by Pillow."""
    image = samples.photo().convert("CMYK")
    inks = numpy.asarray(image).copy()
    # Pillow writes no black.
    inks[40:80, :, 3] = numpy.arange(inks.shape[1]) % 256
    shown = Image.fromarray(inks, "CMYK").convert("RGB")
    for order in "<>":
        path = write(folder / f"inks{order}.tif", inks.astype(int) * 257, SEPARATED, 16, order)
        yield is_equal(path, shown)
    tool("tiffcp", *COPIES["tiles"], folder / "inks<.tif", folder / "inks-tiles.tif")
    yield is_equal(folder / "inks-tiles.tif", shown)


def lossy(folder):
    for name, options in [("jpeg", ["-r", "32"]), ("jpeg-tiles", ["-t", "-w", "64", "-l", "64"]),
                          ("jpeg-rgb", ["-r", "32"])]:
        method = "jpeg:r:90" if name == "jpeg-rgb" else "jpeg:90"
        tool("tiffcp", "-c", method, *options, folder / "rgb<.tif", folder / f"{name}.tif")
        yield Case(folder / f"{name}.tif", functools.partial(by_pillow, folder / f"{name}.tif"))


def by_pillow(path, *_):
    return samples.pixels(path)


def oriented(folder):
    rgb = numpy.asarray(samples.photo())
    for orientation in range(1, 9):
        path = write(folder / f"oriented-{orientation}.tif", rgb, RGB, orientation=orientation)
        yield Case(path, functools.partial(by_pillow, folder / f"orientation-{orientation}.png"))


def groups(folder):
    rgba = numpy.asarray(samples.transparent()).astype(int)
    colors = (rgba[..., :3] * rgba[..., 3:] + 127) // 255
    associated = write(folder / "associated.tif", numpy.dstack([colors, rgba[..., 3]]), RGB, extra=ASSOCIATED)
    level = numpy.asarray(samples.photo().convert("L")).astype(int)
    gray_alpha = numpy.dstack([level, rgba[..., 3]]).astype(numpy.uint8)
    multiplied = numpy.dstack([(level * rgba[..., 3] + 127) // 255, rgba[..., 3]])
    gray_associated = write(folder / "gray-associated.tif", multiplied, BLACK_IS_ZERO, extra=ASSOCIATED)
    samples.photo().convert("CMYK").save(folder / "cmyk.tif")
    return [
        Group("TIFF: kinds of pixels", "equal to the source", [is_equal(*kind) for kind in kinds(folder)], 0),
        Group("TIFF: compressions, tiles, byte orders, pages", "equal to the source", list(copies(folder)), 0),
        Group("TIFF: floating point", "16 bits round", list(floats(folder)), 1),
        Group("TIFF: 12 bits", "equal to the source", list(narrow(folder)), 0),
        Group("TIFF: CMYK of 16 bits", "Pillow rounds otherwise", list(deep_inks(folder)), 1),
        Group("TIFF: associated alpha", "the file rounds the colors", [
            is_equal(associated, samples.transparent()), is_equal(gray_associated, Image.fromarray(gray_alpha, "LA")),
        ], 1),
        Group("TIFF: CMYK", "Pillow rounds otherwise",
              [Case(folder / "cmyk.tif", functools.partial(by_pillow, folder / "cmyk.tif"))], 1),
        Group("TIFF: JPEG", "the same library", list(lossy(folder)), 0),
        Group("TIFF: orientation", "equal to the source", list(oriented(folder)), 0),
    ]
