#!/usr/bin/env python3
"""Tests the example ThumbnailService: service.py PROGRAM [--load SECONDS]

Starts a server of images on loopback, and the service. With --load, 200 clients request images for this time, and half
of them disconnect at random. Some images are requested by one half only.
"""
import asyncio
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import statistics
import sys
import tempfile
import time
import urllib.parse

IMAGES = pathlib.Path(__file__).resolve().parent / "images"
CLIENTS = 200


class Origin:
    """Serves the example images, with one connection per request. The query of a URL has `age`, the number of seconds
    for which the response is fresh, and `delay`, the time before it or in the middle of its body."""

    def __init__(self):
        self.requests, self.aborted, self.open = collections.Counter(), collections.Counter(), 0

    async def start(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=CLIENTS)
        self.port = server.sockets[0].getsockname()[1]

    def url(self, target, host="127.0.0.1"):
        return f"http://{host}:{self.port}/{target}"

    async def serve(self, reader, writer):
        self.open += 1
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError), contextlib.closing(writer):
            await self.respond(reader, writer)
        self.open -= 1

    async def respond(self, reader, writer):
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        target = request.split()[1][1:]
        self.requests[target] += 1
        name, _, query = target.partition("?")
        query, image, tag = dict(urllib.parse.parse_qsl(query)), IMAGES / name, f'"{name}"'
        status = 304 if tag in request else 200 if image.is_file() else 404
        body = image.read_bytes() if status == 200 else b""
        head = (f"HTTP/1.1 {status} Status\r\nCache-Control: max-age={query.get('age', 60)}\r\nETag: {tag}\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n").encode()
        if body:
            writer.write(head + body[:100])
            head, body = b"", body[100:]
        if await is_closed(reader, float(query.get("delay", 0))):
            self.aborted[target] += 1
        writer.write(head + body)
        await writer.drain()


async def is_closed(reader, seconds):
    """Waits for some time. Returns true as soon as the other side has closed the connection."""
    try:
        return not await asyncio.wait_for(reader.read(1), seconds)
    except (asyncio.TimeoutError, ConnectionError) as error:
        return isinstance(error, ConnectionError)


class Service:
    """A process of the service."""

    def __init__(self, program):
        self.program = program

    async def start(self, directory, *options):
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        self.process = await asyncio.create_subprocess_exec(
            self.program, directory, "--port", "0", *options, stderr=asyncio.subprocess.PIPE, env=environment)
        while not (match := re.search(rb"listening on 127.0.0.1:(\d+)", await self.process.stderr.readline())):
            assert not self.process.stderr.at_eof(), "The service has not started."
        self.port = int(match[1])
        self.log = asyncio.create_task(self.process.stderr.read())

    async def get(self, url, size=128, fields="", patience=30):
        """Returns the status, the header fields and the body. Disconnects after `patience` seconds."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        query = urllib.parse.urlencode({"url": url, "size": size})
        with contextlib.closing(writer):
            writer.write(f"GET /thumbnail?{query} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n".encode())
            head, _, body = (await asyncio.wait_for(reader.read(), patience)).partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        return int(lines[0].split()[1]), dict(line.lower().split(": ", 1) for line in lines[1:]), body

    async def fails(self, status, code, url, size=128):
        received, _, body = await self.get(url, size)
        assert (received, json.loads(body)["code"]) == (status, code), (received, body)

    async def stop(self):
        """Sends SIGTERM, and returns the number of seconds until the process has ended with status 0."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        status = await asyncio.wait_for(self.process.wait(), 10)
        assert status == 0, (status, (await self.log).decode())
        return time.monotonic() - begin

    def file(self, name):
        return pathlib.Path(f"/proc/{self.process.pid}/{name}")

    def sockets(self):
        return sum("socket:" in os.path.realpath(file) for file in self.file("fd").iterdir())

    def mebibytes(self):
        return int(self.file("statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def processor_seconds(self):
        return sum(map(int, self.file("stat").read_text().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


async def eventually(condition, message):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, message
        await asyncio.sleep(0.01)


async def check(service, origin, directory):
    await service.start(directory, "--allow-private", "--timeout", "2")
    url, endless = origin.url("fjord.jpg?delay=0.5"), origin.url("dunes.jpg?delay=1000")
    responses = await asyncio.gather(*[service.get(url) for _ in range(CLIENTS)])
    assert {response[0] for response in responses} == {200} and len({response[2] for response in responses}) == 1
    assert (await service.get(url, 256))[2] != responses[0][2]
    assert origin.requests.total() == 1, origin.requests
    print(f"ThumbnailService: one request for {CLIENTS} clients and two sizes.")

    status, fields, body = await service.get(url)
    assert status == 200 and fields["content-type"] == "image/jpeg" and int(fields["content-length"]) == len(body)
    assert 40 <= int(fields["cache-control"].removeprefix("max-age=")) <= 60, fields
    status, same, body = await service.get(url, fields=f"If-None-Match: W/\"other\", {fields['etag']}\r\n")
    assert (status, body, same["etag"]) == (304, b"", fields["etag"])
    assert (await service.get(url, 64))[1]["etag"] != fields["etag"]
    assert (await service.get(origin.url("tower.jpg?age=0")))[1]["cache-control"] == "no-cache"

    await service.fails(400, "bad_url", "no URL")
    await service.fails(400, "bad_size", url, 100)
    await service.fails(403, "blocked_scheme", "file:///etc/passwd")
    await service.fails(403, "blocked_address", "http://169.254.169.254/")
    await service.fails(404, "http_404", origin.url("lost.png"))
    await service.fails(502, "connect_failed", "http://127.0.0.1:1/")
    await service.fails(504, "timeout_total", endless)
    await eventually(lambda: origin.aborted.total() == 1, "A timeout ends its transfer.")
    with contextlib.suppress(asyncio.TimeoutError):
        await service.get(endless, patience=0.5)
    await eventually(lambda: origin.aborted.total() == 2, "So does a client that leaves.")
    await service.stop()

    await service.start(directory, "--timeout", "20")
    await service.fails(403, "blocked_address", origin.url("press.jpg"))
    await service.stop()


async def check_shutdown(service, origin, directory):
    await service.start(directory, "--allow-private")
    urls = [origin.url(image) for image in ("relief.png?delay=1", "radar.png?delay=1000")]
    requests = [asyncio.create_task(service.get(url)) for url in urls]
    # A client that sends two requests at once, and never closes its connection.
    _, writer = await asyncio.open_connection("127.0.0.1", service.port)
    writer.write(b"GET /thumbnail HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2)
    await eventually(lambda: origin.open == 2, "Both images are requested.")
    assert 2 < await service.stop() < 8
    assert [(await request)[0] for request in requests] == [200, 503]
    print("ThumbnailService: SIGTERM with two requests in flight: one is served, the other ends.")


class Load:
    """Many clients at once, and the number of their disconnects per URL."""
    age = 2

    def __init__(self, service, origin):
        self.service, self.origin, self.statuses = service, origin, collections.Counter()
        images = sorted(path.name for path in IMAGES.iterdir())
        self.targets = [f"{images[n % len(images)]}?n={n}&age={self.age}&delay={n % 5 / 10}" for n in range(200)]
        self.disconnects, self.memory = collections.Counter(), []

    async def client(self, number, end):
        while time.monotonic() < end:
            targets, patience = (self.targets[:150], 60) if number % 2 else (self.targets[50:], random.uniform(0, 0.5))
            target = random.choice(targets)
            try:
                url = self.origin.url(target, f"host{hash(target) % 20}.localhost")
                response = await self.service.get(url, random.choice([64, 128, 256]), patience=patience)
                self.statuses[response[0]] += 1
            except asyncio.TimeoutError:
                self.disconnects[target] += 1

    async def run(self, directory, seconds):
        await self.service.start(directory, "--allow-private")
        sockets, begin = self.service.sockets(), time.monotonic()
        clients = asyncio.gather(*[self.client(number, begin + seconds) for number in range(CLIENTS)])
        while not clients.done():
            self.memory.append(self.service.mebibytes())
            await asyncio.sleep(0.2)
        await clients
        self.check(time.monotonic() - begin)
        await eventually(lambda: self.origin.open == 0 and self.service.sockets() == sockets, "A socket is still open.")
        before = self.service.processor_seconds()
        await asyncio.sleep(2)
        assert self.service.processor_seconds() - before < 0.2, "The service is still busy."
        await self.service.stop()

    def check(self, seconds):
        """Each request of the service begins a period in which its image is fresh, unless all clients that waited for
        it have disconnected. So there may be as many requests for an image as periods have begun, and one more for
        each disconnect."""
        for target, requests in self.origin.requests.items():
            limit = 1 + seconds // self.age + self.disconnects[target]
            assert requests <= limit and self.origin.aborted[target] <= self.disconnects[target], (target, requests)
        aborted, disconnects = self.origin.aborted.total(), self.disconnects.total()
        assert set(self.statuses) == {200} and aborted > 0, (self.statuses, aborted)
        print(f"{seconds:.1f} s: {self.statuses[200]} thumbnails, {disconnects} disconnects, "
              f"{self.origin.requests.total()} requests for {len(self.targets)} images, {aborted} of them aborted")
        third = len(self.memory) // 3
        first, last = statistics.median(self.memory[:third]), statistics.median(self.memory[-third:])
        print(f"memory: {first:.0f} MiB in the first third, {last:.0f} MiB in the last")
        assert last < 1.2 * first


async def main(program, option=None, seconds="0"):
    origin, service = Origin(), Service(program)
    await origin.start()
    with tempfile.TemporaryDirectory() as directory:
        try:
            if option == "--load":
                await Load(service, origin).run(directory, float(seconds))
            else:
                await check(service, origin, directory)
                await check_shutdown(service, origin, directory)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                service.process.kill()
            sys.stderr.write((await service.log).decode())
            raise


asyncio.run(main(*sys.argv[1:]))
