#!/usr/bin/env python3
"""measure.py BINARY CORPUS: times four programs on the same files, on one core each, and compares their pixels.

A time is the CPU time (user and system) of a whole process, the best of three interleaved runs, minus the time the
process takes without files.
"""
import io, math, os, pathlib, resource, shutil, subprocess, sys, tempfile
from PIL import Image, ImageChops

BINARY, CORPUS = sys.argv[1], pathlib.Path(sys.argv[2])
ENVIRONMENT = dict(os.environ, VIPS_CONCURRENCY="1", OMP_NUM_THREADS="1")
PILLOW = """
import io, sys
from PIL import Image
for path in sys.argv[3:]:
    image = Image.open(path)
    image.thumbnail((int(sys.argv[1]),) * 2, Image.Resampling.LANCZOS)
    image.save(f"{sys.argv[2]}/{path.split('/')[-1]}", **({"quality": 82} if path.endswith("jpg") else {}))
"""


def commands(side, out):
    return {
        "bare loop": [BINARY, "bare", str(side), out],
        "ours": [BINARY, "ours", str(side), out],
        "vipsthumbnail": ["vipsthumbnail", "--size", f"{side}x{side}", "-o", f"{out}/%s.EXT"],
        "Pillow": ["/usr/bin/python3", "-c", PILLOW, str(side), out],
    }


def cpu(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(title, folder, side):
    files = sorted(str(path) for path in (CORPUS / folder).iterdir())
    ext = "png" if folder in ("icons", "png") else "jpg[Q=82,strip]"
    best, sizes = {}, {}
    with tempfile.TemporaryDirectory() as out:
        for _ in range(3):
            for name, command in commands(side, out).items():
                command = [word.replace("EXT", ext) for word in command]
                idle = command if name != "vipsthumbnail" else ["vipsthumbnail", "--version"]
                seconds = cpu(command + files) - cpu(idle)
                best[name] = min(best.get(name, math.inf), seconds)
                sizes[name] = sum(path.stat().st_size for path in pathlib.Path(out).iterdir()) / len(files)
                for path in pathlib.Path(out).iterdir():
                    path.unlink()
    ours = best["ours"]
    print(f"\n{title}: {len(files)} files to {side} px")
    for name, seconds in best.items():
        print(f"  {name:14} {1000 * seconds / len(files):7.2f} ms  {sizes[name]:8.0f} bytes"
              f"   ours is {seconds / ours:.2f} times as fast")


def sizes(folder, one, many):
    """Prints the cost of additional sizes of one image, relative to the largest size alone."""
    files = [str(path) for path in (CORPUS / folder).iterdir()]
    best = [min(cpu([BINARY, "ours", sides, "-"] + files) for _ in range(3)) for sides in (one, many)]
    print(f"\n{folder} to {many} px: {best[1] / best[0]:.2f} times the time of {one} px alone")


def ratio(title, folder, base, side=256):
    """Prints the cost of one property of files: our times for two folders with the same photos, interleaved."""
    best = {folder: math.inf, base: math.inf}
    for _ in range(7):
        for name in best:
            files = [str(path) for path in sorted((CORPUS / name).iterdir())]
            command = [BINARY, "ours", str(side), "-"]
            best[name] = min(best[name], cpu(command + files) - cpu(command))
    print(f"  {title:26} {best[folder] / best[base]:.2f}")


def psnr(path, reference):
    image = Image.open(path)
    image = image.convert(reference.mode)
    if image.size != reference.size:
        return None
    bands = ImageChops.difference(image, reference).split()
    squares = sum(n * v * v for band in bands for v, n in enumerate(band.histogram()))
    mean = squares / (image.width * image.height * len(reference.getbands()))
    return 99 if mean == 0 else 10 * math.log10(255 * 255 / mean)


def quality(folder, side, ext, options=""):
    files = sorted((CORPUS / folder).iterdir())
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        ENVIRONMENT["FORMAT"] = {"jpg": "jpeg"}.get(ext, ext)
        cpu([BINARY, "ours", str(side), first] + [str(file) for file in files])
        cpu(["vipsthumbnail", "--size", f"{side}x{side}", "-o", f"{second}/%s.{ext}{options}"]
            + [str(file) for file in files])
        del ENVIRONMENT["FORMAT"]
        results = {"ours": [], "vipsthumbnail": []}
        for file in files:
            name = f"{file.stem}.{ext}"
            size = Image.open(f"{first}/{name}").size
            reference = Image.open(file).convert("RGB").resize(size, Image.Resampling.LANCZOS)
            pair = psnr(f"{first}/{name}", reference), psnr(f"{second}/{name}", reference)
            if None not in pair:
                results["ours"].append(pair[0])
                results["vipsthumbnail"].append(pair[1])
    print(f"\nPSNR of {ext} against Pillow's full decode and Lanczos, {folder} to {side} px, "
          f"{len(results['ours'])} files")
    for name, values in results.items():
        print(f"  {name:14} mean {sum(values) / len(values):.2f} dB, least {min(values):.2f} dB")


row("Photos of 1-2 megapixels", "photos", 256)
row("The same, progressive", "progressive", 256)
row("The same, progressive", "progressive", 64)
row("Photos of 12-24 megapixels", "large", 256)
row("Photos of 1-2 megapixels as PNG", "png", 256)
row("Icons of 256 px", "icons", 64)
print("\nCPU time of the same photos to 256 px")
ratio("sRGB-tagged over untagged", "srgb", "photos")
ratio("P3 over untagged", "p3", "photos")
ratio("4:2:2 over 4:2:0", "422", "photos")
sizes("photos", "512", "512,256,128,64")
sizes("photos", "256", "256,placeholder")
sizes("icons", "64", "64,placeholder")
quality("photos", 256, "png")
quality("photos", 256, "jpg", "[Q=82,strip]")
