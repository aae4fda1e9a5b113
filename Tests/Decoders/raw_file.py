"""Writes camera raw files: DNG and NEF files with a little raw image and JPEG previews (DNG 1.4, TIFF/EP)."""
import struct

import numpy

BYTE, ASCII, SHORT, LONG, RATIONAL = 1, 2, 3, 4, 5
SIZES = {BYTE: 1, ASCII: 1, SHORT: 2, LONG: 4, RATIONAL: 8}


class Writer:
    """A TIFF file whose directories follow their data."""

    def __init__(self, order):
        self.order = order
        self.data = struct.pack(f"{order}2sHI", b"II" if order == "<" else b"MM", 42, 0)

    def add(self, content):
        """Adds data at an even offset, which it returns."""
        self.data += bytes(len(self.data) % 2)
        self.data += content
        return len(self.data) - len(content)

    def packed(self, kind, values):
        if kind in (BYTE, ASCII):
            return bytes(values)
        return struct.pack(f"{self.order}{len(values)}{'H' if kind == SHORT else 'I'}", *values)

    def directory(self, tags):
        """Adds a directory of tags, each with a kind and values. Returns its offset."""
        entries = b""
        for tag, (kind, values) in sorted(tags.items()):
            content = self.packed(kind, values)
            count = len(content) // SIZES[kind]
            if len(content) > 4:
                content = struct.pack(f"{self.order}I", self.add(content))
            entries += struct.pack(f"{self.order}HHI", tag, kind, count) + content.ljust(4, b"\0")
        return self.add(struct.pack(f"{self.order}H", len(tags)) + entries + bytes(4))

    def finish(self, path, first):
        path.write_bytes(self.data[:4] + struct.pack(f"{self.order}I", first) + self.data[8:])
        return path


def strip(writer, content, width, height, kind, compression, photometric, bits):
    """The tags of an image in one strip. `kind` is 1 for a smaller version of another one."""
    return {254: (LONG, [kind]), 256: (LONG, [width]), 257: (LONG, [height]), 258: (SHORT, bits),
            259: (SHORT, [compression]), 262: (SHORT, [photometric]), 273: (LONG, [writer.add(content)]),
            277: (SHORT, [len(bits)]), 278: (LONG, [height]), 279: (LONG, [len(content)])}


def jpeg(writer, content, width, height):
    return strip(writer, content, width, height, 1, 7, 6, [8, 8, 8])


def samples_of(writer, width, height):
    """A raw image of 16 bits with the pattern of Bayer."""
    values = numpy.random.default_rng(4).integers(200, 4000, (height, width)).astype(f"{writer.order}u2")
    tags = strip(writer, values.tobytes(), width, height, 0, 1, 32803, [16])
    tags.update({33421: (SHORT, [2, 2]), 33422: (BYTE, [0, 1, 1, 2])})
    return tags


def names(make, model):
    return {271: (ASCII, make + b"\0"), 272: (ASCII, model + b"\0")}


def write_dng(path, previews, size, orientation=1, order="<"):
    """Writes a DNG file with these previews, each with the bytes of a JPEG file and its size."""
    writer = Writer(order)
    first = strip(writer, bytes(3 * 16 * 12), 16, 12, 1, 1, 2, [8, 8, 8])
    raw = writer.directory(samples_of(writer, *size))
    inside = [raw] + [writer.directory(jpeg(writer, *preview)) for preview in previews]
    first.update({274: (SHORT, [orientation]), 330: (LONG, inside), 50706: (BYTE, [1, 4, 0, 0]),
                  50707: (BYTE, [1, 1, 0, 0]), 50708: (ASCII, b"Example 1\0"),
                  50721: (RATIONAL, [1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1])})
    first.update(names(b"Example", b"1"))
    return writer.finish(path, writer.directory(first))


def write_nef(path, preview, size, orientation=1, order=">", end=None):
    """Writes a NEF file, whose preview is a JPEG file (the tags 513 and 514). It is at the offset `end`, if that
    is where the rest of the file ends."""
    writer = Writer(order)
    content = preview[0]
    first = strip(writer, bytes(3 * 160 * 120), 160, 120, 1, 1, 2, [8, 8, 8])
    raw = writer.directory(samples_of(writer, *size))
    place = end or writer.add(content)
    inside = writer.directory({254: (LONG, [1]), 259: (SHORT, [6]), 513: (LONG, [place]), 514: (LONG, [len(content)])})
    first.update({274: (SHORT, [orientation]), 330: (LONG, [inside, raw]),
                  **names(b"NIKON CORPORATION", b"NIKON D800")})
    first = writer.directory(first)
    if end is not None:
        writer.add(content)
    return writer.finish(path, first)


def write_nef_with_last_preview(path, preview, size):
    """Writes a NEF file that ends with its preview."""
    rest = len(write_nef(path, (b"", 0, 0), size).read_bytes())
    return write_nef(path, preview, size, end=rest + rest % 2)
