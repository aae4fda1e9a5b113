#!/usr/bin/env python3
"""corpus.py DIR [PHOTOS ICONS]: cuts real photos and icons to the sizes the web has. Needs Pillow and the packages run.sh names."""
import pathlib, random, subprocess, sys
from PIL import Image

DIR = pathlib.Path(sys.argv[1])
PHOTOS, ICONS = map(int, sys.argv[2:4] or (60, 200))
SIZES = [(1280, 960), (1600, 1067), (1200, 1600), (1920, 1080), (1080, 1350), (1440, 810)]


def photos(count):
    """Photos of 1 to 2 megapixels, quality 85; a baseline and a progressive file of each."""
    sources = sorted(p for p in pathlib.Path("/usr/share/backgrounds").rglob("*.jpg") if p.stat().st_size > 200_000)
    made = 0
    for number in range(count * 4):
        source = sources[number % len(sources)]
        width, height = SIZES[number % len(SIZES)]
        image = Image.open(source).convert("RGB")
        # Halves first: sharp detail at web size, as a camera's picture has after the site has scaled it.
        image = image.reduce(2) if min(image.size) > 2400 else image
        if image.width < width or image.height < height:
            continue
        place = random.Random(number)
        left, top = place.randint(0, image.width - width), place.randint(0, image.height - height)
        path = DIR / "photos" / f"{made:04}.jpg"
        image.crop((left, top, left + width, top + height)).save(path, quality=85)
        again = subprocess.run(["jpegtran", "-progressive", path], stdout=subprocess.PIPE, check=True).stdout
        (DIR / "progressive" / path.name).write_bytes(again)
        made += 1
        if made == count:
            return


def icons(count):
    base = pathlib.Path("/usr/share/icons/oxygen/base")
    files = [file for side in ("256x256", "128x128") for file in sorted((base / side).rglob("*.png"))]
    files = [file for file in files if not file.is_symlink()]
    # A large corpus has each of them more than once.
    for number in range(count):
        file = files[number % len(files)]
        (DIR / "icons" / f"{number:04}.png").write_bytes(file.read_bytes())


for folder in ("photos", "progressive", "icons"):
    (DIR / folder).mkdir(parents=True, exist_ok=True)
if not any((DIR / "photos").iterdir()):
    photos(PHOTOS)
    icons(ICONS)
