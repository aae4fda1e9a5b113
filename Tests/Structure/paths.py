"""Counts the source files of three paths: a row that is in no cache, a hit in the disk cache, and an AVIF image that a
separate process decodes.

Usage: paths.py THUMBS PHOTO

Runs a debug build of `thumbs` under callgrind, with few rows and with more. The files of a path are those with a
function that is called at least once for each further row. Closures and accessors count like other functions, so these
are more files than a reader opens.
"""
import collections
import functools
import http.server
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
FEW, MORE = 2, 8
# The parts of the command that decodes AVIF images, which callgrind cannot follow into its sandbox.
PROCESS = [ROOT / "Sources/thumbs-decode/main.c", ROOT / "Sources/thumbs-decode/avif.c",
           ROOT / "Sources/thumbs-decode/formats.h", *(ROOT / "Sources/CDecoder").rglob("*.[ch]"),
           *(ROOT / "Sources/CDecodeChannel").rglob("*.[ch]")]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def calls(profile):
    """The number of calls of each function in the output of callgrind."""
    names, counts, called = {}, collections.Counter(), None
    for line in profile.read_text().splitlines():
        key, _, value = line.partition("=")
        if key in ("fn", "cfn"):
            number, _, name = value.partition(" ")
            names.setdefault(number, name)
            called = names[number]
        elif key == "calls":
            counts[called] += int(value.split()[0])
    return counts


def measured(thumbs, folder, urls, cache):
    """The calls of a run over `urls`."""
    profile, rows = folder / "profile", folder / "rows.txt"
    rows.write_text("\n".join(urls))
    command = ["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={profile}", thumbs, "fetch",
               "--no-config", "-q", "-j", "1", "--cache-dir", str(cache), "-o", str(folder / "out"), rows]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    return calls(profile)


def addresses(program):
    """The addresses of the functions of a program."""
    lines = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout.splitlines()
    return {parts[2]: parts[0] for parts in map(str.split, lines) if len(parts) == 3 and parts[1] in "tT"}


def path(program, few, more):
    """The source files of the project with a function that each further row calls."""
    names = [name for name, count in more.items() if count - few[name] >= MORE - FEW]
    known = addresses(program)
    wanted = "".join(f"0x{known[name]}\n" for name in names if name in known)
    # The one of the Swift toolchain knows its version of debug information.
    symbolizer = pathlib.Path(shutil.which("swiftc")).resolve().with_name("llvm-symbolizer")
    found = subprocess.run([symbolizer, f"--obj={program}", "--no-inlines", "--output-style=GNU"], input=wanted,
                           check=True, capture_output=True, text=True).stdout
    files = {line.rsplit(":", 1)[0] for line in found.splitlines() if line.startswith(f"{ROOT}/Sources/")}
    return {file for file in files if pathlib.Path(file).exists()}


def runs(thumbs, folder, urls, name, repeated):
    """The calls of a run with few rows, and of one with more."""
    found = []
    for count in (FEW, MORE):
        cache = folder / f"{name}-{count}"
        if repeated:
            measured(thumbs, folder, urls[:count], cache)
        found.append(measured(thumbs, folder, urls[:count], cache))
    return found


def lines(files):
    return sum(pathlib.Path(file).read_text().count("\n") for file in files)


def report(title, files):
    own = {file for file in files if "/Sources/thumbs/" not in file}
    print(f"{title:<38} {len(files):>4} files {lines(files):>7} lines; without the command {len(own):>4}, {lines(own)}")
    if os.environ.get("VERBOSE"):
        print("".join(f"  {pathlib.Path(file).relative_to(ROOT)}\n" for file in sorted(files)), end="")


def main():
    thumbs, photo = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # callgrind cannot read the debug information of Swift.
        stripped = folder / "thumbs"
        subprocess.run(["strip", "-g", "-o", stripped, thumbs], check=True)
        (folder / "thumbs-decode").symlink_to(pathlib.Path(thumbs).with_name("thumbs-decode"))
        subprocess.run(["avifenc", "-s", "10", photo, folder / "image.avif"], check=True, capture_output=True)
        (folder / photo.name).write_bytes(photo.read_bytes())
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=name))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        rows = [f"{base}/{photo.name}?{number}" for number in range(MORE)]
        images = [f"{base}/image.avif?{number}" for number in range(MORE)]
        row = path(thumbs, *runs(stripped, folder, rows, "row", False))
        hit = path(thumbs, *runs(stripped, folder, rows, "hit", True))
        avif = path(thumbs, *runs(stripped, folder, images, "avif", False))
        server.shutdown()
    imaging = {file for file in avif if re.search("/Sources/(ImageCache/Imaging|CImage|CDecodeChannel)/", file)}
    report("A row that is in no cache", row)
    report("A hit in the disk cache", hit)
    report("An AVIF image in a separate process", imaging | set(map(str, PROCESS)))


main()
