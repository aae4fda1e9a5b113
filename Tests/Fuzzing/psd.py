"""Writes seeds for the fuzzer of PSD files: psd.py FOLDER."""
import itertools
import pathlib
import struct
import sys
import zlib

WIDTH, HEIGHT = 9, 4
# The planes and the depths of each color mode.
MODES = {0: (1, [1]), 1: (1, [8, 16, 32]), 2: (1, [8]), 3: (3, [8, 16, 32]), 4: (4, [8, 16]), 9: (3, [8, 16])}


def image_data(planes, depth, compression, large):
    rows = [bytes(range((WIDTH * depth + 7) // 8))] * (planes * HEIGHT)
    if compression == 1:
        rows = [bytes([len(row) - 1]) + row for row in rows]
        return struct.pack(f">{len(rows)}{'I' if large else 'H'}", *map(len, rows)) + b"".join(rows)
    return zlib.compress(b"".join(rows)) if compression > 1 else b"".join(rows)


def seed(mode, depth, compression, large, has_alpha):
    planes, long = MODES[mode][0] + has_alpha, ">Q" if large else ">I"
    head = struct.pack(">4sH6xHIIHH", b"8BPS", 2 if large else 1, planes, HEIGHT, WIDTH, depth, mode)
    palette = bytes(range(256)) * 3 if mode == 2 else b""
    resources = b"".join(struct.pack(">4sH2xI", b"8BIM", number, len(content)) + content for number, content in [
        (1039, bytes(8)), (1047, b"\0\3"), (1057, b"\0\0\0\1\1\0")])
    layers = struct.pack(long, 0) + bytes(4) + b"8BIMLr16" + struct.pack(long, 4) + struct.pack(">h2x", -1)
    head += struct.pack(">I", len(palette)) + palette + struct.pack(">I", len(resources)) + resources
    head += struct.pack(long, len(layers)) + layers + struct.pack(">H", compression)
    return head + image_data(planes, depth, compression, large)


for number, (mode, compression, large) in enumerate(itertools.product(MODES, range(4), (False, True))):
    for depth in MODES[mode][1]:
        data = seed(mode, depth, compression, large, mode not in (0, 2))
        pathlib.Path(sys.argv[1], f"{number}-{depth}").write_bytes(data)
