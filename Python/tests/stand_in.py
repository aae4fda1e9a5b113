#!/usr/bin/env python3
"""Stands in for `thumbs worker`, without any network: every row succeeds, and its thumbnail is its URL.

Options make it misbehave. Those in FAULTS happen after so many results, in the first `--faulty-starts` processes that
have the same `--state` directory. `--log` names a file that gets the URL of each row.
"""
import argparse
import json
import os
import signal
import struct
import sys
import time

FAULTS = ["die", "tear", "hang", "repeat", "invent", "garbage", "huge", "leave", "cancel", "terminate", "close"]


def options():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("command", choices=["worker"])
    parser.add_argument("--size", action="append")
    parser.add_argument("--hosts")
    parser.add_argument("--format")
    parser.add_argument("--own-format", default="jpeg")
    parser.add_argument("--state")
    parser.add_argument("--log")
    parser.add_argument("--log-rows")
    parser.add_argument("--warn")
    parser.add_argument("--per-host")
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--faulty-starts", type=int, default=1)
    parser.add_argument("--trailer", choices=["right", "missing", "late", "received", "finished"], default="right")
    for fault in FAULTS:
        parser.add_argument(f"--{fault}-after", type=int)
    return parser.parse_known_args()


def main():
    given, unknown = options()
    if unknown:
        print(f"Error: Unknown option '{unknown[0]}'", file=sys.stderr)
        sys.exit(64)
    if given.hosts:
        json.load(open(given.hosts))
    if given.warn:
        print(given.warn, file=sys.stderr, flush=True)
    worker = StandIn(given)
    for line in sys.stdin.buffer:
        worker.take(json.loads(line))
    worker.end()


class StandIn:
    def __init__(self, given):
        self.given, self.rows = given, 0
        self.log = given.log and open(given.log, "a", buffering=1)
        self.is_faulty = self.count_start() < given.faulty_starts
        if self.given.state:
            with open(os.path.join(self.given.state, "pids"), "a") as file:
                file.write(f"{os.getpid()}\n")

    def count_start(self):
        if not self.given.state:
            return 0
        os.makedirs(self.given.state, exist_ok=True)
        path = os.path.join(self.given.state, "pids")
        return len(open(path).readlines()) if os.path.exists(path) else 0

    def take(self, row):
        for fault in FAULTS:
            if self.is_faulty and getattr(self.given, f"{fault}_after") == self.rows:
                getattr(self, fault)(row)
        if self.given.log_rows:
            with open(self.given.log_rows, "a") as file:
                file.write(json.dumps(row) + "\n")
        if self.log:
            self.log.write(f"{row['url']}\n")
        time.sleep(self.given.delay)
        self.write(self.result(row), [row["url"].encode()] if row["url"] else [])
        self.rows += 1

    def result(self, row):
        url = row["url"]
        common = {"id": row["id"], "index": self.rows, "line": self.rows + 1, "url": url, "attempts": 1}
        if not url or "missing" in url:
            return {**common, "status": "failed", "code": "http_404", "http": 404, "retryable": False,
                    "message": "The server has no such image."}
        return {**common, "status": "ok", "http": 200, "origin": "network", "warnings": [],
                "outputs": [{"spec": "256x256", "width": 256, "height": 192, "bytes": len(url),
                             "format": self.given.format or self.given.own_format}],
                "source": {"width": 640, "height": 480, "format": "jpeg", "bytes": 1000},
                "placeholder": {"thumbhash": "1QcSHQRnh493V4dIh4eXh1h4kJUI", "color": "#141b24"},
                "phash": "aaaa5555f00f3c3c",
                "ms": {"queued": 1, "download": 2, "render": 3}}

    def write(self, header, bodies=()):
        bodies = bodies if header.get("status", "ok") == "ok" else []
        header = json.dumps({**header, "bodies": [len(body) for body in bodies]}).encode()
        self.put(struct.pack("<I", len(header)) + header + b"".join(bodies))

    def put(self, data):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def end(self):
        if self.given.trailer == "late" and self.is_faulty:
            time.sleep(3600)
        if self.given.trailer != "missing":
            counts = {"received": self.rows, "finished": self.rows}
            if self.given.trailer in counts:
                counts[self.given.trailer] += 1
            self.write({"end": True, **counts})

    def die(self, row):
        os.kill(os.getpid(), signal.SIGKILL)

    def tear(self, row):
        header = json.dumps({**self.result(row), "bodies": [1000]}).encode()
        self.put((struct.pack("<I", len(header)) + header + b"x" * 500))
        self.die(row)

    def hang(self, row):
        time.sleep(3600)

    def repeat(self, row):
        self.write(self.result(row), [b""])

    def invent(self, row):
        self.write({**self.result(row), "id": 1_000_000}, [b""])

    def garbage(self, row):
        self.put(struct.pack("<I", 7) + b"garbage")

    def huge(self, row):
        self.put(b"\xff" * 100)

    def leave(self, row):
        print("The disk is full.", file=sys.stderr)
        sys.exit(74)

    def cancel(self, row):
        self.write({**self.result(row), "status": "cancelled", "code": "cancelled"})
        sys.exit(143)

    def terminate(self, row):
        os.kill(os.getpid(), signal.SIGTERM)

    def close(self, row):
        os.close(1)
        time.sleep(3600)


main()
