"""Writes seeds for the fuzzer of records: the kind, then the fields of an image, of a failure and of a verdict."""

import hashlib
import pathlib
import struct
import sys


def text(value):
    return struct.pack("<I", 0 if value is None else len(value) + 1) + (value or b"")


def amount(value):
    return struct.pack("<q", value)


# The key of the URL, so that a record may be that of the object that the fuzzer reads.
URL = b"https://img.example/1.jpg"
KEY, DIGEST = hashlib.sha256(b"GET\0" + URL + b"\0").digest()[:16], bytes(range(32))
FIELDS = text(b"public, max-age=86400") + text(None) * 3 + text(b'"5f2b-60c1"') + text(None) * 8
TIMES = amount(1_790_000_000) * 2 + amount(86_400) + amount(0)
POLICY = struct.pack("<i", 200) + TIMES + b"\4" + amount(86_400) + amount(-1) + struct.pack("<I", len(FIELDS)) + FIELDS
SOURCE = KEY + text(URL) + text(None) + struct.pack("<i", 200) + POLICY + struct.pack("<i", 9)
IMAGE = b"\0" + text(b"jpeg") + struct.pack("<II", 640, 480) + amount(100_000) + DIGEST
FAILURE = b"\1" + text(b"http_404") + text(b"The server has no such image.")
SPEC = text(b"9 64x64@1 inside never auto 82 ffffff lanczos3 perceptual baseline")
SEEDS = {
    "image": b"\0" + SOURCE + IMAGE,
    "failure": b"\0" + SOURCE + FAILURE,
    "thumbnail": b"\1" + DIGEST + SPEC + struct.pack("<II", 64, 48) + text(b"jpeg"),
    "original": b"\2" + DIGEST,
    "verdict": b"\3" + DIGEST + struct.pack("<i", 9) + text(b"decode_error") + text(b"The image data is damaged."),
}

for name, seed in SEEDS.items():
    pathlib.Path(sys.argv[1], name).write_bytes(seed)
