"""The programs that the fetch benchmark compares, and how it runs and times them."""
import json
import os
import resource
import subprocess
import time

WIDTH, ROUNDS = 16, 5
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}


class Programs:
    """Runs `bench-fetch`, curl and aria2c on one list of URLs at a time."""

    def __init__(self, binary, root, origins):
        self.binary, self.root, self.origins = binary, root, origins

    def compare(self, urls, with_aria2=False):
        """Lets the programs take turns, in reverse order in every second round. Returns their results by name."""
        self.write_lists(urls)
        programs = {
            "bare loop": lambda: self.bench("bare", WIDTH, urls),
            "ours": lambda: self.bench("ours", WIDTH, urls),
            "curl": lambda: self.writing(self.curl(urls), len(urls)),
        }
        if with_aria2:
            programs["aria2c"] = lambda: self.writing(self.aria2(), len(urls))
        rounds = {name: [] for name in programs}
        for number in range(ROUNDS):
            for name in list(programs)[::-1 if number % 2 else 1]:
                before = self.origins.connections()
                result = programs[name]()
                rounds[name].append(result | {"connections": self.origins.connections() - before - 1})
        return rounds

    def bench(self, mode, width, urls):
        """Runs a mode of `bench-fetch`. Returns what it reports, and the times of the whole process."""
        process, output = measured(self.command(mode, width, len(urls), urls))
        inside = json.loads(output)
        assert inside["good"] == len(urls), f"only {inside['good']} of {len(urls)} downloads succeeded"
        return inside | process

    def soak(self, count, urls):
        """Downloads `count` times. Returns the seconds, and the memory in use after every tenth of the downloads."""
        command = self.command("soak", WIDTH, count, urls)
        done = subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)["seconds"], [int(line.split()[1]) for line in done.stderr.splitlines()]

    def command(self, mode, width, count, urls):
        return [self.binary, mode, str(width), str(count), str(self.origins.authority), *urls]

    def curl(self, urls):
        # Over https, curl first finds out if one connection can carry all transfers, as the other programs do.
        immediate = [] if urls[0].startswith("https") else ["--parallel-immediate"]
        return ["curl", "-s", "--cacert", str(self.origins.authority), "--parallel", *immediate,
                "--parallel-max", str(WIDTH), "-K", f"{self.root}/curl.txt"]

    def aria2(self):
        return ["aria2c", "-q", "-i", f"{self.root}/aria2.txt", "-d", f"{self.root}/out", "-j", str(WIDTH), "-x", "1",
                "--file-allocation=none", "--allow-overwrite=true"]

    def write_lists(self, urls):
        lines = (f'url = "{url}"\noutput = "{self.root}/out/{index}.bin"\n' for index, url in enumerate(urls))
        (self.root / "curl.txt").write_text("".join(lines))
        lines = (f"{url}\n  out={index}.bin\n" for index, url in enumerate(urls))
        (self.root / "aria2.txt").write_text("".join(lines))

    def writing(self, command, count):
        """Runs a program that writes `count` files into the folder `out`, which is empty at first."""
        (self.root / "out").mkdir(exist_ok=True)
        for path in (self.root / "out").iterdir():
            path.unlink()
        result, _ = measured(command)
        assert sum(1 for _ in (self.root / "out").iterdir()) == count, f"{command[0]} did not write all files"
        return result


def measured(command):
    """Runs a process and returns its wall and CPU seconds and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run(command, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall": wall, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}, done.stdout
