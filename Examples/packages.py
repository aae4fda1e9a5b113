#!/usr/bin/env python3
"""Tests the example PackageDownloader: packages.py PROGRAM

Checks which libraries it needs. Kills it with SIGKILL in the middle of each package, runs it again, and checks that
every byte is sent only once.
"""
import hashlib
import http.server
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading

SIZES = {"small.bin": 70_000, "large.bin": 3_000_000, "damaged.bin": 5000}
FILES = {name: random.Random(name).randbytes(size) for name, size in SIZES.items()}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    sent = dict.fromkeys(FILES, 0)
    # The download that stops in the middle, and the event that it has.
    stop, stopped = None, threading.Event()

    def do_GET(self):
        name = self.path.rsplit("/", 1)[-1]
        body = FILES.get(name) or configuration(self.server.server_port)
        tag = f'"{hashlib.sha256(body).hexdigest()}"'
        first = 0
        if self.headers.get("If-Range") == tag:
            first = int(re.match(r"bytes=(\d+)-", self.headers["Range"]).group(1))
        self.send_response(206 if first else 200)
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(body) - first))
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
        self.end_headers()
        rest = body[first:]
        if name == Handler.stop:
            rest = rest[:len(rest) // 2]
        self.wfile.write(rest)
        self.wfile.flush()
        if name in FILES:
            Handler.sent[name] += len(rest)
        if name == Handler.stop:
            Handler.stopped.set()
            self.rfile.read(1)

    def log_message(self, *arguments):
        pass


def configuration(port):
    packages = [{"url": f"http://127.0.0.1:{port}/{name}", "length": len(body),
                 "sha256": hashlib.sha256(body if name != "damaged.bin" else b"").hexdigest()}
                for name, body in FILES.items()]
    return json.dumps({"packages": packages}).encode()


def wait_for_bytes(path, count):
    """Waits until the file has `count` bytes: the program may not have written what the server sent."""
    while not path.exists() or path.stat().st_size < count:
        pass


def check_libraries(program):
    """Checks that a program which only downloads needs neither the codecs nor the database of the cache."""
    libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    assert "libcurl" in libraries, libraries
    for name in ("jpeg", "png", "webp", "lcms", "sqlite", "deflate", "xxhash"):
        assert f"lib{name}" not in libraries, libraries


def main():
    program = sys.argv[1]
    check_libraries(program)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as directory:
        target = pathlib.Path(directory)
        command = [program, f"http://127.0.0.1:{server.server_port}/configuration.json", directory]
        there = 0
        for Handler.stop in ("small.bin", "large.bin", "large.bin"):
            Handler.stopped.clear()
            there = there if Handler.stop == "large.bin" else 0
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            Handler.stopped.wait()
            there += (len(FILES[Handler.stop]) - there) // 2
            wait_for_bytes(target / f"{Handler.stop}.part", there)
            process.send_signal(signal.SIGKILL)
            process.wait()
            if Handler.stop == "small.bin":
                there = 0
        Handler.stop = None
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        sys.stdout.write("".join(line for line in output.splitlines(True) if " of " not in line))
        files = {path.name for path in target.iterdir()}
        assert files == {"configuration.json", "small.bin", "large.bin"}, files
        for name in ("small.bin", "large.bin"):
            assert (target / name).read_bytes() == FILES[name], name
        assert "large.bin: done, 2250000 bytes were there" in output, output
        assert output.index("small.bin") < output.index("large.bin") < output.index("damaged.bin"), output
        assert "damaged.bin: hash_mismatch" in output, output
        assert Handler.sent["large.bin"] == len(FILES["large.bin"]), Handler.sent
    print("PackageDownloader: three kills, no byte of the large package was sent twice.")


main()
