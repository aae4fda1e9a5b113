#!/usr/bin/env python3
"""Makes the images that the tests read, and renderings of each by an independent implementation.

Needs Pillow and libjpeg-turbo's tools (Debian: python3-pil, libjpeg-turbo-progs). Run it from any directory; it writes
next to itself:

  pictures/NAME.jpg|png        one file of each kind that the decoder must support
  references/NAME.EXT-WxH.png  Pillow's rendering: full decode, EXIF applied, ICC to sRGB, LANCZOS to W x H
  tiny/NAME.jpg|png            one file of each kind that is small enough to damage at every byte
  bombs/NAME.jpg               small files that repeat a scan of millions of pixels many times

The output is deterministic: the same version of Pillow gives the same bytes.
"""
import io, math, pathlib, struct, subprocess, zlib
from PIL import Image, ImageChops, ImageCms, ImageOps

HERE = pathlib.Path(__file__).resolve().parent
PICTURES, REFERENCES, TINY, BOMBS = HERE / "pictures", HERE / "references", HERE / "tiny", HERE / "bombs"
BOX = (48, 48)


def photo(width, height):
    """Returns a smooth scene with some edges and texture, in which all three channels differ."""
    pixels = []
    for y in range(height):
        for x in range(width):
            u, v = x / width, y / height
            r = 128 + 100 * math.sin(5 * u + 2 * v)
            g = 128 + 90 * math.cos(4 * v - 3 * u * u)
            b = 90 + 130 * v
            if (u - 0.3) ** 2 + (v - 0.35) ** 2 < 0.02:
                r, g, b = 250, 220, 40
            if v > 0.75 and int(u * 12) % 2 == 0:
                r, g, b = 30, 70 + 60 * u, 35
            grain = ((x * 7919 + y * 104729) * 2654435761 >> 7) % 13 - 6
            pixels.append(tuple(max(0, min(255, int(c + grain))) for c in (r, g, b)))
    image = Image.new("RGB", (width, height))
    image.putdata(pixels)
    return image


def alpha(width, height):
    """Returns an alpha channel that is opaque in a disc with a soft edge and transparent outside."""
    image = Image.new("L", (width, height))
    radius = min(width, height) * 0.42
    image.putdata([
        max(0, min(255, int(255 * (radius - math.hypot(x - width / 2, y - height / 2)) / 6 + 128)))
        for y in range(height) for x in range(width)
    ])
    return image


def icon(width, height):
    image = photo(width, height)
    image.putalpha(alpha(width, height))
    # The color of transparent pixels must not bleed into visible ones.
    hidden = Image.new("RGBA", image.size, (255, 0, 255, 0))
    return Image.composite(image, hidden, image.getchannel("A").point(lambda a: 255 if a else 0))


def write(name, image, **options):
    path = PICTURES / name
    image.save(path, **options)
    return path


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(name, width, height, depth, color, rows, *, extra=b"", interlace=False):
    """Writes a PNG of any kind byte by byte. `rows` are lists of sample tuples."""
    def pack(row):
        bits = "".join(format(s, f"0{depth}b") for pixel in row for s in pixel)
        bits += "0" * (-len(bits) % 8)
        return b"\0" + bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))

    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    data = b""
    for x0, y0, dx, dy in (passes if interlace else [(0, 0, 1, 1)]):
        for row in rows[y0::dy]:
            if row[x0::dx]:
                data += pack(row[x0::dx])
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlace))
    (PICTURES / name).write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(data, 9))
        + chunk(b"IEND", b""))


def upright_srgb(path):
    """Returns the image as displayed, as RGB, RGBA, L or LA."""
    image = Image.open(path)
    profile = image.info.get("icc_profile")
    image = ImageOps.exif_transpose(image)
    if profile and image.mode in ("RGB", "L", "CMYK"):
        image = ImageCms.profileToProfile(
            image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB"), outputMode="RGB")
    if image.mode == "CMYK":
        image = image.convert("RGB")
    if image.mode == "1":
        image = image.convert("L")
    return image


def reference(path, image=None):
    image = image or upright_srgb(path)
    width, height = image.size
    scale = min(BOX[0] / width, BOX[1] / height)
    size = max(1, math.floor(width * scale + 0.5)), max(1, math.floor(height * scale + 0.5))
    result = image.resize(size, Image.Resampling.LANCZOS)
    # Profiles that Pillow creates contain the current time.
    result.save(REFERENCES / f"{path.name}-{size[0]}x{size[1]}.png", optimize=True, icc_profile=None)


def filters():
    """Writes the references for the other filters, `filter-NAME.png`, and for linear light, `filter-linear.png`."""
    scene = photo(203, 149)
    scene.save(PICTURES / "scene.png", optimize=True)
    reference(PICTURES / "scene.png")
    size = (48, 35)
    for name, resampling in (("cubic", Image.Resampling.BICUBIC), ("box", Image.Resampling.BOX)):
        scene.resize(size, resampling).save(REFERENCES / f"filter-{name}.png", optimize=True)
    mitchell(scene, size).save(REFERENCES / "filter-mitchell.png", optimize=True)
    # Pillow's floating-point mode, because eight bits are too few for linear light.
    to_light = lambda s: s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4
    to_sample = lambda l: l * 12.92 if l <= 0.0031308 else 1.055 * l ** (1 / 2.4) - 0.055
    bands = []
    for band in scene.split():
        light = Image.new("F", scene.size)
        light.putdata([to_light(s / 255) for s in band.getdata()])
        small = light.resize(size, Image.Resampling.LANCZOS)
        result = Image.new("L", size)
        result.putdata([round(255 * to_sample(min(1, max(0, l)))) for l in small.getdata()])
        bands.append(result)
    Image.merge("RGB", bands).save(REFERENCES / "filter-linear.png", optimize=True)


def mitchell(image, size):
    """Resizes with the Mitchell-Netravali cubic (B = C = 1/3), which Pillow lacks, one axis at a time."""
    def weight(x):
        x = abs(x)
        if x < 1:
            return (7 * x ** 3 - 12 * x ** 2 + 16 / 3) / 6
        return (-7 / 3 * x ** 3 + 12 * x ** 2 - 20 * x + 32 / 3) / 6 if x < 2 else 0

    def scaled(lines, count):
        scale = len(lines) / count
        result = []
        for i in range(count):
            center = (i + 0.5) * scale
            near = [(k, weight((k + 0.5 - center) / scale))
                    for k in range(len(lines)) if abs(k + 0.5 - center) < 2 * scale]
            total = sum(w for _, w in near)
            result.append([sum(lines[k][j] * w for k, w in near) / total for j in range(len(lines[0]))])
        return result

    bands = []
    for band in image.split():
        data, width = list(band.getdata()), image.width
        rows = scaled([data[y * width:(y + 1) * width] for y in range(image.height)], size[1])
        columns = scaled([list(column) for column in zip(*rows)], size[0])
        result = Image.new("L", size)
        result.putdata([max(0, min(255, round(columns[x][y]))) for y in range(size[1]) for x in range(size[0])])
        bands.append(result)
    return Image.merge("RGB", bands)


def jpegs():
    scene = photo(203, 149)
    yield write("rgb-420.jpg", scene, quality=90, subsampling=2)
    yield write("rgb-444.jpg", scene, quality=90, subsampling=0)
    yield write("rgb-422.jpg", scene, quality=90, subsampling=1)
    yield write("progressive.jpg", scene, quality=90, progressive=True)
    yield write("gray.jpg", scene.convert("L"), quality=90)
    yield write("large-shrunk.jpg", photo(811, 605), quality=85)
    yield write("large-422.jpg", photo(811, 605), quality=85, subsampling=1)
    yield write("tall.jpg", photo(37, 811), quality=90)
    yield write("cmyk.jpg", scene.convert("CMYK"), quality=92)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        yield write(f"orientation-{orientation}.jpg", photo(120, 80), quality=88, exif=exif)
    yield write("adobe-rgb.jpg", scene, quality=92, icc_profile=matrix_profile(
        [(0.6400, 0.3300), (0.2100, 0.7100), (0.1500, 0.0600)], 563 / 256))
    # The most common profile on the web: sRGB as primaries and a curve.
    yield write("srgb-profile.jpg", scene, quality=92, icc_profile=matrix_profile(
        [(0.6400, 0.3300), (0.3000, 0.6000), (0.1500, 0.0600)], None))
    yield write("gray-profile.jpg", scene.convert("L"), quality=92, icc_profile=gray_profile(1.8))
    yield write("cmyk-profile.jpg", scene.convert("CMYK"), quality=92, icc_profile=ink_profile())


def encoded(image, *options):
    """Encodes a JPEG with libjpeg-turbo's cjpeg, which writes kinds that Pillow does not."""
    file = io.BytesIO()
    image.save(file, "PPM")
    command = ["cjpeg", "-quality", "90", *options]
    return subprocess.run(command, input=file.getvalue(), stdout=subprocess.PIPE, check=True).stdout


def written(name, data):
    path = PICTURES / name
    path.write_bytes(data)
    return path


def segments(data):
    """Yields the offset, marker and end of each segment up to the first scan."""
    offset = 2
    while True:
        end = offset + 2 + struct.unpack_from(">H", data, offset + 2)[0]
        yield offset, data[offset + 1], end
        if data[offset + 1] == 0xDA:
            return
        offset = end


def odd_jpegs():
    """Yields kinds of JPEG that Pillow reads but does not write."""
    scene = photo(203, 149)
    yield written("rgb-411.jpg", encoded(scene, "-sample", "4x1"))
    yield written("rgb-440.jpg", encoded(scene, "-sample", "1x2"))
    yield written("rgb-410.jpg", encoded(scene, "-sample", "4x2"))
    yield written("rgb-2x4.jpg", encoded(scene, "-sample", "2x4"))
    yield written("rgb-transform-0.jpg", encoded(scene, "-rgb"))
    yield written("arithmetic.jpg", encoded(scene, "-arithmetic"))
    yield written("arithmetic-progressive.jpg", encoded(scene, "-arithmetic", "-progressive"))
    yield written("restarts.jpg", encoded(scene, "-restart", "1"))
    for name in ("large-shrunk", "large-444", "large-gray"):
        if name != "large-shrunk":
            image = photo(811, 605)
            image = image.convert("L") if name == "large-gray" else image
            yield written(f"{name}.jpg", encoded(image, "-sample", "1x1"))
        # The same coefficients in another order, so the thumbnails must be the same to the last bit.
        command = ["jpegtran", "-progressive", PICTURES / f"{name}.jpg"]
        again = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        yield written(f"{name}-progressive.jpg", again)
    yield write("multi-picture.jpg", scene, format="MPO", save_all=True, append_images=[photo(60, 40)], quality=90)
    yield ycck("ycck.jpg", scene)

    # A profile in two segments, the later one first.
    whole = PICTURES.joinpath("adobe-rgb.jpg").read_bytes()
    start, end = next((start, end) for start, marker, end in segments(whole) if marker == 0xE2)
    profile = whole[start + 18:end]
    parts = [b"ICC_PROFILE\0\2\2" + profile[200:], b"ICC_PROFILE\0\1\2" + profile[:200]]
    both = b"".join(b"\xff\xe2" + struct.pack(">H", 2 + len(part)) + part for part in parts)
    yield written("adobe-rgb-split.jpg", whole[:start] + both + whole[end:])


def ycck(name, scene):
    """Writes Photoshop's variant of CMYK: three inks as YCbCr, then black, all inverted."""
    inks = scene.convert("CMYK")
    # A black plane that affects the result.
    cyan, magenta, yellow, _ = inks.split()
    black = ImageChops.invert(scene.convert("L")).point(lambda v: v // 3)
    inks = Image.merge("CMYK", (cyan, magenta, yellow, black))
    # libjpeg reads C as 255 - R; inverted, R is the ink itself (ycck_cmyk_convert in libjpeg's jdcolor.c).
    y, cb, cr = Image.merge("RGB", (cyan, magenta, yellow)).convert("YCbCr").split()
    # Pillow inverts the planes when it writes CMYK.
    planes = [ImageChops.invert(plane) for plane in (y, cb, cr)] + [black]
    file = io.BytesIO()
    Image.merge("CMYK", planes).save(file, "JPEG", quality=95)
    data = bytearray(file.getvalue())
    start = next(start for start, marker, _ in segments(data) if marker == 0xEE)
    assert data[start + 4:start + 9] == b"Adobe" and data[start + 15] == 0
    data[start + 15] = 2
    path = written(name, bytes(data))
    difference = ImageChops.difference(Image.open(path).convert("RGB"), inks.convert("RGB"))
    assert max(sum(v * n for v, n in enumerate(band.histogram())) / (203 * 149) for band in difference.split()) < 3
    return path


def flawed():
    """Yields files with a harmless flaw, each with the intact file that it must look like."""
    sound = PICTURES / "rgb-420.jpg"
    data = sound.read_bytes()
    yield written("garbage-before.jpg", b"\r\n\xef\xbb\xbf\n" + data), sound
    yield written("no-end-mark.jpg", data[:-2]), sound
    # Some cameras write zeros for Ss, Se, Ah and Al, which means that the scan has only DC coefficients.
    end = next(end for _, marker, end in segments(data) if marker == 0xDA)
    yield written("odd-sos.jpg", data[:end - 3] + b"\0\0\0" + data[end:]), sound
    exif = b"\xff\xe1" + struct.pack(">H", 18) + b"Exif\0\0II*\0\xff\xff\xff\x7f\0\0"
    yield written("broken-exif.jpg", data[:2] + exif + data[2:]), sound
    sound = PICTURES / "rgb.png"
    data = sound.read_bytes()
    text = chunk(b"tEXt", b"Title\0text")
    yield written("bad-text-crc.png", data[:33] + text[:-1] + bytes([text[-1] ^ 1]) + data[33:]), sound
    profile = chunk(b"iCCP", b"p\0\0" + zlib.compress(b"nonsense" * 20))
    yield written("broken-profile.png", data[:33] + profile + data[33:]), sound
    yield written("no-end-chunk.png", data[:-12]), sound


def matrix_profile(primaries, gamma):
    """Returns an ICC version 2 display profile with the given xy primaries and gamma (None for the sRGB curve), and
    white point D65."""
    def xyz(x, y, scale=1.0):
        return [scale * x / y, scale, scale * (1 - x - y) / y]

    def solve(m, v):
        det = lambda a: (a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1])
                         - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0])
                         + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]))
        return [det([[v[r] if c == k else m[r][c] for c in range(3)] for r in range(3)]) / det(m) for k in range(3)]

    columns = [xyz(*p) for p in primaries]
    matrix = [[columns[c][r] for c in range(3)] for r in range(3)]
    scales = solve(matrix, xyz(0.3127, 0.3290))
    bradford = [[1.0478112, 0.0228866, -0.0501270], [0.0295424, 0.9904844, -0.0170491],
                [-0.0092345, 0.0150436, 0.7521316]]
    adapted = [[sum(bradford[r][k] * columns[c][k] * scales[c] for k in range(3)) for r in range(3)] for c in range(3)]
    tags = [(b"wtpt", xyz_tag([0.9642, 1, 0.8249]))]
    tags += [(name, xyz_tag(adapted[c])) for c, name in enumerate((b"rXYZ", b"gXYZ", b"bXYZ"))]
    tags += [(name, curve_tag(gamma)) for name in (b"rTRC", b"gTRC", b"bTRC")]
    return icc_file(b"RGB ", tags)


def gray_profile(gamma):
    return icc_file(b"GRAY", [(b"wtpt", xyz_tag([0.9642, 1, 0.8249])), (b"kTRC", curve_tag(gamma))])


def xyz_tag(values):
    return b"XYZ \0\0\0\0" + b"".join(struct.pack(">i", round(v * 65536)) for v in values)


def curve_tag(gamma):
    """Returns a curve tag with one gamma, or for None with the sRGB curve (IEC 61966-2-1) as a table."""
    if gamma is None:
        light = lambda s: s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4
        return b"curv\0\0\0\0" + struct.pack(">I1024H", 1024, *(round(65535 * light(i / 1023)) for i in range(1024)))
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256)) + b"\0\0"


def ink_profile():
    """Returns a printer profile with two grid points per ink: paper, four inks and their mixtures, in Lab."""
    def lab(c, m, y, k):
        light = [(1 - 0.9 * ink) * (1 - 0.85 * k) for ink in (c, m, y)]
        lightness = 95 * (0.25 * light[0] + 0.6 * light[1] + 0.15 * light[2])
        return lightness, 60 * (light[0] - light[1]), 50 * (light[1] - light[2])

    table = b"".join(
        bytes((round(l * 255 / 100), round(a + 128), round(b + 128)))
        for l, a, b in (lab(c, m, y, k) for c in (0, 1) for m in (0, 1) for y in (0, 1) for k in (0, 1)))
    ramp = bytes(range(256))
    identity = struct.pack(">9i", 65536, 0, 0, 0, 65536, 0, 0, 0, 65536)
    lut = b"mft1\0\0\0\0" + bytes((4, 3, 2, 0)) + identity + ramp * 4 + table + ramp * 3
    tags = [(b"wtpt", xyz_tag([0.9642, 1, 0.8249])), (b"A2B0", lut)]
    return icc_file(b"CMYK", tags, kind=b"prtr", connection=b"Lab ")


def icc_file(space, tags, kind=b"mntr", connection=b"XYZ "):
    described = b"desc\0\0\0\0" + struct.pack(">I", 5) + b"test\0" + b"\0" * 79
    tags = [(b"desc", described + b"\0" * (-len(described) % 4)), (b"cprt", b"text\0\0\0\0none\0\0\0\0")] + tags
    offset, table, body = 128 + 4 + 12 * len(tags), b"", b""
    for name, data in tags:
        table += name + struct.pack(">II", offset + len(body), len(data))
        body += data
    head = struct.pack(">I4s4s4s4s4s12s4s", offset + len(body), b"\0\0\0\0", b"\x02\x10\0\0", kind, space, connection,
                       struct.pack(">6H", 2024, 1, 1, 0, 0, 0), b"acsp")
    head += b"\0" * 28 + struct.pack(">iii", 63190, 65536, 54061)
    return head.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + body


def pngs():
    scene, small = photo(120, 90), icon(97, 97)
    yield write("rgb.png", scene)
    yield write("rgba.png", small)
    yield write("gray.png", scene.convert("L"))
    yield write("gray-alpha.png", Image.merge("LA", (scene.convert("L").resize((97, 97)), alpha(97, 97))))
    exif = Image.Exif()
    exif[0x0112] = 6
    yield write("exif.png", scene, exif=exif)
    yield write("profile.png", scene, icc_profile=matrix_profile(
        [(0.6800, 0.3200), (0.2650, 0.6900), (0.1500, 0.0600)], 2.2))


def odd_pngs():
    """Yields kinds of PNG that Pillow does not write, each with the image it represents."""
    width, height = 100, 75
    scene = photo(width, height)
    gray = scene.convert("L")
    rgb_rows = [[scene.getpixel((x, y)) for x in range(width)] for y in range(height)]
    gray_rows = [[(gray.getpixel((x, y)),) for x in range(width)] for y in range(height)]

    for depth in (1, 2, 4):
        top = (1 << depth) - 1
        rows = [[((p[0] * top + 127) // 255,) for p in row] for row in gray_rows]
        png(f"gray-{depth}bit.png", width, height, depth, 0, rows)
        image = Image.new("L", (width, height))
        image.putdata([p[0] * 255 // top for row in rows for p in row])
        yield PICTURES / f"gray-{depth}bit.png", image

    # 16-bit samples that round to the 8-bit samples of the scene.
    png("rgb-16bit.png", width, height, 16, 2, [[tuple(s * 257 for s in p) for p in row] for row in rgb_rows])
    yield PICTURES / "rgb-16bit.png", scene
    png("gray-16bit.png", width, height, 16, 0, [[(p[0] * 257,) for p in row] for row in gray_rows])
    yield PICTURES / "gray-16bit.png", gray
    png("interlaced.png", width, height, 8, 2, rgb_rows, interlace=True)
    yield PICTURES / "interlaced.png", scene

    palette = [(51 * r, 51 * g, 51 * b) for r in range(6) for g in range(6) for b in range(6)]
    index = lambda p: (p[0] + 25) // 51 * 36 + (p[1] + 25) // 51 * 6 + (p[2] + 25) // 51
    rows = [[(index(p),) for p in row] for row in rgb_rows]
    flat = Image.new("RGB", (width, height))
    flat.putdata([palette[p[0]] for row in rows for p in row])
    plte = chunk(b"PLTE", bytes(s for p in palette for s in p))
    png("palette.png", width, height, 8, 3, rows, extra=plte)
    yield PICTURES / "palette.png", flat
    clear = bytes(0 if i % 36 == 0 else 255 for i in range(216))
    png("palette-trns.png", width, height, 8, 3, rows, extra=plte + chunk(b"tRNS", clear))
    seen = flat.convert("RGBA")
    seen.putalpha(Image.frombytes("L", (width, height), bytes(clear[p[0]] for row in rows for p in row)))
    yield PICTURES / "palette-trns.png", seen
    four = [[(p[0] // 64 * 5,) for p in row] for row in gray_rows]
    ramp = [(15 * i, 255 - 16 * i, 8 * i) for i in range(16)]
    png("palette-4bit.png", width, height, 4, 3, four, extra=chunk(b"PLTE", bytes(s for p in ramp for s in p)))
    image = Image.new("RGB", (width, height))
    image.putdata([ramp[p[0]] for row in four for p in row])
    yield PICTURES / "palette-4bit.png", image

    key = (250, 220, 40)
    rows = [[key if abs(p[0] - 250) < 8 and abs(p[1] - 220) < 8 else p for p in row] for row in rgb_rows]
    png("rgb-trns.png", width, height, 8, 2, rows, extra=chunk(b"tRNS", struct.pack(">HHH", *key)))
    image = Image.new("RGBA", (width, height))
    image.putdata([(*p, 0 if p == key else 255) for row in rows for p in row])
    yield PICTURES / "rgb-trns.png", image
    rows = [[(p[0] & 0xF0,) for p in row] for row in gray_rows]
    png("gray-trns.png", width, height, 8, 0, rows, extra=chunk(b"tRNS", struct.pack(">H", 0x80)))
    image = Image.new("LA", (width, height))
    image.putdata([(p[0], 0 if p[0] == 0x80 else 255) for row in rows for p in row])
    yield PICTURES / "gray-trns.png", image

    png("gray-alpha-16bit.png", width, height, 16, 4,
        [[(p[0] * 257, (255 - p[0] // 2) * 257) for p in row] for row in gray_rows])
    image = Image.new("LA", (width, height))
    image.putdata([(p[0], 255 - p[0] // 2) for row in gray_rows for p in row])
    yield PICTURES / "gray-alpha-16bit.png", image
    png("rgba-16bit.png", width, height, 16, 6,
        [[(*(s * 257 for s in p), 257 * (255 - p[2] // 2)) for p in row] for row in rgb_rows])
    image = Image.new("RGBA", (width, height))
    image.putdata([(*p, 255 - p[2] // 2) for row in rgb_rows for p in row])
    yield PICTURES / "rgba-16bit.png", image
    png("palette-interlaced.png", width, height, 4, 3, four, extra=chunk(b"PLTE", bytes(s for p in ramp for s in p)),
        interlace=True)
    image = Image.new("RGB", (width, height))
    image.putdata([ramp[p[0]] for row in four for p in row])
    yield PICTURES / "palette-interlaced.png", image
    # An sRGB chunk overrides gAMA.
    png("srgb-and-gamma.png", width, height, 8, 2, rgb_rows,
        extra=chunk(b"gAMA", struct.pack(">I", 100000)) + chunk(b"sRGB", b"\0"))
    yield PICTURES / "srgb-and-gamma.png", scene
    # The orientation after the image data, which the specification also allows.
    plain = (PICTURES / "rgb.png").read_bytes()
    orientation = chunk(b"eXIf", b"MM\0*\0\0\0\x08\0\x01" + struct.pack(">HHIHHI", 0x112, 3, 1, 8, 0, 0))
    (PICTURES / "exif-behind.png").write_bytes(plain[:-12] + orientation + plain[-12:])
    yield PICTURES / "exif-behind.png", ImageOps.exif_transpose(Image.open(PICTURES / "exif-behind.png"))

    # Linear light: the samples are not sRGB.
    linear = [[tuple(round(255 * (s / 255) ** 2.2) for s in p) for p in row] for row in rgb_rows]
    png("gamma.png", width, height, 8, 2, linear, extra=chunk(b"gAMA", struct.pack(">I", 100000)))
    image = Image.new("RGB", (width, height))
    image.putdata([tuple(round(255 * (s / 255) ** (1 / 2.2)) for s in p) for row in linear for p in row])
    yield PICTURES / "gamma.png", image


def tiny():
    scene, exif = photo(11, 9), Image.Exif()
    exif[0x0112] = 6
    kinds = {"420": ("-sample", "2x2"), "444": ("-sample", "1x1"), "411": ("-sample", "4x1"),
             "progressive": ("-progressive",), "arithmetic": ("-arithmetic",),
             "arithmetic-progressive": ("-arithmetic", "-progressive"), "restarts": ("-restart", "1B"),
             "rgb": ("-rgb",), "gray": ("-grayscale",)}
    for name, options in kinds.items():
        written(TINY / f"{name}.jpg", encoded(scene, *options))
    write(TINY / "exif.jpg", scene, quality=60, exif=exif)
    write(TINY / "profile.jpg", scene, quality=60, icc_profile=gray_profile(2.2))
    write(TINY / "cmyk.jpg", scene.convert("CMYK"), quality=60)
    (TINY / "ycck.jpg").write_bytes(ycck_marked(TINY / "cmyk.jpg"))

    width, height = 6, 5
    samples = lambda count, depth: [[tuple((x * 37 + y * 11 + c * 5) % (1 << depth) for c in range(count))
                                     for x in range(width)] for y in range(height)]
    palette = chunk(b"PLTE", bytes(range(48)))
    gamma = chunk(b"gAMA", struct.pack(">I", 100000))
    for color, count, depths, extra in ((0, 1, (1, 2, 4, 8, 16), chunk(b"tRNS", b"\0\1")), (2, 3, (8, 16), b""),
                                        (3, 1, (1, 2, 4), palette + chunk(b"tRNS", b"\0\x80")),
                                        (4, 2, (8, 16), gamma), (6, 4, (8, 16), b"")):
        for depth in depths:
            for interlace in (False, True):
                name = f"color-{color}-{depth}bit{'-interlaced' if interlace else ''}.png"
                png(TINY / name, width, height, depth, color, samples(count, depth), extra=extra, interlace=interlace)


def bombs():
    """Writes four megapixels of one color whose last scan occurs 90 times, and a small image that is harmless."""
    kinds = ("progressive", 2048, ()), ("arithmetic", 2048, ("-arithmetic",)), ("harmless", 128, ())
    for name, side, options in kinds:
        data = encoded(Image.new("RGB", (side, side), (90, 120, 60)), "-progressive", *options)
        last = data.rindex(b"\xff\xda")
        written(BOMBS / f"{name}.jpg", data[:-2] + data[last:-2] * 89 + data[-2:])


def ycck_marked(path):
    """Returns a CMYK file changed to declare its inks as YCCK."""
    data = bytearray(path.read_bytes())
    data[next(start for start, marker, _ in segments(data) if marker == 0xEE) + 15] = 2
    return bytes(data)


def main():
    for folder in (PICTURES, REFERENCES, TINY, BOMBS):
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
    for path in [*jpegs(), *odd_jpegs(), *pngs()]:
        reference(path)
    for path, sound in flawed():
        reference(path, upright_srgb(sound))
    for path, image in odd_pngs():
        reference(path, image)
    filters()
    tiny()
    bombs()


if __name__ == "__main__":
    main()
