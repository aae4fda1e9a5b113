#!/usr/bin/env python3
"""Draws the files in Examples/images: app icons and "photos" of many kinds, identical on every run.

Needs Pillow (Debian: python3-pil).
"""
import colorsys, math, pathlib, struct, zlib
from PIL import Image, ImageDraw, ImageFilter

IMAGES = pathlib.Path(__file__).resolve().parent / "images"


def noise(x, y, seed):
    """A number from 0 to 1 that depends only on the arguments."""
    value = (x * 374761393 + y * 668265263 + seed * 2147483647) & 0xFFFFFFFF
    value = ((value ^ (value >> 13)) * 1274126177) & 0xFFFFFFFF
    return (value ^ (value >> 16)) / 0xFFFFFFFF


def ridge(u, seed, rough):
    """The height of a chain of hills at u, from about -1 to 1."""
    return sum(math.sin(u * 2 ** k * rough + noise(k, seed, 7) * 6.28) / 1.8 ** k for k in range(1, 7)) * 0.7


def hue(h, s, v):
    return tuple(int(255 * c) for c in colorsys.hsv_to_rgb(h % 1, s, v))


def gradient(size, top, bottom):
    column = Image.new("RGB", (1, size[1]))
    column.putdata([
        tuple(int(a + (b - a) * y / size[1]) for a, b in zip(top, bottom)) for y in range(size[1])
    ])
    return column.resize(size)


def landscape(width, height, seed, sky, ground):
    """A landscape: sky, sun, five chains of hills that fade with distance, and some grain."""
    image = gradient((width, height), hue(sky, 0.75, 0.65), hue(sky - 0.45, 0.35, 1))
    draw = ImageDraw.Draw(image)
    sun, radius = (int(width * (0.25 + 0.5 * noise(1, 2, seed))), int(height * 0.32)), height // 11
    for ring in range(6, 0, -1):
        shade = tuple(int(a + (b - a) * (7 - ring) / 7) for a, b in zip(image.getpixel(sun), (255, 244, 214)))
        draw.ellipse([c + s * radius * ring / 2.5 for s in (-1, 1) for c in sun], fill=shade)
    for layer in range(5):
        base, far = height * (0.52 + 0.1 * layer), 1 - layer / 5
        points = [
            (x, base + ridge(x / width * 3 + layer * 5, seed + layer, 1.3) * height * 0.05 * (1 + layer / 3))
            for x in range(0, width + 4, 4)
        ]
        color = hue(ground + 0.06 * far, 0.35 + 0.3 * (1 - far), 0.25 + 0.5 * far)
        draw.polygon([(0, height), *points, (width, height)], fill=color)
    return grained(image.filter(ImageFilter.GaussianBlur(0.6)), seed)


def grained(image, seed):
    tile = Image.new("L", (64, 64))
    tile.putdata([int(120 + 16 * noise(x, y, seed)) for y in range(64) for x in range(64)])
    grain = Image.new("L", image.size)
    for y in range(0, image.height, 64):
        for x in range(0, image.width, 64):
            grain.paste(tile, (x, y))
    return Image.blend(image, Image.merge(image.mode, [grain] * len(image.mode)), 0.06)


def rounded(size, color):
    """The tile of an app icon with rounded corners, four times larger than needed to smooth the edges."""
    big = size * 4
    mask = Image.new("L", (big, big))
    ImageDraw.Draw(mask).rounded_rectangle([big // 16, big // 16, big * 15 // 16, big * 15 // 16], big // 5, fill=255)
    tile = gradient((big, big), hue(color, 0.55, 0.98), hue(color + 0.06, 0.85, 0.72)).convert("RGBA")
    tile.putalpha(mask)
    return tile


def icon(size, color, paint):
    tile = rounded(size, color)
    layer = Image.new("RGBA", tile.size)
    paint(ImageDraw.Draw(layer), tile.size[0])
    return Image.alpha_composite(tile, layer).resize((size, size), Image.Resampling.LANCZOS)


WHITE = (255, 255, 255, 240)


def compass(draw, s):
    draw.ellipse([s * 0.22, s * 0.22, s * 0.78, s * 0.78], outline=WHITE, width=s // 24)
    draw.polygon([(s * 0.64, s * 0.36), (s * 0.54, s * 0.56), (s * 0.44, s * 0.46)], fill=(255, 90, 80, 255))
    draw.polygon([(s * 0.36, s * 0.64), (s * 0.54, s * 0.56), (s * 0.44, s * 0.46)], fill=WHITE)


def notes(draw, s):
    for x, y in ((0.34, 0.66), (0.62, 0.6)):
        draw.ellipse([s * (x - 0.08), s * (y - 0.06), s * (x + 0.08), s * (y + 0.06)], fill=WHITE)
        draw.rectangle([s * (x + 0.05), s * (y - 0.36), s * (x + 0.08), s * y], fill=WHITE)
    draw.polygon([(s * 0.39, s * 0.3), (s * 0.7, s * 0.24), (s * 0.7, s * 0.34), (s * 0.39, s * 0.4)], fill=WHITE)


def ledger(draw, s):
    draw.rounded_rectangle([s * 0.26, s * 0.2, s * 0.74, s * 0.8], s // 24, fill=WHITE)
    for row in range(5):
        width = 0.2 + 0.2 * noise(row, 3, 1)
        top, bottom = 0.29 + row * 0.1, 0.32 + row * 0.1
        draw.rectangle([s * 0.33, s * top, s * (0.33 + width), s * bottom], fill=(90, 110, 160, 255))


def bubble(draw, s):
    draw.ellipse([s * 0.2, s * 0.24, s * 0.8, s * 0.68], fill=WHITE)
    draw.polygon([(s * 0.3, s * 0.6), (s * 0.46, s * 0.66), (s * 0.28, s * 0.8)], fill=WHITE)


def leaf(draw, s):
    arc = [(s * (0.32 + 0.4 * t), s * (0.7 - 0.4 * t), s * 0.17 * math.sin(math.pi * t ** 0.8))
           for t in (i / 40 for i in range(41))]
    draw.polygon([(x - w, y - w) for x, y, w in arc] + [(x + w, y + w) for x, y, w in reversed(arc)], fill=WHITE)
    draw.line([s * 0.26, s * 0.76, s * 0.6, s * 0.42], fill=(40, 130, 70, 255), width=s // 40)


def waves(draw, s):
    for row in range(3):
        points = [(s * x / 100, s * (0.36 + row * 0.14 + 0.04 * math.sin(x / 7))) for x in range(22, 79)]
        draw.line(points, fill=WHITE, width=s // 18, joint="curve")


def save(image, name, **options):
    image.save(IMAGES / name, **options)


def photos():
    save(landscape(1280, 960, 1, 0.58, 0.36), "fjord.jpg", quality=80)
    save(landscape(1024, 683, 2, 0.62, 0.28), "dunes.jpg", quality=78, progressive=True)
    save(landscape(800, 600, 3, 0.55, 0.4).convert("L"), "darkroom.jpg", quality=80)
    save(landscape(640, 427, 4, 0.6, 0.3).convert("CMYK"), "press.jpg", quality=80)
    exif = Image.Exif()
    exif[0x0112] = 6
    upright = landscape(600, 800, 5, 0.57, 0.33)
    save(upright.transpose(Image.Transpose.ROTATE_90), "tower.jpg", quality=80, exif=exif)
    save(landscape(900, 300, 6, 0.52, 0.45), "panorama.jpg", quality=80, subsampling=0)


def icons():
    save(icon(256, 0.58, compass), "compass.png", optimize=True)
    save(icon(256, 0.95, notes), "songbook.png", optimize=True)
    save(icon(180, 0.3, leaf), "greenhouse.png", optimize=True)
    bubbles = icon(128, 0.5, bubble)
    opaque = Image.alpha_composite(Image.new("RGBA", bubbles.size, "white"), bubbles).convert("RGB")
    save(opaque, "chatter.png", optimize=True)
    save(icon(192, 0.54, waves).quantize(64, method=Image.Quantize.FASTOCTREE), "tides.png", optimize=True)
    gray = icon(160, 0.1, ledger)
    save(Image.merge("LA", (gray.convert("L"), gray.getchannel("A"))), "ledger.png", optimize=True)


def odd_icons():
    """A 16-bit relief map, a checkerboard of four colors, and an interlaced radar."""
    relief = Image.new("I;16", (128, 128))
    for y in range(128):
        for x in range(128):
            height = ridge(x / 90, 3, 1.1) + ridge(y / 70, 8, 1.4) + 0.5 * ridge((x + y) / 60, 5, 1)
            relief.putpixel((x, y), max(0, min(65535, int(32768 + 14000 * height))))
    save(relief, "relief.png")
    board = Image.new("P", (120, 120))
    board.putpalette([38, 70, 83, 42, 157, 143, 233, 196, 106, 231, 111, 81])
    board.putdata([(x // 15 + y // 15) % 2 + 2 * (((x - 60) ** 2 + (y - 60) ** 2) < 1600)
                   for y in range(120) for x in range(120)])
    save(board, "checkers.png", bits=2)
    save_interlaced(icon(96, 0.75, compass), "radar.png")


def save_interlaced(image, name):
    """Writes an Adam7 interlaced PNG, which Pillow cannot do (PNG Specification, section 8.2)."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    data = b""
    passes = (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)
    for x0, y0, dx, dy in passes:
        for y in range(y0, image.height, dy):
            data += b"\0" + b"".join(bytes(image.getpixel((x, y))) for x in range(x0, image.width, dx))
    header = struct.pack(">IIBBBBB", image.width, image.height, 8, 6, 0, 0, 1)
    (IMAGES / name).write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


def main():
    IMAGES.mkdir(exist_ok=True)
    for old in IMAGES.iterdir():
        old.unlink()
    photos()
    icons()
    odd_icons()


if __name__ == "__main__":
    main()
