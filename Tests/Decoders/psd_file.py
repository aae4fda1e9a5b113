"""Writes PSD and PSB files of kinds that ImageMagick does not write (Adobe Photoshop File Formats Specification)."""
import struct
import zlib

import numpy

BITMAP, GRAY, INDEXED, RGB, CMYK, MULTICHANNEL, DUOTONE, LAB = 0, 1, 2, 3, 4, 7, 8, 9
RAW, PACKBITS, ZIP, PREDICTION = range(4)
PROFILE, TRANSPARENT_INDEX, VERSION = 1039, 1047, 1057


def pack(row):
    """PackBits: equal bytes as a run, others as they are."""
    packed, place = b"", 0
    while place < len(row):
        end = place + 1
        while end < len(row) and end - place < 128 and row[end] == row[place]:
            end += 1
        if end - place > 1:
            packed += bytes([257 - (end - place), row[place]])
        else:
            while end < len(row) and end - place < 128 and not row[end:end + 1] == row[end + 1:end + 2]:
                end += 1
            packed += bytes([end - place - 1]) + row[place:end]
        place = end
    return packed


def predicted(row, depth):
    """The differences of the samples of a row; of floating-point numbers, those of their bytes, the highest first."""
    if depth == 16:
        samples = numpy.frombuffer(row, ">u2").astype(int)
        return (numpy.diff(samples, prepend=0) % 65536).astype(">u2").tobytes()
    samples = numpy.frombuffer(row, numpy.uint8)
    if depth == 32:
        samples = samples.reshape(-1, 4).T.ravel()
    return (numpy.diff(samples.astype(int), prepend=0) % 256).astype(numpy.uint8).tobytes()


def rows_of(plane, depth):
    if depth == 1:
        return [row.tobytes() for row in numpy.packbits(plane.astype(numpy.uint8), axis=1)]
    return [row.tobytes() for row in plane.astype({8: ">u1", 16: ">u2", 32: ">f4"}[depth])]


def image_data(planes, depth, compression, large):
    rows = [row for plane in planes for row in rows_of(plane, depth)]
    if compression == PACKBITS:
        rows = [pack(row) for row in rows]
        return struct.pack(f">{len(rows)}{'I' if large else 'H'}", *map(len, rows)) + b"".join(rows)
    if compression == PREDICTION:
        rows = [predicted(row, depth) for row in rows]
    return zlib.compress(b"".join(rows), 6) if compression >= ZIP else b"".join(rows)


def resource(number, content):
    return b"8BIM" + struct.pack(">H2xI", number, len(content)) + content + bytes(len(content) % 2)


def layer_section(count, block, large):
    """Layers without pixels: in the section itself, or in a block at its end, as for more than 8 bits."""
    if count is None:
        return b""
    long = ">Q" if large else ">I"
    layer = bytes(18) + b"8BIMnorm" + bytes([255, 0, 0, 0]) + struct.pack(">I", 12) + bytes(12)
    content = struct.pack(">h", count) + layer * abs(count)
    content += bytes(-len(content) % 4)
    if block is None:
        return struct.pack(long, len(content)) + content + bytes(4)
    other = b"8BIMTest" + struct.pack(">I", 5) + bytes(8)
    return struct.pack(long, 0) + bytes(4) + other + b"8BIM" + block + struct.pack(long, len(content)) + content


def write(path, planes, mode, depth=8, compression=RAW, large=False, layers=None, block=None, palette=b"",
          resources=b"", extra=b""):
    """Writes a file with these planes, and `extra` bytes after them."""
    height, width = planes[0].shape
    section = layer_section(layers, block, large)
    head = struct.pack(">4sH6xHIIHH", b"8BPS", 2 if large else 1, len(planes), height, width, depth, mode)
    head += struct.pack(">I", len(palette)) + palette + struct.pack(">I", len(resources)) + resources
    head += struct.pack(">Q" if large else ">I", len(section)) + section + struct.pack(">H", compression)
    path.write_bytes(head + image_data(planes, depth, compression, large) + extra)
    return path
