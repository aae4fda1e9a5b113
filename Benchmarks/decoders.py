#!/usr/bin/env python3
"""Compares thumbs with vipsthumbnail on AVIF, HEIC, JPEG 2000, JPEG XL, PDF, PSD, TIFF and SVG files, and on AVIF
thumbnails of JPEG files; on PDF with pdftoppm, too, and on camera raw files with dcraw, whose preview vipsthumbnail
resizes: decoders.py THUMBS PHOTOS [FORMAT ...]

All read local files with two threads or processes, make thumbnails of 256 pixels, and run in turn, 3 times each; the
best runs are compared. thumbs decodes in its sandbox, and begins each time with an empty cache. The files are made of
the photos in the folder PHOTOS, once, and are icons of the Breeze theme and pages of two manuals in Debian packages.
"""
import concurrent.futures
import contextlib
import ctypes
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Tests/Decoders"))
import raw_file  # noqa: E402

ROUNDS, WORKERS, SIDE = 3, 2, 256
BREEZE = pathlib.Path("/usr/share/icons/breeze")
MANUALS = ["/usr/share/doc/libtasn1-doc/libtasn1.pdf", "/usr/share/doc/shared-mime-info/shared-mime-info-spec.pdf"]
THUMBS, PHOTOS = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
FILES = PHOTOS.parent / "decoders"
# The number of files of each format.
COUNTS = {"avif": 200, "svg": 500, "heic": 50, "jp2": 50, "jxl": 50, "tiff": 50, "psd": 50, "raw": 200, "pdf": 60,
          "to-avif": 100}
ENCODERS = {
    "avif": ["avifenc", "-s", "9", "-y", "420", "--min", "20", "--max", "32", "{source}", "{target}"],
    "heic": ["heif-enc", "-q", "60", "{source}", "-o", "{target}"],
    # One layer and the merged image.
    "psd": ["convert", "{source}", "-compress", "RLE", "{target}"],
    "jxl": ["cjxl", "{source}", "{target}", "-e", "3", "-d", "1.5", "--lossless_jpeg=0", "--quiet"],
}


def encode(source, target):
    kind = target.suffix[1:]
    if kind == "tiff":
        Image.open(source).save(target, compression="tiff_lzw")
    elif kind == "jp2":
        Image.open(source).save(target, quality_mode="rates", quality_layers=[10], irreversible=True)
    elif kind == "raw":
        # A file of Nikon's layout, with a small raw image and the photo as its preview.
        raw_file.write_nef(target, (source.read_bytes(), *Image.open(source).size), (640, 480))
    else:
        command = [part.format(source=source, target=target) for part in ENCODERS[kind]]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def copy(source, target):
    """Copies an icon, or a page of a manual, which has its number."""
    if isinstance(source, tuple):
        subprocess.run(["qpdf", source[0], "--pages", ".", str(source[1]), "--", target], check=True)
    else:
        shutil.copyfile(source, target)


def sources(kind):
    if kind == "pdf":
        counts = [int(subprocess.check_output(["qpdf", "--show-npages", manual])) for manual in MANUALS]
        pages = [(manual, page) for manual, count in zip(MANUALS, counts) for page in range(1, count + 1)]
        return pages[:COUNTS[kind]]
    if kind != "svg":
        return sorted(PHOTOS.glob("*.jpg"))[:COUNTS[kind]]
    icons = sorted(path for path in BREEZE.rglob("*.svg") if not path.is_symlink())
    return icons[::len(icons) // COUNTS[kind]][:COUNTS[kind]]


def files(kind):
    """Makes the files of a format, unless they are there. Returns their paths."""
    if kind == "to-avif":
        return sources(kind)
    folder = FILES / kind
    if not folder.is_dir():
        unfinished = folder.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        targets = [unfinished / f"{number:04}.{kind}" for number in range(len(sources(kind)))]
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(copy if kind in ("svg", "pdf") else encode, sources(kind), targets))
        unfinished.rename(folder)
    return sorted(folder.iterdir())


def thumbs(paths, out):
    (out / "list.txt").write_text("".join(f"{path.as_uri()}\n" for path in paths))
    return [THUMBS, "fetch", out / "list.txt", "-o", out / "thumbnails", "--size", str(SIDE), "--allow-file", "-q",
            "--cache-dir", out / "cache", "--render-threads", str(WORKERS),
            *(["--format", "avif"] if paths[0].suffix == ".jpg" else [])]


def vips(paths, out):
    (out / "thumbnails").mkdir()
    (out / "list").write_text("\0".join(map(str, paths)))
    # The AVIF files have the same speed of libaom, 8, and about the same size.
    suffix = {".svg": ".png", ".jpg": ".avif[Q=64,effort=1]"}.get(paths[0].suffix, ".jpg[Q=82]")
    script = f"""VIPS_CONCURRENCY=1 xargs -0 -P {WORKERS} -n 32 vipsthumbnail --size {SIDE}x{SIDE} \
      -o '{out}/thumbnails/%s{suffix}' <'{out}/list'"""
    return ["sh", "-c", script]


def for_each(paths, out, command):
    """Runs a command of the shell for each file, which is "$0"."""
    (out / "thumbnails").mkdir()
    (out / "list").write_text("\0".join(map(str, paths)))
    quoted = command.replace("OUT", f'"{out}/thumbnails/$(basename "$0")"')
    return ["sh", "-c", f"""VIPS_CONCURRENCY=1 xargs -0 -P {WORKERS} -n 1 sh -c '{quoted}' <'{out}/list'"""]


def dcraw(paths, out):
    return for_each(paths, out, f'dcraw -e -c "$0" | vipsthumbnail stdin --size {SIDE}x{SIDE} -o OUT".jpg[Q=82]"')


def pdftoppm(paths, out):
    return for_each(paths, out, f'pdftoppm -singlefile -jpeg -jpegopt quality=82 -scale-to {SIDE} "$0" OUT')


def adopt_orphans():
    """Makes this process the parent of decoders whose own parent has ended, so that it gets their processor time."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def cpu_seconds():
    """The processor time of all programs, which have ended or are about to."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds(program, paths):
    """The duration of a run, with all files in memory, and its processor time."""
    with tempfile.TemporaryDirectory(prefix="thumbs-bench-", dir="/dev/shm") as name:
        out = pathlib.Path(name)
        command = program(paths, out)
        begin, begin_cpu = time.monotonic(), cpu_seconds()
        subprocess.run(command, stderr=subprocess.DEVNULL, check=True)
        duration, cpu = time.monotonic() - begin, cpu_seconds() - begin_cpu
        made = len(list((out / "thumbnails").iterdir()))
        assert made == len(paths), f"{program.__name__} made {made} of {len(paths)}"
        return duration, cpu


def compare(kind):
    paths = files(kind)
    times = {program: [] for program in (thumbs, *PEERS.get(kind, [vips]))}
    for _ in range(ROUNDS):
        for program, runs in times.items():
            runs.append(seconds(program, paths))
    for unit, index in [("s", 0), ("s of processor time", 1)]:
        speed = {program: len(paths) / min(run[index] for run in runs) for program, runs in times.items()}
        for peer in list(times)[1:]:
            name = {"vips": "vipsthumbnail"}.get(peer.__name__, peer.__name__)
            print(f"{kind:5} {len(paths)} files: thumbs {speed[thumbs]:6.1f}/{unit}, {name} {speed[peer]:6.1f}, "
                  f"ratio {speed[thumbs] / speed[peer]:.2f}", flush=True)


PEERS = {"raw": [dcraw], "pdf": [vips, pdftoppm]}
adopt_orphans()
for wanted in sys.argv[3:] or COUNTS:
    compare(wanted)
