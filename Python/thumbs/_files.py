"""Files that are complete or absent, whatever ends the process."""
from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Iterator, Union

UNFINISHED = ".unfinished"

PathLike = Union[str, "os.PathLike[str]"]


def new_directory(path: PathLike, pattern: str) -> Path:
    """Creates a directory, or uses one without files of `pattern`. Removes what a killed process left unfinished.

    Raises `FileExistsError` if it has files of `pattern`.
    """
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    existing = next(folder.glob(pattern), None)
    if existing is not None:
        raise FileExistsError(f"{existing} exists already; choose another directory, or remove the earlier files.")
    for file in folder.glob(f".{pattern}{UNFINISHED}"):
        file.unlink()
    return folder


@contextmanager
def replacing(path: Path, tag: str = "") -> Iterator[IO[bytes]]:
    """Opens a file for writing. It gets its name when everything is on disk, and never if the body raises.

    Processes that may write the same file at the same time need different tags.
    """
    temporary = path.with_name(f".{path.name}{tag}{UNFINISHED}")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Makes the names in a directory survive a power failure."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
