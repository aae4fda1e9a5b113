#!/usr/bin/env python3
"""match.py webp|avif [SSIMULACRA2]: finds the setting of an encoder that looks as good as each quality of JPEG.

Prints one row per JPEG quality: the quality of libwebp, or the quantizer of libaom, with the same mean score over the
photos in /usr/share/backgrounds at 256 and 512 px, and the ratio of the sizes. The score is the structural similarity
of luma (Wang et al. 2004, Gaussian window of 11 pixels), because the chroma of all has half the resolution below a JPEG
quality of 90. With a second argument it is SSIMULACRA2, which needs the Python package ssimulacra2 and takes minutes.
Needs Pillow, NumPy, and cwebp or avifenc and avifdec. The encoders have the settings of the project. `WebPQuality` and
`AVIFQuality` have the resulting tables.
"""
import io, pathlib, subprocess, sys, tempfile
import numpy as np
from PIL import Image

JPEG = (1, 10, 20, 30, 40, 50, 60, 70, 75, 82, 85, 89, 90, 93, 95, 98, 100)
WEBP = (0, 2, 5, 10, 15, 20, 30, 40, 50, 60, 66, 70, 74, 78, 80, 82, 84, 86, 88, 90, 92, 94, 96, 98, 100)
QUANTIZERS = (63, 60, 57, 54, 51, 48, 45, 42, 39, 36, 33, 30, 27, 24, 21, 18, 15, 12, 9, 6, 3, 0)
SIDES = (256, 512)
TEMPORARY = tempfile.TemporaryDirectory()
FOLDER = pathlib.Path(TEMPORARY.name)


def blurred(plane):
    weights = np.exp(-np.arange(-5, 6) ** 2 / (2 * 1.5 ** 2))
    weights /= weights.sum()
    rows = sum(w * plane[i:plane.shape[0] - 10 + i] for i, w in enumerate(weights))
    return sum(w * rows[:, i:rows.shape[1] - 10 + i] for i, w in enumerate(weights))


def similarity(first, second):
    x, y = (np.asarray(image.convert("L"), float) for image in (first, second))
    mx, my = blurred(x), blurred(y)
    vx, vy, cov = blurred(x * x) - mx * mx, blurred(y * y) - my * my, blurred(x * y) - mx * my
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    return float(((2 * mx * my + c1) * (2 * cov + c2) / ((mx * mx + my * my + c1) * (vx + vy + c2))).mean())


def ssimulacra2(first, second):
    from ssimulacra2 import compute_ssimulacra2
    paths = [str(FOLDER / name) for name in ("first.png", "second.png")]
    first.save(paths[0])
    second.save(paths[1])
    return compute_ssimulacra2(*paths)


FORMAT = sys.argv[1]
SCORE = ssimulacra2 if len(sys.argv) > 2 else similarity


def jpeg(image, quality):
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality, optimize=True, subsampling=2 if quality < 90 else 0)
    return file.getvalue()


def webp(image, quality):
    image.save(FOLDER / "source.png")
    command = ["cwebp", "-quiet", "-m", "4", "-q", str(quality), FOLDER / "source.png", "-o", "-"]
    return subprocess.run(command, capture_output=True, check=True).stdout


def avif(image, quantizer, chroma):
    image.save(FOLDER / "source.png")
    file = FOLDER / "file.avif"
    least, most = str(max(quantizer - 4, 0)), str(min(quantizer + 4, 63))
    settings = ["-j", "1", "-s", "8", "-c", "aom", "--min", least, "--max", most, "-y", chroma, "--cicp", "1/13/6"]
    subprocess.run(["avifenc", *settings, FOLDER / "source.png", file], capture_output=True, check=True)
    return file.read_bytes()


def opened(file):
    if FORMAT != "avif" or file[:2] == b"\xff\xd8":
        return Image.open(io.BytesIO(file)).convert("RGB")
    (FOLDER / "decoded.avif").write_bytes(file)
    subprocess.run(["avifdec", FOLDER / "decoded.avif", FOLDER / "decoded.png"], capture_output=True, check=True)
    return Image.open(FOLDER / "decoded.png").convert("RGB")


def measured(images, encode, settings):
    """Returns the scores and sizes: one row per image, one column per setting."""
    rows = []
    for image in images:
        files = [encode(image, setting) for setting in settings]
        rows.append([(SCORE(image, opened(file)), len(file)) for file in files])
    table = np.array(rows)
    return table[..., 0], table[..., 1]


def photos():
    for path in sorted(pathlib.Path("/usr/share/backgrounds").rglob("*.jpg")):
        if "_" in path.name:  # The same photo in other sizes.
            continue
        for side in SIDES:
            image = Image.open(path).convert("RGB")
            image.thumbnail((side, side), Image.Resampling.LANCZOS)
            yield image


def curves(images):
    """Returns the settings, scores and sizes for chroma of half and of full resolution."""
    if FORMAT == "webp":
        both = (WEBP, *measured(images, webp, WEBP))
        return both, both
    return [(QUANTIZERS, *measured(images, lambda image, quantizer: avif(image, quantizer, chroma), QUANTIZERS))
            for chroma in ("420", "444")]


def main():
    images = list(photos())
    half, full = curves(images)
    theirs, their_sizes = measured(images, jpeg, JPEG)
    print(f"{len(images)} images\nJPEG  score  {FORMAT}  bytes of {FORMAT} / JPEG")
    for column, quality in enumerate(JPEG):
        settings, ours, our_sizes = half if quality < 90 else full
        score = theirs[:, column].mean()
        places = np.arange(len(settings))
        place = np.interp(score, ours.mean(0), places)
        ratio = np.mean([np.interp(place, places, sizes) for sizes in our_sizes]) / their_sizes[:, column].mean()
        print(f"{quality:4}  {score:.4f}  {np.interp(place, places, settings):4.1f}  {ratio:.2f}", flush=True)


main()
