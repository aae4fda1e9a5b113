#!/usr/bin/env python3
"""Runs the commands of the README, and compares what they print: run.py THUMBS [--write]

To be started by Examples/serve.py. They stand in blocks marked `console`: a line that begins with `$ ` is pasted into a
shell, in a fresh directory that has the examples; what follows it is what it prints. Times, dates and counts of bytes
that differ from one machine to the next are compared by their form. With --write the README is given what was printed.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What may differ: seconds, milliseconds, dates, the log's size on disk, the progress of time in headers.
VARIABLE = [
    (r"\b\d+\.\d s\b", "0.0 s"), (r'"(queued|download|render)":\d+', r'"\1":0'),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"), (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", "TIME"),
    (r"on disk [\d.]+ \wiB \+ log [\d.]+ \w+", "on disk SIZE"), (r"\bage +\d+ s\b", "age 0 s"),
    (r'"[0-9a-f]+-[0-9a-f]{8}"', "ETAG"), (r"Size +[\d.]+ \w+", "Size SIZE"),
]


def form(text):
    for pattern, mark in VARIABLE:
        text = re.sub(pattern, mark, text)
    # Rows are told in the order of completion.
    return sorted(line.rstrip() for line in text.splitlines())


def main():
    text = (ROOT / "README.md").read_text()
    failures = 0
    with tempfile.TemporaryDirectory(prefix="thumbs-readme-") as folder:
        (pathlib.Path(folder) / "Examples").symlink_to(ROOT / "Examples")
        environment = dict(
            os.environ, PATH=f"{pathlib.Path(sys.argv[1]).resolve().parent}:{os.environ['PATH']}",
            HOME=f"{folder}/home", NO_COLOR="1")
        for name in ["THUMBS_CACHE_DIR", "XDG_CACHE_HOME"]:
            environment.pop(name, None)

        def shell(command):
            done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, text=True, timeout=120,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return done.stdout.replace(f"{folder}/home", "/home/you")

        def check(block):
            nonlocal failures
            shown = [part.split("\n", 1) for part in block.group(1).split("$ ") if part]
            printed = [(command, shell(command)) for command, _ in shown]
            for (command, expected), (_, output) in zip(shown, printed):
                if form(expected) != form(output):
                    failures += 1
                    print(f"The README is wrong about: {command}\nIt shows:\n{expected}\nIt prints:\n{output}")
            printed = "".join(f"$ {command}\n{output}" for command, output in printed)
            return f"```console\n{printed}```"

        written = re.sub(r"```console\n(.*?)```", check, text, flags=re.S)
    if "--write" in sys.argv:
        (ROOT / "README.md").write_text(written)
        return 0
    print(f"The README: {len(re.findall(r'^[$] ', text, re.M))} commands, {failures} wrong.")
    return 1 if failures else 0


sys.exit(main())
