"""Cases in groups with a common bound, the runs of the command over them, and the comparison."""
import concurrent.futures
import dataclasses
import json
import pathlib
import subprocess
import typing

import samples


@dataclasses.dataclass
class Case:
    """A file, and the function that returns the expected pixels for the size of the thumbnail."""
    path: pathlib.Path
    expected: typing.Callable
    # The box of the thumbnail. The default leaves the images of the other formats as large as they are.
    size: str = "4000"


@dataclasses.dataclass
class Group:
    """Cases whose pixels may differ from the expected ones by `largest` at most, and by `mean` on average."""
    name: str
    reason: str
    cases: list
    largest: float
    mean: float = 255


def tool(*command):
    """Runs a program that makes or decodes a file."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[-500:]}")


def in_parallel(function, items):
    """The results of `function`, which mostly waits for programs, for all items."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(function, items))


def render(command, folder, paths, size, prepare=None, more=()):
    """Renders all files with one run of the command, which `prepare` prepares in its process, with `more` options.
    Returns the lines of its report, in the order of the files."""
    folder.mkdir()
    (folder / "list.txt").write_text("".join(f"{path.as_uri()}\n" for path in paths))
    options = ["--size", size, "--format", "png", "--allow-file", "--no-cache", "-q", *more]
    files = ["-o", "out", "--name-template", "{index}.{ext}", "--report", "report.jsonl"]
    done = subprocess.run([command, "list.txt", *options, *files], cwd=folder, preexec_fn=prepare)
    if done.returncode not in (0, 1, 75):
        raise RuntimeError(f"thumbs has exited with {done.returncode}")
    lines = map(json.loads, (folder / "report.jsonl").open())
    return sorted((line for line in lines if "index" in line), key=lambda line: line["index"])


def render_cases(command, folder, groups):
    """Renders all cases, with one run for each size. Returns lines of the report by path and size."""
    cases = [case for group in groups for case in group.cases]
    lines = {}
    for size in sorted({case.size for case in cases}):
        paths = [case.path for case in cases if case.size == size]
        for path, line in zip(paths, render(command, folder / size, paths, size)):
            lines[path, size] = (line, folder / size / "out")
    return lines


def check(group, lines):
    """Compares the cases of a group, prints a line, and returns the failures."""
    def compare(case):
        line, folder = lines[case.path, case.size]
        if line["status"] != "ok":
            return f"{line['code']}: {line['message']}", 0, 0
        image = samples.pixels(folder / line["outputs"][0]["path"])
        expected = case.expected(image.shape[1], image.shape[0])
        if image.shape != expected.shape:
            return f"its size is {image.shape[1::-1]}, not {expected.shape[1::-1]}", 0, 0
        largest, mean = samples.differences(image, expected)
        fits = largest <= group.largest and mean <= group.mean
        return None if fits else f"it differs by {largest:.1f}, {mean:.3f} on average", largest, mean

    results = in_parallel(compare, group.cases)
    mean = f", {max(result[2] for result in results):.2f} (at most {group.mean}) on average" if group.mean < 255 else ""
    print(f"{group.name}: {len(results)} files differ by {max(result[1] for result in results):.1f} "
          f"(at most {group.largest}){mean}; {group.reason}", flush=True)
    return [f"{group.name}: {case.path.name}, {case.size}: {result[0]}"
            for case, result in zip(group.cases, results) if result[0]]
