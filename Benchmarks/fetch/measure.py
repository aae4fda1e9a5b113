#!/usr/bin/env python3
"""measure.py BINARY [SECTION ...]: compares downloads with other programs and with ideal times.

`plain`, `tls`, `h2` and `hosts` download the same 2,000 files with `bench-fetch` (ours, and a bare loop over libcurl)
and with `curl --parallel`: over plain HTTP/1.1, TLS with HTTP/1.1, TLS with HTTP/2, and plain HTTP/1.1 from 200 hosts.
`plain` adds aria2c. All programs verify certificates with an authority that is made for the run. They take turns, and
the best of five rounds counts. Ours and the bare loop are compared by the wall time of the downloads alone; curl and
aria2c, which do not report that, by the wall time of the whole process.

`latency` and `soak` are ours alone, on a slow server and over 100,000 requests. `grouped` is a batch whose rows are
grouped by host, compared with the ideal time. The default is all sections.
"""
import contextlib
import math
import pathlib
import statistics
import sys
import tempfile

from origins import FILES, HOSTS, Origins, PacedServer, png
from programs import ROUNDS, WIDTH, Programs

SLOW_WIDTH, LATENCY = 64, 0.2
SOAK = 100_000
GROUPED_LATENCY, RETRY_AFTER = 0.05, 4


def show(name, value, goal="", good=None):
    verdict = "" if good is None else f"goal {goal:10} {'reached' if good else 'MISSED'}"
    print(f"  {name:46} {value:>9}   {verdict}".rstrip())


def report_plain(programs):
    rounds = programs.compare(programs.origins.plain, with_aria2=True)
    report(rounds, "plain HTTP/1.1, from one host", goal=0.55, cpu_goal=40)
    for name, goal in [("curl", 2), ("aria2c", 5)]:
        ratio = best(rounds[name], "wall") / best(rounds["ours"], "wall")
        show(f"times as fast as {name}", f"{ratio:.2f}", f">= {goal}", ratio >= goal)


def report_tls(programs):
    report(programs.compare(programs.origins.tls), "TLS with HTTP/1.1, from one host", goal=0.8)


def report_h2(programs):
    report(programs.compare(programs.origins.http2), "TLS with HTTP/2, from one host", goal=0.8)


def report_hosts(programs):
    rounds = programs.compare(programs.origins.hosts)
    report(rounds, f"plain HTTP/1.1, from {len(HOSTS)} hosts in random order", goal=0.8)


def best(results, key):
    return min(result[key] for result in results)


def report(rounds, title, goal, cpu_goal=None):
    """Prints the results of each program, and ours compared with the bare loop and with curl."""
    print(f"\n{FILES} files of 10 to 20 KiB over {title}, {WIDTH} at once, best of {ROUNDS}")
    for name, results in rounds.items():
        inside = f"  downloads alone {best(results, 'seconds'):.3f} s" if "seconds" in results[0] else ""
        print(f"  {name:10} {best(results, 'wall'):7.3f} s wall  {best(results, 'cpu'):7.3f} s CPU"
              f"  {best(results, 'connections'):5} connections{inside}")
    ours, bare = rounds["ours"], rounds["bare loop"]
    ratio = best(bare, "seconds") / best(ours, "seconds")
    show("speed of ours, bare loop = 1", f"{ratio:.2f}", f">= {goal}", ratio >= goal)
    ratios = [ones["seconds"] / others["seconds"] for ones, others in zip(bare, ours)]
    show("the same, median of the rounds", f"{statistics.median(ratios):.2f}")
    overhead = (best(ours, "cpu") - best(bare, "cpu")) / FILES * 1e6
    is_good = None if cpu_goal is None else overhead <= cpu_goal
    show("CPU per download over the bare loop", f"{overhead:.1f} us", f"<= {cpu_goal} us", is_good)
    if cpu_goal is None:
        show("times as fast as curl", f"{best(rounds['curl'], 'wall') / best(ours, 'wall'):.2f}")


def report_latency(programs):
    server = PacedServer((programs.root / "www/0.bin").read_bytes(), LATENCY)
    urls = [f"http://127.0.0.1:{server.port}/{index}" for index in range(FILES)]
    seconds = programs.bench("ours", SLOW_WIDTH, urls)["seconds"]
    ideal = math.ceil(FILES / SLOW_WIDTH) * LATENCY
    print(f"\n{FILES} responses after {LATENCY * 1000:.0f} ms each, {SLOW_WIDTH} at once")
    show(f"{seconds:.2f} s, ideal {ideal:.2f} s", f"{seconds / ideal:.3f}", "<= 1.15", seconds / ideal <= 1.15)


def report_soak(programs):
    seconds, samples = programs.soak(SOAK, programs.origins.plain)
    print(f"\n{SOAK} requests in {seconds:.1f} s; memory in use after every tenth of them, MiB")
    print("  " + " ".join(f"{size / 2**20:.1f}" for size in samples))
    growth = samples[-1] / samples[1]
    show("last sample, second = 1", f"{growth:.3f}", "<= 1.05", growth <= 1.05)


def report_grouped(programs):
    hosts = [f"127.0.1.{host}" for host in range(1, 11)]
    print(f"\n{FILES} rows grouped by {len(hosts)} hosts, responses after {GROUPED_LATENCY * 1000:.0f} ms each, {WIDTH}"
          " at once, 6 per host")
    ideal = FILES * GROUPED_LATENCY / WIDTH
    seconds, _ = grouped(programs, hosts)
    show(f"{seconds:.2f} s, ideal {ideal:.2f} s", f"{seconds / ideal:.3f}", "<= 1.15", seconds / ideal <= 1.15)
    seconds, server = grouped(programs, hosts, refusal=(hosts[0], 20, RETRY_AFTER))
    goal = 1.15 * ideal + RETRY_AFTER
    show(f"one 429 with Retry-After: {RETRY_AFTER}, ideal {ideal + RETRY_AFTER:.2f} s", f"{seconds:.2f} s",
         f"<= {goal:.2f} s", seconds <= goal)
    early = server.early_requests()
    show("requests to that host before its time", early, "0", early == 0)


def grouped(programs, hosts, refusal=None):
    """Fetches the same number of rows from each host, one host after the other. Returns the seconds and the server."""
    server = PacedServer(png(16), GROUPED_LATENCY, hosts, refusal)
    rows = FILES // len(hosts)
    urls = [f"http://{host}:{server.port}/{row}.png" for host in hosts for row in range(rows)]
    return programs.bench("grouped", WIDTH, urls)["seconds"], server


SECTIONS = {
    "plain": report_plain, "tls": report_tls, "h2": report_h2, "hosts": report_hosts, "latency": report_latency,
    "soak": report_soak, "grouped": report_grouped,
}


def main():
    binary, *sections = sys.argv[1:]
    unknown = [section for section in sections if section not in SECTIONS]
    if unknown:
        sys.exit(f"unknown section {unknown[0]}; there are {', '.join(SECTIONS)}")
    with contextlib.ExitStack() as stack:
        root = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="thumbs-bench-")))
        programs = Programs(binary, root, Origins(stack, root))
        for section in sections or SECTIONS:
            SECTIONS[section](programs)


main()
