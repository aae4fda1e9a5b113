#!/usr/bin/env python3
"""Fetches photos with the command alone, thumbs.spark and img2dataset on two Spark workers: speed.py PHOTOS

nginx serves the photos on 40 loopback hosts. Every round starts with an empty cache. The start of the application does
not count.
"""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Benchmarks"), str(ROOT / "Python/tests"), str(ROOT / "Python")]
import nginx  # noqa: E402
import pyarrow.dataset  # noqa: E402
from spark_support import Standalone, session  # noqa: E402

import thumbs.spark  # noqa: E402

PHOTOS = pathlib.Path(sys.argv[1]).resolve()
ROWS = int(os.environ.get("ROWS", "6000"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
HOSTS = 40
LIMIT = 16


def start_nginx(stack, folder):
    """Serves the photos on each host, and returns the URLs."""
    [port] = nginx.servers.free_ports(1)
    hosts = [f"127.0.3.{1 + number}" for number in range(HOSTS)]
    listen = "".join(f"listen {host}:{port}; " for host in ["127.0.0.1", *hosts])
    (folder / "nginx").mkdir()
    nginx.start_blocks(stack, folder / "nginx", PHOTOS, [listen], [port])
    files = sorted(path.name for path in PHOTOS.iterdir())
    return [f"http://{hosts[number % HOSTS]}:{port}/{files[number % len(files)]}?{number}" for number in range(ROWS)]


def local(urls, folder):
    """Fetches with the command, and returns the seconds."""
    (folder / "list.txt").write_text("".join(f"{url}\n" for url in urls))
    begin = time.monotonic()
    subprocess.run([os.environ["THUMBS_BINARY"], "fetch", f"{folder}/list.txt", "-o", f"{folder}/out", "--cache-dir",
                    f"{folder}/cache", "--name-template", "{index}.{ext}", "--per-host", str(LIMIT), "-q"], check=True)
    seconds = time.monotonic() - begin
    assert len(os.listdir(folder / "out")) == len(urls)
    return seconds


def on_spark(spark, urls, folder):
    """Fetches with thumbs.spark, and returns the seconds."""
    df = spark.createDataFrame([(url,) for url in urls], "link string")
    begin = time.monotonic()
    thumbs.spark.fetch(df, "link", path=f"{folder}/table", per_host=LIMIT, cache_dir=f"{folder}/cache")
    seconds = time.monotonic() - begin
    assert pyarrow.dataset.dataset(folder / "table").to_table(["status"]).column(0).to_pylist() == ["ok"] * len(urls)
    return seconds


def peer(master, urls, folder):
    """Fetches with img2dataset, and returns the seconds."""
    (folder / "list.txt").write_text("".join(f"{url}\n" for url in urls))
    script = pathlib.Path(__file__).with_name("peer.py")
    output = subprocess.run(
        [os.environ["PEER"], "-B", script, master, folder / "list.txt", folder / "out", str(len(urls))],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    made = pyarrow.dataset.dataset(sorted(map(str, (folder / "out").glob("*.parquet")))).to_table(["status"])
    assert made.column(0).to_pylist() == ["success"] * len(urls)
    return float(output.split("seconds ")[-1])


@contextlib.contextmanager
def temporary_folder():
    path = pathlib.Path(tempfile.mkdtemp(prefix="thumbs-bench-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def best(job, rounds=ROUNDS):
    """Returns the least of the seconds of some rounds."""
    seconds = []
    for _ in range(rounds):
        with temporary_folder() as folder:
            seconds.append(job(folder))
    return min(seconds)


def measure(urls, folder):
    cluster = Standalone(folder)
    try:
        spark = session(cluster.master, folder)
        with temporary_folder() as first:  # The executors start their Python processes.
            on_spark(spark, urls[:HOSTS], first)
        times = {"thumbs": best(lambda out: local(urls, out)),
                 "thumbs.spark": best(lambda out: on_spark(spark, urls, out))}
        spark.stop()
        # img2dataset is by far the slowest, so it runs only once.
        times["img2dataset"] = best(lambda out: peer(cluster.master, urls, out), rounds=1)
        return times
    finally:
        cluster.close()


def main():
    with contextlib.ExitStack() as stack, tempfile.TemporaryDirectory(prefix="thumbs-spark-") as folder:
        times = measure(start_nginx(stack, pathlib.Path(folder)), pathlib.Path(folder))
    print(f"\n{ROWS} photos, two Spark workers of a core each, best of {ROUNDS}")
    for name, seconds in times.items():
        print(f"  {name:14} {seconds:8.2f} s   {ROWS / seconds:7.0f} photos/s")
    for name, goal in [("thumbs", 0.8), ("img2dataset", 3)]:
        ratio = times[name] / times["thumbs.spark"]
        verdict = "reached" if ratio >= goal else "MISSED"
        print(f"  speed of thumbs.spark, {name} = 1: {ratio:.2f}   goal {goal} {verdict}")


if __name__ == "__main__":
    main()
