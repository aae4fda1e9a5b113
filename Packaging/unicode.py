#!/usr/bin/env python3
"""Makes a small copy of the Unicode library in Foundation: unicode.py lib_FoundationICU.a DIRECTORY

34 MB of the library are data: languages, currencies, time zones, encodings. The copy in DIRECTORY has only the data
that dates, time zones and the root locale need; without an entry, ICU uses the root locale.
"""
import pathlib
import re
import struct
import subprocess
import sys

MEMBER = "icu_packaged_data.cpp.o"
SYMBOL = "icudt76_dat"
KEPT = re.compile(
    r"(root|pool|en|en_US|en_US_POSIX|res_index|supplementalData|numberingSystems|keyTypeData|timezoneTypes|zoneinfo64)"
    r"\.res|(nfkc|nfkc_cf|uts46)\.nrm")
SOURCE = """
.section .rodata
.balign 16
.globl {symbol}
.type {symbol}, @object
{symbol}: .incbin "{path}"
.size {symbol}, .-{symbol}
.section .note.GNU-stack,"",@progbits
"""


def entries(package):
    """The name and the content of each entry. Offsets count from the end of the header, whose size comes first."""
    header = struct.unpack_from("<H", package)[0]
    count = struct.unpack_from("<I", package, header)[0]
    places = [struct.unpack_from("<II", package, header + 4 + 8 * index) for index in range(count)]
    ends = [place[1] for place in places[1:]] + [len(package) - header]
    for (name, start), end in zip(places, ends):
        first = header + name
        yield package[first:package.index(b"\0", first)], package[header + start:header + end]


def packed(package, kept):
    """A package with only the entries in `kept`, which are in the order of their names."""
    header = package[:struct.unpack_from("<H", package)[0]]
    names = b"".join(name + b"\0" for name, _ in kept)
    name, place = 4 + 8 * len(kept), (4 + 8 * len(kept) + len(names) + 15) // 16 * 16
    table, body, first = struct.pack("<I", len(kept)), b"", place
    for text, content in kept:
        table += struct.pack("<II", name, place + len(body))
        name += len(text) + 1
        body += content + b"\0" * (-len(content) % 16)
    return header + (table + names).ljust(first, b"\0") + body


def data(object_file):
    """The bytes of the symbol, which is alone in the section .rodata."""
    run = subprocess.run(["llvm-readelf", "-SW", object_file], check=True, capture_output=True, text=True)
    offset, size = re.search(r"\.rodata +PROGBITS +\S+ +(\S+) +(\S+)", run.stdout).groups()
    return object_file.read_bytes()[int(offset, 16):][:int(size, 16)]


def main():
    archive, directory = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    subprocess.run(["llvm-ar", "x", archive, MEMBER], cwd=directory, check=True)
    package = data(directory / MEMBER)
    kept = [entry for entry in entries(package) if KEPT.fullmatch(entry[0].decode().split("/", 1)[1])]
    small = directory / "unicode.dat"
    small.write_bytes(packed(package, kept))
    (directory / "unicode.S").write_text(SOURCE.format(symbol=SYMBOL, path=small))
    subprocess.run(["clang", "-c", directory / "unicode.S", "-o", directory / MEMBER], check=True)
    copy = directory / archive.name
    copy.write_bytes(archive.read_bytes())
    subprocess.run(["llvm-ar", "r", copy, MEMBER], cwd=directory, check=True)
    (directory / MEMBER).unlink()
    print(f"Unicode data: {len(package):,} bytes, {small.stat().st_size:,} of them kept")


main()
