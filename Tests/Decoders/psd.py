"""PSD files by ImageMagick, whose pixels are those of ImageMagick, and by `psd_file`, whose pixels are those of the
source."""
import itertools
import struct

import numpy
from PIL import Image, ImageCms

from cases import Case, Group, tool
import psd_file
import samples

COMPRESSIONS = {"raw": psd_file.RAW, "packbits": psd_file.PACKBITS, "zip": psd_file.ZIP,
                "prediction": psd_file.PREDICTION}
# The highest sample of each depth.
HIGHEST = {8: 255, 16: 65535, 32: 1}


def planes_of(image):
    array = numpy.asarray(image)
    return [array] if array.ndim == 2 else [array[..., channel] for channel in range(array.shape[2])]


def is_equal(path, image):
    expected = samples.pixels(image)
    return Case(path, lambda *_: expected)


def linear(plane):
    """Levels of sRGB as linear light."""
    values = plane / 255
    return numpy.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def deepened(plane, depth, isColor=True):
    """Levels as samples of another depth, not all of which are exactly those of the levels."""
    noise = numpy.random.default_rng(2)
    if depth == 32:
        return linear(plane) if isColor else plane / 255
    if depth == 16:
        return numpy.clip(plane.astype(int) * 257 + noise.integers(-128, 129, plane.shape), 0, 65535)
    return plane


def on_white(planes, highest):
    """Colors as Photoshop stores them in the merged image: over white."""
    alpha = planes[-1] / highest
    return [plane * alpha + highest * (1 - alpha) for plane in planes[:-1]] + [planes[-1]]


def kinds(folder):
    """Files of all depths, compressions and sizes of numbers, and the images that they show."""
    photo = samples.photo()
    gray = photo.convert("L")
    for depth, (name, compression), large in itertools.product((8, 16, 32), COMPRESSIONS.items(), (False, True)):
        suffix = f"{depth}-{name}.{'psb' if large else 'psd'}"
        for kind, mode, image in (("gray", psd_file.GRAY, gray), ("rgb", psd_file.RGB, photo)):
            planes = [deepened(plane, depth) for plane in planes_of(image)]
            yield psd_file.write(folder / f"{kind}{suffix}", planes, mode, depth, compression, large), image
    for name, compression in list(COMPRESSIONS.items())[:3]:
        reduced = photo.quantize(200)
        colors = numpy.zeros((256, 3), numpy.uint8)
        colors[:200] = numpy.array(reduced.getpalette()).reshape(-1, 3)[:200]
        options = {"compression": compression, "palette": colors.T.tobytes()}
        yield (psd_file.write(folder / f"indexed-{name}.psd", planes_of(reduced), psd_file.INDEXED, **options),
               reduced.convert("RGB"))
        hole = numpy.dstack([numpy.asarray(reduced.convert("RGB")), (numpy.asarray(reduced) != 7) * 255])
        options["resources"] = psd_file.resource(psd_file.TRANSPARENT_INDEX, struct.pack(">H", 7))
        yield (psd_file.write(folder / f"hole-{name}.psd", planes_of(reduced), psd_file.INDEXED, **options),
               Image.fromarray(hole.astype(numpy.uint8), "RGBA"))
        bilevel = photo.convert("1")
        yield (psd_file.write(folder / f"bitmap-{name}.psd", [~numpy.asarray(bilevel)], psd_file.BITMAP, 1,
                              compression), bilevel)
    yield (psd_file.write(folder / "duotone.psd", planes_of(gray), psd_file.DUOTONE, palette=bytes(range(99))), gray)
    # Planes after the colors are masks, unless the number of layers is negative.
    masked = [*planes_of(photo), 255 - numpy.asarray(gray)]
    for name, layers in (("flat", None), ("layered", 3)):
        yield psd_file.write(folder / f"masked-{name}.psd", masked, psd_file.RGB, layers=layers), photo
    yield (psd_file.write(folder / "masked-packed.psd", masked, psd_file.RGB, compression=psd_file.PACKBITS), photo)
    # A blank merged image has layers. A file without layers has a merged image, whatever it says.
    unreal = psd_file.resource(psd_file.VERSION, struct.pack(">I?", 1, False))
    yield psd_file.write(folder / "unlayered.psd", planes_of(photo), psd_file.RGB, resources=unreal), photo


def transparent(folder):
    """Files with alpha in all places of the number of layers, and the images that they show."""
    image = samples.transparent()
    gray_alpha = Image.fromarray(numpy.dstack([numpy.asarray(samples.photo().convert("L")),
                                               numpy.asarray(image)[..., 3]]), "LA")
    blocks = {8: None, 16: b"Lr16", 32: b"Lr32"}
    for depth, large, compression in itertools.product((8, 16, 32), (False, True), COMPRESSIONS.values()):
        suffix = f"{depth}-{compression}.{'psb' if large else 'psd'}"
        for kind, mode, shown in (("rgba", psd_file.RGB, image), ("la", psd_file.GRAY, gray_alpha)):
            planes = planes_of(shown)
            planes = [deepened(plane, depth) for plane in planes[:-1]] + [deepened(planes[-1], depth, False)]
            planes = on_white(planes, HIGHEST[depth])
            if depth != 32:
                planes = [numpy.round(plane) for plane in planes]
            yield (psd_file.write(folder / f"{kind}{suffix}", planes, mode, depth, compression, large, -1,
                                  blocks[depth]), shown)
    planes = [numpy.round(plane) for plane in on_white(planes_of(image), 255)]
    for key in (b"Mtrn", b"Mt16", b"Mt32"):
        yield (psd_file.write(folder / f"merged-{key.decode()}.psd", planes, psd_file.RGB, layers=0, block=key), image)


def by_magick(path, *_):
    target = path.with_suffix(f"{path.suffix}.png")
    # The first image is the merged one.
    tool("convert", f"{path}[0]", "-depth", "8", f"PNG32:{target}")
    return samples.pixels(target)


def by_tool(folder):
    """Files by ImageMagick, which does not draw what is transparent over white, and files of `transparent`."""
    for source, compression, suffix in itertools.product(
            ("photo", "gray", "photo-16"), ("RLE", "none", "Zip"), ("psd", "psb")):
        path = folder / f"magick-{source}-{compression}.{suffix}"
        tool("convert", folder / f"{source}.png", "-compress", compression, path)
        yield Case(path, lambda *_, path=path: by_magick(path))
    bilevel = folder / "magick-bilevel.psd"
    tool("convert", folder / "photo.png", "-type", "Bilevel", bilevel)
    yield Case(bilevel, lambda *_: by_magick(bilevel))
    for compression, suffix in itertools.product((0, 1), ("psd", "psb")):
        path = folder / f"rgba8-{compression}.{suffix}"
        yield Case(path, lambda *_, path=path: by_magick(path))


def inks(folder):
    """CMYK files by `psd_file`, and by ImageMagick."""
    image = samples.photo().convert("CMYK")
    red, green, blue, black = (255 - numpy.asarray(plane).astype(float) for plane in image.split())
    rgb = numpy.dstack([plane * black / 255 for plane in (red, green, blue)])
    shown = Image.fromarray(numpy.round(rgb).astype(numpy.uint8))
    inverted = [255 - plane for plane in planes_of(image)]
    for name, compression in COMPRESSIONS.items():
        yield is_equal(psd_file.write(folder / f"cmyk-{name}.psd", inverted, psd_file.CMYK, 8, compression), shown)
    deep = [deepened(plane, 16) for plane in inverted]
    yield is_equal(psd_file.write(folder / "cmyk16.psb", deep, psd_file.CMYK, 16, large=True), shown)
    alpha = numpy.asarray(samples.transparent())[..., 3]
    yield is_equal(psd_file.write(folder / "cmyk-alpha.psd", [*inverted, alpha], psd_file.CMYK, layers=-2),
                   Image.fromarray(numpy.dstack([numpy.asarray(shown), alpha]), "RGBA"))
    path = folder / "magick-cmyk.psd"
    tool("convert", folder / "photo.png", "-colorspace", "CMYK", path)
    yield Case(path, lambda *_: by_magick(path))


def lab(folder):
    """L*a*b* by Little CMS, there and back, without tables that it would interpolate (`cmsFLAGS_NOOPTIMIZE`)."""
    profiles, exact = [ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB")], 0x100
    image = ImageCms.profileToProfile(samples.photo(), *profiles, outputMode="LAB", flags=exact)
    shown = ImageCms.profileToProfile(image, *profiles[::-1], outputMode="RGB", flags=exact)
    planes = planes_of(image)
    # Pillow has signed bytes.
    planes[1:] = [plane ^ 128 for plane in planes[1:]]
    for depth in (8, 16):
        deep = [plane.astype(int) * (257 if depth == 16 else 1) for plane in planes]
        if depth == 16:
            deep[1:] = [plane.astype(int) * 256 for plane in planes[1:]]
        yield is_equal(psd_file.write(folder / f"lab{depth}.psd", deep, psd_file.LAB, depth), shown)


def groups(folder):
    profile = Image.open(folder / "profile.png").info["icc_profile"]
    resources = psd_file.resource(1000, b"odd") + psd_file.resource(psd_file.PROFILE, profile)
    path = psd_file.write(folder / "profile.psd", planes_of(samples.photo()), psd_file.RGB, resources=resources)
    masks = [is_equal(*kind) for kind in transparent(folder)]
    return [
        Group("PSD: depths, compressions, color modes", "equal to the source",
              [is_equal(*kind) for kind in kinds(folder)] + [is_equal(path, samples.photo())], 0),
        Group("PSD: alpha", "the file rounds the colors", [case for case in masks if "32-" not in case.path.name], 1),
        Group("PSD: alpha of 32 bits", "levels of 8 bits, over white, are coarse where light is linear",
              [case for case in masks if "32-" in case.path.name], 10, 0.5),
        Group("PSD: by ImageMagick", "equal to its own pixels", list(by_tool(folder)), 1),
        Group("PSD: CMYK", "ImageMagick rounds otherwise", list(inks(folder)), 1),
        Group("PSD: L*a*b*", "Little CMS rounds otherwise", list(lab(folder)), 1, 0.1),
    ]
