"""Writes results to Parquet files on this machine. Needs pyarrow."""
from __future__ import annotations

from typing import Any, Iterable, Iterator

import pyarrow.parquet

from . import _arrow, _command, _shards
from ._files import PathLike, new_directory, replacing
from .counters import Counters
from .result import Result

PATTERN = "part-*.parquet"
COMPRESSION = "zstd"


def write(
    results: Iterable[Result], path: PathLike, *, sizes: _command.Sizes = None, shard_rows: int = 100_000,
    shard_bytes: int = 1 << 30, compression: str = COMPRESSION,
) -> Counters:
    """Writes all results to the directory `path`, as `part-00000.parquet` and so on, and returns their counters.

    A file gets its name when it is complete, so every file is valid, even after a kill. An error of `results` is raised
    when the results before it are in a complete file. The columns are those of the table of `thumbs.spark.fetch`; `url`
    is the URL of the row without user and password.

    Args:
        results: The results of `thumbs.run`.
        path: A directory, which is created. It may not have such files yet, and no other process may write there.
        sizes: The sizes of the run. With several, the table has a list `thumbnails` in place of `thumbnail`. The list
            is needed, too, if a row has a `size` with several.
        shard_rows: The largest number of rows in a file.
        shard_bytes: A file with more bytes of thumbnails gets no further rows.
        compression: The codec of Parquet. Thumbnails hardly become smaller, all other columns do.

    Raises:
        FileExistsError: `path` has such files, or another process is writing there.
        ValueError: A row has several thumbnails, but the table has a column for one.

    >>> results = thumbs.run(urls, sizes=[64, 256])
    >>> thumbs.parquet.write(results, "thumbnails", sizes=[64, 256])
    """
    table, counters = _arrow.schema(len(_command.size_list(sizes))), Counters()
    counted = _counted(_arrow.fitting(results, table), counters)
    with new_directory(path, PATTERN) as folder, _shards.until_error(counted) as rows:
        for number, shard in enumerate(_shards.groups(rows, shard_rows, shard_bytes)):
            with replacing(folder / f"part-{number:05}.parquet") as file:
                write_file(file, _arrow.batches(shard, table, lambda result: result.url), table, compression)
        if counters.rows == 0:  # Even an empty table has its columns.
            with replacing(folder / "part-00000.parquet") as file:
                write_file(file, (), table, compression)
    return counters


def write_file(file: Any, batches: Iterable[Any], table: Any, compression: str = COMPRESSION) -> None:
    """Writes record batches with the schema `table` to an open file."""
    with pyarrow.parquet.ParquetWriter(file, table, compression=compression) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _counted(results: Iterable[Result], counters: Counters) -> Iterator[Result]:
    for result in results:
        counters.add(result)
        yield result
