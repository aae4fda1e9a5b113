#!/usr/bin/env python3
"""Tests the example ThumbnailService: service.py PROGRAM [--load SECONDS]

Starts a server of images on loopback, and the service. With --load, 200 clients request 40 images in three sizes for
this time, and half of the clients disconnect at random. A quarter of the images is requested by the others only.
"""
import argparse
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
    for which the response is fresh, and `delay`, those from its first to its last byte."""

    def __init__(self):
        self.requests, self.aborted, self.open = collections.Counter(), collections.Counter(), 0

    async def start(self):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=CLIENTS)
        self.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"

    async def serve(self, reader, writer):
        self.open += 1
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError), contextlib.closing(writer):
            await self.respond(reader, writer)
        self.open -= 1

    async def respond(self, reader, writer):
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        target = request.split()[1][1:]
        self.requests[target] += 1
        url = urllib.parse.urlsplit(target)
        query, image = dict(urllib.parse.parse_qsl(url.query)), IMAGES / url.path
        status, body = (200, image.read_bytes()) if image.is_file() else (404, b"")
        tag = f'"{url.path}"'
        if tag in request:
            status, body = 304, b""
        writer.write(f"HTTP/1.1 {status} Status\r\nCache-Control: max-age={query.get('age', 60)}\r\nETag: {tag}\r\n"
                     f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body[:100])
        if await is_closed(reader, float(query.get("delay", 0))):
            self.aborted[target] += 1
        else:
            writer.write(body[100:])
            await writer.drain()


async def is_closed(reader, seconds):
    """Waits for some time. Returns true as soon as the other side has closed the connection."""
    try:
        return not await asyncio.wait_for(reader.read(1), seconds) if seconds else False
    except asyncio.TimeoutError:
        return False
    except ConnectionError:
        return True


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

    def sockets(self):
        folder = pathlib.Path(f"/proc/{self.process.pid}/fd")
        return sum(os.readlink(file).startswith("socket:") for file in folder.iterdir())

    def memory(self):
        return int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def eventually(condition, message):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, message
        await asyncio.sleep(0.01)


async def check(service, origin, directory):
    await service.start(directory, "--allow-private", "--timeout", "2")
    url, endless = origin.base + "fjord.jpg?delay=0.5", origin.base + "dunes.jpg?delay=1000"
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
    assert (await service.get(origin.base + "tower.jpg?age=0"))[1]["cache-control"] == "no-cache"

    await service.fails(400, "bad_url", "no URL")
    await service.fails(400, "bad_size", url, 100)
    await service.fails(403, "blocked_scheme", "file:///etc/passwd")
    await service.fails(403, "blocked_address", "http://169.254.169.254/")
    await service.fails(404, "http_404", origin.base + "lost.png")
    await service.fails(502, "connect_failed", "http://127.0.0.1:1/")
    await service.fails(504, "timeout_total", endless)
    await eventually(lambda: origin.aborted[endless.removeprefix(origin.base)] == 1, "A timeout ends its transfer.")
    with contextlib.suppress(asyncio.TimeoutError):
        await service.get(endless, patience=0.5)
    await eventually(lambda: origin.aborted[endless.removeprefix(origin.base)] == 2, "So does a client that leaves.")
    await service.stop()

    await service.start(directory, "--timeout", "20")
    await service.fails(403, "blocked_address", origin.base + "press.jpg")
    await service.stop()


async def check_shutdown(service, origin, directory):
    await service.start(directory, "--allow-private")
    urls = [origin.base + image for image in ("relief.png?delay=1", "radar.png?delay=1000")]
    requests = [asyncio.create_task(service.get(url)) for url in urls]
    await eventually(lambda: origin.open == 2, "Both requests are running.")
    seconds = await service.stop()
    assert seconds < 5, seconds
    assert [(await request)[0] for request in requests] == [200, 503]
    print("ThumbnailService: SIGTERM with two requests in flight: one is served, the other ends.")


class Load:
    """Many clients at once, and the number of their disconnects per URL."""
    age = 2

    def __init__(self, service, origin):
        self.service, self.origin, self.statuses = service, origin, collections.Counter()
        images = sorted(path.name for path in IMAGES.iterdir())
        self.targets = [f"{images[n % len(images)]}?n={n}&age={self.age}&delay={n % 5 / 20}" for n in range(40)]
        self.disconnects, self.memory = collections.Counter(), []

    async def client(self, number, end):
        while time.monotonic() < end:
            is_patient = number % 2 == 0
            target = random.choice(self.targets if is_patient else self.targets[10:])
            try:
                patience = 60 if is_patient else random.uniform(0, 0.5)
                url, size = self.origin.base + target, random.choice([64, 128, 256])
                response = await self.service.get(url, size, patience=patience)
                self.statuses[response[0]] += 1
            except asyncio.TimeoutError:
                self.disconnects[target] += 1

    async def measure(self):
        while True:
            self.memory.append(self.service.memory() / 2**20)
            await asyncio.sleep(0.2)

    async def run(self, seconds):
        sockets, begin = self.service.sockets(), time.monotonic()
        measuring = asyncio.create_task(self.measure())
        await asyncio.gather(*[self.client(number, begin + seconds) for number in range(CLIENTS)])
        measuring.cancel()
        self.check_requests(time.monotonic() - begin)
        await eventually(lambda: self.origin.open == 0, "A transfer still runs.")
        await eventually(lambda: self.service.sockets() == sockets, "A socket is still open.")
        before = self.service.processor_seconds()
        await asyncio.sleep(2)
        assert self.service.processor_seconds() - before < 0.2, "The service is busy."
        self.check_memory()

    def check_requests(self, seconds):
        """Each request of the service begins a period in which its image is fresh, unless all clients that waited for
        it have disconnected. So there may be as many requests for an image as periods have begun, and one more for
        each disconnect."""
        for target, requests in self.origin.requests.items():
            assert requests <= 1 + seconds // self.age + self.disconnects[target], (target, requests, self.disconnects)
        aborted, disconnects = self.origin.aborted.total(), self.disconnects.total()
        assert set(self.statuses) == {200} and 0 < aborted <= disconnects, (self.statuses, aborted, disconnects)
        print(f"{seconds:.1f} s: {self.statuses[200]} thumbnails, {disconnects} disconnects, "
              f"{self.origin.requests.total()} requests for {len(self.targets)} images, {aborted} of them aborted")

    def check_memory(self):
        third = len(self.memory) // 3
        first, last = statistics.median(self.memory[:third]), statistics.median(self.memory[-third:])
        print(f"memory: {first:.0f} MiB in the first third, {last:.0f} MiB in the last")
        assert last < 1.2 * first


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--load", type=float, metavar="SECONDS")
    arguments = parser.parse_args()
    origin, service = Origin(), Service(arguments.program)
    await origin.start()
    with tempfile.TemporaryDirectory() as directory:
        try:
            if arguments.load:
                await service.start(directory, "--allow-private")
                await Load(service, origin).run(arguments.load)
                await service.stop()
            else:
                await check(service, origin, directory)
                await check_shutdown(service, origin, directory)
        finally:
            if service.process.returncode is None:
                service.process.kill()
                sys.stderr.write((await service.log).decode())


asyncio.run(main())
