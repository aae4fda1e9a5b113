"""Files that are complete or absent, whatever ends the process."""
from __future__ import annotations

import ctypes
import errno
import fcntl
import glob
import os
import shutil
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Iterator, Literal, Tuple, Union

UNFINISHED = ".unfinished"

_DIGITS = "[0-9a-f]" * 32
_HERE, _RENAME_EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE of Linux."""

Mode = Literal["error", "continue", "overwrite"]

PathLike = Union[str, "os.PathLike[str]"]


@contextmanager
def directory(path: PathLike, mode: Mode, *patterns: str) -> Iterator[Path]:
    """Reserves a directory for files of `patterns` until the end of the block, and gives the one to write to.

    With the mode `error`, it may have no such files yet. With `continue`, they stay. With `overwrite`, the files are
    written next to it and replace the directory at the end of the block, unless it raises. What a killed process left
    unfinished is removed, but only if no other process may be writing there.

    Raises `FileExistsError` if it has files that it may not have, or if another process has reserved it, and
    `PermissionError` if no file can be created in it.
    """
    if mode not in ("error", "continue", "overwrite"):
        raise ValueError(f"mode is {mode!r}, but must be \"error\", \"continue\" or \"overwrite\".")
    if "://" in os.fspath(path):
        raise ValueError(f"{path} is a URL, but files are written to directories of this machine; copy them then.")
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "No file can be created in this directory", str(folder))
    with _reserved(folder) as is_reserved:
        _check(folder, mode, patterns)
        if is_reserved:
            _remove_unfinished(folder, *patterns)
        if mode == "overwrite":
            with _swapping(folder) as other:
                yield other
        else:
            yield folder


def _check(folder: Path, mode: Mode, patterns: Tuple[str, ...]) -> None:
    for existing in folder.iterdir():
        is_ours = any(existing.match(pattern) for pattern in patterns)
        if is_ours and mode == "error":
            raise FileExistsError(f"{existing} exists already; choose another directory, or mode=\"continue\" or "
                                  "\"overwrite\".")
        if not is_ours and mode == "overwrite" and not existing.name.endswith(UNFINISHED):
            raise FileExistsError(f"{existing} is no file of this format, so {folder} is not overwritten.")


@contextmanager
def _swapping(folder: Path) -> Iterator[Path]:
    """Gives an empty directory next to `folder`, which takes its place after the block, unless that raises."""
    folder = folder.absolute()
    for left in folder.parent.glob(f".{glob.escape(folder.name)}.{_DIGITS}{UNFINISHED}"):
        shutil.rmtree(left, ignore_errors=True)
    new = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}{UNFINISHED}")
    new.mkdir()
    try:
        yield new
        _exchange(folder, new)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    sync_directory(folder.parent)


def _exchange(first: Path, second: Path) -> None:
    """Exchanges the names of two directories; not at once if the file system cannot do that."""
    paths = [os.fsencode(first), os.fsencode(second)]
    try:
        library = ctypes.CDLL(None)
        if library.renameat2(_HERE, paths[0], _HERE, paths[1], _RENAME_EXCHANGE) == 0:
            return
    except (AttributeError, OSError):  # The C library lacks the function.
        pass
    third = second.with_name(f".{first.name}.{uuid.uuid4().hex}{UNFINISHED}")
    os.rename(first, third)
    os.rename(second, first)
    os.rename(third, second)


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
        for file in folder.glob(f".{pattern}.{_DIGITS}{UNFINISHED}"):
            file.unlink()
