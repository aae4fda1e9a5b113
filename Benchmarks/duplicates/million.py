#!/usr/bin/env python3
"""million.py THUMBS [ROWS]: measures the time and the memory of `thumbs report duplicates` for a report of a million
rows, of which a fifth are copies of others, with a few bits of their hashes changed."""
import os, pathlib, random, subprocess, sys, tempfile, time

THUMBS, ROWS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
DISTANCES = (0, 2, 4, 6, 8, 10)


def rows():
    """Yields the lines of a report."""
    numbers, hashes = random.Random(1), []
    for index in range(ROWS):
        value = numbers.getrandbits(64)
        if index % 5 == 4:
            value = numbers.choice(hashes)
            for _ in range(numbers.randrange(5)):
                value ^= 1 << numbers.randrange(64)
        hashes.append(value)
        width = numbers.choice((320, 640, 1600, 4000))
        yield (f'{{"index":{index},"url":"https://images{index % 97}.example/photos/2026/{index:07}.jpg","status":"ok",'
               f'"origin":"network","outputs":[{{"spec":"256x256","path":"{index:07}.jpg","width":256,"height":171,'
               f'"format":"jpeg","bytes":10240}}],"source":{{"width":{width},"height":{width * 2 // 3},"format":"jpeg",'
               f'"bytes":{width * 200},"sha256":"{numbers.getrandbits(256):064x}"}},"phash":"{value:016x}","http":200,'
               f'"attempts":1,"ms":{{"queued":1,"download":20,"render":3}},"warnings":[],"line":{index + 1}}}\n')
    yield f'{{"complete":true,"items":{ROWS},"rows":{ROWS},"list":"0"}}\n'


def measure(report, *arguments):
    """Returns the seconds, the seconds of the processor, the peak memory in MB, and the number of lines."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([THUMBS, "report", *arguments, report], stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        seconds = time.perf_counter() - start
        if status:
            sys.exit(f"thumbs report failed: {status}")
        output.seek(0)
        return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000, sum(1 for _ in output)


with tempfile.TemporaryDirectory() as folder:
    report = pathlib.Path(folder) / "report.jsonl"
    with report.open("w") as file:
        file.writelines(rows())
    print(f"{ROWS} rows, {report.stat().st_size / 1e6:.0f} MB")
    print("reading alone: {:.1f} s, {:.1f} s of the processor, {:.0f} MB".format(*measure(report, "large", "-n1")))
    for distance in DISTANCES:
        numbers = measure(report, "duplicates", "--distance", str(distance))
        print("distance {}: {:.1f} s, {:.1f} s of the processor, {:.0f} MB, {} lines".format(distance, *numbers))
