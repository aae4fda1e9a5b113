#!/usr/bin/env python3
"""Prints the functions that a usual run calls: order.py THUMBS > order.txt

THUMBS is the command with its symbols. Needs valgrind.
"""
import functools
import http.server
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

# The files that a usual run fetches.
IMAGES = pathlib.Path(__file__).resolve().parents[1] / "Tests/Fixtures/pictures"
COPIES = 4


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass


def serve():
    """Serves the images of the tests until the program ends. Returns the URLs of several copies of each."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(IMAGES)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    names = sorted(path.name for path in IMAGES.iterdir())
    return [f"http://127.0.0.1:{server.server_port}/{name}?{copy}" for copy in range(COPIES) for name in names]


def called(command, folder):
    """Runs the command, and returns the functions that it called."""
    valgrind = ["valgrind", "--tool=callgrind", "--quiet", "--demangle=no", "--compress-strings=no",
                f"--callgrind-out-file={folder}/calls"]
    # Some of the images are damaged on purpose.
    subprocess.run(valgrind + command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = (folder / "calls").read_text().splitlines()
    return {re.sub(r"'\d+$", "", line.split("=", 1)[1]) for line in lines if re.match("c?fn=", line)}


def usual_run(thumbs):
    """Returns the functions of a first run and of a second one, which finds everything in the cache."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "list.txt").write_text("".join(f"{url}\n" for url in serve()))
        command = [thumbs, "fetch", f"{name}/list.txt", "-o", f"{name}/thumbnails", "--cache-dir", f"{name}/cache",
                   "--name", "{index}.{ext}", "--report", f"{name}/report.jsonl", "-q"]
        return called(command, folder) | called(command, folder)


def defined(thumbs):
    """Returns the functions of the command itself."""
    lines = subprocess.run(["nm", "--defined-only", thumbs], capture_output=True, text=True, check=True).stdout
    return {line.split(" ", 2)[2] for line in lines.splitlines()}


print("\n".join(sorted(usual_run(sys.argv[1]) & defined(sys.argv[1]))))
