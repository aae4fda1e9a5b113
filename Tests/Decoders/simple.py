"""QOI files by FFmpeg, and PNM files by Pillow and by their specification."""
import numpy
from PIL import Image

from cases import Case, Group, tool
import samples


def same(path, image):
    return Case(path, lambda *_: samples.pixels(image))


def qoi(folder):
    for name, image in (("photo", samples.photo()), ("transparent", samples.transparent()),
                        ("flat", Image.new("RGB", (300, 70), (9, 99, 200))), ("one", Image.new("RGB", (1, 1)))):
        image.save(folder / f"qoi-{name}.png")
        tool("ffmpeg", "-v", "error", "-i", folder / f"qoi-{name}.png", "-update", "1", folder / f"{name}.qoi")
        yield same(folder / f"{name}.qoi", image)


def pnm(folder):
    photo = samples.photo()
    for suffix, image in (("ppm", photo), ("pgm", photo.convert("L")), ("pbm", photo.convert("1"))):
        image.save(folder / f"plain.{suffix}")
        yield same(folder / f"plain.{suffix}", image)
    gray = numpy.asarray(photo.convert("L")).astype(int)
    head = b"P5 # a comment\n#\n%d\t%d\r\n%d\n" % (samples.WIDTH, samples.HEIGHT, 60)
    (folder / "few.pgm").write_bytes(head + (gray * 60 // 255).astype(numpy.uint8).tobytes())
    yield same(folder / "few.pgm", Image.fromarray(((gray * 60 // 255 * 255 + 30) // 60).astype(numpy.uint8)))
    deep = gray * 257 + 99 * (gray < 255)
    (folder / "deep.pgm").write_bytes(head.replace(b"\n60\n", b"\n65535\n") + deep.astype(">u2").tobytes())
    yield same(folder / "deep.pgm", Image.fromarray(((deep * 255 + 32767) // 65535).astype(numpy.uint8)))


def groups(folder):
    return [Group("QOI", "equal to the source", list(qoi(folder)), 0),
            Group("PNM", "equal to the source", list(pnm(folder)), 0)]
