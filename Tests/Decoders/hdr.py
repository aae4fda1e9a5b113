"""The photo in the curves of high dynamic range, with white at 203 cd/m2 (ITU-R BT.2408): it must look as in sRGB."""
import struct
import zlib

import numpy
from PIL import Image, ImageCms

import boxes
from cases import Case, Group, tool
import samples

# The code points of the curves and primaries (ITU-T H.273), and their names for cjxl.
CURVES = {"pq": (16, "PeQ"), "hlg": (18, "HLG")}
PRIMARIES = {"709": (1, "SRG"), "p3": (12, "DCI"), "2020": (9, "202")}
POINTS = {"709": [(0.64, 0.33), (0.30, 0.60), (0.15, 0.06)], "p3": [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060)],
          "2020": [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046)]}


def to_xyz(primaries):
    """The matrix from linear colors with the white point D65 to XYZ."""
    columns = numpy.array([[x / y, 1, (1 - x - y) / y] for x, y in POINTS[primaries]]).T
    white = numpy.array([0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290])
    return columns * numpy.linalg.solve(columns, white)


def pq(light):
    """The signal of light, of which 1 is 203 cd/m2 (ITU-R BT.2100-2, table 4)."""
    m1, m2, c1, c2, c3 = 2610 / 16384, 2523 / 32, 3424 / 4096, 2413 / 128, 2392 / 128
    power = (light * 203 / 10000) ** m1
    return ((c1 + c2 * power) / (1 + c3 * power)) ** m2


def hlg(light):
    """The signal of light, of which 1 is at 75 % of it (ITU-R BT.2100-2, table 5)."""
    a = 0.17883277
    b, c = 1 - 4 * a, 0.5 - a * numpy.log(4 * a)
    scene = light * (numpy.exp((0.75 - c) / a) + b) / 12
    return numpy.where(scene <= 1 / 12, numpy.sqrt(3 * scene), a * numpy.log(numpy.maximum(12 * scene - b, 1e-9)) + c)


def signal(curve, primaries):
    """The photo in other primaries and in the curve, from 0 to 1."""
    values = samples.pixels(samples.photo())[..., :3] / 255
    linear = numpy.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    other = linear @ (numpy.linalg.inv(to_xyz(primaries)) @ to_xyz("709")).T
    return {"pq": pq, "hlg": hlg}[curve](numpy.clip(other, 0, 1))


def write_png(path, values, bits, *chunks):
    """Writes a PNG file with 8 or 16 bits per sample."""
    height, width = values.shape[:2]
    array = numpy.round(values * (2 ** bits - 1)).astype(">u2" if bits == 16 else numpy.uint8)
    rows = numpy.frombuffer(array.tobytes(), numpy.uint8).reshape(height, -1)
    data = zlib.compress(numpy.pad(rows, ((0, 0), (1, 0))).tobytes())
    file = b"\x89PNG\r\n\x1a\n"
    header = struct.pack(">IIBBBBB", width, height, bits, 2, 0, 0, 0)
    for kind, content in [(b"IHDR", header), *chunks, (b"IDAT", data), (b"IEND", b"")]:
        file += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    path.write_bytes(file)


def profile(curve, primaries):
    """A profile of sRGB with the tag `cicp` (ICC.1:2022, 9.2.17), which decides."""
    bytes_ = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    count = struct.unpack(">I", bytes_[128:132])[0]
    tags = [struct.unpack(">4sII", bytes_[132 + 12 * index:144 + 12 * index]) for index in range(count)]
    content = b"cicp\0\0\0\0" + bytes([PRIMARIES[primaries][0], CURVES[curve][0], 0, 1])
    body = bytes_[132 + 12 * count:]
    table = b"".join(struct.pack(">4sII", name, start + 12, length) for name, start, length in tags)
    table += struct.pack(">4sII", b"cicp", len(bytes_) + 12, len(content))
    file = bytes_[:128] + struct.pack(">I", count + 1) + table + body + content
    return struct.pack(">I", len(file)) + file[4:]


def groups(folder):
    """All groups. Light above 0.8 of white is compressed. The largest differences are at saturated colors, whose
    darkest sample is coarse with 8 bits."""
    original = samples.pixels(samples.photo())

    def case(path):
        return Case(path, lambda *_: original)

    kinds = [(curve, primaries) for curve in CURVES for primaries in PRIMARIES]
    deep, shallow, profiles, avif, heic, jpegxl = [], [], [], [], [], []
    for curve, primaries in kinds:
        name, values = f"hdr-{curve}-{primaries}", signal(curve, primaries)
        points = bytes([PRIMARIES[primaries][0], CURVES[curve][0], 0, 1])
        icc = profile(curve, primaries)
        for bits, cases in ((16, deep), (8, shallow)):
            write_png(folder / f"{name}-{bits}.png", values, bits, (b"cICP", points))
            cases.append(case(folder / f"{name}-{bits}.png"))
        packed = b"hdr\0\0" + zlib.compress(icc)
        write_png(folder / f"{name}-icc.png", values, 16, (b"iCCP", packed))
        profiles.append(case(folder / f"{name}-icc.png"))
        image = Image.fromarray(numpy.round(values * 255).astype(numpy.uint8))
        image.save(folder / f"{name}.jpg", quality=100, subsampling=0, icc_profile=icc)
        image.save(folder / f"{name}.webp", lossless=True, icc_profile=icc)
        image.save(folder / f"{name}.tiff", icc_profile=icc)
        profiles += [case(folder / f"{name}.{kind}") for kind in ("jpg", "webp", "tiff")]
        write_png(folder / f"{name}-plain.png", values, 16)
        tool("avifenc", "-s", "9", "-d", "10", "-y", "444", "--min", "0", "--max", "4", "--cicp",
             f"{points[0]}/{points[1]}/{1 if primaries != '2020' else 9}", folder / f"{name}-plain.png", "-o",
             folder / f"{name}.avif")
        avif.append(case(folder / f"{name}.avif"))
        tool("heif-enc", "-q", "98", "-b", "10", "-p", "chroma=444", folder / f"{name}-plain.png", "-o",
             folder / f"{name}-plain.heic")
        # heif-enc codes the colors with the matrix 6, and writes no code points.
        box = (b"colr", b"nclx" + struct.pack(">HHHB", points[0], points[1], 6, 0x80))
        (folder / f"{name}.heic").write_bytes(boxes.add_properties((folder / f"{name}-plain.heic").read_bytes(), [box]))
        heic.append(case(folder / f"{name}.heic"))
        space = f"color_space=RGB_D65_{PRIMARIES[primaries][1]}_Rel_{CURVES[curve][1]}"
        for distance in ("0", "0.3"):
            target = folder / f"{name}-{distance}.jxl"
            tool("cjxl", folder / f"{name}-plain.png", target, "-x", space, "-d", distance, "--quiet")
            jpegxl.append(case(target))
    return [
        Group("HDR: PNG, 16 bits, code points", "8 bits of the file count", deep, 45, 1.5),
        Group("HDR: PNG, 8 bits, code points", "coarse steps", shallow, 45, 1.5),
        Group("HDR: PNG, JPEG, WebP and TIFF with profiles", "coarse steps, and lossy", profiles, 80, 2.5),
        Group("HDR: AVIF, 10 bits", "lossy", avif, 50, 2),
        Group("HDR: HEIC, 10 bits", "lossy", heic, 60, 2.5),
        Group("HDR: JPEG XL", "lossy", jpegxl, 160, 3.5),
    ]
