"""Speaks the protocol of `thumbs worker`, as Documentation/worker.md describes it."""
import json
import os
import pathlib
import struct
import subprocess
import threading


class Worker:
    """A worker with a thread that writes its rows. Iterate over it for the headers and bodies of its results."""

    def __init__(self, thumbs, options, rows, environment=None, before_reading=lambda worker: None):
        self.process = subprocess.Popen(
            [thumbs, "worker", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
            bufsize=64 << 10)
        self.sent, self.end, self.rest = 0, None, b""
        self.before_reading = before_reading
        self.writer = threading.Thread(target=self.write, args=[rows], daemon=True)
        self.writer.start()

    def write(self, rows):
        try:
            with self.process.stdin as stream:
                for row in rows:
                    stream.write(row)
                    self.sent += 1
        except (BrokenPipeError, ValueError):
            pass

    def __iter__(self):
        self.before_reading(self)
        stream = self.process.stdout
        while len(prefix := stream.read(4)) == 4:
            [length] = struct.unpack("<I", prefix)
            text = stream.read(length)
            if len(text) < length:
                self.rest = prefix + text
                break
            header = json.loads(text)
            if header.get("end"):
                self.end = header
                continue
            bodies = [stream.read(count) for count in header["bodies"]]
            if [len(body) for body in bodies] != header["bodies"]:
                self.rest = prefix + text + b"".join(bodies)
                break
            yield header, bodies
        else:
            self.rest = prefix
        self.writer.join(10)
        self.process.wait()

    def is_complete(self):
        return (self.process.returncode == 0 and not self.rest and self.end is not None
                and self.end["received"] == self.end["finished"] == self.sent)


def memory(pid, field):
    """A number of KiB in /proc/PID/status: VmRSS is the present memory, VmHWM its peak."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    return None


def row(number, url):
    return b'{"id":%d,"url":"%s"}\n' % (number, url.encode())


def plain_environment():
    """The variables without which a program of a checkout does not find its libraries."""
    return {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}
