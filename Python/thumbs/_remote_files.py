"""Files in a bucket, or on another file system of fsspec."""
from __future__ import annotations

import tempfile
import uuid
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from typing import IO, Any, Generator, List, Mapping, Tuple

from . import _redaction
from ._files import UNFINISHED, Mode, check

try:
    import fsspec
except ImportError as error:
    raise ImportError("A URL as a directory needs the Python package fsspec, and the package of its scheme, such as "
                      "s3fs or gcsfs: pip install fsspec s3fs") from error

OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "oss", "memory"}
"""Schemes of file systems on which a file appears when it is complete. On the others, it is renamed then."""


class RemoteFolder:
    """A directory on a file system of fsspec."""

    def __init__(self, system: Any, path: str, url: str) -> None:
        self._system, self._path, self._url = system, path.rstrip("/"), url
        scheme = system.protocol if isinstance(system.protocol, str) else system.protocol[0]
        self._is_object_store = scheme in OBJECT_STORES

    def __str__(self) -> str:
        return _redaction.url(self._url)

    def names(self, pattern: str = "*") -> List[str]:
        self._system.invalidate_cache()
        try:
            paths = self._system.ls(self._path, detail=False)
        except FileNotFoundError:
            return []
        names = (path.rstrip("/").rpartition("/")[2] for path in paths if path.rstrip("/") != self._path)
        return sorted(name for name in names if fnmatch(name, pattern))

    def open(self, name: str) -> IO[bytes]:
        file: IO[bytes] = self._system.open(f"{self._path}/{name}", "rb")
        return file

    @contextmanager
    def replacing(self, name: str) -> Generator[IO[bytes], None, None]:
        with tempfile.TemporaryDirectory(prefix="thumbs-") as directory:
            local = f"{directory}/{name}"
            with open(local, "xb") as file:
                yield file
            self._publish(local, name)

    def delete(self, name: str) -> None:
        self._system.rm_file(f"{self._path}/{name}")

    def take(self, other: "RemoteFolder") -> None:
        """Replaces all files by those of another directory, one by one. What has no successor is deleted at last."""
        old, new = set(self.names()), other.names()
        for name in new:
            source, target = f"{other._path}/{name}", f"{self._path}/{name}"
            if self._is_object_store:  # `mv` would take brackets in a name for a pattern.
                self._system.cp_file(source, target)
                continue
            if name in old:
                self._system.rm_file(target)
            self._system.mv(source, target)
        for name in old.difference(new):
            self.delete(name)

    def sibling(self) -> "RemoteFolder":
        """Returns an empty directory next to this one."""
        ending = f".{uuid.uuid4().hex}{UNFINISHED}"
        other = RemoteFolder(self._system, self._path + ending, self._url.rstrip("/") + ending)
        other.make()
        return other

    def make(self) -> None:
        """Makes the directory, on a file system that has directories."""
        if not self._is_object_store:
            self._system.makedirs(self._path, exist_ok=True)

    def remove(self) -> None:
        """Deletes the directory with all files."""
        with suppress(FileNotFoundError):
            self._system.rm(self._path, recursive=True)

    def _publish(self, local: str, name: str) -> None:
        path = f"{self._path}/{name}"
        if self._is_object_store:
            self._system.put_file(local, path)
            return
        temporary = f"{self._path}/.{name}.{uuid.uuid4().hex}{UNFINISHED}"
        try:
            self._system.put_file(local, temporary)
            self._system.mv(temporary, path)
        except BaseException:
            with suppress(Exception):
                self._system.rm_file(temporary)
            raise


@contextmanager
def directory(
    url: str, mode: Mode, patterns: Tuple[str, ...], storage_options: Mapping[str, Any]
) -> Generator[RemoteFolder, None, None]:
    """Gives the directory to write to, as the function for those of this machine does, but locks nothing."""
    system, path = fsspec.core.url_to_fs(url, **storage_options)
    folder = RemoteFolder(system, path, url)
    folder.make()
    check(folder, mode, patterns)
    if mode != "overwrite":
        yield folder
        return
    new = folder.sibling()
    try:
        yield new
    except BaseException:
        new.remove()
        raise
    try:
        folder.take(new)
    except Exception as error:
        raise OSError(f"Not all files of {folder} were replaced by those of {new}, which stay there.") from error
    new.remove()
