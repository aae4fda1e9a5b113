"""Runs PhotoFolder on a folder of photos three times, and checks what it read.

    photos.py PROGRAM
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

images = pathlib.Path(__file__).parent / "images"


def lines(program: str, folder: pathlib.Path, cache: pathlib.Path) -> list[str]:
    return subprocess.run([program, folder, cache], check=True, capture_output=True, text=True).stdout.splitlines()


def main(program: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        folder, cache = pathlib.Path(directory, "photos"), pathlib.Path(directory, "cache")
        folder.mkdir()
        for name in ("fjord.jpg", "tower.jpg", "radar.png"):
            shutil.copy(images / name, folder)
        (folder / "notes.txt").write_text("No photo.")
        first, second = (lines(program, folder, cache) for _ in range(2))
        os.utime(folder / "radar.png", (1, 1))
        third = lines(program, folder, cache)
    print(*third, sep="\n")
    assert first[:-1] == second[:-1] == third[:-1] and "not_an_image" in first[1], first
    assert [run[-1].split()[0] for run in (first, second, third)] == ["0", "3", "2"], (first, second, third)


main(sys.argv[1])
