"""Thumbnails in AVIF, decoded by avifdec (dav1d, where the encoder is libaom), and compared with those in PNG."""
import json
import subprocess

import cases
import samples
import numpy
from PIL import Image

# The quality, and the largest mean difference of the visible colors from those of the PNG file.
QUALITIES = {"1": 24, "82": 5, "90": 3, "100": 1}
SIZES = "1,7,100,203"


def make(folder):
    folder.mkdir()
    photo, transparent = samples.photo(), samples.transparent()
    drawing = Image.new("RGB", photo.size, (255, 0, 0))
    drawing.paste((0, 0, 255), (40, 40, 90, 90))
    images = {"photo": photo, "transparent": transparent, "gray": photo.convert("L"),
              "gray-alpha": transparent.convert("LA"), "drawing": drawing}
    for name, image in images.items():
        image.save(folder / f"{name}.png")
    return list(images)


def render(command, folder, names, format, quality):
    """Renders all images, and returns the paths of the thumbnails by the name of the image and the width."""
    place = folder / f"{format}-{quality}"
    uris = [(folder / f"{name}.png").as_uri() for name in names]
    options = ["--size", SIZES, "--format", format, "--quality", quality, "--allow-file", "--no-cache", "-q"]
    subprocess.run([command, *uris, *options, "-o", place, "--report", folder / "report.jsonl"], check=True)
    lines = map(json.loads, (folder / "report.jsonl").open())
    lines = sorted((line for line in lines if "index" in line), key=lambda line: line["index"])
    return {(name, output["spec"]): place / output["path"] for name, line in zip(names, lines)
            for output in line["outputs"]}


def planes(path):
    """The sampling of chroma and the kind of alpha, as avifdec prints them."""
    lines = subprocess.run(["avifdec", "--info", path], capture_output=True, text=True, check=True).stdout.splitlines()
    fields = dict(line.strip(" *").split(":", 1) for line in lines if " : " in line)
    fields = {name.strip(): value.strip() for name, value in fields.items()}
    return fields["Format"], fields["Alpha"] != "Absent"


def expected_planes(name, quality, pixels):
    gray = (pixels[..., :1] == pixels[..., :3]).all()
    full = int(quality) >= 90 or len(numpy.unique(pixels.reshape(-1, 4), axis=0)) <= (16 if gray else 256)
    return "YUV400" if gray else "YUV444" if full else "YUV420", bool((pixels[..., 3] < 255).any())


def compare(avif, png, name, quality):
    cases.tool("avifdec", avif, avif.with_suffix(".png"))
    pixels, expected = samples.pixels(avif.with_suffix(".png")), samples.pixels(png)
    if pixels.shape != expected.shape:
        return f"its size is {pixels.shape}", 0
    if planes(avif) != expected_planes(name, quality, expected):
        return f"its planes are {planes(avif)}", 0
    if (pixels[..., 3] != expected[..., 3]).any():
        return "its alpha has losses", 0
    largest, mean = samples.differences(pixels, expected)
    return (f"it differs by {mean:.2f} on average" if mean > QUALITIES[quality] else None), mean


def check(command, folder):
    names = make(folder)
    failures = []
    expected = render(command, folder, names, "png", "82")
    for quality in QUALITIES:
        files = render(command, folder, names, "avif", quality)
        results = {key: compare(path, expected[key], key[0], quality) for key, path in files.items()}
        failures += [f"AVIF output: {key}, quality {quality}: {fault}" for key, (fault, _) in results.items() if fault]
        print(f"AVIF output of quality {quality}: {len(results)} files differ by at most "
              f"{max(result[1] for result in results.values()):.2f} (at most {QUALITIES[quality]}) on average")
    return failures
