#!/usr/bin/env python3
"""Compares `thumbs worker` with `thumbs fetch`: worker.py THUMBS PHOTOS

Photos: both download and render the photos in the folder PHOTOS from nginx on loopback, each time with an empty cache.
Rows: both serve 20,000 URLs that are fresh in the cache, 5 times each. Each of 5 rounds runs both; the medians are
compared. The results of the worker are read by `cat`, and, for comparison, by a reader in Python.
"""
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Tests/Scripts")]
import nginx  # noqa: E402
from worker_frames import Worker  # noqa: E402
from image_server import ImageServer  # noqa: E402

THUMBS, PHOTOS = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
ROUNDS = 5


def seconds(command, folder, **streams):
    begin = time.monotonic()
    subprocess.run(command, cwd=folder, check=True, stderr=subprocess.DEVNULL, **streams)
    return time.monotonic() - begin


def compare(title, rows, options, folder, prepare):
    """Prints rows per second of both commands. `prepare` is called before each run and returns the cache directory."""
    lines = [json.dumps({"id": number, "url": url}) for number, url in enumerate(rows)]
    (folder / "rows.jsonl").write_text("".join(line + "\n" for line in lines))
    worker = f"'{THUMBS}' worker {' '.join(options)} --cache-dir CACHE < rows.jsonl | cat > /dev/null"
    times = {"fetch": [], "worker": [], "Python": []}
    for _ in range(ROUNDS):
        for name in times:
            cache = prepare()
            if name == "fetch":
                command = [THUMBS, "fetch", "rows.jsonl", "-q", "-o", "out", "--overwrite", "--cache-dir", cache,
                           "--name-template", "{index}.{ext}", "--report", "report.jsonl", *options]
                times[name].append(seconds(command, folder))
            elif name == "worker":
                times[name].append(seconds(["sh", "-c", worker.replace("CACHE", cache)], folder))
            else:
                begin = time.monotonic()
                reader = Worker(THUMBS, [*options, "--cache-dir", cache], [line.encode() + b"\n" for line in lines])
                count = sum(header["status"] == "ok" for header, _ in reader)
                assert count == len(lines) and reader.is_complete()
                times[name].append(time.monotonic() - begin)
    speed = {name: len(lines) / statistics.median(values) for name, values in times.items()}
    print(f"{title}: fetch {speed['fetch']:.0f}/s, worker {speed['worker']:.0f}/s "
          f"({speed['worker'] / speed['fetch']:.2f}), read by Python {speed['Python']:.0f}/s "
          f"({speed['Python'] / speed['fetch']:.2f})", flush=True)


def main():
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder, number = pathlib.Path(name), 0

        def empty():
            nonlocal number
            number += 1
            return f"{folder}/cache{number}"

        (folder / "nginx").mkdir()
        origin = nginx.start(stack, folder / "nginx", PHOTOS)
        photos = [f"{origin}/{path.name}" for path in sorted(PHOTOS.glob("*.jpg"))]
        compare(f"{len(photos)} photos", photos, ["--size", "256"], folder, empty)

        server = ImageServer(side=96)
        urls = [server.url(index % 200, f"/{index}.png") for index in range(20_000)]
        (folder / "urls.txt").write_text("".join(url + "\n" for url in urls))
        command = [THUMBS, "fetch", "urls.txt", "-q", "-o", "first", "--cache-dir", f"{folder}/fresh", "--size", "64"]
        subprocess.run(command, cwd=folder, check=True)
        compare("100,000 rows from a fresh cache", urls * 5, ["--size", "64"], folder, lambda: f"{folder}/fresh")
        assert server.requests == len(urls)


if __name__ == "__main__":
    main()
