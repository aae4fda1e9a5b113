#!/usr/bin/env python3
"""photos.py DIR: gathers photos that are not square, and writes them to DIR/photos with a longer side of 1600 pixels (1
to 2 megapixels), and some to DIR/large with 4000 pixels (8 to 12 megapixels).

They come from the Debian packages lomiri-wallpapers-16.04, lomiri-wallpapers-20.04, mate-backgrounds (only nature) and
plasma-workspace-wallpapers, which are unpacked and not installed, and from the data of the Python packages scikit-image
and scikit-learn. Needs Pillow, apt-get and pip.
"""
import pathlib, subprocess, sys, zipfile
from PIL import Image

DIR = pathlib.Path(sys.argv[1])
DOWNLOADS = DIR / "downloads"
DEBIAN = ("lomiri-wallpapers-16.04", "lomiri-wallpapers-20.04", "mate-backgrounds", "plasma-workspace-wallpapers")
PYTHON = {"scikit-image": ("chelsea.png", "coffee.png", "motorcycle_left.png", "rocket.jpg"),
          "scikit-learn": ("china.jpg", "flower.jpg")}
FOLDERS = ("usr/share/backgrounds/*.jpg", "usr/share/backgrounds/mate/nature/*.jpg",
           "usr/share/wallpapers/*/contents/images/*.jpg")


def download():
    DOWNLOADS.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", "-qq", *DEBIAN], cwd=DOWNLOADS, check=True)
    for package in DOWNLOADS.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, DOWNLOADS / "debian"], check=True)
    subprocess.run(["python3", "-m", "pip", "download", "-q", "--no-deps", "-d", DOWNLOADS, *PYTHON], check=True)
    for wheel in DOWNLOADS.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if pathlib.Path(name).name in sum(PYTHON.values(), ()):
                    archive.extract(name, DOWNLOADS / "python")


def sources():
    """Returns one file for each photo; wallpapers have several sizes, as links or of the same photo."""
    files = [path for pattern in FOLDERS for path in sorted((DOWNLOADS / "debian").glob(pattern))]
    files += sorted(path for path in (DOWNLOADS / "python").rglob("*.*g") if path.is_file())
    photos = {}
    for path in files:
        name = path.parts[-4] if "contents" in path.parts else path.stem
        if not path.is_symlink() and path.stat().st_size > 1000:
            photos[name] = max(photos.get(name, path), path, key=lambda path: path.stat().st_size)
    return photos


def write(image, folder, name, side, quality):
    scale = side / max(image.size)
    size = tuple(round(length * scale) for length in image.size)
    image.resize(size, Image.Resampling.LANCZOS).save(DIR / folder / f"{name}.jpg", quality=quality)


download()
for folder in ("photos", "large"):
    (DIR / folder).mkdir(exist_ok=True)
for number, (name, path) in enumerate(sorted(sources().items())):
    image = Image.open(path).convert("RGB")
    if max(image.size) > 1.15 * min(image.size):
        write(image, "photos", name, 1600, 85)
        if number % 8 == 0:
            write(image, "large", name, 4000, 90)
