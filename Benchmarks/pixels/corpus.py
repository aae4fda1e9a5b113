#!/usr/bin/env python3
"""corpus.py DIR [PHOTOS ICONS]: makes a corpus of photos and icons in sizes that are common on the web.

Needs Pillow, jpegtran, photos in /usr/share/backgrounds and the Oxygen icons in /usr/share/icons.
"""
import importlib.util, pathlib, random, struct, subprocess, sys
from PIL import Image

DIR = pathlib.Path(sys.argv[1])
FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "Tests/Fixtures/make-fixtures.py"
FOLDERS = ("photos", "progressive", "srgb", "p3", "422", "large", "png", "icons")
PHOTOS, ICONS = map(int, sys.argv[2:4] or (60, 200))
SIZES = [(1280, 960), (1600, 1067), (1200, 1600), (1920, 1080), (1080, 1350), (1440, 810)]
# Sizes of camera photos: 12 to 24 megapixels.
LARGE_SIZES = [(4000, 3000), (4928, 3264), (3456, 5184), (6000, 4000)]


def profiles():
    """Returns the two most common profiles of photos: matrix profiles with the sRGB curve as a table."""
    spec = importlib.util.spec_from_file_location("fixtures", FIXTURES)
    fixtures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fixtures)
    return {"srgb": fixtures.matrix_profile([(0.64, 0.33), (0.30, 0.60), (0.15, 0.06)], None),
            "p3": fixtures.matrix_profile([(0.680, 0.320), (0.265, 0.690), (0.150, 0.060)], None)}


def tagged(jpeg, profile):
    """Returns the file with a profile added (ICC.1:2010, annex B.4) and otherwise unchanged."""
    segment = b"ICC_PROFILE\0\1\1" + profile
    return jpeg[:2] + b"\xff\xe2" + struct.pack(">H", 2 + len(segment)) + segment + jpeg[2:]


def photos(count):
    """Writes photos of 1 to 2 megapixels at quality 85 as baseline 4:2:0 files, and variants of each: progressive, with
    two profiles, and 4:2:2; and a quarter of them as PNG files."""
    tags = profiles()
    sources = sorted(p for p in pathlib.Path("/usr/share/backgrounds").rglob("*.jpg") if p.stat().st_size > 200_000)
    made = 0
    for number in range(count * 4):
        source = sources[number % len(sources)]
        width, height = SIZES[number % len(SIZES)]
        image = Image.open(source).convert("RGB")
        # Halve large photos first, because web photos have been scaled down and have sharp detail.
        image = image.reduce(2) if min(image.size) > 2400 else image
        if image.width < width or image.height < height:
            continue
        place = random.Random(number)
        left, top = place.randint(0, image.width - width), place.randint(0, image.height - height)
        path = DIR / "photos" / f"{made:04}.jpg"
        image = image.crop((left, top, left + width, top + height))
        image.save(path, quality=85)
        image.save(DIR / "422" / path.name, quality=85, subsampling="4:2:2")
        for name, profile in tags.items():
            (DIR / name / path.name).write_bytes(tagged(path.read_bytes(), profile))
        if made % 4 == 0:
            image.save(DIR / "png" / f"{made:04}.png")
        again = subprocess.run(["jpegtran", "-progressive", path], stdout=subprocess.PIPE, check=True).stdout
        (DIR / "progressive" / path.name).write_bytes(again)
        made += 1
        if made == count:
            return


def large():
    """Writes photos in camera sizes at quality 90, half of them with 4:2:2."""
    sources = sorted(pathlib.Path("/usr/share/backgrounds").rglob("*.jpg"), key=lambda p: -p.stat().st_size)
    for number in range(2 * len(LARGE_SIZES)):
        size = LARGE_SIZES[number // 2]
        image = Image.open(sources[number]).convert("RGB").resize(size, Image.Resampling.BICUBIC)
        image.save(DIR / "large" / f"{number:04}.jpg", quality=90, subsampling=("4:2:0", "4:2:2")[number % 2])


def icons(count):
    base = pathlib.Path("/usr/share/icons/oxygen/base")
    files = [file for side in ("256x256", "128x128") for file in sorted((base / side).rglob("*.png"))]
    files = [file for file in files if not file.is_symlink()]
    # A large corpus repeats the files.
    for number in range(count):
        file = files[number % len(files)]
        (DIR / "icons" / f"{number:04}.png").write_bytes(file.read_bytes())


for folder in FOLDERS:
    (DIR / folder).mkdir(parents=True, exist_ok=True)
if not all(any((DIR / folder).iterdir()) for folder in FOLDERS):
    photos(PHOTOS)
    large()
    icons(ICONS)
