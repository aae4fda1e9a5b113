"""The servers of the fetch benchmark: nginx with 2,000 files, and a server that responds after a fixed time."""
import asyncio
import collections
import contextlib
import pathlib
import random
import struct
import sys
import threading
import time
import urllib.request
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import nginx  # noqa: E402

FILES = 2000
HOSTS = [f"127.0.{group}.{host}" for group in range(1, 21) for host in range(1, 11)]


class Origins:
    """nginx, with the URLs of all files per section, until `stack` is closed."""

    def __init__(self, stack, root):
        make_files(root / "www")
        nginx.servers.make_certificates(root)
        self.authority = root / "ca.pem"
        plain, tls, http2, self.status_port = ports = nginx.servers.free_ports(4)
        certificate = "ssl_certificate good.pem; ssl_certificate_key good.key;"
        # The hosts share the port of the first section. 127.0.0.1 is not one of them.
        hosts = " ".join(f"listen {host}:{plain};" for host in HOSTS)
        nginx.start_blocks(stack, root, root / "www", [
            f"listen 127.0.0.1:{plain}; {hosts}",
            f"listen 127.0.0.1:{tls} ssl; {certificate}",
            f"listen 127.0.0.1:{http2} ssl http2; {certificate}",
            f"listen 127.0.0.1:{self.status_port}; location / {{ stub_status; }}",
        ], ports)
        self.plain = urls(f"http://127.0.0.1:{plain}")
        # The certificate is for this name.
        self.tls = urls(f"https://localhost:{tls}")
        self.http2 = urls(f"https://localhost:{http2}")
        self.hosts = [f"http://{HOSTS[index // 10]}:{plain}/{index}.bin" for index in range(FILES)]
        random.Random(1).shuffle(self.hosts)

    def connections(self):
        """Returns the number of connections that nginx has accepted, including the one of this call."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.status_port}") as status:
            return int(status.read().split()[7])


def urls(origin):
    return [f"{origin}/{index}.bin" for index in range(FILES)]


def make_files(folder):
    """Writes 2,000 files of 10 to 20 KiB, the same on every run."""
    source = random.Random(1)
    folder.mkdir()
    for index in range(FILES):
        (folder / f"{index}.bin").write_bytes(source.randbytes(source.randint(10 << 10, 20 << 10)))


def png(size):
    """Returns a square gray PNG file."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = zlib.compress((b"\0" + b"\x80" * size) * size)
    header = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


class PacedServer:
    """Responds to every request with `body` after `latency` seconds, on one port of the loopback addresses `hosts`.

    With `refusal`, a host, a number and a time in seconds, the request with this number to the host gets a 429 response
    with the time as `Retry-After`.
    """

    def __init__(self, body, latency, hosts=("127.0.0.1",), refusal=None):
        self.latency, self.hosts, self.refusal = latency, hosts, refusal
        self.response = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        self.refused_at = None
        self.arrivals = collections.defaultdict(list)
        [self.port] = nginx.servers.free_ports(1)
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.listen(ready)), daemon=True).start()
        ready.wait()

    def early_requests(self):
        """Returns the number of requests that the host of the refusal got before the time in `Retry-After`."""
        host, _, seconds = self.refusal
        # Until the client has read the 429 response, it may send more requests.
        return sum(0.02 < arrival - self.refused_at < seconds for arrival in self.arrivals[host])

    async def listen(self, ready):
        server = await asyncio.start_server(self.serve, self.hosts, self.port, backlog=1000)
        ready.set()
        await server.serve_forever()

    async def serve(self, reader, writer):
        host = writer.get_extra_info("sockname")[0]
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                self.arrivals[host].append(time.monotonic())
                response = self.response_for(host, len(self.arrivals[host]))
                await asyncio.sleep(self.latency)
                if response is not self.response:
                    self.refused_at = time.monotonic()
                writer.write(response)

    def response_for(self, host, number):
        if self.refusal is None or (host, number) != self.refusal[:2]:
            return self.response
        return b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: %d\r\nContent-Length: 0\r\n\r\n" % self.refusal[2]
