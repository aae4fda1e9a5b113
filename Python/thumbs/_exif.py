"""EXIF metadata of image files."""
from __future__ import annotations

import io
from typing import Any, Dict

_EXIF, _GPS = 0x8769, 0x8825
"""The tags with further tags: of the exposure, and of the place."""


def exif_of(file: bytes) -> Dict[str, str]:
    """Returns the metadata of a file by their names, as texts; empty if there are none, or if they are damaged."""
    try:
        from PIL import ExifTags, Image
    except ImportError as error:
        raise ImportError("exif needs the Python package Pillow: pip install pillow") from error
    try:
        with Image.open(io.BytesIO(file)) as image:
            found = image.getexif()
            groups = [(found, ExifTags.TAGS), (found.get_ifd(_EXIF), ExifTags.TAGS),
                      (found.get_ifd(_GPS), ExifTags.GPSTAGS)]
            return {names[tag]: _text(value) for tags, names in groups for tag, value in tags.items()
                    if tag in names and tag not in (_EXIF, _GPS)}
    except Exception:  # A file of a stranger may break the parser in any way, and the image itself is not affected.
        return {}


def _text(value: Any) -> str:
    return value.decode("latin-1").rstrip("\0") if isinstance(value, bytes) else str(value).rstrip("\0")
