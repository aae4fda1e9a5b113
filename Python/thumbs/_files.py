"""Files that are complete or absent, whatever ends the process."""
from __future__ import annotations

import errno
import fcntl
import os
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Iterator, Union

UNFINISHED = ".unfinished"

PathLike = Union[str, "os.PathLike[str]"]


@contextmanager
def new_directory(path: PathLike, *patterns: str) -> Iterator[Path]:
    """Creates a directory, or takes one without files of `patterns`, and reserves it until the end of the block.

    What a killed process left unfinished is removed, but only if no other process may be writing there.

    Raises `FileExistsError` if it has files of `patterns`, or if another process has reserved it, and `PermissionError`
    if no file can be created in it.
    """
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "No file can be created in this directory", str(folder))
    with _reserved(folder) as is_reserved:
        for pattern in patterns:
            existing = next(folder.glob(pattern), None)
            if existing is not None:
                raise FileExistsError(
                    f"{existing} exists already; choose another directory, or remove the earlier files.")
        if is_reserved:
            _remove_unfinished(folder, *patterns)
        yield folder


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file for writing. It gets its name when everything is on disk, and never if the body raises.

    Until then it has a unique name, so that several processes may write the same file.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}{UNFINISHED}")
    with temporary.open("xb") as file:
        try:
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


@contextmanager
def _reserved(folder: Path) -> Iterator[bool]:
    """Keeps a directory locked during the block. Gives false if its file system has no locks."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        is_locked = _lock(descriptor, folder)
        try:
            yield is_locked
        finally:
            if is_locked:  # A process that was forked in the meantime still has the descriptor.
                fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise FileExistsError(f"Another process is writing to {folder}; choose another directory.") from error
    except OSError:
        return False
    return True


def _remove_unfinished(folder: Path, *patterns: str) -> None:
    for pattern in patterns:
        for file in folder.glob(f".{pattern}.{'[0-9a-f]' * 32}{UNFINISHED}"):
            file.unlink()
