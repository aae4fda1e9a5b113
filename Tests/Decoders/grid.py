"""Makes a grid (ISO/IEC 23008-12, 6.6.2.3) of the images in a HEIC file by heif-enc, which makes none, though most
cameras do."""
import struct

from boxes import box, parts


def make_grid(data, columns, rows, tile_width, tile_height):
    """Returns a file whose primary image is a grid of all images of a file, which have the items 1, 2 and so on."""
    kinds = parts(data)
    children = dict(parts(dict(kinds)[b"meta"][4:]))
    tiles = range(1, columns * rows + 1)
    item, size = len(tiles) + 1, (tile_width * columns, tile_height * rows)
    grid = struct.pack(">BBBBHH", 0, 0, rows - 1, columns - 1, *size)
    start = b"".join(box(b"free" if kind == b"meta" else kind, content) for kind, content in kinds)
    place = struct.pack(">HHIHII", item, 0, 0, 1, len(start) + 8, len(grid))
    children[b"pitm"] = struct.pack(">IH", 0, item)
    children[b"iloc"] = longer(children[b"iloc"], 6, item, place)
    entry = box(b"infe", struct.pack(">IHH", 2 << 24, item, 0) + b"grid\0")
    children[b"iinf"] = longer(children[b"iinf"], 4, item, entry)
    children[b"iref"] = bytes(4) + box(b"dimg", struct.pack(f">HH{len(tiles)}H", item, len(tiles), *tiles))
    children[b"iprp"] = with_size(children[b"iprp"], item, size)
    meta = bytes(4) + b"".join(box(*child) for child in children.items())
    return start + box(b"mdat", grid) + box(b"meta", meta)


def longer(content, offset, count, entry):
    """Adds an entry to a table that has its number of entries, now `count`, at an offset."""
    return content[:offset] + struct.pack(">H", count) + content[offset + 2:] + entry


def with_size(content, item, size):
    """The content of `iprp` with the size of an item."""
    children = dict(parts(content))
    index = len(parts(children[b"ipco"])) + 1
    properties = children[b"ipco"] + box(b"ispe", struct.pack(">III", 0, *size))
    associations = children[b"ipma"]
    associations = associations[:4] + struct.pack(">I", item) + associations[8:] + struct.pack(">HBB", item, 1, index)
    return box(b"ipco", properties) + box(b"ipma", associations)
