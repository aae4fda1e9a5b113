#!/usr/bin/env python3
"""Compares the pixels that thumbs-decode decodes with those of other programs: compare.py COMMAND [FORMAT ...]

Programs of Debian make files of each format from generated images. COMMAND renders them at their own size, and the
pixels are compared with those of the format's own decoder, of Pillow, or of the source. Broken and hostile files must
fail with their code. Thumbnails in AVIF are compared with those in PNG. FORMAT is avif, heic, jpeg2000, jpegxl, tiff,
pdf, psd, raw, simple, svg, hdr, output, animations, colors, damage, references, bombs, fonts or pages; the default is
all.
"""
import pathlib
import struct
import sys
import tempfile

from PIL import Image, ImageCms

import animations
import avif
import bombs
import cases
import colors
import damage
import fonts
import hdr
import heic
import jpeg2000
import jpegxl
import output
import pages
import pdf
import psd
import raw
import references
import samples
import simple
import svg
import tiff

FORMATS = {"avif": avif, "heic": heic, "jpeg2000": jpeg2000, "jpegxl": jpegxl, "tiff": tiff, "pdf": pdf, "psd": psd,
           "raw": raw, "simple": simple, "svg": svg, "hdr": hdr}
OTHERS = {"output": output, "animations": animations, "colors": colors, "damage": damage, "references": references,
          "bombs": bombs, "fonts": fonts, "pages": pages}
# The orientations of EXIF as what makes an upright image stored, so that showing it is the inverse.
TRANSPOSITIONS = {2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE", 6: "ROTATE_270",
                  7: "TRANSVERSE", 8: "ROTATE_90"}


def make_sources(folder):
    """Writes the images of which the files are made."""
    photo = samples.photo()
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    images = {"photo": photo, "transparent": samples.transparent(), "gray": photo.convert("L"),
              "gray-alpha": samples.transparent().convert("LA"), "even": samples.photo(256, 192),
              "even-transparent": samples.transparent(256, 192)}
    for name, image in images.items():
        image.save(folder / f"{name}.png")
    photo.save(folder / "profile.png", icc_profile=profile)
    # Its first four bytes are its size. A profile of more than 4 MiB is ignored.
    size = 5 << 20
    photo.save(folder / "large-profile.png", icc_profile=struct.pack(">I", size) + profile[4:].ljust(size - 4, b"\0"))
    samples.write_deep(folder / "photo-16.png")
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x112] = orientation
        photo.save(folder / f"orientation-{orientation}.jpg", quality=95, exif=exif)
        method = TRANSPOSITIONS.get(orientation)
        shown = photo.transpose(Image.Transpose[method]) if method else photo
        shown.save(folder / f"orientation-{orientation}.png")


def main():
    command, wanted = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or [*FORMATS, *OTHERS]
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_sources(folder)
        groups = [group for format in FORMATS if format in wanted for group in FORMATS[format].groups(folder)]
        lines = cases.render_cases(command, folder, groups)
        for group in groups:
            failures += cases.check(group, lines)
        for part in OTHERS:
            if part in wanted:
                failures += OTHERS[part].check(command, folder / part)
    print(*failures, sep="\n")
    return 1 if failures else 0


sys.exit(main())
