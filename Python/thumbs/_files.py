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
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, Any, ContextManager, Generator, List, Literal, Mapping, Optional, Protocol, Tuple, Union

UNFINISHED = ".unfinished"

_DIGITS = "[0-9a-f]" * 32
_HERE, _RENAME_EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE of Linux."""

Mode = Literal["error", "continue", "overwrite"]

PathLike = Union[str, "os.PathLike[str]"]


class Folder(Protocol):
    """A place for files, by their names."""

    def names(self, pattern: str = "*") -> List[str]:
        """Returns the names that match a pattern, in order."""
        ...

    def open(self, name: str) -> IO[bytes]:
        """Opens a file for reading."""
        ...

    def replacing(self, name: str) -> ContextManager[IO[bytes]]:
        """Opens a file for writing. It gets its name when it is complete, and never if the block raises."""
        ...

    def delete(self, name: str) -> None:
        """Deletes a file."""


class LocalFolder:
    """A directory of this machine."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __str__(self) -> str:
        return str(self._path)

    def names(self, pattern: str = "*") -> List[str]:
        return sorted(path.name for path in self._path.glob(pattern))

    def open(self, name: str) -> IO[bytes]:
        return (self._path / name).open("rb")

    def replacing(self, name: str) -> ContextManager[IO[bytes]]:
        return replacing(self._path / name)

    def delete(self, name: str) -> None:
        (self._path / name).unlink()


@contextmanager
def directory(
    path: PathLike, mode: Mode, *patterns: str, storage_options: Optional[Mapping[str, Any]] = None
) -> Generator[Folder, None, None]:
    """Reserves a directory for files of `patterns` until the end of the block, and gives the one to write to. It may be
    a URL of fsspec with `storage_options`, which cannot be reserved.

    With the mode `error`, it may have no such files yet. With `continue`, they stay. With `overwrite`, the files are
    written next to it and replace the directory at the end of the block, unless it raises. What a killed process left
    unfinished is removed, but only if no other process may be writing there.

    Raises `FileExistsError` if it has files that it may not have, or if another process has reserved it, and
    `PermissionError` if no file can be created in it.
    """
    if mode not in ("error", "continue", "overwrite"):
        raise ValueError(f"mode is {mode!r}, but must be \"error\", \"continue\" or \"overwrite\".")
    if "://" in os.fspath(path):
        from . import _remote_files  # Imports fsspec, which only URLs need.

        with _remote_files.directory(os.fspath(path), mode, patterns, storage_options or {}) as remote:
            yield remote
        return
    if storage_options:
        raise ValueError(f"storage_options are for URLs, but {path} is a directory of this machine.")
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "No file can be created in this directory", str(folder))
    with _reserved(folder) as is_reserved:
        check(LocalFolder(folder), mode, patterns)
        if is_reserved:
            _remove_unfinished(folder, *patterns)
        if mode == "overwrite":
            with _swapping(folder) as other:
                yield LocalFolder(other)
        else:
            yield LocalFolder(folder)


def check(folder: Folder, mode: Mode, patterns: Tuple[str, ...]) -> None:
    """Raises `FileExistsError` if the directory has files that it may not have."""
    for name in folder.names():
        is_ours = any(fnmatch(name, pattern) for pattern in patterns)
        if is_ours and mode == "error":
            raise FileExistsError(f"{folder}/{name} exists already; choose another directory, or mode=\"continue\" or "
                                  "\"overwrite\".")
        if not is_ours and mode == "overwrite" and not name.endswith(UNFINISHED):
            raise FileExistsError(f"{folder}/{name} is no file of this format, so {folder} is not overwritten.")


@contextmanager
def _swapping(folder: Path) -> Generator[Path, None, None]:
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
def replacing(path: Path) -> Generator[IO[bytes], None, None]:
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
def _reserved(folder: Path) -> Generator[bool, None, None]:
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
