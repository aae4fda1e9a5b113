"""Camera raw files by `raw_file`. Their pixels are those of the preview that dcraw extracts, by Pillow."""
import io
import subprocess

from PIL import Image, ImageOps

from cases import Case, Group
import raw_file
import samples

# The size of the raw image, and that of the preview.
RAW, PREVIEW = (640, 480), (600, 450)


def encoded(width, height, orientation=None, **options):
    """A preview: the bytes of a JPEG file, and its size."""
    exif = Image.Exif()
    if orientation is not None:
        exif[0x112] = orientation
        options["exif"] = exif
    stream = io.BytesIO()
    samples.photo(width, height).save(stream, "JPEG", quality=92, **options)
    return stream.getvalue(), width, height


def extracted(path):
    """The preview by dcraw, whose copy begins with Exif data of the raw image."""
    done = subprocess.run(["dcraw", "-e", "-c", path], stdout=subprocess.PIPE, check=True)
    return Image.open(io.BytesIO(done.stdout))


def turned(path, orientation):
    exif = Image.Exif()
    exif[0x112] = orientation
    image = extracted(path)
    image.info["exif"] = b""
    image.getexif().clear()
    image.getexif()[0x112] = orientation
    return samples.pixels(ImageOps.exif_transpose(image))


def files(folder):
    """Files, and the orientations of their previews."""
    preview, small = encoded(*PREVIEW), encoded(320, 240)
    for order in "<>":
        name = "little" if order == "<" else "big"
        yield raw_file.write_dng(folder / f"{name}.dng", [small, preview], RAW, 1, order), 1
        yield raw_file.write_dng(folder / f"{name}-first.dng", [preview, small], RAW, 1, order), 1
        yield raw_file.write_nef(folder / f"{name}.nef", preview, RAW, 1, order), 1
    for orientation in (3, 6, 8):
        yield raw_file.write_dng(folder / f"raw-{orientation}.dng", [preview], RAW, orientation), orientation
        yield raw_file.write_nef(folder / f"raw-{orientation}.nef", preview, RAW, orientation), orientation
    # The preview's own orientation comes first, and a preview that is turned already stays as it is.
    yield raw_file.write_nef(folder / "own.nef", encoded(*PREVIEW, 8), RAW, 3), 8
    yield raw_file.write_nef(folder / "upright.nef", encoded(*PREVIEW, 1), RAW, 6), 1
    yield raw_file.write_nef(folder / "turned.nef", encoded(*PREVIEW[::-1]), RAW, 6), 1


def groups(folder):
    cases = [Case(path, lambda *_, path=path, orientation=orientation: turned(path, orientation))
             for path, orientation in files(folder)]
    return [Group("Camera raw: previews", "the same library", cases, 0)]
