"""SVG files, and their pixels by rsvg-convert at the same size; rectangles at whole pixels are also computed."""
import functools
import gzip
import io
import pathlib
import subprocess

import numpy

from cases import Case, Group
import samples

BREEZE = pathlib.Path("/usr/share/icons/breeze")
ICON_COUNT = 200
ROOT = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
SHAPES = """
  <defs>
    <linearGradient id="fade"><stop stop-color="red"/><stop offset="1" stop-color="blue" stop-opacity="0.2"/>
    </linearGradient>
    <filter id="blur"><feGaussianBlur stdDeviation="3"/></filter>
    <clipPath id="clip"><circle cx="30" cy="60" r="18"/></clipPath>
    <pattern id="dots" width="6" height="6" patternUnits="userSpaceOnUse"><circle cx="3" cy="3" r="2"/></pattern>
  </defs>
  <rect x="4" y="4" width="60" height="30" rx="6" fill="url(#fade)" stroke="green" stroke-width="2"/>
  <circle cx="90" cy="30" r="20" fill="teal" filter="url(#blur)"/>
  <path d="M10 90 C30 40 60 100 110 60" fill="none" stroke="#f80" stroke-width="4" stroke-dasharray="8 3"/>
  <g clip-path="url(#clip)"><rect y="40" width="60" height="40" fill="url(#dots)"/></g>
  <text x="50" y="80" font-family="sans-serif" font-size="14" fill="#333">Text</text>
  <use xlink:href="#clip"/><g opacity="0.5"><rect x="80" y="60" width="30" height="25"/></g>"""
# At these, the height is a whole number, too: otherwise rsvg-convert places the drawing at another corner.
SIZES = ["24", "60", "120", "480"]
SQUARES = [((1, 1, 4, 3), (255, 0, 0, 255)), ((6, 2, 3, 6), (0, 128, 0, 255)), ((2, 5, 3, 4), (0, 0, 255, 255))]


def write(path, attributes, content, document_type=""):
    path.write_text(f"{document_type}{ROOT} {attributes}>{content}</svg>")
    return path


def drawn(path, width, height):
    command = ["rsvg-convert", "-w", str(width), "-h", str(height), str(path)]
    return samples.pixels(io.BytesIO(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))


def squares(width, height):
    """The rectangles, computed. Their coordinates are whole numbers at all sizes."""
    array, scale = numpy.zeros((height, width, 4), numpy.uint8), width // 10
    for (x, y, w, h), color in SQUARES:
        array[y * scale:(y + h) * scale, x * scale:(x + w) * scale] = color
    return array


def utf_16(folder, text):
    """Writes a drawing in UTF-16 of both byte orders, with and without its byte order mark."""
    declared = f'<?xml version="1.0" encoding="UTF-16"?>{text}'
    for order in ("le", "be"):
        for name, content in (("mark", f"\ufeff{text}"), ("both", f"\ufeff{declared}"), ("declaration", declared)):
            path = folder / f"utf-16-{order}-{name}.svg"
            path.write_bytes(content.encode(f"utf-16-{order}"))
            yield path


def shapes(folder):
    """The same drawing, of which only one has another place."""
    box = write(folder / "box.svg", 'viewBox="0 0 120 100"', SHAPES)
    same = [box, write(folder / "size.svg", 'width="120" height="100"', SHAPES),
            # rsvg-convert would round this size before it scales the drawing.
            write(folder / "both.svg", 'width="60mm" height="50mm" viewBox="0 0 120 100"', SHAPES),
            write(folder / "percent.svg", 'width="100%" height="100%" viewBox="0 0 120 100"', SHAPES),
            folder / "compressed.svgz", folder / "utf-16.svgz", *utf_16(folder, box.read_text())]
    same[4].write_bytes(gzip.compress(box.read_bytes()))
    same[5].write_bytes(gzip.compress(same[6].read_bytes()))
    moved = write(folder / "moved.svg", 'width="240" height="200" viewBox="-12 -10 144 120"', SHAPES)
    return ([Case(path, functools.partial(drawn, box), size) for path in same for size in SIZES]
            + [Case(moved, functools.partial(drawn, moved), size) for size in SIZES])


def fractions(folder):
    """Documents of 3:2 whose sizes are no whole pixels, filled with green: nothing may be left empty."""
    fill = '<rect width="{}" height="{}" fill="rgb(0,128,0)"/>'
    documents = [('viewBox="0 0 1.2 0.8"', 1.2, 0.8), ('width="0.9mm" height="0.6mm" viewBox="0 0 9 6"', 9, 6),
                 ('width="4.2px" height="2.8px"', 4.2, 2.8), ('viewBox="0 0 1 0.6666667"', 1, 0.6666667),
                 ('width="100.5" height="67" viewBox="0 0 3 2"', 3, 2), ('width="0.3" viewBox="0 0 0.3 0.2"', 0.3, 0.2)]
    for number, (attributes, width, height) in enumerate(documents):
        path = write(folder / f"fraction-{number}.svg", attributes, fill.format(width, height))
        yield Case(path, lambda *_: numpy.tile(numpy.array([0, 128, 0, 255], numpy.uint8), (64, 96, 1)), "96")


def icons(folder):
    """Icons from all folders of the theme: every n-th."""
    files = sorted(path for path in BREEZE.rglob("*.svg") if not path.is_symlink())
    for number, file in enumerate(files[::len(files) // ICON_COUNT][:ICON_COUNT]):
        path = folder / f"icon-{number}.svg"
        path.write_bytes(file.read_bytes())
        yield Case(path, functools.partial(drawn, path), "64")


def groups(folder):
    rectangles = "".join(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="rgb({r},{g},{b})"/>'
                         for (x, y, w, h), (r, g, b, _) in SQUARES)
    files = [write(folder / "squares.svg", 'width="10" height="10"', rectangles),
             write(folder / "squares-box.svg", 'viewBox="0 0 10 10"', rectangles)]
    exact = [Case(path, squares, size) for path in files for size in ("10", "50", "200", "800")]
    return [
        Group("SVG: rectangles", "computed", exact, 0),
        Group("SVG: fractional sizes", "computed", list(fractions(folder)), 1),
        Group("SVG: shapes, text, filters at several sizes", "alpha is divided, with rounding", shapes(folder), 2),
        Group("SVG: icons of the Breeze theme", "alpha is divided, with rounding", list(icons(folder)), 2),
    ]
