"""Runs each program as its users would: it gets a list of URLs, and writes thumbnails to a folder."""
import json
import os
import pathlib
import shlex
import subprocess
import threading
import time

CORES = len(os.sched_getaffinity(0))
WIDTH = 16
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
ENVIRONMENT["NO_ALBUMENTATIONS_UPDATE"] = "1"


class Run:
    """A finished run: wall time in seconds, peak memory of all its processes together in MiB, and exit status."""

    # The time limit in seconds, after which a run is killed.
    limit = 900

    def __init__(self, command):
        begin = time.monotonic()
        self.peak, self.isOver = 0, threading.Event()
        process = subprocess.Popen(
            command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        watch = threading.Thread(target=self._watch, args=(process.pid,))
        watch.start()
        try:
            self.status = process.wait(self.limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            self.status = process.wait()
        self.seconds = time.monotonic() - begin
        self.isOver.set()
        watch.join()

    def _watch(self, session):
        """Adds up the proportional memory of all processes of the run, ten times per second."""
        while not self.isOver.wait(0.1):
            pages = sum(proportional(pid) for pid in processes(session))
            self.peak = max(self.peak, pages / 1024)


def processes(session):
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getsid(int(entry.name)) == session:
                    yield entry.name
            except ProcessLookupError:
                pass


def proportional(pid):
    """The memory of a process in KiB; shared pages are divided among the processes that share them."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def thumbs(urls, side, out, options=()):
    (out / "list.txt").write_text("".join(f"{url}\n" for url in urls))
    return Run([os.environ["THUMBS"], "fetch", f"{out}/list.txt", "-o", f"{out}/thumbnails", "--size", str(side),
                "--cache-dir", f"{out}/cache", "--name", "{index}.{ext}", "--report", f"{out}/report.jsonl",
                "--concurrency", str(WIDTH), "--per-host", str(WIDTH), "-q", *options])


def thumbs_report(out):
    lines = [json.loads(line) for line in (out / "report.jsonl").read_text().splitlines()]
    return [line for line in lines if "index" in line]


def curl_vips(urls, side, out, extension, limit=60):
    """Downloads all files with curl, then runs vipsthumbnail on every core."""
    (out / "files").mkdir(exist_ok=True)
    (out / "thumbnails").mkdir(exist_ok=True)
    (out / "curl.txt").write_text("".join(
        f'url = "{url}"\noutput = "{out}/files/{index}"\n' for index, url in enumerate(urls)))
    saver = ".jpg[Q=82]" if extension == "jpg" else ".png"
    script = f"""
      curl -sSfLZ --retry 2 --max-time {limit} --parallel-max {WIDTH} -K {shlex.quote(str(out / "curl.txt"))}
      status=$?
      find {out}/files -type f -print0 | VIPS_CONCURRENCY=1 xargs -0 -r -P {CORES} -n 32 \
        vipsthumbnail --size {side}x{side}'>' -o '{out}/thumbnails/%s{saver}' || status=1
      exit $status"""
    return Run(["sh", "-c", script])


def img2dataset(urls, side, out, extension, limit=20):
    (out / "list.txt").write_text("".join(f"{url}\n" for url in urls))
    return Run([os.environ["IMG2DATASET"], "--url_list", f"{out}/list.txt", "--output_folder", f"{out}/thumbnails",
                "--processes_count", str(CORES), "--thread_count", str(WIDTH), "--image_size", str(side),
                "--resize_mode", "keep_ratio_largest", "--resize_only_if_bigger", "True", "--output_format", "files",
                "--encode_format", extension, "--encode_quality", "82" if extension == "jpg" else "6",
                "--number_sample_per_shard", str(max(1, -(-len(urls) // CORES))), "--timeout", str(limit),
                "--retries", "2"])


def bare(files, side, out):
    """Decodes, scales (nearest neighbor) and encodes local files on every core, without a download."""
    (out / "thumbnails").mkdir(exist_ok=True)
    parts = [files[core::CORES] for core in range(CORES)]
    command = [os.environ["BARE"], "bare", str(side), f"{out}/thumbnails"]
    script = "".join(shlex.join([*command, *part]) + " & " for part in parts if part)
    (out / "bare.sh").write_text(script + "wait\n")
    return Run(["sh", str(out / "bare.sh")])


def thumbnails(out):
    """The thumbnails in a folder."""
    return sorted(path for path in (out / "thumbnails").rglob("*") if path.suffix in (".jpg", ".jpeg", ".png", ".webp"))
