#!/usr/bin/env python3
"""Runs each program on unusual and broken input, one item at a time, and prints which of them handle it right: traps.py

"Right" means a correct image, or no image and a reported error. Pixels are compared with the colors that the input was
made from, after LittleCMS has applied the color profile of the thumbnail.
"""
import contextlib
import http.server
import io
import pathlib
import shutil
import struct
import tempfile
import threading
import time
import zlib

from PIL import Image, ImageCms

import programs

SIDE = 64
SRGB = ImageCms.createProfile("sRGB")


def encoded(image, kind, **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(width, height, depth, kind, rows, *chunks):
    """A PNG of a kind that Pillow cannot write."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def halves(first, second, mode="RGB", size=(200, 100)):
    """An image of two colors, one in each half."""
    image = Image.new(mode, size, first)
    image.paste(second, (size[0] // 2, 0, *size))
    return image


def photo(size=(640, 480)):
    """A JPEG file that is large enough to be cut in half."""
    image = Image.effect_noise(size, 60).convert("RGB")
    return encoded(image, "JPEG", quality=85)


def turned():
    exif = Image.Exif()
    exif[0x0112] = 6
    return encoded(halves((255, 0, 0), (0, 0, 255)), "JPEG", quality=95, exif=exif)


def wide_gamut():
    """A JPEG whose color looks very different without its profile: linear light with the primaries of sRGB."""
    profile = linear_profile()
    image = Image.new("RGB", (200, 200), (55, 55, 55))
    return encoded(image, "JPEG", quality=95, icc_profile=profile)


def linear_profile():
    """An ICC profile (version 2) with the primaries of sRGB and a gamma of 1."""
    def tag(kind, body):
        return kind + bytes(4) + body

    def xyz(*values):
        return tag(b"XYZ ", b"".join(struct.pack(">i", round(value * 65536)) for value in values))

    text = b"linear\0"
    tags = {
        b"desc": tag(b"desc", struct.pack(">I", len(text)) + text + bytes(78)), b"cprt": tag(b"text", b"none\0"),
        b"wtpt": xyz(0.9642, 1, 0.8249), b"rXYZ": xyz(0.4361, 0.2225, 0.0139), b"gXYZ": xyz(0.3851, 0.7169, 0.0971),
        b"bXYZ": xyz(0.1431, 0.0606, 0.7141),
    }
    curve = tag(b"curv", struct.pack(">I", 0))
    tags |= {b"rTRC": curve, b"gTRC": curve, b"bTRC": curve}
    table, body, offset = struct.pack(">I", len(tags)), b"", 128 + 4 + 12 * len(tags)
    for name, data in tags.items():
        data += bytes(-len(data) % 4)
        table += name + struct.pack(">II", offset + len(body), len(data))
        body += data
    head = struct.pack(">I4sI4s4s4s12s4s4s28sIII", 128 + len(table) + len(body), bytes(4), 0x02100000, b"mntr", b"RGB ",
                       b"XYZ ", bytes(12), b"acsp", bytes(4), bytes(28), 0xF6D6, 0x10000, 0xD32D)
    return head + bytes(128 - len(head)) + table + body


class Trap:
    """A path of the server, its response, and a check of the thumbnail (None: there must be no thumbnail)."""

    def __init__(self, name, body=None, expect=None, path="a.jpg", respond=None, isOutside=False):
        self.name, self.body, self.expect, self.path = name, body, expect, path
        self.respond, self.isOutside = respond, isOutside


def near(*points, levels=12):
    """A check of colors at points (fractions of width and height), with a tolerance in levels per channel."""
    def check(image):
        image = shown(image)
        for (x, y), color in points:
            found = image.getpixel((int(x * (image.width - 1)), int(y * (image.height - 1))))
            if color == "transparent":
                if found[3] > 30:
                    return False
            elif any(abs(a - b) > levels for a, b in zip(found, color)):
                return False
        return True
    return check


def shown(image):
    """The image as a viewer with color management shows it."""
    profile = image.info.get("icc_profile")
    if profile and image.mode == "RGB":
        image = ImageCms.profileToProfile(image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), SRGB)
    return image.convert("RGBA")


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200"><path d="M0 0h200v200H0z" fill="red"/></svg>'
RED, BLUE, GRAY = (255, 0, 0), (0, 0, 255), (128, 128, 128)


def endless(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "image/jpeg")
    handler.end_headers()
    handler.wfile.write(photo()[:20000])
    while True:
        handler.wfile.write(bytes(1 << 16))
        # Slow, so that a program without a limit does not fill the disk.
        time.sleep(0.02)


def busy(handler):
    """Rejects every other request, starting with the first, and allows a retry after one second."""
    handler.server.refused = not getattr(handler.server, "refused", False)
    body = encoded(Image.new("RGB", (200, 200), RED), "JPEG")
    if handler.server.refused:
        handler.send_response(429)
        handler.send_header("Retry-After", "1")
        body = b""
    else:
        handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def traps():
    red = encoded(Image.new("RGB", (200, 200), RED), "JPEG", quality=95)
    gray16 = b"".join(b"\0" + struct.pack(">H", 0x8080) * 200 for _ in range(200))
    red16 = b"".join(b"\0" + struct.pack(">HHH", 0xFFFF, 0, 0) * 200 for _ in range(200))
    palette = b"".join(b"\0" + bytes([0] * 100 + [1] * 100) for _ in range(100))
    soft = Image.new("LA", (200, 200), (128, 255))
    soft.paste((0, 0), (100, 0, 200, 200))
    clear = Image.new("RGBA", (200, 200), (255, 0, 0, 255))
    clear.paste((0, 0, 0, 0), (100, 0, 200, 200))
    frames = [Image.new("RGB", (200, 200), color) for color in (RED, BLUE)]
    cyan_free = Image.new("CMYK", (200, 200), (0, 255, 255, 0))
    return [
        Trap("EXIF orientation 6", turned(), near(((.5, .1), RED), ((.5, .9), BLUE))),
        Trap("16-bit gray PNG", png(200, 200, 16, 0, gray16), near(((.5, .5), GRAY)), "a.png"),
        Trap("16-bit RGB PNG", png(200, 200, 16, 2, red16), near(((.5, .5), RED)), "b.png"),
        # Without a profile, the conversion of CMYK is not defined exactly.
        Trap("CMYK red", encoded(cyan_free, "JPEG", quality=95), near(((.5, .5), RED), levels=45), "cmyk.jpg"),
        Trap("linear ICC profile", wide_gamut(), near(((.5, .5), (128, 128, 128))), "icc.jpg"),
        Trap("palette with a transparent color",
             png(200, 100, 8, 3, palette, chunk(b"PLTE", bytes([255, 0, 0, 0, 0, 0])), chunk(b"tRNS", bytes([255, 0]))),
             near(((.1, .5), RED), ((.9, .5), "transparent")), "trns.png"),
        Trap("gray with alpha", encoded(soft, "PNG"), near(((.1, .5), GRAY), ((.9, .5), "transparent")), "la.png"),
        Trap("WebP with alpha", encoded(clear, "WEBP", lossless=True),
             near(((.1, .5), RED), ((.9, .5), "transparent")), "alpha.webp"),
        Trap("animated WebP", encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:]),
             near(((.5, .5), RED)), "two.webp"),
        Trap("animated GIF", encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]),
             near(((.5, .5), RED)), "two.gif"),
        Trap("GIF with transparency", encoded(clear, "GIF"), near(((.1, .5), RED), ((.9, .5), "transparent")), "t.gif"),
        Trap("SVG", SVG, near(((.5, .5), RED)), "a.svg"),
        Trap("half a file", photo()[: len(photo()) // 2], None, "half.jpg"),
        Trap("page with status 200", b"<!doctype html><title>Gone</title>", None, "page.jpg"),
        Trap("stream that never ends", respond=endless, path="endless.jpg"),
        Trap("64,250 x 64,250 pixels in 500 KB", bomb(), None, "bomb.png"),
        Trap("comma in the URL", red, near(((.5, .5), RED)), "w_200,h_200/a.jpg"),
        Trap("space in the URL", red, near(((.5, .5), RED)), "a b.jpg"),
        Trap("file: URL", path="secret.jpg", isOutside=True),
        Trap("429 with Retry-After", expect=near(((.5, .5), RED)), respond=busy, path="busy.jpg"),
    ]


def bomb():
    side = 64250
    packer = zlib.compressobj(9)
    body = b"".join(packer.compress(bytes(1 + side // 8 + 1)) for _ in range(side)) + packer.flush()
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0))
            + chunk(b"IDAT", body) + chunk(b"IEND", b""))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def do_GET(self):
        self.server.count += 1
        path = self.path.lstrip("/").replace("%20", " ").replace("%2C", ",").split("?")[0]
        trap = self.server.traps.get(path)
        if trap is None:
            return self.send_error(404)
        if trap.respond:
            return trap.respond(self)
        if self.server.pause:
            time.sleep(self.server.pause)
        self.send_response(200)
        self.send_header("Content-Type", "image/png" if path.endswith("png") else "image/jpeg")
        self.send_header("Content-Length", str(len(trap.body)))
        self.send_header("Cache-Control", "max-age=86400")
        self.end_headers()
        self.wfile.write(trap.body)

    def log_message(self, *_):
        pass

    def handle_one_request(self):
        # Clients may close the connection at any time.
        with contextlib.suppress(OSError):
            super().handle_one_request()


def serve(everything):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.count, server.pause = 0, 0
    server.traps = {trap.path: trap for trap in everything if not trap.isOutside}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


TOOLS = {
    "thumbs": lambda urls, out, extension: programs.thumbs(
        urls, SIDE, out, ["--timeout", "20", "--retries", "2"]),
    "curl+vips": lambda urls, out, extension: programs.curl_vips(urls, SIDE, out, extension, limit=20),
    "img2dataset": lambda urls, out, extension: programs.img2dataset(urls, SIDE, out, extension, limit=20),
}


class Folder:
    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="thumbs-traps-"))
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def verdict(trap, run, found):
    """Summarizes the result of one program in a few words."""
    if trap.expect is None:
        if found:
            return "an image"
        return "right" if run.seconds < programs.Run.limit else "does not end"
    if not found:
        return "no image"
    with Image.open(found[0]) as image:
        if max(image.size) > SIDE:
            return "wrong size"
        return "right" if trap.expect(image) else "wrong pixels"


def play(trap, origin, outside):
    url = f"file://{outside}" if trap.isOutside else f"{origin}/{trap.path}"
    extension = "jpg" if trap.path.endswith("jpg") else "png"
    results = {}
    for name, tool in TOOLS.items():
        with Folder() as out:
            run = tool([url], out, extension)
            results[name] = verdict(trap, run, programs.thumbnails(out))
    show(trap.name, results)
    return results


def duplicates(server, origin):
    """Counts the requests for a hundred rows with one URL."""
    results = {}
    for name, tool in TOOLS.items():
        with Folder() as out:
            server.count, server.pause = 0, 0.2
            tool([f"{origin}/a.jpg"] * 100, out, "jpg")
            results[name] = "right" if server.count == 1 else f"{server.count} requests"
    server.pause = 0
    return results


def second_run(server, origin):
    results = {}
    for name, tool in TOOLS.items():
        with Folder() as out:
            tool([f"{origin}/a.jpg"], out, "jpg")
            server.count = 0
            tool([f"{origin}/a.jpg"], out, "jpg")
            results[name] = "right" if server.count == 0 else "new requests"
    return results


def show(title, results):
    print(f"{title:34}" + "".join(f"{results[name]:16}" for name in TOOLS), flush=True)


def main():
    programs.Run.limit = 90
    print(f"\n{'trap':34}" + "".join(f"{name:16}" for name in TOOLS))
    everything = traps()
    server = serve(everything)
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    with Folder() as folder:
        outside = folder / "secret.jpg"
        outside.write_bytes(encoded(Image.new("RGB", (200, 200), RED), "JPEG"))
        rows = [play(trap, origin, outside) for trap in everything]
    for title, counted in [("one URL in 100 rows", duplicates), ("second run", second_run)]:
        rows.append(counted(server, origin))
        show(title, rows[-1])
    show("total right", {name: f"{sum(row[name] == 'right' for row in rows)} of {len(rows)}" for name in TOOLS})


main()
