"""The images from which the files are made, and what the tests do with images: arrays of RGBA pixels with 8 bits."""
import struct
import zlib

import numpy
from PIL import Image, ImageOps

WIDTH, HEIGHT = 203, 151
# Linear colors of Display P3 to those of sRGB (both have the white point D65 and the curve of sRGB).
FROM_P3 = numpy.array([[1.22494, -0.22494, 0], [-0.04206, 1.04206, 0], [-0.01964, -0.07864, 1.09827]])


def photo(width=WIDTH, height=HEIGHT):
    """Waves and gradients with noise, and saturated rectangles with hard edges; always the same."""
    y, x = numpy.mgrid[0:height, 0:width]
    noise = numpy.random.default_rng(1).normal(0, 6, (height, width, 3))
    red, green = 128 + 100 * numpy.sin(x / 17) + 20 * numpy.cos(y / 5), 255 * y / height + 15 * numpy.sin(x * y / 900)
    pixels = numpy.stack([red, green, 255 * x / width], -1) + noise
    for column, color in enumerate([(255, 0, 0), (255, 255, 255), (0, 0, 0), (0, 0, 255)]):
        pixels[10:30, 10 + 23 * column:30 + 23 * column] = color
    return Image.fromarray(numpy.clip(pixels, 0, 255).astype(numpy.uint8))


def transparent(width=WIDTH, height=HEIGHT):
    """The photo with an alpha channel that has both ends and all values between them."""
    image = photo(width, height)
    image.putalpha(Image.fromarray(numpy.tile(numpy.clip(numpy.linspace(-30, 290, width), 0, 255).astype(numpy.uint8),
                                              (height, 1))))
    return image


def pixels(image):
    """Converts an image of Pillow, or a file. 16-bit samples lose their lower byte."""
    if not isinstance(image, Image.Image):
        image = Image.open(image)
    if image.mode.startswith("I"):
        image = Image.fromarray((numpy.asarray(image) >> 8).astype(numpy.uint8))
    return numpy.asarray(image.convert("RGBA"))


def differences(image, other):
    """The largest and the mean difference of two images in what is visible: colors are multiplied by their alpha."""
    first, second = (numpy.concatenate([array[..., :3] * (array[..., 3:] / 255), array[..., 3:]], -1)
                     for array in (image.astype(float), other.astype(float)))
    difference = numpy.abs(first - second)
    # Rounded, because 1/3 of 255 is not exactly 85.
    return round(difference.max(), 3), round(difference.mean(), 3)


def p3_to_srgb(array):
    """Converts the colors of an image from Display P3 to sRGB."""
    values = array[..., :3] / 255
    linear = numpy.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    linear = numpy.clip(linear @ FROM_P3.T, 0, 1)
    values = numpy.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return numpy.concatenate([numpy.round(values * 255).astype(numpy.uint8), array[..., 3:]], -1)


def upright(path):
    """A file with an orientation, as it should be shown."""
    return pixels(ImageOps.exif_transpose(Image.open(path)))


def write_deep(path):
    """Writes the photo as a PNG file with 16 bits per sample, whose lower bytes are random. Pillow cannot."""
    photo_bytes = numpy.asarray(photo())
    lower = numpy.random.default_rng(2).integers(0, 256, photo_bytes.shape, numpy.uint8)
    rows = numpy.stack([photo_bytes, lower], -1).reshape(HEIGHT, -1)
    # Each row begins with the number of its filter.
    data = zlib.compress(numpy.pad(rows, ((0, 0), (1, 0))).tobytes())
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 16, 2, 0, 0, 0)
    file = b"\x89PNG\r\n\x1a\n"
    for kind, content in [(b"IHDR", header), (b"IDAT", data), (b"IEND", b"")]:
        checksum = struct.pack(">I", zlib.crc32(kind + content))
        file += struct.pack(">I", len(content)) + kind + content + checksum
    path.write_bytes(file)
