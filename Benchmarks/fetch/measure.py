#!/usr/bin/env python3
"""measure.py BINARY: times four programs on the same 2,000 files, and ours on a slow server and over 100,000 requests.

The programs take turns in one run, and the best of five rounds counts. Ours and the bare loop are compared by the wall
time of the downloads alone; curl and aria2c, which do not report that, by the wall time of the whole process.
"""
import asyncio
import contextlib
import json
import math
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import nginx  # noqa: E402

BINARY = sys.argv[1]
FILES, WIDTH, ROUNDS = 2000, 16, 5
SLOW_WIDTH, LATENCY = 64, 0.2
SOAK = 100_000
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}


def make_files(root):
    """Writes 2,000 files of 10 to 20 KiB, the same on every run."""
    source = random.Random(1)
    (root / "www").mkdir()
    for index in range(FILES):
        (root / f"www/{index}.bin").write_bytes(source.randbytes(source.randint(10 << 10, 20 << 10)))


def start_slow_server(body):
    """Starts a server that responds to every request with `body` after the latency. Returns its port."""
    response = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    async def serve(reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(LATENCY)
                writer.write(response)

    async def listen():
        server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1000)
        port.append(server.sockets[0].getsockname()[1])
        ready.set()
        await server.serve_forever()

    port, ready = [], threading.Event()
    threading.Thread(target=lambda: asyncio.run(listen()), daemon=True).start()
    ready.wait()
    return port[0]


def measured(command):
    """Runs a process and returns its wall and CPU seconds and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run(command, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall": wall, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}, done.stdout


def bench(mode, width, count, urls):
    process, output = measured([BINARY, mode, str(width), str(count), *urls])
    inside = json.loads(output)
    assert inside["good"] == count, f"only {inside['good']} of {count} downloads succeeded"
    return inside | process


def write_lists(root, urls):
    lines = "".join(f'url = "{url}"\noutput = "{root}/out/{index}.bin"\n' for index, url in enumerate(urls))
    (root / "curl.txt").write_text(lines)
    (root / "aria2.txt").write_text("".join(f"{url}\n  out={index}.bin\n" for index, url in enumerate(urls)))


def fetched_by(command, root):
    (root / "out").mkdir(exist_ok=True)
    for path in (root / "out").iterdir():
        path.unlink()
    result, _ = measured(command)
    assert sum(1 for _ in (root / "out").iterdir()) == FILES, f"{command[0]} did not write all files"
    return result


def compare(root, urls):
    write_lists(root, urls)
    programs = {
        "bare loop": lambda: bench("bare", WIDTH, FILES, urls),
        "ours": lambda: bench("ours", WIDTH, FILES, urls),
        "curl": lambda: fetched_by(
            ["curl", "-s", "--parallel", "--parallel-immediate", "--parallel-max", str(WIDTH),
             "-K", f"{root}/curl.txt"], root),
        "aria2c": lambda: fetched_by(
            ["aria2c", "-q", "-i", f"{root}/aria2.txt", "-d", f"{root}/out", "-j", str(WIDTH), "-x", "1",
             "--file-allocation=none", "--allow-overwrite=true"], root),
    }
    rounds = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, program in programs.items():
            rounds[name].append(program())
    return {name: {key: min(one[key] for one in results) for key in results[0]} for name, results in rounds.items()}


def show(name, value, goal, good):
    print(f"  {name:46} {value:>9}   goal {goal:10} {'reached' if good else 'MISSED'}")


def report(best):
    print(f"\n{FILES} files of 10 to 20 KiB from loopback nginx, {WIDTH} at once, best of {ROUNDS}")
    for name, values in best.items():
        inside = f"  downloads alone {values['seconds']:.3f} s" if "seconds" in values else ""
        print(f"  {name:10} {values['wall']:7.3f} s wall  {values['cpu']:7.3f} s CPU{inside}")
    ours, bare = best["ours"], best["bare loop"]
    ratio = bare["seconds"] / ours["seconds"]
    show("speed of ours, bare loop = 1", f"{ratio:.2f}", ">= 0.5", ratio >= 0.5)
    for name, goal in [("curl", 2), ("aria2c", 5)]:
        ratio = best[name]["wall"] / ours["wall"]
        show(f"times as fast as {name}", f"{ratio:.2f}", f">= {goal}", ratio >= goal)
    overhead = (ours["cpu"] - bare["cpu"]) / FILES * 1e6
    show("CPU per operation over the bare loop", f"{overhead:.1f} us", "<= 30 us", overhead <= 30)


def report_latency(root):
    port = start_slow_server((root / "www/0.bin").read_bytes())
    urls = [f"http://127.0.0.1:{port}/{index}" for index in range(FILES)]
    seconds = bench("ours", SLOW_WIDTH, FILES, urls)["seconds"]
    ideal = math.ceil(FILES / SLOW_WIDTH) * LATENCY
    print(f"\n{FILES} responses after {LATENCY * 1000:.0f} ms each, {SLOW_WIDTH} at once")
    show(f"{seconds:.2f} s, ideal {ideal:.2f} s", f"{seconds / ideal:.3f}", "<= 1.15", seconds / ideal <= 1.15)


def report_soak(urls):
    command = [BINARY, "soak", str(WIDTH), str(SOAK), *urls]
    done = subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True)
    samples = [tuple(map(int, line.split())) for line in done.stderr.splitlines()]
    seconds = json.loads(done.stdout)["seconds"]
    print(f"\n{SOAK} requests in {seconds:.1f} s; memory in use after every tenth of them, MiB")
    print("  " + " ".join(f"{size / 2**20:.1f}" for _, size in samples))
    growth = samples[-1][1] / samples[1][1]
    show("last sample, second = 1", f"{growth:.3f}", "<= 1.05", growth <= 1.05)


def main():
    with contextlib.ExitStack() as stack:
        root = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="thumbs-bench-")))
        make_files(root)
        origin = nginx.start(stack, root, root / "www")
        urls = [f"{origin}/{index}.bin" for index in range(FILES)]
        report(compare(root, urls))
        report_latency(root)
        report_soak(urls)


main()
