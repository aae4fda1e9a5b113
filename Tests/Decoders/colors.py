"""Thumbnails in Display P3 and in the profile of their source, compared with what LittleCMS makes of the image."""
import io
import pathlib
import subprocess

import cases
import numpy
from PIL import Image, ImageCms

# The largest difference of a sample from that of LittleCMS in a file without losses, and the mean one in others.
LARGEST, MEAN = 1, 4
# The colorants of Display P3, adapted to D50, as in the profiles of its maker.
COLORANTS = {"red": (0.515, 0.241, -0.001), "green": (0.292, 0.692, 0.042), "blue": (0.157, 0.067, 0.784)}


FIXTURE = pathlib.Path(__file__).parents[1] / "Fixtures/pictures/adobe-rgb.jpg"


def wide_profile():
    """A profile of Adobe RGB, as a fixture has it."""
    return Image.open(FIXTURE).info["icc_profile"]


def make(folder):
    folder.mkdir()
    steps = numpy.linspace(0, 255, 6).astype(numpy.uint8)
    grid = numpy.array(numpy.meshgrid(steps, steps, steps)).reshape(3, 12, 18).transpose(1, 2, 0)
    image = Image.fromarray(numpy.ascontiguousarray(grid), "RGB")
    image.save(folder / "grid.png", icc_profile=wide_profile())
    return image


def render(command, folder, colors, format):
    place = folder / f"{colors}-{format}"
    subprocess.run([command, (folder / "grid.png").as_uri(), "--color", colors, "--format", format, "--quality", "100",
                    "--size", "64", "--allow-file", "--no-cache", "-q", "-o", place], check=True)
    return next(place.iterdir())


def opened(path):
    """The pixels and the profile of a thumbnail."""
    if path.suffix == ".avif":
        cases.tool("avifdec", path, path.with_suffix(".png"))
        info = subprocess.run(["avifdec", "--info", path], capture_output=True, text=True, check=True).stdout
        return numpy.asarray(Image.open(path.with_suffix(".png")).convert("RGB")), info
    image = Image.open(path)
    return numpy.asarray(image.convert("RGB")), image.info.get("icc_profile")


def expected(image, profile):
    def opened_profile(data):
        return ImageCms.ImageCmsProfile(io.BytesIO(data))
    return numpy.asarray(ImageCms.profileToProfile(image, opened_profile(wide_profile()), opened_profile(profile),
                                                   ImageCms.Intent.PERCEPTUAL))


def fault_of_profile(data):
    """Returns what is wrong with the profile of Display P3; nothing if it has the colorants."""
    profile = ImageCms.ImageCmsProfile(io.BytesIO(data)).profile
    for name, values in COLORANTS.items():
        found = getattr(profile, f"{name}_colorant")[0]
        if max(abs(a - b) for a, b in zip(found, values)) > 0.001:
            return f"its {name} is {found}"
    return None


def check(command, folder):
    image = make(folder)
    _, p3 = opened(render(command, folder, "p3", "png"))
    faults = {"the profile of Display P3": fault_of_profile(p3)}
    for colors, profile in [("p3", p3), ("source", wide_profile())]:
        for format in ["png", "jpeg", "webp", "avif"]:
            pixels, found = opened(render(command, folder, colors, format))
            faults[f"--color {colors} in {format}"] = fault(image, pixels, found, profile, format, p3)
    print(f"wide color: {len(faults)} files and profiles were compared with LittleCMS")
    return [f"wide color: {name}: {reason}" for name, reason in faults.items() if reason]


def fault(image, pixels, found, profile, format, p3):
    """Returns what is wrong with a thumbnail: its declared colors, or its pixels."""
    if format == "avif":
        primaries = [line.split(":")[1].split()[0] for line in found.splitlines() if "Color Primaries" in line]
        if primaries != ["12"]:
            return f"its primaries are {primaries}"
        profile = p3
    elif found != profile:
        return "it has another profile"
    difference = numpy.abs(pixels.astype(int) - expected(image, profile).astype(int))
    if format == "png" and difference.max() > LARGEST:
        return f"a sample differs by {difference.max()}"
    return f"the samples differ by {difference.mean():.1f}" if difference.mean() > MEAN else None
