#!/usr/bin/env python3
"""Counts the source files that take part in a path through the program: paths.py [--root FOLDER] [--list]

The command is built with the coverage of the compiler. Each path is a run; its files are those with a function that ran
in it, except the functions that also run for `thumbs --version`. --root measures another checkout.

The paths: a row of a list, from its line to its thumbnail and its line in the report; the same row from the disk cache,
in the libraries; an AVIF file, which another process decodes, beyond the files of the row. C files that run in the
sandbox of thumbs-decode leave no coverage: those of the format, of `CDecoder` and of `CDecodeChannel` are all counted.
"""
import argparse
import http.server
import json
import os
import pathlib
import subprocess
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parents[2]
COVERAGE = ["-Xswiftc", "-profile-generate", "-Xswiftc", "-profile-coverage-mapping"]


class Measured:
    """A command that is built with coverage."""

    def __init__(self, root):
        self.root = root
        build = ["swift", "build", "--scratch-path", str(root / ".build-paths")]
        subprocess.run([*build, "--product", "thumbs-decode"], cwd=root, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*build, *COVERAGE, "--product", "thumbs"], cwd=root, check=True, stdout=subprocess.DEVNULL)
        self.command = root / ".build-paths/debug/thumbs"

    def functions(self, folder, *arguments):
        """Returns the functions that a run executes, as pairs of file and name."""
        raw, merged = folder / "raw", folder / "merged"
        environment = os.environ | {"LLVM_PROFILE_FILE": str(raw)}
        subprocess.run([self.command, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["llvm-profdata", "merge", "-sparse", raw, "-o", merged], check=True)
        export = subprocess.run(["llvm-cov", "export", f"--instr-profile={merged}", self.command], check=True,
                                capture_output=True, text=True).stdout
        return {(file, function["name"]) for function in json.loads(export)["data"][0]["functions"]
                if function["count"] for file in function["filenames"] if "/Sources/" in file and ".build" not in file}


def files(functions):
    return sorted({file for file, _ in functions})


def serve(folder):
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def measure(root):
    measured = Measured(root)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        start = measured.functions(folder, "--version")

        def run(picture, *options):
            (folder / "list.txt").write_text(f"{address}/{picture}\n")
            arguments = ["fetch", folder / "list.txt", "-q", "--no-config", "--cache-dir", folder / "cache",
                         "--output", folder / "out", "--report", folder / "report.jsonl", *options]
            return measured.functions(folder, *arguments) - start

        address = serve(root / "Tests/Fixtures/pictures")
        row = run("large-444.jpg")
        hit = run("large-444.jpg", "--offline")
        run("gray.jpg", "--format", "avif")
        picture = next((folder / "out").glob("*.avif"))
        address = serve(picture.parent)
        avif = run(picture.name)
        libraries = {function for function in hit if "/Sources/thumbs/" not in function[0]}
        native = [*root.glob("Sources/CDecoder/*.c"), *root.glob("Sources/thumbs-decode/*avif*.c"),
                  *root.glob("Sources/thumbs-decode/avif/*.c"), *root.glob("Sources/CDecodeChannel/*.c")]
        return {
            "a row": files(row), "a disk hit": files(libraries),
            "an AVIF": sorted({*files(avif)} - {*files(row)}) + [str(path) for path in native],
        }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, default=HERE)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    root = options.root.resolve()
    for path, found in measure(root).items():
        lines = sum(pathlib.Path(file).read_text().count("\n") for file in found)
        print(f"{path}: {len(found)} files, {lines} lines")
        for file in found if options.list else []:
            print(f"  {pathlib.Path(file).relative_to(root)}")


main()
