"""Files that are cut or contradict themselves, and files of something else; each must fail with a code that fits."""
import gzip
import struct

import numpy

import avif
import cases
import heic
import jpeg2000
import jpegxl
import pdf
import psd
import psd_file
import raw
import raw_file
import samples
import svg
import tiff
import tiff_file

# The places of the cuts, as parts of the file.
PARTS = (0.03, 0.2, 0.5, 0.8, 0.95)
DRAWING = svg.ROOT + ' width="9" height="9"><rect width="9" height="9"/></svg>'
OTHERS = {
    "page.svg": f"<!DOCTYPE html><html><body>{DRAWING}</body></html>".encode(),
    "page-xml.svg": f"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>{DRAWING}</html>".encode(),
    "page-wide.svg": f"<!DOCTYPE html><html><body>{DRAWING}</body></html>".encode("utf-16"),
    "text.svgz": gzip.compress(b"a list of words, and nothing else\n" * 40),
    "page.svgz": gzip.compress(f"<html>{DRAWING}</html>".encode()),
    "image.svgz": gzip.compress(b"\x89PNG\r\n\x1a\n" + bytes(100)),
    "empty.svgz": gzip.compress(b""),
}


def whole_files(folder):
    photo = samples.photo()
    photo.save(folder / "photo.png")
    # Pillow writes the directory before the pixels, unlike tiffcp.
    photo.save(folder / "directory-first.tif")
    samples.transparent().save(folder / "transparent.png")
    tiff_file.write(folder / "plain.tif", numpy.asarray(photo), tiff_file.RGB)
    for name, options in tiff.COPIES.items():
        cases.tool("tiffcp", *options, folder / "plain.tif", folder / f"{name}.tif")
    (folder / "shapes.svgz").write_bytes(gzip.compress(
        svg.write(folder / "shapes.svg", 'width="120" height="100"', svg.SHAPES).read_bytes()))
    (folder / "wide.svg").write_bytes((folder / "shapes.svg").read_text().encode("utf-16"))
    avif.encode(folder, "opaque", "photo")
    avif.encode(folder, "alpha", "transparent")
    heic.encode(folder, "opaque", "photo.png")
    for name in ("plain.jp2", "codestream.j2k"):
        jpeg2000.compress(folder / "photo.png", folder / name)
    jpeg2000.compress(folder / "photo.png", folder / "tiles.jp2", "-t", "64,64", "-I", "-r", "8")
    jpegxl.encode(folder, "lossy", "photo.png")
    jpegxl.encode(folder, "lossless", "photo.png", "-d", "0")
    for name, compression in psd.COMPRESSIONS.items():
        for suffix in ("psd", "psb"):
            psd_file.write(folder / f"{name}.{suffix}", psd.planes_of(photo), psd_file.RGB, 8, compression,
                           suffix == "psb", layers=1)
    pdf.made(folder)
    for path in folder.glob("*.pdf"):
        # Readers allow bytes after the end mark.
        path.write_bytes(path.read_bytes().rstrip())
    raw_file.write_nef_with_last_preview(folder / "preview.nef", raw.encoded(*raw.PREVIEW), raw.RAW)
    suffixes = (".tif", ".svg", ".svgz", ".avif", ".heic", ".jp2", ".j2k", ".jxl", ".psd", ".psb", ".nef",
                ".pdf")
    return [path for path in folder.iterdir() if path.suffix in suffixes]


def cut(folder):
    """Writes the files, cut at several places and by one byte. Returns their names."""
    for path in whole_files(folder):
        data = path.read_bytes()
        for end in [*(int(len(data) * part) for part in PARTS), len(data) - 1]:
            (folder / f"{end}-{path.name}").write_bytes(data[:end])
            yield f"{end}-{path.name}"


def declare_less(folder):
    """Writes a file that declares one of its strips as shorter than it is. Returns its name."""
    data = (folder / "strips.tif").read_bytes()
    size = 7 * 3 * samples.WIDTH
    wrong = data.replace(struct.pack("<2H", size, size), struct.pack("<2H", size, size - 1), 1)
    (folder / "declared.tif").write_bytes(wrong)
    assert wrong != data
    return "declared.tif"


def check(command, folder):
    folder.mkdir()
    expected = {name: "truncated" for name in cut(folder)}
    expected[declare_less(folder)] = "truncated"
    for name, data in OTHERS.items():
        (folder / name).write_bytes(data)
        expected[name] = "not_an_image"
    lines = cases.render(command, folder / "run", [folder / name for name in expected], "256")
    codes = [line.get("code", line["status"]) for line in lines]
    failures = [f"Damage: {name}: {code}, not {fitting}"
                for (name, fitting), code in zip(expected.items(), codes) if code != fitting]
    print(f"Damage: {len(codes) - len(failures)} of {len(codes)} files that are cut or something else fail as they "
          "should", flush=True)
    return failures
