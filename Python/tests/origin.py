#!/usr/bin/env python3
"""A server of small images on many loopback hosts, which counts requests and connections.

    origin.py HOSTS DELAY

HOSTS is the number of hosts, and DELAY the seconds before each response. Its first line of output is its port. A line
`stats` on standard input makes it print a JSON object, `reset` sets the counts to zero, and the end of input ends it:

    {"requests": {"127.0.1.1/7.png": 1}, "peaks": {"127.0.1.1": 6}}

`peaks` has the largest number of connections that were open at once. A path that contains `missing` is a 404, and one
with `noai` forbids the use for machine learning.
"""
import asyncio
import collections
import json
import socket
import struct
import sys
import zlib


def host(number):
    """The IP address of a host: 127.0.1.1, 127.0.1.2 and so on."""
    return f"127.0.{1 + number // 200}.{1 + number % 200}"


def png(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((x * y) % 256 for x in range(3 * width)) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def response(status, body, kind, fields=""):
    return (f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
            f"Cache-Control: max-age=3600\r\n{fields}\r\n").encode() + body


IMAGE = response("200 OK", png(96, 64), "image/png")
NOAI = response("200 OK", png(96, 64), "image/png", "X-Robots-Tag: noai\r\n")
MISSING = response("404 Not Found", b"none", "text/plain")


class Counts:
    def __init__(self):
        self.open = collections.Counter()
        self.reset()

    def reset(self):
        self.requests, self.peaks = collections.Counter(), collections.Counter(self.open)

    def connected(self, name):
        self.open[name] += 1
        self.peaks[name] = max(self.peaks[name], self.open[name])


class Connection(asyncio.Protocol):
    def __init__(self, counts, delay):
        self.counts, self.delay, self.buffer = counts, delay, b""

    def connection_made(self, transport):
        self.transport = transport
        self.host = transport.get_extra_info("sockname")[0]
        self.counts.connected(self.host)

    def connection_lost(self, error):
        self.counts.open[self.host] -= 1

    def data_received(self, data):
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            self.counts.requests[self.host + path] += 1
            whole = MISSING if "missing" in path else NOAI if "noai" in path else IMAGE
            asyncio.get_running_loop().call_later(self.delay, self.transport.write, whole)


def listening_sockets(count):
    port, sockets = 0, []
    for number in range(count):
        sockets.append(socket.create_server((host(number), port), backlog=1024))
        port = sockets[0].getsockname()[1]
    return port, sockets


async def obey(counts):
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        if line == b"stats\n":
            print(json.dumps({"requests": counts.requests, "peaks": counts.peaks}), flush=True)
        elif line == b"reset\n":
            counts.reset()


async def main():
    counts, delay = Counts(), float(sys.argv[2])
    port, sockets = listening_sockets(int(sys.argv[1]))
    loop = asyncio.get_running_loop()
    for listener in sockets:
        await loop.create_server(lambda: Connection(counts, delay), sock=listener)
    print(port, flush=True)
    await obey(counts)


if __name__ == "__main__":
    asyncio.run(main())
