"""Adds properties to the primary image of a HEIC file (ISO/IEC 23008-12), for those that heif-enc does not write."""
import struct


def box(kind, content):
    return struct.pack(">I4s", 8 + len(content), kind) + content


def parts(data):
    """The kinds and contents of the boxes in `data`, all of which have a short size."""
    offset, found = 0, []
    while offset < len(data):
        size, kind = struct.unpack(">I4s", data[offset:offset + 8])
        found.append((kind, data[offset + 8:offset + size]))
        offset += size
    return found


def associated(content, item, indexes):
    """The content of `ipma` with properties added to an item, all of them essential."""
    version, wide, count = content[0], content[3] & 1, struct.unpack(">I", content[4:8])[0]
    result, offset, id_size, size = content[:8], 8, 4 if version else 2, 2 if wide else 1
    for _ in range(count):
        id_bytes, used = content[offset:offset + id_size], content[offset + id_size]
        end = offset + id_size + 1 + used * size
        entries = content[offset + id_size + 1:end]
        if int.from_bytes(id_bytes, "big") == item:
            used += len(indexes)
            entries += b"".join((index | 1 << 8 * size - 1).to_bytes(size, "big") for index in indexes)
        result += id_bytes + bytes([used]) + entries
        offset = end
    return result


def properties(content, item, added):
    """The content of `iprp` with boxes added for an item."""
    children = dict(parts(content))
    first = len(parts(children[b"ipco"])) + 1
    indexes = range(first, first + len(added))
    return (box(b"ipco", children[b"ipco"] + b"".join(box(*one) for one in added))
            + box(b"ipma", associated(children[b"ipma"], item, indexes)))


def add_properties(data, added):
    """Returns a file whose primary image has more properties. The changed `meta` is at the end, so that all others
    keep their places."""
    kinds = parts(data)
    meta = dict(kinds)[b"meta"]
    children = parts(meta[4:])
    item = struct.unpack(">H", dict(children)[b"pitm"][4:6])[0]
    changed = meta[:4] + b"".join(box(kind, properties(content, item, added) if kind == b"iprp" else content)
                                  for kind, content in children)
    file = b"".join(box(b"free" if kind == b"meta" else kind, content) for kind, content in kinds)
    return file + box(b"meta", changed)
