"""The functions of `thumbs.ray` that run in tasks and actors."""
from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple

import pyarrow as pa
import pyarrow.parquet

from ._files import replacing
from ._tasks import Fetch
from ._urls import key_and_host
from .parquet import write_file


def keys(batch: Any, url_col: str) -> List[Tuple[str, str]]:
    """Returns the key and the host of each URL."""
    return [key_and_host(_text(value)) for value in batch.column(url_col).to_pylist()]


def add_keys(batch: Any, url_col: str) -> Any:
    """Returns a table with the key and the host of each URL."""
    pairs = keys(batch, url_col)
    return pa.table({"url": pa.array([url for url, _ in pairs], pa.string()),
                     "host": pa.array([host for _, host in pairs], pa.string())})


def place(batch: Any, salts: Mapping[str, int], parts: int) -> Any:
    """Adds the number of the partition of each URL, which depends on its host and the salt of the URL alone."""
    urls, hosts = batch.column("url").to_pylist(), batch.column("host").to_pylist()
    numbers = [part_of(url, host, salts, parts) for url, host in zip(urls, hosts)]
    return pa.table({"url": batch.column("url"), "part": pa.array(numbers, pa.int64())})


ROWS_PER_FILE = 500
"""An actor that is killed loses at most so many results."""


class FetchPartitions:
    """An actor that fetches the URLs of a partition and writes them to files."""

    def __init__(self, task: Fetch, folder: str) -> None:
        self._task, self._folder = task, folder

    def __call__(self, group: Any) -> Any:
        """Returns the names of the files with their numbers of rows."""
        part, urls = group.column("part")[0].as_py(), group.column("url").to_pylist()
        return pa.Table.from_pylist(write_partition(self._task, self._folder, part, urls))


def write_partition(task: Fetch, folder: str, part: int, urls: List[str]) -> List[Dict[str, Any]]:
    """Fetches the URLs of a partition and writes them to files. One that is there is not written again.

    Returns the names of the files with their numbers of rows.
    """
    written, urls = [], sorted(urls)
    for number, start in enumerate(range(0, len(urls), ROWS_PER_FILE)):
        path = Path(folder, f"part-{part:05}-{number:03}.parquet")
        if not path.exists():
            with replacing(path) as file, task.run(urls[start:start + ROWS_PER_FILE]) as results:
                write_file(file, task.batches(results), task.schema)
        written.append({"file": path.name, "rows": pyarrow.parquet.ParquetFile(path).metadata.num_rows})
    return written


def write_empty(task: Fetch, folder: Path) -> None:
    """Writes a file without rows, so that even an empty table has its columns."""
    with replacing(folder / "part-00000-000.parquet") as file:
        write_file(file, (), task.schema)


def part_of(url: str, host: str, salts: Mapping[str, int], parts: int) -> int:
    """Returns the number of the partition of a URL."""
    salt = _hash(url) % salts.get(host, 1)
    return _hash(f"{host} {salt}") % parts


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _text(value: Any) -> Optional[str]:
    return value if value is None or isinstance(value, str) else str(value)
