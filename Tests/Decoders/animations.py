"""Animated thumbnails of generated GIF, PNG, WebP and AVIF files, compared frame by frame with other programs: the
pixels at each moment with those of Pillow, and of FFmpeg for PNG, because this version of Pillow does not mix
transparent colors there; with the images of which avifenc has made an AVIF sequence without losses; the durations and
repetitions as `webpmux` prints them. Thumbnails in GIF are decoded by FFmpeg, ImageMagick and Pillow: those of few
colors have exactly the pixels of the source."""
import json
import random
import struct
import subprocess
import zlib

import cases
import samples
import numpy
from PIL import Image

WIDTH, HEIGHT = 40, 30
COUNT = 12
COLORS = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (250, 200, 20), (20, 20, 20), (240, 240, 240)]
# The largest difference of a sample, because libwebp and FFmpeg round otherwise when they mix transparent pixels, once
# for each frame.
LARGEST = {"gif": 0, "png": 1, "webp": 2, "avif": 0}


def rectangles(chance, alphas):
    """Frames of two rectangles each: their place, the pixels, the disposal, and whether they overwrite."""
    for number in range(COUNT):
        width, height = (WIDTH, HEIGHT) if number == 0 else (chance.randint(2, WIDTH), chance.randint(2, HEIGHT))
        # WebP has only even places.
        left, top = (chance.randint(0, (full - side) // 2) * 2 for full, side in ((WIDTH, width), (HEIGHT, height)))
        pixels = numpy.zeros((height, width, 4), numpy.uint8)
        pixels[:] = (*chance.choice(COLORS), chance.choice(alphas))
        inner = chance.randint(0, height - 1), chance.randint(0, width - 1)
        pixels[inner[0]:, inner[1]:] = (*chance.choice(COLORS), chance.choice(alphas))
        yield (left, top), pixels, chance.randint(0, 2), chance.random() < 0.5


def gif(frames, durations, loops):
    """A GIF file without compression: the table is cleared before each code, and all codes have five bits."""
    colors = b"".join(bytes(color) for color in COLORS).ljust(48, b"\0")
    parts = [b"GIF89a" + struct.pack("<HHBBB", WIDTH, HEIGHT, 0x83, 0, 0) + colors]
    if loops != 1:
        parts.append(b"!\xff\x0bNETSCAPE2.0\x03\x01" + struct.pack("<HB", max(0, loops - 1), 0))
    for ((left, top), pixels, disposal, _), duration in zip(frames, durations):
        height, width, _ = pixels.shape
        indices = [COLORS.index(tuple(pixel[:3])) if pixel[3] else 15 for pixel in pixels.reshape(-1, 4).tolist()]
        bits = sum(code << (5 * place) for place, code in enumerate(c for index in indices for c in (16, index)))
        bits |= 17 << (10 * len(indices))
        data = bits.to_bytes((10 * len(indices) + 12) // 8, "little")
        blocks = b"".join(bytes([len(data[at:at + 255])]) + data[at:at + 255] for at in range(0, len(data), 255))
        parts += [b"!\xf9\x04" + struct.pack("<BHBB", (disposal + 1) << 2 | 1, duration // 10, 15, 0),
                  b"," + struct.pack("<HHHHB", left, top, width, height, 0) + b"\4" + blocks + b"\0"]
    return b"".join(parts) + b";"


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(frames, durations, loops):
    parts = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 6, 0, 0, 0)),
             chunk(b"acTL", struct.pack(">II", COUNT, loops))]
    number = 0
    for ((left, top), pixels, disposal, overwrites), duration in zip(frames, durations):
        height, width, _ = pixels.shape
        parts.append(chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, width, height, left, top, duration, 1000,
                                                disposal, 0 if overwrites else 1)))
        data = zlib.compress(b"".join(b"\0" + row.tobytes() for row in pixels))
        parts.append(chunk(b"fdAT", struct.pack(">I", number + 1) + data) if number else chunk(b"IDAT", data))
        number += 2 if number else 1
    return b"".join(parts) + chunk(b"IEND", b"")


def webp(path, frames, durations, loops):
    arguments = []
    for index, (((left, top), pixels, disposal, overwrites), duration) in enumerate(zip(frames, durations)):
        part = path.with_name(f"{path.stem}-{index}.part")
        Image.fromarray(pixels).save(part, "WEBP", lossless=True, exact=True)
        mode = f"+{duration}+{left}+{top}+{1 if disposal == 1 else 0}{'-b' if overwrites else '+b'}"
        arguments += ["-frame", part, mode]
    cases.tool("webpmux", *arguments, "-loop", loops, "-o", path)


def avif(path, frames, durations):
    """A sequence of whole frames, each of which shows what the ones before have left."""
    canvas, arguments = numpy.zeros((HEIGHT, WIDTH, 4), numpy.uint8), []
    for index, (((left, top), pixels, *_), duration) in enumerate(zip(frames, durations)):
        height, width, _ = pixels.shape
        canvas[top:top + height, left:left + width] = pixels
        arguments += ["--duration", duration, still_of(path, index)]
        Image.fromarray(canvas).save(arguments[-1])
    cases.tool("avifenc", "--lossless", "-s", 6, "--timescale", 1000, *arguments, path)


def still_of(path, index):
    """The image of which avifenc has made a frame."""
    return path.with_name(f"{path.stem}-{index}.still.png")


def make(folder):
    """Writes files, and returns their durations and numbers of repetitions."""
    folder.mkdir()
    files = {}
    for seed in range(24):
        chance = random.Random(seed)
        durations = [10 * chance.randint(2, 60) for _ in range(COUNT)]
        loops = chance.choice([0, 1, 2, 7])
        opaque, mixed = ([*rectangles(chance, alphas)] for alphas in ([255, 255, 0], [255, 128, 0]))
        paths = [folder / f"{seed}.{kind}" for kind in LARGEST]
        paths[0].write_bytes(gif(opaque, durations, loops))
        paths[1].write_bytes(png(mixed, durations, loops))
        webp(paths[2], mixed, durations, loops)
        avif(paths[3], opaque, durations)
        files.update({path: (durations, loops) for path in paths})
        # avifenc writes no number of repetitions.
        files[paths[3]] = (durations, 0)
    return files


def frames_of(path):
    """The frames as Pillow or FFmpeg composes them, or as avifenc has got them."""
    if path.suffix == ".avif":
        return [samples.pixels(still_of(path, index)) for index in range(COUNT)]
    if path.suffix == ".png":
        output = ["-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgba", "-"]
        done = subprocess.run(["ffmpeg", "-v", "error", "-i", path, *output], capture_output=True, check=True)
        return [*numpy.frombuffer(done.stdout, numpy.uint8).reshape(-1, HEIGHT, WIDTH, 4)]
    frames = []
    with Image.open(path) as image:
        for index in range(image.n_frames):
            image.seek(index)
            frames.append(numpy.asarray(image.convert("RGBA")))
    return frames


def properties(path):
    """The durations and the number of repetitions, as webpmux prints them."""
    lines = subprocess.run(["webpmux", "-info", path], capture_output=True, text=True, check=True).stdout.splitlines()
    loops = next(int(line.split()[-1]) for line in lines if "Loop Count" in line)
    return [int(line.split()[6]) for line in lines if line.strip()[:1].isdigit()], loops


def compare(path, output, durations, loops):
    """The fault of a thumbnail, and its largest difference. Equal frames one after the other may be one."""
    expected, shown, (times, repetitions) = frames_of(path), frames_of(output), properties(output)
    if repetitions != loops or sum(times) != sum(durations):
        return f"it is shown {repetitions} times for {sum(times)} ms, not {loops} times for {sum(durations)}", 0
    starts, ends = numpy.cumsum([0, *durations[:-1]]), numpy.cumsum(times)
    if not set(ends[:-1]) <= set(starts):
        return "a frame appears at another time", 0
    largest = max(samples.differences(shown[numpy.searchsorted(ends, start, "right")], frame)[0]
                  for start, frame in zip(starts, expected))
    fits = largest <= LARGEST[path.suffix[1:]]
    return None if fits else f"a frame differs by {largest}", largest


def render(command, folder, paths, *more):
    """Renders files, and returns the lines of the report, in the order of the files."""
    (folder / "list.txt").write_text("".join(f"{path.as_uri()}\n" for path in paths))
    options = ["--animate", "--size", "4000", "--quality", "100", "--allow-file", "--no-cache", "-q", *more]
    subprocess.run([command, "list.txt", *options, "-o", "out", "--name-template", "{index}.{ext}", "--report",
                    "report.jsonl"], cwd=folder, check=True)
    lines = [line for line in map(json.loads, (folder / "report.jsonl").open()) if "index" in line]
    return sorted(lines, key=lambda line: line["index"])


def gif_frames_of(path, width=WIDTH, height=HEIGHT):
    """The frames of a GIF file as FFmpeg, ImageMagick and Pillow compose them, by the name of the program. Pillow does
    not make pixels transparent after an opaque frame."""
    raw = {"ffmpeg": ["ffmpeg", "-v", "error", "-i", path, "-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt",
                      "rgba", "-"],
           "convert": ["convert", path, "-coalesce", "-depth", "8", "rgba:-"]}
    frames = {}
    for name, words in raw.items():
        done = subprocess.run(words, capture_output=True, check=True)
        frames[name] = [*numpy.frombuffer(done.stdout, numpy.uint8).reshape(-1, height, width, 4)]
    alphas = [frame[..., 3] for frame in frames["ffmpeg"]]
    if alphas[0].min() == 0 or min(alpha.min() for alpha in alphas) == 255:
        frames["Pillow"] = frames_of(path)
    return frames


def gif_properties(path):
    """The durations of the frames of a GIF file, and the number of times that it is shown."""
    with Image.open(path) as image:
        times = []
        for index in range(image.n_frames):
            image.seek(index)
            times.append(image.info["duration"])
        image.seek(0)
        repetitions = image.info.get("loop")
    return times, 1 if repetitions is None else repetitions and repetitions + 1


def compare_gif(path, output, durations, loops):
    """The fault of a thumbnail in GIF that should have the pixels of its source, a GIF file."""
    times, repetitions = gif_properties(output)
    if repetitions != loops or sum(times) != sum(durations):
        return f"it is shown {repetitions} times for {sum(times)} ms, not {loops} times for {sum(durations)}"
    expected, starts, ends = frames_of(path), numpy.cumsum([0, *durations[:-1]]), numpy.cumsum(times)
    for program, shown in gif_frames_of(output).items():
        if len(shown) != len(times):
            return f"{program} finds {len(shown)} frames, not {len(times)}"
        for number, (start, frame) in enumerate(zip(starts, expected)):
            if samples.differences(shown[numpy.searchsorted(ends, start, "right")], frame)[0] > 0:
                return f"frame {number} differs in {program}"
    return None


def ratio(image, other):
    """The peak signal-to-noise ratio of two images in decibels."""
    return 10 * numpy.log10(255 ** 2 / numpy.square(image - other.astype(float)).mean())


def check_colors(command, folder):
    """A still photo and an animated one have smaller errors in GIF than with the colors of Pillow."""
    size = samples.WIDTH, samples.HEIGHT
    photos = [samples.photo(), samples.photo().transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
    photos[0].save(folder / "still.png")
    photos[0].save(folder / "moving.png", save_all=True, append_images=photos[1:], duration=100, default_image=False)
    lines = render(command, folder, [folder / "still.png", folder / "moving.png"], "--format", "gif")
    faults, ratios = [], []
    for line, count in zip(lines, (1, 2)):
        for program, frames in gif_frames_of(folder / "out" / line["outputs"][0]["path"], *size).items():
            if len(frames) != count:
                faults.append(f"animations: {program} finds {len(frames)} frames of a photo in GIF, not {count}")
            for photo, frame in zip(photos, frames):
                colors = photo.quantize(256, dither=Image.Dither.NONE)
                other = photo.quantize(palette=colors, dither=Image.Dither.FLOYDSTEINBERG).convert("RGB")
                ratios.append((ratio(frame[..., :3], numpy.asarray(photo)), ratio(numpy.asarray(other),
                                                                                  numpy.asarray(photo))))
    ours, theirs = (min(column) for column in zip(*ratios))
    print(f"photos in GIF: {ours:.1f} dB, with the colors of Pillow {theirs:.1f} dB")
    return faults + ([] if ours > theirs + 2 else [f"animations: photos in GIF have only {ours:.1f} dB"])


def check_gif(command, folder, files):
    paths = [path for path in files if path.suffix == ".gif"]
    lines = render(command, folder, paths, "--format", "gif")
    results = [(path, compare_gif(path, folder / "out" / line["outputs"][0]["path"], *files[path]))
               for path, line in zip(paths, lines)]
    print(f"animations to gif: {len(paths)} files of {COUNT} frames are equal in FFmpeg, ImageMagick and Pillow")
    return [f"animations to gif: {path.name}: {fault}" for path, fault in results if fault]


def check(command, folder):
    files = make(folder)
    outputs = [folder / "out" / line["outputs"][0]["path"] for line in render(command, folder, files)]
    results = {path: compare(path, output, *files[path]) for path, output in zip(files, outputs)}
    for kind, bound in LARGEST.items():
        found = [difference for path, (_, difference) in results.items() if path.suffix == f".{kind}"]
        print(f"animations of {kind}: {len(found)} files of {COUNT} frames differ by {max(found)} (at most {bound})")
    faults = [f"animations: {path.name}: {fault}" for path, (fault, _) in results.items() if fault]
    return faults + check_gif(command, folder, files) + check_colors(command, folder)
