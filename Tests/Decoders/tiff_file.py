"""Writes uncompressed TIFF files of kinds that Pillow and tiffcp do not write."""
import struct

import numpy

BLACK_IS_ZERO, WHITE_IS_ZERO, RGB, PALETTE, SEPARATED = 1, 0, 2, 3, 5
ASSOCIATED, UNASSOCIATED = 1, 2


def packed(array, bits, order):
    """The rows of samples of 1, 2, 4, 8, 12 or 16 bits, each of which begins with a byte (TIFF 6.0, section 3), or of
    floating-point ones."""
    rows = array.reshape(array.shape[0], -1)
    if array.dtype.kind == "f":
        return rows.astype(f"{order}f{bits // 8}").tobytes()
    if bits == 16:
        return rows.astype(f"{order}u2").tobytes()
    if bits == 8:
        return rows.astype(numpy.uint8).tobytes()
    samples_as_bits = (rows[..., None] >> numpy.arange(bits - 1, -1, -1)) & 1
    return numpy.packbits(samples_as_bits.reshape(rows.shape[0], -1).astype(numpy.uint8), axis=1).tobytes()


def write(path, array, kind, bits=8, order="<", extra=None, orientation=1, palette=None, planes=False,
          profile=None):
    """Writes a file with one uncompressed strip, or one for each of its `planes`. `extra` is the kind of the last
    channel, if that is alpha."""
    channels = 1 if array.ndim == 2 else array.shape[2]
    strips = [packed(array[..., channel], bits, order) for channel in range(channels)] if planes else [
        packed(array, bits, order)]
    data, size = b"".join(strips), len(strips[0])
    tags = {256: [array.shape[1]], 257: [array.shape[0]], 258: [bits] * channels, 259: [1], 262: [kind],
            273: [8 + size * index for index in range(len(strips))], 274: [orientation], 277: [channels],
            278: [array.shape[0]], 279: [size] * len(strips), 284: [2 if planes else 1]}
    if array.dtype.kind == "f":
        tags[339] = [3] * channels
    if palette is not None:
        tags[320] = [257 * int(value) for value in palette.T.ravel()]
    if extra is not None:
        tags[338] = [extra]
    if profile is not None:
        tags[34675] = list(profile)
    begin = 8 + len(data) + len(data) % 2
    directory, later = struct.pack(f"{order}H", len(tags)), b""
    for tag, values in sorted(tags.items()):
        code, size = ("I", 4) if tag in (273, 279) else ("B", 1) if tag == 34675 else ("H", 2)
        packed_values = struct.pack(f"{order}{len(values)}{code}", *values)
        if len(packed_values) > 4:
            place = begin + 2 + 12 * len(tags) + 4 + len(later)
            later, packed_values = later + packed_values, struct.pack(f"{order}I", place)
        directory += struct.pack(f"{order}HHI", tag, {"H": 3, "I": 4, "B": 7}[code], len(values))
        directory += packed_values.ljust(4, b"\0")
    head = struct.pack(f"{order}2sHI", b"II" if order == "<" else b"MM", 42, begin)
    path.write_bytes(head + data.ljust(begin - 8, b"\0") + directory + bytes(4) + later)
    return path
