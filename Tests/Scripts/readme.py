#!/usr/bin/env python3
"""Runs the commands of the README and its pages and compares their output: readme.py THUMBS [--write]

Run it through Examples/serve.py. In blocks marked `console`, each line that begins with `$ ` is run by a shell in a
fresh directory with the examples, one for each document; the lines below it are the expected output. Values that differ
between machines, such as times, dates and some sizes, are compared by form only. Links to files must lead somewhere,
and no line of output may be over 120 columns. With --write, the documents are updated with the actual output.
"""
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [
    ROOT / "README.md", ROOT / "Documentation/command.md", ROOT / "Documentation/cache.md",
    ROOT / "Documentation/cookbook.md",
]
COLUMNS = 120
# Values that may differ: seconds, milliseconds, dates, sizes on disk, ages, entity tags and parts of a cache.
VARIABLE = [
    (r"\b\d+\.\d s\b", "0.0 s"), (r'"(queued|download|render)": ?\d+', r'"\1":0'),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"), (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", "TIME"),
    (r"on disk [\d.]+ \wiB \+ log [\d.]+ \w+", "on disk SIZE"), (r"\bage +\d+ s\b", "age 0 s"),
    (r"remembered from \d\d:\d\d", "remembered from TIME"), (r'"[0-9a-f]+-[0-9a-f]{8}"', "ETAG"),
    (r"Size +[\d.]+ \w+", "Size SIZE"),
    (r"(At 1/\d) +[\d.]+ \w+ would keep \d+ of (\d+) sources, [\d.]+ \w+", r"\1 SIZE \2"),
]


def form(text):
    for pattern, mark in VARIABLE:
        text = re.sub(pattern, mark, text)
    # Rows come in order of completion, which differs from run to run.
    return sorted(line.rstrip() for line in text.splitlines())


def missing_files(document, text):
    """Relative links to files that do not exist."""
    links = re.findall(r"\]\((?!\w+:)([^)#]+)", text)
    return [link for link in links if not (document.parent / link).is_file()]


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def start_buckets(folder):
    """Starts a server with buckets. Returns its process and the variables that give access to it."""
    port = free_port()
    program = [sys.executable, "-B", ROOT / "Tests/Servers/s3.py", str(port), f"{folder}/buckets.log"]
    server = subprocess.Popen(program, stdout=subprocess.PIPE)
    server.stdout.readline()
    return server, {
        "no_proxy": "127.0.0.1", "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_REGION": "test-region-1",
        "AWS_ACCESS_KEY_ID": "AKIDPERMANENT", "AWS_SECRET_ACCESS_KEY": "permanent/secret+key"}


def shell_in(folder, variables):
    """A function that runs commands in a fresh directory with the examples."""
    (folder / "Examples").symlink_to(ROOT / "Examples")
    environment = dict(
        os.environ, PATH=f"{pathlib.Path(sys.argv[1]).resolve().parent}:{os.environ['PATH']}", HOME=f"{folder}/home",
        NO_COLOR="1", **variables)
    for name in ["THUMBS_CACHE_DIR", "XDG_CACHE_HOME"]:
        environment.pop(name, None)

    def shell(command):
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout.replace(f"{folder}/home", "/home/you")

    return shell


def run_commands(document, folder, variables):
    """Runs the commands of a document. Returns its text with the actual output, and the number of failures."""
    text, shell, failures = document.read_text(), shell_in(folder, variables), 0
    for link in missing_files(document, text):
        failures += 1
        print(f"{document.name} links to a missing file: {link}")

    def check(block):
        nonlocal failures
        shown = [part.split("\n", 1) for part in re.split(r"^\$ ", block.group(1), flags=re.M) if part]
        printed = [(command, shell(command)) for command, _ in shown]
        for (command, expected), (_, output) in zip(shown, printed):
            if form(expected) != form(output):
                failures += 1
                print(f"In {document.name}, the output of this command differs: {command}")
                print(f"Expected:\n{expected}\nActual:\n{output}")
            for line in f"$ {command}\n{output}".splitlines():
                if len(line) > COLUMNS:
                    failures += 1
                    print(f"This line has {len(line)} columns; {COLUMNS} are allowed: {line}")
        printed = "".join(f"$ {command}\n{output}" for command, output in printed)
        return f"```console\n{printed}```"

    return re.sub(r"```console\n(.*?)```", check, text, flags=re.S), failures


def main():
    total = 0
    for document in DOCUMENTS:
        with tempfile.TemporaryDirectory(prefix="thumbs-readme-") as folder:
            server, variables = start_buckets(f"{folder}")
            try:
                written, failures = run_commands(document, pathlib.Path(folder), variables)
            finally:
                server.kill()
        if "--write" in sys.argv:
            document.write_text(written)
            continue
        total += failures
        print(f"{document.name}: {len(re.findall(r'^[$] ', written, re.M))} commands run, {failures} failures")
    return 1 if total else 0


sys.exit(main())
