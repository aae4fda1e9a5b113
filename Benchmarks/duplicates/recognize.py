#!/usr/bin/env python3
"""recognize.py THUMBS DIR: measures how many changed copies of the photos in DIR/photos are recognized by the distances
of perceptual hashes, and how many pairs of different photos are taken for copies.

The hashes are those of the command THUMBS, of the Python package ImageHash, and of the definition in
Documentation/formats.md. The copies are files in DIR/copies. Needs Pillow, numpy and ImageHash.
"""
import json, pathlib, subprocess, sys
import imagehash
import numpy
from PIL import Image, ImageEnhance

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "Tests" / "Fixtures"))
import perceptual_hash  # noqa: E402

THUMBS, DIR = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
COPIES = DIR / "copies"
DISTANCES = range(13)


def resized(image, width):
    return image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)


def cropped(image, part):
    """Removes a part of the width and of the height, half of it on either side."""
    across, down = round(image.width * part / 2), round(image.height * part / 2)
    return image.crop((across, down, image.width - across, image.height - down))


def brightened(image, factor):
    return ImageEnhance.Brightness(image).enhance(factor)


CHANGES = {
    "half the size": (lambda image: resized(image, image.width // 2), "jpg", 85),
    "320 pixels wide": (lambda image: resized(image, 320), "jpg", 85),
    "100 pixels wide": (lambda image: resized(image, 100), "jpg", 85),
    "JPEG of quality 40": (lambda image: image, "jpg", 40),
    "WebP of quality 75": (lambda image: image, "webp", 75),
    "2 % cropped": (lambda image: cropped(image, 0.02), "jpg", 85),
    "5 % cropped": (lambda image: cropped(image, 0.05), "jpg", 85),
    "20 % brighter": (lambda image: brightened(image, 1.2), "jpg", 85),
    "20 % darker": (lambda image: brightened(image, 0.8), "jpg", 85),
}


def make_copies(photos):
    """Returns the files of each photo: itself, and its copies in the order of CHANGES."""
    COPIES.mkdir(exist_ok=True)
    files = []
    for photo in photos:
        image = Image.open(photo).convert("RGB")
        files.append([photo])
        for number, (change, extension, quality) in enumerate(CHANGES.values()):
            path = COPIES / f"{photo.stem}-{number}.{extension}"
            if not path.exists():
                change(image).save(path, quality=quality)
            files[-1].append(path)
    return files


def by_thumbs(paths):
    listing, report = DIR / "list.txt", DIR / "report.jsonl"
    listing.write_text("".join(path.as_uri() + "\n" for path in paths))
    subprocess.run([THUMBS, "fetch", "-q", "--allow-file", "--no-cache", "--phash", "--size", "64", "--overwrite",
                    "--name-template", "{index}.{ext}", "-o", DIR / "out", "--report", report, listing], check=True)
    rows = (json.loads(line) for line in report.read_text().splitlines())
    hashes = {row["index"]: int(row["phash"], 16) for row in rows if "index" in row}
    return [hashes[index] for index in range(len(paths))]


def by_imagehash(paths):
    return [int(str(imagehash.phash(Image.open(path).convert("RGB"))), 16) for path in paths]


def by_definition(paths):
    return [perceptual_hash.of_file(path) for path in paths]


def is_significant(value):
    return value.bit_count() >= 24


def distances(hashes):
    """Returns the distances of true pairs, by change, and those of false pairs. `hashes` has a row per photo."""
    true = {name: [] for name in CHANGES}
    false = []
    for number, (original, *_) in enumerate(hashes):
        for other, row in enumerate(hashes):
            for change, value in zip((None, *CHANGES), row):
                both = is_significant(original) and is_significant(value)
                distance = (original ^ value).bit_count() if both else 64
                if other != number:
                    false.append(distance)
                elif change is not None:
                    true[change].append(distance)
    return true, numpy.array(false)


def share(values, limit):
    return 100 * float(numpy.mean(numpy.array(values) <= limit))


def main():
    photos = sorted((DIR / "photos").glob("*.jpg"))
    files = make_copies(photos)
    paths = [path for row in files for path in row]
    width = len(CHANGES) + 1
    hashes = {name: function(paths) for name, function in
              (("thumbs", by_thumbs), ("ImageHash", by_imagehash), ("definition", by_definition))}
    measured = {name: distances([values[start:start + width] for start in range(0, len(values), width)])
                for name, values in hashes.items()}
    count, pairs = len(photos), len(measured["thumbs"][1])
    weak = sum(not is_significant(value) for value in hashes["thumbs"][::width])
    print(f"{count} photos, {count * len(CHANGES)} copies, {pairs} false pairs; "
          f"{weak} photos have no significant hash\n")
    print("| distance | " + " | ".join(f"{name}: found | false" for name in measured) + " |")
    print("|---" * (2 * len(measured) + 1) + "|")
    for limit in DISTANCES:
        cells = [f"{share(sum(true.values(), []), limit):.1f} % | {int((false <= limit).sum())}"
                 for true, false in measured.values()]
        print(f"| {limit} | " + " | ".join(cells) + " |")
    print("\n| change | " + " | ".join(f"{name}, 6" for name in measured) + " |")
    print("|---" * (len(measured) + 1) + "|")
    for change in CHANGES:
        print(f"| {change} | " + " | ".join(f"{share(true[change], 6):.1f} %" for true, _ in measured.values()) + " |")
    differences = [(a ^ b).bit_count() for a, b in zip(hashes["thumbs"], hashes["definition"])]
    print("\nbits between thumbs and the definition: "
          + ", ".join(f"{differences.count(bits)} files {bits}" for bits in sorted(set(differences))))
    print(f"least distance of a false pair: {min(measured['thumbs'][1])}, ImageHash {min(measured['ImageHash'][1])}")


main()
