#!/usr/bin/env python3
"""Collects the licenses of everything in the release: licenses.py CHECKOUTS DIRECTORY

DIRECTORY gets the license of each part and components.tsv, the list of parts with their versions and SPDX expressions.
CHECKOUTS has the sources of the Swift packages, and ../libraries/sources those of the libraries that are built.
"""
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMON = pathlib.Path("/usr/share/common-licenses")
SWIFT = "Apache-2.0 WITH Swift-exception"
# The libraries that the release builds, with the names of their source packages.
BUILT = [("curl", "curl", "curl"), ("littlecms", "lcms2", "MIT")]
# Each other library with the Debian package that it comes from.
LIBRARIES = [
    ("libdeflate", "libdeflate-dev", "MIT"),
    ("libidn2", "libidn2-dev", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    ("libjpeg-turbo", "libjpeg62-turbo-dev|libjpeg-turbo8-dev", "BSD-3-Clause AND IJG AND Zlib"),
    ("libpng", "libpng-dev", "libpng-2.0"),
    ("libstdc++", "libstdc++-12-dev|libstdc++-13-dev", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    ("libseccomp", "libseccomp-dev", "LGPL-2.1-only"),
    ("libunistring", "libunistring-dev", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    ("libwebp", "libwebp-dev", "BSD-3-Clause"),
    ("nghttp2", "libnghttp2-dev", "MIT"),
    ("openssl", "libssl-dev", "Apache-2.0"),
    ("sqlite", "libsqlite3-dev", "blessing"),
    ("toml++", "libtomlplusplus-dev", "MIT"),
    ("xxhash", "libxxhash-dev", "BSD-2-Clause"),
    ("zlib", "zlib1g-dev", "Zlib"),
]
PACKAGES = [
    ("grdb", "GRDB.swift", "MIT"),
    ("swift-argument-parser", "swift-argument-parser", SWIFT),
    ("swift-http-types", "swift-http-types", "Apache-2.0"),
    ("swift-log", "swift-log", "Apache-2.0"),
    ("swift-metrics", "swift-metrics", "Apache-2.0"),
]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def debian(packages):
    """The name and the version of the first of `packages` that is installed."""
    for package in packages.split("|"):
        run = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True)
        if run.returncode == 0 and run.stdout:
            return package, run.stdout
    sys.exit(f"No package has the license of: {packages}")


def built(sources, package):
    """The version and the license of a source package."""
    description = next(sources.glob(f"{package}_*.dsc")).read_text()
    version = next(line for line in description.splitlines() if line.startswith("Version: ")).split()[1]
    return version, next(sources.glob(f"{package}-*/debian/copyright"))


def swift_packages(checkouts):
    """The versions of the Swift packages by the names of their repositories."""
    pins = json.loads((ROOT / "Package.resolved").read_text())["pins"]
    return {pin["location"].rsplit("/", 1)[-1].removesuffix(".git"): pin["state"]["version"] for pin in pins}


def main():
    checkouts, directory = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    rows = []

    def add(name, version, license, source):
        rows.append((name, version, license, f"{name}.txt"))
        (directory / f"{name}.txt").write_text(pathlib.Path(source).read_text())

    for name, packages, license in LIBRARIES:
        package, version = debian(packages)
        add(name, version, license, f"/usr/share/doc/{package}/copyright")
    for name, package, license in BUILT:
        version, text = built(checkouts.parent / "libraries/sources", package)
        add(name, version, license, text)
    versions = swift_packages(checkouts)
    for name, repository, license in PACKAGES:
        add(name, versions[repository], license, next((checkouts / repository).glob("LICENSE*")))
    compiler = pathlib.Path(shutil.which("swiftc")).resolve()
    version = output("swiftc", "--version").split("Swift version ")[1].split()[0]
    add("swift", version, SWIFT, compiler.parents[1] / "share/swift/LICENSE.txt")
    add("unicode", "76", "Unicode-3.0", ROOT / "Packaging/licenses/unicode.txt")
    add("thumbs", output(sys.argv[3], "--version"), "MIT", ROOT / "LICENSE")
    # Texts that others refer to.
    for name in ["Apache-2.0", "GPL-2", "GPL-3", "LGPL-2.1", "LGPL-3"]:
        shutil.copyfile(COMMON / name, directory / f"{name}.txt")
    lines = ["component\tversion\tlicense (SPDX)\tfile", *("\t".join(row) for row in sorted(rows))]
    (directory / "components.tsv").write_text("\n".join(lines) + "\n")


main()
