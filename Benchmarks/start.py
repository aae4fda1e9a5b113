#!/usr/bin/env python3
"""Compares the startup time of a command with that of curl, in turn: start.py THUMBS [ROUNDS]

`thumbs --version` should take at most 1.2 times as long as `curl --version`; both load libcurl and its dependencies.
"""
import statistics
import subprocess
import sys
import time


def seconds(command):
    start = time.perf_counter()
    subprocess.run([command, "--version"], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main():
    commands = {"thumbs": sys.argv[1], "curl": "curl"}
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    times = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            times[name].append(seconds(command) * 1000)
    for name, values in times.items():
        print(f"{name:7} {statistics.median(values):6.2f} ms median, {min(values):6.2f} ms minimum")
    ratio = statistics.median(times["thumbs"]) / statistics.median(times["curl"])
    print(f"ratio of the medians {ratio:.2f}, goal 1.2: {'reached' if ratio <= 1.2 else 'MISSED'}")


if __name__ == "__main__":
    main()
