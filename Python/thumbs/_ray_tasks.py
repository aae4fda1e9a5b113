"""The functions of `thumbs.ray` that run in tasks and actors."""
from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, Mapping, Optional

import pyarrow as pa
import pyarrow.parquet

from ._files import replacing
from ._tasks import Fetch
from ._urls import key_and_host
from .parquet import write_file


def add_keys(batch: Any, url_col: str) -> Any:
    """Returns a table with the key and the host of each URL."""
    pairs = [key_and_host(_text(value)) for value in batch.column(url_col).to_pylist()]
    return pa.table({"url": pa.array([url for url, _ in pairs], pa.string()),
                     "host": pa.array([host for _, host in pairs], pa.string())})


def place(batch: Any, salts: Mapping[str, int], parts: int) -> Any:
    """Adds the number of the partition of each URL, which depends on its host and the salt of the URL alone."""
    urls, hosts = batch.column("url").to_pylist(), batch.column("host").to_pylist()
    numbers = [_part(url, host, salts, parts) for url, host in zip(urls, hosts)]
    return pa.table({"url": batch.column("url"), "part": pa.array(numbers, pa.int64())})


class FetchPartitions:
    """An actor that fetches the URLs of a partition and writes them to a file."""

    def __init__(self, task: Fetch, folder: str) -> None:
        self._task, self._folder = task, Path(folder)

    def __call__(self, group: Any) -> Any:
        """Returns the number of the partition and its number of rows. A file that is there is not written again."""
        part, urls = group.column("part")[0].as_py(), group.column("url").to_pylist()
        path = self._folder / f"part-{part:05}.parquet"
        if not path.exists():
            with replacing(path) as file, self._task.run(urls) as results:
                write_file(file, self._task.batches(results), self._task.schema)
        return pa.table({"part": [part], "rows": [pyarrow.parquet.ParquetFile(path).metadata.num_rows]})


def write_empty(task: Fetch, folder: Path) -> None:
    """Writes a file without rows, so that even an empty table has its columns."""
    with replacing(folder / "part-00000.parquet") as file:
        write_file(file, (), task.schema)


def _part(url: str, host: str, salts: Mapping[str, int], parts: int) -> int:
    salt = _hash(url) % salts.get(host, 1)
    return _hash(f"{host} {salt}") % parts


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _text(value: Any) -> Optional[str]:
    return value if value is None or isinstance(value, str) else str(value)
