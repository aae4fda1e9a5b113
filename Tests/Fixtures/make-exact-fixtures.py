#!/usr/bin/env python3
"""Makes files in lossless formats, each with its pixels as decoded by an independent implementation.

Needs Pillow (PyPI: pillow) and the command of libvips (Debian: libvips-tools). Run it from any directory; it writes
next to itself:

  exact/NAME.EXT      one file of each kind that the decoder must support
  exact/NAME.EXT.png  its pixels as RGBA, decoded by Pillow or, where `VIPS` says so, by libvips

The pixels must be the same, so transparent ones are black here. The script prints where Pillow and libvips differ.
"""
import io, math, pathlib, struct, subprocess, sys, tempfile
from PIL import Image, ImageChops, ImageFile

HERE = pathlib.Path(__file__).resolve().parent
EXACT = HERE / "exact"

# The files whose pixels are those of libvips. Pillow paints the canvas around a frame with the first color of the
# palette; browsers and libvips leave it transparent.
VIPS = {"offset.gif", "offset-interlaced.gif"}


def rgba(image):
    """Returns the image as RGBA in which transparent pixels are black."""
    image = image.convert("RGBA")
    clear = Image.new("RGBA", image.size)
    return Image.composite(image, clear, image.getchannel("A").point(lambda a: 255 if a else 0))


def by_pillow(path):
    with Image.open(path) as image:
        return rgba(image)


def by_vips(path):
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "result.png"
        result = subprocess.run(["vips", "copy", path, target], capture_output=True, text=True)
        if result.returncode:
            raise OSError(result.stderr.strip().splitlines()[-1])
        return by_pillow(target)


def attempt(decode, path):
    try:
        return decode(path)
    except Exception as error:  # Any failure of the other decoder is only reported.
        return f"{type(error).__name__}: {error}"


def difference(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return f"Pillow {a if isinstance(a, str) else 'works'}, libvips {b if isinstance(b, str) else 'works'}"
    if a.size != b.size:
        return f"Pillow {a.size}, libvips {b.size}"
    extremes = ImageChops.difference(a, b).getextrema()
    return "" if max(high for _, high in extremes) == 0 else f"Pillow and libvips differ by {[h for _, h in extremes]}"


def keep(name, data, expected=None):
    """Writes a file and its pixels: `expected` if no decoder reads the file, otherwise those of Pillow or libvips."""
    path = EXACT / name
    path.write_bytes(data)
    pillow, vips = attempt(by_pillow, path), attempt(by_vips, path)
    if found := difference(pillow, vips):
        print(f"{name}: {found}")
    golden = rgba(expected) if expected else vips if name in VIPS else pillow
    if isinstance(golden, str):
        print(f"{name}: no pixels")
        return
    golden.save(EXACT / f"{name}.png", optimize=True)


def photo(width, height):
    """Returns a smooth scene with an edge, in which all three channels differ."""
    image = Image.new("RGB", (width, height))
    image.putdata([
        (250, 220, 40) if (x / width - 0.3) ** 2 + (y / height - 0.35) ** 2 < 0.02 else
        (int(128 + 100 * math.sin(5 * x / width + 2 * y / height)),
         int(128 + 90 * math.cos(4 * y / height - 3 * (x / width) ** 2)), int(90 + 130 * y / height))
        for y in range(height) for x in range(width)])
    return image


def saved(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


# GIF


def lzw(indices, bits, *, clear_first=True, end=True, clear_every=None, defer=False):
    """Returns the LZW data of a frame (GIF89a, appendix F). `defer`: never clear the full table."""
    clear, codes, size = 1 << bits, [], bits + 1
    table, width = {}, bits + 1

    def reset():
        nonlocal table, width
        table, width = {(i,): i for i in range(clear)}, bits + 1

    def emit(code):
        codes.append((code, width))

    reset()
    count = clear + 2
    if clear_first:
        emit(clear)
    prefix, since = (), 0
    for index in indices:
        longer = prefix + (index,)
        if longer in table:
            prefix = longer
            continue
        emit(table[prefix])
        since += 1
        if count < 4096:
            table[longer] = count
            # The decoder adds an entry one code later than the encoder.
            if count == 1 << width and width < 12:
                width += 1
            count += 1
        elif not defer:
            emit(clear)
            reset()
            count = clear + 2
        if clear_every and since % clear_every == 0:
            emit(clear)
            reset()
            count = clear + 2
        prefix = (index,)
    emit(table[prefix])
    if end:
        # The decoder has now added an entry for the last code.
        if count == 1 << width and width < 12:
            width += 1
        emit(clear + 1)
    value = shift = 0
    for code, width in codes:
        value |= code << shift
        shift += width
    return value.to_bytes((shift + 7) // 8, "little")


def blocks(data, size=255):
    parts = [data[i:i + size] for i in range(0, len(data), size)]
    return b"".join(bytes([len(part)]) + part for part in parts) + b"\0"


def table(colors):
    return bytes(sample for color in colors for sample in color)


def ramp(count, phase=0):
    return [((37 * i + phase) % 256, (91 * i + 60) % 256, (255 - 23 * i) % 256) for i in range(count)]


def passes(height):
    return [y for start, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(start, height, step)]


def frame(width, height, bits, *, left=0, top=0, local=None, interlaced=False, transparent=None, rows=None,
          block=255, **options):
    """Returns a frame with its control extension, whose indices repeat a pattern with runs."""
    rows = rows or [[(x * y // 7 + x // 3) % (1 << bits) for x in range(width)] for y in range(height)]
    order = passes(height) if interlaced else range(height)
    flags = (0x40 if interlaced else 0) | (0x80 | len(local).bit_length() - 2 if local else 0)
    control = b"" if transparent is None else b"!\xf9\x04" + bytes([1, 5, 0, transparent, 0])
    return (control + b"," + struct.pack("<4HB", left, top, width, height, flags) + table(local or [])
            + bytes([max(2, bits)]) + blocks(lzw([i for y in order for i in rows[y]], max(2, bits), **options), block))


def gif(width, height, *parts, colors=None, background=0, version=b"GIF89a", trailer=b";"):
    flags = 0x80 | len(colors).bit_length() - 2 if colors else 0
    return (version + struct.pack("<HHBBB", width, height, flags, background, 0) + table(colors or [])
            + b"".join(parts) + trailer)


def gifs():
    scene = photo(61, 43)
    flat = scene.quantize(200)
    keep("plain.gif", saved(flat, "GIF", interlace=0))
    keep("interlaced.gif", saved(flat, "GIF", interlace=1))
    keep("animated.gif", saved(flat, "GIF", save_all=True, duration=50, loop=0, append_images=[
        photo(61, 43).transpose(Image.Transpose.ROTATE_180).quantize(64), scene.quantize(16)]))
    spot = scene.convert("RGBA")
    spot.putalpha(Image.linear_gradient("L").resize(scene.size).point(lambda v: 255 if v > 99 else 0))
    keep("transparent.gif", saved(spot, "GIF"))
    keep("gray.gif", saved(scene.convert("L"), "GIF"))
    for bits in range(1, 9):
        keep(f"bits-{bits}.gif", gif(31, 23, frame(31, 23, bits), colors=ramp(1 << bits)))
    for height in (1, 2, 3, 4, 5, 9):
        keep(f"interlaced-{height}.gif", gif(7, height, frame(7, height, 3, interlaced=True), colors=ramp(8)))
    keep("version-87a.gif", gif(31, 23, frame(31, 23, 4), colors=ramp(16), version=b"GIF87a"))
    keep("local-palette.gif", gif(31, 23, frame(31, 23, 4, local=ramp(16, 99)), colors=ramp(8)))
    keep("only-local-palette.gif", gif(31, 23, frame(31, 23, 4, local=ramp(16, 99))))
    keep("transparent-index.gif", gif(31, 23, frame(31, 23, 4, transparent=3), colors=ramp(16)))
    keep("transparent-unused.gif", gif(31, 23, frame(31, 23, 2, transparent=200), colors=ramp(4)))
    keep("offset.gif", gif(40, 30, frame(21, 13, 4, left=9, top=11), colors=ramp(16), background=2))
    keep("offset-transparent.gif", gif(40, 30, frame(21, 13, 4, left=9, top=11, transparent=5), colors=ramp(16)))
    keep("offset-interlaced.gif", gif(40, 30, frame(40, 13, 4, top=17, interlaced=True), colors=ramp(16)))
    keep("beyond-screen.gif", gif(20, 10, frame(31, 23, 4), colors=ramp(16)))
    keep("offset-beyond-screen.gif", gif(30, 30, frame(31, 23, 4, left=5, top=12, transparent=1), colors=ramp(16)))
    keep("no-screen.gif", gif(0, 0, frame(31, 23, 4), colors=ramp(16)))
    keep("no-palette.gif", gif(31, 23, frame(31, 23, 8)))
    keep("short-palette.gif", gif(31, 23, frame(31, 23, 4), colors=ramp(8)))
    netscape = b"!\xff\x0bNETSCAPE2.0" + blocks(b"\1\0\0")
    text = b"!\x01\x0c" + bytes(12) + blocks(b"plain text")
    other = b"!\xfe" + blocks(b"comment " * 100) + b"!\xff\x0bXMP DataXMP" + blocks(b"<x/>" * 99) + text
    unknown = b"!\x42" + blocks(b"unknown")
    keep("extensions.gif", gif(31, 23, netscape, other, unknown, b"!\xfe\0", frame(31, 23, 4, transparent=7),
                               colors=ramp(16)))
    late = frame(31, 23, 4, transparent=7)
    keep("control-then-comment.gif", gif(31, 23, late[:8], other, late[8:], colors=ramp(16)))
    keep("small-blocks.gif", gif(31, 23, frame(31, 23, 4, block=1), colors=ramp(16)))
    noise = [[(x * x * 7 + y * y * 13 + x * y * 5) // 3 % 256 for x in range(120)] for y in range(90)]
    keep("full-table.gif", gif(120, 90, frame(120, 90, 8, rows=noise), colors=ramp(256)))
    keep("deferred-clear.gif", gif(120, 90, frame(120, 90, 8, rows=noise, defer=True), colors=ramp(256)))
    keep("early-clear.gif", gif(31, 23, frame(31, 23, 4, clear_every=3), colors=ramp(16)))
    keep("no-first-clear.gif", gif(31, 23, frame(31, 23, 4, clear_first=False), colors=ramp(16)))
    keep("no-end-code.gif", gif(31, 23, frame(31, 23, 4, end=False), colors=ramp(16)))
    keep("no-trailer.gif", gif(31, 23, frame(31, 23, 4), colors=ramp(16), trailer=b""))
    keep("one-pixel.gif", gif(1, 1, frame(1, 1, 1, transparent=0), colors=ramp(2)))


def main():
    EXACT.mkdir(exist_ok=True)
    for old in EXACT.iterdir():
        old.unlink()
    gifs()


if __name__ == "__main__":
    main()
