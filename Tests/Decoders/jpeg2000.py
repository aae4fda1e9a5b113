"""JPEG 2000 files by opj_compress, in boxes of this file, and their pixels by FFmpeg's own decoder or of the source."""
import functools
import struct

import numpy
from PIL import Image, ImageFilter

from boxes import box, parts
from cases import Case, Group, tool
import samples

SRGB, GRAY, SYCC, ESYCC = 16, 17, 18, 24
# Options of opj_compress: the order of the packets, their tiles and precincts, and the place in the reference grid.
LAYOUTS = {
    "plain": [], "codestream": [], "tiles": ["-t", "64,64"], "tile-parts": ["-t", "64,64", "-TP", "R"],
    "offset": ["-d", "7,9"], "tile-offset": ["-d", "10,14", "-T", "3,5", "-t", "64,64"],
    "precincts": ["-c", "[64,64],[32,32]", "-p", "PCRL"], "blocks": ["-b", "16,16", "-M", "63", "-SOP", "-EPH"],
    "components": ["-p", "CPRL", "-PLT", "-TLM"], "layers": ["-q", "30,40,0"], "one-resolution": ["-n", "1"],
    "no-transform": ["-mct", "0"], "lossy": ["-I", "-r", "8"], "lossy-layers": ["-I", "-r", "40,20,10", "-p", "RPCL"],
}


def compress(source, target, *options):
    tool("opj_compress", "-i", source, "-o", target, *options)
    return target


def codestream(path):
    """The codestream of a file."""
    data = path.read_bytes()
    return data if data[:2] == b"\xff\x4f" else dict(parts(data))[b"jp2c"]


def colors(space):
    """The box of an enumerated color space, or of an ICC profile."""
    number = isinstance(space, int)
    return box(b"colr", bytes([1 if number else 2, 0, 0]) + (struct.pack(">I", space) if number else space))


def kinds(*entries):
    """The box of the kinds of channels: of each its number, its kind and its color."""
    return box(b"cdef", struct.pack(">H", len(entries)) + b"".join(struct.pack(">3H", *entry) for entry in entries))


def palette(entries, bits=8):
    """The boxes of a palette for the only component. `entries` are lists of samples."""
    columns, code = len(entries[0]), "B" if bits <= 8 else "H"
    rows = b"".join(struct.pack(f">{columns}{code}", *entry) for entry in entries)
    head = struct.pack(">HB", len(entries), columns) + bytes([bits - 1] * columns)
    return box(b"pclr", head + rows) + box(b"cmap", b"".join(struct.pack(">HBB", 0, 1, i) for i in range(columns)))


def wrap(path, stream, *boxes):
    """Writes a file with these boxes in its header. Of the first one, which repeats what the codestream says, other
    programs need the numbers."""
    components = struct.unpack(">H", stream[40:42])[0]
    width, height, left, top = struct.unpack(">4I", stream[8:24])
    first = box(b"ihdr", struct.pack(">IIHBBBB", height - top, width - left, components, 7, 7, 0, 0))
    path.write_bytes(box(b"jP  ", b"\r\n\x87\n") + box(b"ftyp", b"jp2 \0\0\0\0jp2 ")
                     + box(b"jp2h", first + b"".join(boxes)) + box(b"jp2c", stream))
    return path


def segment(marker, content):
    return struct.pack(">HH", marker, 2 + len(content)) + content


def hostile(side=10_000, tile=None, components=1, layers=1, block=4, precinct=None):
    """A codestream with an empty tile-part. `block` and `precinct` are powers of two; blocks have at least 2."""
    tile = tile or side
    size = struct.pack(">H8IH", 0, side, side, 0, 0, tile, tile, 0, 0, components) + b"\7\1\1" * components
    precincts = b"" if precinct is None else bytes([precinct * 17] * 6)
    coding = struct.pack(">BBHBBBBBB", precinct is not None, 0, layers, 0, 5, block - 2, block - 2, 0, 1) + precincts
    quantization = b"\x40" + b"\x40" * 16
    part = struct.pack(">HHHIBBH", 0xFF90, 10, 0, 14, 0, 1, 0xFF93)
    return (b"\xff\x4f" + segment(0xFF51, size) + segment(0xFF52, coding) + segment(0xFF5C, quantization) + part
            + b"\xff\xd9")


def by_ffmpeg(path, width, height):
    """The pixels by FFmpeg's decoder, which shares no code with OpenJPEG."""
    target = path.with_suffix(path.suffix + ".raw")
    tool("ffmpeg", "-y", "-loglevel", "error", "-c:v", "jpeg2000", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgba",
         target)
    return numpy.frombuffer(target.read_bytes(), numpy.uint8).reshape(height, width, 4)


def encoded_by_ffmpeg(folder, name, layout):
    tool("ffmpeg", "-y", "-loglevel", "error", "-i", folder / "photo.png", "-c:v", "jpeg2000", "-pix_fmt", layout,
         "-f", "image2", folder / name)
    return folder / name


def subsampled_by_ffmpeg(folder):
    """A file with sYCC colors and odd sides, whose chroma is half as wide and high, and its pixels."""
    path = encoded_by_ffmpeg(folder, "ffmpeg-ycc.jp2", "yuv420p")
    target = path.with_suffix(".yuv")
    tool("ffmpeg", "-y", "-loglevel", "error", "-c:v", "jpeg2000", "-i", path, "-f", "rawvideo", target)
    (width, height), data = samples.photo().size, numpy.frombuffer(target.read_bytes(), numpy.uint8)
    luma, chroma = numpy.split(data, [width * height])
    chroma = chroma.reshape(2, (height + 1) // 2, (width + 1) // 2).repeat(2, 1).repeat(2, 2)[:, :height, :width]
    image = Image.fromarray(numpy.stack([luma.reshape(height, width), *chroma], -1), "YCbCr")
    return Case(path, lambda *_: samples.pixels(image))


def by_openjpeg(path, *_):
    target = path.with_suffix(path.suffix + ".png")
    tool("opj_decompress", "-i", path, "-o", target)
    return samples.pixels(target)


def raw(folder, name, planes, bits, sign="u", *options):
    """Compresses planes of samples without loss, into a codestream. Those that are smaller are subsampled."""
    height, width = planes[0].shape
    steps = ":".join(f"{-(-width // plane.shape[1])}x{-(-height // plane.shape[0])}" for plane in planes)
    kind = ("i" if sign == "s" else "u") + ("1" if bits <= 8 else "2")
    (folder / f"{name}.rawl").write_bytes(b"".join(plane.astype(f"<{kind}").tobytes() for plane in planes))
    return compress(folder / f"{name}.rawl", folder / f"{name}.j2k", "-F",
                    f"{width},{height},{len(planes)},{bits},{sign}@{steps}", *options)


def with_depth(folder, bits, sign):
    """A file with three components of so many bits, and its pixels."""
    top = (1 << bits) - 1
    deep = numpy.asarray(samples.photo()).astype(int) * top // 255
    planes = [deep[..., channel] - (1 << bits - 1 if sign == "s" else 0) for channel in range(3)]
    expected = samples.pixels(Image.fromarray(((deep * 255 + top // 2) // top).astype(numpy.uint8)))
    return Case(raw(folder, f"depth-{bits}-{sign}", planes, bits, sign, "-mct", "0"), lambda *_: expected)


def gray_with_depth(folder, bits):
    """A file with one component of so many bits, most of which opj_compress reads from PGX files only."""
    top = (1 << bits) - 1
    gray = numpy.asarray(samples.photo().convert("L")).astype(int) * top // 255
    source = folder / f"depth-{bits}.pgx"
    head = b"PG ML + %d %d %d\n" % (bits, *gray.shape[::-1])
    source.write_bytes(head + gray.astype(">u2" if bits > 8 else "u1").tobytes())
    expected = samples.pixels(Image.fromarray(((gray * 255 + top // 2) // top).astype(numpy.uint8)))
    return Case(compress(source, folder / f"depth-{bits}.j2k"), lambda *_: expected)


def depths(folder):
    samples.photo().convert("1").save(folder / "black-and-white.png")
    one_bit = compress(folder / "black-and-white.png", folder / "depth-1.jp2")
    return [Case(one_bit, lambda *_: samples.pixels(folder / "black-and-white.png")),
            *(gray_with_depth(folder, bits) for bits in (9, 10, 14)),
            *(with_depth(folder, bits, sign) for bits in (8, 12, 16) for sign in "us")]


def ycc_planes(image, step_x, step_y):
    ycc = numpy.asarray(image.convert("YCbCr"))
    return [ycc[..., 0], ycc[::step_y, ::step_x, 1], ycc[::step_y, ::step_x, 2]]


def ycc_case(folder, name, space, step_x, step_y, *options):
    """A file with luma and chroma. A pixel has the chroma of the sample at its left and above it."""
    # opj_compress computes the size of subsampled planes for even sides only.
    image = samples.photo(256, 192)
    planes = ycc_planes(image, step_x, step_y)
    path = raw(folder, name, planes, 8, "u", "-mct", "0", *options)
    if space is not None:
        path = wrap(path.with_suffix(".jp2"), codestream(path), colors(space))
    chroma = [plane.repeat(step_y, 0).repeat(step_x, 1) for plane in planes[1:]]
    expected = samples.pixels(Image.fromarray(numpy.stack([planes[0], *chroma], -1), "YCbCr"))
    return Case(path, lambda *_: expected)


def channels(folder):
    """Files whose boxes say what the channels are, and their pixels."""
    image = numpy.asarray(samples.transparent())
    red, green, blue, alpha = (image[..., channel] for channel in range(4))
    colored = numpy.dstack([image[..., :3] * (image[..., 3:] / 255.0), alpha]).round().astype(int)
    streams = {"rgba": [red, green, blue, alpha], "abgr": [alpha, blue, green, red], "la": [red, alpha],
               "premultiplied": [colored[..., i] for i in range(4)], "five": [red, green, blue, alpha, red]}
    streams = {name: codestream(raw(folder, f"channels-{name}", planes, 8, "u", "-mct", "0"))
               for name, planes in streams.items()}
    rgba = samples.pixels(Image.fromarray(image))
    opaque = samples.pixels(Image.fromarray(image).convert("RGB"))
    gray = samples.pixels(Image.fromarray(image[..., [0, 3]].copy(), "LA"))
    usual = [(0, 0, 1), (1, 0, 2), (2, 0, 3)]
    files = {
        "kinds": ("rgba", rgba, colors(SRGB), kinds(*usual, (3, 1, 0))),
        "no-kinds": ("rgba", rgba, colors(SRGB)),
        "no-colors": ("rgba", rgba, kinds(*usual, (3, 1, 0))),
        "turned": ("abgr", rgba, colors(SRGB), kinds((0, 1, 0), (1, 0, 3), (2, 0, 2), (3, 0, 1))),
        "no-alpha": ("rgba", opaque, colors(SRGB), kinds(*usual, (3, 65535, 65535))),
        "five": ("five", rgba, colors(SRGB), kinds(*usual, (3, 1, 0), (4, 65535, 65535))),
        "gray": ("la", gray, colors(GRAY), kinds((0, 0, 1), (1, 1, 0))),
        "gray-no-kinds": ("la", gray, colors(GRAY)),
    }
    exact = [Case(wrap(folder / f"channels-{name}.jp2", streams[stream], *boxes), lambda *_, pixels=pixels: pixels)
             for name, (stream, pixels, *boxes) in files.items()]
    path = wrap(folder / "premultiplied.jp2", streams["premultiplied"], colors(SRGB), kinds(*usual, (3, 2, 0)))
    return exact, [Case(path, lambda *_: rgba)]


def palettes(folder):
    """Files with palettes: of colors, of colors with alpha, of gray, and of 16 bits."""
    image = samples.photo().quantize(64)
    entries = numpy.asarray(image.getpalette()[:64 * 3]).reshape(64, 3)
    indexes = numpy.asarray(image)
    stream = codestream(raw(folder, "indexes", [indexes], 8))
    alphas = numpy.linspace(0, 255, 64).astype(int)[:, None]
    files = {
        "colors": (entries, 8, colors(SRGB)), "deep": (entries * 257, 16, colors(SRGB)),
        "gray": (alphas, 8, colors(GRAY)),
        "alpha": (numpy.hstack([entries, alphas]), 8, colors(SRGB),
                  kinds((0, 0, 1), (1, 0, 2), (2, 0, 3), (3, 1, 0))),
    }
    for name, (table, bits, *boxes) in files.items():
        path = wrap(folder / f"palette-{name}.jp2", stream, *boxes, palette(table.tolist(), bits))
        shown = (table // 257 if bits == 16 else table)[indexes].astype(numpy.uint8)
        expected = samples.pixels(Image.fromarray(shown[..., 0] if shown.shape[2] == 1 else shown))
        yield Case(path, lambda *_, expected=expected: expected)


def halved(folder):
    """Thumbnails of which OpenJPEG decodes fewer pixels, compared with those of the whole image."""
    smooth = samples.photo(1000, 700).resize((2000, 1400)).filter(ImageFilter.GaussianBlur(4))
    smooth.save(folder / "smooth.png")
    lossy = ["-I", "-r", "4"]
    options = {"lossy": lossy, "tiles": [*lossy, "-t", "256,256"], "odd": [*lossy, "-d", "3,5"],
               "offset": [*lossy, "-d", "64,32", "-T", "64,32"], "lossless": []}

    def expected(width, height):
        return samples.pixels(smooth.resize((width, height), Image.Resampling.LANCZOS))
    cases = [Case(compress(folder / "smooth.png", folder / f"smooth-{name}.jp2", *some), expected, size)
             for name, some in options.items() for size in ("60", "123", "500", "900")]
    return [
        Group("JPEG 2000: halved, lossy", "the averages of a wavelet, not of all pixels", cases[:-4], 20, 0.7),
        Group("JPEG 2000: halved, lossless", "a shorter filter", cases[-4:], 24, 1.6),
    ]


def groups(folder):
    def case(name, source, *options):
        """Files with more options have other names."""
        extension = f"{len(options)}.j2k" if name == "codestream" else f"{len(options)}.jp2"
        path = compress(folder / source, folder / f"{name}-{source}.{extension}", *options)
        return Case(path, functools.partial(by_ffmpeg, path))

    def lossless(name, source, *options):
        path = case(name, source, *options).path
        return Case(path, lambda *_: samples.pixels(folder / source))

    exact = [lossless(name, "photo.png", *options) for name, options in LAYOUTS.items() if "lossy" not in name]
    exact += [lossless("kind", f"{name}.png") for name in ("transparent", "gray", "gray-alpha")]
    lossy = [case(name, f"{source}.png", *LAYOUTS[name], *more) for name in ("lossy", "lossy-layers")
             for source in ("photo", "gray") for more in ([], ["-t", "100,100", "-n", "2"])]
    plain = codestream(exact[0].path)
    icc = Image.open(folder / "profile.png").info["icc_profile"]
    profile = Case(wrap(folder / "profile.jp2", plain, colors(icc)), lambda *_: samples.pixels(folder / "photo.png"))
    known, premultiplied = channels(folder)
    ycc = [ycc_case(folder, "ycc", SYCC, 1, 1), ycc_case(folder, "e-ycc", ESYCC, 1, 1),
           ycc_case(folder, "ycc-420", SYCC, 2, 2), ycc_case(folder, "ycc-422", SYCC, 2, 1),
           ycc_case(folder, "ycc-420-codestream", None, 2, 2), ycc_case(folder, "ycc-tiles", SYCC, 2, 2, "-t", "64,64")]
    others = [encoded_by_ffmpeg(folder, f"ffmpeg-{layout}.{kind}", layout)
              for layout, kind in [("rgb24", "jp2"), ("rgb24", "j2k"), ("gray", "jp2")]]
    others = [Case(path, functools.partial(by_ffmpeg, path)) for path in others]
    again = [Case(path.path, functools.partial(by_openjpeg, path.path)) for path in [*exact[:8], *lossy]]
    return [
        Group("JPEG 2000: lossless", "equal to the source", exact, 0),
        Group("JPEG 2000: lossy", "FFmpeg's own decoder", lossy, 2),
        Group("JPEG 2000: encoded by FFmpeg", "rounding", [*others, subsampled_by_ffmpeg(folder)], 2),
        Group("JPEG 2000: by opj_decompress", "the same library", again, 0),
        Group("JPEG 2000: channels", "equal to the source", known, 0),
        Group("JPEG 2000: premultiplied alpha", "rounding", premultiplied, 1),
        Group("JPEG 2000: palettes", "equal to the source", list(palettes(folder)), 0),
        Group("JPEG 2000: bits of samples", "equal to the source", depths(folder), 0),
        Group("JPEG 2000: luma and chroma", "rounding of the conversion", ycc, 2),
        Group("JPEG 2000: profile of sRGB", "the transform rounds, too", [profile], 3),
        *halved(folder),
    ]
