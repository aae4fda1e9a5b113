"""A server of small distinct images at every loopback IP address, which counts the requests for each path."""
import asyncio
import collections
import struct
import threading
import zlib


class ImageServer:
    """Serves a PNG of `side` pixels, with the number in its path as its color; noise if `is_noise`."""

    def __init__(self, side=16, is_noise=False):
        self.counts, self.times, self.bodies = collections.Counter(), [], {}
        self.side, self.noise = side, noise(side) if is_noise else None
        self.loop, ready = asyncio.new_event_loop(), threading.Event()
        threading.Thread(target=self.run, args=[ready], daemon=True).start()
        ready.wait()

    def run(self, ready):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self.serve, "0.0.0.0", 0))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()

    async def serve(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ", 2)[1].decode()
                host = head.lower().split(b"host: ", 1)[1].split(b":", 1)[0].decode()
                self.counts[host, path] += 1
                body = self.image(int("".join(filter(str.isdigit, path)) or 0))
                fields = b"Cache-Control: max-age=86400\r\nContent-Length: %d\r\n" % len(body)
                writer.write(b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n" + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def image(self, number):
        if self.noise:
            return self.noise
        if number not in self.bodies:
            self.bodies[number] = png(self.side, bytes([number % 251, number // 251 % 251, 7]) * self.side ** 2)
        return self.bodies[number]

    def url(self, host, path):
        return f"http://127.0.{host // 250}.{host % 250 + 1}:{self.port}{path}"

    @property
    def requests(self):
        return sum(self.counts.values())


def png(side, pixels):
    rows = b"".join(b"\0" + pixels[3 * side * y:3 * side * (y + 1)] for y in range(side))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def noise(side):
    state, pixels = 1, bytearray()
    for _ in range(3 * side * side):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        pixels.append(state >> 16 & 0xFF)
    return png(side, bytes(pixels))
