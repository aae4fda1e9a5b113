#!/usr/bin/env python3
"""Tests `thumbs worker` and the shards at full size: worker.py THUMBS [rows|pause|kill|shards|document ...]

rows:     ROWS (1,000,000) rows over 20,000 URLs of 200 hosts through one worker: each id has one result, each URL is
          requested once, and the peak of memory is within 10 % of that for 1,000 rows with the same cache.
pause:    a reader that stops for 10 seconds: no request after the first two, and memory stays the same.
kill:     KILLS (200) times kill -9 at a random moment: every whole frame is right, and there is no last record.
shards:   8 shards, three of which are killed with -9 and run again: the merged report has each index once.
document: the reader of Documentation/worker.md reads every result.
"""
import hashlib
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from worker_frames import Worker, memory, plain_environment, row
from image_server import ImageServer

THUMBS = str(pathlib.Path(sys.argv[1]).resolve())
ROWS, KILLS = int(os.environ.get("ROWS", 1_000_000)), int(os.environ.get("KILLS", 200))
URLS, HOSTS = min(20_000, ROWS), 200
OPTIONS = ["--size", "32", "--retries", "0", "--no-config"]
failures = 0


def check(condition, text):
    global failures
    failures += not condition
    print(f"  {'ok  ' if condition else 'FAIL'} {text}", flush=True)


def url(server, number):
    return server.url(number % HOSTS, f"/{number}.png")


def cached(folder):
    return [*OPTIONS, "--cache-dir", f"{folder}/cache"]


def test_rows(folder):
    server, peaks = ImageServer(), {}
    for name, count in [("first", URLS), ("small", 1000), ("large", ROWS), ("small again", 1000)]:
        # A fixed order without a pattern: rows of a host and of a URL are far apart.
        rows = (row(number, url(server, number * 7919 % URLS)) for number in range(count))
        worker = Worker(THUMBS, cached(folder), rows, plain_environment())
        seen, right, begin, peak = bytearray(count), 0, time.monotonic(), 0
        for header, bodies in worker:
            seen[header["id"]] += 1
            right += header["status"] == "ok" and len(bodies) == 1
            if header["index"] % 100 == 0:
                peak = max(peak, memory(worker.process.pid, "VmHWM") or 0)
        elapsed = time.monotonic() - begin
        check(worker.is_complete() and right == count,
              f"{name}: {count} rows ok, in {elapsed:.1f} s ({count / elapsed:.0f}/s)")
        check(min(seen) == max(seen) == 1, "each id has one result")
        peaks[name] = peak
        print(f"       peak of memory {peak / 1024:.1f} MiB")
    check(set(server.counts.values()) == {1} and len(server.counts) == URLS, "each URL is requested once")
    check(peaks["large"] <= 1.1 * peaks["small"],
          f"memory of {ROWS} rows is {peaks['large'] / peaks['small']:.2f} of that of 1,000")


def test_pause(folder):
    server = ImageServer(side=200, is_noise=True)
    measured = []

    def pause(worker):
        for second in range(1, 11):
            time.sleep(1)
            measured.append((server.requests, memory(worker.process.pid, "VmRSS"), worker.sent))
            print(f"       after {second:2} s: {measured[-1][0]} requests, {measured[-1][1] / 1024:.1f} MiB, "
                  f"{measured[-1][2]} rows taken")

    count = 20_000
    rows = (row(number, url(server, number) + "?" + "x" * 100) for number in range(count))
    options = ["--size", "200", "--format", "png", "--no-cache", "--retries", "0", "--no-config"]
    worker = Worker(THUMBS, options, rows, plain_environment(), before_reading=pause)
    ids = {header["id"] for header, bodies in worker if header["status"] == "ok" and len(bodies[0]) > 100_000}
    check(measured[1][0] == measured[-1][0] < 200, f"{measured[-1][0]} requests, none after the second second")
    check(measured[1][2] == measured[-1][2] < count, f"{measured[-1][2]} rows of input, none after the second second")
    check(measured[-1][1] <= 1.02 * measured[1][1], "memory stays the same")
    check(worker.is_complete() and len(ids) == count, f"{count} rows ok after the reader went on")


def test_kill(folder):
    server = ImageServer(side=48)
    generator = random.Random(16)
    digests, whole, partial, empty = {}, 0, 0, 0
    worker = Worker(THUMBS, cached(folder), [row(number, url(server, number)) for number in range(100)])
    for header, bodies in worker:
        digests[header["url"]] = hashlib.sha256(bodies[0]).digest()
    check(worker.is_complete() and len(digests) == 100, "the results to compare with")
    wrong = ends = repeated = 0
    for _ in range(KILLS):
        rows = (row(number, url(server, generator.randrange(100))) for number in range(100_000))
        worker = Worker(THUMBS, cached(folder), rows)
        limit = generator.choice([0, 1, 30, 300, 3000])
        threading.Timer(generator.uniform(0.0, 0.15) + limit / 20_000, worker.process.kill).start()
        ids = set()
        for header, bodies in worker:
            repeated += header["id"] in ids
            ids.add(header["id"])
            wrong += header["status"] != "ok" or hashlib.sha256(bodies[0]).digest() != digests[header["url"]]
        ends += worker.end is not None
        whole += len(ids)
        partial += bool(worker.rest)
        empty += not ids
    check(wrong == repeated == ends == 0,
          f"{KILLS} kills: {whole} results, all right; {partial} ended inside a frame, {empty} before the first")


def test_shards(folder):
    server = ImageServer(side=48)
    count = min(20_000, ROWS)
    lines = "".join(f"{url(server, number % (count - 500))}\n" for number in range(count))
    pathlib.Path(folder, "list.txt").write_text(lines)

    def fetch(shard, report):
        command = [THUMBS, "fetch", "list.txt", "--shard", f"{shard}/8", "--report", report, "-o", "out", "-q",
                   "--name-template", "{hash:2}/{hash}.{ext}", "--shard-by", "url", *cached(folder)]
        return subprocess.Popen(command, cwd=folder)

    def lines_of(report):
        path = pathlib.Path(folder, report)
        return path.read_bytes().count(b"\n") if path.exists() else 0

    runs = {shard: fetch(shard, f"{shard}.jsonl") for shard in range(1, 9)}
    for shard in (2, 5, 7):
        while lines_of(f"{shard}.jsonl") < 50 * shard and runs[shard].poll() is None:
            time.sleep(0.01)
        runs[shard].send_signal(signal.SIGKILL)
    codes = [run.wait() for run in runs.values()]
    check(sorted(codes) == [-9, -9, -9, 0, 0, 0, 0, 0], "8 shards, of which three were killed")
    reports = [f"{shard}.jsonl" for shard in runs]
    merged = subprocess.run([THUMBS, "report", "merge", *reports, "-o", "part.jsonl"], cwd=folder, text=True,
                            stderr=subprocess.PIPE)
    check(merged.returncode == 65 and "rows are missing" in merged.stderr, "without the rest, rows are missing")
    again = [fetch(shard, f"{shard}-again.jsonl") for shard in (2, 5, 7)]
    check([run.wait() for run in again] == [0, 0, 0], "the three are run again")
    reports += [f"{shard}-again.jsonl" for shard in (2, 5, 7)]
    merged = subprocess.run([THUMBS, "report", "merge", *reports, "-o", "all.jsonl"], cwd=folder, text=True,
                            stderr=subprocess.PIPE)
    print("       " + merged.stderr.splitlines()[0])
    indexes = re.findall(r'^\{"index":(\d+),.*"status":"ok"', pathlib.Path(folder, "all.jsonl").read_text(), re.M)
    check(merged.returncode == 0 and sorted(map(int, indexes)) == list(range(count)), "each index once, all ok")
    excess = server.requests - len(server.counts)
    check(excess <= 3 * 200, f"{len(server.counts)} URLs, {excess} requests were lost by the kills")


def test_document(folder):
    text = pathlib.Path(__file__).resolve().parents[2].joinpath("Documentation/worker.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.S)[1]
    names = {}
    exec(code, names)
    server = ImageServer()
    os.symlink(THUMBS, f"{folder}/thumbs")
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
    rows = [{"id": str(number), "url": url(server, number)} for number in range(3000)]
    results = dict((header["id"], bodies) for header, bodies in names["results"](rows, *cached(folder)))
    check(len(results) == 3000 and all(results.values()), "the reader in the document reads 3,000 results")


def main():
    tests = {name: test for name, test in globals().items() if name.startswith("test_")}
    for name in sys.argv[2:] or [name.removeprefix("test_") for name in tests]:
        print(name)
        with tempfile.TemporaryDirectory() as folder:
            tests["test_" + name](folder)
    print(f"{failures} failures" if failures else "All tests passed.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
