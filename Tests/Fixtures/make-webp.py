#!/usr/bin/env python3
"""Makes the WebP files that the tests read, and the pixels of each by an independent implementation.

Needs Pillow and the tools of libwebp (Debian: python3-pil, webp). Run it from any directory; it writes to `webp`:

  NAME.webp            made by cwebp, gif2webp, webpmux or Pillow
  NAME.png             its pixels as stored: Pillow's, and for all but animations dwebp's too, which must agree
  seen-NAME-WxH.png    Pillow's rendering: EXIF applied, ICC to sRGB, LANCZOS to W x H
"""
import importlib.util, io, math, pathlib, struct, subprocess, tempfile
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
OUT = HERE / "webp"
module = importlib.util.spec_from_file_location("fixtures", HERE / "make-fixtures.py")
fixtures = importlib.util.module_from_spec(module)
module.loader.exec_module(fixtures)
photo, icon = fixtures.photo, fixtures.icon


def tool(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True).stdout


def cwebp(image, *options):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "source.png")
        image.save(source)
        return tool("cwebp", "-quiet", *options, source, "-o", "-")


def saved(image, **options):
    file = io.BytesIO()
    image.save(file, "WEBP", **options)
    return file.getvalue()


def flat(width, height, colors):
    """Returns an image with few colors, for the color indexing transform."""
    image = Image.new("RGB", (width, height))
    image.putdata([((x // 3 * 40 + y) % colors * 15 % 256, y % colors * 11 % 256, 90)
                   for y in range(height) for x in range(width)])
    return image.quantize(colors).convert("RGB")


def noise(width, height):
    image = Image.new("RGB", (width, height))
    image.putdata([((x * 7919 + y * 31) % 256, (x * 13) % 256, (x * x + 5 * y) % 256)
                   for y in range(height) for x in range(width)])
    return image


def chunk(kind, data):
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def riff(*chunks):
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def stills():
    scene, small = photo(203, 149), icon(97, 97)
    yield "lossy", cwebp(scene, "-q", "80")
    yield "lossy-strong", cwebp(scene, "-q", "10", "-segments", "4", "-f", "60", "-strong")
    yield "lossy-simple-filter", cwebp(scene, "-q", "40", "-nostrong")
    yield "lossy-gray", cwebp(scene.convert("L"), "-q", "80")
    yield "lossy-large", cwebp(photo(811, 605), "-q", "80")
    yield "alpha", cwebp(small, "-q", "75")
    yield "alpha-raw", cwebp(small, "-q", "75", "-alpha_method", "0", "-alpha_filter", "best")
    yield "alpha-few", cwebp(small, "-q", "75", "-alpha_q", "20")
    yield "lossless", cwebp(scene, "-lossless")
    yield "lossless-fast", cwebp(scene, "-lossless", "-m", "0", "-q", "0")
    yield "lossless-best", cwebp(scene, "-lossless", "-m", "6", "-q", "100")
    yield "lossless-alpha", cwebp(small, "-lossless", "-exact")
    for colors in (2, 4, 16, 200):
        yield f"lossless-{colors}-colors", cwebp(flat(61, 43, colors), "-lossless")
    for width, height in ((1, 1), (2, 1), (1, 2), (3, 5), (17, 16), (31, 33)):
        yield f"lossy-{width}x{height}", cwebp(photo(width, height), "-q", "80")
        yield f"lossless-{width}x{height}", cwebp(icon(width, height), "-lossless", "-exact")
    yield "lossy-16383x1", cwebp(noise(16383, 1), "-q", "50")
    yield "lossless-16383x1", cwebp(noise(16383, 1).quantize(64).convert("RGB"), "-lossless")
    yield "lossless-1x16383", cwebp(noise(1, 16383).quantize(64).convert("RGB"), "-lossless")
    # Unknown chunks around the image, and data after the end of the file.
    plain = cwebp(photo(40, 30), "-q", "80")
    canvas = chunk(b"VP8X", b"\0\0\0\0" + (39).to_bytes(3, "little") + (29).to_bytes(3, "little"))
    yield "unknown-chunks", riff(canvas, chunk(b"NOTE", b"odd"), plain[12:], chunk(b"MORE", b"x")) + b"after the end"


def tagged():
    scene = photo(203, 149)
    wide = fixtures.matrix_profile([(0.6400, 0.3300), (0.2100, 0.7100), (0.1500, 0.0600)], 563 / 256)
    yield "profile", saved(scene, quality=92, icc_profile=wide)
    yield "profile-lossless", saved(photo(60, 45), lossless=True, icc_profile=wide)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        yield f"orientation-{orientation}", saved(photo(120, 80), quality=88, exif=exif)
    # The block as in a JPEG file, which some writers copy.
    plain = saved(photo(120, 80), quality=88, exif=exif)
    at = plain.index(b"EXIF")
    yield "exif-prefix", riff(plain[12:at], chunk(b"EXIF", b"Exif\0\0" + exif.tobytes().removeprefix(b"Exif\0\0")))
    # The block before the image data.
    image = plain.index(b"VP8 ")
    yield "exif-before", riff(plain[12:image], plain[at:], plain[image:at])


def animations():
    frames = [photo(80, 60), photo(80, 60).transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
    yield "animated", saved(frames[0], save_all=True, append_images=frames[1:], duration=100, quality=80)
    yield "animated-lossless", saved(icon(41, 37), save_all=True,
                                     append_images=[icon(41, 37).rotate(90)], lossless=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        frames[0].quantize(60).save(folder / "a.gif", save_all=True, append_images=[frames[1].quantize(60)])
        tool("gif2webp", "-quiet", folder / "a.gif", "-o", folder / "gif.webp")
        yield "animated-gif", (folder / "gif.webp").read_bytes()
        # The first frame covers a part of the canvas, whose size is that of the second.
        for kind, first in (("", cwebp(photo(21, 15), "-q", "80")), ("-alpha", cwebp(icon(21, 15), "-q", "80")),
                            ("-lossless", cwebp(icon(21, 15), "-lossless"))):
            (folder / "1.webp").write_bytes(first)
            (folder / "2.webp").write_bytes(cwebp(frames[1], "-q", "60"))
            tool("webpmux", "-frame", folder / "1.webp", "+100+10+20+0+b", "-frame", folder / "2.webp", "+100",
                 "-bgcolor", "255,200,30,40", "-o", folder / "out.webp")
            yield f"animated-offset{kind}", (folder / "out.webp").read_bytes()


def stored(path):
    image = Image.open(path)
    image.seek(0)
    return image.convert("RGBA")


def dwebp(path):
    with tempfile.TemporaryDirectory() as folder:
        tool("dwebp", "-quiet", "-nodither", path, "-o", pathlib.Path(folder, "a.png"))
        return Image.open(pathlib.Path(folder, "a.png")).convert("RGBA")


def first_frame(path):
    """Returns the first frame on a transparent canvas. Pillow makes the canvas opaque if no frame has alpha."""
    with tempfile.TemporaryDirectory() as name:
        frame = pathlib.Path(name, "frame.webp")
        tool("webpmux", "-get", "frame", "1", path, "-o", frame)
        canvas = Image.new("RGBA", Image.open(path).size)
        canvas.paste(dwebp(frame), (10, 20))
        return canvas


def main():
    OUT.mkdir(exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    for kind in (stills, tagged, animations):
        for name, data in kind():
            path = OUT / f"{name}.webp"
            path.write_bytes(data)
            image = first_frame(path) if "offset" in name else stored(path)
            assert kind is animations or image.tobytes() == dwebp(path).tobytes(), name
            if kind is tagged:
                image = fixtures.upright_srgb(path)
                scale = min(48 / image.width, 48 / image.height)
                size = tuple(max(1, math.floor(side * scale + 0.5)) for side in image.size)
                image.resize(size, Image.Resampling.LANCZOS).save(
                    OUT / f"seen-{name}-{size[0]}x{size[1]}.png", optimize=True, icc_profile=None)
            else:
                image.save(OUT / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
