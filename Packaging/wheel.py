#!/usr/bin/env python3
"""Makes a Python wheel with the command and the package in Python/thumbs: wheel.py THUMBS LICENSES DIRECTORY

`pip install` puts the command next to python3, where the package looks for it. The same input gives the same bytes;
times come from SOURCE_DATE_EPOCH.
"""
import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import time
import zipfile

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "Python/thumbs"
TAG = "py3-none-manylinux_2_34_x86_64"
METADATA = """Metadata-Version: 2.1
Name: thumbs
Version: {version}
Summary: Makes thumbnails from a list of image URLs
License: MIT
Requires-Python: >=3.9
Provides-Extra: parquet
Requires-Dist: pyarrow >=14 ; extra == "parquet"
Provides-Extra: spark
Requires-Dist: pyspark >=3.5 ; extra == "spark"
Requires-Dist: pyarrow >=14 ; extra == "spark"
Provides-Extra: ray
Requires-Dist: ray[data] >=2.40 ; extra == "ray"
Requires-Dist: pyarrow >=14 ; extra == "ray"
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Multimedia :: Graphics
Description-Content-Type: text/markdown

The command `thumbs` for Linux on x86-64. It downloads each image of a list once, renders every size from one decode,
caches the results, and reports the outcome of each row. It needs glibc 2.34 and no other library. The package `thumbs`
runs it from Python, PySpark and Ray.

It decodes JPEG, PNG, WebP, GIF, BMP, ICO, QOI and PNM. For AVIF, HEIC, JPEG 2000, JPEG XL, PSD, SVG, TIFF and camera
raw files, and to write AVIF, install the Debian package `thumbs-decoders` of the same version, and for PDF
`thumbs-decode-pdf`; `thumbs doctor` shows what is missing.
"""
WHEEL = f"""Wheel-Version: 1.0
Generator: thumbs
Root-Is-Purelib: false
Tag: {TAG}
"""


def record(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def modules(version):
    """Returns the files of the package. Its version has to be that of the command."""
    namespace = {}
    exec((PACKAGE / "_version.py").read_text(), namespace)
    if namespace["VERSION"] != version:
        sys.exit(f"The command has the version {version}, but the package has {namespace['VERSION']}.")
    paths = [path for path in sorted(PACKAGE.iterdir()) if path.suffix == ".py" or path.name == "py.typed"]
    return {f"thumbs/{path.name}": path.read_bytes() for path in paths}


def main():
    command, licenses, directory = map(pathlib.Path, sys.argv[1:])
    version = subprocess.check_output([command.resolve(), "--version"], text=True).strip()
    info = f"thumbs-{version}.dist-info"
    files = {f"thumbs-{version}.data/scripts/thumbs": command.read_bytes(), **modules(version)}
    for path in sorted(licenses.iterdir()):
        files[f"{info}/licenses/{path.name}"] = path.read_bytes()
    files[f"{info}/METADATA"] = METADATA.format(version=version).encode()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    lines = "".join(record(name, content) for name, content in files.items())
    files[f"{info}/RECORD"] = f"{lines}{info}/RECORD,,\n".encode()
    # The format of zip cannot express times before 1980.
    moment = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]
    with zipfile.ZipFile(directory / f"thumbs-{version}-{TAG}.whl", "w") as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, moment)
            entry.external_attr = (0o100755 if name.endswith("/scripts/thumbs") else 0o100644) << 16
            wheel.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)


main()
