#!/usr/bin/env python3
"""Fetches a corpus with each program in turn, and compares the best of several rounds: speed.py CORPUS [PLOT]

nginx serves the corpus on loopback. Every round of every program starts with an empty folder and an empty cache. The
speeds are drawn to the SVG file PLOT.
"""
import contextlib
import os
import pathlib
import shutil
import sys
import tempfile

import plot
import programs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import nginx  # noqa: E402

CORPUS = pathlib.Path(sys.argv[1]).resolve()
ROUNDS = int(os.environ.get("ROUNDS", "3"))


@contextlib.contextmanager
def folder():
    """Creates a temporary folder, in memory if possible, because the disk is not part of the comparison."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="thumbs-bench-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def compare(kind, side, extension, origin):
    files = sorted((CORPUS / kind).iterdir())
    urls = [f"{origin}/{kind}/{file.name}" for file in files]
    jobs = {
        "bare codec loop": lambda out: programs.bare([str(file) for file in files], side, out),
        "thumbs": lambda out: programs.thumbs(urls, side, out),
        "curl + vipsthumbnail": lambda out: programs.curl_vips(urls, side, out, extension),
        "img2dataset": lambda out: programs.img2dataset(urls, side, out, extension),
    }
    runs = {name: [] for name in jobs}
    for number in range(ROUNDS):
        for name, job in jobs.items():
            # img2dataset is by far the slowest, so it runs only once.
            if name == "img2dataset" and number > 0:
                continue
            with folder() as out:
                runs[name].append(job(out))
                made = len(programs.thumbnails(out))
                assert made == len(files), f"{name} made {made} of {len(files)}"
    return len(files), runs


def report(title, count, runs, goals):
    print(f"\n{title}: {count} files, {programs.CORES} cores, best of {ROUNDS}")
    best = {name: min(run.seconds for run in results) for name, results in runs.items()}
    for name, results in runs.items():
        peak = min(run.peak for run in results)
        print(f"  {name:22} {best[name]:8.2f} s   {count / best[name]:7.0f} items/s   peak {peak:6.0f} MiB")
    for name, goal in goals.items():
        show(f"speed of thumbs, {name} = 1", best[name] / best["thumbs"], goal)
    return {name: count / seconds for name, seconds in best.items()}


def show(title, value, goal, isGood=None):
    good = value >= goal if isGood is None else isGood
    print(f"  {title:46} {value:9.2f}   goal {goal:>8} {'reached' if good else 'MISSED'}")


def second_run(kind, side, origin):
    """Measures the second run: all entries are fresh and all files unchanged, so no request is sent."""
    files = sorted((CORPUS / kind).iterdir())
    urls = [f"{origin}/{kind}/{files[row % len(files)].name}?{row}" for row in range(20_000)]
    rows = [url for url in urls[:2000] for _ in range(10)]
    name = ["--name", "{index}.{ext}"]
    with folder() as out:
        programs.thumbs(urls, side, out, name)
        once = min(programs.thumbs(urls, side, out, name).seconds for _ in range(ROUNDS))
        origins = {line.get("origin") for line in programs.thumbs_report(out)}
        programs.thumbs(rows, side, out, name)
        repeated = min(programs.thumbs(rows, side, out, name).seconds for _ in range(ROUNDS))
    print(f"\n{len(urls)} icons again; origins: {', '.join(sorted(map(str, origins)))}")
    show("items/s, different URLs", len(urls) / once, 35_000)
    show("items/s, each URL ten times", len(rows) / repeated, 35_000)


def memory(origin):
    """Compares the peak memory of 1,000 and 100,000 rows, each of which has a different URL."""
    peaks = []
    for rows in (1000, 100_000):
        with folder() as out:
            urls = [f"{origin}/icons/{row % 100:04}.png?{row}" for row in range(rows)]
            peaks.append(programs.thumbs(urls, 64, out).peak)
    print(f"\nPeak memory: 1,000 rows {peaks[0]:.1f} MiB, 100,000 rows {peaks[1]:.1f} MiB")
    show("100,000 rows, 1,000 = 1", peaks[1] / peaks[0], 1.10, peaks[1] <= 1.10 * peaks[0])


def large_images(origin):
    """Measures the peak memory of 61 images of up to 24 megapixels."""
    names = [f"{kind}/{file.name}" for kind in ("large", "png", "progressive")
             for file in sorted((CORPUS / kind).iterdir())[:8]]
    with folder() as out:
        peak = programs.thumbs([f"{origin}/{names[row % len(names)]}?{row}" for row in range(61)], 256, out).peak
        assert all(line["status"] == "ok" for line in programs.thumbs_report(out))
    print("\n61 JPEG and PNG files of 1 to 24 megapixels")
    show("peak memory of thumbs, MiB", peak, 150, peak <= 150)


def main():
    with contextlib.ExitStack() as stack:
        root = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="thumbs-bench-")))
        origin = nginx.start(stack, root, CORPUS)
        count, runs = compare("photos", 256, "jpg", origin)
        panels = {"Photos of 1-2 megapixels to 256 px": report(
            "Photos of 1-2 megapixels to 256 px", count, runs,
            {"bare codec loop": 1.1, "curl + vipsthumbnail": 3, "img2dataset": 6})}
        peak = min(run.peak for run in runs["thumbs"])
        show("peak memory of thumbs, MiB", peak, 60, peak <= 60)
        count, runs = compare("icons", 64, "png", origin)
        panels["Icons to 64 px"] = report("Icons to 64 px", count, runs,
                                          {"bare codec loop": 1.8, "curl + vipsthumbnail": 4})
        if len(sys.argv) > 2:
            plot.write(sys.argv[2], panels)
        second_run("icons", 64, origin)
        memory(origin)
        large_images(origin)


main()
