#!/usr/bin/env python3
"""Makes files in lossless formats, each with its pixels as decoded by an independent implementation.

Needs Pillow (PyPI: pillow) and the command of libvips (Debian: libvips-tools). Run it from any directory; it writes
next to itself:

  exact/NAME.EXT      one file of each kind that the decoder must support
  exact/NAME.EXT.png  its pixels as RGBA, decoded by Pillow or, where Pillow is wrong, computed here

The pixels must be the same, so transparent ones are black here. The script prints where Pillow and libvips differ. The
pixels of BMP and ICO files are computed here as well: the script fails if Pillow decodes others, unless `wrong` says
why Pillow is wrong.
"""
import io, math, pathlib, struct, subprocess, sys, tempfile
from PIL import Image, ImageChops, ImageFile

HERE = pathlib.Path(__file__).resolve().parent
EXACT = HERE / "exact"


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
    """Writes a file and its pixels: `expected` if Pillow is wrong, otherwise those of Pillow."""
    path = EXACT / name
    path.write_bytes(data)
    pillow, vips = attempt(by_pillow, path), attempt(by_vips, path)
    if found := difference(pillow, vips):
        print(f"{name}: {found}")
    golden = rgba(expected) if expected else pillow
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
    # Around a frame, Pillow paints the canvas with the first color of the palette, and libvips with black. Browsers
    # leave it transparent.
    for name, box, data in (
            ("offset.gif", (9, 11, 30, 24),
             gif(40, 30, frame(21, 13, 4, left=9, top=11), colors=ramp(16), background=2)),
            ("offset-interlaced.gif", (0, 17, 40, 30),
             gif(40, 30, frame(40, 13, 4, top=17, interlaced=True), colors=ramp(16)))):
        canvas = Image.new("RGBA", (40, 30))
        with Image.open(io.BytesIO(data)) as opened:
            canvas.paste(opened.convert("RGBA").crop(box), box)
        keep(name, data, canvas)
    keep("offset-transparent.gif", gif(40, 30, frame(21, 13, 4, left=9, top=11, transparent=5), colors=ramp(16)))
    keep("beyond-screen.gif", gif(20, 10, frame(31, 23, 4), colors=ramp(16)))
    keep("offset-beyond-screen.gif", gif(30, 30, frame(31, 23, 4, left=5, top=12, transparent=1), colors=ramp(16)))
    keep("no-screen.gif", gif(0, 0, frame(31, 23, 4), colors=ramp(16)))
    keep("no-palette.gif", gif(31, 23, frame(31, 23, 8)))
    # Browsers show indices past the end of the palette in black; Pillow shows them as shades of gray.
    rows = [[(x * y // 7 + x // 3) % 16 for x in range(31)] for y in range(23)]
    keep("short-palette.gif", gif(31, 23, frame(31, 23, 4, rows=rows), colors=ramp(8)),
         image(rows, lambda v: ramp(8)[v] if v < 8 else (0, 0, 0)))
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


# BMP


def check(name, data, expected, wrong=None):
    """Writes a file and its pixels, which are `expected`: those of Pillow, unless `wrong` says why Pillow is wrong."""
    path = EXACT / name
    path.write_bytes(data)
    expected, pillow = rgba(expected), attempt(by_pillow, path)
    found = pillow if isinstance(pillow, str) else difference(expected, pillow)
    if bool(found) != bool(wrong):
        sys.exit(f"{name}: {found or 'Pillow is right'}")
    expected.save(EXACT / f"{name}.png", optimize=True)


def image(rows, color):
    """Returns an image: `color` maps the stored value of a pixel to RGB or RGBA; None is transparent."""
    result = Image.new("RGBA", (len(rows[0]), len(rows)))
    result.putdata([(0, 0, 0, 0) if value is None else (*color(value), 255)[:4] for row in rows for value in row])
    return result


def pattern(width, height, limit):
    return [[(x * 7 + y * 13 + x * y // 5) * 0x9E3779B1 % 0xFFFFFFFB % limit for x in range(width)]
            for y in range(height)]


def packed(row, bits, align=4):
    """Returns a row of pixels: small ones from the highest bit down, large ones with the lowest byte first."""
    if bits >= 8:
        data = b"".join(value.to_bytes(bits // 8, "little") for value in row)
    else:
        number = 0
        for value in row:
            number = number << bits | value
        count = (len(row) * bits + 7) // 8
        data = (number << (count * 8 - len(row) * bits)).to_bytes(count, "big")
    return data + bytes(-len(data) % align)


def dib(rows, bits, *, header=40, top_down=False, compression=0, masks=(), colors=(), used=None, data=None,
        doubled=False):
    """Returns the header of a bitmap with its masks and palette, and its pixels."""
    width, height = len(rows[0]), len(rows) * (2 if doubled else 1)
    height = -height if top_down else height
    if data is None:
        data = b"".join(packed(row, bits) for row in (rows if top_down else reversed(rows)))
    if header == 12:
        head = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        used = len(colors) if used is None and len(colors) != 1 << bits else used or 0
        head = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, len(data), 2835, 2835, used, 0)
        if header in (52, 56, 108, 124):
            head += struct.pack("<4I", *masks, *[0] * (4 - len(masks)))
        head = (head + b"BGRs" + bytes(48) + struct.pack("<IIII", 4, 0, 0, 0))[:header]
        if header == 40 and masks:
            head += struct.pack(f"<{len(masks)}I", *masks)
    table = b"".join(bytes(color[::-1]) + (b"" if header == 12 else b"\0") for color in colors)
    return head + table, data


def bmp(rows, bits, *, gap=b"", offset=None, **options):
    head, data = dib(rows, bits, **options)
    offset = 14 + len(head) + len(gap) if offset is None else offset
    return struct.pack("<2sIHHI", b"BM", 14 + len(head) + len(gap) + len(data), 0, 0, offset) + head + gap + data


def scaled(value, mask):
    """Returns the channel at `mask` as 8 bits. Of more bits, the lowest are dropped."""
    if mask == 0:
        return 0
    shift = (mask & -mask).bit_length() - 1
    count = (mask >> shift).bit_length()
    value = (value & mask) >> shift
    return value >> count - 8 if count > 8 else (value * 510 // ((1 << count) - 1) + 1) // 2


def channels(*masks):
    def color(value):
        alpha = scaled(value, masks[3]) if len(masks) > 3 and masks[3] else 255
        return tuple(scaled(value, mask) for mask in masks[:3]) + (alpha,)
    return color


RGB555, RGB565, RGB888 = (0x7C00, 0x3E0, 0x1F), (0xF800, 0x7E0, 0x1F), (0xFF0000, 0xFF00, 0xFF)
ROUNDED = "Pillow rounds channels of 5 and 6 bits down; browsers round to the nearest value"
SHORT = "Pillow does not support the second and third version of the header"
BLACK = "Pillow gives indices past the end of the palette shades of gray; they are black in browsers"
ALPHA = "Pillow knows only some orders of the channels"


def bmps():
    for bits in (1, 2, 4, 8):
        colors = ramp(1 << bits)
        rows = pattern(31, 23, 1 << bits)
        want = image(rows, lambda v: colors[v])
        wrong = "Pillow does not support 2 bits (Windows CE)" if bits == 2 else None
        check(f"bits-{bits}.bmp", bmp(rows, bits, colors=colors), want, wrong)
        check(f"bits-{bits}-top-down.bmp", bmp(rows, bits, colors=colors, top_down=True), want, wrong)
        if bits != 2:
            check(f"bits-{bits}-core.bmp", bmp(rows, bits, colors=colors, header=12), want)
        check(f"bits-{bits}-v5.bmp", bmp(rows, bits, colors=colors, header=124), want, wrong)
    for bits, masks, wrong in ((16, RGB555, ROUNDED), (24, RGB888, None), (32, RGB888, None)):
        rows = pattern(31, 23, 1 << bits)
        want = image(rows, channels(*masks))
        check(f"bits-{bits}.bmp", bmp(rows, bits), want, wrong)
        check(f"bits-{bits}-top-down.bmp", bmp(rows, bits, top_down=True), want, wrong)
        # Without BI_BITFIELDS, the masks in the header do not count (Windows GDI, "BITMAPV5HEADER").
        check(f"bits-{bits}-v5.bmp", bmp(rows, bits, header=124, masks=(1, 2, 4, 0xFF000000)), want, wrong)
    rows = pattern(31, 23, 1 << 24)
    want = image(rows, channels(*RGB888))
    check("bits-24-core.bmp", bmp(rows, 24, header=12), want)
    rows, colors = pattern(31, 23, 256), ramp(256)
    indexed = image(rows, lambda v: colors[v])
    for header in (16, 20, 24, 28, 32, 36, 42, 44, 46, 48, 60, 64):
        wrong = None if header == 64 else "Pillow does not support shortened headers of OS/2"
        check(f"os2-{header}.bmp", bmp(rows, 8, colors=colors, header=header), indexed, wrong)
    for header, wrong in ((52, SHORT), (56, SHORT), (108, None)):
        check(f"header-{header}.bmp", bmp(rows, 8, colors=colors, header=header), indexed, wrong)

    # BI_BITFIELDS (3) and BI_ALPHABITFIELDS (6)
    for name, bits, header, compression, masks, wrong in (
            ("565", 16, 40, 3, RGB565, ROUNDED), ("555", 16, 40, 3, RGB555, ROUNDED),
            ("565-v4", 16, 108, 3, RGB565, ROUNDED), ("4444", 16, 56, 3, (0xF00, 0xF0, 0xF, 0xF000), ALPHA),
            ("4444-after-header", 16, 40, 6, (0xF00, 0xF0, 0xF, 0xF000), ALPHA),
            ("1555", 16, 124, 3, RGB555 + (0x8000,), ALPHA), ("332", 16, 40, 3, (0xE0, 0x1C, 3), ALPHA),
            ("888", 32, 40, 3, RGB888, None), ("888-52", 32, 52, 3, RGB888, SHORT),
            ("101010", 32, 40, 3, (0x3FF00000, 0xFFC00, 0x3FF), ALPHA),
            ("8888-v4", 32, 108, 3, RGB888 + (0xFF000000,), None),
            ("8888-v5", 32, 124, 3, RGB888 + (0xFF000000,), None),
            ("8888-after-header", 32, 40, 6, RGB888 + (0xFF000000,), "Pillow ignores the alpha mask after the header"),
            ("8888-reversed", 32, 124, 3, (0xFF000000, 0xFF0000, 0xFF00, 0xFF), None),
            ("8888-rgba", 32, 124, 3, (0xFF, 0xFF00, 0xFF0000, 0xFF000000), None),
            ("no-green", 32, 40, 3, (0xFF, 0, 0xFF00), ALPHA),
            ("masks-too-wide", 16, 40, 3, (0xFF007C00, 0x3E0, 0x1F), ALPHA)):
        rows = pattern(31, 23, 1 << bits)
        want = image(rows, channels(*[mask & (1 << bits) - 1 for mask in masks]))
        check(f"fields-{name}.bmp", bmp(rows, bits, header=header, compression=compression, masks=masks), want, wrong)
    rows = pattern(31, 23, 1 << 24)
    check("alpha-zero.bmp", bmp(rows, 32, header=124, compression=3, masks=RGB888 + (0xFF000000,)),
          image(rows, channels(*RGB888)), "Pillow does not ignore alpha that is zero everywhere")

    # Palettes
    rows, colors = pattern(31, 23, 16), ramp(16)
    for bits in (4, 8):
        check(f"short-palette-{bits}.bmp", bmp(rows, bits, colors=colors[:9]),
              image(rows, lambda v: colors[v] if v < 9 else (0, 0, 0)), BLACK)
    check("palette-overlaps.bmp", bmp(rows, 4, colors=colors[:9], used=16),
          image(rows, lambda v: colors[v] if v < 9 else (0, 0, 0)), "Pillow reads colors from the pixels")
    check("large-palette.bmp", bmp(rows, 4, colors=ramp(20), used=20), image(rows, lambda v: colors[v]))
    check("huge-palette.bmp", bmp(rows, 4, colors=colors, used=0xFFFFFFFF), image(rows, lambda v: colors[v]),
          "Pillow does not limit the size of the palette")
    check("gap.bmp", bmp(rows, 4, colors=colors, gap=b"gap"), image(rows, lambda v: colors[v]))
    check("palette-24.bmp", bmp(pattern(31, 23, 1 << 24), 24, colors=colors), want := image(
        pattern(31, 23, 1 << 24), channels(*RGB888)))
    check("no-padding.bmp", bmp(pattern(31, 23, 1 << 24), 24)[:-3], want)
    check("one-pixel.bmp", bmp([[0x123456]], 24), image([[0x123456]], channels(*RGB888)))
    for height in (15, 16, 17, 33):
        rows = pattern(5, height, 1 << 24)
        check(f"height-{height}.bmp", bmp(rows, 24), image(rows, channels(*RGB888)))

    # RLE8 and RLE4
    colors = ramp(16)
    # Their color is undefined. They are transparent in Firefox and black in Chromium.
    skipped = "Pillow gives skipped pixels the first color"
    rows = [[x * (y % 4) // 3 % 16 for x in range(31)] for y in range(23)]
    want = image(rows, lambda v: colors[v])
    for bits, kind in ((8, 1), (4, 2)):
        def runs(name, rows, data, wrong=None, **options):
            check(f"rle{bits}{name}.bmp", bmp(rows, bits, compression=kind, colors=colors, data=data, **options),
                  image(rows, lambda v: colors[v]), wrong)

        def seen(rows):
            return b"\0\0".join(encoded([v for v in row if v is not None], bits) for row in reversed(rows))

        runs("", rows, seen(rows) + b"\0\1")
        runs("-literal", rows, b"\0\0".join(literal(row, bits) for row in reversed(rows)) + b"\0\1",
             "Pillow drops the last of an odd number of literal pixels of 4 bits" if bits == 4 else None)
        runs("-no-end", rows, seen(rows))
        runs("-os2", rows, seen(rows) + b"\0\1", header=64)
        runs("-too-long", rows, b"\0\0".join(encoded(row, bits) + b"\x09\x11\0\3\x11\x11" + bytes(bits == 8) * 2
                                            for row in reversed(rows)) + b"\0\1",
             "Pillow continues literal pixels in the next row")
        gaps = [[None if x > y + 5 else v for x, v in enumerate(row)] for y, row in enumerate(rows)]
        runs("-short-rows", gaps, seen(gaps) + b"\0\1", skipped)
        half = [[None] * 31 if y < 9 else row for y, row in enumerate(rows)]
        runs("-early-end", half, seen(half[9:]) + b"\0\1", skipped)
        # From the bottom row up: a run, a move by 7 columns, a run, a move by 2 columns and 3 rows, a run.
        moved = [[None] * 31 for _ in range(23)]
        moved[22][2:10], moved[22][17:20], moved[19][22:31] = [3] * 8, [7] * 3, [9] * 9
        both = 17 if bits == 4 else 1
        runs("-moves", moved,
             bytes((0, 2, 2, 0, 8, 3 * both, 0, 2, 7, 0, 3, 7 * both, 0, 2, 2, 3, 9, 9 * both, 0, 1)), skipped)
    alternating = [[3 if x % 2 else 12 for x in range(31)] for _ in range(5)]
    data = b"\0\0".join([b"\x1f\xc3"] * 5) + b"\0\1"
    check("rle4-two-colors.bmp", bmp(alternating, 4, compression=2, colors=colors, data=data),
          image(alternating, lambda v: colors[v]))


def encoded(row, bits):
    """Returns a row as runs of equal pixels."""
    data, start = b"", 0
    for x in range(1, len(row) + 1):
        if x == len(row) or row[x] != row[start]:
            data += bytes((x - start, row[start] * (1 if bits == 8 else 17)))
            start = x
    return data


def literal(row, bits):
    """Returns a row as literal pixels, in parts of odd and even length, and a run for the last ones."""
    data = b""
    for start, end in ((0, 3), (3, 10), (10, 15), (15, 28)):
        data += bytes((0, end - start)) + packed(row[start:end], bits, align=2)
    return data + encoded(row[28:], bits)


# ICO


def icon(*images, kind=1, sizes=None, start=0):
    """Returns an icon: each image is its width, height, number of bits and bytes."""
    offset, directory, data = 6 + 16 * len(images) + start, b"", bytes(start)
    for index, (width, height, bits, content) in enumerate(images):
        width, height = sizes[index] if sizes else (width, height)
        directory += struct.pack("<BBBBHHII", width & 255, height & 255, 0, 0, 1, bits, len(content), offset)
        offset += len(content)
        data += content
    return struct.pack("<HHH", 0, kind, len(images)) + directory + data


def entry(rows, bits, hidden=None, **options):
    """Returns a bitmap of an icon with its mask, which hides the pixels for which `hidden` is true."""
    head, data = dib(rows, bits, doubled=True, **options)
    mask = b"" if hidden is None else b"".join(
        packed([int(hidden(x, y)) for x in range(len(rows[0]))], 1) for y in reversed(range(len(rows))))
    return len(rows[0]), len(rows), bits, head + data + mask


def png(width, height, mode="RGBA"):
    scene = photo(width, height).convert(mode)
    if mode == "RGBA":
        scene.putalpha(Image.linear_gradient("L").resize(scene.size))
    return (width, height, 32, saved(scene, "PNG")), scene


def icons():
    def hidden(x, y):
        return (x + 2 * y) % 5 == 0

    def masked(rows, color):
        return image([[None if hidden(x, y) else v for x, v in enumerate(row)] for y, row in enumerate(rows)], color)

    for bits in (1, 4, 8):
        colors, rows = ramp(1 << bits), pattern(19, 21, 1 << bits)
        check(f"bits-{bits}.ico", icon(entry(rows, bits, hidden, colors=colors)), masked(rows, lambda v: colors[v]))
    rows, colors = pattern(19, 21, 9), ramp(9)
    check("short-palette.ico", icon(entry(rows, 4, hidden, colors=colors)), masked(rows, lambda v: colors[v]))
    rows = pattern(19, 21, 1 << 16)
    check("bits-16.ico", icon(entry(rows, 16, hidden)), masked(rows, channels(*RGB555)), ROUNDED)
    rows = pattern(19, 21, 1 << 24)
    full = masked(rows, channels(*RGB888))
    check("bits-24.ico", icon(entry(rows, 24, hidden)), full)
    check("core.ico", icon(entry(rows, 24, hidden, header=12)), full)
    check("cursor.cur", icon(entry(rows, 24, hidden), kind=2), full,
          "Pillow ignores the masks of cursors")
    check("bits-32-mask.ico", icon(entry(rows, 32, hidden)), full,
          "All pixels are transparent for Pillow; browsers use the mask if alpha is never set")
    rows = pattern(19, 21, 1 << 32)
    want = image(rows, channels(*RGB888, 0xFF000000))
    check("bits-32.ico", icon(entry(rows, 32, lambda x, y: True)), want)
    check("no-mask.ico", icon(entry(rows, 32)), want)
    check("after-gap.ico", icon(entry(rows, 32), start=9), want)
    check("wrong-size.ico", icon(entry(rows, 32), sizes=[(48, 48)]), want)
    for mode in ("RGBA", "RGB", "L", "P"):
        item, scene = png(40, 40, mode)
        check(f"png-{mode.lower()}.ico", icon(item), scene)
    small, _ = png(16, 16)
    large, scene = png(300, 300)
    check("large-png.ico", icon(small, large, small, sizes=[(16, 16), (0, 0), (16, 16)]), scene)
    rows = pattern(32, 32, 1 << 32)
    want = image(rows, channels(*RGB888, 0xFF000000))
    colors, flat = ramp(16), pattern(32, 32, 16)
    shallow = entry(flat, 4, hidden, colors=colors)
    check("depths.ico", icon(shallow, entry(rows, 32), shallow), want)
    check("sizes.ico", icon(entry(pattern(16, 16, 1 << 32), 32), entry(rows, 32), png(24, 24)[0]), want)


def main():
    EXACT.mkdir(exist_ok=True)
    for old in EXACT.iterdir():
        old.unlink()
    gifs()
    bmps()
    icons()


if __name__ == "__main__":
    main()
