"""Writes results to Parquet files on this machine. Needs pyarrow."""
from __future__ import annotations

from typing import Any, Iterable

import pyarrow.parquet

from . import _arrow, _command, _shards
from ._files import PathLike, new_directory, replacing
from .counters import Counters
from .result import Result

PATTERN = "part-*.parquet"


def write(
    results: Iterable[Result], path: PathLike, *, sizes: _command.Sizes = None, shard_rows: int = 100_000,
    shard_bytes: int = 1 << 30, compression: str = "zstd",
) -> Counters:
    """Writes all results to the directory `path`, as `part-00000.parquet` and so on, and returns their counters.

    A file gets its name when it is complete, so every file is valid, even after a kill. The columns are those of the
    table of `thumbs.spark.fetch`; `url` is the URL of the row without user and password.

    Args:
        results: The results of `thumbs.run`.
        path: A directory, which is created. It may not have such files yet.
        sizes: The sizes of the run. With several, the table has a list `thumbnails` instead of `thumbnail`.
        shard_rows: The largest number of rows in a file.
        shard_bytes: A file with more bytes of thumbnails gets no further rows.
        compression: The codec of Parquet. Thumbnails hardly become smaller, all other columns do.

    >>> results = thumbs.run(urls, sizes=[64, 256])
    >>> thumbs.parquet.write(results, "thumbnails", sizes=[64, 256])
    """
    table, folder, counters = _arrow.schema(len(_command.size_list(sizes))), new_directory(path, PATTERN), Counters()
    for number, shard in enumerate(_shards.groups(results, shard_rows, shard_bytes)):
        with replacing(folder / f"part-{number:05}.parquet") as file:
            write_file(file, _counted(shard, counters), table, compression)
    return counters


def write_file(file: Any, results: Iterable[Result], table: Any, compression: str) -> None:
    """Writes results to an open file."""
    with pyarrow.parquet.ParquetWriter(file, table, compression=compression) as writer:
        for batch in _arrow.batches(results, table, lambda result: result.url):
            writer.write_batch(batch)


def _counted(results: Iterable[Result], counters: Counters) -> Iterable[Result]:
    for result in results:
        counters.add(result)
        yield result
